"""The cheapest way from one table of counts to another one in which a given cell differs."""

import numpy as np

from unveil._kernels.counts.rows import SparseRows, chosen, renumbered
from unveil._kernels.counts.solver import Budget
from unveil._kernels.types import BoolArray, FloatArray, IntArray

#: Programs over more cells are not searched for whole moves.
_LARGEST_SEARCH = 3_000
#: How the solver says that no table fits.
_NONE = 2


class UnsettledMoveError(Exception):
    """Whether there is another table was not settled: the search ended before it found one or showed that none is."""


def cheapest_move(
    rows: SparseRows,
    counts: IntArray,
    at_least: IntArray,
    movable: BoolArray,
    cost: FloatArray,
    cell: int,
    step: int,
    budget: Budget,
) -> IntArray | None:
    """Return by how much each cell changes when one changes by ``step``, at the least cost; None if it cannot.

    Parameters
    ----------
    rows, counts
        The sums, which hold before and after, and the table that is left.
    at_least
        What each cell must be at least afterwards.
    movable, cost
        Which cells may change, and what each step of a cell costs.
    cell, step, budget
        The cell that must change, by how much, upwards (above 0) or downwards, and the steps that the solver may take.

    Raises
    ------
    UnsettledMoveError
        If the search ended before it was clear whether there is such a table.

    Examples
    --------
    >>> from unveil._kernels.counts.rows import rows_of
    >>> rows = rows_of([(np.array([[0, 1, 2]]), np.array([1, -1, -1]))], 3)
    >>> cheapest_move(rows, np.array([5, 2, 3]), np.zeros(3, np.int64), np.array([False, True, True]),
    ...               np.ones(3), 1, 1, Budget(1000)).tolist()
    [0, 1, -1]
    """
    if counts[cell] + step < at_least[cell] or not movable[cell]:
        return None
    cells = np.flatnonzero(movable)
    inside = movable[rows.cell]
    number = np.bincount(rows.of_entry[inside], minlength=rows.number)
    part = SparseRows(
        np.concatenate([[0], np.cumsum(number)]), rows.cell[inside], rows.coefficient[inside], rows.least, rows.most,
        rows.cells,
    )  # fmt: skip
    own = renumbered(chosen(part, number > 0), cells)
    place = int(np.searchsorted(cells, cell))
    up = np.full(cells.size, np.inf)
    down = (counts[cells] - at_least[cells]).astype(np.float64)
    ups, downs = np.zeros(cells.size), np.zeros(cells.size)
    (ups if step > 0 else downs)[place] = abs(step)
    up[place], down[place] = ups[place], downs[place]
    steps = _solved(own, np.concatenate([ups, downs]), np.concatenate([up, down]), cost[cells], budget)
    if steps is None:
        return None
    moved = np.zeros(counts.size, np.int64)
    moved[cells] = steps
    if ((counts + moved)[cells] < at_least[cells]).any() or not rows.hold(counts + moved):
        raise UnsettledMoveError
    return moved


def _solved(rows: SparseRows, low: FloatArray, high: FloatArray, cost: FloatArray, budget: Budget) -> IntArray | None:
    """Return the whole-number difference of ups and downs at the least cost."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import hstack

    matrix = hstack([rows.matrix, -rows.matrix], format="csr")
    zero = np.zeros(rows.number)
    both = np.concatenate([cost, cost])
    sums = [LinearConstraint(matrix, zero, zero)] if rows.number else []
    for whole in (0, 1):
        if whole and rows.cells > _LARGEST_SEARCH:
            raise UnsettledMoveError
        options = {"node_limit": 50, "mip_rel_gap": 0.1} if whole else {}
        found = milp(
            both, integrality=np.full(both.size, whole), bounds=Bounds(low, high), constraints=sums, options=options
        )
        budget.linear += 1
        budget.pay(100 + (matrix.nnz >> 3))
        if found.status == _NONE:
            return None
        if found.x is None:
            raise UnsettledMoveError
        steps = found.x[: rows.cells] - found.x[rows.cells :]
        if np.abs(steps - np.round(steps)).max(initial=0.0) < 1e-6:
            return np.asarray(np.round(steps), np.int64)
    raise UnsettledMoveError
