"""Readings of the suppression symbols, and contradictions between published values."""

from collections.abc import Sequence

import numpy as np

from unveil._kernels.counts.rows import NO_END
from unveil._kernels.counts.solver import Budget
from unveil.attacks.counts.solve_counts import (
    NOT_ZERO,
    ContradictoryCountsError,
    SolveCounts,
    SolvedCounts,
    rule_reading,
)
from unveil.data.counts.knowledge import ANY
from unveil.data.counts.settings import Range
from unveil.data.counts.system import CountSystem
from unveil.data.counts.truth import TrueCounts
from unveil.errors import InputError
from unveil.metrics.counts.count_disclosure import cell_disclosure
from unveil.questions.tables.findings import ReadingFindings, ReadingName
from unveil.report.progress import Progress


def read_ways(
    attack: SolveCounts,
    system: CountSystem,
    minimum: int,
    truth: TrueCounts | None,
    rng: np.random.Generator,
    progress: Progress,
    budget: Budget,
) -> tuple[list[SolvedCounts], tuple[ReadingFindings, ...]]:
    """Return the solution for each reading of the suppression symbols."""
    symbols = len(system.released.symbols)
    try:
        first = attack.solve(
            released=system, reading=(ANY,) * symbols, rng=rng, budget=budget.part(3 if symbols else 1),
            progress=lambda share: progress("solving", 0.4 * share),
        )  # fmt: skip
    except ContradictoryCountsError as error:
        raise contradiction(system, error.cells) from error
    ways: list[tuple[ReadingName, tuple[Range, ...], SolvedCounts]] = [("any", (ANY,) * symbols, first)]
    rule = rule_reading(attack, system, minimum, rng=rng, budget=budget.part(4)) if symbols else ()
    if rule != ways[0][1]:
        solved = attack.solve(
            released=system, reading=rule, rng=rng, budget=budget.part(2),
            progress=lambda share: progress("solving by the rule", 0.4 + 0.4 * share),
        )  # fmt: skip
        ways.append(("rule", rule, solved))
        # Where larger counts are hidden too, which the records show, whoever knows that zeros are shown knows more.
        zeros = (NOT_ZERO,) * symbols
        low, high = system.told(zeros)
        is_wrong = truth is not None and rule != zeros and _is_wrong(solved, truth)
        if is_wrong and attack.fits(released=system, low=low, high=high, rng=rng, budget=budget.part(4)):
            found = attack.solve(released=system, reading=zeros, rng=rng, budget=budget.part(2))
            ways.append(("zeros", zeros, found))
    if truth is not None and _is_wrong(first, truth):
        raise _not_of_these(system, truth, first)
    return [each for *_, each in ways], tuple(_findings(attack, system, minimum, truth, *way) for way in ways)


def _is_wrong(solved: SolvedCounts, truth: TrueCounts) -> bool:
    return bool(truth.outside(solved.ranges.low, solved.ranges.high).any())


def _findings(
    attack: SolveCounts,
    system: CountSystem,
    minimum: int,
    truth: TrueCounts | None,
    name: ReadingName,
    reading: tuple[Range, ...],
    solved: SolvedCounts,
) -> ReadingFindings:
    return ReadingFindings(
        name=name,
        ranges=tuple(range_text(each) for each in reading),
        figures=cell_disclosure(
            solved.ranges,
            codes=system.arrays.codes.astype(np.int64),
            leaves=[variable.leaves for variable in system.released.variables],
            minimum=minimum,
            values=attack.values,
        ),
        excluded=truth is not None and _is_wrong(solved, truth),
    )


def range_text(bounds: Range) -> str:
    """Return a range in words.

    >>> range_text((1, 4)), range_text((0, None)), range_text((3, 3))
    ('1 to 4', 'any number', '3')
    """
    low, high = bounds
    if high is None:
        return "any number" if low == 0 else f"{low} or more"
    return f"{low}" if low == high else f"{low} to {high}"


def contradiction(system: CountSystem, cells: Sequence[int]) -> InputError:
    """Return the error for contradictory published values, with their positions."""
    released = system.released
    if not cells:
        return InputError(
            "The published values contradict each other: no population fits all of them. Check the totals, "
            "or state how values were rounded and which codes are not listed"
        )
    told = []
    for cell in cells[:12]:
        for at in np.flatnonzero(system.cell == cell):
            low, high = int(released.low[at]), int(released.high[at])
            said = "suppressed" if released.symbol[at] >= 0 else range_text((low, None if high >= NO_END else high))
            table = released.tables[released.table[at]]
            told.append(f"({system.label(cell)}) = {said} in row {released.row[at]} of {table.name}")
    more = f" and {len(cells) - 12} more" if len(cells) > 12 else ""
    return InputError(
        f"These published values contradict each other: {'; '.join(told)}{more}. Correct them, or state how "
        "values were rounded, which codes are not all listed, and which code is a total. Audit tables of "
        "different people separately"
    )


def _not_of_these(system: CountSystem, truth: TrueCounts, solved: SolvedCounts) -> InputError:
    outside = np.flatnonzero(truth.outside(solved.ranges.low, solved.ranges.high)).tolist()
    listed = [cell for cell in outside if (system.cell == cell).any()]
    cell = (listed or outside)[0]
    places = system.places(cell)
    where = f", the first in row {places[0][1]} of {places[0][0]}" if places else ""
    return InputError(
        f"The tables were not made from these records: {len(outside):,} counts differ{where} (rows are "
        "counted from 1 below the header). Pass the records behind the tables, or leave the microdata out"
    )


def worst_of(readings: Sequence[ReadingFindings]) -> int:
    """Return the index of the most disclosive reading; ties prefer more knowledge."""
    return max(range(len(readings)), key=lambda at: (_weight(readings[at]), at))


def _weight(reading: ReadingFindings) -> tuple[bool, int, int, int]:
    """Return the sort key of a reading by its disclosure."""
    figures = reading.figures
    return not reading.excluded, figures.small, figures.recovered, figures.approximate
