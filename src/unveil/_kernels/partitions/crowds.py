"""Count the other subjects in what the attacker holds together, one merging after the other."""

import numpy as np

from unveil._kernels._compile import kernel
from unveil._kernels.partitions.tied_crowds import OTHERS, Columns, Crowd, effective, join, tied_means
from unveil._kernels.types import FloatArray, Int32Array, IntArray


def by_column(column: Int32Array, columns: int) -> tuple[IntArray, IntArray]:
    """Return where the cells of each column start, and the cells column by column.

    >>> by_column(np.array([0, 1, 0], np.int32), 2)
    (array([0, 2, 3]), array([0, 2, 1]))
    """
    start = np.concatenate([[0], np.cumsum(np.bincount(column, minlength=columns))])
    return start, np.argsort(column, kind="stable")


@kernel("i8[], i8[], i4[], i8[], i8[], i8[], i4[], i8[], i8", cost=64)
def crowd_gains(
    start: IntArray,
    order: IntArray,
    column: Int32Array,
    own: IntArray,
    foreign: IntArray,
    column_start: IntArray,
    subject_in_column: Int32Array,
    items_in_column: IntArray,
    subjects: int,
) -> tuple[FloatArray, FloatArray]:
    """Return how many others each merging brings, and how much it changes their effective number.

    The effective number is 2 to the entropy of the foreign items by subject: the number of others if all have equally
    many items there, less if few have most. It may fall when one joins with many. Cells of a row with equal ``own`` and
    ``foreign`` tie: their gains are means over all their orders (see :func:`tied_means`), by place and not by cell.
    """
    gain, effective_gain = np.zeros(order.size), np.zeros(order.size)
    columns = Columns(column_start, subject_in_column, items_in_column)
    crowd = Crowd(np.zeros(subjects, np.int64), np.empty(subjects, np.int64), np.zeros(subjects, np.int64), np.zeros(3))
    for subject in range(subjects):
        crowd.seen_in[subject] = -1
    # Means are rounded to multiples of this, so that sums of gains are exact.
    unit = 2.0 ** (np.ceil(np.log2(subjects)) - 52)
    for r in range(start.size - 1):
        for part in range(crowd.state.size):
            crowd.state[part] = 0.0
        number, even, first = 0.0, 0.0, start[r]
        while first < start[r + 1]:
            end = first + 1
            while end < start[r + 1] and _tie(order[first], order[end], own, foreign):
                end += 1
            if end > first + 1:
                tied = np.empty(end - first, np.int64)
                for k in range(first, end):
                    tied[k - first] = column[order[k]]
                numbers, evens = tied_means(columns, tied, r, crowd)
                for k in range(first, end - 1):
                    mean = np.rint(numbers[k - first] / unit) * unit
                    gain[order[k]], effective_gain[order[k]] = mean - number, evens[k - first] - even
                    number, even = mean, evens[k - first]
            for k in range(first, end):
                join(columns, column[order[k]], r, crowd, 1)
            now = effective(crowd)
            gain[order[end - 1]], effective_gain[order[end - 1]] = crowd.state[OTHERS] - number, now - even
            number, even, first = crowd.state[OTHERS], now, end
    return gain, effective_gain


def _tie(one: int, other: int, own: IntArray, foreign: IntArray) -> bool:
    return bool(own[one] == own[other] and foreign[one] == foreign[other])
