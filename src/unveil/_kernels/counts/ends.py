"""Feasibility intervals of a block's cells over all integer tables.

A table that attains an end proves that the range is no narrower; sums, multipliers or the solver prove that it is no
wider.
"""

import numpy as np

from unveil._kernels.counts.range_search import CellEnds, RangeQuery, lowest_world
from unveil._kernels.counts.rows import NO_END, OPEN, SparseRows
from unveil._kernels.counts.solver import LARGEST_SEARCH, TOLERANCE, Budget, certified, linear, whole, world_of
from unveil._kernels.counts.walks import find_by_walking
from unveil._kernels.types import IntArray

#: A round of random tables must close this share of the open ends to be followed by another.
_WORTH = 0.1
#: Or so many ends: looking for one end at a time closes one with each program.
_WORTH_OF_TWO = 6
_TRIES = 3
#: How an end was found, in ascending order of what it took.
BY_SUMS, BY_MULTIPLIERS, BY_SOLVER, BY_SEARCH = 0, 1, 2, 3


class NoWorldError(Exception):
    """No integer table is consistent with a block."""


def find_ends(
    rows: SparseRows, low: IntArray, high: IntArray, query: RangeQuery, budget: Budget, rng: np.random.Generator
) -> CellEnds:
    """Return the intervals of a block's cells, valid at any budget.

    Raises NoWorldError where no table fits.
    """
    ends = CellEnds.of(low, high)
    if not rows.number:  # nothing but its own ends binds a cell
        ends.take(low)
        ends.take(np.where(high >= NO_END, low, high))
        ends.seen_high[high >= NO_END] = NO_END
        return ends
    lowest_world(rows, ends)
    if ((high >= NO_END) & (ends.seen_high < NO_END)).any():
        _find_endless(rows, ends, budget)
    # Tables by lot are cheap, and each attains many ends.
    if not query.from_start:
        _random_worlds(rows, ends, RangeQuery(cells=query.cells), budget, rng, worth=_WORTH)
    if query.enough is not None:
        _random_worlds(rows, ends, query, budget, rng, worth=0.0)
    if not ends.worlds and low.size > LARGEST_SEARCH:
        find_by_walking(rows, ends, query, budget, rng)
    elif not ends.worlds:
        _first_world(rows, ends, budget)
    for cell in _in_order(ends, query):
        for sign in (1, -1):
            _settle(rows, ends, int(cell), sign, query, budget, rng)
    return ends


def _in_order(ends: CellEnds, query: RangeQuery) -> IntArray:
    """Return the wanted cells, those with the smallest intervals first."""
    cells = np.flatnonzero(query.of(ends) & (ends.open_low | ends.open_high))
    return np.asarray(cells[np.argsort((ends.high - ends.low)[cells], kind="stable")], np.int64)


def _find_endless(rows: SparseRows, ends: CellEnds, budget: Budget) -> None:
    """Mark the unbounded cells.

    One program finds them all, because directions can be added: each cell counts as much as it grows, at most 1.
    """
    size, free = ends.low.size, ends.high >= NO_END
    zero = np.zeros(size, np.int64)
    both = SparseRows(
        np.concatenate([rows.start, rows.start[-1] + 2 * np.arange(1, size + 1)]),
        np.concatenate([rows.cell, np.column_stack([np.arange(size), size + np.arange(size)]).ravel()]),
        np.concatenate([rows.coefficient, np.tile([1, -1], size)]),
        np.concatenate([np.where(rows.has_least, 0, -OPEN), zero]),
        np.concatenate([np.where(rows.has_most, 0, OPEN), np.full(size, OPEN)]),
        2 * size,
    )
    top = np.concatenate([np.where(free, NO_END, 0), free.astype(np.int64)])
    cost = np.concatenate([np.zeros(size), -np.ones(size)])
    solved = linear(both, np.zeros(2 * size, np.int64), top, cost, budget)
    if solved.state == "solved":
        ends.seen_high[free & (solved.values[size:] > 0.5)] = NO_END


def _random_worlds(
    rows: SparseRows, ends: CellEnds, query: RangeQuery, budget: Budget, rng: np.random.Generator, *, worth: float
) -> None:
    """Tighten all open ends at once with random weights, while productive."""
    while not budget.is_spent:
        before = _open_number(ends, query)
        if not before:
            return
        for sign in (1.0, -1.0):
            if budget.is_spent:
                return
            which = (ends.open_low if sign > 0 else ends.open_high) & query.of(ends)
            if sign < 0:
                which &= ends.high < NO_END
            cost = sign * np.where(which, rng.uniform(0.5, 1.5, ends.low.size), 0.0)
            solved = linear(rows, ends.low, ends.high, cost, budget)
            if solved.state == "none":
                raise NoWorldError
            if solved.state == "solved":
                world = world_of(rows, ends.low, ends.high, solved.values)
                if world is not None:
                    ends.take(world)
        closed = before - _open_number(ends, query)
        if closed < max(min(float(before), _WORTH_OF_TWO), worth * before):
            return


def _open_number(ends: CellEnds, query: RangeQuery) -> int:
    left = query.of(ends)
    return int((ends.open_low & left).sum() + (ends.open_high & left).sum())


def _first_world(rows: SparseRows, ends: CellEnds, budget: Budget) -> None:
    """Search for any table of whole numbers, because vertices had fractions."""
    if budget.is_spent:
        return
    solved = whole(rows, ends.low, ends.high, np.zeros(ends.low.size), budget)
    if solved.state == "none":
        raise NoWorldError
    if solved.state == "solved" and (world := world_of(rows, ends.low, ends.high, solved.values)) is not None:
        ends.take(world)


def _settle(
    rows: SparseRows, ends: CellEnds, cell: int, sign: int, query: RangeQuery, budget: Budget, rng: np.random.Generator
) -> None:
    """Find one end of a cell: the least of ``sign`` times it."""
    if not _is_open(ends, cell, sign) or budget.is_spent or not query.of(ends)[cell]:
        return
    cost = np.zeros(ends.low.size)
    cost[cell] = sign
    solved = linear(rows, ends.low, ends.high, cost, budget)
    if solved.state == "none":
        raise NoWorldError
    if solved.state != "solved":
        return
    if (world := world_of(rows, ends.low, ends.high, solved.values)) is not None:
        ends.take(world)
    bound = int(np.ceil(solved.value - TOLERANCE))
    sure = certified(rows, ends.low, ends.high, cell, sign, solved.multipliers)
    _move(ends, cell, sign, bound, BY_MULTIPLIERS if sure is not None and sure >= bound else BY_SOLVER)
    while _is_open(ends, cell, sign) and not budget.is_spent and query.of(ends)[cell]:
        found = _attain(rows, ends, cell, sign, budget, rng)
        if found is None:
            return
        if not found:
            at = int(ends.low[cell] if sign > 0 else -ends.high[cell])
            _move(ends, cell, sign, at + 1, BY_SEARCH)
            if ends.low[cell] > ends.high[cell]:
                raise NoWorldError


def _is_open(ends: CellEnds, cell: int, sign: int) -> bool:
    return bool(ends.seen_low[cell] > ends.low[cell] if sign > 0 else ends.seen_high[cell] < ends.high[cell])


def _move(ends: CellEnds, cell: int, sign: int, bound: int, by: int) -> None:
    """Tighten the end of a cell to a better bound."""
    if sign > 0 and bound > ends.low[cell]:
        ends.low[cell], ends.low_by[cell] = bound, by
    elif sign < 0 and -bound < ends.high[cell]:
        ends.high[cell], ends.high_by[cell] = -bound, by


def _attain(
    rows: SparseRows, ends: CellEnds, cell: int, sign: int, budget: Budget, rng: np.random.Generator
) -> bool | None:
    """Return whether a table attains a cell's end, None if unknown."""
    low, high = ends.low.copy(), ends.high.copy()
    low[cell] = high[cell] = ends.low[cell] if sign > 0 else ends.high[cell]
    for _ in range(_TRIES):
        cost = np.where(ends.open_low, 1.0, 0.0) - np.where(ends.open_high & (high < NO_END), 1.0, 0.0)
        cost = cost * rng.uniform(0.5, 1.5, low.size) + 1e-3 * rng.uniform(0, 1, low.size)
        solved = linear(rows, low, high, cost, budget)
        if solved.state == "none":
            return False
        if solved.state == "solved" and (world := world_of(rows, low, high, solved.values)) is not None:
            ends.take(world)
            return True
        if budget.is_spent:
            return None
    solved = whole(rows, low, high, np.zeros(low.size), budget)
    if solved.state == "none":
        return False
    if solved.state == "solved" and (world := world_of(rows, low, high, solved.values)) is not None:
        ends.take(world)
        return True
    return None
