"""Class sizes and the summary of a release, against rows compared one by one."""

import json
import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import disclosure as oracle
from tests.oracles.records import Rows, rows_of_people, table
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.errors import InputError
from unveil.metrics.releases._classes import equivalence_classes
from unveil.metrics.releases.disclosure import (
    average_risk,
    disclosure,
    highest_risk,
    k_anonymity,
    records_at_risk,
    sample_uniqueness,
)
from unveil.report.figures import json_of
from unveil.report.machine import compact

missings = st.sampled_from(["own", "any"])


@given(rows_of_people, missings)
def test_sizes_are_those_of_rows_compared_one_by_one(rows: Rows, missing: Any) -> None:
    people, sizes = table(rows), oracle.class_sizes(rows, missing)
    found = equivalence_classes(people, missing=missing)
    assert found.of_row.tolist() == sizes
    assert dict(zip(found.size.tolist(), found.rows.tolist(), strict=True)) == {s: sizes.count(s) for s in set(sizes)}
    assert (found.smallest, found.largest) == (min(sizes), max(sizes))
    assert k_anonymity(people, missing=missing) == min(sizes)
    assert highest_risk(people, missing=missing) == 1 / min(sizes)
    assert average_risk(people, missing=missing) == pytest.approx(sum(1 / s for s in sizes) / len(rows))
    assert sample_uniqueness(people, missing=missing) == sizes.count(1) / len(rows)
    at_risk = sum(1 / s > 0.4 for s in sizes) / len(rows)
    assert records_at_risk(people, limit=0.4, missing=missing) == at_risk
    if missing == "own":
        assert found.count == pytest.approx(len(set(rows)))


@settings(max_examples=24)
@given(rows_of_people, missings, st.randoms())
def test_the_order_of_rows_plays_no_part(rows: Rows, missing: Any, random: Any) -> None:
    mixed = list(rows)
    random.shuffle(mixed)
    one, other = (disclosure(table(some), missing=missing, population_size=30) for some in (rows, mixed))
    assert compact(json_of(one)) == compact(json_of(other))


def test_many_missing_cells_that_match_anything() -> None:
    rng = np.random.default_rng(1)
    rows = [tuple(None if rng.random() < 0.3 else int(rng.integers(3)) for _ in range(6)) for _ in range(150)]
    people = Table.from_frame(pl.DataFrame(rows, schema=[*"abcdef"], orient="row"))
    assert equivalence_classes(people, missing="any").of_row.tolist() == oracle.class_sizes(rows, "any")


def test_too_many_patterns_of_missing_cells_are_refused() -> None:
    rng = np.random.default_rng(1)
    cells = rng.integers(0, 3, (1000, 12)).astype(float)
    cells[rng.random(cells.shape) < 0.4] = np.nan
    people = Table.from_frame(pl.DataFrame(cells))
    with pytest.raises(InputError, match="Use missing='own', or name fewer columns"):
        k_anonymity(people, missing="any")
    assert k_anonymity(people) == 1


def test_any_kind_of_column_and_any_name() -> None:
    frame = pl.DataFrame({
        "1 'quoted' \"name\"\n$": [1.5, 1.5, None, None, -0.0, 0.0],
        "日付": pl.Series(["2024-01-01", "2024-01-01", None, None, "2024-05-01", "2024-05-01"]).str.to_date(),
        "flag": [True, True, None, None, False, False],
        "level": pl.Series(["low", "low", None, None, "high", "high"], dtype=pl.Enum(["low", "high"])),
        "nothing": pl.Series([None] * 6, dtype=pl.Int64),
        "text": ["a" * 40, "a" * 40, None, None, "b" * 40, "b" * 40],
    })  # fmt: skip
    people = Table.from_frame(frame, roles=dict.fromkeys(frame.columns, "known"))
    assert equivalence_classes(people).of_row.tolist() == [2] * 6
    assert equivalence_classes(people, missing="any").of_row.tolist() == [4, 4, 6, 6, 4, 4]
    found = disclosure(people, columns=frame.columns[:2], sensitive=frame.columns[2:], population_size=12)
    assert [each.values for each in found.diversity] == [3, 3, 1, 3]


def test_many_columns_of_many_values_do_not_overflow() -> None:
    values = {f"c{k}": list(range(k, 300 + k)) for k in range(12)}
    people = Table.from_frame(pl.DataFrame(values).vstack(pl.DataFrame(values)), roles=dict.fromkeys(values, "known"))
    assert (equivalence_classes(people).of_row == 2).all()


def planted() -> Table:
    """Twelve people: ten alike, a pair, weights and households."""
    frame = pl.DataFrame({
        "age": [30] * 10 + [50] * 2,
        "town": ["Ulm"] * 10 + ["Bonn"] * 2,
        "ill": ["flu", "cold"] * 5 + ["gout"] * 2,
        "weight": [10.0] * 12,
        "home": [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, None],
    })  # fmt: skip
    return Table.from_frame(frame, roles={"ill": "sensitive"})


def test_the_summary_holds_what_the_metrics_say() -> None:
    people = planted()
    found = disclosure(people, weights="weight", household="home", minimum_cell=3)
    assert found.columns == ("age", "town")
    assert (found.rows, found.k_anonymity, found.highest_risk, found.sample_uniqueness) == (12, 2, 0.5, 0.0)
    assert found.average_risk == pytest.approx(2 / 12)
    assert found.below == {2: 0.0, 3: 2 / 12, 5: 2 / 12, 11: 1.0, 20: 1.0}
    assert found.records_at_risk == 2 / 12
    (ill,) = found.diversity
    assert (ill.column, ill.distinct, ill.values, ill.classes_of_one_value) == ("ill", 1, 3, 2 / 12)
    assert [each.method for each in found.population] == ["weights", "pitman", "poisson"]
    assert all(each.why == "" and each.k == 3 for each in found.population)
    assert found.household is not None
    assert (found.household.households, found.household.apart, found.household.limit) == (7, 1, 1 / 3)
    assert found.special_uniques is not None
    assert found.special_uniques.special == 0
    assert (found.misleading, found.why, found.notes) == ("", {}, ())


def test_what_is_not_asked_for_says_why() -> None:
    found = disclosure(planted(), columns=["age"], sensitive=())
    assert math.isnan(found.records_at_risk)
    assert found.household is None
    assert found.diversity == ()
    assert set(found.why) == {"records_at_risk", "household", "diversity"}
    for each in found.population:
        assert math.isnan(each.uniqueness)
        assert math.isnan(each.expected_reidentifications)
        assert each.why.startswith("neither weights nor the population size")


def test_nothing_about_single_rows_leaves_the_summary() -> None:
    text = compact(json_of(disclosure(planted(), weights="weight", household="home")))
    plain = json.loads(text)
    assert "of_row" not in text
    assert '"risk"' not in text
    assert '"score"' not in text
    assert plain["classes"]["size"] == [2, 10]
    assert plain["classes"]["rows"] == [2, 10]


def test_a_synthetic_release_is_measured_and_called_misleading() -> None:
    people = planted()
    found = disclosure(Release(people, people, kind="synthetic"), columns=["age", "town"])
    assert found.k_anonymity == 2
    assert "synthetic" in found.misleading
    assert disclosure(Release(people, people, kind="masked")).misleading == ""


def test_the_released_table_is_measured_not_the_original() -> None:
    original = Table.from_frame(pl.DataFrame({"age": [30, 31, 40, 41]}))
    released = Table.from_frame(pl.DataFrame({"age": [30, 30, 40, 40]}))
    assert k_anonymity(Release(original, released)) == 2
    assert k_anonymity(Release(released, original)) == 1


@pytest.mark.unwatched
def test_columns_too_many_to_search_are_said() -> None:
    wide = Table.from_frame(pl.DataFrame({f"c{k}": [k % 3, 1, 2, 2] * 25 for k in range(150)}))
    found = disclosure(wide)
    assert found.special_uniques is not None
    assert found.special_uniques.size == 2
    assert "sets of up to 2 columns only" in found.notes[0]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"columns": []}, "the table has no quasi-identifiers"),
        ({"columns": "age"}, "the table has no quasi-identifiers"),
        ({"columns": ["aage"]}, "Did you mean 'age'"),
        ({"columns": ["age", "age"]}, "column 'age' is named more than once"),
        ({"columns": ["age", "ill"], "sensitive": ["ill"]}, "it is a sensitive column"),
        ({"columns": ["age", "weight"], "weights": "weight"}, "it is the weights"),
        ({"columns": ["age", "home"], "household": "home"}, "it is the household"),
        ({"sensitive": ["il"]}, "Did you mean 'ill'"),
        ({"sensitive": "ill"}, "sensitive is not a list of names"),
        ({"weights": "wait"}, "column 'wait' is not in the"),
        ({"household": "hom"}, "Did you mean 'home'"),
        ({"weights": "town"}, "column 'town' of the table cannot be weights: its type is category"),
        ({"population_size": 11}, "population_size is 11, smaller than the 12 rows of the table"),
        ({"minimum_cell": 0}, "at least 1"),
        ({"missing": "all"}, "'own' or 'any'"),
        ({"sensitive": ["ill"], "c": 0}, "c is 0; it must be above 0"),
    ],
)
def test_bad_input_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InputError, match=words):
        disclosure(planted(), **options)


def test_nothing_known_is_refused_and_so_is_no_table() -> None:
    people = Table.from_frame(pl.DataFrame({"age": [1, 2]}), roles={"age": "ignored"})
    with pytest.raises(InputError, match="Name the columns"):
        k_anonymity(people)
    with pytest.raises(InputError, match="the release is a DataFrame, not a Release or a Table"):
        k_anonymity(pl.DataFrame({"age": [1]}))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="between 0 and 1"):
        records_at_risk(planted(), limit=2)
