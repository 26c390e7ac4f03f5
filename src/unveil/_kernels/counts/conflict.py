"""Which of the figures that were told cannot hold together: a set from which none can be left out."""

import numpy as np

from unveil._kernels.counts.propagate import propagate
from unveil._kernels.counts.rows import NO_END, OPEN, SparseRows
from unveil._kernels.counts.solver import LARGEST_PROGRAM, Budget, linear, whole
from unveil._kernels.types import BoolArray, IntArray

#: So many programs are solved for one set; what is left then is still a set that cannot hold.
MOST_TRIES = 200


def conflicting(
    rows: SparseRows, low: IntArray, high: IntArray, published: BoolArray, *, row: int = -1, work: int = 1_000_000
) -> IntArray:
    """Return cells whose told ends contradict one another, as few as could be found; empty if none were.

    ``published`` marks the cells of which something is told, and ``row`` a sum that cannot hold, where one is known.
    The solver takes at most ``work`` steps; what is left then is still a set that cannot hold.

    >>> from unveil._kernels.counts.rows import rows_of
    >>> rows = rows_of([(np.array([[0, 1, 2]]), np.array([1, -1, -1]))], 4)
    >>> conflicting(rows, np.array([13, 5, 7, 1]), np.array([13, 5, 7, 1]), np.ones(4, np.bool_)).tolist()
    [0, 1, 2]
    """
    budget = Budget(work)
    if row >= 0:
        own = np.zeros(published.size, np.bool_)
        own[rows.cell[rows.start[row] : rows.start[row + 1]]] = True
        if not _fits(rows, low, high, published & own, None):
            return _fewest(rows, low, high, np.flatnonzero(published & own), None)
    if rows.cells > LARGEST_PROGRAM:
        return np.zeros(0, np.int64)
    support = _elastic(rows, low, high, published, budget)
    if support.size:
        return _fewest(rows, low, high, support, budget)
    # Only whole numbers contradict: every told cell counts, as long as they are few.
    every = np.flatnonzero(published)
    return _fewest(rows, low, high, every, budget, search=True) if every.size <= MOST_TRIES else every[:0]


def _elastic(rows: SparseRows, low: IntArray, high: IntArray, published: BoolArray, budget: Budget) -> IntArray:
    """Return the cells whose ends press on the program that breaks as few of them, by as little, as it can."""
    cells = np.flatnonzero(published)
    size, many = low.size, cells.size
    place = size + np.arange(many)
    zero_low = np.zeros(size + 2 * many, np.int64)
    top = np.full(size + 2 * many, NO_END)
    ends = [(cells, place, low[cells], np.full(many, OPEN)), (cells, place + many, np.full(many, -1), high[cells])]
    start, cell, coefficient = [rows.start], [rows.cell], [rows.coefficient]
    least, most = [rows.least], [rows.most]
    for sign, (own, slack, lower, upper) in zip((1, -1), ends, strict=True):
        start.append(start[-1][-1] + 2 * np.arange(1, many + 1))
        cell.append(np.column_stack([own, slack]).ravel())
        coefficient.append(np.tile([1, sign], many))
        least.append(np.where(lower < 0, -OPEN, lower))
        most.append(np.where(upper >= NO_END, OPEN, upper))
    whole_rows = SparseRows(
        np.concatenate(start), np.concatenate(cell), np.concatenate(coefficient), np.concatenate(least),
        np.concatenate(most), int(top.size),
    )  # fmt: skip
    cost = np.concatenate([np.zeros(size), np.ones(2 * many)])
    solved = linear(whole_rows, zero_low, top, cost, budget)
    if solved.state != "solved" or solved.value < 1e-6:
        return np.zeros(0, np.int64)
    presses = np.abs(solved.multipliers[rows.number :]) > 1e-7
    return np.asarray(cells[presses[:many] | presses[many:]], np.int64)


def _fewest(
    rows: SparseRows, low: IntArray, high: IntArray, cells: IntArray, budget: Budget | None, *, search: bool = False
) -> IntArray:
    """Return the cells without those that can be left out one by one."""
    kept = np.zeros(low.size, np.bool_)
    kept[cells] = True
    for cell in cells[:MOST_TRIES].tolist():
        if budget is not None and budget.is_spent:
            break
        kept[cell] = False
        if _fits(rows, low, high, kept, budget, search=search):
            kept[cell] = True
    return np.flatnonzero(kept)


def _fits(
    rows: SparseRows, low: IntArray, high: IntArray, kept: BoolArray, budget: Budget | None, *, search: bool = False
) -> bool:
    """Return whether what is told of some cells leaves a table possible; without a budget, by single sums alone."""
    own_low, own_high = np.where(kept, low, 0), np.where(kept, high, NO_END)
    sums = propagate(rows, own_low, own_high)
    if sums.conflict >= 0:
        return False
    if budget is None:
        return True
    cost = np.zeros(low.size)
    if linear(rows, sums.low, sums.high, cost, budget).state == "none":
        return False
    return not search or whole(rows, sums.low, sums.high, cost, budget).state != "none"
