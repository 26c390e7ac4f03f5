"""The spread over subjects against its definition."""

from fractions import Fraction
from math import ceil, isnan
from statistics import fmean, median

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracles.unlinkability_check import expected, measured
from tests.strategies import Case, cases
from unveil.guesses import Partition
from unveil.metrics.partitions.fairness import fairness, gini
from unveil.metrics.partitions.unlinkability import unlinkability

NAN = float("nan")
#: Whether the subjects most at risk are those with the highest values.
HIGH_IS_RISKY = {"linked0": True, "normalized_error": False, "risk_slope": True, "others": False}


def gini_by_definition(values: list[float]) -> float:
    """The mean absolute difference of two subjects, themselves included, over twice the mean."""
    if not values or fmean(values) == 0:
        return NAN
    return fmean(abs(a - b) for a in values for b in values) / (2 * fmean(values))


def worst_decile_by_definition(values: list[float], *, high_is_risky: bool) -> float:
    ranked = sorted((value for value in values if not isnan(value)), reverse=high_is_risky)
    return fmean(ranked[: ceil(len(ranked) / 10)]) if ranked else NAN


@settings(deadline=None, max_examples=24)
@given(cases())
def test_every_figure_is_that_of_the_definition(case: Case) -> None:
    # In the worst decile a breached subject counts with the vertical slope, which is what at_breach="limit" gives.
    shown, upright = expected(case), expected(case.but(at_breach="limit"))
    spreads = fairness(measured(case))
    assert [spread.quantity for spread in spreads] == list(HIGH_IS_RISKY)
    for spread in spreads:
        values = [float(getattr(subject, spread.quantity)) for subject in shown.subjects]
        known = [value for value in values if not isnan(value)]
        risks = [float(getattr(subject, spread.quantity)) for subject in upright.subjects]
        want = {
            "mean": fmean(known) if known else NAN,
            "median": median(known) if known else NAN,
            "low": min(known, default=NAN),
            "high": max(known, default=NAN),
            "gini": gini_by_definition(known),
            "worst_decile": worst_decile_by_definition(risks, high_is_risky=HIGH_IS_RISKY[spread.quantity]),
        }
        for name, value in want.items():
            assert getattr(spread, name) == pytest.approx(value, abs=1e-9, nan_ok=True), f"{name} of {spread.quantity}"
        assert spread.undefined == len(values) - len(known)


@settings(deadline=None, max_examples=24)
@given(st.lists(st.floats(0, 100, allow_subnormal=False).filter(lambda x: x == 0 or x > 1e-6), max_size=30))
def test_gini_is_the_mean_difference_over_twice_the_mean(values: list[float]) -> None:
    assert gini(np.array(values, dtype=np.float64)) == pytest.approx(gini_by_definition(values), abs=1e-12, nan_ok=True)


def test_gini_of_known_distributions() -> None:
    assert gini(np.full(7, 0.3)) == pytest.approx(0, abs=1e-12)
    # One of ten has everything: 1 - 1/10.
    assert gini(np.array([0.0] * 9 + [5.0])) == pytest.approx(0.9, abs=1e-12)
    # 1, 2, …, 5: differences sum to 40, over 25 pairs, over twice the mean 3.
    assert gini(np.arange(1.0, 6.0)) == pytest.approx(40 / 25 / 6, abs=1e-12)
    assert isnan(gini(np.zeros(3)))
    assert isnan(gini(np.empty(0)))


def test_the_worst_decile_of_more_than_ten_subjects_is_two_of_them() -> None:
    # Eleven subjects of four items; the k-th has been split into a fragment of 4 - k % 4 and singletons.
    truth = np.repeat(np.arange(11), 4)
    guess = np.array([100 * s + max(0, i - (3 - s % 4)) for s in range(11) for i in range(4)])
    result = unlinkability(Partition.from_labels(guess), Partition.from_labels(truth), beta=0.9)
    by_name = {spread.quantity: spread for spread in fairness(result)}
    assert sorted(result.linked0)[-4:] == [0.75, 1, 1, 1]
    assert by_name["linked0"].worst_decile == 1
    assert by_name["risk_slope"].undefined == 3
    # Those who are breached have no risk slope, yet count as the worst: pure clusters, so alpha alone.
    assert by_name["risk_slope"].worst_decile == pytest.approx(0.5, abs=1e-12)
    assert by_name["risk_slope"].high < 0.5
    assert by_name["normalized_error"].worst_decile == 0
    assert (by_name["others"].mean, by_name["others"].worst_decile) == (0, 0)
    assert isnan(by_name["others"].gini)


def test_everybody_breached_is_not_hidden() -> None:
    truth = Partition.from_labels("aabbcc")
    risk = {spread.quantity: spread for spread in fairness(unlinkability(truth, truth, alpha=Fraction(3, 4)))}[
        "risk_slope"
    ]
    assert risk.undefined == 3
    assert isnan(risk.mean)
    assert isnan(risk.gini)
    assert risk.worst_decile == 0.75


def test_one_item_has_no_normalized_error() -> None:
    one = Partition.from_labels("a")
    error = fairness(unlinkability(one, one))[1]
    assert (error.quantity, error.undefined) == ("normalized_error", 1)
    assert isnan(error.mean)
    assert isnan(error.worst_decile)
