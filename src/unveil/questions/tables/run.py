"""The question about published counts answered: tables in, findings out."""

from typing import Any

import numpy as np

from unveil._kernels.counts.rows import NO_END
from unveil._kernels.counts.solver import Budget
from unveil._kernels.types import BoolArray, IntArray
from unveil.attacks.counts.rank_records import RankRecords, by_margins
from unveil.attacks.counts.solve_counts import SolveCounts, SolvedCounts, insider_gains
from unveil.attacks.counts.steps import DerivationStep, steps
from unveil.data.counts.settings import CountSettings
from unveil.data.counts.system import CountSystem
from unveil.data.counts.truth import TrueCounts, true_counts
from unveil.errors import InputError
from unveil.metrics.counts.count_disclosure import SharedCode, shared_codes
from unveil.metrics.counts.records import record_precision
from unveil.questions.tables.findings import (
    GroupFindings,
    RankedRecord,
    RecordFindings,
    RecordPrecision,
    StepFindings,
    TableFindings,
    TablesFindings,
    Treatment,
)
from unveil.questions.tables.layout import grid_of
from unveil.questions.tables.read import TablesInputs
from unveil.questions.tables.readings import read_ways, worst_of
from unveil.questions.tables.repair import repaired
from unveil.questions.tables.settings import TablesSettings
from unveil.report.progress import Progress

#: So many sums are spelt out in a report.
MOST_STEPS = 200
#: So many groups are named in a report.
MOST_GROUPS = 50


def run(
    inputs: TablesInputs,
    settings: TablesSettings,
    truth: Any,
    *,
    suppress: bool,
    rng: np.random.Generator,
    progress: Progress,
) -> TablesFindings:
    """Return what follows from published counts; see :func:`unveil.tables`."""
    minimum, values, records = settings.min_cell, settings.narrow, settings.reconstruct
    system = inputs.system
    released = system.released
    attack = SolveCounts(
        values=values, work=settings.solver_steps, all_ranges=settings.exact_intervals, records=records > 0
    )
    # What follows by each reading comes first; how it follows and what tables tell alone take the rest of the work.
    budget = Budget(settings.solver_steps)
    progress("reading symbols", 0.0)
    people = None if truth is None else true_counts(truth, system)
    solved, readings = read_ways(attack, system, minimum, people, rng, progress, budget)
    worst = worst_of(readings)
    best = solved[worst]
    figures = readings[worst].figures
    progress("what totals tell", 0.8)
    shown_steps, every = _steps(system, best, minimum, budget.part(3))
    codes = system.arrays.codes.astype(np.int64)
    groups = shared_codes(system.arrays.rows, best.ranges.low, best.ranges.high, codes, system.is_impossible)
    return TablesFindings(
        minimum=minimum,
        values=values,
        readings=readings,
        worst=worst,
        tables=_by_table(attack, system, best, minimum, rng, budget.part(2)),
        margins=_margins(attack, system, best, rng, budget) if figures.suppressed else 0,
        steps=tuple(_step(system, each) for each in shown_steps[:MOST_STEPS]),
        steps_of=every,
        grid=grid_of(system, best, minimum, values),
        frame=_frame(system, best),
        treatment=_treatment(inputs.settings),
        is_whole=system.is_whole,
        needed=system.needed,
        is_finished=best.is_finished,
        linear=best.linear,
        whole=best.whole,
        work=best.work,
        has_truth=people is not None,
        symbols=released.symbols,
        small_cells_shown=_shown_small(system, minimum),
        profile=settings.profile or None,
        groups=tuple(_group(system, best, each) for each in groups[:MOST_GROUPS]),
        single_code_groups=len(groups),
        records=ranked(system, best, people, number=records, work=settings.solver_steps, rng=rng) if records else None,
        singletons=_insiders(attack, system, best, people, rng) if settings.singleton else None,
        repair=repaired(attack, inputs, people, minimum, settings.min_interval, rng, progress) if suppress else None,
        notes=(*released.notes, *(people.notes if people else ())),
    )


def _shown_small(system: CountSystem, minimum: int) -> int:
    """Return the number of small cells that are shown."""
    released = system.released
    small = released.is_shown & (released.low >= 1) & (released.low < minimum)
    return int(np.unique(system.cell[small]).size)


def _treatment(settings: CountSettings) -> Treatment:
    if settings.rounding is not None:
        return "rounded"
    return "changed" if settings.noise else "suppressed"


def _margins(
    attack: SolveCounts, system: CountSystem, solved: SolvedCounts, rng: np.random.Generator, budget: Budget
) -> int | None:
    """Return the number of cells that totals alone recover."""
    low, high = solved.ranges.told_low.copy(), solved.ranges.told_high.copy()
    for table in system.released.tables:
        own = system.arrays.codes
        others = [at for at in range(own.shape[1]) if at not in table.variables]
        inner = (own[:, list(table.variables)] > 0).all(axis=1) & (own[:, others] == 0).all(axis=1)
        low[inner], high[inner] = 0, NO_END
    totals = system.with_shares_of()
    wanted = system.is_hidden
    out, open_ones = attack.recovered(
        released=totals, low=low, high=high, queried=wanted, rng=rng, budget=budget.part(1)
    )
    return None if open_ones.any() else int(out.sum())


def _by_table(
    attack: SolveCounts,
    system: CountSystem,
    solved: SolvedCounts,
    minimum: int,
    rng: np.random.Generator,
    budget: Budget,
) -> tuple[TableFindings, ...]:
    released, ranges = system.released, solved.ranges
    small = ranges.is_recovered & (ranges.low >= 1) & (ranges.low < minimum)
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
                suppressed=int(own.sum()),
                recovered=int((own & ranges.is_recovered).sum()),
                small_cells_recovered=int((own & small).sum()),
                alone=_alone(attack, system, solved, at, own, rng, budget.part(len(released.tables) - at)),
            )
        )
    return tuple(found)


def _alone(
    attack: SolveCounts,
    system: CountSystem,
    solved: SolvedCounts,
    table: int,
    own: BoolArray,
    rng: np.random.Generator,
    budget: Budget,
) -> int | None:
    """Return the number of cells recovered from one table alone."""
    if len(system.released.tables) == 1:
        return int((own & solved.ranges.is_recovered).sum())
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
    alone = system.with_shares_of(table)
    out, open_ones = attack.recovered(released=alone, low=low, high=high, queried=own, rng=rng, budget=budget)
    return None if open_ones.any() else int(out.sum())


def _steps(system: CountSystem, solved: SolvedCounts, minimum: int, budget: Budget) -> tuple[list[DerivationStep], int]:
    """Return derivations of recovered cells, small ones first, and their number."""
    ranges = solved.ranges
    one = ranges.low == ranges.high
    small = one & (ranges.low >= 1) & (ranges.low < minimum)
    cells = np.flatnonzero((ranges.is_hidden & one) | (ranges.is_unlisted & small))
    order = cells[np.argsort(~small[cells], kind="stable")]
    chosen = np.sort(order[:MOST_STEPS])
    return steps(system, solved.solution, ranges.told_low, ranges.told_high, chosen, budget), int(cells.size)


def _group(system: CountSystem, solved: SolvedCounts, shared: SharedCode) -> GroupFindings:
    variable = system.released.variables[shared.variable]
    high = int(solved.ranges.high[shared.group])
    return GroupFindings(
        group=system.label(shared.group),
        variable=variable.name,
        code=variable.codes[int(system.arrays.codes[shared.cell, shared.variable])],
        low=int(solved.ranges.low[shared.group]),
        high=None if high >= NO_END else high,
    )


def _insiders(
    attack: SolveCounts, system: CountSystem, solved: SolvedCounts, truth: TrueCounts | None, rng: np.random.Generator
) -> tuple[int, int, int, int]:
    if truth is None:
        raise InputError("The singleton attack needs the microdata. Pass them")
    gains = insider_gains(attack, system, solved, truth.counts, rng=rng)
    return gains.there, gains.tried, gains.gain, gains.most


def _step(system: CountSystem, step: DerivationStep) -> StepFindings:
    terms = tuple((term.sign, system.label(term.cell), term.count, term.is_hidden) for term in step.terms)
    return StepFindings(
        cell=system.label(step.cell),
        count=step.count,
        kind=step.kind,
        terms=terms,
        is_listed=bool(system.is_hidden[step.cell]),
    )


def _frame(system: CountSystem, solved: SolvedCounts) -> Any:
    """Return the intervals of suppressed cells and of recovered unlisted ones."""
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
            "given_low": ranges.told_low[cells],
            "given_high": _without_end(ranges.told_high[cells]),
            "low": ranges.low[cells],
            "high": _without_end(ranges.high[cells]),
            "proven": ranges.is_proven[cells],
            "settled": ranges.is_settled[cells],
            "how": how[by].tolist(),
        }
    )


def _without_end(high: IntArray) -> list[int | None]:
    return [None if each >= NO_END else each for each in high.tolist()]


# Records that must exist, and those that may, compared with the ranking by margins alone.

#: How many of the first records are held against the truth; None is as many as exist.
_FIRST = (10, 100, None)


def ranked(
    system: CountSystem,
    solved: SolvedCounts,
    truth: TrueCounts | None,
    *,
    number: int,
    work: int,
    rng: np.random.Generator,
) -> RecordFindings:
    """Return the reconstructed records and their precision."""
    own, ranges = system.is_record, solved.ranges
    if not own.any():
        raise InputError(
            "The reconstruction has too many combinations of codes. Leave it out, raise max_cells, or pass fewer tables"
        )
    attack = RankRecords(work=work)
    guess, plain = attack.rank(system, ranges, rng=rng), by_margins(system, ranges, rng=rng)
    unsure = own & (ranges.low == 0) & (ranges.high > 0) & ~solved.solution.low_attained
    can = guess.confidence >= 0
    return RecordFindings(
        possible=int(own.sum()),
        certain=int((own & (ranges.low >= 1)).sum()),
        unique=int((own & (ranges.low == 1) & (ranges.high == 1)).sum()),
        absent=int((own & (ranges.high == 0)).sum()),
        undecided=int(unsure.sum()),
        worlds=attack.worlds,
        first=tuple(
            RankedRecord(
                record=system.label(cell),
                is_certain=certain,
                share=share,
                low=int(ranges.low[cell]),
                high=None if ranges.high[cell] >= NO_END else int(ranges.high[cell]),
            )
            for cell, certain, share in zip(
                *(each[can][:number].tolist() for each in (guess.cells, guess.is_certain, guess.confidence)),
                strict=True,
            )
        ),
        precision=()
        if truth is None
        else tuple(
            RecordPrecision(
                first=first,
                ranked=record_precision(guess, truth.counts, first=first),
                by_margins=record_precision(plain, truth.counts, first=first),
            )
            for first in _FIRST
            if first is None or first <= int(own.sum())
        ),
    )
