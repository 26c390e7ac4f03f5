"""Cells are read as sets of the values that people have: every spelling, any text, and never anybody less for width."""

from datetime import datetime
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.data.refusals import MARKER, refusal
from unveil.data.table import Hierarchy, Table, agree
from unveil.data.table._cell_texts import folded, intervals_in, number_in
from unveil.data.table.cells import NOBODY
from unveil.data.table.release import Release
from unveil.data.table.words import LISTED

SUPPRESSED = sorted(word for word, (kind, _) in LISTED.items() if kind == "suppressed")
AGES = [5, 19, 20, 25, 29, 30, 38, 44, 70, 75, 80]
TOWNS = ["Bonn", "Köln", "Ulm", "ulm", "a/b"]


def made(name: str, /, **columns: Any) -> Table:
    return Table.from_frame(pl.DataFrame(columns), name=name)


def held(people: list[Any], cells: list[Any], *, masked: bool = False, **told: Any) -> list[list[Any]]:
    """Return the values of people that each released cell holds; a missing one stands at the end."""
    original = Table.from_frame(pl.DataFrame({"x": people}), name="original", kinds=told.pop("kinds", None))
    original = original.with_readings(**told)
    tables = agree(original, made("released", x=cells), masked=masked)
    found = (tables[1].cells or {}).get("x")
    if found is None:
        return [[cell] for cell in tables[1].frame["x"].to_list()]
    values = [*found.values.to_list(), None]
    inside = found.compatible(np.array([*range(len(values) - 1), -1]))
    return [[value for value, fits in zip(values, inside[:, cell], strict=True) if fits] for cell in found.of_row]


def between(low: float, high: float) -> list[int]:
    return [age for age in AGES if low <= age <= high]


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("[20,30)", 20, 29), ("(19,29]", 20, 29), ("[20;30]", 20, 30), ("]19,30[", 20, 29), ("[20 - 30)", 20, 29),
        ("[70, inf)", 70, 99), ("(-∞, 20)", 0, 19), ("[70,)", 70, 99), ("[19.5;29.5)", 20, 29), ("[19,5;29,5]", 20, 29),
        ("20-29", 20, 29), ("20–29", 20, 29), ("20—29", 20, 29), ("20 to 29", 20, 29), ("20..29", 20, 29),
        ("20 bis 29", 20, 29), ("$20 - $29", 20, 29), ("20-29 years", 20, 29), ("20 %-29 %", 20, 29), ("00-29", 0, 29),
        ("-5-29", 0, 29), ("<20", 0, 19), ("≤20", 0, 20), ("under 20", 0, 19), ("less than 20", 0, 19),
        ("up to 20", 0, 20), ("75+", 75, 99), ("75+ years", 75, 99), (">=75", 75, 99), (">75", 76, 99),
        ("over 75", 76, 99), ("75 and over", 75, 99), ("75 or more", 75, 99), ("75 plus", 75, 99), ("ab 75", 75, 99),
        ("75 OR OLDER", 75, 99), ("2*", 20, 29), ("3*", 30, 39), ("{20,25, 30}", 20, 30), ("25", 25, 25),
        (" 25.0 ", 25, 25), ("025", 25, 25), ("*", 0, 99), ("*****", 0, 99),
    ],
)  # fmt: skip
def test_spellings_of_numbers(text: str, low: int, high: int) -> None:
    everybody = [None] if text.startswith("*") else []
    assert held(AGES, ["40-50", text, "44"])[1] == between(low, high) + everybody


@pytest.mark.parametrize(
    "text", ["old", "25-00503", "30-20", "(29,30)", "[1,2,3]", "3k", "1,2,3", "[45", "max", "٣٠", "6*6", "{x,y}", "INF"]
)
def test_what_is_no_number_holds_nobody(text: str) -> None:
    assert held(AGES, ["40-50", text, "44"])[1] == []


def test_bounds_of_brackets_keep_their_comma_and_thousands_lose_theirs() -> None:
    pay = [45, 99, 1_000, 45_100]
    assert held(pay, ["[45,100)", "45,100", "1,000-45,100"]) == [[45, 99], [45_100], [1_000, 45_100]]


def test_bands_that_touch_are_half_open_unless_others_overlap() -> None:
    assert held(AGES, ["20-30", "30-70", "70-80"]) == [between(20, 29), between(30, 69), between(70, 80)]
    assert held(AGES, ["20-30", "30-70", "25-44"]) == [between(20, 30), between(30, 70), between(25, 44)]


def test_words_are_compared_without_case_and_lists_hold_each() -> None:
    cells = ["BONN", "ULM", "{Bonn,Köln}", "Bonn|Köln", "bonn / köln", "Bonn or Köln", "Bonn;Köln", "a/b", "Ulm", "x|y"]
    both = ["Bonn", "Köln"]
    expected = [["Bonn"], ["Ulm", "ulm"], both, both, both, both, both, ["a/b"], ["Ulm"], []]
    assert held(TOWNS, cells) == expected
    # Braces and the bar of unveil's own masks say that it is a list, whoever lives there.
    assert held(TOWNS, ["Bonn | Kiel", "{Kiel,Bonn}", "Bonn/Kiel", "*"])[:3] == [["Bonn"], ["Bonn"], []]


def test_hidden_digits() -> None:
    codes = ["02138", "02139", "02215", "10001"]
    assert held(codes, ["021**", "02***", "021xx", "0*13*", "1*", "3*"]) == [
        codes[:2], codes[:3], codes[:2], codes[:2], codes[3:], []
    ]  # fmt: skip
    # One x is a slip of the pen.
    assert held(codes, ["*", "0213x"])[1] == []


def test_dates_and_levels() -> None:
    days = [datetime(2020, 1, 31), datetime(2020, 5, 17), datetime(2021, 2, 28)]
    cells = [
        "2020",
        "2020-05",
        "[2020-01-31, 2020-05-17)",
        "2020-05-17",
        ">2020",
        "2020-05-17 to 2021-02-28",
        "2020-13",
    ]
    assert held(days, cells) == [days[:2], days[1:2], days[:1], days[1:2], days[2:], days[1:], []]
    levels = pl.Series(["low", "mid", "high", "top"], dtype=pl.Enum(["low", "mid", "high", "top"]))
    assert held(levels.to_list(), ["low-mid", "MID", ">= high", "*", "{low,high}"], kinds={"x": levels.to_list()}) == [
        ["low", "mid"], ["mid"], ["high", "top"], [*levels, None], ["low", "mid", "high"],
    ]  # fmt: skip
    assert held([True, False], ["yes", "*", "{true,false}"]) == [[True], [False, True, None], [False, True]]


def test_ends_of_real_numbers_may_be_left_out() -> None:
    real = [0.1, 1 / 3, 2 / 3, 0.7000000000000001]
    assert held(real, [f"[0.1,{2 / 3!r})", f"({1 / 3!r},1]", "0.1"]) == [real[:2], real[2:], real[:1]]


def test_empty_cells_are_suppressed_where_the_original_has_none() -> None:
    everybody = [*AGES, None]
    assert held(AGES, ["20-29", None])[1] == everybody
    assert held([*AGES, None], ["20-29", None])[1] == [None]
    # Without any other sign only who says that the release is masked can mean that.
    assert held(AGES, [25, None]) == [[25], [None]]
    assert held(AGES, [25, None], masked=True)[1] == everybody
    assert held(TOWNS, ["Bonn", None], masked=True)[1] == [*sorted(TOWNS), None]


def test_hierarchies() -> None:
    jobs = Hierarchy((("nurse", "Health", "all"), ("doctor", "Health", "all"), ("cook", "Kitchen", "all")))
    assert held(["nurse", "doctor", "cook"], ["health", "all", "COOK", "*", "Kitchen"], hierarchies={"x": jobs}) == [
        ["doctor", "nurse"], ["cook", "doctor", "nurse"], ["cook"], ["cook", "doctor", "nurse", None], ["cook"],
    ]  # fmt: skip
    ages = Hierarchy(tuple((str(age), "young" if age < 30 else "old") for age in AGES))
    assert held(AGES, ["young", "old", "44"], hierarchies={"x": ages}) == [between(0, 29), between(30, 99), [44]]


ROUNDED = {
    "rounded down in steps of 10": lambda age: age // 10 * 10,
    "rounded in steps of 10": lambda age: age // 10 * 10 + 4.5,
    "rounded up in steps of 5": lambda age: -(-age // 5) * 5,
    "rounded to even in steps of 10": lambda age: round(age / 10) * 10,
    "the greatest value meaning that or more": lambda age: min(age, 65),
    "the least value meaning that or less": lambda age: max(age, 30),
}


@pytest.mark.parametrize("said", ROUNDED)
def test_rounding_and_cut_ends_are_recognized_in_masked_releases(said: str) -> None:
    ages = np.random.default_rng(1).integers(20, 80, 900)
    shown = [ROUNDED[said](int(age)) for age in ages]
    original, released, control = made("original", x=ages), made("released", x=shown), made("control", x=[3, 99])
    release = Release(original, released, control, kind="masked")
    (note,) = release.notes
    assert said in note
    assert "declare it as exact" in note
    cells = (release.released.cells or {})["x"]
    assert cells.compatible(cells.places(release.original.held("x")))[np.arange(900), cells.of_row].all()
    # The reading does not hang on the control, and is not made where nobody says that rows come from people.
    assert Release(original, released, kind="masked").notes == release.notes
    for other in (Release(original, released), Release(original.with_readings(exact=["x"]), released, kind="masked")):
        assert other.released.coarse() == ()


def test_plain_numbers_are_not_taken_for_rounded() -> None:
    rng = np.random.default_rng(2)
    ages = rng.integers(20, 80, 900)
    for shown in (rng.permutation(ages), ages + rng.integers(-3, 4, 900), ages[:300], rng.normal(50, 9, 900)):
        assert Release(made("original", x=ages), made("released", x=shown), kind="masked").released.coarse() == ()
    # Nor what has one value, or a few rows at the end by chance.
    few = np.append(rng.integers(20, 78, 896), [78] * 4)
    for people, shown in ((ages, np.full(900, 79)), (np.append(few[:898], [79, 80]), few)):
        assert Release(made("original", x=people), made("released", x=shown), kind="masked").released.coarse() == ()
    # Nor is what nobody attacks looked at, such as weights.
    weights = Table.from_frame(pl.DataFrame({"x": ages}), roles={"x": "ignored"})
    assert Release(weights, made("released", x=ages // 10 * 10), kind="masked").released.coarse() == ()


def test_most_cells_must_be_read() -> None:
    original = made("original", age=AGES)
    assert "61 % of the cells of the released are no such values, ranges or stars" in refusal(
        lambda: agree(original, made("released", age=["20-29"] * 39 + [MARKER] * 61))
    )
    released = agree(original, made("released", age=["20-29"] * 60 + [MARKER] * 40))[1]
    assert released.notes[0].startswith("Warning: 40 of 100 cells of 'age' in the released are not numbers")
    few = agree(original, made("released", age=["20-29"] * 99 + [MARKER]))[1]
    assert few.notes == (
        "1 of 100 cells of 'age' in the released are not numbers as in the original: they match no person",
    )
    assert MARKER not in released.notes[0] + few.notes[0]


def test_exact_cells_in_other_words_leave_a_plain_table() -> None:
    original = made("original", age=[31, 38], town=["Ulm", "Bonn"])
    plain = agree(original, made("released", age=[31, 38], town=["Ulm", "Bonn"]))[1]
    for ages, towns in ((["[31,31]", "38.0"], ["{Ulm}", "bonn"]), (["31-31", " 38"], ["ULM", "Bonn "])):
        other = agree(original, made("released", age=ages, town=towns))[1]
        assert other.cells == plain.cells == {}
        assert other.frame.equals(plain.frame)


def test_cells_stay_with_their_rows() -> None:
    table = agree(made("original", x=AGES, y=AGES), made("released", x=["20-29", "*", "44"], y=[5, 5, 19]))[1]
    assert table.cells is not None
    assert set(table.cells) == {"x", "y"}
    assert table.coarse() == ("x",)
    taken = table.take([2, 0]).select(["x"])
    assert taken.cells is not None
    assert taken.cells["x"].of_row.tolist() == table.cells["x"].of_row[[2, 0]].tolist()
    assert agree(made("original", x=[1]), taken)[1].cells == taken.cells
    assert table.single_values().frame.rows() == [(None, 5), (None, 5), (44, 19)]


texts = st.one_of(
    st.text(max_size=12),
    st.text(alphabet="0123456789-–.,;*[]()<>≤+{}|/ xabei$%∞", max_size=12),
    st.sampled_from(SUPPRESSED).map(str.upper),
)


@pytest.mark.unwatched
@settings(deadline=None, max_examples=40)
@given(st.lists(texts, min_size=250, max_size=250))
def test_any_text_is_read(cells: list[str]) -> None:
    for people in (AGES, TOWNS, [0.5, 1 / 3], [datetime(2020, 1, 1)], [True, False]):
        # Half of them are plain stars, so that no column is refused.
        found = held(people, ["*"] * len(cells) + cells)
        assert all(len(values) == len(set(people)) + 1 for values in found[: len(cells)])


def test_all_words_for_suppressed_are_known_in_any_case() -> None:
    for word in SUPPRESSED:
        assert held(AGES, ["20-29", word.upper(), word])[1:] == [[*AGES, None]] * 2


@settings(deadline=None, max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 20), st.integers(0, 5), st.integers(0, 5)), min_size=1))
def test_a_wider_cell_loses_nobody(bands: list[tuple[int, int, int, int]]) -> None:
    narrow = held(AGES, ["*", *(f"[{low}, {low + width}]" for low, width, _, _ in bands)])
    wide = held(AGES, ["*", *(f"[{low - less}, {low + width + more}]" for low, width, less, more in bands)])
    assert all(set(one) <= set(other) for one, other in zip(narrow, wide, strict=True))


def test_shares_are_those_of_all_people_and_never_less_than_half_a_person() -> None:
    tables = agree(
        made("original", x=[1, 2, 3]), made("released", x=["1-2", "*", "9+", "2"]), made("control", x=[2, 9])
    )
    cells = (tables[1].cells or {})["x"]
    assert cells.share[cells.of_row].tolist() == [3 / 5, 1, 1 / 5, 2 / 5]
    alone = agree(made("original", x=[1, 2, 3]), made("released", x=["1-2", "9+"]))[1].cells or {}
    assert alone["x"].share[alone["x"].of_row].tolist() == [2 / 3, 0.5 / 3]


def test_unknown_words_stay_apart() -> None:
    cells = (
        agree(made("original", x=TOWNS), made("released", x=["Bonn|Köln", "Kiel", "Jena", "Kiel"]))[1].cells or {}
    )["x"]
    assert cells.of_row[1] == cells.of_row[3] != cells.of_row[2]
    assert (cells.state[cells.of_row[1:]] == NOBODY).all()


def test_parts_of_texts() -> None:
    assert number_in(folded("1 234,5 kg")) is not None
    assert list(intervals_in("to", lambda *_: False)) == []


def test_people_are_found_among_the_values_where_a_control_has_decimals() -> None:
    released, control = made("released", x=["[5, 29]", "[30, 80]"] * 6), made("control", x=[19.5, *AGES])
    release = Release(made("original", x=AGES), released, control, kind="masked")
    cells = (release.released.cells or {})["x"]
    for table, values in ((release.original, AGES), (release.control, [19.5, *AGES])):
        assert table is not None
        assert cells.values.gather(cells.places(table.held("x"))).to_list() == values
