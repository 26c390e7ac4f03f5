"""Secondary suppression of small cells, and rounding as an alternative."""

from dataclasses import replace
from typing import Any

import numpy as np

from unveil._kernels.counts.rows import NO_END
from unveil._kernels.counts.solver import Budget
from unveil._kernels.types import IntArray
from unveil.attacks.counts.solve_counts import ContradictoryCountsError, SolveCounts
from unveil.data.counts.settings import Rounding
from unveil.data.counts.system import CountSystem, system_of
from unveil.data.counts.truth import TrueCounts
from unveil.errors import InputError
from unveil.protections.counts.hide_counts import HideCounts, known_counts
from unveil.questions.tables.findings import RoundingFindings, SuppressionFindings
from unveil.questions.tables.read import TablesInputs
from unveil.questions.tables.readings import read_ways, worst_of
from unveil.report.progress import Progress, silent

#: Of larger systems rounding is not tried out.
_LARGEST_ROUNDED = 1_500
_BASES = (3, 5, 10)


def repaired(
    attack: SolveCounts,
    inputs: TablesInputs,
    truth: TrueCounts | None,
    minimum: int,
    keep: int,
    rng: np.random.Generator,
    progress: Progress,
) -> SuppressionFindings:
    """Return the secondary suppression, and the result of the attack on it."""
    system, settings = inputs.system, inputs.settings
    if settings.rounding is not None or settings.noise:
        raise InputError(
            "Secondary suppression needs exact counts, but these are rounded or perturbed. Pass the original tables"
        )
    if system.released.shares:
        raise InputError(
            "Secondary suppression cannot protect tables with percentages of suppressed counts. Remove the percentages"
        )
    counts = truth.counts if truth is not None else known_counts(system)
    if counts is None:
        raise InputError(
            "Secondary suppression needs every count, but some are suppressed or not listed. Pass the "
            "microdata, or tables without suppression"
        )
    progress("suppressing cells", 0.9)
    hidden = HideCounts(minimum=minimum, keep=keep, work=attack.work).apply(system, counts)
    entries = hidden.is_hidden[system.cell]
    again = _published(system, counts, entries)
    own = TrueCounts(counts[system.arrays.locate(again.arrays.codes.astype(np.int64))])
    solved, readings = read_ways(attack, again, minimum, own, rng, silent, Budget(attack.work))
    worst = worst_of(readings)
    small = (counts[system.cell] >= 1) & (counts[system.cell] < minimum)
    tight = np.unique(again.cell[small & (solved[worst].ranges.values[again.cell] < keep)])
    return SuppressionFindings(
        suppressed_before=int(system.is_hidden.sum()),
        suppressed_after=int(hidden.is_hidden.sum()),
        listed=int(np.unique(system.cell).size),
        helpless=int(hidden.is_helpless.sum()),
        short=int(hidden.is_short.sum()),
        undecided=int(hidden.is_undecided.sum()),
        keep=keep,
        tight=int(tight.size),
        after=readings[worst].figures,
        rounding=_rounded(attack, system, counts, rng) if system.number <= _LARGEST_ROUNDED else (),
        frame=_frame(system, counts, entries),
    )


def _published(system: CountSystem, counts: IntArray, entries: Any) -> CountSystem:
    """Return the tables with some cells suppressed and the rest shown."""
    released = system.released
    own = counts[system.cell]
    published = replace(
        released,
        low=np.where(entries, 0, own),
        high=np.where(entries, NO_END, own),
        symbol=np.where(entries, 0, -1),
        is_shown=~entries,
        symbols=("*",) if entries.any() else (),
    )
    return system_of(published, largest=max(system.needed, 1))


def _rounded(
    attack: SolveCounts, system: CountSystem, counts: IntArray, rng: np.random.Generator
) -> tuple[RoundingFindings, ...]:
    """Return the number of recovered cells for each random rounding base."""
    found = []
    own = np.zeros(system.number, np.bool_)
    own[system.cell] = True
    for base in _BASES:
        rest = counts % base
        shown = counts - rest + base * (rng.random(counts.size) < rest / base)
        told = Rounding(base=base, way="random")
        low = np.where(own, [told.told(int(each))[0] for each in shown], 0)
        high = np.where(own, [told.told(int(each))[1] or 0 for each in shown], NO_END)
        try:
            out, open_ones = attack.recovered(released=system, low=low, high=high, queried=own, rng=rng)
        except ContradictoryCountsError:  # a told range holds its count, so that this cannot be
            continue
        found.append(RoundingFindings(base=base, recovered=int(out.sum()), undecided=int(open_ones.sum())))
    return tuple(found)


def _frame(system: CountSystem, counts: IntArray, entries: Any) -> Any:
    """Return the tables as they would be published, one row for each cell."""
    import polars as pl

    released = system.released
    columns: dict[str, Any] = {}
    if len(released.tables) > 1:
        columns["table"] = [released.tables[at].name for at in released.table.tolist()]
    for at, variable in enumerate(released.variables):
        columns[variable.name] = [variable.codes[code] for code in released.codes[:, at].tolist()]
    own = counts[system.cell].tolist()
    columns["count"] = ["*" if hide else str(count) for hide, count in zip(entries.tolist(), own, strict=True)]
    return pl.DataFrame(columns)
