"""Derive JSON, schemas, thresholds, and data frames from declared results."""

import types
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from functools import reduce
from math import isnan, nan
from numbers import Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

from unveil._figure import DEFINITION, GROUPS, Basis, DerivedFigure, Figure, bases, declared_figures
from unveil.report.limits import CheckedLimit, Quantity
from unveil.report.suppressed_number import SuppressedNumber

if TYPE_CHECKING:
    import polars as pl

SEED = (
    "Where randomness started; null where the caller brought a source of it, or where stating it would undo the "
    "release."
)
LIMITS = "Each limit with its value and outcome."


def json_of(findings: Any) -> Any:
    """Return findings as plain data, by JSON name in declaration order.

    Undefined numbers stay NaN: :func:`unveil.report.machine.dumps` writes null.
    """
    if is_dataclass(findings) and not isinstance(findings, type):
        content: dict[str, Any] = {}
        for attribute, figure in declared_figures(type(findings)):
            value = getattr(findings, attribute)
            if figure.hidden or figure.column or (figure.optional and _is_empty(value)):
                continue
            if figure.inline:
                content |= {} if value is None else json_of(value)
            else:
                *groups, name = (figure.name or attribute).split(".")
                place = content
                for group in groups:
                    place = place.setdefault(group, {})
                inner = None if figure.blank and not value else json_of(value)
                place[name] = _without(inner, figure.without) if figure.without and inner is not None else inner
        return content
    if isinstance(findings, Mapping):
        return {str(key): json_of(each) for key, each in findings.items()}
    if isinstance(findings, list | tuple):
        return [json_of(each) for each in findings]
    return findings


def _without(content: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    return {name: each for name, each in content.items() if name not in names}


def _is_empty(value: Any) -> bool:
    return (
        value is None or (isinstance(value, float) and isnan(value)) or (isinstance(value, str | Mapping) and not value)
    )


def schema_of(kind: type, name: str, description: str, *, answer: bool = True) -> dict[str, Any]:
    """Return the JSON Schema of an answer, from its findings class.

    Parameters
    ----------
    kind
        The class of the findings.
    name
        The name with its version, such as ``unveil.columns/1``.
    description
        What the answer is about, in one sentence.
    answer
        Whether it is the answer to a question, which states limits and seed.
    """
    head = {"schema": {"description": "Name and version of this schema.", "const": name}}
    definitions: dict[str, Any] = {"limit": _object(CheckedLimit, {})} if answer else {}
    inner = _object(kind, definitions)
    tail = {
        "limits": {"description": LIMITS, "type": "array", "items": {"$ref": "#/definitions/limit"}},
        "seed": {"description": SEED, "type": ["integer", "null"]},
    }
    tail = tail if answer else {}
    return {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "$id": f"urn:{name.replace('/', ':').replace('.', ':')}",
        "title": name,
        "description": description,
        "type": "object",
        "properties": {**head, **inner["properties"], **tail},
        "required": [*head, *inner["required"], *tail],
        "definitions": definitions,
    }


def quantities_of(findings: Any) -> dict[str, Quantity]:
    """Return the values that accept a limit, by limit name."""
    return {
        figure.limit: _quantity(figure, getattr(findings, attribute))
        for attribute, figure in declared_figures(type(findings))
        if figure.limit
    }


def undefined_quantities(kind: type) -> dict[str, Quantity]:
    """Return the values of a class that accept a limit, as NaN."""
    return {figure.limit: _quantity(figure, nan) for _, figure in declared_figures(kind) if figure.limit}


def _quantity(figure: Figure, value: float) -> Quantity:
    more_is_worse = figure.worse == "more"
    return Quantity(
        name=figure.limit,
        value=value,
        meaning=figure.limit_meaning if more_is_worse else f"{figure.limit_meaning}; fails below VALUE",
        exceeded_when_undefined=figure.breached,
        more_is_worse=more_is_worse,
    )


def meanings_of(kind: type) -> dict[str, str]:
    """Return the meaning of each limit on findings of a class."""
    return {name: each.meaning for name, each in undefined_quantities(kind).items()}


def redacted(findings: Any, minimum: int, basis: Basis = "nothing private") -> Any:
    """Return findings with small numbers of people bounded or withheld.

    Statistics must be safe already: this is the last step, and nothing passes it by being forgotten.
    """
    if is_dataclass(findings) and not isinstance(findings, type):
        kinds = bases(type(findings))
        return replace(
            findings,
            **{
                each.name: redacted(getattr(findings, each.name), minimum, kinds[each.name])
                for each in fields(findings)
                if each.init
            },
        )
    if isinstance(findings, Mapping):
        return {key: redacted(each, minimum, basis) for key, each in findings.items()}
    if isinstance(findings, tuple):
        return tuple(redacted(each, minimum, basis) for each in findings)
    if getattr(findings, "ndim", 0):  # an array
        return findings if basis else findings[:0]
    if not isinstance(findings, Real) or isinstance(findings, bool | SuppressedNumber):
        return findings
    if not basis:
        return SuppressedNumber.withheld()
    if basis in ("people", "rows") and 0 < float(findings) < minimum:
        return SuppressedNumber(0, minimum, words=f"fewer than {minimum}")
    return findings


def frame_of(rows: Sequence[Any]) -> "pl.DataFrame":
    """Return a data frame of single-valued results, one row per item."""
    return frame_of_rows(
        [{name: each for name, each in json_of(row).items() if not isinstance(each, dict | list)} for row in rows]
    )


def frame_of_rows(rows: Sequence[Mapping[str, Any]]) -> "pl.DataFrame":
    """Return a data frame of flat rows; undefined numbers are null."""
    import polars as pl
    from polars import selectors

    return pl.DataFrame(rows, infer_schema_length=None).with_columns(selectors.float().fill_nan(None))


def flat_row(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object as one row, with inner results prefixed by name.

    >>> flat_row({"rate": {"value": 0.5, "low": 0.4}, "links": {"low": 3}, "p": 0.1})
    {'rate': 0.5, 'rate_low': 0.4, 'links_low': 3, 'p': 0.1}
    """
    row: dict[str, Any] = {}
    for name, each in content.items():
        inner = each.items() if isinstance(each, Mapping) else (("value", each),)
        row |= {name if part == "value" else f"{name}_{part}": value for part, value in inner}
    return row


def _object(kind: type, definitions: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object; shared parts become definitions."""
    whole: dict[str, Any] = {"type": "object", "properties": {}, "required": []}
    for attribute, figure in declared_figures(kind):
        if figure.inline:
            hint = _type_of(kind, attribute)
            stated = next((each for each in get_args(hint) if each is not type(None)), hint)
            inner = _row(figure.row) if figure.row else _object(stated, definitions)
            whole["properties"] |= inner["properties"]
            whole["required"] += [] if type(None) in get_args(hint) else inner["required"]
        elif not (figure.hidden or figure.column):
            *groups, name = (figure.name or attribute).split(".")
            place = whole
            for depth, group in enumerate(groups, 1):
                meaning = getattr(kind, GROUPS)[".".join(groups[:depth])]
                empty = {"description": meaning, "type": "object", "properties": {}, "required": []}
                if group not in place["required"]:
                    place["required"].append(group)
                place = place["properties"].setdefault(group, empty)
            if figure.row is not None:
                value: dict[str, Any] = _row(figure.row)
            elif figure.rows is not None:
                value = {"type": "array", "items": _schema_of_type(figure.rows, definitions)}
            else:
                hint = _type_of(kind, attribute)
                value = _schema_of_type(hint | None if figure.blank else hint, definitions, left_out=figure.optional)
            if figure.without:
                value["properties"] = _without(value["properties"], figure.without)
                value["required"] = [each for each in value["required"] if each in value["properties"]]
            place["properties"][name] = {"description": _meaning(kind, figure), **value}
            place["required"] += [] if figure.optional else [name]
    return whole


def _meaning(kind: type, figure: Figure) -> str:
    if figure.meaning or not figure.path:
        return figure.meaning
    *inner, last = figure.path.split(".")
    return dict(declared_figures(reduce(_type_of, inner, kind)))[last].meaning


def _row(kind: type) -> dict[str, Any]:
    """Return the schema of one row of an array class."""
    columns = {name: each for name, each in declared_figures(kind) if each.column}
    inner = {name: _schema_of_type(_type_of(kind, name), {})["items"] for name in columns}
    properties = {name: {"description": each.meaning, **inner[name]} for name, each in columns.items()}
    return {"type": "object", "properties": properties, "required": list(columns)}


def _type_of(kind: type, attribute: str) -> Any:
    made = getattr(kind, attribute, None)
    if isinstance(made, DerivedFigure) and made.figure.path:
        return reduce(_type_of, made.figure.path.split("."), kind)
    if isinstance(made, property):
        return get_type_hints(made.fget)["return"]
    hint = next(found for base in kind.__mro__ if (found := vars(base).get("__annotations__", {}).get(attribute)))
    # Other fields may have types that only type checkers know, so that not all are looked up.
    return get_type_hints(kind)[attribute] if isinstance(hint, str) else hint


def _schema_of_type(hint: Any, definitions: dict[str, Any], *, left_out: bool = False) -> dict[str, Any]:
    """Return the schema of a value; non-integer numbers may be null.

    A value that is ``left_out`` where it is None is never null.
    """
    import numpy as np

    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        null = type(None) in inner and not left_out
        return _union([each for each in inner if each is not type(None)], definitions, null=null)
    if origin is Literal or hint in (str, Path):
        return {"type": "string"}
    if origin is np.ndarray:
        (kind,) = get_args(inner[1])
        names = {np.bool_: "boolean", np.int64: "integer"}
        return {"type": "array", "items": {"type": names.get(kind, ["number", "null"])}}
    if origin in (tuple, list) or (isinstance(origin, type) and issubclass(origin, Sequence)):
        return {"type": "array", "items": _schema_of_type(inner[0], definitions)}
    if isinstance(origin, type) and issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": _schema_of_type(inner[1], definitions)}
    if is_dataclass(hint) and isinstance(hint, type):
        name = vars(hint).get(DEFINITION)
        if name is None:
            return _object(hint, definitions)
        definitions.setdefault(name, _object(hint, definitions))
        return {"$ref": f"#/definitions/{name}"}
    plain = {bool: "boolean", int: "integer", float: ["number", "null"], Fraction: ["number", "null"]}
    return {"type": plain[hint]}


def _union(hints: Sequence[Any], definitions: dict[str, Any], *, null: bool) -> dict[str, Any]:
    """Return the schema of a value of several types, possibly null."""
    parts = [_schema_of_type(each, definitions) for each in hints]
    if any("$ref" in each for each in parts):
        return {"anyOf": [*parts, *([{"type": "null"}] if null else [])]} if null or len(parts) > 1 else parts[0]
    merged = parts[0] if len(parts) == 1 else {}
    kinds = _united([*(each["type"] for each in parts), *(["null"] if null else [])])
    return {**merged, "type": kinds if len(kinds) > 1 else kinds[0]}


def _united(several: Any) -> list[str]:
    names = [name for each in several for name in ([each] if isinstance(each, str) else each)]
    return list(dict.fromkeys(names))
