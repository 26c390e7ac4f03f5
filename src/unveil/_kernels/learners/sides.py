"""Partition of a tree node's rows by split side."""

import numpy as np

from unveil._kernels.types import BoolArray, ByteArray, IntArray


def divide(some: IntArray, column: ByteArray, goes_first: BoolArray) -> int:
    """Move rows of the first side to the front, and return their number.

    >>> rows = np.array([4, 1, 3])
    >>> divide(rows, np.array([0, 1, 0, 0, 1], np.uint8), np.array([True, False])), rows
    (1, array([3, 4, 1]))
    """
    others, first, second = np.empty(some.size, np.int64), 0, 0
    for at in range(some.size):
        row = some[at]
        if goes_first[column[row]]:
            some[first] = row
            first += 1
        else:
            others[second] = row
            second += 1
    for at in range(second):
        some[first + at] = others[at]
    return first
