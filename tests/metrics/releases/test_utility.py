"""Utility: distances of columns and pairs as their definitions say, and what a release that keeps or loses all gets."""

import math
from dataclasses import astuple
from datetime import date, datetime, timedelta
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import utility as oracle
from tests.oracles.records import Rows, exact, rows_of_people, table
from unveil.data.samples import audit_sample
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.errors import InputError
from unveil.metrics.releases.utility import column_distances, loss_summary, pair_distances


def close(found: float, expected: float | Fraction | None) -> bool:
    number = math.nan if expected is None else float(expected)
    return found == pytest.approx(number, rel=1e-9, abs=1e-9, nan_ok=True)


def release_of(original: Any, released: Any, **told: Any) -> Release:
    first, second = (Table.from_frame(pl.DataFrame(cells), **told) for cells in (original, released))
    return Release(first, second)


def seeded(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def cells(rows: Rows, place: int) -> list[Any]:
    return [exact(row[place]) if isinstance(row[place], (int, float)) else row[place] for row in rows]


@given(rows_of_people, rows_of_people)
def test_columns_are_as_far_apart_as_the_definitions_say(original: Rows, released: Rows) -> None:
    found = column_distances(Release(table(original), table(released)))
    assert [column.name for column in found] == ["age", "height", "town"]
    town = oracle.total_variation(cells(original, 2), cells(released, 2))
    assert close(found[2].total_variation, town)
    assert close(found[2].distance, town)
    assert math.isnan(found[2].kolmogorov_smirnov)
    for place, column in enumerate(found[:2]):
        both = [cells(rows, place) for rows in (original, released)]
        before, after = ([cell for cell in side if cell is not None] for side in both)
        gaps = [Fraction(side.count(None), len(side)) for side in both]
        assert close(column.missing_original, gaps[0])
        assert close(column.missing_released, gaps[1])
        if not before or not after:
            assert math.isnan(column.kolmogorov_smirnov)
            assert close(column.distance, abs(gaps[0] - gaps[1]))
            continue
        apart = oracle.kolmogorov_smirnov(before, after)
        assert close(column.kolmogorov_smirnov, apart)
        assert close(column.distance, max(apart, abs(gaps[0] - gaps[1])))
        assert close(column.wasserstein, oracle.wasserstein(before, after))
        unit = Fraction(oracle.deviation(before))
        assert close(column.mean_change, oracle.in_units(oracle.mean(after) - oracle.mean(before), unit))
        spread = Fraction(oracle.deviation(after)) - unit
        assert close(column.deviation_change, oracle.in_units(spread, unit))


@given(rows_of_people, rows_of_people)
def test_pairs_are_associated_as_the_definitions_say(original: Rows, released: Rows) -> None:
    numbers, first, second = pair_distances(Release(table(original), table(released)))
    assert [(each.first, each.second) for each in (numbers, first, second)] == [
        ("age", "height"),
        ("age", "town"),
        ("height", "town"),
    ]
    assert [each.measure for each in (numbers, first, second)] == ["Pearson", *["correlation ratio"] * 2]
    for side, rows in (("original", original), ("released", released)):
        known = [(exact(row[0]), exact(row[1])) for row in rows if row[0] is not None and row[1] is not None]
        x, y = [each[0] for each in known], [each[1] for each in known]
        assert close(getattr(numbers, side), oracle.pearson(x, y))
        assert close(getattr(numbers, f"rank_{side}"), oracle.pearson(oracle.mean_rank(x), oracle.mean_rank(y)))
        for place, pair in ((0, first), (1, second)):
            there = [(exact(row[place]), row[2]) for row in rows if row[place] is not None]
            # The root of what rounding leaves of 0 is larger than that.
            ratio = oracle.correlation_ratio([each[0] for each in there], [each[1] for each in there])
            assert getattr(pair, side) == pytest.approx(ratio, abs=1e-6, nan_ok=True)
    for pair in (numbers, first, second):
        check_change(pair.original, pair.released, pair.association_change)
    check_change(numbers.rank_original, numbers.rank_released, numbers.rank_change)


def check_change(before: float, after: float, change: float) -> None:
    if math.isnan(before) and math.isnan(after):
        assert math.isnan(change)
    else:
        assert change == abs(np.nan_to_num(before) - np.nan_to_num(after))


codes = st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["x", "y", None])), min_size=1, max_size=12)


@given(codes, codes)
def test_categories_are_associated_as_the_definition_says(original: list[Any], released: list[Any]) -> None:
    frames = [
        pl.DataFrame(rows, schema={"one": pl.String, "two": pl.String}, orient="row") for rows in (original, released)
    ]
    told = {"kinds": dict.fromkeys(("one", "two"), "category"), "roles": dict.fromkeys(("one", "two"), "known")}
    (pair,) = pair_distances(release_of(*frames, **told))
    assert pair.measure == "Cramér's V"
    for side, rows in (("original", original), ("released", released)):
        expected = oracle.cramers_v([row[0] for row in rows], [row[1] for row in rows])
        assert getattr(pair, side) == pytest.approx(expected, abs=1e-6, nan_ok=True)


def test_many_categories_are_counted_without_a_table_of_all_pairs() -> None:
    rng = seeded()
    one = [f"{number}" for number in rng.integers(0, 200, 450)]
    two = [f"{number}" for number in rng.integers(0, 200, 450)]
    told = {"kinds": {"one": "category", "two": "category"}, "roles": {"one": "known", "two": "known"}}
    (pair,) = pair_distances(release_of({"one": one, "two": two}, {"one": one, "two": one}, **told))
    assert pair.original == pytest.approx(oracle.cramers_v(one, two), abs=1e-9)
    # Chance association of so many categories is taken away; uncorrected it would be 0.66.
    assert pair.original < 0.15
    assert pair.released == pytest.approx(1.0)


def people(rng: np.random.Generator, rows: int) -> dict[str, list[Any]]:
    """Columns of every kind, each of which has to do with the first."""
    strength = rng.normal(size=rows)
    return {
        "weird 'name'\n\"$x$\"": (100 * strength).round().tolist(),
        "1 income €": [
            None if lot < 0.1 else value for lot, value in zip(rng.random(rows), strength.tolist(), strict=True)
        ],
        "town": np.where(strength > 0, "Ulm", np.where(rng.random(rows) < 0.5, "Bonn", "Köln")).tolist(),
        "smokes": (strength + rng.normal(size=rows) > 0).tolist(),
        "born": [date(1990, 1, 1) + timedelta(days=int(400 * value)) for value in strength],
        "school": ["low" if value < -1 else "middle" if value < 1 else "high" for value in strength],
        "constant": [7] * rows,
        "nothing": [None] * rows,
    }


TOLD = {"kinds": {"school": ["low", "middle", "high"], "town": "category"}}


def test_the_original_as_its_own_release_loses_nothing() -> None:
    cells = people(seeded(), 60)
    mixed = {key: values[::-1] for key, values in cells.items()}
    for released in (cells, mixed):
        release = release_of(cells, released, **TOLD)
        found = loss_summary(release, rng=seeded())
        assert [column.distance for column in found.columns] == [0.0] * 8
        for column in found.columns:
            figures = astuple(column)[4:8]
            assert all(figure == 0 or math.isnan(figure) for figure in figures), column.name
        assert all(pair.association_change == 0 or math.isnan(pair.association_change) for pair in found.pairs)
        assert found.propensity.pmse == pytest.approx(0, abs=1e-20)
        assert found.propensity.area == 0.5
        assert (found.loss, found.column_loss, found.association_loss, found.discrimination) == (0, 0, 0, 0)
        assert (found.rows_kept, found.cells_suppressed, found.pairs_total) == (1, 0, 28)


def test_columns_shuffled_apart_keep_their_distributions_and_lose_their_associations() -> None:
    rng = seeded()
    cells = people(rng, 2000)
    apart = {key: [values[place] for place in rng.permutation(2000)] for key, values in cells.items()}
    found = loss_summary(release_of(cells, apart, **TOLD), rng=seeded())
    assert found.column_loss == 0
    strong = [pair for pair in found.pairs if abs(pair.original) > 0.5]
    assert len(strong) >= 8
    assert all(abs(pair.released) < 0.1 for pair in strong)
    assert found.association_loss > 0.3
    # Products of columns let the model see that what belongs together was torn apart.
    assert found.propensity.area > 0.7
    assert found.loss == pytest.approx((found.association_loss + found.discrimination) / 3)


def test_a_shifted_column_is_shifted_by_what_it_is() -> None:
    ages = list(range(20, 70))
    known = {"roles": {"age": "known"}}
    (column,) = column_distances(release_of({"age": ages}, {"age": [age + 10 for age in ages]}, **known))
    assert column.kolmogorov_smirnov == pytest.approx(0.2)
    assert column.wasserstein == pytest.approx(10 / 49)
    assert column.mean_change == pytest.approx(10 / np.std(ages))
    assert column.deviation_change == pytest.approx(0, abs=1e-12)
    (column,) = column_distances(release_of({"age": ages}, {"age": [age + 1000 for age in ages]}, **known))
    assert column.distance == 1
    assert column.wasserstein == pytest.approx(1000 / 49)


def test_dates_and_levels_are_numbers_too() -> None:
    born = [datetime(2000, 1, 1) + timedelta(days=day) for day in range(5)]
    later = [moment + timedelta(days=1) for moment in born]
    (column,) = column_distances(release_of({"born": born}, {"born": later}))
    assert column.kind == "date"
    assert astuple(column)[3:6] == pytest.approx((math.nan, 0.2, 0.25), nan_ok=True)
    levels = {"kinds": {"school": ["low", "middle", "high"]}, "roles": {"school": "known"}}
    (column,) = column_distances(release_of({"school": ["low", "high"]}, {"school": ["middle", "high"]}, **levels))
    assert (column.kind, column.distance, column.wasserstein) == ("ordered", 0.5, 0.25)
    # Levels written as numbers count one step each, however far their numbers lie apart.
    steps = {"kinds": {"grade": "ordered"}, "roles": {"grade": "known"}}
    (column,) = column_distances(release_of({"grade": [1, 100]}, {"grade": [10, 100]}, **steps))
    assert column.wasserstein == 0.25


def test_what_is_lost_altogether_is_lost_and_not_undefined() -> None:
    cells = {"age": list(range(40)), "pay": list(range(0, 80, 2)), "town": ["Ulm", "Bonn"] * 20}
    gone = {"age": [None] * 40, "pay": [7] * 40, "town": ["Ulm"] * 40}
    told: dict[str, Any] = {"kinds": {"town": "category", "age": "number"}, "roles": dict.fromkeys(cells, "known")}
    found = loss_summary(release_of(cells, gone, **told), rng=seeded())
    distances = {column.name: column.distance for column in found.columns}
    assert distances["age"] == 1
    assert distances["town"] == 0.5
    assert distances["pay"] == pytest.approx(max(1 - 4 / 40, 4 / 40))
    changes = {(pair.first, pair.second): pair.association_change for pair in found.pairs}
    assert changes["age", "pay"] == pytest.approx(1)
    assert found.cells_suppressed == pytest.approx(1 / 3)
    assert found.propensity.area > 0.95
    back = loss_summary(release_of(gone, cells, **told), rng=seeded())
    assert back.cells_suppressed == pytest.approx(-1 / 3)
    pay = next(column for column in back.columns if column.name == "pay")
    assert math.isnan(pay.wasserstein)
    assert math.isnan(pay.mean_change)
    assert pay.distance > 0


def test_columns_that_were_left_out_count_as_lost() -> None:
    release = release_of({"age": [1, 2, 3]}, {"age": [1, 2, 3]})
    assert loss_summary(release, rng=seeded(), columns_left_out=3).column_loss == 0.75
    with pytest.raises(InputError, match="columns_left_out is -1; it must be 0 or more"):
        loss_summary(release, rng=seeded(), columns_left_out=-1)


def test_tables_of_one_row() -> None:
    found = loss_summary(release_of({"age": [30], "town": ["Ulm"]}, {"age": [31], "town": ["Ulm"]}), rng=seeded())
    assert [column.distance for column in found.columns] == [1, 0]
    assert math.isnan(found.columns[0].wasserstein)
    assert math.isnan(found.association_loss)
    assert math.isnan(found.propensity.area)
    assert "fewer than 10 rows" in found.propensity.why
    assert found.loss == found.column_loss == 0.5


def test_numbers_of_any_size() -> None:
    """The largest floats, long whole numbers, and an outlier so far away that nothing else is left of the range."""
    huge = [-1.7e308, 0.0, 1.7e308]
    (column,) = column_distances(release_of({"x": huge}, {"x": [-1.7e308, 0.0, 0.0]}, kinds={"x": "number"}))
    assert column.wasserstein == pytest.approx(1 / 6)
    long = [2**62 + step for step in range(4)]
    roles = {"roles": {"x": "known"}}
    (column,) = column_distances(release_of({"x": long}, {"x": [value + 1 for value in long]}, **roles))
    assert column.wasserstein == pytest.approx(1 / 3)
    (column,) = column_distances(release_of({"x": [1e-300, 2e-300]}, {"x": [1e-300, 1e300]}))
    assert column.distance == 0.5
    assert math.isfinite(column.deviation_change)
    wide = release_of({"x": [1e-30, 2e-30, 3e-30], "y": [1, 2, 4]}, {"x": [1e-30, 5e29, 1e30], "y": [1, 2, 4]})
    (pair,) = pair_distances(wide)
    assert (pair.original, pair.rank_released) == pytest.approx((27**0.5 / 28**0.5, 1))


@settings(max_examples=10)
@given(st.integers(0, 1000))
def test_the_order_of_rows_changes_nothing(seed: int) -> None:
    rng = seeded(seed)
    tables = [people(rng, rows) for rows in (70, 55)]
    shuffled = []
    for cells in tables:
        lot = rng.permutation(len(cells["town"]))
        shuffled.append({key: [values[place] for place in lot] for key, values in cells.items()})
    plain, mixed = (
        loss_summary(release_of(*each, **TOLD), rng=seeded(), most_pairs=9, most_rows=30) for each in (tables, shuffled)
    )
    assert repr(plain) == repr(mixed)


def test_of_many_pairs_some_are_drawn() -> None:
    rng = seeded()
    cells = {f"c{place}": rng.normal(size=30).tolist() for place in range(30)}
    release = release_of(cells, cells)
    assert len(pair_distances(release)) == 435
    drawn = pair_distances(release, most_pairs=20, rng=seeded())
    assert len({(pair.first, pair.second) for pair in drawn}) == 20
    assert drawn != pair_distances(release, most_pairs=20, rng=seeded(2))
    assert loss_summary(release, rng=seeded(), most_pairs=20).pairs_total == 435
    assert pair_distances(release, most_pairs=0, rng=seeded()) == ()
    for most, lot in ((20, None), (-1, seeded())):
        with pytest.raises(InputError, match="for 435 pairs of columns; sampling needs rng and a number"):
            pair_distances(release, most_pairs=most, rng=lot)


def test_identifiers_are_left_out_unless_named() -> None:
    cells = {"key": list("abcd"), "age": [1, 2, 3, 4]}
    release = release_of(cells, cells, roles={"key": "identifier"})
    assert [column.name for column in column_distances(release)] == ["age"]
    assert [column.name for column in column_distances(release, columns=["key"])] == ["key"]
    with pytest.raises(InputError, match="column 'aeg' is not in the"):
        column_distances(release, columns=["aeg"])
    for nothing in ((), "age", ["age", "age"]):
        with pytest.raises(
            InputError, match="no column to compare: all are identifiers or ignored, or one is named twice"
        ):
            column_distances(release, columns=nothing)


def test_on_the_sample_people_outside_the_data_lose_little_and_noise_more() -> None:
    original, control = audit_sample()
    fresh = loss_summary(Release(original, control), rng=seeded())
    lot = seeded().permutation(original.rows)
    torn = original.frame.with_columns(
        original.frame["vote"][lot].alias("vote"), original.frame["party"][lot[::-1]].alias("party")
    )
    worse = loss_summary(Release(original, Table.from_frame(torn, kinds={"vote": "category"})), rng=seeded())
    assert 0 < fresh.loss < 0.08
    assert worse.association_loss > fresh.association_loss
    assert worse.loss > 2 * fresh.loss


def test_the_original_is_put_into_coarse_cells_before_it_is_compared() -> None:
    ages, towns = [20, 25, 31, 38, 44, 47], ["Ulm", "Bonn", "Ulm", "Köln", "Bonn", "Köln"]
    original = Table.from_frame(pl.DataFrame({"age": ages, "town": towns}), name="original")
    shown = {
        "age": [f"{age // 10 * 10}-{age // 10 * 10 + 9}" for age in ages],
        "town": ["{Ulm,Bonn}"] * 4 + ["Köln"] * 2,
    }
    age, town = column_distances(Release(original, Table.from_frame(pl.DataFrame(shown), name="released")))
    assert (age.distance, age.mean_change, town.distance) == (0.0, 0.0, 0.0)
    assert age.width == pytest.approx(1 / 3)
    assert town.width == pytest.approx((4 * 4 / 6 + 2 * 2 / 6) / 6)
    # A star is a gap, and what no cell holds stays apart.
    shown = {"age": ["20-29", "*", "30-39", "30-39", "40-44", "*"], "town": ["{Ulm,Bonn}"] * 6}
    age, town = column_distances(Release(original, Table.from_frame(pl.DataFrame(shown), name="released")))
    assert age.missing_released == pytest.approx(1 / 3)
    assert town.distance == pytest.approx(1 / 3)


def test_another_spelling_of_the_same_cells_loses_as_much() -> None:
    rng = np.random.default_rng(4)
    ages, towns = rng.integers(20, 80, 300), rng.choice(["Bonn", "Köln", "Ulm"], 300)
    original = Table.from_frame(pl.DataFrame({"age": ages, "town": towns}), name="original")
    found = []
    for band, both in (("{0}-{1}", "{Ulm,Bonn}"), ("[{0},{1}]", "Bonn or Ulm")):
        frame = {
            "age": [band.format(age // 10 * 10, age // 10 * 10 + 9) for age in ages],
            "town": [both if town != "Köln" else town for town in towns],
        }
        release = Release(original, Table.from_frame(pl.DataFrame(frame), name="released"))
        found.append(loss_summary(release, rng=np.random.default_rng(1)))
    assert found[0] == found[1]
    assert found[0].column_loss == 0
