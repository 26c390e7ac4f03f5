"""An earlier audit, as its JSON has it: the figures in it, and what it was made with."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, nan
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from unveil._figure import figure
from unveil.data.files.documents import read_json
from unveil.errors import InputError, shortened
from unveil.metrics.trials.risk import Rate
from unveil.report.blocks import PrivateText
from unveil.report.editions import command_text, people
from unveil.report.text import name as visible

#: The reports that can be compared with: fields that both have are read alike.
SCHEMAS = ("unveil.audit/1", "unveil.audit/2", "unveil.audit/3", "unveil.audit/4")
_FAMILY = "unveil.audit/"
#: Fields of a release that are no figures: read elsewhere, or not comparable one by one.
_NO_FIGURES = frozenset({"name", "rows", "kind", "sha256", "attacks", "columns_that_matter", "search"})
#: Fields of an attack that say how it was made.
_MADE = ("targets", "neighbours")
#: Fields of an attack that say how clear it is, beside the figures themselves.
_JUDGED = ("p", "p_adjusted")
#: Settings of the whole audit, by the name of their field.
_SETTINGS = ("seed", "version", "schema", "profile")

#: Which figure: release, attack (or part of the report), adversary (and what it guessed), name of the figure.
Key = tuple[str, str, str, str]


@dataclass(frozen=True, kw_only=True)
class Difference:
    """Something that both audits were made with, and that differs: a file, a setting, a column."""

    what: str = figure("What differs, in words.")
    before: str = figure("What it was in the previous audit.")
    now: str = figure("What it is in this audit.")


def read_previous(path: "str | PathLike[str]") -> Mapping[str, Any]:
    """Return an earlier audit from the JSON file that ``unveil audit --json`` wrote."""
    # Cut in its middle where it is long: the end is what the file is called.
    file = repr(visible(fspath(path), 100))
    again = "Give the JSON of an earlier unveil audit (--json)"
    try:
        read = read_json(Path(path))
    except InputError as error:
        raise InputError(f"the earlier audit cannot be used: {error}. {again}") from None
    schema = read.get("schema") if isinstance(read, dict) else None
    if not isinstance(schema, str) or not schema.startswith("unveil."):
        raise InputError(f"the earlier audit {file} is JSON that unveil did not write. {again}")
    if not schema.startswith(_FAMILY):
        raise InputError(
            f"the earlier audit {file} answers another question, by its schema {shortened(schema)}. {again}"
        )
    if schema not in SCHEMAS:
        raise InputError(
            f"the earlier audit {file} has the schema {shortened(schema)}, but only {', '.join(SCHEMAS[:-1])} and "
            f"{SCHEMAS[-1]} can be compared with. Run that audit again with this version"
        )
    if not _is_whole(read):
        raise InputError(f"the earlier audit {file} lacks its releases or their attacks, or was changed. {again}")
    return dict(read)


def _is_whole(read: Mapping[str, Any]) -> bool:
    """Return whether the parts that are compared have the shape that they are written with."""
    releases = read.get("releases")
    parts = [read.get("original"), read.get("control")]
    return (
        isinstance(releases, list)
        and all(part is None or isinstance(part, dict) for part in parts)
        and all(
            isinstance(each, dict)
            and isinstance(each.get("name"), str)
            and isinstance(each.get("attacks"), list)
            and all(isinstance(attack, dict) and isinstance(attack.get("attack"), str) for attack in each["attacks"])
            for each in releases
        )
    )


def figures_in(audit: Mapping[str, Any]) -> Iterator[tuple[Key, Rate]]:
    """Yield every figure of an audit: those of its attacks, and all numbers in the other parts of a release."""
    for release in audit["releases"]:
        for attack in release["attacks"]:
            who = adversary_of(attack)
            for name, measured in _leaves(attack, ("adversary", "links", *_MADE, *_JUDGED)):
                yield (release["name"], attack["attack"], who, name.removeprefix("figures.")), measured
        for part, content in release.items():
            if part not in _NO_FIGURES and isinstance(content, dict):
                for name, measured in _leaves(content, ()):
                    yield (release["name"], part, "", name), measured


def adversary_of(attack: Mapping[str, Any]) -> str:
    """Return how the adversary of an attack is called, with the column that it guessed."""
    parts = (attack.get("scenario"), attack.get("secret"))
    return ", guessing ".join(str(part) for part in parts if part)


def _leaves(content: Mapping[str, Any], left_out: Sequence[str]) -> Iterator[tuple[str, Rate]]:
    """Yield every number of an object, however deep, with its interval where it has one."""
    for field, value in content.items():
        if field in left_out:
            continue
        if isinstance(value, dict) and {"value", "low", "high"} <= set(value):
            yield field, Rate(_number(value["value"]), _number(value["low"]), _number(value["high"]))
        elif isinstance(value, dict):
            yield from ((f"{field}.{name}", measured) for name, measured in _leaves(value, ()))
        elif isinstance(value, int | float) and not isinstance(value, bool):
            yield field, Rate(_number(value), nan, nan)


def _number(value: object) -> float:
    known = isinstance(value, int | float) and not isinstance(value, bool)
    try:
        return float(value) if known and isfinite(value) else nan  # type: ignore[arg-type]
    except OverflowError:
        return nan


def differences_in(previous: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Difference]:
    """Yield what two audits were made with and that differs: files, columns, settings."""
    for part in ("original", "control"):
        then, today = previous.get(part) or {}, now.get(part) or {}
        yield from _table_differences(part, then, today)
        yield from _column_differences(then, today)
    old, new = ({each["name"]: each for each in audit["releases"]} for audit in (previous, now))
    for release in [each for each in old if each in new]:
        yield from _table_differences(f"release {visible(release)}", old[release], new[release])
    yield from dict.fromkeys(_made_differences(previous, now))
    for setting in _SETTINGS:
        then, today = (_setting(each.get(setting)) for each in (previous, now))
        if then != today:
            yield Difference(what=setting, before=_text(then), now=_text(today))
    yield from _option_differences(previous.get("settings"), now.get("settings"))
    if previous.get("command") != now.get("command"):
        yield Difference(what="command", before=_command(previous.get("command")), now=_command(now.get("command")))


def _table_differences(part: str, then: Mapping[str, Any], today: Mapping[str, Any]) -> Iterator[Difference]:
    for field, what in (("rows", "rows"), ("sha256", "file (SHA-256)"), ("kind", "kind")):
        if then.get(field) != today.get(field):
            texts = [_rows(each.get(field)) if field == "rows" else _text(each.get(field)) for each in (then, today)]
            yield Difference(what=f"{part}: {what}", before=texts[0], now=texts[1])


def _column_differences(then: Mapping[str, Any], today: Mapping[str, Any]) -> Iterator[Difference]:
    old, new = (
        {each["name"]: each for each in part.get("columns") or () if isinstance(each, dict) and "name" in each}
        for part in (then, today)
    )
    for name in dict.fromkeys((*old, *new)):
        texts = [
            f"{_text(each.get('role'))}, {_text(each.get('kind'))}" if (each := columns.get(name)) else "not there"
            for columns in (old, new)
        ]
        if texts[0] != texts[1]:
            yield Difference(what=f"column {visible(name)}", before=texts[0], now=texts[1])


def _made_differences(previous: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[Difference]:
    """Yield how many were attacked, and other numbers that an attack was made with, where they differ."""
    old, new = (
        {
            (release["name"], each["attack"], adversary_of(each)): each
            for release in audit["releases"]
            for each in release["attacks"]
        }
        for audit in (previous, now)
    )
    for key in [each for each in new if each in old]:
        for field in _MADE:
            if old[key].get(field) != new[key].get(field):
                texts = [_text(each[key].get(field)) for each in (old, new)]
                yield Difference(what=f"{visible(key[1])}: {field}", before=texts[0], now=texts[1])


def _setting(value: Any) -> Any:
    """Return a setting as it was chosen: a profile is written with all that was judged by it."""
    return value.get("profile") if isinstance(value, dict) else value


def _option_differences(previous: Any, now: Any) -> Iterator[Difference]:
    then, today = (each if isinstance(each, dict) else {} for each in (previous, now))
    for option in dict.fromkeys((*then, *today)):
        if then.get(option) != today.get(option):
            before, after = (_text(each.get(option)) for each in (then, today))
            if option == "missing":  # these are cells of the data
                before, after = PrivateText(before, shared="…"), PrivateText(after, shared="…")
            yield Difference(what=visible(option), before=before, now=after)


def _command(value: Any) -> str:
    if isinstance(value, list):
        return command_text([str(each) for each in value])
    return PrivateText(_text(value), shared="not shown here")


def _rows(value: Any) -> str:
    return people(value) if isinstance(value, int) else _text(value)


def _text(value: Any) -> str:
    if value is None:
        return "none"
    return visible(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True), 80)
