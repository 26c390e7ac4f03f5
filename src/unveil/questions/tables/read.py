"""The question about published counts asked of files: tables, and what is told about them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

from unveil.data.counts import CountSettings, Rounding, read_counts
from unveil.data.counts.settings import Range, range_from
from unveil.data.counts.system import CountSystem, system_of
from unveil.errors import InputError
from unveil.questions.config import limits_in_file, may_hold, settings_in, texts_in, value_in_file
from unveil.questions.request import Request, SettingError
from unveil.questions.tables.settings import TablesSettings

#: What the settings of the question and those of the tables call alike.
_SAME = ("noise", "zeros_true", "wide", "rows", "count", "rest", "base", "structural")


class TablesInputs(NamedTuple):
    """The tables as one system of cells, and what was told of them."""

    system: CountSystem
    settings: CountSettings


def read(tables: Sequence[Any], settings: TablesSettings, *, names: Sequence[str] = ()) -> TablesInputs:
    """Return what the tables hold, checked."""
    counts = _count_settings(settings)
    released = read_counts(tables, counts, files=settings.files, names=names)
    return TablesInputs(system_of(released, largest=settings.largest, records=settings.records > 0), counts)


def _count_settings(settings: TablesSettings) -> CountSettings:
    """Return what is declared about the tables, each as text or as the object that it means."""
    of = settings.percent_of
    return CountSettings(
        totals=settings.totals if isinstance(settings.totals, Mapping) else _totals(settings.totals),
        hierarchies=settings.hierarchies,
        hidden=settings.hidden if isinstance(settings.hidden, Mapping) else _hidden(settings.hidden),
        rounding=_rounding(settings.round) if isinstance(settings.round, str) else settings.round,
        populations=_populations(settings.population),
        percent_of=_percent_of(of) if isinstance(of, str) else of,
        **{name: getattr(settings, name) for name in _SAME},
    )


def with_settings(request: Request) -> Request:
    """Return what was told together with what the TOML file says that it names; what was said wins over the file.

    Paths in it start from the folder of the file. ``[hidden]``, ``[totals]``, ``[hierarchy]`` and ``[limits]`` may be
    tables; every other setting is called as its option.
    """
    path, question = request.required_path("config"), request.question
    written = [each.name for each in question.settings if each.kind == "output"]
    pairs = dict.fromkeys(("hidden", "totals"), (str, list, dict))
    known = may_hold(question, without=("config", "hierarchies", "limits", *written)) | pairs
    content = settings_in(path, known | {"hierarchy": (dict,), "limits": (dict,)})
    files = {
        each.name: tuple(path.parent / file for file in texts_in(content[each.key]))
        for each in question.files
        if each.key in content
    }
    plain = [each for each in question.settings if each.key in content and not each.is_file]
    said = {each.name: _pairs(content[each.key]) for each in plain if each.name not in ("hierarchies", "limits")}
    more = {name: value_in_file(name, raw, request) for name, raw in said.items() if name not in request.explicit}
    hierarchies = [f"{variable}={path.parent / str(file)}" for variable, file in content.get("hierarchy", {}).items()]
    limits = {**limits_in_file(content.get("limits", {}), path, question), **dict(request.values["limits"])}
    every = {**files, **request.files}
    return replace(
        request,
        files=every,
        values={
            **request.values,
            **more,
            "hierarchies": (*hierarchies, *request.values["hierarchies"]),
            "limits": tuple(limits.items()),
        },
        explicit=request.explicit | set(more),
        sample=request.sample and "tables" not in every,
    )


def _pairs(value: Any) -> Any:
    """Return a TOML table as the command line writes it, NAME=VALUE for each; anything else as it is."""
    if not isinstance(value, dict):
        return value
    return [f"{name}={each}" for name, several in value.items() for each in texts_in(several)]


def _percent_of(text: str) -> tuple[str, ...] | None:
    """Return the variables that percentages are of: none for all people, None where nothing was told."""
    if not text.strip():
        return None
    return () if text.strip().lower() == "all" else tuple(part.strip() for part in text.split(","))


def _rounding(text: str) -> Rounding | None:
    if not text:
        return None
    try:
        return Rounding.from_text(text)
    except InputError as error:
        raise SettingError(str(error), "round") from error


def _hidden(written: Sequence[str]) -> dict[str, Range | None]:
    told: dict[str, Range | None] = {}
    for each in written:
        text, equals, reads = each.rpartition("=")
        try:
            if not equals:
                raise InputError('each must be written TEXT=RANGE, as in "*=1..4". Write it so')
            told[text.strip()] = range_from(reads)
        except InputError as error:
            raise SettingError(str(error), "hidden") from error
    return told


def _totals(written: Sequence[str]) -> dict[str, tuple[str, ...]]:
    told: dict[str, tuple[str, ...]] = {}
    for text in written:
        variable, equals, code = (part.strip() for part in text.partition("="))
        if not equals or not variable:
            raise SettingError("each must be written VARIABLE=CODE, as in region=UK. Write it so", "totals")
        told[variable] = (*told.get(variable, ()), code.strip('"'))
    return told


def _populations(written: Sequence[str]) -> tuple[str, ...]:
    """Return the files from the fewest people to the most; several pairs must make one chain."""
    after: dict[str, str] = {}
    for text in written:
        names = [part.strip() for part in text.split("<")]
        if len(names) < 2 or not all(names):
            raise SettingError("each must be written EARLIER<LATER, as in 2023.csv<2024.csv. Write it so", "population")
        for smaller, larger in pairwise(names):
            if after.setdefault(smaller, larger) != larger:
                raise SettingError(
                    "each population must lie directly within one other, so that all make one chain, as in "
                    "a.csv<b.csv<c.csv. Ask about the others apart",
                    "population",
                )
    starts = [name for name in after if name not in after.values()]
    chain: list[str] = starts[:1]
    while chain and chain[-1] in after and len(chain) <= len(after):
        chain.append(after[chain[-1]])
    if len(chain) != len(after) + bool(after):
        raise SettingError("all populations must make one chain, as in a.csv<b.csv<c.csv. Write it so", "population")
    return tuple(chain)
