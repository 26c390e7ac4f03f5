"""Pages of the reference made from the code: attacks, protections, public names, fields of JSON and exit codes."""

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any, get_args

import unveil
from unveil._figure import declared_figures
from unveil._registry import InputKind, RegistryEntry
from unveil.attacks import ATTACKS
from unveil.cli.common import EXIT_CODES
from unveil.protections import PROTECTIONS
from unveil.questions import schema, schema_names

#: For whoever edits a page; readers of the site do not see it.
MADE = "<!-- Written by python docs/make_reference.py: change the docstrings, not the page. -->"
#: The facts that an entry shows, and how; `unveil list` shows all of them.
_FACTS = {
    "leaves": "Output: {}.",
    "kind": "{} data.",
    "suits": "Column types: {}.",
    "keeps": "Unchanged: {}.",
    "needs_control": "Needs a control group.",
    "without_seeds": "Works without seed pairs.",
    "extra": "Extra: {}.",
}
#: What suits a protection of any column is not told.
_ALL_TYPES = "number, category, ordered, date, boolean, text"
_SECTION = re.compile(r"^([A-Z][A-Za-z ]+)\n-{3,}\n", re.MULTILINE)
_ROLE = re.compile(r":\w+:`~?([^`<]+?)(?: <[^`]*>)?`")


def attacks() -> str:
    """Return the page of all attacks, with their settings and facts."""
    return _page("Attacks", _LEAD.format("attack", "attacks"), _listed(ATTACKS))


def protections() -> str:
    """Return the page of all protections, with their settings and facts."""
    return _page("Protections", _LEAD.format("protection", "protections"), _listed(PROTECTIONS))


_LEAD = (
    "Each {0} by its name in commands and files, with its settings and their defaults: `NAME:KEY=VALUE,KEY=VALUE`. "
    "`unveil list {1}` prints all facts; [the Python reference](python/{1}.md) explains the settings. A class of your "
    "own is written `package.module:Class`."
)


def exit_codes() -> str:
    """Return the page of exit codes."""
    rows = "\n".join(f"| {code} | {words} |" for code, words in EXIT_CODES.items())
    lead = "For scripts and [pipelines](../how-to/pipelines.md)."
    return _page("Exit codes", lead, [f"| Exit code | Meaning |\n|---|---|\n{rows}"])


def names() -> str:
    """Return the page of all names of the package itself, with what each does."""
    parts = ", ".join(f"[`unveil.{name}`]({name}.md)" for name in _parts())
    lead = f"Every public name of the package. Its parts have pages of their own: {parts}."
    own = [(name, getattr(unveil, name)) for name in unveil.__all__ if name not in _parts()]
    return _page("Python", lead, [_entry(f"unveil.{name}", thing) for name, thing in own])


def _parts() -> list[str]:
    """Return the parts of the package that name what is public in them."""
    # The one part that the package itself does not import.
    return ["anonymeter", *(name for name in unveil.__all__ if hasattr(getattr(unveil, name), "__all__"))]


def json_index() -> str:
    """Return the page that says what is promised of JSON, and where the fields of each answer are."""
    rows = "\n".join(
        f"| [`{whole}`]({name}.md) | {schema(name)['description']} |" for name, whole in schema_names().items()
    )
    lead = (
        "Every command prints its result as JSON with `--json`, and every result in Python has `.to_json()`. The field "
        "`schema` holds the name and version. `unveil schema audit` prints the JSON Schema (draft 7), as does "
        "`unveil.questions.schema('audit')`."
    )
    promise = (
        "Within a version, fields are only added: ignore those that you do not know. A required field keeps its type, "
        "unit and meaning; any other change makes a new version ([stability](../../understand/stability.md)). An "
        "undefined value is `null`, so every number may be `null`. Tests check every result against its schema."
    )
    return _page("JSON", lead, [promise, f"| Schema | Description |\n|---|---|\n{rows}"])


def json_fields(name: str) -> str:
    """Return the page of the fields of one kind of answer."""
    whole = schema(name)
    head = "| Field | Type | Description |\n|---|---|---|\n"
    blocks = [head + "\n".join(_rows(whole, ""))]
    for part, definition in sorted(whole.get("definitions", {}).items()):
        blocks.append(f"## {_spoken(part)}\n\n{head}" + "\n".join(_rows(definition, "")))
    lead = f"{whole['description']} A field with `?` may be missing; `[]` is each element of a list, `*` each key."
    return _page(f"`{whole['title']}`", lead, blocks)


def _page(title: str, lead: str, blocks: Iterable[str]) -> str:
    return "\n\n".join([f"# {title}", MADE, lead, *blocks]) + "\n"


def _listed(things: Mapping[str, RegistryEntry]) -> Iterator[str]:
    for on in get_args(InputKind):
        some = [each for _, each in sorted(things.items()) if each.on == on]
        if some:
            yield f"## {on[:1].upper()}{on[1:]}s"
        for each in some:
            yield "\n".join(_facts(each))


def _facts(each: RegistryEntry) -> Iterator[str]:
    yield f"### `{each.name}`"
    yield ""
    settings = f"`{','.join(each.settings)}`." if each.settings else ""
    also = f"Also {', '.join(f'`{name}`' for name in each.aka)}." if each.aka else ""
    facts = {name: value for name, value in each.facts.items() if value and value != _ALL_TYPES}
    told = [_spoken(words.format(facts[name])) for name, words in _FACTS.items() if name in facts]
    yield " ".join(part for part in (_prose(each.summary), settings, also, *told, f"*{each.source}*") if part)


def part(name: str) -> str:
    """Return the page of the public names of one part of the package."""
    part = import_module(f"unveil.{name}")
    things = {public: getattr(part, public) for public in sorted(part.__all__)}
    rows = [f"| `{public}` | {_cell(_summary(thing))} |" for public, thing in things.items()]
    own = [
        _entry(f"unveil.{name}.{public}", thing)
        for public, thing in things.items()
        if _summary(thing) == (inspect.getdoc(thing) or "").partition("\n")[0]
    ]
    table = "\n".join(["| Name | Description |", "|---|---|", *rows])
    return _page(f"`unveil.{name}`", _prose(_summary(part)), [table, *own])


def _entry(name: str, thing: Any) -> str:
    doc = inspect.getdoc(thing) or ""
    if isinstance(thing, str):
        return f"## `{name}`\n\nThe version, as text."
    if isinstance(thing, ModuleType):
        return f"## `{name}`\n\n{_from_docstring(doc)}"
    words = f"{_from_docstring(doc)}{_figures(thing)}{_methods(thing)}"
    return f"## `{name}`\n\n```text\n{name}{_signature(thing)}\n```\n\n{words}"


def _signature(thing: Any) -> str:
    try:
        parameters = inspect.signature(thing).parameters.values()
    except (TypeError, ValueError):
        return ""
    shown = [str(_plain(each)) for each in parameters if each.name != "self"]
    stars = [each for each in parameters if each.kind is each.KEYWORD_ONLY]
    if stars and not any(each.kind is each.VAR_POSITIONAL for each in parameters):
        shown.insert(next(i for i, each in enumerate(parameters) if each.kind is each.KEYWORD_ONLY), "*")
    whole = f"({', '.join(shown)})"
    return whole if len(whole) < 90 else "(\n    " + ",\n    ".join(shown) + ",\n)"


def _plain(parameter: inspect.Parameter) -> inspect.Parameter:
    """Return a parameter without its type; a function as default is shown by its name, not by where it lies today."""

    class Name(str):
        __slots__ = ()
        __repr__ = str.__str__

    named = Name(parameter.default.__name__) if inspect.isroutine(parameter.default) else parameter.default
    return parameter.replace(annotation=parameter.empty, default=named)


def _from_docstring(doc: str) -> str:
    """Return a docstring as Markdown: prose, parameters as a list, examples as they run in the tests."""
    first, *rest = _SECTION.split(doc)
    parts = [_prose(first)]
    for title, body in zip(rest[::2], rest[1::2], strict=True):
        if title == "Examples":
            parts.append(f"```pycon\n{body.strip()}\n```")
        elif title in ("Parameters", "Attributes", "Raises"):
            parts.append(f"**{title}**\n\n" + "\n".join(_told(body)))
    return "\n\n".join(parts)


def _told(body: str) -> Iterator[str]:
    for block in re.split(r"\n(?=\S)", body.strip()):
        names, _, words = block.partition("\n")
        yield f"* `{names}`: {_prose(' '.join(words.split()))}"


def _prose(text: str) -> str:
    lines = []
    fenced = False
    for line in text.strip().splitlines():
        if line.startswith(">>>") and not fenced:
            lines += ["", "```pycon"]
            fenced = True
        elif fenced and not line:
            lines += ["```"]
            fenced = False
        lines.append(line if fenced else _ROLE.sub(r"`\1`", line).replace("``", "`"))
    return "\n".join([*lines, *(["```"] if fenced else [])])


def _figures(thing: Any) -> str:
    """Return the declared figures of a class with their meanings."""
    if not (inspect.isclass(thing) and is_dataclass(thing)):
        return ""
    own = {each.name for each in fields(thing)}
    declared = [(name, each.meaning) for name, each in declared_figures(thing) if name in own and each.meaning]
    rows = [f"* `{name}`: {meaning}" for name, meaning in declared]
    return "\n\n**Attributes**\n\n" + "\n".join(rows) if rows else ""


def _methods(thing: Any) -> str:
    if not inspect.isclass(thing):
        return ""
    own = [
        (name, inspect.getdoc(member) or "")
        for name, member in inspect.getmembers(thing)
        if not name.startswith("_") and (callable(member) or isinstance(member, property))
    ]
    rows = [f"* `.{name}`: {_prose(doc.partition(chr(10))[0])}" for name, doc in own if doc]
    return "\n\n**Members**\n\n" + "\n".join(rows) if rows else ""


def _summary(thing: Any) -> str:
    if not (inspect.isclass(thing) or inspect.isroutine(thing) or isinstance(thing, ModuleType)):
        return f"A constant of the type `{type(thing).__name__}`."
    return (inspect.getdoc(thing) or "").partition("\n")[0]


def _cell(text: str) -> str:
    return _prose(text).replace("|", "\\|").replace("\n", " ")


def _spoken(name: str) -> str:
    words = name.replace("_", " ")
    return words[:1].upper() + words[1:]


def _rows(node: Mapping[str, Any], place: str) -> Iterator[str]:
    for name, field in node.get("properties", {}).items():
        where = f"{place}{name}{'' if name in node.get('required', ()) else '?'}"
        yield f"| `{where}` | {_type(field)} | {field['description'].replace('|', chr(92) + '|')} |"
        yield from _below(field, where)


def _below(field: Mapping[str, Any], where: str) -> Iterator[str]:
    yield from _rows(field, f"{where}.")
    for key, sign in (("items", "[]"), ("additionalProperties", ".*")):
        inner = field.get(key)
        if isinstance(inner, dict):
            yield from _below(inner, f"{where}{sign}")


def _type(field: Mapping[str, Any]) -> str:
    if "const" in field:
        return f"`{field['const']}`"
    if "$ref" in field or "anyOf" in field:
        part = (field["$ref"] if "$ref" in field else field["anyOf"][0]["$ref"]).rpartition("/")[2]
        return f"[{part.replace('_', ' ')}](#{part.replace('_', '-')}){' or null' if 'anyOf' in field else ''}"
    types = field.get("type", "any")
    said = " or ".join([types] if isinstance(types, str) else types)
    inner = field.get("items") or field.get("additionalProperties")
    return f"{said} of {_type(inner)}" if isinstance(inner, dict) and inner else said


#: Each page that is made here, by its place below docs/, and what makes it.
PAGES: dict[str, Callable[[], str]] = {
    "reference/attacks.md": attacks,
    "reference/protections.md": protections,
    "reference/python/index.md": names,
    **{f"reference/python/{name}.md": partial(part, name) for name in _parts()},
    "reference/exit-codes.md": exit_codes,
    "reference/json/index.md": json_index,
    **{f"reference/json/{name}.md": partial(json_fields, name) for name in schema_names()},
}
