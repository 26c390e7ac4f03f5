import re
import uuid
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.data.refusals import MARKER, refusal
from unveil.data.table.kinds import guess_role, settle

NOON = datetime(2020, 1, 1, 12)


def text(*cells: str | None, name: str = "x") -> pl.Series:
    return pl.Series(name, cells, dtype=pl.String)


@pytest.mark.parametrize(
    ("cells", "kind", "values"),
    [
        (["1", "-20", "+3"], "number", [1, -20, 3]),
        (["1", "", None, "  "], "number", [1, None, None, None]),
        ([" 39", "50 "], "number", [39, 50]),
        (["0", "0.5", ".5", "1e3", "2."], "number", [0.0, 0.5, 0.5, 1000.0, 2.0]),
        (["9007199254740993", "1"], "number", [2**53 + 1, 1]),
        (["9223372036854775808", "-1"], "number", [2**63, -1]),
        (["9" * 36, "-" + "9" * 35], "number", [10**36 - 1, 1 - 10**35]),
        (["9" * 37, "1"], "category", ["9" * 37, "1"]),
        (["007", "12"], "category", ["007", "12"]),
        (["00.5", "12"], "category", ["00.5", "12"]),
        (["1", "?"], "number", [1, None]),
        (["1,5", "2,5"], "category", ["1,5", "2,5"]),
        (["nan", "1"], "number", [None, 1]),
        (["inf", "inf"], "category", ["inf", "inf"]),
        (["true", "False", None], "boolean", [True, False, None]),
        (["yes", "no"], "boolean", [True, False]),
        (["Ja", "nein", "?"], "boolean", [True, False, None]),
        (["2020-01-01", "2020-02-29"], "date", [datetime(2020, 1, 1), datetime(2020, 2, 29)]),
        (["2020-01-01", "2021-02-29"], "category", ["2020-01-01", "2021-02-29"]),
        (["01/02/2020"], "date", [datetime(2020, 2, 1)]),
        (["2020-01-01 12:00", "2020-01-01T12:00:00Z"], "date", [NOON, NOON]),
        (["2020-01-01T14:30:00+02:30", "2020-01-01 07:00-0500"], "date", [NOON, NOON]),
        (
            ["2020-01-01T12:00:00.000001", "2020-01-01"],
            "date",
            [datetime(2020, 1, 1, 12, 0, 0, 1), datetime(2020, 1, 1)],
        ),
        (["Ulm", "ulm", " Ulm"], "category", ["Ulm", "ulm", " Ulm"]),
        ([None, ""], "category", [None, None]),
    ],
)
def test_text_is_read_as_what_all_of_it_is(cells: list[str | None], kind: str, values: list[Any]) -> None:
    settled = settle(text(*cells))
    assert (settled.kind, settled.values.to_list()) == (kind, values)
    assert settled.reason


@given(
    st.lists(
        st.one_of(st.integers(-(10**20), 10**20).map(str), st.decimals(-9999, 9999, places=3).map(str)), min_size=1
    )
)
def test_numbers_in_text_are_those_that_python_reads(cells: list[str]) -> None:
    settled = settle(text(*cells))
    if settled.kind == "number":
        reader = int if settled.values.dtype.is_integer() else float
        assert settled.values.to_list() == [reader(cell) for cell in cells]
    else:
        assert "digits" in settled.reason or "zeros" in settled.reason


@given(st.lists(st.text(alphabet="0123456789+-.eE ", min_size=1, max_size=5), min_size=1, max_size=3))
def test_what_python_does_not_read_as_a_number_is_no_number(cells: list[str]) -> None:
    def readable(cell: str) -> bool:
        try:
            return Decimal(cell.strip()).is_finite()
        except InvalidOperation:
            return False

    if any(re.search(r"[eE]\+?\d{3}", cell) for cell in cells):
        return  # beyond every float: refused, as another test shows
    settled = settle(text(*cells))
    if settled.kind == "number":
        read = [cell for cell, value in zip(cells, settled.values.to_list(), strict=True) if value is not None]
        assert read
        assert all(readable(cell) for cell in read)
        # What is left is empty, or a sign that stands for a missing value.
        assert {cell.strip() for cell in cells if cell not in read} <= {"", ".", "..", "...", "-", "--"}


@given(
    st.lists(
        st.tuples(
            st.datetimes(datetime(1800, 1, 1), datetime(2200, 1, 1)),
            st.sampled_from(["", "Z", "+00:00", "+0530", "-11:00", "+14:00"]),
        ),
        min_size=1,
    )
)
def test_moments_in_text_are_those_that_python_reads(moments: list[tuple[datetime, str]]) -> None:
    settled = settle(text(*(moment.isoformat() + zone for moment, zone in moments)))
    wanted = []
    for moment, zone in moments:
        zoned = datetime.fromisoformat(moment.isoformat() + (zone or "Z"))
        wanted.append(zoned.astimezone(UTC).replace(tzinfo=None))
    assert (settled.kind, settled.values.to_list()) == ("date", wanted)


@pytest.mark.parametrize(
    ("series", "kind", "values"),
    [
        (pl.Series([1, None], dtype=pl.UInt8), "number", [1, None]),
        (pl.Series([2**64 - 1, 0], dtype=pl.UInt64), "number", [2**64 - 1, 0]),
        (pl.Series([2**100], dtype=pl.Int128), "number", [2**100]),
        (pl.Series([10**37], dtype=pl.Int128), "category", [str(10**37)]),
        (pl.Series([0.5, float("nan"), None]), "number", [0.5, None, None]),
        (pl.Series([0.5], dtype=pl.Float32), "number", [0.5]),
        (pl.Series([Decimal("1.25"), None]), "number", [1.25, None]),
        (pl.Series([Decimal(7), None]), "number", [7, None]),
        (pl.Series([True, None]), "boolean", [True, None]),
        (pl.Series([date(2020, 1, 1)]), "date", [datetime(2020, 1, 1)]),
        (pl.Series([NOON]).dt.replace_time_zone("Asia/Tokyo"), "date", [datetime(2020, 1, 1, 3)]),
        (pl.Series([timedelta(seconds=2)]), "number", [2_000_000]),
        (pl.Series([time(0, 0, 1)]), "number", [1_000_000]),
        (pl.Series(["a", "b"], dtype=pl.Categorical), "category", ["a", "b"]),
        (pl.Series(["a", "b"], dtype=pl.Enum(["b", "a"])), "ordered", ["a", "b"]),
        (pl.Series([b"\x00\xff"]), "category", ["00ff"]),
        (pl.Series([None, None]), "category", [None, None]),
        (pl.Series([None, float("nan")]), "category", [None, None]),
    ],
)
def test_types_tell_the_kind(series: pl.Series, kind: str, values: list[Any]) -> None:
    settled = settle(series.alias("x"))
    assert (settled.kind, settled.values.to_list()) == (kind, values)


def test_long_texts_that_differ_are_text() -> None:
    letters = [f"Dear all, this is my opinion number {at}" for at in range(10)]
    assert settle(text(*letters)).kind == "text"
    assert "as categories are" in settle(text(*letters)).reason
    assert settle(text(*letters[:2] * 5)).kind == "category"


@pytest.mark.parametrize("name", ["zip", "ZipCode", "home_postcode", "FIPS"])
def test_whole_numbers_with_the_name_of_a_code_are_categories(name: str) -> None:
    assert settle(pl.Series(name, [12345, 99999])).kind == "category"
    assert settle(text("12345", "99999", name=name)).values.to_list() == ["12345", "99999"]
    assert settle(pl.Series("zipper", [12345, 99999])).kind == "number"


def test_more_texts_can_stand_for_missing_values() -> None:
    settled = settle(text("1", "top", "gone", ""), markers={"top": "missing", "gone": "own code"})
    assert (settled.kind, settled.values.to_list()) == ("number", [1, None, None, None])
    levels = pl.Series("x", ["a", "?"], dtype=pl.Enum(["a", "?"]))
    assert settle(levels, markers={"?": "missing"}).values.to_list() == ["a", None]
    assert settle(levels).values.to_list() == ["a", "?"]


@pytest.mark.parametrize(
    "cells", [[1.5, None, float("inf"), float("-inf")], ["1.5", "", "inf", "-Infinity"], ["2", "", "1e999", "-1e999"]]
)
def test_infinite_values_are_refused_with_their_place(cells: list[Any]) -> None:
    message = refusal(lambda: settle(pl.Series("income", cells), table="original"))
    assert "'income' of the original" in message
    assert "2 infinite ones, the first in row 3" in message


@pytest.mark.parametrize(
    ("series", "told", "values"),
    [
        (text("007", "12"), "number", [7, 12]),
        (text("1", "2.5"), "number", [1.0, 2.5]),
        (pl.Series("x", [True, False, None]), "number", [1, 0, None]),
        (pl.Series("x", ["2", "1"], dtype=pl.Enum(["2", "1"])), "number", [2, 1]),
        (pl.Series("x", [1, None]), "category", ["1", None]),
        (pl.Series("x", [1.0, 2.5]), "category", ["1", "2.5"]),
        (pl.Series("x", [1.0, 2.5]), "text", ["1", "2.5"]),
        (pl.Series("x", [1, 0, None]), "boolean", [True, False, None]),
        (text("Yes", "n", "T", "0"), "boolean", [True, False, True, False]),
        (text("2020-01-01"), "date", [datetime(2020, 1, 1)]),
        (text("10", "9"), "ordered", [10, 9]),
        (pl.Series("x", [True, False]), "ordered", [1, 0]),
        (text("mid", None, "low"), ["low", "mid"], ["mid", None, "low"]),
        (pl.Series("x", [2.0, 1.0]), ["2", "1"], ["2", "1"]),
    ],
)
def test_a_kind_that_is_told_is_taken(series: pl.Series, told: Any, values: list[Any]) -> None:
    settled = settle(series, declared=told)
    assert settled.kind == (told if isinstance(told, str) else "ordered")
    assert settled.values.to_list() == values
    assert settled.reason == "as given"


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ("number", "hold numbers"),
        ("boolean", "true or false"),
        ("date", "dates such as 2024-12-31"),
        (["low", "mid"], "its declared levels"),
    ],
)
def test_cells_that_do_not_fit_the_told_kind_are_refused_with_their_place(told: Any, words: str) -> None:
    good = {"number": "1", "boolean": "1", "date": "2020-01-01"}.get(told if isinstance(told, str) else "", "low")
    message = refusal(lambda: settle(text(good, None, MARKER, MARKER), declared=told, table="released"))
    assert words in message
    assert "'x' of the released" in message
    assert "2 cells do not fit, the first in row 3" in message


def test_what_is_told_wrongly_is_said() -> None:
    assert "Use one of: number, category" in refusal(lambda: settle(text("a"), declared="nominal"))
    assert "kinds={'x': ['…', '…']}" in refusal(lambda: settle(text(MARKER), declared="ordered"))
    assert "different words" in refusal(lambda: settle(text("a"), declared=["a", "a"]))
    assert "different words" in refusal(lambda: settle(text("a"), declared=[]))


@pytest.mark.parametrize(
    ("series", "role", "reason"),
    [
        (pl.Series("person_id", [4, 9, 2]), "identifier", "the name suggests it"),
        (pl.Series("PatientID", [4, 9, 2]), "identifier", "the name suggests it"),
        (text("a@b", None, "c@d", name="E-Mail"), "identifier", "the name suggests it"),
        (text("Ann", "Ann", name="name"), "known", "may know"),
        (pl.Series("id", [0.5, 1.5]), "known", "may know"),
        (pl.Series("age", [30, 31, 29]), "known", "may know"),
        (pl.Series("idea", [1, 2]), "known", "may know"),
        (pl.Series("x", range(5, 105)), "identifier", "counts the rows"),
        (pl.Series("x", range(10)), "known", "may know"),
        (pl.Series("income", [1000 + at * at for at in range(100)]), "known", "may know"),
        (pl.Series("x", [10**9 + at * at for at in range(100)]), "identifier", "digits"),
        (text(*(str(uuid.UUID(int=at)) for at in range(30)), name="x"), "identifier", "a different value"),
        (text(*(f"w{at}" for at in range(30)), None, name="x"), "known", "may know"),
        (text(*(f"w{at % 29}" for at in range(30)), name="x"), "known", "may know"),
        (text(None, None, name="id"), "known", "may know"),
        (pl.Series("born", pd.date_range("1950-01-01", periods=50)), "known", "may know"),
    ],
)
def test_roles_are_guessed_with_a_reason(series: pl.Series, role: str, reason: str) -> None:
    settled = settle(series)
    found, why = guess_role(settled.values, settled.kind)
    assert found == role
    assert reason in why
