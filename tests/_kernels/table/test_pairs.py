"""How many rows have each code and each pair of codes, against counting one by one."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil._kernels.table import pairs
from unveil._kernels.table.pairs import code_counts, looked_up, pair_counts, pair_keys
from unveil._kernels.types import CodeArray

rows = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 3)), min_size=1, max_size=30)
kinds = st.sampled_from([np.int8, np.int16, np.int32])


@given(rows, kinds, kinds, st.sampled_from([0, 10_000]), st.integers(0, 9))
def test_counts_are_those_of_counting_one_by_one(
    found: list[tuple[int, int]], one: type, other: type, plain_up_to: int, size: int
) -> None:
    a: CodeArray = np.array([row[0] for row in found], one)
    b: CodeArray = np.array([row[1] for row in found], other)
    width, last = 4, int(a.max()) + 1
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "PLAIN_UP_TO", plain_up_to)
        single, both = code_counts(a, size), pair_counts(a, b, last, width)
    assert single.tolist() == [Counter(a.tolist())[code] for code in range(max(last, size))]
    counted = Counter(found)
    assert both.tolist() == [counted[first, second] for first in range(last) for second in range(width)]
    assert pair_keys(a, b, width).tolist() == [first * width + second for first, second in found]


@given(st.lists(st.integers(0, 4), max_size=20), st.integers(1, 7))
def test_codes_are_looked_up_block_by_block(codes: list[int], at_once: int) -> None:
    table = np.array([0.5, 1.5, 2.5, 3.5, 4.5], np.float32)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "_AT_ONCE", at_once)
        found = looked_up(table, np.array(codes, np.int32))
    assert (found.tolist(), found.dtype.name) == ([code + 0.5 for code in codes], "float32")
