"""Read tables and their declared structure from files."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from unveil.data.counts import CountSettings, Rounding, read_counts
from unveil.data.counts.settings import Range, range_from
from unveil.data.counts.system import CountSystem, system_of
from unveil.errors import InputError
from unveil.questions.config import with_config
from unveil.questions.request import Request, SettingError
from unveil.questions.tables.settings import TablesSettings


class TablesInputs(NamedTuple):
    """The tables as one system of cells, with the declared knowledge."""

    system: CountSystem
    settings: CountSettings


def read(tables: Sequence[Any], settings: TablesSettings, *, names: Sequence[str] = ()) -> TablesInputs:
    """Return what the tables hold, checked."""
    counts = _count_settings(settings)
    released = read_counts(tables, counts, files=settings.files, names=names)
    return TablesInputs(system_of(released, largest=settings.max_cells, records=settings.reconstruct > 0), counts)


def _count_settings(settings: TablesSettings) -> CountSettings:
    """Return the declared structure of the tables, parsed."""
    of = settings.percent_of
    return CountSettings(
        totals=settings.totals if isinstance(settings.totals, Mapping) else _totals(settings.totals),
        hierarchies=settings.hierarchies,
        hidden=settings.suppressed if isinstance(settings.suppressed, Mapping) else _hidden(settings.suppressed),
        rounding=_rounding(settings.rounding) if isinstance(settings.rounding, str) else settings.rounding,
        populations=_populations(settings.subset),
        percent_of=_percent_of(of) if isinstance(of, str) else of,
        noise=settings.max_noise,
        zeros_true=settings.true_zeros,
        wide=settings.wide,
        rows=settings.rows,
        count=settings.count_column,
        rest=settings.incomplete,
        base=settings.percent_base,
        structural=settings.structural_zeros,
    )


def with_settings(request: Request) -> Request:
    """Return a request with what its TOML file says; ``[suppressed]`` and ``[totals]`` may be tables."""
    written = [each.name for each in request.question.settings if each.kind == "output"]
    pairs = dict.fromkeys(("suppressed", "totals"), (str, list, dict))
    return with_config(request, own={}, types=pairs, without=("hierarchies", *written))[0]


def _percent_of(text: str) -> tuple[str, ...] | None:
    """Return the variables that define the base of percentages, if declared."""
    if not text.strip():
        return None
    return () if text.strip().lower() == "all" else tuple(part.strip() for part in text.split(","))


def _rounding(text: str) -> Rounding | None:
    if not text:
        return None
    try:
        return Rounding.from_text(text)
    except InputError as error:
        raise SettingError(str(error), "rounding") from error


def _hidden(written: Sequence[str]) -> dict[str, Range | None]:
    told: dict[str, Range | None] = {}
    for each in written:
        text, equals, reads = each.rpartition("=")
        try:
            if not equals:
                raise InputError('Write TEXT=RANGE, such as "*=1..4"')
            told[text.strip()] = range_from(reads)
        except InputError as error:
            raise SettingError(str(error), "suppressed") from error
    return told


def _totals(written: Sequence[str]) -> dict[str, tuple[str, ...]]:
    told: dict[str, tuple[str, ...]] = {}
    for text in written:
        variable, equals, code = (part.strip() for part in text.partition("="))
        if not equals or not variable:
            raise SettingError("Write VARIABLE=CODE, such as region=UK", "totals")
        told[variable] = (*told.get(variable, ()), code.strip('"'))
    return told


def _populations(written: Sequence[str]) -> tuple[str, ...]:
    """Return the files from the fewest people to the most; several pairs must make one chain."""
    after: dict[str, str] = {}
    for text in written:
        names = [part.strip() for part in text.split("<")]
        if len(names) < 2 or not all(names):
            raise SettingError("Write EARLIER<LATER, such as 2023.csv<2024.csv", "subset")
        for smaller, larger in pairwise(names):
            if after.setdefault(smaller, larger) != larger:
                raise SettingError(
                    "The populations do not make one chain. Write each directly within one other, as in "
                    "a.csv<b.csv<c.csv, and audit the rest separately",
                    "subset",
                )
    starts = [name for name in after if name not in after.values()]
    chain: list[str] = starts[:1]
    while chain and chain[-1] in after and len(chain) <= len(after):
        chain.append(after[chain[-1]])
    if len(chain) != len(after) + bool(after):
        raise SettingError("The populations do not make one chain. Write them as in a.csv<b.csv<c.csv", "subset")
    return tuple(chain)
