"""The question about published counts answered: tables in, findings out."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from unveil._kernels.counts.rows import NO_END
from unveil._kernels.types import BoolArray, IntArray
from unveil.ask.tables.findings import (
    GridFindings,
    ReadingFindings,
    StepFindings,
    TableFindings,
    TablesFindings,
    Treatment,
)
from unveil.ask.tables.read import TablesInputs
from unveil.attack.counts.readings import ANY, rule_reading
from unveil.attack.counts.solve_counts import ContradictoryCountsError, SolveCounts, SolvedCounts
from unveil.attack.counts.steps import Step, steps
from unveil.data.counts.settings import CountSettings, Range
from unveil.data.counts.system import CountSystem
from unveil.data.counts.truth import TrueCounts, true_counts
from unveil.errors import InputError
from unveil.measure.counts.worked_out import CountFigures, count_figures
from unveil.show.progress import Progress

#: So many sums are spelt out in a report.
MOST_STEPS = 200
#: The most rows and columns of the picture.
MOST_LINES = 40


def run(
    inputs: TablesInputs,
    *,
    minimum: int,
    values: int,
    work: int,
    all_ranges: bool,
    truth: Any,
    profile: str,
    rng: np.random.Generator,
    progress: Progress,
) -> TablesFindings:
    """Return what follows from published counts; see :func:`unveil.tables`."""
    system = inputs.system
    released = system.released
    attack = SolveCounts(values=values, work=work, all_ranges=all_ranges)
    progress("reading symbols", 0.0)
    records = None if truth is None else true_counts(truth, system)
    solved, readings = _readings(attack, system, minimum, records, rng, progress)
    worst = max(range(len(readings)), key=lambda at: _weight(readings[at]))
    best = solved[worst]
    figures = readings[worst].figures
    progress("what totals tell", 0.8)
    shown_steps, every = _steps(system, best, minimum)
    return TablesFindings(
        minimum=minimum,
        values=values,
        readings=readings,
        worst=worst,
        tables=_by_table(attack, system, best, minimum, rng),
        margins=_margins(attack, system, best, rng) if figures.hidden else 0,
        steps=tuple(_step(system, each) for each in shown_steps[:MOST_STEPS]),
        steps_of=every,
        grid=_grid(system, best, minimum, values),
        frame=_frame(system, best),
        treatment=_treatment(inputs.settings),
        is_whole=system.is_whole,
        needed=system.needed,
        is_finished=best.is_finished,
        linear=best.linear,
        whole=best.whole,
        work=best.work,
        has_truth=records is not None,
        symbols=released.symbols,
        shown_small=_shown_small(system, minimum),
        profile=profile,
        notes=(*released.notes, *(records.notes if records else ())),
    )


def _shown_small(system: CountSystem, minimum: int) -> int:
    """Return how many small counts a table shows as they are."""
    released = system.released
    small = released.is_shown & (released.low >= 1) & (released.low < minimum)
    return int(np.unique(system.cell[small]).size)


def _weight(reading: ReadingFindings) -> tuple[bool, int, int, int]:
    """Return how much a reading gives away: what the truth excludes last, then small counts, then all of them."""
    figures = reading.figures
    return not reading.excluded, figures.small, figures.worked_out, figures.narrow


def _treatment(settings: CountSettings) -> Treatment:
    if settings.rounding is not None:
        return "rounded"
    return "changed" if settings.noise else "hidden"


def _readings(
    attack: SolveCounts,
    system: CountSystem,
    minimum: int,
    truth: TrueCounts | None,
    rng: np.random.Generator,
    progress: Progress,
) -> tuple[list[SolvedCounts], tuple[ReadingFindings, ...]]:
    """Return what follows for whoever knows nothing of the rule, and for whoever knows it where that is another."""
    symbols = len(system.released.symbols)
    ways: list[tuple[Any, tuple[Range, ...]]] = [("any", (ANY,) * symbols)]
    try:
        first = attack.run(
            released=system, reading=ways[0][1], rng=rng, progress=lambda share: progress("working out", 0.4 * share)
        )
    except ContradictoryCountsError as error:
        raise contradiction(system, error.cells) from error
    solved = [first]
    if symbols:
        rule = rule_reading(attack, system, minimum, rng=rng)
        if rule != ways[0][1]:
            ways.append(("rule", rule))
            solved.append(
                attack.run(
                    released=system, reading=rule, rng=rng,
                    progress=lambda share: progress("working out by the rule", 0.4 + 0.4 * share),
                )
            )  # fmt: skip
    leaves = [variable.leaves for variable in system.released.variables]
    found = []
    for (name, reading), each in zip(ways, solved, strict=True):
        figures: CountFigures = count_figures(
            each.ranges,
            codes=system.arrays.codes.astype(np.int64),
            leaves=leaves,
            minimum=minimum,
            values=attack.values,
        )
        wrong = truth is not None and truth.outside(each.ranges.low, each.ranges.high).any()
        if wrong and name == "any":
            raise _not_of_these(system, truth, each)
        found.append(
            ReadingFindings(
                name=name, ranges=tuple(range_text(each) for each in reading), figures=figures, excluded=bool(wrong)
            )
        )
    return solved, tuple(found)


def range_text(told: Range) -> str:
    """Return a range in words.

    >>> range_text((1, 4)), range_text((0, None)), range_text((3, 3))
    ('1 to 4', 'any number', '3')
    """
    low, high = told
    if high is None:
        return "any number" if low == 0 else f"{low} or more"
    return f"{low}" if low == high else f"{low} to {high}"


def contradiction(system: CountSystem, cells: Sequence[int]) -> InputError:
    """Return the error for published figures that cannot all be true, with where they stand."""
    released = system.released
    if not cells:
        return InputError(
            "the published figures must agree with one another, but no population fits all of them. Check totals, or "
            "tell how figures were rounded (--round) and which codes are not listed (--rest)"
        )
    told = []
    for cell in cells[:12]:
        for at in np.flatnonzero(system.cell == cell):
            low, high = int(released.low[at]), int(released.high[at])
            said = "hidden" if released.symbol[at] >= 0 else range_text((low, None if high >= NO_END else high))
            table = released.tables[released.table[at]]
            told.append(f"({system.label(cell)}) = {said} in row {released.row[at]} of {table.name}")
    more = f" and {len(cells) - 12} more" if len(cells) > 12 else ""
    return InputError(
        f"published figures must agree, but these cannot all be true: {'; '.join(told)}{more}. Correct them; or tell "
        "how figures were rounded (--round 5), which codes are not all listed (--rest), which code is a total "
        "(--totals), or ask about tables of other people apart"
    )


def _not_of_these(system: CountSystem, truth: TrueCounts | None, solved: SolvedCounts) -> InputError:
    outside = np.flatnonzero(truth.outside(solved.ranges.low, solved.ranges.high)) if truth is not None else []
    listed = [cell for cell in outside if (system.cell == cell).any()]
    cell = int((listed or list(outside))[0])
    places = system.places(cell)
    where = f", the first in row {places[0][1]} of {places[0][0]}" if places else ""
    return InputError(
        f"the tables must be made from these records, but {len(outside):,} counts are others{where} (rows are counted "
        "from 1 below the header). Pass the records behind the tables, or leave the truth out"
    )


def _margins(attack: SolveCounts, system: CountSystem, solved: SolvedCounts, rng: np.random.Generator) -> int | None:
    """Return how many hidden counts follow when every count without a total in it is hidden too."""
    low, high = solved.ranges.told_low.copy(), solved.ranges.told_high.copy()
    for table in system.released.tables:
        own = system.arrays.codes
        others = [at for at in range(own.shape[1]) if at not in table.variables]
        inner = (own[:, list(table.variables)] > 0).all(axis=1) & (own[:, others] == 0).all(axis=1)
        low[inner], high[inner] = 0, NO_END
    out, open_ones = attack.worked_out(released=system, low=low, high=high, wanted=system.is_hidden, rng=rng)
    return None if open_ones.any() else int(out.sum())


def _by_table(
    attack: SolveCounts, system: CountSystem, solved: SolvedCounts, minimum: int, rng: np.random.Generator
) -> tuple[TableFindings, ...]:
    released, ranges = system.released, solved.ranges
    small = ranges.is_worked_out & (ranges.low >= 1) & (ranges.low < minimum)
    found = []
    for at, table in enumerate(released.tables):
        own = np.zeros(system.number, np.bool_)
        own[system.cell[(released.table == at) & ~released.is_shown]] = True
        found.append(
            TableFindings(
                name=table.name,
                form=table.form,
                variables=tuple(released.variables[each].name for each in table.variables),
                cells=table.cells,
                hidden=int(own.sum()),
                worked_out=int((own & ranges.is_worked_out).sum()),
                small_worked_out=int((own & small).sum()),
                alone=_alone(attack, system, solved, at, own, rng),
            )
        )
    return tuple(found)


def _alone(
    attack: SolveCounts, system: CountSystem, solved: SolvedCounts, table: int, own: BoolArray, rng: np.random.Generator
) -> int | None:
    """Return how many hidden counts of a table follow from it by itself, in the same reading."""
    if len(system.released.tables) == 1:
        return int((own & solved.ranges.is_worked_out).sum())
    if not own.any():
        return 0
    told = np.zeros(system.number, np.bool_)
    told[system.cell[system.released.table == table]] = True
    # What another table shows of the same cell is not told here.
    shown = np.zeros(system.number, np.bool_)
    shown[system.cell[(system.released.table == table) & system.released.is_shown]] = True
    keep = told & (shown | ~(solved.ranges.told_low == solved.ranges.told_high))
    low = np.where(keep, solved.ranges.told_low, 0)
    high = np.where(keep, solved.ranges.told_high, NO_END)
    out, open_ones = attack.worked_out(released=system, low=low, high=high, wanted=own, rng=rng)
    return None if open_ones.any() else int(out.sum())


def _steps(system: CountSystem, solved: SolvedCounts, minimum: int) -> tuple[list[Step], int]:
    """Return how counts are worked out, small ones first to be chosen, and how many there are."""
    ranges = solved.ranges
    one = ranges.low == ranges.high
    small = one & (ranges.low >= 1) & (ranges.low < minimum)
    cells = np.flatnonzero((ranges.is_hidden & one) | (ranges.is_unlisted & small))
    order = cells[np.argsort(~small[cells], kind="stable")]
    chosen = np.sort(order[:MOST_STEPS])
    return steps(system, solved.solution, ranges.told_low, ranges.told_high, chosen), int(cells.size)


def _step(system: CountSystem, step: Step) -> StepFindings:
    terms = tuple((term.sign, system.label(term.cell), term.count, term.is_hidden) for term in step.terms)
    return StepFindings(
        cell=system.label(step.cell),
        count=step.count,
        kind=step.kind,
        terms=terms,
        is_listed=bool(system.is_hidden[step.cell]),
    )


def _frame(system: CountSystem, solved: SolvedCounts) -> Any:
    """Return the range of every hidden count, and of every unlisted one that is worked out."""
    import polars as pl

    ranges, released = solved.ranges, system.released
    cells = np.flatnonzero(ranges.is_hidden | (ranges.is_unlisted & (ranges.low == ranges.high)))
    codes = system.arrays.codes[cells]
    columns: dict[str, Any] = {
        variable.name: [variable.codes[code] for code in codes[:, at].tolist()]
        for at, variable in enumerate(released.variables)
    }
    how = np.array(["sums", "multipliers", "solver", "search"])
    by = np.maximum(solved.solution.low_by, solved.solution.high_by)[cells]
    return pl.DataFrame(
        {
            **columns,
            "listed": ranges.is_hidden[cells],
            "told_low": ranges.told_low[cells],
            "told_high": _without_end(ranges.told_high[cells]),
            "low": ranges.low[cells],
            "high": _without_end(ranges.high[cells]),
            "proven": ranges.is_proven[cells],
            "how": how[by].tolist(),
        }
    )


def _without_end(high: IntArray) -> list[int | None]:
    return [None if each >= NO_END else each for each in high.tolist()]


def _grid(system: CountSystem, solved: SolvedCounts, minimum: int, values: int) -> GridFindings | None:
    """Return the table that gives most away as rows and columns, the worst rows first where there are too many."""
    ranges, released = solved.ranges, system.released
    level = _levels(system, solved, minimum, values)
    best, worst = None, (-1, -1, -1)
    for at, table in enumerate(released.tables):
        own = np.zeros(system.number, np.bool_)
        own[system.cell[released.table == at]] = True
        small = own & (level == 3) & (ranges.low >= 1) & (ranges.low < minimum)
        weight = (int(small.sum()), int((own & (level > 0)).sum()), int(own.sum()))
        if weight > worst:
            best, worst = table, weight
    if best is None:
        return None
    rows, columns, numbers = _laid_out(system, best.variables, level)
    there = np.where(numbers >= 0, level[numbers], -1)
    striking = (there == 3).sum(axis=1) * 1000 + (there == 2).sum(axis=1)
    keep = np.arange(len(rows))
    if keep.size > MOST_LINES:
        keep = np.sort(np.argsort(-striking, kind="stable")[:MOST_LINES])
    across = np.arange(len(columns))
    if across.size > MOST_LINES:
        across = np.sort(np.argsort(-(there == 3).sum(axis=0), kind="stable")[:MOST_LINES])
    part = numbers[np.ix_(keep, across)]
    names = [released.variables[at].name for at in best.variables]
    return GridFindings(
        table=best.name,
        rows=tuple(rows[at] for at in keep),
        columns=tuple(columns[at] for at in across),
        row_label=", ".join(names[:-1]) if len(names) > 1 else names[0],
        column_label=names[-1] if len(names) > 1 else "",
        level=np.where(part >= 0, level[part], -1),
        low=ranges.low[part],
        high=ranges.high[part],
        left_out=int((numbers >= 0).sum() - (part >= 0).sum()),
    )


def _levels(system: CountSystem, solved: SolvedCounts, minimum: int, values: int) -> IntArray:
    """Return how much is known of each cell: 0 shown, 1 hidden, 2 narrow, 3 worked out, -1 nobody's business."""
    ranges = solved.ranges
    level = np.full(system.number, -1, np.int64)
    level[system.cell] = 0
    level[ranges.is_hidden] = 1
    level[ranges.is_hidden & (ranges.values <= values)] = 2
    level[ranges.is_worked_out] = 3
    small = ranges.is_unlisted & (ranges.low == ranges.high) & (ranges.low >= 1) & (ranges.low < minimum)
    level[small] = 3
    return level


def _laid_out(system: CountSystem, variables: Sequence[int], level: IntArray) -> tuple[list[str], list[str], IntArray]:
    """Return the names of rows and columns, and the cell of each of their pairs, -1 where there is none to show.

    The last variable goes across, all others down; totals come last.
    """
    released = system.released
    own = list(variables)
    codes = system.arrays.codes
    others = [at for at in range(codes.shape[1]) if at not in own]
    cells = np.flatnonzero((codes[:, others] == 0).all(axis=1) & (level >= 0))
    last = own[-1] if len(own) > 1 else None
    down = own[:-1] if last is not None else own
    # The total is code 0: put behind all others.
    sizes = [len(variable.codes) for variable in released.variables]
    placed = np.where(codes == 0, np.array(sizes), codes)[cells]
    lines, line = np.unique(placed[:, down], axis=0, return_inverse=True)
    ends, end = (np.unique(placed[:, last], return_inverse=True)) if last is not None else (np.zeros(1), 0 * line)
    numbers = np.full((lines.shape[0], ends.size), -1, np.int64)
    numbers[line.ravel(), np.asarray(end).ravel()] = cells
    rows = [
        ", ".join(released.variables[at].codes[code % sizes[at]] for at, code in zip(down, each, strict=True))
        for each in lines.tolist()
    ]
    columns = ["count"] if last is None else [released.variables[last].codes[int(code) % sizes[last]] for code in ends]
    return rows, columns, numbers
