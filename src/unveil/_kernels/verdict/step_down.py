"""Multiplicity adjustment of many test statistics."""

from typing import NamedTuple

import numpy as np

from unveil._kernels.types import FloatArray, IntArray

#: Statistics that differ by less than this share of the largest of their column are equal: sums are rounded.
SAME = 1e-10


class AdjustedP(NamedTuple):
    """Unadjusted and adjusted p of each test.

    Attributes
    ----------
    p
        The share of rows whose statistic is at least the seen one, which is one of them.
    adjusted
        The same for the least p of all figures that are not clearer than this one: an upper bound of the probability
        that luck gives any figure as clear as this.
    """

    p: FloatArray
    adjusted: FloatArray


def step_down(statistics: FloatArray) -> AdjustedP:
    """Return p and adjusted p by column (Westfall and Young, 1993).

    ``statistics`` has one column per figure and one row per draw; row 0 is what was seen, and larger is worse. Where
    nothing is given away row 0 is exchangeable with the others, and then the least adjusted p is at most alpha with a
    probability of at most alpha, for any number of rows and whatever the figures have to do with one another. p lies
    between 1 / rows and 1, and adjusted p between p and 1. Equal statistics count as at least as large; a constant
    column has p = 1. Columns may be drawn in different ways, as labels and as orders of rows, if row b of each is drawn
    independently of row b of the others: pairs of draws are then what is exchangeable.

    >>> step_down(np.array([[9.0, 0], [1, 0], [2, 1], [3, 1]]))
    AdjustedP(p=array([0.25, 1.  ]), adjusted=array([0.25, 1.  ]))
    """
    rows, figures = statistics.shape
    if figures == 0:
        return AdjustedP(np.zeros(0), np.zeros(0))
    at_least = np.column_stack([_at_least(column) for column in statistics.T])
    seen = at_least[0]
    least = np.full(rows, rows + 1)
    count = np.zeros(figures, np.int64)
    for figure in np.argsort(-seen, kind="stable"):
        np.minimum(least, at_least[:, figure], out=least)
        count[figure] = np.count_nonzero(least <= seen[figure])
    # From the smallest p on; figures with the same p thus get the same, whatever their order was.
    for_all = np.argsort(-seen, kind="stable")[::-1]
    count[for_all] = np.maximum.accumulate(count[for_all])
    return AdjustedP(seen / rows, count / rows)


def _at_least(column: FloatArray) -> IntArray:
    """Return the number of elements at least as large, with tolerance."""
    order = np.argsort(column, kind="stable")
    ascending = column[order]
    near = SAME * np.abs(ascending[[0, -1]]).max()
    first = np.concatenate([[True], np.diff(ascending) > near])
    # Everybody in a run of equal entries has the place of its first one.
    start = np.flatnonzero(first)[np.cumsum(first) - 1]
    at_least = np.empty(column.size, np.int64)
    at_least[order] = column.size - start
    return at_least


def holm(p: FloatArray) -> FloatArray:
    """Return Holm-adjusted p of each test.

    >>> holm(np.array([0.01, 0.5, 0.04]))
    array([0.03, 0.5 , 0.08])
    """
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(p.size)
    adjusted[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1)), 1.0)
    return adjusted
