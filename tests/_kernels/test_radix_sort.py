"""Sorting byte by byte against numpy's stable sort, plain and compiled."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil._kernels import radix_sort
from unveil._kernels.radix_sort import _by_bytes, ascending


@given(st.lists(st.integers(0, 2**62 - 1) | st.integers(0, 300), max_size=40))
def test_the_order_is_that_of_a_stable_sort(keys: list[int]) -> None:
    given_keys = np.array(keys, np.int64)
    expected = np.argsort(given_keys, kind="stable")
    np.testing.assert_array_equal(_by_bytes(given_keys, max(keys, default=0).bit_length()), expected)
    np.testing.assert_array_equal(ascending(given_keys, max(keys, default=0) + 1), expected)


@pytest.mark.parametrize("below", [2**16, 2**16 + 1, 2**40, 2**62])
def test_many_keys_are_sorted_by_the_compiled_loop(monkeypatch: pytest.MonkeyPatch, below: int) -> None:
    monkeypatch.setattr(radix_sort, "_FEW", 100)
    keys = np.random.default_rng(1).integers(0, below, 5000)
    keys[:50] = keys[50:100]
    np.testing.assert_array_equal(ascending(keys, below), np.argsort(keys, kind="stable"))
