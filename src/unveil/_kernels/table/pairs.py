"""Pairs of codes in two columns, and how many rows have each."""

import numpy as np

from unveil._kernels._compile import PLAIN_UP_TO, compiled, loop
from unveil._kernels.types import Int32Array, IntArray


def pair_counts(a: Int32Array, b: Int32Array, a_size: int, b_size: int) -> IntArray:
    """Return how many rows have each pair of codes; that of pair (i, j) is at i * b_size + j.

    >>> pair_counts(np.array([0, 1, 1], np.int32), np.array([2, 0, 0], np.int32), 2, 3)
    array([0, 0, 1, 2, 0, 0])
    """
    if a.size <= PLAIN_UP_TO:
        return np.bincount(pair_keys(a, b, b_size), minlength=a_size * b_size)
    count = np.zeros(a_size * b_size, np.int64)
    compiled(_count_pairs)(np.ascontiguousarray(a), np.ascontiguousarray(b), b_size, count)
    return count


def pair_keys(a: Int32Array, b: Int32Array, b_size: int) -> IntArray:
    """Return i * b_size + j for each pair (i, j) of codes."""
    key = a.astype(np.int64)
    key *= b_size
    key += b
    return key


@loop("i4[], i4[], i8, i8[]")
def _count_pairs(a: Int32Array, b: Int32Array, b_size: int, count: IntArray) -> None:
    for row in range(a.size):
        count[a[row] * b_size + b[row]] += 1
