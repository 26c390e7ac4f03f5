"""Bound propagation along sums until a fixed point."""

from dataclasses import dataclass

import numpy as np

from unveil._kernels.counts.rows import NO_END, SparseRows
from unveil._kernels.types import IntArray

#: Whole numbers, so it ends; real tables need a few dozen rounds.
MOST_ROUNDS = 1_000


@dataclass(frozen=True, eq=False)
class PropagatedBounds:
    """Bounds of every cell, their last changes, and any conflict.

    ``conflict`` is a row that cannot hold, or -1.
    """

    low: IntArray
    high: IntArray
    low_row: IntArray
    high_row: IntArray
    low_round: IntArray
    high_round: IntArray
    rounds: int
    conflict: int = -1


def propagate(rows: SparseRows, low: IntArray, high: IntArray, *, most_rounds: int = MOST_ROUNDS) -> PropagatedBounds:
    """Return the bounds implied by the rows, iterated to a fixed point.

    >>> from unveil._kernels.counts.rows import rows_of
    >>> found = propagate(rows_of([(np.array([[0, 1, 2]]), np.array([1, -1, -1]))], 3), np.array([5, 2, 0]),
    ...                   np.array([5, 2, NO_END]))
    >>> found.low.tolist(), found.high.tolist(), found.rounds
    ([5, 2, 3], [5, 2, 3], 1)
    """
    low, high = low.astype(np.int64), high.astype(np.int64)
    nothing = np.full(rows.cells, -1, np.int64)
    low_row, high_row, low_round, high_round = nothing, nothing.copy(), nothing.copy(), nothing.copy()
    for done in range(most_rounds):
        least, most = _ends(rows, low, high)
        order, first, cells = rows.by_cell
        if not cells.size:
            break
        new_low, at_low = _best(least[order], first, np.maximum)
        new_high, at_high = _best(most[order], first, np.minimum)
        up, down = new_low > low[cells], new_high < high[cells]
        if not (up.any() or down.any()):
            return PropagatedBounds(low, high, low_row, high_row, low_round, high_round, done)
        low[cells[up]] = new_low[up]
        high[cells[down]] = new_high[down]
        low_row[cells[up]] = rows.of_entry[order[at_low[up]]]
        high_row[cells[down]] = rows.of_entry[order[at_high[down]]]
        low_round[cells[up]] = high_round[cells[down]] = done
        wrong = np.flatnonzero(low > high)
        if wrong.size:
            row = max(low_row[wrong[0]], high_row[wrong[0]])
            return PropagatedBounds(low, high, low_row, high_row, low_round, high_round, done + 1, int(row))
    return PropagatedBounds(low, high, low_row, high_row, low_round, high_round, most_rounds)


def _ends(rows: SparseRows, low: IntArray, high: IntArray) -> tuple[IntArray, IntArray]:
    """Return each element's cell bounds from its own row."""
    positive = rows.coefficient > 0
    below, above = low[rows.cell], high[rows.cell]
    endless = above >= NO_END
    # An entry's smallest and greatest contribution; one without end is counted apart.
    small = rows.coefficient * np.where(positive, below, np.where(endless, 0, above))
    great = rows.coefficient * np.where(positive, np.where(endless, 0, above), below)
    small_endless, great_endless = endless & ~positive, endless & positive
    sum_small, sum_great = _whole(rows, small), _whole(rows, great)
    many_small, many_great = _whole(rows, small_endless), _whole(rows, great_endless)
    room = rows.most[rows.of_entry] - (sum_small - small)
    need = rows.least[rows.of_entry] - (sum_great - great)
    room_known = (many_small - small_endless) == 0
    need_known = (many_great - great_endless) == 0
    size = np.abs(rows.coefficient)
    most = np.where(positive, room // size, -need // size)
    least = np.where(positive, -(-need // size), -(room // size))
    most = np.where(np.where(positive, room_known, need_known), most, NO_END)
    least = np.where(np.where(positive, need_known, room_known), least, -1)
    return least, np.minimum(most, NO_END)


def _whole(rows: SparseRows, entries: "IntArray | np.ndarray[tuple[int], np.dtype[np.bool_]]") -> IntArray:
    """Return for each entry the sum over its whole row."""
    total = np.concatenate([[0], np.cumsum(entries, dtype=np.int64)])
    return np.repeat(total[rows.start[1:]] - total[rows.start[:-1]], np.diff(rows.start))


def _best(values: IntArray, first: IntArray, better: np.ufunc) -> tuple[IntArray, IntArray]:
    """Return the best value of each cell, and the first place where it stands."""
    best = better.reduceat(values, first)
    lengths = np.diff(np.append(first, values.size))
    hit = values == np.repeat(best, lengths)
    place = np.where(hit, np.arange(values.size), values.size)
    return best, np.minimum.reduceat(place, first)
