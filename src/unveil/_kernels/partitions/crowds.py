"""Whom mergings bring along: the other subjects in what the adversary holds together, one merging after the other."""

import numpy as np

from unveil._kernels._compile import kernel
from unveil._kernels.types import FloatArray, Int32Array, IntArray


def by_column(column: Int32Array, columns: int) -> tuple[IntArray, IntArray]:
    """Return where the cells of each column start, and the cells column by column.

    >>> by_column(np.array([0, 1, 0], np.int32), 2)
    (array([0, 2, 3]), array([0, 2, 1]))
    """
    start = np.concatenate([[0], np.cumsum(np.bincount(column, minlength=columns))])
    return start, np.argsort(column, kind="stable")


@kernel("i8[], i8[], i4[], i4[], i8[], i8[], i8[], i8", cost=4)
def crowd_gains(
    start: IntArray,
    order: IntArray,
    row_of: Int32Array,
    column: Int32Array,
    count: IntArray,
    column_start: IntArray,
    cell_in_column: IntArray,
    subjects: int,
) -> tuple[IntArray, FloatArray]:
    """Return how many others the merging of each cell brings, and by how much it changes their effective number.

    The effective number is 2 to the entropy of the foreign items by subject: as many as there are if all have as many
    items there, fewer if few have most. It may fall when one joins with many.
    """
    gain = np.zeros(order.size, np.int64)
    effective_gain = np.zeros(order.size, np.float64)
    held = np.zeros(subjects, np.int64)
    seen_in = np.empty(subjects, np.int64)
    for subject in range(subjects):
        seen_in[subject] = -1
    for r in range(start.size - 1):
        foreign, others, bits, before = 0, 0, 0.0, 0.0
        for k in range(start[r], start[r + 1]):
            cluster = column[order[k]]
            new = 0
            for place in range(column_start[cluster], column_start[cluster + 1]):
                cell = cell_in_column[place]
                other = row_of[cell] % subjects
                if row_of[cell] == r:
                    continue
                if seen_in[other] != r:
                    seen_in[other] = r
                    held[other] = 0
                    new += 1
                if held[other] > 1:
                    bits -= held[other] * np.log2(held[other])
                held[other] += count[cell]
                foreign += count[cell]
                if held[other] > 1:
                    bits += held[other] * np.log2(held[other])
            others += new
            effective = 0.0
            if others > 0:
                effective = min(float(others), max(1.0, 2.0 ** (np.log2(foreign) - bits / foreign)))
            gain[order[k]] = new
            effective_gain[order[k]] = effective - before
            before = effective
    return gain, effective_gain
