"""The propensity score: the model against a general minimiser, pMSE against simulation, and what it must tell apart."""

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import utility as oracle
from unveil._kernels.logistic import fit, ordered_pairs, probability, score
from unveil.data.table import Table
from unveil.data.table.release import Release, ReleaseKind
from unveil.errors import InputError
from unveil.metrics.releases.propensity import AS_MASKING, AS_SYNTHESIS, Propensity, propensity_score

Frame = dict[str, Any]


def told(
    original: Frame, released: Frame, *, kind: ReleaseKind | None = None, seed: int = 1, **more: Any
) -> Propensity:
    kinds = {name: "category" for name, cells in original.items() if any(isinstance(cell, str) for cell in cells)}
    first, second = (
        Table.from_frame(pl.DataFrame(cells), kinds=kinds, roles=dict.fromkeys(cells, "known"))
        for cells in (original, released)
    )
    return propensity_score(Release(first, second, kind=kind), rng=np.random.default_rng(seed), **more)


def people(rng: np.random.Generator, rows: int) -> Frame:
    first = rng.normal(size=rows)
    return {
        "one": first.tolist(),
        "two": (first + rng.normal(size=rows)).tolist(),
        "town": [f"{town}" for town in rng.integers(0, 5, rows)],
        "smokes": (rng.random(rows) < 0.3).tolist(),
    }


def some_of(cells: Frame, rows: Any) -> Frame:
    return {name: [values[row] for row in rows] for name, values in cells.items()}


@settings(max_examples=15)
@given(st.integers(0, 10_000), st.integers(2, 25), st.integers(1, 3))
def test_the_model_is_the_one_a_general_minimiser_finds(seed: int, rows: int, terms: int) -> None:
    rng = np.random.default_rng(seed)
    features, labels = rng.normal(size=(rows, terms)), rng.random(rows) < 0.5
    labels[:2] = True, False
    found = fit(features, labels, ridge=0.5)
    np.testing.assert_allclose(found, oracle.logistic(features, labels, 0.5), atol=1e-4)
    again = fit(features, labels, ridge=0.5, start=found + 1.0)
    np.testing.assert_allclose(again, found, atol=1e-6)


def test_the_model_stays_finite_where_the_labels_are_separated_or_alike() -> None:
    features = np.array([[-2.0], [-1.0], [1.0], [2.0]])
    labels = np.array([False, False, True, True])
    found = fit(features, labels, ridge=1e-6)
    assert np.isfinite(found).all()
    assert probability(features, found).round(3).tolist() == [0, 0, 1, 1]
    assert fit(features, np.ones(4, bool), ridge=1.0).tolist() == [0.0, 0.0]
    assert fit(np.empty((0, 1)), np.empty(0, bool), ridge=1.0).tolist() == [0.0, 0.0]
    assert fit(np.empty((4, 0)), labels, ridge=1.0).tolist() == [0.0]


@given(st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=15))
def test_the_area_counts_pairs(rows: list[tuple[int, bool]]) -> None:
    scores, labels = np.array([float(row[0]) for row in rows]), np.array([row[1] for row in rows])
    won, pairs = ordered_pairs(scores, labels)
    expected = oracle.area(scores.tolist(), labels.tolist())
    assert (won / pairs if pairs else math.nan) == pytest.approx(expected, nan_ok=True)


def test_scores_that_only_rounding_sets_apart_tie() -> None:
    scores = score(np.array([[1.0], [1.0 + 1e-14]]), np.array([0.0, 1.0]))
    assert scores[0] == scores[1]


@pytest.mark.unwatched
@pytest.mark.parametrize(("before", "after", "most"), [(300, 300, 10_000), (200, 600, 10_000), (900, 900, 250)])
def test_pmse_of_a_perfect_synthesis_is_what_is_expected(before: int, after: int, most: int) -> None:
    """Rows drawn anew from the original rows: mean and deviation as stated, and nothing to tell apart."""
    rng = np.random.default_rng(5)
    found = []
    for _ in range(60):
        cells = people(rng, before)
        drawn = some_of(cells, rng.integers(0, before, after).tolist())
        found.append(told(cells, drawn, kind="synthetic", seed=int(rng.integers(1 << 30)), most_rows=most))
    standardized = np.array([each.standardized for each in found])
    # The mean of 60 has a standard error of 0.13, their deviation one of about 0.1.
    assert abs(standardized.mean()) < 0.45
    assert 0.7 < standardized.std() < 1.35
    assert np.mean([each.ratio for each in found]) == pytest.approx(1, abs=0.12)
    assert np.mean([each.area for each in found]) == pytest.approx(0.5, abs=0.012)


def test_pmse_of_other_people_of_the_same_kind_is_higher_by_their_own_chance() -> None:
    rng = np.random.default_rng(6)
    found = [told(people(rng, 300), people(rng, 300), seed=seed) for seed in range(60)]
    # Two independent samples: (1 - c) is missing from the expected value, which is one half here.
    assert np.mean([each.ratio for each in found]) == pytest.approx(2, abs=0.2)
    assert np.mean([each.area for each in found]) == pytest.approx(0.5, abs=0.015)


def test_the_expected_value_is_the_published_one_where_the_ridge_is_weak() -> None:
    rng = np.random.default_rng(7)
    cells = {"smokes": (rng.random(4000) < 0.5).tolist()}
    found = told(cells, some_of(cells, range(2000)))
    share = 2000 / 6000
    assert found.features == 1
    assert found.expected == pytest.approx((1 - share) ** 2 * share / 6000, rel=0.01)
    assert found.deviation == pytest.approx(found.expected * 2**0.5, rel=0.01)
    assert found.ratio == pytest.approx(found.pmse / found.expected)
    assert found.standardized == pytest.approx((found.pmse - found.expected) / found.deviation)


def test_pmse_of_a_share_that_moved() -> None:
    """One truth value, 90 % before and 50 % after: pMSE and area can be said in closed form."""
    found = told({"smokes": [True] * 900 + [False] * 100}, {"smokes": [True] * 500 + [False] * 500})
    chances = 500 / 1400, 500 / 600
    exact = (1400 * (chances[0] - 0.5) ** 2 + 600 * (chances[1] - 0.5) ** 2) / 2000
    assert found.pmse == pytest.approx(exact, rel=0.01)
    # Rows that are as common as these are dealt out to all parts, or no model could have seen them.
    assert found.area == pytest.approx(0.7, abs=0.005)


def changed(column: str, cells: Any) -> float:
    rng = np.random.default_rng(8)
    original, released = people(rng, 1500), people(rng, 1500)
    return told(original, {**released, column: cells(rng)}).area


def test_shifts_spreads_gaps_categories_and_torn_pairs_are_told() -> None:
    assert changed("one", lambda rng: rng.normal(1, 1, 1500).tolist()) > 0.7
    assert changed("one", lambda rng: rng.normal(0, 3, 1500).tolist()) > 0.65
    assert changed("one", lambda rng: [None if lot < 0.4 else lot for lot in rng.normal(size=1500)]) > 0.6
    assert changed("town", lambda rng: [f"{town}" for town in rng.integers(0, 2, 1500)]) > 0.7
    # The column has the same distribution as before, but no longer anything to do with the first.
    assert changed("two", lambda rng: rng.normal(0, 2**0.5, 1500).tolist()) > 0.55


def test_every_row_can_be_told() -> None:
    found = told({"age": list(range(50))}, {"age": list(range(100, 150))})
    assert found.area == 1
    assert found.pmse > 0.15
    collapsed = told(people(np.random.default_rng(1), 200), some_of(people(np.random.default_rng(1), 200), [0] * 200))
    assert collapsed.area > 0.95


def test_nothing_varies() -> None:
    same = {"constant": [7] * 20, "nothing": [None] * 20}
    found = told(same, same)
    assert (found.features, found.pmse, found.expected, found.area) == (0, 0, 0, 0.5)
    assert math.isnan(found.ratio)
    assert math.isnan(found.standardized)


def test_many_categories_and_many_columns_are_bounded_and_said() -> None:
    rng = np.random.default_rng(9)
    many = {"code": [f"{code}" for code in rng.integers(0, 300, 600)], "age": rng.normal(size=600).tolist()}
    one = told(many, many)
    # 19 categories of their own and the rest together, three powers, and the products of the two columns.
    assert (one.features, one.products) == (20 + 3 + 20, 1)
    wide = {f"c{place}": rng.normal(size=60).tolist() for place in range(200)}
    found = told(wide, wide)
    assert found.features <= 150
    assert (found.columns, found.columns_used) == (200, 150)
    assert "150 of 200 columns, drawn at random" in found.remark
    halfway = told({name: wide[name] for name in list(wide)[:60]}, {name: wide[name] for name in list(wide)[:60]})
    assert (halfway.features, halfway.columns_used) == (120, 60)


def test_rows_are_drawn_and_said() -> None:
    cells = people(np.random.default_rng(10), 90)
    found = told(cells, cells, most_rows=40)
    assert (found.rows_original, found.rows_released) == (40, 40)
    assert "40 original and 40 released rows, drawn at random" in found.remark
    assert "drawn" not in told(cells, cells).remark.replace(AS_SYNTHESIS, "")
    with pytest.raises(InputError, match="most_rows must be a whole number of at least 10, but is 9"):
        told(cells, cells, most_rows=9)


def test_it_says_what_the_expected_value_is_about() -> None:
    cells = people(np.random.default_rng(11), 200)
    noise = np.random.default_rng(12).normal(0, 0.05, 200)
    masked = {**cells, "one": (np.array(cells["one"]) + noise).tolist()}
    found = told(cells, masked, kind="masked")
    assert found.remark == AS_MASKING
    # Rows that follow the original ones one by one come far below what a synthesis gives.
    assert found.ratio < 0.3
    assert told(cells, masked, kind="synthetic").remark == AS_SYNTHESIS


def test_too_few_rows() -> None:
    found = told({"age": [1, 2, 3]}, {"age": list(range(20))})
    assert "fewer than 10 rows" in found.why
    assert all(math.isnan(figure) for figure in (found.pmse, found.expected, found.ratio, found.area))


def test_one_seed_gives_one_answer() -> None:
    rng = np.random.default_rng(13)
    original, released = people(rng, 80), people(rng, 70)
    assert repr(told(original, released)) == repr(told(original, released))
    assert told(original, released).area != told(original, released, seed=2).area
