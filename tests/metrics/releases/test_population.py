"""Population models: sums term by term, populations that are known, and weights that are wrong."""

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles import population as oracle
from unveil.data.table import Table
from unveil.errors import InputError
from unveil.metrics.releases import _population_models as kernels
from unveil.metrics.releases._classes import group
from unveil.metrics.releases.population import (
    METHODS,
    expected_reidentifications,
    k_map_risk,
    population_risk,
    population_uniqueness,
    risk_of,
)

Known = tuple[oracle.Codes, tuple[float, float, float]]


def one(value: float) -> np.ndarray[Any, Any]:
    return np.array([value])


@settings(max_examples=22)
@given(st.integers(1, 45), st.sampled_from([0.02, 0.1, 0.3, 0.49, 0.5, 0.7, 0.999]), st.integers(1, 60))
def test_the_negative_binomial_is_summed(f: int, p: float, k: int) -> None:
    chances = oracle.negative_binomial(f, p, int(60 * f / p) + 2000)
    mean = kernels.reciprocal_negative_binomial(np.array([f]), one(p))[0]
    assert mean == pytest.approx(oracle.mean(chances, f, lambda h: 1 / h), rel=1e-8)
    below = kernels.below_negative_binomial(np.array([f]), one(p), k)[0]
    assert below == pytest.approx(oracle.mean(chances, f, lambda h: h < k), abs=1e-9)


@settings(max_examples=22)
@given(st.integers(1, 60), st.sampled_from([1e-6, 0.2, 1.0, 7.0, 90.0, 400.0]), st.integers(1, 60))
def test_poisson_is_summed(f: int, rate: float, k: int) -> None:
    chances = oracle.poisson(rate, 1500)
    mean = kernels.reciprocal_poisson(np.array([f]), one(rate))[0]
    assert mean == pytest.approx(oracle.mean(chances, f, lambda h: 1 / h), rel=1e-9)
    below = kernels.below_poisson(np.array([f]), one(rate), k)[0]
    assert below == pytest.approx(oracle.mean(chances, f, lambda h: h < k), abs=1e-9)


@settings(max_examples=22)
@given(st.integers(1, 8), st.floats(0, 0.95), st.floats(0.1, 300), st.integers(0, 60), st.integers(1, 30))
def test_the_urn_is_filled_step_by_step(f: int, alpha: float, others: float, draws: int, k: int) -> None:
    chances = oracle.urn(f - alpha, others, draws)
    mean = kernels.reciprocal_beta_binomial(f, f - alpha, others, draws)
    assert mean == pytest.approx(oracle.mean(chances, f, lambda h: 1 / h), rel=1e-8)
    below = kernels.below_beta_binomial(f, f - alpha, others, draws, k)
    assert below == pytest.approx(oracle.mean(chances, f, lambda h: h < k), abs=1e-9)


def test_many_draws_are_integrated(monkeypatch: pytest.MonkeyPatch) -> None:
    short = [kernels.reciprocal_beta_binomial(f, f - 0.4, 200.0, 60_000) for f in (1, 5)]
    monkeypatch.setattr(kernels, "_SUMMED", 60_000)
    full = [kernels.reciprocal_beta_binomial(f, f - 0.4, 200.0, 60_000) for f in (1, 5)]
    assert short == pytest.approx(full, rel=1e-9)


def test_the_individual_risks_of_the_practice_guide() -> None:
    # Benschop and Welch, table with sample frequency, sum of weights and risk.
    printed = [
        (2, 360, 0.0054),
        (1, 215, 0.0251),
        (2, 152, 0.0126),
        (1, 186, 0.0282),
        (1, 180, 0.0290),
        (2, 262, 0.0074),
    ]
    for f, people, risk in printed:
        found = kernels.reciprocal_negative_binomial(np.array([f]), one(f / people))[0]
        # The guide prints 0.0126 for 0.01257 and 0.0282 for 0.02825.
        assert found == pytest.approx(risk, abs=1e-4)


def test_the_partition_that_is_likeliest_is_found() -> None:
    size, classes = np.array([1, 2, 5]), np.array([60, 10, 4])
    fitted = kernels.fit_partition(size, classes)
    best = kernels._log_likelihood(fitted, size, classes)
    for theta in np.linspace(5, 100, 40):
        for alpha in np.linspace(0.01, 0.99, 40):
            other = kernels.RandomPartition(float(theta), float(alpha))
            assert kernels._log_likelihood(other, size, classes) <= best + 1e-6


SHAPES = {
    "sparse": ((80, 2, 6, 10, 15), (0.5, 0, 1, 1, 1)),
    "long tails": ((100, 50, 20, 9), (1, 1, 1, 1)),
    "filled": ((90, 2, 5), (0.3, 0, 1)),
}


def known(shape: str, together: float, people: int, fraction: float, seed: int = 1) -> Known:
    """A sample of a population, and what is true of its rows: share of uniques, mean of 1 / F, share with F < 5."""
    rng = np.random.default_rng([seed, people])
    everybody = oracle.product_population(rng, people, *SHAPES[shape], together)
    rows = rng.choice(people, int(people * fraction), replace=False)
    classes = group(everybody)
    inside = classes.size[classes.of_row][rows]
    return everybody[rows], truth_of(inside)


def truth_of(inside: np.ndarray[Any, Any]) -> tuple[float, float, float]:
    return float(np.mean(inside == 1)), float(np.mean(1 / inside)), float(np.mean(inside < 5))


def errors(sample: oracle.Codes, truth: tuple[float, float, float], people: int, method: Any) -> list[float]:
    found = risk_of(sample, group(sample), np.full(len(sample), people / len(sample)), None, method, 5)
    figures = (found.uniqueness, found.expected_share, found.below)
    return [figure - true for figure, true in zip(figures, truth, strict=True)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("people", "fraction"), [(20_000, 0.1), (50_000, 0.02), (100_000, 0.05)])
def test_poisson_is_within_its_stated_error(shape: str, people: int, fraction: float) -> None:
    sample, truth = known(shape, 0.0, people, fraction)
    assert max(map(abs, errors(sample, truth, people, "poisson"))) < 0.05
    sample, truth = known(shape, 0.6, people, fraction)
    off = errors(sample, truth, people, "poisson")
    assert all(-0.03 < each < most for each, most in zip(off, (0.14, 0.14, 0.2), strict=True))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(("people", "fraction"), [(20_000, 0.1), (50_000, 0.02), (100_000, 0.05)])
@pytest.mark.parametrize("together", [0.0, 0.6])
def test_pitman_is_within_its_stated_error(shape: str, people: int, fraction: float, together: float) -> None:
    sample, truth = known(shape, together, people, fraction)
    alone = np.mean(group(sample).size[group(sample).of_row] == 1)
    limits = (0.11, 0.11, 0.11) if alone < 0.5 else (0.32, 0.21, 0.21)
    for each, most in zip(errors(sample, truth, people, "pitman"), limits, strict=True):
        assert abs(each) < most


def test_pitman_is_right_where_its_model_is() -> None:
    rng = np.random.default_rng(4)
    for theta, alpha in ((300.0, 0.6), (2000.0, 0.1)):
        everybody = oracle.pitman_population(rng, 20_000, theta, alpha)
        inside = group(everybody).size[group(everybody).of_row]
        rows = rng.choice(20_000, 2000, replace=False)
        truth = truth_of(inside[rows])
        assert truth[0] > 0.01
        assert max(map(abs, errors(everybody[rows], truth, 20_000, "pitman"))) < 0.025


def test_weights_are_within_their_stated_error_where_classes_are_filled() -> None:
    for people, fraction in ((20_000, 0.1), (50_000, 0.02), (100_000, 0.05)):
        for together in (0.0, 0.6):
            sample, truth = known("filled", together, people, fraction)
            off = errors(sample, truth, people, "weights")
            assert all(abs(each) < most for each, most in zip(off, (0.09, 0.09, 0.17), strict=True))


def test_weights_are_far_too_low_where_most_are_alone_and_that_is_said() -> None:
    sample, truth = known("sparse", 0.0, 20_000, 0.1)
    assert errors(sample, truth, 20_000, "weights")[1] < -0.4
    assert "far too low" in risk_of(sample, group(sample), None, None, "weights", None).assumption


def test_unequal_weights_see_who_was_drawn_more_often() -> None:
    # Half of the population is drawn ten times as often: without weights its classes would look ten times as large.
    rng = np.random.default_rng(8)
    everybody = oracle.product_population(rng, 60_000, (20, 3, 2), (0.2, 0, 0), 0)
    often = everybody[:, 2] == 1
    drawn = rng.random(60_000) < np.where(often, 0.2, 0.02)
    inside = group(everybody).size[group(everybody).of_row][drawn]
    weights = np.where(often, 5.0, 50.0)[drawn]
    sample = everybody[drawn]
    found, equal = (
        risk_of(sample, group(sample), each, None, "weights", None)
        for each in (weights, np.full(drawn.sum(), weights.mean()))
    )
    for part in (often[drawn], ~often[drawn]):
        true = np.mean(1 / inside[part])
        assert np.mean(found.risk[part]) == pytest.approx(true, rel=0.15)
        assert np.mean(equal.risk[part]) != pytest.approx(true, rel=0.4)


@pytest.mark.parametrize("method", METHODS)
def test_a_whole_population_needs_no_model(method: Any) -> None:
    people = Table.from_frame(pl.DataFrame({"age": [30, 30, 30, 41, 41, 52]}))
    found = population_risk(people, method=method, weights=[1.0] * 6, k=3)
    assert found.risk == pytest.approx([1 / 3] * 3 + [1 / 2] * 2 + [1])
    assert (found.uniqueness, found.below, found.population) == pytest.approx((1 / 6, 1 / 2, 6))
    assert found.expected_reidentifications == pytest.approx(3)


@pytest.mark.parametrize("method", METHODS)
def test_metrics_are_the_parts_of_the_figures(method: Any) -> None:
    people = Table.from_frame(pl.DataFrame({"age": [30, 30, 41, 52, 52, 60], "weight": [3, 4, 9, 2, 2, 8]}))
    options: dict[str, Any] = {"method": method, "columns": ["age"], "weights": "weight"}
    found = population_risk(people, k=3, **options)
    assert found.population == 28
    assert population_uniqueness(people, **options) == found.uniqueness
    assert expected_reidentifications(people, **options) == found.expected_reidentifications == math.fsum(found.risk)
    assert k_map_risk(people, k=3, **options) == found.below
    assert k_map_risk(people, k=2, **options) == found.uniqueness
    assert k_map_risk(people, k=10**6, **options) == pytest.approx(1)
    assert 0 < found.uniqueness <= found.below <= 1
    told = population_risk(people, method=method, columns=["age"], weights="weight", population_size=10_000)
    assert told.uniqueness <= found.uniqueness
    assert "the weights sum to 28" in told.notes[0]


def test_what_cannot_be_fitted_says_why() -> None:
    alone = Table.from_frame(pl.DataFrame({"age": [30, 31]}))
    alike = Table.from_frame(pl.DataFrame({"age": [30, 30]}))
    assert "every row is unique" in population_risk(alone, method="pitman", population_size=9).why
    assert "all rows are in one class" in population_risk(alike, method="pitman", population_size=9).why
    assert population_risk(alone, method="weights", population_size=9).why == "there are no weights"
    found = population_risk(alone, method="poisson")
    assert "neither weights nor the population size" in found.why
    assert all(map(math.isnan, (found.uniqueness, found.expected_share, found.below, found.population)))


def test_weights_below_one_are_noted() -> None:
    people = Table.from_frame(pl.DataFrame({"age": [30, 30], "w": [0.5, 0.5]}))
    found = population_risk(people, method="weights", weights="w", columns=["age"])
    assert "2 weights are below 1" in found.notes[0]
    assert found.expected_reidentifications == pytest.approx(1)


@pytest.mark.parametrize(("bad", "seen"), [(-1.0, "negative"), (0.0, "0"), (None, "missing")])
def test_a_wrong_weight_is_refused_with_row_and_column(bad: float | None, seen: str) -> None:
    people = Table.from_frame(pl.DataFrame({"age": [30, 41, 52], "wt": [1.5, bad, 2.0]}))
    where = rf"column 'wt' of the table .* {seen} in row 2 \(counted from 1 below the header\)"
    with pytest.raises(InputError, match=where):
        population_risk(people, method="weights", weights="wt")
    with pytest.raises(InputError, match=rf"the weights must .* {seen} in row 2"):
        population_risk(people, method="weights", weights=[1.0, math.nan if bad is None else bad, 2.0])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"method": "magic"}, "Unknown method 'magic'"),
        ({"method": "weights", "weights": [1.0]}, r"the weights have the shape \(1,\), but the table has 3 rows"),
        ({"method": "weights", "weights": ["a", "b", "c"]}, "some weights are not numbers"),
        (
            {"method": "weights", "weights": "town"},
            "column 'town' of the table cannot be weights: its type is category",
        ),
        ({"method": "weights", "weights": [1.0, math.inf, 1.0]}, "infinite"),
        ({"method": "weights", "weights": [1.0, 10.0**29, 1.0]}, "1,000,000,000,000,000 people"),
        ({"method": "pitman", "population_size": 10**400}, "1,000,000,000,000,000 people"),
        ({"method": "pitman", "population_size": 2}, "Correct population_size"),
        ({"method": "pitman", "population_size": math.nan}, "Correct population_size"),
        ({"method": "pitman", "population_size": 9, "k": 0}, "k must be a whole number of at least 1"),
    ],
)
def test_bad_input_is_refused(options: dict[str, Any], words: str) -> None:
    people = Table.from_frame(pl.DataFrame({"age": [30, 41, 52], "town": ["a", "a", "b"]}))
    with pytest.raises(InputError, match=words):
        population_risk(people, **options)
