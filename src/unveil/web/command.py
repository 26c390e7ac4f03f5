"""The command line of an answered form, without folders."""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from unveil.questions.graph.settings import ONLY_HERE
from unveil.questions.roles import Roles, roles_of
from unveil.questions.settings import LISTS, Question, Setting
from unveil.questions.values import default_of, row, values_of

#: The names of the report and of the settings file, where one is needed.
REPORT = "report.html"
CONFIG = "audit.toml"


@dataclass(frozen=True, kw_only=True)
class CommandLine:
    """The words after ``unveil``, and their settings file."""

    words: tuple[str, ...]
    config: str = ""

    @property
    def line(self) -> str:
        """The command as it is typed into a terminal."""
        return shlex.join(("unveil", *self.words))


def command(asked: Question, names: Mapping[str, Sequence[str]], settings: Mapping[str, Any]) -> CommandLine:
    """Return the command that asks the same.

    Parameters
    ----------
    asked
        The question.
    names
        What the files of each field are called.
    settings
        What the page sent, already checked.

    Examples
    --------
    >>> from unveil.questions import question
    >>> command(question("attack_metrics"), {"guess": ["guess.csv"]}, {"normalize": True}).line
    'unveil attack-metrics guess.csv --normalize --html report.html'
    """
    sample = settings.get("sample") is True
    values = values_of(asked, settings, sample=sample)
    config = _config(names, values) if _in_file(asked) and not sample else ""
    words = [*asked.command]
    words += _sample(asked, values) if sample else _files(asked, names, values, config)
    if config:
        words += ["--config", CONFIG]
    skipped = _not_written(asked, names)
    pairs: dict[str, list[str]] = {"read": [], "run": []}
    for field in asked.on("page"):
        if not field.is_file and field.name not in skipped:
            written = _setting(asked, field, values, sample=sample)
            if field.place in pairs:
                pairs[field.place] += [f"{field.key}={value}" for value in written[1:]]
            else:
                words += written
    words += [word for place, given in pairs.items() if given for word in (f"--{place}", row(given))]
    if asked.name == "study_run":  # a run leaves a folder; its report is another command
        words += ["--out", "example"] if sample and "--out" not in words else []
        return CommandLine(words=tuple(words))
    shareable = values.get("edition") == "shareable"
    if asked.secret:  # it makes a release, which the page offers to be taken away
        outputs = [each for each in asked.settings if each.kind == "output"]
        words += [word for each in outputs for word in (each.option, each.example)]
    return CommandLine(words=(*words, "--redacted" if shareable else "--html", REPORT), config=config)


def _sample(asked: Question, values: Mapping[str, Any]) -> list[str]:
    if asked.sample_of:
        return ["--example", values[asked.sample_of]]
    return [] if asked.sample_by_default else ["--example"]


def _files(
    asked: Question, names: Mapping[str, Sequence[str]], values: Mapping[str, Any], config: str
) -> Iterator[str]:
    files = [each for each in asked.on("page") if each.is_file]
    for field in files:
        if field.option or (field.name == "released" and "[[release]]" in config):
            continue
        yield from _each_file(asked, field, names, values)
    for field in asked.settings:
        if field.kind == "folder" and not field.option:
            yield from (_path(str(each)) for each in values[field.name])
    for field in files:
        if field.option:
            for written in _each_file(asked, field, names, values):
                yield from (field.option, written)


def _each_file(
    asked: Question, field: Setting, names: Mapping[str, Sequence[str]], values: Mapping[str, Any]
) -> Iterator[str]:
    """Yield the files of a setting, each with its attached values."""
    beside = next((each.name for each in asked.settings if each.beside == field.name and not each.option), "")
    given = values.get(beside, ())
    for place, name in enumerate(names.get(field.name, ())):
        behind = given[place] if place < len(given) else None
        yield _path(name) if behind is None else f"{_path(name)}={behind}"


def _path(name: str) -> str:
    return f"./{name}" if name.startswith("-") else name


def _not_written(asked: Question, names: Mapping[str, Sequence[str]]) -> set[str]:
    skipped = {"edition", asked.sample_of}
    if names.get("pairs"):
        skipped.add("seed_pairs")
    return skipped | (set(ONLY_HERE) if names.get("auxiliary") else set())


def _setting(asked: Question, field: Setting, values: Mapping[str, Any], *, sample: bool) -> list[str]:
    """Return the words of one setting, none for the default."""
    value = values[field.name]
    if field.kind == "roles":
        return [*_roles(roles_of(value)), *([] if _in_file(asked) else _kinds(roles_of(value)))]
    if field.beside:
        chosen = set(value)
        return [field.option, *chosen] if field.option and len(chosen) == 1 and chosen != {""} else []
    if value in (None, "", ()) or value == default_of(field, asked, sample=sample) or not field.option:
        return []
    match field.kind:
        case "switch":
            return [field.option]
        case "limits":
            return [word for name, limit in value for word in (field.option, f"{name}={limit!r}")]
        case "columns":
            return [field.option, row(value)]
        case "folder":
            return [word for each in value for word in (field.option, _path(str(each)))]
        case "several" if field.metavar == "NAMES":
            return [field.option, ",".join(value)]
        case "choice" if field.names:
            shown = {each: name for name, each in field.names.items()}
            return [field.option, shown.get(value, value)]
    if field.kind in LISTS:
        return [word for each in value for word in (field.option, each)]
    return [field.option, str(value) if isinstance(value, str | int | Fraction) else repr(value)]


def _roles(roles: Roles) -> list[str]:
    words = []
    named = {"--id": roles.identifiers, "--sensitive": roles.sensitive, "--quasi-identifiers": roles.known}
    for option, columns in named.items():
        if columns:
            words += [option, row(columns)]
    for option, column in (("--weight", roles.weight), ("--household", roles.household)):
        if column is not None:
            words += [option, column]
    return words


def _kinds(roles: Roles) -> list[str]:
    told = {name: kind if isinstance(kind, str) else "<".join(kind) for name, kind in (roles.kinds or {}).items()}
    return [word for name, kind in told.items() for word in ("--kinds", f"{name}={kind}")]


def _in_file(asked: Question) -> bool:
    """Return whether a command takes both a settings file and column types."""
    return {"config", "columns", "release_type"} <= {each.name for each in asked.settings}


def _config(names: Mapping[str, Sequence[str]], values: Mapping[str, Any]) -> str:
    """Return the settings file for column types and per-release methods."""
    lines = []
    kinds = roles_of(values["columns"]).kinds or {}
    if kinds:
        lines += ["[kinds]", *(f"{_quoted(name)} = {_quoted(kind)}" for name, kind in kinds.items())]
    made = values["release_type"]
    if len(set(made)) > 1:
        for name, kind in zip(names.get("released", ()), made, strict=False):
            lines += ["", "[[release]]", f"file = {_quoted(name)}"]
            lines += [f"release_type = {_quoted(kind)}"] if kind else []
    return "\n".join(lines).strip() + "\n" if lines else ""


def _quoted(value: Any) -> str:
    """Return a text or list of texts as TOML."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
