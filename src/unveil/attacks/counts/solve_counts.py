"""An adversary who works out hidden counts from all published ones: sums first, then whole-number programs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from unveil._kernels.counts.conflict import conflicting
from unveil._kernels.counts.rows import NO_END
from unveil._kernels.counts.solve import ContradictionError, Solution, solve
from unveil._kernels.counts.solver import Budget
from unveil._kernels.types import BoolArray, IntArray
from unveil.attacks._listing import attack
from unveil.data.counts.knowledge import CountKnowledge
from unveil.data.counts.settings import Range
from unveil.data.counts.system import CountSystem
from unveil.errors import whole_number
from unveil.guesses.count_ranges import CountRanges

#: Above so many hidden cells in a block, ends matter only up to a few values.
DECIDE_ABOVE = 2_000


class ContradictoryCountsError(Exception):
    """Published figures that cannot all be true: the cells that contradict one another, as few as were found."""

    def __init__(self, cells: Sequence[int]) -> None:
        super().__init__("published figures contradict one another")
        self.cells = tuple(cells)


@dataclass(frozen=True, eq=False)
class SolvedCounts:
    """The ranges of every cell, how they were found, and what it took."""

    ranges: CountRanges
    solution: Solution
    linear: int
    whole: int
    work: int
    is_finished: bool


@attack(source="Zayatz (1992); Dobra & Fienberg (2000)")
@dataclass(frozen=True, kw_only=True)
class SolveCounts:
    """An adversary who adds, subtracts and solves until each hidden count has its exact range.

    Attributes
    ----------
    values
        From how many values on a range is not narrow, which is all that is decided in large blocks.
    work
        Steps of the solver that may be taken in all; what is not settled then is wider than it need be, never narrower.
    all_ranges
        Whether exact ends are looked for in large blocks too.
    records
        Whether ranges of cells of full detail are looked for too: combinations of codes that single people have.
    """

    values: int = 3
    work: int = 1_000_000
    all_ranges: bool = False
    records: bool = False

    def __post_init__(self) -> None:
        whole_number(self.values, "values", at_least=1)
        whole_number(self.work, "work", at_least=1)

    def run(self, *, released: CountSystem, knowledge: CountKnowledge, rng: np.random.Generator) -> CountRanges:
        """Return the range of every cell, each symbol read as the adversary reads it."""
        return self.solve(released=released, reading=knowledge.of(len(released.released.symbols)), rng=rng).ranges

    def solve(
        self,
        *,
        released: CountSystem,
        reading: Sequence[Range],
        rng: np.random.Generator,
        budget: Budget | None = None,
        progress: Callable[[float], None] = lambda _: None,
    ) -> SolvedCounts:
        """Return the range of every hidden cell, each symbol read as ``reading`` says, and what it took.

        Raises ContradictoryCountsError where no population fits.
        """
        low, high = released.told(reading)
        wanted = released.is_hidden | released.is_unlisted
        if self.records:
            wanted = wanted | released.is_record
        budget = budget or Budget(self.work)
        solution = self._solve(released, low, high, wanted, budget, rng, progress=progress)
        ranges = CountRanges(
            told_low=low,
            told_high=high,
            low=solution.low,
            high=solution.high,
            is_proven=solution.proven,
            seen_low=solution.seen_low,
            seen_high=solution.seen_high,
            is_hidden=released.is_hidden,
            is_unlisted=released.is_unlisted,
        )
        return SolvedCounts(ranges, solution, budget.linear, budget.whole, budget.spent, not budget.is_spent)

    def worked_out(
        self,
        *,
        released: CountSystem,
        low: IntArray,
        high: IntArray,
        queried: BoolArray,
        rng: np.random.Generator,
        budget: Budget | None = None,
    ) -> tuple[BoolArray, BoolArray]:
        """Return which wanted cells have one value, and of which that was not settled: no exact range is looked for."""
        solution = self._solve(released, low, high, queried, budget or Budget(self.work), rng, enough=1)
        one = queried & (solution.low == solution.high)
        two = solution.seen_high > solution.seen_low
        return one, queried & ~one & ~two

    def fits(
        self,
        *,
        released: CountSystem,
        low: IntArray,
        high: IntArray,
        rng: np.random.Generator,
        budget: Budget | None = None,
    ) -> bool:
        """Return whether what is told leaves a population possible, as far as the budget tells."""
        if (low > high).any():
            return False
        try:
            # One population settles every cell where any number of values is enough.
            self._ranges(released, low, high, released.is_hidden, budget or Budget(self.work), rng, enough=0)
        except ContradictionError:
            return False
        return True

    def _solve(
        self,
        released: CountSystem,
        low: IntArray,
        high: IntArray,
        queried: BoolArray,
        budget: Budget,
        rng: np.random.Generator,
        *,
        enough: int | None = None,
        progress: Callable[[float], None] = lambda _: None,
    ) -> Solution:
        crossed = np.flatnonzero(low > high)
        if crossed.size:
            raise ContradictoryCountsError([int(crossed[0])])
        try:
            return self._ranges(released, low, high, queried, budget, rng, enough=enough, progress=progress)
        except ContradictionError as error:
            told = (low > 0) | (high < NO_END)
            cells = conflicting(released.arrays.rows, low, high, told, row=error.row, work=self.work)
            raise ContradictoryCountsError(cells.tolist()) from error

    def _ranges(
        self,
        released: CountSystem,
        low: IntArray,
        high: IntArray,
        queried: BoolArray,
        budget: Budget,
        rng: np.random.Generator,
        *,
        enough: int | None = None,
        progress: Callable[[float], None] = lambda _: None,
    ) -> Solution:
        return solve(
            released.arrays.rows,
            low,
            high,
            queried,
            budget=budget,
            rng=rng,
            enough=enough,
            decide_above=None if self.all_ranges else DECIDE_ABOVE,
            deciding=self.values,
            progress=progress,
        )
