"""The command line that asks the same as an answered form, with the names of files only and never their folders."""

import json
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from unveil.web.fields import Field, Form
from unveil.web.values import cells, lines, row, value_of, values_of

#: What the report is called on the command line, and the file of settings where one is needed.
REPORT = "report.html"
CONFIG = "audit.toml"
#: Settings of a graph that is protected here, which is not done where the release was made elsewhere.
_ONLY_HERE = ("protect", "overlap", "connected")
#: Texts that stand for several, with commas between them, and have an option each.
_SEVERAL_TEXTS = ("missing", "metrics")


@dataclass(frozen=True, kw_only=True)
class Command:
    """What is written after ``unveil``, and the file of settings that it names, if it needs one."""

    words: tuple[str, ...]
    config: str = ""
    config_name: str = CONFIG

    @property
    def line(self) -> str:
        """The command as it is typed into a terminal."""
        return shlex.join(("unveil", *self.words))


@dataclass(frozen=True, kw_only=True)
class Roles:
    """What the columns of an audit were said to be, as its arguments; empty where the suggestions were kept."""

    identifiers: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    known: tuple[str, ...] | None = None
    weight: str | None = None
    household: str | None = None
    kinds: Mapping[str, Any] | None = None


def roles_of(columns: Sequence[Mapping[str, Any]]) -> Roles:
    """Return the arguments that give each column the role and kind that was chosen for it.

    What the library would suppose by itself is not said again: the same answer comes from the shortest command.

    >>> age = {"name": "age", "role": "known", "suggested": "known", "kind": "number", "guessed": "number"}
    >>> roles_of([age, {**age, "name": "income", "role": "sensitive"}])
    Roles(identifiers=(), sensitive=('income',), known=None, weight=None, household=None, kinds=None)
    """
    of = {role: tuple(each["name"] for each in columns if each["role"] == role) for role in _ROLE_NAMES}
    supposed = tuple(each["name"] for each in columns if each["suggested"] == "identifier")
    more_known = any(each["role"] != "identifier" and each["name"] in supposed for each in columns)
    kinds = {
        each["name"]: each.get("levels") or each["kind"]
        for each in columns
        if each["kind"] != each["guessed"] or each.get("levels")
    }
    return Roles(
        identifiers=() if of["identifier"] == supposed else of["identifier"],
        sensitive=of["sensitive"],
        # Named one by one where some are left out, or where a supposed identifier is none.
        known=of["known"] if of["ignored"] or more_known else None,
        weight=next(iter(of["weight"]), None),
        household=next(iter(of["household"]), None),
        kinds=kinds or None,
    )


_ROLE_NAMES = ("identifier", "sensitive", "known", "ignored", "weight", "household")


def command(form: Form, names: Mapping[str, Sequence[str]], settings: Mapping[str, Any]) -> Command:
    """Return the command that asks the same.

    Parameters
    ----------
    form
        The question.
    names
        What the files of each field are called.
    settings
        What the page sent, already checked.

    Examples
    --------
    >>> from unveil.web.forms import FORMS
    >>> command(FORMS["candidates"], {"guess": ["guess.csv"]}, {"normalise": True}).line
    'unveil candidates guess.csv --normalise --html report.html'
    """
    values = values_of(form, settings)
    if form.question in ("study", "grades") and values["sample"]:
        return _example_study()
    config = _config(names, values) if form.question == "audit" else ""
    words = [*form.command]
    if values["sample"]:
        words += _sample(form, values)
    else:
        words += _files(form, names, values, config)
    if config:
        words += ["--config", CONFIG]
    skipped = _not_written(form, names)
    for field in form.settings:
        if field.name not in skipped:
            words += _setting(form, field, values)
    shareable = values.get("edition") == "shareable"
    return Command(words=(*words, "--shareable" if shareable else "--html", REPORT), config=config)


def _example_study() -> Command:
    from unveil.web.sample_study import PLAN

    words = ("study", "run", "example.toml", "--out", "example")
    return Command(words=words, config=PLAN.to_toml(), config_name="example.toml")


def _sample(form: Form, values: Mapping[str, Any]) -> list[str]:
    if form.question == "partition":
        return ["--sample", values["adversary"]]
    return list(form.command_of_sample)


def _files(form: Form, names: Mapping[str, Sequence[str]], values: Mapping[str, Any], config: str) -> Iterator[str]:
    for field in form.files:
        if field.option or (field.name == "released" and "[[release]]" in config):
            continue
        for place, name in enumerate(names.get(field.name, ())):
            given = values.get("probabilities", ()) if field.name == "guesses" else ()
            probability = given[place] if place < len(given) else None
            yield _path(name) if probability is None else f"{_path(name)}={probability}"
    for field in form.settings:
        if field.kind == "folder":
            yield from map(_path, lines(values[field.name]))
    for field in form.files:
        if field.option:
            for name in names.get(field.name, ()):
                yield from (field.option, _path(name))


def _path(name: str) -> str:
    return f"./{name}" if name.startswith("-") else name


def _not_written(form: Form, names: Mapping[str, Sequence[str]]) -> set[str]:
    skipped = {"columns", "edition", "adversary"} if form.question != "audit" else {"edition"}
    if names.get("pairs"):
        skipped.add("seed_pairs")
    return skipped | (set(_ONLY_HERE) if names.get("auxiliary") else set())


def _setting(form: Form, field: Field, values: Mapping[str, Any]) -> list[str]:
    """Return the words for one setting; none where it is as it would be anyway."""
    value = values[field.name]
    match field.kind:
        case "roles":
            return _roles(roles_of(value))
        case "scenarios":
            return [word for name, columns in value for word in (field.option, f"{name}={row(columns)}")]
        case "limits":
            return [word for name, limit in value for word in (field.option, f"{name}={limit!r}")]
        case "switch":
            return [field.option] if value else []
        case "several":
            if field.name == "attacks":
                return [field.option, ",".join(value)] if value else []
            return [word for each in value for word in (field.option, each)]
        case "folder":
            return []
    if field.beside:
        chosen = set(value)
        return [field.option, *chosen] if field.option and len(chosen) == 1 and chosen != {""} else []
    if field.many or field.name in _SEVERAL_TEXTS:
        texts = lines(value) if field.many else cells(value)
        return [word for each in texts for word in (field.option, each)]
    if value in (None, "") or value == value_of(field, None, form, sample=values["sample"]):
        return []
    return [field.option, str(value) if isinstance(value, str | int | Fraction) else repr(value)]


def _roles(roles: Roles) -> list[str]:
    words = []
    for option, columns in (("--id", roles.identifiers), ("--sensitive", roles.sensitive), ("--known", roles.known)):
        if columns:
            words += [option, row(columns)]
    for option, column in (("--weight", roles.weight), ("--household", roles.household)):
        if column is not None:
            words += [option, column]
    return words


def _config(names: Mapping[str, Sequence[str]], values: Mapping[str, Any]) -> str:
    """Return the file of settings for what has no option: kinds of columns, and releases made in different ways."""
    lines = []
    kinds = roles_of(values["columns"]).kinds or {}
    if kinds:
        lines += ["[kinds]", *(f"{_quoted(name)} = {_quoted(kind)}" for name, kind in kinds.items())]
    made = values["release_kinds"]
    if len(set(made)) > 1:
        for name, kind in zip(names.get("released", ()), made, strict=False):
            lines += ["", "[[release]]", f"file = {_quoted(name)}"]
            lines += [f"kind = {_quoted(kind)}"] if kind else []
    return "\n".join(lines).strip() + "\n" if lines else ""


def _quoted(value: Any) -> str:
    """Return a text or a list of texts as TOML writes it, which is as JSON does."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
