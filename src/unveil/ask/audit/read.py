"""The audit asked of files: the original, the releases, perhaps a control table, and perhaps a file of settings."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

from unveil.ask.audit.findings import Scenario
from unveil.ask.audit.scenarios import read_link, read_scenario
from unveil.ask.audit.settings import QUESTION
from unveil.ask.config import limits_in_file, may_hold, settings_in, texts_in, value_in_file
from unveil.ask.reading import TableReading
from unveil.ask.told import Told
from unveil.data.files.source import shown
from unveil.data.table import Table
from unveil.errors import InputError
from unveil.show.progress import Progress

#: What a file of settings may hold beside the settings of the question, and what each must be.
_TABLES: Mapping[str, tuple[type, ...]] = {
    "techniques": (dict,),
    "context": (dict,),
    "kinds": (dict,),
    "markers": (dict,),
    "hierarchy": (dict,),
    "limits": (dict,),
    "scenario": (list,),
    "release": (list,),
}
#: Settings that say where an answer goes, or what a page alone can say.
_NOT_IN_A_FILE = ("config", "compare", "shareable", "sheet", "show_records", "links", "scenarios", "edition", "columns")


class AuditTables(NamedTuple):
    """What the files of an audit hold: releases by name, and of which kind each is where that was told."""

    original: Table
    released: dict[str, Table]
    control: Table | None
    kinds: dict[str, Any]


def read(
    original: Path,
    released: Sequence[Path],
    control: Path | None,
    *,
    reading: TableReading,
    names: Mapping[Path, str],
    release_kinds: Mapping[Path, str],
    kind: Any,
    progress: Progress,
) -> AuditTables:
    """Return what the files hold; the arguments are those of `audit_files`."""
    progress("reading", 0.0)
    table = reading.file(original, "original")
    outside = None if control is None else reading.file(control, "control")
    called = _names(released, names)
    tables = {}
    for number, path in enumerate(released):
        progress("reading", (number + 1) / (len(released) + 1))
        tables[called[path]] = reading.file(path, called[path], released=True)
    reading.check([table, *tables.values(), *([] if outside is None else [outside])])
    of_release = {called[path]: release_kinds.get(path, kind) for path in released}
    return AuditTables(table, tables, outside, {name: each for name, each in of_release.items() if each is not None})


def _names(paths: Sequence[Path], told: Mapping[Path, str]) -> dict[Path, str]:
    """Return what each release is called: as told, or its file name, with a number where file names repeat."""
    if len(set(paths)) < len(paths):
        twice = next(path for path in paths if paths.count(path) > 1)
        raise InputError(f"the release {shown(twice)} is named twice. Name each release once")
    # Folders may say more than a report should: files of the same name are told apart by their number.
    called, seen = {}, Counter[str]()
    repeated = {file for file, times in Counter(path.name for path in paths).items() if times > 1}
    for path in paths:
        seen[path.name] += 1
        own = f"{path.name} ({seen[path.name]})" if path.name in repeated else path.name
        called[path] = told.get(path) or own
    return called


def with_settings(told: Told) -> Told:
    """Return what was told together with what the TOML file says that it names; what was said wins over the file.

    Paths in it start from the folder of the file. A scenario is written ``[[scenario]]`` with ``name``, ``columns`` (or
    ``first`` and ``second``) and ``reason``; a release either in ``released = ["a.csv"]`` or as ``[[release]]`` with
    ``file``, ``name`` and ``kind``.
    """
    path = told.must("config")
    known = {**may_hold(QUESTION, without=(*_NOT_IN_A_FILE, *_TABLES)), "targets": (int, str), **_TABLES}
    content = settings_in(path, known)
    folder = path.parent
    releases = [_release(each, path) for each in content.get("release", ())]
    released = [folder / file for file in texts_in(content.get("released", ()))]
    released += [folder / str(each["file"]) for each in releases]
    named = dict(zip(released[len(released) - len(releases) :], releases, strict=True))
    files: dict[str, tuple[Path, ...]]
    files = {
        each.name: (folder / content[each.key],)
        for each in QUESTION.files
        if each.key in content and each.kind != "tables"
    }
    files |= {"released": tuple(released)} if released else {}
    named_here = [each for each in QUESTION.settings if each.key in content and each.key not in _TABLES]
    said = {each.name: content[each.key] for each in named_here if not each.is_file}
    said["limits"] = tuple(limits_in_file(content.get("limits", {}), path, told.question).items())
    if not told.values["links"]:
        said["scenarios"] = tuple(_scenario(each, path) for each in content.get("scenario", ()))
    own = {name for name, _ in told.values["limits"]}
    limits = (*told.values["limits"], *((name, value) for name, value in said.pop("limits") if name not in own))
    more = {name: _value(name, raw, told) for name, raw in said.items() if name not in told.said}
    techniques = tuple(f"{column}={text}" for column, text in content.get("techniques", {}).items())
    context = tuple(f"{key}={text}" for key, text in content.get("context", {}).items())
    hierarchies = tuple(f"{column}={folder / str(file)}" for column, file in content.get("hierarchy", {}).items())
    every = {**files, **told.files}
    return replace(
        told,
        files=every,
        values={
            **told.values,
            **more,
            "limits": limits,
            "techniques": (*techniques, *told.values["techniques"]),
            "context": (*context, *told.values["context"]),
            "column_kinds": content.get("kinds"),
            "markers": content.get("markers", {}),
            "hierarchies": (*hierarchies, *told.values["hierarchies"]),
            "names": {file: str(each["name"]) for file, each in named.items() if "name" in each},
            "kinds_of_releases": {file: str(each["kind"]) for file, each in named.items() if "kind" in each},
        },
        said=told.said | set(more),
        sample=told.sample and "original" not in every,
    )


def _value(name: str, raw: Any, told: Told) -> Any:
    """Return a setting of the file as the command line would have given it."""
    return raw if name == "scenarios" else value_in_file(name, raw, told)


def _release(each: Any, path: Path) -> Mapping[str, Any]:
    if not isinstance(each, dict) or "file" not in each or set(each) - {"file", "name", "kind"}:
        raise InputError(
            f"each [[release]] in the settings {shown(path)} must have a file, and may have a name and a kind. "
            "Correct it"
        )
    return each


def _scenario(each: Any, path: Path) -> Scenario:
    allowed = {"name", "columns", "first", "second", "reason"}
    if (
        not isinstance(each, dict)
        or "name" not in each
        or set(each) - allowed
        or ("columns" in each) == ("first" in each)
    ):
        raise InputError(
            f"each [[scenario]] in the settings {shown(path)} must have a name and columns (or first and second), and "
            "may have a reason. Correct it"
        )
    first, second = texts_in(each.get("columns", each.get("first", ()))), texts_in(each.get("second", ()))
    reason = str(each.get("reason", "")) or f"named in {path.name} without a reason"
    return Scenario(name=str(each["name"]), first=tuple(first), second=tuple(second), reason=reason)


def read_targets(written: str | int) -> int | Literal["auto"] | None:
    """Return how many people to attack; None stands for all.

    >>> read_targets("all"), read_targets("200"), read_targets("auto")
    (None, 200, 'auto')
    """
    word = str(written).strip().lower()
    if word == "auto":
        return "auto"
    if word == "all":
        return None
    try:
        number = int(written)
    except ValueError:
        number = 0
    if number < 1:
        raise InputError(
            f"targets must be a whole number of at least 1, 'all' or 'auto', but are {written!r}. Correct it"
        )
    return number


def told_scenarios(scenarios: Sequence[str | Scenario], links: Sequence[str]) -> tuple[Scenario, ...]:
    """Return the adversaries as they were written, or read from a file of settings."""
    named = (each if isinstance(each, Scenario) else read_scenario(each) for each in scenarios)
    return (*named, *map(read_link, links))
