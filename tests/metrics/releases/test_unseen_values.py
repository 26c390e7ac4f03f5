from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.metrics import unseen_values
from unveil.metrics.releases.unseen_values import UnseenValues


def unseen(original: Sequence[Any], released: Sequence[Any], kind: str) -> UnseenValues:
    one, other = (
        Table.from_frame(pl.DataFrame({"x": cells}), name=name, kinds={"x": kind})
        for cells, name in ((original, "original"), (released, "released"))
    )
    return unseen_values(Release(one, other), columns=["x"])[0]


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=30),
    st.lists(st.none() | st.integers(0, 12), min_size=1, max_size=30),
)
def test_shares_are_those_of_a_loop_over_rows(original: list[int], released: list[int | None]) -> None:
    words = unseen(
        [str(cell) for cell in original], [None if cell is None else str(cell) for cell in released], "category"
    )
    assert words.unseen == sum(cell is not None and cell not in original for cell in released)
    assert words.share == words.unseen / len(released)
    numbers = unseen(list(original), list(released), "number")
    assert numbers.unseen == sum(cell is not None and not min(original) <= cell <= max(original) for cell in released)
    assert numbers.rows == len(released) - released.count(None)


@pytest.mark.parametrize(
    ("odd", "severity"), [(0, "note"), (4, "note"), (5, "warning"), (49, "warning"), (50, "headline")]
)
def test_how_loudly_it_is_said(odd: int, severity: str) -> None:
    found = unseen(["a"] * 60 + ["b"] * 40, ["a"] * (100 - odd) + ["new"] * odd, "category")
    assert (found.share, found.severity) == (odd / 100, severity)


@pytest.mark.parametrize("factor", [12, 1 / 12, 1000, 100, 7, 365.25, 2.54, 0.4536, 1 / 0.4536])
def test_another_unit_is_recognized(factor: float) -> None:
    pay = np.random.default_rng(1).lognormal(3, 1, 500)
    found = unseen(list(pay), list(pay * factor * 1.01), "number")
    assert found.factor == pytest.approx(factor)
    assert unseen(list(pay), list(pay * factor * 1.05), "number").factor is None
    assert unseen(list(pay), list(pay), "number").factor is None
    assert unseen([0, 0, 0, 0, 5], [0, 0, 0, 0, 60], "number").factor is None
    # Of an income in months nothing lies outside the range of yearly ones, and many have none.
    some = np.concatenate([np.zeros(200), pay])
    inside = unseen(list(some), list(some / 12), "number")
    assert (inside.unseen, inside.severity) == (0, "headline")
    assert inside.factor == pytest.approx(1 / 12)


def test_a_median_outside_is_loud_even_where_few_values_are() -> None:
    found = unseen([*range(1000)], [*[995] * 900, *range(100)], "number")
    assert (found.unseen, found.is_median_outside, found.severity) == (0, True, "headline")


def test_labels_renamed_one_to_one_are_recognized() -> None:
    town = ["Ulm"] * 50 + ["Bonn"] * 30 + ["Kiel"] * 20
    renamed = ["a"] * 28 + ["b"] * 52 + ["c"] * 20
    assert unseen(town, renamed, "category").is_renamed
    assert not unseen(town, ["a"] * 60 + ["b"] * 20 + ["c"] * 20, "category").is_renamed
    assert not unseen(town, ["a"] * 50 + ["b"] * 50, "category").is_renamed
    assert not unseen(town, [*renamed[:-1], "Ulm"], "category").is_renamed


def test_case_and_blanks_and_spellings_of_a_number_are_no_new_labels() -> None:
    original = Table.from_frame(pl.DataFrame({"town": ["Ulm", "Bonn", "Kiel"] * 9, "zip": ["01", "02", "13"] * 9}))
    released = Table.from_frame(pl.DataFrame({"town": ["ULM ", " bonn", "Kiel"] * 9, "zip": [1, 2, 13] * 9}))
    release = Release(original, released)
    assert [each.unseen for each in unseen_values(release)] == [0, 0]
    assert release.released.frame.equals(original.frame)


def test_cells_of_another_kind_are_values_that_never_occur() -> None:
    original = Table.from_frame(pl.DataFrame({"age": range(100)}))
    released = Table.from_frame(pl.DataFrame({"age": [*map(str, range(90)), *["old man"] * 10]}))
    found = unseen_values(Release(original, released), columns=["age"])[0]
    assert (found.unseen, found.rows, found.severity) == (10, 90, "warning")


def test_a_coarse_cell_is_unseen_if_nobody_is_inside() -> None:
    original = Table.from_frame({"age": [31, 38, 44] * 10, "town": ["Ulm", "Bonn", "Jena"] * 10}, name="original")
    released = Table.from_frame(
        {"age": ["30-39"] * 24 + ["50-59"] * 3 + ["*"] * 3, "town": ["{Ulm,Bonn}"] * 15 + ["Jena"] * 14 + ["Kiel"]},
        name="released",
    )
    found = unseen_values(Release(original, released, kind="masked"))
    assert [(each.column, each.unseen, each.severity) for each in found] == [("age", 3, "warning"), ("town", 1, "note")]


def test_ranges_and_sets_are_values_of_the_original() -> None:
    ages = [20 + number % 60 for number in range(240)]
    bands = [f"{age // 10 * 10}-{age // 10 * 10 + 9}" for age in ages]

    def age(shown: list[str]) -> UnseenValues:
        one, other = (Table.from_frame({"x": cells}, name="table") for cells in (ages, shown))
        return unseen_values(Release(one, other))[0]

    for text, rows, seen in (("*", 216, (0, "note")), ("90+", 240, (24, "warning")), ("old", 240, (24, "warning"))):
        found = age([band if number % 10 else text for number, band in enumerate(bands)])
        assert (found.rows, (found.unseen, found.severity)) == (rows, seen)
    # In months no band holds an age.
    months = age([f"{age // 10 * 120}-{age // 10 * 120 + 119}" for age in ages])
    assert (months.share, months.severity, months.is_median_outside) == (1.0, "headline", True)
    one, other = (Table.from_frame({"x": cells}) for cells in (["Ulm", "Bonn"] * 9, ["{Ulm,Bonn}", "*", "Paris"] * 6))
    assert unseen_values(Release(one, other))[0].unseen == 6


def test_numbers_between_those_of_people_are_possible_beside_stars_too() -> None:
    original = Table.from_frame({"pay": [1000 + 7 * number for number in range(60)]}, name="original")
    shown = ["*" if number % 10 == 0 else str(1003 + 7 * number) for number in range(59)]
    (found,) = unseen_values(Release(original, Table.from_frame({"pay": shown}, name="released"), kind="masked"))
    assert (found.rows, found.unseen, found.severity) == (53, 0, "note")
