"""Stable JSON: schema version first, fixed order, no NaN, and fast."""

import json
import math
import re
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from unveil.errors import InputError

_BROKEN = re.compile("[\ud800-\udfff]")


def dumps(payload: Mapping[str, Any]) -> str:
    """Return the payload as JSON with "schema" first and a final newline.

    The schema (such as ``"unveil.partition/1"``) is required: a reader must be able to tell which fields to expect.
    NaN and infinities become null, fractions and numpy numbers become numbers, numpy arrays become lists, and a
    polars DataFrame becomes a list with one object per row.

    >>> print(dumps({"share": Fraction(1, 4), "schema": "example/1", "slope": float("nan")}), end="")
    {
      "schema": "example/1",
      "share": 0.25,
      "slope": null
    }
    """
    if not isinstance(payload.get("schema"), str):
        raise InputError('JSON for machines needs its "schema", a text such as "unveil.partition/1". Add it')
    ordered = {"schema": payload["schema"], **payload}
    return _object(ordered, indent="") + "\n"


def compact(value: Any) -> str:
    """Return any value as JSON on one line, without a schema.

    >>> compact({"x": np.array([1.0, float("inf")])})
    '{"x":[1.0,null]}'
    """
    try:
        text = json.dumps(value, default=_known, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    except ValueError:  # there is a NaN among the plain floats; looking at each costs time, so only now
        text = json.dumps(_clean(value), default=_known, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    # Half a character (from a file name that is not text, say) cannot be saved as it is, but JSON can spell it.
    return _BROKEN.sub(lambda half: f"\\u{ord(half[0]):04x}", text)


def _object(fields: Mapping[str, Any], indent: str) -> str:
    """Return an object with one field per line, its other values compact."""
    deeper = indent + "  "
    lines = [f"{deeper}{compact(str(key))}: {_value(value, deeper)}" for key, value in fields.items()]
    return "{\n" + ",\n".join(lines) + f"\n{indent}}}" if lines else "{}"


def _value(value: Any, indent: str) -> str:
    if isinstance(value, Mapping):
        return _object(value, indent)
    if hasattr(value, "write_ndjson"):
        return _rows(value, indent)
    return compact(value)


def _rows(frame: Any, indent: str) -> str:
    import polars as pl

    if frame.height == 0:
        return "[]"
    floats = [name for name, kind in frame.schema.items() if kind.is_float()]
    finite = frame.with_columns(pl.when(pl.col(name).is_finite()).then(pl.col(name)).alias(name) for name in floats)
    # A line break inside a text is spelt \n, so that the only ones left are those between rows.
    rows = finite.write_ndjson().rstrip("\n").replace("\n", f",\n{indent}  ")
    return f"[\n{indent}  {rows}\n{indent}]"


def _known(value: Any) -> Any:
    """Return what json does not know as something it knows."""
    if isinstance(value, np.ndarray):
        if value.dtype.kind == "f" and not np.isfinite(value).all():
            known = value.astype(object)
            known[~np.isfinite(value)] = None
            return known.tolist()
        return value.tolist()
    if isinstance(value, np.generic):
        return _clean(value.item())
    if isinstance(value, Fraction):
        return float(value)
    return str(value)


def _clean(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _clean(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_clean(each) for each in value]
    if isinstance(value, np.ndarray) and value.dtype == object:
        return _clean(value.tolist())
    return value
