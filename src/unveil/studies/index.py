"""Given releases of a study, listed one by one or in an index."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

from unveil.data.files.read import read_file
from unveil.data.files.settings import FileSettings
from unveil.data.files.source import shown
from unveil.errors import InputError, did_you_mean
from unveil.studies.scenario import DataSet, ExistingRelease

#: The control of a release that is a part of its original: everybody else of it.
REST = "rest"
#: What is told of a release; every other key is a label.
_OF_RELEASE = ("name", "file", "original", "control", "made")
_MADE = ("masked", "synthetic")
_VARIABLE = re.compile(r"\$(?:\{(?P<braced>\w+)\}|(?P<plain>\w+))")
#: Endings of files that say nothing about a release.
_ENDINGS = re.compile(r"(\.(csv|tsv|txt|parquet|gz|zip|bz2|xz|zst))+$", re.IGNORECASE)


def without_variables(source: str, whose: str) -> str:
    """Return a path with environment variables expanded."""

    def value(match: "re.Match[str]") -> str:
        name = match["braced"] or match["plain"]
        if name not in os.environ:
            raise InputError(
                f"the source {source!r} of {whose!r} needs the variable {name} of the environment, which is "
                f"not set. Set {name} to the folder of the data"
            )
        return os.environ[name]

    return _VARIABLE.sub(value, source)


def with_sources(data: DataSet, change: Callable[[str], str]) -> DataSet:
    """Return the data set with every file that it names changed so."""
    given = data.given
    if given is not None:
        control = given.control if given.control in ("", REST) else change(given.control)
        dictionary = change(given.dictionary) if given.dictionary else ""
        given = replace(given, original=change(given.original), dictionary=dictionary, control=control)
    return replace(data, source=change(data.source), given=given)


def releases_of(fields: Mapping[str, Any], folder: Path | None, where: str) -> tuple[DataSet, ...]:
    """Return the releases of a study file: index first, then listed ones.

    Parameters
    ----------
    fields
        What the file says; its form is checked already.
    folder
        Where relative paths start from; None where there can be no index.
    where
        How messages call the file.
    """
    originals = {str(each["name"]): each for each in fields["original"]}
    found = []
    if "index" in fields:
        source = str(fields["index"]["source"])
        home = source.rpartition("/")[0]
        for row in _index(source, folder):
            rules = _rules(row, fields.get("where", ()), where)
            row |= {key: _beside_index(row[key], home) for key in ("file", "control") if key in row} | rules
            found.append(_release({"name": _name(row["file"].removeprefix(f"{home}/")), **row}, originals, where))
    found += [
        _release({"name": _name(PurePosixPath(str(each["file"])).name), **each}, originals, where)
        for each in fields.get("release", ())
    ]
    if not found:
        raise InputError(f"{where} must name at least one release, but names none. Add [[release]] or an [index]")
    return tuple(found)


def _index(source: str, folder: Path | None) -> list[dict[str, str]]:
    path = Path(without_variables(source, "the index"))
    path = path if folder is None else folder / path
    called = f"the index {shown(path)}"
    rows = read_file(path, FileSettings(header="yes"), name="index").frame.rows(named=True)
    if not rows:
        raise InputError(f"{called} must have a line for each release below its head, but has none. Add some")
    for column in ("file", "original"):
        if column not in rows[0]:
            hint = did_you_mean(column, list(rows[0])) or f" It has {', '.join(rows[0])}."
            raise InputError(f"{called} must have the column {column!r}, but has not.{hint} Rename or add it")
    for number, row in enumerate(rows, 2):
        for column in ("file", "original"):
            if not str(row[column] or "").strip():
                raise InputError(f"line {number} of {called} names no {column}. Fill it in, or take the line out")
    return [{key: "" if cell is None else str(cell).strip() for key, cell in row.items()} for row in rows]


def _rules(row: Mapping[str, str], rules: Sequence[Mapping[str, Any]], where: str) -> dict[str, str]:
    """Return the additions to index lines: control and method."""
    added: dict[str, str] = {}
    for place, rule in enumerate(rules, 1):
        called = f"[[where]] number {place} of {where}"
        asked = {key: value for key, value in rule.items() if key not in ("control", "made")}
        if not asked or len(asked) == len(rule):
            raise InputError(
                f"{called} must name a column of the index with the texts it must have, and what holds then (control "
                'or made). Write technique = ["a", "b"] and control = "rest", say'
            )
        for key, value in asked.items():
            if key not in row:
                raise InputError(
                    f"{called} names the column {key!r}, which the index has not.{did_you_mean(key, list(row))} Name a "
                    "column of the index"
                )
            asked[key] = [value] if isinstance(value, str) else value
        if all(row[key] in values for key, values in asked.items()):
            added |= {key: str(rule[key]) for key in ("control", "made") if key in rule}
    return added


def _release(fields: Mapping[str, Any], originals: Mapping[str, Mapping[str, Any]], where: str) -> DataSet:
    name, own = str(fields["name"]), str(fields["original"])
    called = f"the release {name!r} of {where}"
    if own not in originals:
        hint = did_you_mean(own, list(originals)) or f" There is {', '.join(originals)}."
        raise InputError(f"{called} is of the original {own!r}, which has no [[original]].{hint} Rename it, or add one")
    made = str(fields.get("made", ""))
    if made and made not in _MADE:
        raise InputError(f"{called} must be made masked or synthetic, but made is {made!r}. Write one of them")
    labels = {key: _label(value) for key, value in fields.items() if key not in _OF_RELEASE}
    original = originals[own]
    return DataSet(
        name,
        "release",
        str(fields["file"]),
        given=ExistingRelease(
            original=str(original["source"]),
            original_name=own,
            dictionary=str(original.get("dictionary", "")),
            control=str(fields.get("control", "")),
            made=made,
            labels=tuple((key, text) for key, text in labels.items() if text),
        ),
    )


def _beside_index(file: str, home: str) -> str:
    """Return an index path, relative to the index folder."""
    return f"{home}/{file}" if home and file not in ("", REST) and not file.startswith(("/", "$")) else file


def _name(file: str) -> str:
    return _ENDINGS.sub("", file)


def _label(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)
