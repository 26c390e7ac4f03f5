"""The Gaussian copula: columns have their own distributions, and go together as they did."""

from collections import Counter
from collections.abc import Sequence
from datetime import date
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.protections.tables import applied, people, table
from unveil.data.samples import audit_sample
from unveil.data.table import Table
from unveil.errors import InputError
from unveil.protections import GaussianCopula
from unveil.protections.table.gaussian_copula import (
    latent_correlation,
    pairwise_correlation,
    positive_root,
    step_expansion,
)

counts = st.lists(st.integers(1, 50), min_size=1, max_size=8).map(np.array)


def total_variation(one: Sequence[Any], other: Sequence[Any]) -> float:
    """Return half the sum of the differences between the shares of all values."""
    first, second = Counter(one), Counter(other)
    return sum(abs(first[key] / len(one) - second[key] / len(other)) for key in first | second) / 2


def drawn(original: Table, rows: int = 20_000, seed: int = 1) -> pl.DataFrame:
    return applied(GaussianCopula(rows=rows), original, seed).released.frame


def correlation(frame: pl.DataFrame, one: str, other: str) -> float:
    both = frame.select(one, other).drop_nulls().cast(pl.Float64)
    return float(np.corrcoef(both[one], both[other])[0, 1])


# --- its parts, against definitions ---


def normal_grid() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return points of the standard normal distribution and their weights, fine enough for four digits."""
    z = np.linspace(-8, 8, 160_001)
    weight = np.exp(-z * z / 2)
    return z, weight / weight.sum()


@given(counts)
def test_scores_and_coefficients_are_those_of_the_bands(counts: NDArray[np.int64]) -> None:
    scores, coefficients = step_expansion(counts)
    z, weight = normal_grid()
    level = np.minimum(np.searchsorted(np.cumsum(counts) / counts.sum(), np.cumsum(weight)), counts.size - 1)
    means = np.bincount(level, weight * z, counts.size) / np.bincount(level, weight, counts.size)
    np.testing.assert_allclose(scores, means, atol=2e-3)
    for degree in (1, 2, 5):
        unit = [0] * degree + [1]
        hermite = np.polynomial.hermite_e.hermeval(z, unit) / np.sqrt(np.prod(np.arange(1, degree + 1)))
        assert coefficients[degree - 1] == pytest.approx(float((weight * scores[level] * hermite).sum()), abs=5e-3)


@pytest.mark.parametrize("phi", [-0.9, -0.5, 0.0, 0.1, 0.5, 0.8])
def test_two_halves_have_the_latent_correlation_of_the_arcsine_law(phi: float) -> None:
    coefficients = np.array([step_expansion(np.array([1, 1]))[1]] * 2)
    found = latent_correlation(np.array([[1, phi], [phi, 1]]), coefficients)
    assert found[0, 1] == pytest.approx(np.sin(np.pi / 2 * phi), abs=5e-3)
    assert found[0, 0] == found[1, 1] == 1


@given(counts, counts, st.floats(-0.9, 0.9))
def test_the_latent_correlation_gives_the_correlation_back(
    one: NDArray[np.int64], other: NDArray[np.int64], rho: float
) -> None:
    first, second = (step_expansion(each)[1] for each in (one, other))
    if min(one.size, other.size) == 1:
        return
    powers = rho ** np.arange(1, first.size + 1)
    given_by_rho = (first * second * powers).sum() / np.sqrt(first[0] * second[0])
    matrix = np.array([[1, given_by_rho], [given_by_rho, 1]])
    assert latent_correlation(matrix, np.array([first, second]))[0, 1] == pytest.approx(rho, abs=1e-4)


def test_correlations_use_the_rows_where_both_are_present() -> None:
    rng = np.random.default_rng(1)
    values, present = rng.normal(size=(50, 3)), rng.random((50, 3)) < 0.7
    found = pairwise_correlation(np.where(present, values, 0.0), present.astype(float))
    for one in range(3):
        for other in range(3):
            both = present[:, one] & present[:, other]
            expected = np.corrcoef(values[both, one], values[both, other])[0, 1]
            assert found[one, other] == pytest.approx(expected, abs=1e-9)


@given(st.integers(1, 6), st.integers(0, 2**32))
def test_pairs_that_do_not_fit_together_are_made_to(size: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    wild = np.triu(rng.uniform(-1, 1, (size, size)), 1)
    wild += wild.T + np.eye(size)
    root = positive_root(wild)
    made = root @ root.T
    np.testing.assert_allclose(np.diag(made), 1, atol=1e-12)
    assert np.linalg.eigvalsh(made).min() > 0
    if np.linalg.eigvalsh(wild).min() > 1e-3:
        np.testing.assert_allclose(made, wild, atol=1e-9)


# --- what comes out ---


@pytest.mark.parametrize("name", ["age", "income", "town", "level", "born", "smoker"])
def test_every_value_comes_with_about_its_share(name: str) -> None:
    original = people(60)
    # Twenty thousand draws from at most 60 values differ from their shares by 0.02 on average.
    assert total_variation(drawn(original)[name].to_list(), original.frame[name].to_list()) < 0.035


def test_columns_go_together_as_in_the_original() -> None:
    rng = np.random.default_rng(5)
    size, weight = rng.multivariate_normal([0, 0], [[1, 0.7], [0.7, 1]], 3000).T
    smokes = size + rng.normal(0, 1, 3000) > 1
    original = table(size=size, weight=-weight.round(1), smokes=smokes, noise=rng.random(3000))
    found, frame = drawn(original), original.frame
    for one, other in [("size", "weight"), ("size", "smokes"), ("weight", "smokes"), ("size", "noise")]:
        assert correlation(found, one, other) == pytest.approx(correlation(frame, one, other), abs=0.03)
    assert correlation(frame, "size", "weight") < -0.6


def test_the_embedded_sample_keeps_its_correlations() -> None:
    original, _ = audit_sample()
    found = drawn(original)
    names = [column.name for column in original.columns if column.kind == "ordered"]
    # Of ranks, because the model keeps normal scores of ranks, whatever numbers the levels have.
    ranks = [frame.select(pl.col(names).rank()) for frame in (found, original.frame)]
    differences = [
        correlation(ranks[0], one, other) - correlation(ranks[1], one, other)
        for one in names
        for other in names
        if one < other
    ]
    assert max(map(abs, differences)) < 0.06
    by_vote = [frame.group_by("vote").agg(pl.col("party").mean()).sort("vote") for frame in (found, original.frame)]
    np.testing.assert_allclose(by_vote[0]["party"], by_vote[1]["party"], atol=0.35)
    assert by_vote[1]["party"][1] - by_vote[1]["party"][0] > 2


def test_missing_values_go_together_with_other_columns() -> None:
    rng = np.random.default_rng(6)
    age = rng.integers(20, 80, 2000)
    income = pl.Series(rng.normal(size=2000)).set(pl.Series(age > rng.integers(20, 80, 2000)), None)
    original = table(age=age, income=income)
    frames = (drawn(original), original.frame)
    shares = [frame["income"].is_null().mean() for frame in frames]
    assert shares[0] == pytest.approx(shares[1], abs=0.02)
    older = [frame.filter(pl.col("income").is_null())["age"].to_numpy().mean() for frame in frames]
    np.testing.assert_allclose(older[0], older[1], atol=2)
    assert original.frame["age"].mean() == pytest.approx(50, abs=1)
    np.testing.assert_array_less(55, older)


def test_copies_of_columns_stay_copies_nearly() -> None:
    values = np.random.default_rng(7).permutation(300)
    found = drawn(table(one=values, two=values, three=-values), rows=2000)
    assert correlation(found, "one", "two") > 0.999
    assert correlation(found, "one", "three") < -0.999


def test_constant_and_missing_columns_stay_so() -> None:
    original = table(one=[7] * 30, none=pl.Series([None] * 30, dtype=pl.Int64), pet=[None] * 30, many=range(0, 90, 3))
    found = drawn(original, rows=500)
    assert found["one"].unique().to_list() == [7]
    assert found["none"].null_count() == found["pet"].null_count() == 500
    assert found["many"].n_unique() == 30


def test_rows_are_drawn_and_not_copied() -> None:
    original = people(300).select(["age", "income", "town", "born"])
    copies = drawn(original, rows=300).join(original.frame, on=original.column_names, how="semi", nulls_equal=True)
    assert copies.height < 30


@pytest.mark.parametrize("rows", [1, 2, 5000])
def test_as_many_rows_as_asked_for(rows: int) -> None:
    original = table(born=[date(2000, 1, 1), None, date(2001, 1, 1)], smoker=[True, None, None], town=["a", "b", None])
    assert drawn(original, rows=rows).height == rows


def test_the_order_of_rows_in_the_original_does_not_matter() -> None:
    original = people()
    order = np.random.default_rng(3).permutation(original.rows)
    assert drawn(original, 300).equals(drawn(original.take(order), 300))


@pytest.mark.parametrize("rows", [0, -1, 1.5, True, "10"])
def test_a_number_of_rows_that_is_none_is_refused(rows: Any) -> None:
    with pytest.raises(InputError, match="rows must be a whole number"):
        GaussianCopula(rows=rows)
