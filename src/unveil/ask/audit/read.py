"""The audit asked of files: the original, the releases, perhaps a control table, and perhaps a file of settings."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from unveil.ask.audit.findings import Scenario
from unveil.ask.audit.scenarios import read_link, read_scenario
from unveil.data.files.documents import read_toml
from unveil.data.files.header import Header
from unveil.data.files.source import shown
from unveil.data.table import Table, kinds_of_release
from unveil.errors import InputError, did_you_mean
from unveil.show.progress import Progress

#: What a file of settings may hold, and what each must be.
_SETTINGS: Mapping[str, tuple[type, ...]] = {
    "original": (str,),
    "released": (str, list),
    "control": (str,),
    "kind": (str,),
    "id": (str, list),
    "sensitive": (str, list),
    "known": (str, list),
    "missing": (str, list),
    "header": (str,),
    "attacks": (str, list),
    "targets": (int, str),
    "neighbours": (int,),
    "guesses": (int,),
    "tolerance": (float, int),
    "by": (str,),
    "weight": (str,),
    "household": (str,),
    "population_size": (int,),
    "minimum_cell": (int,),
    "compatibility": (str,),
    "profile": (str,),
    "review": (str,),
    "techniques": (dict,),
    "seed": (int,),
    "kinds": (dict,),
    "hierarchy": (dict,),
    "exact": (str, list),
    "limits": (dict,),
    "scenario": (list,),
    "release": (list,),
}
#: Settings that :func:`unveil.audit` takes under the same name, as they are written.
_AS_WRITTEN = (
    "kind", "neighbours", "guesses", "tolerance", "by", "weight", "household", "population_size", "minimum_cell",
    "compatibility", "kinds", "header",
)  # fmt: skip
_WORDS = {str: "a text", list: "a list", int: "a whole number", float: "a number", dict: "a table"}


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What a file of settings says, with its paths made to start where the file is."""

    original: Path | None = None
    released: tuple[Path, ...] = ()
    control: Path | None = None
    names: Mapping[Path, str] = field(default_factory=dict)
    release_kinds: Mapping[Path, str] = field(default_factory=dict)
    scenarios: tuple[Scenario, ...] = ()
    limits: Mapping[str, float] = field(default_factory=dict)
    seed: int | None = None
    #: What stands in the report beside the figures.
    profile: str | None = None
    review: str = ""
    techniques: Mapping[str, str] = field(default_factory=dict)
    #: The settings of :func:`unveil.audit` that are written in the file.
    more: Mapping[str, Any] = field(default_factory=dict)


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
    missing: Sequence[str],
    header: Header,
    kinds: Mapping[str, Any] | None,
    names: Mapping[Path, str],
    release_kinds: Mapping[Path, str],
    kind: Any,
    progress: Progress,
) -> AuditTables:
    """Return what the files hold; the arguments are those of `audit_files`."""
    progress("reading", 0.0)
    table = _read(original, "original", kinds, missing, header)
    outside = None if control is None else _read(control, "control", kinds, missing, header)
    called = _names(released, names)
    tables = {}
    for number, path in enumerate(released):
        progress("reading", (number + 1) / (len(released) + 1))
        tables[called[path]] = _read(path, called[path], kinds_of_release(kinds or {}), missing, header)
    of_release = {called[path]: release_kinds.get(path, kind) for path in released}
    return AuditTables(table, tables, outside, {name: each for name, each in of_release.items() if each is not None})


def _read(path: Path, name: str, kinds: Mapping[str, Any] | None, missing: Sequence[str], header: Header) -> Table:
    """Return the table in a file; kinds are told for the columns that it has, whichever file that is."""
    from unveil.data.files.read import read_table

    if not kinds:
        return Table.read(path, name=name, missing=missing, header=header)
    have = set(read_table(path, header=header).columns)
    told = {column: kind for column, kind in kinds.items() if column in have}
    return Table.read(path, name=name, kinds=told, missing=missing, header=header)


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


def read_settings(path: str | Path) -> Settings:
    """Return what a TOML file says about an audit: its files, roles, scenarios and limits.

    Paths in it start from the folder of the file. A scenario is written ``[[scenario]]`` with ``name``, ``columns`` (or
    ``first`` and ``second``) and ``reason``; a release either in ``released = ["a.csv"]`` or as ``[[release]]`` with
    ``file``, ``name`` and ``kind``.
    """
    path = Path(path)
    told = read_toml(path)
    _check(told, path)
    folder = path.parent
    releases = [_release(each, path) for each in told.get("release", ())]
    files = [folder / file for file in _list(told.get("released", ()))]
    files += [folder / str(each["file"]) for each in releases]
    named = dict(zip(files[len(files) - len(releases) :], releases, strict=True))
    return Settings(
        original=folder / told["original"] if "original" in told else None,
        released=tuple(files),
        control=folder / told["control"] if "control" in told else None,
        names={file: str(each["name"]) for file, each in named.items() if "name" in each},
        release_kinds={file: str(each["kind"]) for file, each in named.items() if "kind" in each},
        scenarios=tuple(_scenario(each, path) for each in told.get("scenario", ())),
        limits=_limits(told.get("limits", {}), path),
        seed=told.get("seed"),
        profile=told.get("profile"),
        review=told.get("review", ""),
        techniques={str(column): str(text) for column, text in told.get("techniques", {}).items()},
        more=_more(told, folder),
    )


def _check(told: Mapping[str, Any], path: Path) -> None:
    for key, value in told.items():
        if key not in _SETTINGS:
            hint = did_you_mean(key, _SETTINGS) or f" It may have {', '.join(_SETTINGS)}."
            raise InputError(f"the settings {shown(path)} have no {key!r}.{hint}")
        if not isinstance(value, _SETTINGS[key]) or isinstance(value, bool):
            must = " or ".join(_WORDS[kind] for kind in _SETTINGS[key])
            raise InputError(f"{key!r} in the settings {shown(path)} must be {must}. Correct the file")


def _list(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else [str(each) for each in value]


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
    first, second = _list(each.get("columns", each.get("first", ()))), _list(each.get("second", ()))
    reason = str(each.get("reason", "")) or f"named in {path.name} without a reason"
    return Scenario(name=str(each["name"]), first=tuple(first), second=tuple(second), reason=reason)


def _limits(told: Mapping[str, Any], path: Path) -> dict[str, float]:
    """Return limits by quantity; dots in a name that is not in quotes make TOML nest tables, which is undone here."""
    flat: dict[str, float] = {}

    def walk(table: Mapping[str, Any], before: str) -> None:
        for key, value in table.items():
            if isinstance(value, dict):
                walk(value, f"{before}{key}.")
            elif isinstance(value, int | float) and not isinstance(value, bool):
                flat[f"{before}{key}"] = float(value)
            else:
                raise InputError(f"the limit {before}{key!r} in {shown(path)} must be a number. Correct the file")

    walk(told, "")
    return flat


def _more(told: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return the settings that :func:`unveil.audit` takes, under its names for them."""
    more: dict[str, Any] = {}
    for key, name in (("id", "identifiers"), ("sensitive", "sensitive"), ("known", "known"), ("missing", "missing")):
        if key in told:
            more[name] = _list(told[key])
    if "exact" in told:
        more["exact"] = _list(told["exact"])
    if "hierarchy" in told:
        more["hierarchies"] = {str(column): folder / str(file) for column, file in told["hierarchy"].items()}
    if "attacks" in told:
        more["attacks"] = _list(told["attacks"]) if isinstance(told["attacks"], list) else told["attacks"].split(",")
    if "targets" in told:
        more["targets"] = read_targets(told["targets"])
    more |= {key: told[key] for key in _AS_WRITTEN if key in told}
    return more


def read_targets(written: str | int) -> int | None:
    """Return how many people to attack; None stands for all.

    >>> read_targets("all"), read_targets("200")
    (None, 200)
    """
    if isinstance(written, str) and written.strip().lower() == "all":
        return None
    try:
        number = int(written)
    except ValueError:
        number = 0
    if number < 1:
        raise InputError(f"targets must be a whole number of at least 1, or 'all', but are {written!r}. Correct it")
    return number


def told_scenarios(scenarios: Sequence[str], links: Sequence[str]) -> tuple[Scenario, ...]:
    """Return the adversaries written after ``--scenario`` and ``--link``."""
    return (*map(read_scenario, scenarios), *map(read_link, links))


__all__ = ["Settings", "read_settings", "read_targets", "told_scenarios"]
