"""Settings of a question in a TOML file: what may stand there is made from the question's own table of settings."""

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

#: What a value may be in such a file.
Types = tuple[type, ...]
_NO_TYPES: Mapping[str, Types] = MappingProxyType({})
_NO_NAMES: Mapping[str, str] = MappingProxyType({})
#: What a setting must be there, by its kind; every other kind is a text.
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
    request: Request, *, own: Mapping[str, Types], types: Mapping[str, Types] = _NO_TYPES, without: Collection[str] = ()
) -> tuple[Request, Mapping[str, Any]]:
    """Return a request with what its TOML file says, and what that holds; what the request says itself wins.

    Paths in the file start from its folder, and ``[limits]`` and ``[hierarchy]`` are tables; every other setting is
    called as its option. ``own`` are keys that the caller reads, ``types`` those of settings that differ from the usual
    ones by their kind, and ``without`` are settings that the file may not hold.
    """
    path, question = request.required_path("config"), request.question
    apart = {"hierarchy": (dict,), **own, "limits": (dict,)}
    known = {**may_hold(question, without=("config", "limits", *without)), **types, **apart}
    content = settings_in(path, known, renamed={each.old_key: each.key for each in question.settings if each.old_key})
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
    hierarchies = [f"{name}={path.parent / str(file)}" for name, file in content.get("hierarchy", {}).items()]
    limits = {**dict(request.values["limits"])}
    for name, limit in limits_in_file(content.get("limits", {}), path, question).items():
        limits.setdefault(name, limit)
    every = {**files, **request.files}
    whole = replace(
        request,
        files=every,
        values={
            **request.values,
            **values,
            "hierarchies": (*hierarchies, *request.values["hierarchies"]),
            "limits": tuple(limits.items()),
        },
        explicit=request.explicit | set(values),
        sample=request.sample and question.files[0].name not in every,
    )
    return whole, content


def may_hold(question: Question, *, without: Collection[str] = ()) -> dict[str, Types]:
    """Return what a file of settings may hold, by what it calls each setting, and what each must be."""
    told: dict[str, Types] = {}
    for each in question.settings:
        if each.kind == "number":
            told[each.key] = (int,) if each.whole else (float, int)
        elif each.name not in without:
            told[each.key] = _TYPES.get(each.kind, (str,))
    return told


def settings_in(path: Path, known: Mapping[str, Types], *, renamed: Mapping[str, str] = _NO_NAMES) -> Mapping[str, Any]:
    """Return what a file of settings holds, each of it known and of its type; an old name stands for the new one."""
    read = read_toml(path)
    content = {key if renamed.get(key, key) in read else renamed[key]: value for key, value in read.items()}
    for key, value in content.items():
        if key not in known:
            hint = did_you_mean(key, known) or f" It may have {', '.join(known)}."
            raise InputError(f"the settings {shown(path)} have no {key!r}.{hint}")
        if not isinstance(value, known[key]) or (isinstance(value, bool) and bool not in known[key]):
            must = " or ".join(_WORDS[kind] for kind in known[key])
            raise InputError(f"{key!r} in the settings {shown(path)} must be {must}. Correct the file")
    return content


def value_in_file(name: str, raw: Any, request: Request) -> Any:
    """Return a setting of the file as the command line would have given it; a table is written NAME=VALUE."""
    setting = request.question.setting(name)
    if isinstance(raw, dict):
        raw = [f"{key}={each}" for key, several in raw.items() for each in texts_in(several)]
    several = setting.kind in LISTS or setting.beside
    said = tuple(texts_in(raw)) if several else raw if setting.kind == "switch" else str(raw)
    try:
        return value_of(setting, said, request.question, door="command line")
    except InputError as error:
        raise InputError(
            f"{setting.key!r} in the settings {shown(request.required_path('config'))} cannot be used: {error}"
        ) from error


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
                raise InputError(f"the limit {before}{key!r} in {shown(path)} must be a number. Correct the file")

    walk(fields, "")
    known = question.meanings() if flat else {}
    flat = {limit_name(name, known): value for name, value in flat.items()}
    for name in flat:
        if name not in known:
            hint = quantity_hint(name, known) or " '--limit help' lists them."
            raise InputError(f"the settings {shown(path)} set a limit for {name!r}, which is no quantity.{hint}")
    return flat
