"""The best row through bounds: always that of looking at all rows, compiled, plain or as a matrix."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil._kernels.membership import agreement
from unveil._kernels.membership.agreement import highest_agreement
from unveil._kernels.types import Int32Array, IntArray


def full_scan(rows: Int32Array, people: Int32Array, weights: IntArray) -> list[int]:
    """Return the largest sum of weights over all rows, each compared with each person."""
    return [int(((rows == person) * weight).sum(axis=1).max()) for person, weight in zip(people, weights, strict=True)]


def case(rows: int, columns: int, kinds: int, rng: np.random.Generator) -> tuple[Int32Array, Int32Array, IntArray]:
    """Return rows and people of whom some values are common and some rare, a row's 0 equalling nothing."""
    released = rng.geometric(1 / kinds, (rows, columns)) - rng.integers(0, 2, (rows, columns))
    people = rng.geometric(1 / kinds, (40, columns))
    # Few different weights, 0 among them, so that many sums tie.
    return released.astype(np.int32), people.astype(np.int32), rng.integers(0, 5, (40, columns))


@settings(max_examples=40)
@given(st.integers(0, 2**32), st.integers(1, 30), st.sampled_from([0, 1, 3, 6, 60]), st.integers(1, 5))
def test_bounds_find_the_best_row_of_all(seed: int, rows: int, columns: int, kinds: int) -> None:
    given = case(rows, columns, kinds, np.random.default_rng(seed))
    by_matrix = highest_agreement(*given)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(agreement, "ALL_UP_TO", 0)
        by_bounds = highest_agreement(*given)
    assert by_bounds.tolist() == by_matrix.tolist() == full_scan(*given)


@pytest.mark.parametrize("kinds", [2, 300])
@pytest.mark.parametrize("width", [np.int16, np.int32])
@pytest.mark.parametrize("columns", [6, 40])
def test_the_compiled_way_finds_the_same(kinds: int, width: type, columns: int) -> None:
    rows, people, weights = case(30_000, columns, kinds, np.random.default_rng(kinds))
    found = highest_agreement(rows.astype(width), people.astype(width), 10**6 * weights)
    assert found.tolist() == full_scan(rows, people, 10**6 * weights)
