"""Subset dynamic programming: rows in turn, over sets of taken columns.

Only positive numbers are added and multiplied, so nothing cancels: every result, however small, is right to about n
roundings. 2**n sets are kept, which is enough up to n = 22 or so, in numpy alone: nobody waits for a compiler.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.types import FloatArray, IntArray

Sets = IntArray
#: Above it the sets, and above all their polynomials, take too much memory.
LARGEST, LARGEST_CRACKS = 22, 20


def permanent_by_subsets(matrix: NDArray[Any]) -> Any:
    """Return the permanent as float, int64, or Python integer.

    >>> int(permanent_by_subsets(np.ones((4, 4), dtype=object)))
    24
    """
    return _forward(matrix)[-1]


def marginals_by_subsets(matrix: FloatArray) -> tuple[float, FloatArray]:
    """Return the permanent and all edge marginals.

    >>> marginals_by_subsets(np.array([[0.6, 0.4], [0.4, 0.6]]))[1].round(3)
    array([[0.692, 0.308],
           [0.308, 0.692]])
    """
    n = len(matrix)
    forward = _forward(matrix)
    backward = np.zeros(1 << n)
    backward[-1] = 1.0
    marginal = np.zeros((n, n))
    for row, sets in reversed(list(enumerate(_levels(n)))):
        reached = sets[forward[sets] > 0]
        for column in np.flatnonzero(matrix[row]):
            before = reached[(reached >> column) & 1 == 0]
            part = matrix[row, column] * backward[before | (1 << column)]
            backward[before] += part
            marginal[row, column] = forward[before] @ part
    return float(forward[-1]), marginal / forward[-1]


def cracks_by_subsets(matrix: FloatArray, truth: IntArray) -> FloatArray:
    """Return the crack distribution for these ``truth`` columns.

    >>> cracks_by_subsets(np.ones((3, 3)), np.arange(3)).round(4)
    array([0.3333, 0.5   , 0.    , 0.1667])
    """
    n = len(matrix)
    place = np.zeros(1 << n, np.int64)
    levels = list(_levels(n))
    current = np.ones((1, 1))
    sets = levels[0]
    for row in range(n):
        reachable = levels[row + 1] if row + 1 < n else np.array([(1 << n) - 1])
        place[reachable] = np.arange(reachable.size)
        after = np.zeros((reachable.size, row + 2))
        for column in np.flatnonzero(matrix[row]):
            free = (sets >> column) & 1 == 0
            target = place[sets[free] | (1 << column)]
            shift = int(truth[row] == column)
            after[target, shift : shift + row + 1] += matrix[row, column] * current[free]
        sets, current = reachable, after
    return np.asarray(current[0] / current[0].sum())


def _forward(matrix: NDArray[Any]) -> NDArray[Any]:
    """Return the permanents of leading rows on each column set."""
    n = len(matrix)
    value = np.zeros(1 << n, matrix.dtype)
    value[0] = 1
    for row, sets in enumerate(_levels(n)):
        reached = sets[value[sets] != 0]
        for column in np.flatnonzero(matrix[row]):
            before = reached[(reached >> column) & 1 == 0]
            value[before | (1 << column)] += matrix[row, column] * value[before]
    return value


def _levels(n: int) -> Iterator[Sets]:
    """Yield the sets of 0, 1, ..., n - 1 columns as bit masks."""
    size = np.zeros(1 << n, np.int8)
    for bit in range(n):
        size[1 << bit : 2 << bit] = size[: 1 << bit] + 1
    order = np.argsort(size, kind="stable")
    ends = np.concatenate([[0], np.cumsum(np.bincount(size, minlength=n + 1))])
    for level in range(n):
        yield order[ends[level] : ends[level + 1]]
