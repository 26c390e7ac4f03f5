import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil.errors import InputError
from unveil.report.machine import compact, dumps

numbers = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
values = st.recursive(numbers, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


def without_nan(value: Any) -> Any:
    """Return what JSON must hold: the slow and obvious way."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {key: without_nan(each) for key, each in value.items()}
    return [without_nan(each) for each in value] if isinstance(value, list) else value


@given(st.dictionaries(st.text(), values))
def test_everything_comes_back_as_it_was_but_nan(fields: dict[str, Any]) -> None:
    text = dumps(fields | {"schema": "example/1"})
    assert json.loads(text, parse_constant=pytest.fail) == without_nan(fields | {"schema": "example/1"})


def test_the_schema_comes_first_and_the_order_is_kept() -> None:
    text = dumps({"z": 1, "a": {"y": 2, "b": 3}, "schema": "example/1"})
    assert text == '{\n  "schema": "example/1",\n  "z": 1,\n  "a": {\n    "y": 2,\n    "b": 3\n  }\n}\n'


@pytest.mark.parametrize("payload", [{}, {"schema": 1}])
def test_a_missing_schema_is_refused(payload: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="schema"):
        dumps(payload)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.array([1.5, np.nan, np.inf]), "[1.5,null,null]"),
        (np.array([[1, 2], [3, 4]]), "[[1,2],[3,4]]"),
        (np.array([True, False]), "[true,false]"),
        (np.array(["a", None, math.nan], dtype=object), '["a",null,null]'),
        (np.float64("nan"), "null"),
        (np.float32(0.5), "0.5"),
        (np.int64(3), "3"),
        (np.bool_(True), "true"),
        (Fraction(1, 4), "0.25"),
        ([Fraction(1, 2), math.nan, np.array([math.nan])], "[0.5,null,[null]]"),
        ((1, "é", {"k": math.inf}), '[1,"é",{"k":null}]'),
        ({}, "{}"),
        ("half \ud800 a letter", '"half \\ud800 a letter"'),
    ],
)
def test_what_json_does_not_know(value: Any, text: str) -> None:
    assert compact(value) == text


def test_text_with_half_a_letter_can_be_saved() -> None:
    assert json.loads(dumps({"schema": "s", "name": "\udc80"}).encode())["name"] == "\udc80"


def test_a_frame_becomes_one_object_per_row() -> None:
    names = ['a "quoted", name', "two\nlines", "\u2028 ünï </script>"]
    frame = pl.DataFrame({"subject": names, "slope": [0.25, math.nan, math.inf], "breached": [True, False, True]})
    text = dumps({"schema": "s", "rows": frame, "none": frame.head(0)})
    assert json.loads(text)["rows"] == [
        {"subject": names[0], "slope": 0.25, "breached": True},
        {"subject": names[1], "slope": None, "breached": False},
        {"subject": names[2], "slope": None, "breached": True},
    ]
    assert json.loads(text)["none"] == []


@given(st.lists(st.tuples(st.text(), st.floats(), st.integers(0, 2**60)), min_size=1))
def test_a_frame_says_the_same_as_its_rows(rows: list[tuple[str, float, int]]) -> None:
    schema = {"name": pl.String, "x": pl.Float64, "k": pl.Int64}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    expected = [without_nan(dict(zip(schema, row, strict=True))) for row in rows]
    assert json.loads(dumps({"schema": "s", "rows": frame}))["rows"] == expected
