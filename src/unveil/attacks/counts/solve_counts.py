"""Recovery of suppressed cells: sums first, then integer programs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from unveil._kernels.counts.propagate import propagate
from unveil._kernels.counts.rows import NO_END, OPEN, SparseRows
from unveil._kernels.counts.solve import ContradictionError, Solution, solve
from unveil._kernels.counts.solver import LARGEST_PROGRAM, Budget, linear, whole
from unveil._kernels.types import BoolArray, IntArray
from unveil.attacks._listing import attack
from unveil.data.counts.knowledge import ANY, CountKnowledge
from unveil.data.counts.settings import Range
from unveil.data.counts.system import CountSystem
from unveil.errors import whole_number
from unveil.guesses.cell_intervals import CellIntervals

#: Above this many suppressed cells in a block, ends matter only up to a few values.
DECIDE_ABOVE = 2_000


class ContradictoryCountsError(Exception):
    """Published counts that contradict one another, in few cells."""

    def __init__(self, cells: Sequence[int]) -> None:
        super().__init__("published counts contradict one another")
        self.cells = tuple(cells)


@dataclass(frozen=True, eq=False)
class SolvedCounts:
    """Feasibility intervals of every cell, with methods and effort."""

    ranges: CellIntervals
    solution: Solution
    linear: int
    whole: int
    work: int
    is_finished: bool


@attack(source="Zayatz (1992); Dobra & Fienberg (2000)")
@dataclass(frozen=True, kw_only=True)
class SolveCounts:
    """Recover suppressed cells from sums and integer programs, with exact intervals.

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

    def run(self, *, released: CountSystem, knowledge: CountKnowledge, rng: np.random.Generator) -> CellIntervals:
        """Return the feasibility interval of every cell."""
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
        """Return the feasibility intervals and effort, under a reading of symbols.

        Raises ContradictoryCountsError where no population fits.
        """
        low, high = released.told(reading)
        wanted = released.is_hidden | released.is_unlisted
        if self.records:
            wanted = wanted | released.is_record
        budget = budget or Budget(self.work)
        solution = self._solve(released, low, high, wanted, budget, rng, progress=progress)
        ranges = CellIntervals(
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

    def recovered(
        self,
        *,
        released: CountSystem,
        low: IntArray,
        high: IntArray,
        queried: BoolArray,
        rng: np.random.Generator,
        budget: Budget | None = None,
    ) -> tuple[BoolArray, BoolArray]:
        """Return which cells are recovered, and which remain unsettled."""
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
        """Return whether a population is possible, within the budget."""
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


# Find a smallest set of published values that contradict one another.

#: This many programs are solved for one set; what is left then is still a set that cannot hold.
MOST_TRIES = 200


def conflicting(
    rows: SparseRows, low: IntArray, high: IntArray, published: BoolArray, *, row: int = -1, work: int = 1_000_000
) -> IntArray:
    """Return few cells whose published bounds contradict one another.

    ``published`` marks the cells of which something is given, and ``row`` a sum that cannot hold, where one is known.
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
    """Return the cells that bind in the cheapest relaxation."""
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
    """Return a minimal subset of contradictory cells."""
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
    """Return whether bounds allow a table; without budget, by single sums."""
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


# Readings of a symbol in place of a count: it means nothing, or the rule by which counts are hidden.

#: What is left for an attacker who knows that zeros are shown where larger counts are hidden too.
NOT_ZERO: Range = (1, None)


def rule_reading(
    attack: SolveCounts, released: CountSystem, minimum: int, *, rng: np.random.Generator, budget: Budget | None = None
) -> tuple[Range, ...]:
    """Return the reading under a known rule: 1 to minimum - 1, or nonzero.

    The second holds where no population allows the first.

    A symbol that stands for larger counts too, as complementary suppression makes it, leaves no population where it is
    read as small: then it is 1 or more, and where even that fits no person, anything. Of several symbols those that
    stand most often are the first to be read as small.
    """
    small: Range = (1, minimum - 1)
    symbols = len(released.released.symbols)
    # Two readings of all symbols, and one of each symbol, are tried with equal parts of the work.
    budget = budget or Budget((symbols + 2) * attack.work)
    part = budget.left // (symbols + 2)

    def fits(reading: Sequence[Range]) -> bool:
        """Return whether a reading allows a population, within the budget."""
        low, high = released.told(reading)
        own = Budget(part, source=budget)
        return attack.fits(released=released, low=low, high=high, rng=rng, budget=own)

    if fits((small,) * symbols):
        return (small,) * symbols
    rest = NOT_ZERO if fits((NOT_ZERO,) * symbols) else ANY
    reading = [rest] * symbols
    if symbols > 1:
        often = np.bincount(released.released.symbol[released.released.symbol >= 0], minlength=symbols)
        for symbol in np.argsort(-often, kind="stable").tolist():
            tried = [small if at == symbol else own for at, own in enumerate(reading)]
            if fits(tried):
                reading = tried
    return tuple(reading)


# Insiders: a person alone in a suppressed cell knows that count, and what follows from it.

#: This many of them are tried out, drawn at random where there are more.
MOST_TRIED = 100


@dataclass(frozen=True, kw_only=True)
class InsiderGains:
    """Gains of single respondents in suppressed cells from their own contribution.

    Attributes
    ----------
    there, tried
        How many there are, and how many of them were tried out.
    gain
        How many of these can recover further suppressed cells.
    most
        The most further suppressed cells that one of them can recover.
    """

    there: int
    tried: int
    gain: int
    most: int


def insider_gains(
    attack: SolveCounts, released: CountSystem, solved: SolvedCounts, counts: IntArray, *, rng: np.random.Generator
) -> InsiderGains:
    """Return what singletons of suppressed cells can recover.

    ``solved`` is what non-members know, and ``counts`` are the true counts.
    """
    ranges = solved.ranges
    alone = np.flatnonzero(ranges.is_hidden & ~ranges.is_recovered & (counts == 1))
    tried = alone if alone.size <= MOST_TRIED else np.sort(rng.choice(alone, MOST_TRIED, replace=False))
    more = []
    for cell in tried.tolist():
        low, high = ranges.low.copy(), ranges.high.copy()
        low[cell] = high[cell] = 1
        wanted = ranges.is_hidden & ~ranges.is_recovered
        out, _ = attack.recovered(released=released, low=low, high=high, queried=wanted, rng=rng)
        more.append(int(out.sum()) - int(out[cell]))
    return InsiderGains(
        there=int(alone.size), tried=len(more), gain=sum(each > 0 for each in more), most=max(more, default=0)
    )
