"""Secondary suppression: withhold cells until no small cell can be recovered."""

from dataclasses import dataclass, field

import numpy as np

from unveil._kernels.counts.rows import SparseRows, chosen, renumbered
from unveil._kernels.counts.solver import Budget
from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.data.counts.system import CountSystem
from unveil.errors import InputError, whole_number

#: What a step of a cell costs that is hidden anyway.
_FREE = 0.001


@dataclass(frozen=True, eq=False)
class HiddenCounts:
    """Suppressed cells, and small cells without the requested interval width.

    All have one entry for each cell: ``is_helpless`` where it is proven that no other count fits whatever is hidden,
    ``is_short`` where some fit but too few, ``is_undecided`` where the work did not suffice to say.
    """

    is_hidden: BoolArray = field(repr=False)
    is_helpless: BoolArray = field(repr=False)
    is_short: BoolArray = field(repr=False)
    is_undecided: BoolArray = field(repr=False)
    programs: int


@dataclass(frozen=True, kw_only=True)
class HideCounts:
    """Suppress counts from 1 to minimum - 1, and further cells.

    One symbol stands for all that is hidden, and zeros are shown: an attacker who knows that knows each suppressed cell
    to be at least 1. For every small count other populations are made in which it differs, at the least loss of other
    counts; all that differs there is hidden. Then whatever was hidden without need is shown again, the largest first.
    Greedy, so not the least that suffices.

    Attributes
    ----------
    minimum
        Counts from 1 to one less are small.
    keep
        How many values at least are left to each small count, from the least to the greatest that it may be.
    work
        Steps that the solver may take in all.
    """

    minimum: int = 5
    keep: int = 2
    work: int = 1_000_000

    def __post_init__(self) -> None:
        whole_number(self.minimum, "the minimum", at_least=2)
        whole_number(self.keep, "the values to keep", at_least=2, at_most=1000)
        whole_number(self.work, "work", at_least=1)

    def apply(self, system: CountSystem, counts: IntArray) -> HiddenCounts:
        """Return the cells to suppress in tables with known true counts.

        Cells already suppressed are included.
        """
        rows = system.arrays.rows
        if not rows.hold(counts):
            raise InputError("the true counts do not add up. Pass those of the records behind the tables")
        listed = np.zeros(system.number, np.bool_)
        listed[system.cell] = True
        small = listed & (counts >= 1) & (counts < self.minimum)
        must = (listed & system.is_hidden) | small
        hidden = must.copy()
        budget = Budget(self.work)
        helpless, short, undecided = (np.zeros(system.number, np.bool_) for _ in range(3))
        least_seen, most_seen, moves = counts.copy(), counts.copy(), []
        order = np.flatnonzero(small)
        for cell in order[np.argsort(counts[order], kind="stable")].tolist():
            needed = self.keep - 1
            if most_seen[cell] - least_seen[cell] >= needed:
                continue
            if budget.is_spent:
                undecided[cell] = True
                continue
            cost = np.where(hidden | ~listed, _FREE, 1 + np.log1p(counts))
            found, is_sure = _widest(system, counts, listed, cost, cell, needed, budget)
            reached = sum(int(abs(move[cell])) for move in found)
            helpless[cell], undecided[cell] = not found and is_sure, not found and not is_sure
            short[cell] = bool(found) and reached < needed
            for move in found:
                hidden |= (move != 0) & listed
                np.minimum(least_seen, counts + move, out=least_seen)
                np.maximum(most_seen, counts + move, out=most_seen)
                moves.append(move)
        wide = np.where(small, np.minimum(most_seen - least_seen, self.keep - 1), 0)
        shown = _shown_again(hidden & ~must, counts, wide, moves)
        return HiddenCounts(hidden & ~shown, helpless, short, undecided, budget.linear)


def _widest(
    system: CountSystem,
    counts: IntArray,
    listed: BoolArray,
    cost: FloatArray,
    cell: int,
    needed: int,
    budget: Budget,
) -> tuple[list[IntArray], bool]:
    """Return the cheapest moves that give a cell this total range.

    Also whether it was settled that no more is possible.
    """
    # A zero that is shown stays one; what no table lists may be anything.
    least, movable = np.where(listed & (counts > 0), 1, 0), ~listed | (counts > 0)
    known: dict[int, IntArray | None] = {}
    is_sure = True
    for spread in range(needed, 0, -1):
        ways = []
        for up in sorted({spread, spread // 2, 0}):
            found = []
            for step in (up, up - spread):
                if step and step not in known:
                    try:
                        known[step] = cheapest_move(
                            system.arrays.rows, counts, least, movable, cost, cell, step, budget
                        )
                    except UnsettledMoveError:
                        known[step], is_sure = None, False
                if step:
                    found.append(known[step])
            if all(move is not None for move in found):
                ways.append([move for move in found if move is not None])
        if ways:
            return min(ways, key=lambda way: float(cost[np.any([move != 0 for move in way], axis=0)].sum())), is_sure
    return [], is_sure


def _shown_again(more: BoolArray, counts: IntArray, wide: IntArray, moves: list[IntArray]) -> BoolArray:
    """Return the further cells that need no suppression."""
    shown = np.zeros(counts.size, np.bool_)
    if not moves:
        return shown
    own = np.flatnonzero(wide > 0)
    made, at_own = np.stack(moves), np.stack(moves)[:, own]
    for cell in sorted(np.flatnonzero(more).tolist(), key=lambda each: (-counts[each], each)):
        left = at_own[made[:, cell] == 0]
        most, least = left.max(axis=0, initial=0), left.min(axis=0, initial=0)
        if (most - least >= wide[own]).all():
            shown[cell] = True
            made, at_own = made[made[:, cell] == 0], left
    return shown


def known_counts(system: CountSystem) -> IntArray | None:
    """Return the count of every cell, or None if unknown.

    >>> from unveil.data.counts import read_counts
    >>> from unveil.data.counts.system import system_of
    >>> known_counts(system_of(read_counts([{"ward": ["N", "S"], "count": ["2", "7"]}]))).tolist()
    [9, 2, 7]
    """
    from unveil._kernels.counts.propagate import propagate

    if not system.released.is_shown.all():
        return None
    low, high = system.told(())
    if (low > high).any():
        return None
    found = propagate(system.arrays.rows, low, high)
    return found.low if found.conflict < 0 and (found.low == found.high).all() else None


# The cheapest way from one table of counts to another one in which a given cell differs.

#: Programs over more cells are not searched for whole moves.
_LARGEST_SEARCH = 3_000
#: How the solver says that no table fits.
_NONE = 2


class UnsettledMoveError(Exception):
    """The search ended without finding or excluding another table."""


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
    """Return the cheapest changes that move one cell by ``step``.

    It returns None if there are none.

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
