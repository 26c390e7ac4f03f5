"""Tables of whole numbers that fit, one after the other by lot: in how many of them each cell has somebody."""

from dataclasses import dataclass

import numpy as np

from unveil._kernels.counts.blocks import CellBlock, blocks
from unveil._kernels.counts.rows import NO_END, SparseRows
from unveil._kernels.counts.solver import LARGEST_PROGRAM, Budget, linear, whole, world_of
from unveil._kernels.types import BoolArray, FloatArray, IntArray

#: A table need not be the best by its weights, which are drawn by lot anyway.
_GAP = 0.05


@dataclass(frozen=True, eq=False)
class WorldCounts:
    """For each cell, the number of tables in which it is occupied, and the tables found for its block."""

    occupied: IntArray
    found: IntArray

    @property
    def share(self) -> FloatArray:
        """The share of the tables in which each cell has somebody; NaN where no table was found."""
        return np.where(self.found > 0, self.occupied / np.maximum(self.found, 1), np.nan)


def worlds_by_lot(
    rows: SparseRows,
    low: IntArray,
    high: IntArray,
    weighed: BoolArray,
    number: int,
    budget: Budget,
    rng: np.random.Generator,
) -> WorldCounts:
    """Return in how many of some tables that fit each cell has somebody.

    Every table is the best one by weights of the ``weighed`` cells that are drawn from a normal distribution: a corner
    of what is possible, and no draw from a distribution over all tables. ``low`` and ``high`` are what is known of
    each cell; parts of the system that have nothing to do with one another are drawn one by one.

    >>> from unveil._kernels.counts.rows import rows_of
    >>> rows = rows_of([(np.array([[0, 1, 2]]), np.array([1, -1, -1]))], 3)
    >>> made = worlds_by_lot(rows, np.array([1, 0, 0]), np.array([1, 1, 1]), np.ones(3, np.bool_), 8, Budget(10_000),
    ...                      np.random.default_rng(0))
    >>> made.share[0], made.share[1] + made.share[2]
    (np.float64(1.0), np.float64(1.0))
    """
    one = low == high
    occupied = np.where(one & (low > 0), number, 0)
    found = np.where(one, number, 0)
    for block in blocks(rows, low, high):
        if not weighed[block.cells].any() or block.cells.size > LARGEST_PROGRAM:
            continue
        for _ in range(number):
            world = _one_world(block, low, high, weighed, budget, rng)
            if world is not None:
                occupied[block.cells] += world > 0
                found[block.cells] += 1
    return WorldCounts(occupied, found)


def _one_world(
    block: CellBlock, low: IntArray, high: IntArray, weighed: BoolArray, budget: Budget, rng: np.random.Generator
) -> IntArray | None:
    """Return one table of a block, None where none was found."""
    own_low, own_high = low[block.cells], high[block.cells]
    cost = np.where(weighed[block.cells], rng.normal(size=block.cells.size), 0.0)
    # What may grow without end is pushed down only: a best table must exist.
    cost = np.where(own_high >= NO_END, np.abs(cost), cost)
    if budget.is_spent:
        return None
    solved = linear(block.rows, own_low, own_high, cost, budget)
    if solved.state != "solved":
        return None
    world = world_of(block.rows, own_low, own_high, solved.values)
    if world is None and not budget.is_spent:
        solved = whole(block.rows, own_low, own_high, cost, budget, gap=_GAP)
        if solved.state == "solved":
            world = world_of(block.rows, own_low, own_high, solved.values)
    return world
