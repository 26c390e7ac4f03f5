"""Settings files (TOML): their keys are made from the declared settings of a question."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from unveil.data.files.documents import read_toml
from unveil.data.files.source import shown
from unveil.errors import InputError, did_you_mean
from unveil.questions.request import Request
from unveil.questions.settings import LISTS, Question
from unveil.questions.values import value_of
from unveil.report.limits import limit_name, quantity_hint

#: The types that a value may have in a settings file.
Types = tuple[type, ...]
_NO_TYPES: Mapping[str, Types] = MappingProxyType({})
#: The types of a setting, by its kind; every other kind is a text.
_TYPES: Mapping[str, Types] = {
    "tables": (str, list),
    "columns": (str, list),
    "texts": (str, list),
    "several": (str, list),
    "choice": (str,),
    "switch": (bool,),
}
_WORDS = {
    bool: "true or false",
    str: "a text",
    list: "a list",
    int: "a whole number",
    float: "a number",
    dict: "a table",
}


def with_config(
    request: Request,
    *,
    own: Mapping[str, Types] = _NO_TYPES,
    types: Mapping[str, Types] = _NO_TYPES,
    without: Collection[str] = (),
) -> tuple[Request, Mapping[str, Any]]:
    """Return a request with the settings of its TOML file, and the content of the file; the request itself wins.

    Paths in the file start from its folder. ``[limits]`` and ``[hierarchy]`` are tables, and so are the sections of
    settings such as ``[tuning]``; every other setting has the name of its option. ``own`` are keys that the caller
    reads, ``types`` those of settings that differ from the usual ones by their kind, and ``without`` are settings that
    the file may not hold.
    """
    path, question = request.required_path("config"), request.question
    apart = {**({"hierarchy": (dict,)} if "hierarchies" in request.values else {}), **own, "limits": (dict,)}
    known = {**may_hold(question, without=("config", "limits", *without)), **types, **apart}
    content = settings_in(path, known, question)
    files = {
        each.name: tuple(path.parent / file for file in texts_in(content[each.key]))
        for each in question.files
        if each.key in content
    }
    plain = [each for each in question.settings if each.key in content and not each.is_file and each.key not in apart]
    values = {
        each.name: value_in_file(each.name, content[each.key], request)
        for each in plain
        if each.name not in request.explicit
    }
    explicit = request.explicit | set(values)
    if "hierarchy" in content:
        hierarchies = [f"{name}={path.parent / str(file)}" for name, file in content["hierarchy"].items()]
        values["hierarchies"] = (*hierarchies, *request.values["hierarchies"])
    limits = {**dict(request.values["limits"])}
    for name, limit in limits_in_file(content.get("limits", {}), path, question).items():
        limits.setdefault(name, limit)
    every = {**files, **request.files}
    whole = replace(
        request,
        files=every,
        values={**request.values, **values, "limits": tuple(limits.items())},
        explicit=explicit,
        sample=request.sample and question.files[0].name not in every,
    )
    return whole, content


def may_hold(question: Question, *, without: Collection[str] = ()) -> dict[str, Types]:
    """Return the keys that a settings file may have, with the types of their values."""
    keys: dict[str, Types] = {}
    for each in question.settings:
        if each.kind == "number":
            keys[each.key] = (int,) if each.whole else (float, int)
        elif each.name not in without:
            keys[each.key] = _TYPES.get(each.kind, (str,))
    return keys


def settings_in(path: Path, known: Mapping[str, Types], question: Question) -> Mapping[str, Any]:
    """Return the content of a settings file with current keys; unknown keys and wrong types are refused."""
    content = _without_sections(read_toml(path), path, question)
    for key, value in content.items():
        if key not in known:
            hint = did_you_mean(key, known) or f" Available: {', '.join(known)}."
            raise InputError(f"Unknown key {key!r} in {shown(path)}.{hint}")
        if not isinstance(value, known[key]) or (isinstance(value, bool) and bool not in known[key]):
            must = " or ".join(_WORDS[kind] for kind in known[key])
            raise InputError(f"{key!r} in {shown(path)} is not {must}. Correct the file")
    return content


def _without_sections(read: Mapping[str, Any], path: Path, question: Question) -> dict[str, Any]:
    """Return the content of a settings file with the keys of its sections at the top."""
    content = dict(read)
    for section in sorted({each.table for each in question.settings if each.table and each.table in content}):
        inner = content.pop(section)
        if not isinstance(inner, dict):
            raise InputError(f"{section!r} in {shown(path)} is not a table. Write [{section}] above its keys")
        own = [each for each in question.settings if each.table == section]
        keys = {each.key: each for each in own} | {key: each for each in own for key in each.entries}
        for key, value in inner.items():
            if key not in keys:
                hint = did_you_mean(key, keys) or f" Available: {', '.join(keys)}."
                raise InputError(f"Unknown key {key!r} of [{section}] in {shown(path)}.{hint}")
            each = keys[key]
            if key in each.entries:
                content[each.key] = {**content.get(each.key, {}), key: value}
            else:
                content[key] = value
    return content


def value_in_file(name: str, raw: Any, request: Request) -> Any:
    """Return a setting of the file as the command line gives it; a table is written NAME=VALUE."""
    setting = request.question.setting(name)
    if isinstance(raw, dict):
        raw = [f"{key}={each}" for key, several in raw.items() for each in texts_in(several)]
    several = setting.kind in LISTS or setting.beside
    said = tuple(texts_in(raw)) if several else raw if setting.kind == "switch" else str(raw)
    try:
        return value_of(setting, said, request.question, door="command line")
    except InputError as error:
        raise InputError(f"{setting.key!r} in {shown(request.required_path('config'))}: {error}") from error


def texts_in(value: Any) -> list[str]:
    """Return one text or several as a list of them."""
    return [value] if isinstance(value, str) else [str(each) for each in value]


def limits_in_file(fields: Mapping[str, Any], path: Path, question: Question) -> dict[str, float]:
    """Return limits by quantity; dots in a name that is not in quotes make TOML nest tables, which is undone here."""
    flat: dict[str, float] = {}

    def walk(table: Mapping[str, Any], before: str) -> None:
        for key, value in table.items():
            if isinstance(value, dict):
                walk(value, f"{before}{key}.")
            elif isinstance(value, int | float) and not isinstance(value, bool):
                flat[f"{before}{key}"] = float(value)
            else:
                raise InputError(f"The limit {before}{key!r} in {shown(path)} is not a number. Correct the file")

    walk(fields, "")
    known = question.meanings() if flat else {}
    flat = {limit_name(name, known): value for name, value in flat.items()}
    for name in flat:
        if name not in known:
            hint = quantity_hint(name, known) or " '--limit help' lists them."
            raise InputError(f"Unknown limit {name!r} in {shown(path)}.{hint}")
    return flat
