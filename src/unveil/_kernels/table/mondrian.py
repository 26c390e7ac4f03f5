"""Classes of at least k rows by cutting at medians again and again, all classes of one depth at once."""

import numpy as np

from unveil._kernels.types import BoolArray, FloatArray, IntArray


def mondrian_classes(position: FloatArray, k: int) -> IntArray:
    """Return the class of each row, numbered from 0.

    ``position`` has one line per row, with where its value lies in each column on a scale common to all columns. A
    class is cut in the column in which its rows lie farthest apart: those up to the median and those above it, or,
    where that leaves fewer than k on a side, those below the median and the others. Where neither will do the column of
    the next widest span is tried, and where none will, the class is left as it is. Rows with equal positions are never
    parted, and nothing depends on the order of rows.

    >>> mondrian_classes(np.array([[0.0], [0.1], [0.9], [0.2], [1.0], [0.8]]), 3)
    array([0, 0, 1, 0, 1, 1])
    """
    rows = np.arange(len(position))
    group = np.zeros(rows.size, np.int64)
    found = np.zeros(rows.size, np.int64)
    made = 0
    while rows.size:
        # Sorted by group, so that each is one run.
        order = np.argsort(group, kind="stable")
        rows, group = rows[order], group[order]
        is_cut, is_above = _cuts(position[rows], group, k)
        done = ~is_cut[group]
        _, number = np.unique(group[done], return_inverse=True)
        found[rows[done]] = made + number
        made += int(number.max(initial=-1)) + 1
        rows, both = rows[~done], 2 * group[~done] + is_above[~done]
        group = np.unique(both, return_inverse=True)[1].astype(np.int64)
    # Numbered by where their first rows lie, so that equal classes always have equal numbers.
    first = np.full(made, len(position))
    np.minimum.at(first, found, np.arange(len(position)))
    return np.argsort(np.argsort(first))[found].astype(np.int64)


def _cuts(position: FloatArray, group: IntArray, k: int) -> tuple[BoolArray, BoolArray]:
    """Return which groups are cut, and which rows, sorted by group, go to the upper side."""
    start = np.flatnonzero(np.diff(group, prepend=-1))
    size = np.diff(start, append=group.size)
    span = np.maximum.reduceat(position, start, axis=0) - np.minimum.reduceat(position, start, axis=0)
    by_span = np.argsort(-span, axis=1, kind="stable")
    is_cut = np.zeros(start.size, bool)
    is_above = np.zeros(group.size, bool)
    may = size >= 2 * k
    for column in by_span.T:
        may &= ~is_cut & (span[np.arange(start.size), column] > 0)
        rows = np.flatnonzero(may[group])
        if not rows.size:
            break
        value = position[rows, column[group[rows]]]
        median, at_most, below = _medians(value, group[rows], size[may])
        upper = (at_most >= k) & (size[may] - at_most >= k)
        lower = ~upper & (below >= k) & (size[may] - below >= k)
        number = np.cumsum(may)[group[rows]] - 1
        is_above[rows] = np.where(upper[number], value > median[number], value >= median[number])
        is_cut[np.flatnonzero(may)[upper | lower]] = True
    return is_cut, is_above


def _medians(value: FloatArray, group: IntArray, size: IntArray) -> tuple[FloatArray, IntArray, IntArray]:
    """Return each group's lower median, how many of its values are at most that, and how many are below."""
    ordered = value[np.lexsort((value, group))]
    start = np.cumsum(size) - size
    median = ordered[start + (size - 1) // 2]
    at = np.repeat(median, size)
    return (
        median,
        np.add.reduceat(ordered <= at, start, dtype=np.int64),
        np.add.reduceat(ordered < at, start, dtype=np.int64),
    )
