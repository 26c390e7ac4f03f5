"""Read and write studies as TOML files."""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unveil.data.files.documents import read_toml
from unveil.data.files.source import shown
from unveil.errors import InputError, did_you_mean
from unveil.studies.index import releases_of
from unveil.studies.scenario import number_text

if TYPE_CHECKING:
    from unveil.studies.plan import Study

#: What is done to a release that was made already: nothing. What is asked of it unless told, and its one level.
AS_GIVEN, AUDIT, GIVEN_AXIS = "as given", "audit", "given"
# The keys of each table in the file: what each must be, and whether it must be there.
_STUDY = {
    "name": ("a text", True),
    "seed": ("a whole number", True),
    "data": ("tables, written [[data]]", True),
    "protections": ("a list of texts", True),
    "attacks": ("a list of texts", True),
    "axes": ("a table, written [axes]", True),
    "replications": ("a table, written [replications]", True),
    "metrics": ("a list of texts", False),
    "fixed": ("a table, written [fixed]", False),
    "releases": ("a whole number", False),
    "calibrate": ("a text", False),
    "calibrate_draws": ("a whole number", False),
    "node_values": ("true or false", False),
}
_DATA = {
    "name": ("a text", True),
    "kind": ("a text", True),
    "source": ("a text", True),
    "known": ("a list of texts", False),
    "type": ("a text", False),
    "undirected": ("true or false", False),
    "unweighted": ("true or false", False),
}
# A study of releases that were made already has no grid of its own: what is not told here is the same for all of them.
_RELEASES = {
    "name": ("a text", True),
    "seed": ("a whole number", True),
    "original": ("tables, written [[original]]", True),
    "release": ("tables, written [[release]]", False),
    "index": ("a table, written [index]", False),
    "where": ("tables, written [[where]]", False),
    "attacks": ("a list of texts", False),
    "replications": ("a table, written [replications]", False),
}
_ORIGINAL = {"name": ("a text", True), "source": ("a text", True), "dictionary": ("a text", False)}
_INDEX = {"source": ("a text", True)}
_GIVEN = {"file": ("a text", True), "original": ("a text", True)}
_REPLICATIONS = {
    "number": ("a whole number", False),
    "relative_error": ("a number", False),
    "cap": ("a whole number", False),
}


def study_fields(path: Path, *, index: bool = True) -> dict[str, Any]:
    """Return the checked content of a study file as dataclass arguments.

    Without ``index`` it must name its releases itself.
    """
    return _checked(read_toml(path), f"the study {shown(path)}", path.parent if index else None)


def fields_of_text(text: str) -> dict[str, Any]:
    """Return the content of a study text, as :func:`study_fields` does."""
    return _checked(tomllib.loads(text), "the study in a summary")


def _checked(fields: dict[str, Any], where: str, folder: Path | None = None) -> dict[str, Any]:
    if {"original", "release", "index"} & set(fields):
        return _of_releases(fields, where, folder)
    _check_table(fields, _STUDY, where)
    for place, each in enumerate(fields["data"], 1):
        _check_table(each, _DATA, f"[[data]] number {place} of {where}")
        each["known"] = tuple(each.get("known", ()))
    _check_table(fields["replications"], _REPLICATIONS, f"[replications] of {where}")
    for name, levels in fields["axes"].items():
        if not isinstance(levels, list):
            raise InputError(f"{name!r} in [axes] of {where} must be a list of levels. Write {name} = [ … ]")
    return {key: tuple(value) if isinstance(value, list) and key != "data" else value for key, value in fields.items()}


def _of_releases(fields: dict[str, Any], where: str, folder: Path | None) -> dict[str, Any]:
    """Return the fields of a study of given releases."""
    _check_table(fields, _RELEASES, where)
    for place, each in enumerate(fields["original"], 1):
        _check_table(each, _ORIGINAL, f"[[original]] number {place} of {where}")
    if "index" in fields and folder is None:
        raise InputError(
            f"{where} must list its releases, but has an [index], which may be any file. Run the study again"
        )
    if "index" in fields:
        _check_table(fields["index"], _INDEX, f"[index] of {where}")
    for place, each in enumerate(fields.get("release", ()), 1):
        labels = dict.fromkeys(each, ("a text or a number", False)) if isinstance(each, dict) else {}
        _check_table(each, {**labels, **_GIVEN}, f"[[release]] number {place} of {where}")
    replications = fields.get("replications", {"number": 1})
    _check_table(replications, _REPLICATIONS, f"[replications] of {where}")
    return {
        "name": fields["name"],
        "seed": fields["seed"],
        "data": releases_of(fields, folder, where),
        "protections": (AS_GIVEN,),
        "attacks": tuple(fields.get("attacks", (AUDIT,))),
        "axes": {GIVEN_AXIS: [1]},
        "replications": replications,
        "node_values": False,
    }


def _check_table(table: object, keys: Mapping[str, tuple[str, bool]], where: str) -> None:
    if not isinstance(table, dict):
        raise InputError(f"{where} must be a table of keys and values, but is not. Write one")
    for key, value in table.items():
        if key not in keys:
            hint = did_you_mean(key, keys) or f" It has {', '.join(keys)}."
            raise InputError(f"{where} has no key {key!r}.{hint} Rename it, or leave it out")
        if not _is(value, keys[key][0]):
            raise InputError(f"{key!r} of {where} must be {keys[key][0]}, but is not. Write one")
    for key, (_, needed) in keys.items():
        if needed and key not in table:
            raise InputError(f"{where} must have the key {key!r}, but has not. Add it")


def _is(value: object, expected: str) -> bool:
    if expected in ("a text", "true or false"):
        return isinstance(value, str if expected == "a text" else bool)
    if expected in ("a whole number", "a number"):
        kinds = (int,) if expected == "a whole number" else (int, float)
        return isinstance(value, kinds) and not isinstance(value, bool)
    if expected == "a text or a number":
        return isinstance(value, (str, int, float)) and not isinstance(value, bool)
    if expected == "a list of texts":
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    return isinstance(value, list if expected.startswith("tables") else dict)


def to_toml(study: "Study") -> str:
    """Return the study as the text of a TOML file."""
    if study.kind == "release":
        return _releases_to_toml(study)
    lines = [f"name = {_text(study.name)}", f"seed = {study.seed}"]
    lines += [f"{key} = {_texts(getattr(study, key))}" for key in ("protections", "attacks")]
    lines += [f"metrics = {_texts(study.metrics)}"] * bool(study.metrics)
    lines += [f"releases = {study.releases}"]
    if study.calibrate:
        lines += [f"calibrate = {_text(study.calibrate)}", f"calibrate_draws = {study.calibrate_draws}"]
    lines += ["node_values = false"] * (not study.node_values)
    for data in study.data:
        lines += ["", "[[data]]", *(f"{key} = {_text(getattr(data, key))}" for key in ("name", "kind", "source"))]
        lines += [f"known = {_texts(data.known)}"] * bool(data.known)
        lines += [f"type = {_text(data.type)}"] * bool(data.type)
        lines += [f"{key} = true" for key in ("undirected", "unweighted") if getattr(data, key)]
    lines += ["", "[axes]"]
    lines += [f"{axis.name} = [{', '.join(map(number_text, axis.levels))}]" for axis in study.axes]
    lines += ["", "[fixed]", *(f"{name} = {number_text(level)}" for name, level in study.fixed.items())]
    return "\n".join([*lines, *_replications(study)]) + "\n"


def _releases_to_toml(study: "Study") -> str:
    lines = [f"name = {_text(study.name)}", f"seed = {study.seed}", f"attacks = {_texts(study.attacks)}"]
    given = [(data, data.given) for data in study.data if data.given is not None]
    originals = {each.original_name: each for _, each in given}
    for name, each in originals.items():
        lines += ["", "[[original]]", f"name = {_text(name)}", f"source = {_text(each.original)}"]
        lines += [f"dictionary = {_text(each.dictionary)}"] * bool(each.dictionary)
    for data, each in given:
        told = {"name": data.name, "file": data.source, "original": each.original_name}
        told |= {key: text for key in ("control", "made") if (text := getattr(each, key))} | dict(each.labels)
        # A label may be called anything.
        lines += ["", "[[release]]", *(f"{_text(key)} = {_text(text)}" for key, text in told.items())]
    return "\n".join([*lines, *_replications(study)]) + "\n"


def _replications(study: "Study") -> list[str]:
    wanted = study.replications
    told = {"number": wanted.number, "relative_error": wanted.relative_error}
    told |= {"cap": wanted.cap} if wanted.number is None else {}
    return ["", "[replications]", *(f"{key} = {value}" for key, value in told.items() if value is not None)]


def _text(value: str) -> str:
    # TOML takes the texts of JSON, but wants one more sign escaped.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")


def _texts(values: tuple[str, ...]) -> str:
    return f"[{', '.join(map(_text, values))}]"
