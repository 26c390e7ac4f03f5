"""Columns that tell people with several rows apart, and columns that only look so."""

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from unveil.data.table import Table
from unveil.data.table.repeated_people import repeated_people

PEOPLE, WAVES = 60, 4


def panel(*, traits: bool = True, time: bool = True) -> pl.DataFrame:
    """Return people who are seen several times: some columns stay, others change."""
    rng = np.random.default_rng(1)
    person = np.repeat(np.arange(PEOPLE), WAVES)
    columns = {
        "nr": 100 + 7 * person,
        "sex": rng.choice(["f", "m"], PEOPLE)[person],
        "school": rng.integers(8, 18, PEOPLE)[person],
        "year": np.tile(np.arange(2001, 2001 + WAVES), PEOPLE),
        "job": rng.choice(list("abcdef"), person.size),
        "pay": rng.integers(900, 4000, person.size),
    }
    left_out = ([] if traits else ["sex"]) + ([] if time else ["year"])
    return pl.DataFrame(columns).drop(left_out)


@pytest.mark.parametrize(("traits", "time"), [(True, True), (True, False), (False, True)])
def test_a_panel_is_seen_by_what_people_keep_and_by_points_in_time(traits: bool, time: bool) -> None:
    frame = panel(traits=traits, time=time).sample(fraction=1.0, shuffle=True, seed=2)
    found = repeated_people(Table.from_frame(frame))
    assert found is not None
    assert (found.column, found.people, found.rows) == ("nr", PEOPLE, PEOPLE * WAVES)
    assert found.time == ("year" if time else "")
    assert set(found.constant) == {"school", "sex"} & set(frame.columns)
    assert repeated_people(Table.from_frame(frame), ignore=["nr"]) is None


def test_a_column_may_change_for_a_few_people() -> None:
    frame = panel().with_columns(school=pl.when(pl.int_range(pl.len()) < 2).then(99).otherwise("school"))
    found = repeated_people(Table.from_frame(frame))
    assert found is not None
    assert found.constant == ("sex", "school")


def households() -> pl.DataFrame:
    """Return people in households, which share region and tenure, and number their members."""
    rng = np.random.default_rng(3)
    house = np.repeat(np.arange(100), rng.integers(1, 6, 100))
    number = np.concatenate([np.arange(size) for size in np.bincount(house)])
    return pl.DataFrame(
        {
            "household": house,
            "member": number + 1,
            "region": rng.choice(list("nesw"), 100)[house],
            "tenure": rng.choice(["own", "rent"], 100)[house],
            "sex": rng.choice(["f", "m"], house.size),
            "age": rng.integers(0, 90, house.size),
        }
    )


def codes() -> pl.DataFrame:
    """Return people with codes of places: each lies in one county and one state."""
    rng = np.random.default_rng(4)
    place = rng.integers(0, 80, 500)
    return pl.DataFrame(
        {
            "zip": 10_000 + place,
            "county": [f"c{each // 4}" for each in place],
            "state": [f"s{each // 20}" for each in place],
            "sex": rng.choice(["f", "m"], 500),
            "year": rng.choice([2001, 2002, 2003], 500),
        }
    )


def weighted() -> pl.DataFrame:
    """Return a stratified sample: people of one stratum share a weight, sex and region."""
    rng = np.random.default_rng(5)
    stratum = rng.integers(0, 40, 400)
    sex, region = stratum % 2, rng.choice(list("nesw"), 40)[stratum]
    return pl.DataFrame({"weight": 500 + 3 * stratum, "sex": np.where(sex, "f", "m"), "region": region})


def years() -> pl.DataFrame:
    """Return a series: each month of each year once."""
    rng = np.random.default_rng(6)
    when = np.arange(480)
    return pl.DataFrame({"year": 1980 + when // 12, "month": 1 + when % 12, "deaths": rng.integers(0, 9, 480)})


def names() -> pl.DataFrame:
    """Return people with first names, from which sex and ethnicity follow."""
    rng = np.random.default_rng(7)
    name = rng.integers(0, 30, 300)
    return pl.DataFrame(
        {
            "calling": [f"name{each}" for each in name],
            "sex": np.where(name % 2, "f", "m"),
            "ethnicity": rng.choice(list("abc"), 30)[name],
            "pay": rng.integers(0, 5000, 300),
        }
    )


@pytest.mark.parametrize("table", [households, codes, weighted, years, names])
def test_groups_of_people_are_no_people(table: Callable[[], pl.DataFrame]) -> None:
    assert repeated_people(Table.from_frame(table())) is None


def test_few_values_and_values_of_one_row_each_tell_nobody_apart() -> None:
    few = panel().filter(pl.col("nr") < 100 + 7 * 19)
    assert repeated_people(Table.from_frame(few)) is None
    once = panel().filter(pl.col("year") == 2001)
    assert repeated_people(Table.from_frame(once)) is None
