"""Sorting byte by byte against numpy's stable sort, plain and compiled."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil._kernels.neighbours import index
from unveil._kernels.neighbours.index import _by_bytes, sort


@given(st.lists(st.integers(0, 2**62 - 1) | st.integers(0, 300), max_size=40))
def test_the_order_is_that_of_a_stable_sort(keys: list[int]) -> None:
    given_keys = np.array(keys, np.int64)
    expected = np.argsort(given_keys, kind="stable")
    moved, order = given_keys.copy(), np.arange(len(keys))
    room = np.empty_like(moved), np.empty_like(order), np.empty(index._DIGITS + 1, np.int64)
    _by_bytes(moved, order, *room, max(keys, default=0).bit_length())
    np.testing.assert_array_equal(order, expected)
    again = given_keys.copy()
    np.testing.assert_array_equal(sort(again, max(keys, default=0) + 1), expected)
    for each in (moved, again):
        np.testing.assert_array_equal(each, given_keys[expected])


@pytest.mark.parametrize("below", [2**16, 2**16 + 1, 2**40, 2**62])
def test_many_keys_are_sorted_by_the_compiled_loop(monkeypatch: pytest.MonkeyPatch, below: int) -> None:
    monkeypatch.setattr(index, "_FEW", 100)
    keys = np.random.default_rng(1).integers(0, below, 5000)
    keys[:50] = keys[50:100]
    moved = keys.copy()
    order = sort(moved, below)
    np.testing.assert_array_equal(order, np.argsort(keys, kind="stable"))
    np.testing.assert_array_equal(moved, keys[order])
