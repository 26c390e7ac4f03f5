"""Reconstruction of records: certain combinations first, then the most frequent ones."""

from dataclasses import dataclass

import numpy as np

from unveil._kernels.counts.blocks import CellBlock, blocks
from unveil._kernels.counts.rows import NO_END, SparseRows
from unveil._kernels.counts.solver import LARGEST_PROGRAM, Budget, linear, whole, world_of
from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.attacks._listing import attack
from unveil.attacks.counts.solve_counts import SolveCounts
from unveil.data.counts.knowledge import CountKnowledge
from unveil.data.counts.system import CountSystem
from unveil.errors import whole_number
from unveil.guesses.cell_intervals import CellIntervals, RankedRecords


@attack(source="Dick et al. (2023), with integer programs in place of their relaxation")
@dataclass(frozen=True, kw_only=True)
class RankRecords:
    """Reconstruct records that most populations consistent with the tables contain.

    Attributes
    ----------
    worlds
        How many populations are built. They are corners of what is possible, so the share of them that has a record
        ranks it, and is no probability.
    work
        Steps of the solver that may be taken in all.
    """

    worlds: int = 12
    work: int = 1_000_000

    def __post_init__(self) -> None:
        whole_number(self.worlds, "worlds", at_least=1, at_most=10_000)
        whole_number(self.work, "work", at_least=1)

    def run(self, *, released: CountSystem, knowledge: CountKnowledge, rng: np.random.Generator) -> RankedRecords:
        """Return every combination of one code of each variable, the surest first."""
        attack = SolveCounts(work=self.work, records=True)
        return self.rank(released, attack.run(released=released, knowledge=knowledge, rng=rng), rng=rng)

    def rank(self, released: CountSystem, ranges: CellIntervals, *, rng: np.random.Generator) -> RankedRecords:
        """Return the records ranked by solved cells.

        The confidence is the share of the populations that have a record, 0 where none was built, and -1 for one that
        no person can have.
        """
        own = released.is_record
        made = worlds_by_lot(released.arrays.rows, ranges.low, ranges.high, own, self.worlds, Budget(self.work), rng)
        # A record that no population had may exist; one that none can have does not.
        confidence = np.where(ranges.high == 0, -1.0, np.nan_to_num(made.share))
        return RankedRecords.by(np.flatnonzero(own), confidence[own], (ranges.low >= 1)[own], rng=rng)


def by_margins(released: CountSystem, ranges: CellIntervals, *, rng: np.random.Generator) -> RankedRecords:
    """Return the records ranked by their margins, as a baseline.

    A margin that is hidden is counted as the middle of its range, its low end where it has no other.
    """
    cells = np.flatnonzero(released.is_record)
    codes = released.arrays.codes[cells].astype(np.int64)
    middle = np.where(ranges.high >= NO_END, ranges.low, (ranges.low + ranges.high) / 2)
    product: FloatArray = np.zeros(cells.size)
    for at in range(codes.shape[1]):
        alone = np.zeros_like(codes)
        alone[:, at] = codes[:, at]
        with np.errstate(divide="ignore"):
            product += np.log(middle[released.arrays.locate(alone)])
    return RankedRecords.by(cells, product, np.zeros(cells.size, np.bool_), rng=rng)


# Draw tables of whole numbers that fit the sums, and count in how many of them each cell is occupied.

#: A table need not be the best by its weights, which are drawn at random anyway.
_GAP = 0.05


@dataclass(frozen=True, eq=False)
class WorldCounts:
    """Number of sampled tables that occupy each cell, per block."""

    occupied: IntArray
    found: IntArray

    @property
    def share(self) -> FloatArray:
        """Share of tables that occupy each cell; NaN without tables."""
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
    """Return how often sampled consistent tables occupy each cell.

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
