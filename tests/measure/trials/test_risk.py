"""Rates say what was counted, and their intervals hold the truth as often as they claim."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import risk as oracle
from unveil.errors import InputError
from unveil.guess.trials import Attempts, Trials
from unveil.measure import METRICS
from unveil.measure.trials.risk import (
    attack_rate,
    control_rate,
    excess_over_control,
    naive_rate,
    risk,
    wilson,
)

RATES = ("attack_rate", "naive_rate", "control_rate", "excess_over_control")


def attempts(hits: float, tries: int) -> Attempts:
    return Attempts(tries=tries, expected=float(hits), low=float(hits), high=float(hits))


def trials(attack: tuple[float, int], control: tuple[float, int] | None = None) -> Trials:
    return Trials(
        attack=attempts(*attack),
        naive=attempts(0, attack[1]),
        control=None if control is None else attempts(*control),
        what="a link",
    )


@st.composite
def counts(draw: st.DrawFn) -> tuple[float, int]:
    """Hits, whole or expected, and tries."""
    tries = draw(st.integers(1, 3000))
    hits = draw(st.one_of(st.integers(0, tries), st.floats(0, tries, allow_subnormal=False)))
    return hits, tries


confidences = st.sampled_from([0.5, 0.68, 0.9, 0.95, 0.99])


@given(counts(), confidences)
def test_wilson_is_what_the_score_test_does_not_reject(count: tuple[float, int], confidence: float) -> None:
    found = wilson(*count, confidence=confidence)
    assert found.value == pytest.approx(count[0] / count[1], abs=1e-15)
    assert (found.low, found.high) == pytest.approx(oracle.wilson(*count, confidence), abs=1e-7)
    assert 0 <= found.low <= found.value <= found.high <= 1


@pytest.mark.parametrize(
    ("hits", "tries", "low", "high"),
    # Newcombe (1998), Statistics in Medicine 17, Table I, method 3; and the zero of 500 that has to read 0.8 %.
    [
        (81, 263, 0.2553, 0.3662),
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (0, 500, 0.0, 0.0076),
        (500, 500, 0.9924, 1.0),
    ],
)
def test_wilson_as_printed(hits: int, tries: int, low: float, high: float) -> None:
    rate = wilson(hits, tries)
    assert rate.value == hits / tries
    assert (round(rate.low, 4), round(rate.high, 4)) == (low, high)


def test_nothing_found_is_exactly_nothing() -> None:
    for tries in (1, 3, 7, 500, 39_032):
        assert (wilson(0, tries).value, wilson(0, tries).low) == (0, 0)
        assert (wilson(tries, tries).value, wilson(tries, tries).high) == (1, 1)


def test_rounding_of_a_sum_of_chances_is_forgiven_and_more_is_not() -> None:
    assert wilson(3 + 1e-12, 3) == wilson(3, 3)
    assert wilson(-1e-12, 3) == wilson(0, 3)
    for hits, tries in ((-0.1, 3), (3.1, 3), (math.nan, 3), (0, 0), (0, -3)):
        with pytest.raises(InputError, match=f"there are {hits:g} of {tries}"):
            wilson(hits, tries)


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0, -0.5, math.nan])
def test_a_confidence_is_a_share(confidence: float) -> None:
    with pytest.raises(InputError, match="confidence must lie between 0 and 1"):
        risk(trials((1, 2)), confidence=confidence)


@given(counts(), counts(), confidences)
def test_excess_holds_the_ratios_that_are_not_contradicted(
    attack: tuple[float, int], control: tuple[float, int], confidence: float
) -> None:
    found = excess_over_control(trials(attack, control), confidence=confidence)
    a, c = attack[0] / attack[1], control[0] / control[1]
    if c == 1:
        assert math.isnan(found.value)
    elif control[1] - control[0] >= 0.5:  # with less than that left to win, limits are too large to be found by halving
        assert found.value == pytest.approx((a - c) / (1 - c), rel=1e-9, abs=1e-9)
        low, high = oracle.excess(attack, control, confidence)
        assert found.low == pytest.approx(low, rel=1e-6, abs=1e-6)
        assert found.high == pytest.approx(high, rel=1e-6, abs=1e-6)
        assert found.low <= found.value + 1e-12
        assert found.value <= found.high + 1e-12 <= 1 + 2e-12


def test_equal_rates_leave_no_excess() -> None:
    assert excess_over_control(trials((100, 100 * 7), (50, 50 * 7))).value == 0
    nothing = excess_over_control(trials((0, 500), (0, 500)))
    assert (nothing.value, round(nothing.high, 4)) == (0, 0.0076)
    assert nothing.low < 0


def test_hardly_anything_left_to_win_is_no_bound_from_below() -> None:
    for hits in (426.99, 427 - 1e-6, 427 - 1e-13):
        found = excess_over_control(trials((0, 1), (hits, 427)))
        assert found.low < -1e4
        assert found.low <= found.value <= found.high <= 1


def covered(rates: tuple[float, float], tries: tuple[int, int]) -> float:
    """The probability that the interval holds the true excess, over all outcomes that have one."""
    truth = 1 - (1 - rates[0]) / (1 - rates[1])
    held = defined = 0.0
    one, two = (oracle.binomial(n, p) for n, p in zip(tries, rates, strict=True))
    for (i, p), (j, q) in product(enumerate(one), enumerate(two)):
        if j < tries[1] and p * q > 1e-9:
            found = excess_over_control(trials((i, tries[0]), (j, tries[1])))
            defined += p * q
            held += p * q * (found.low - 1e-12 <= truth <= found.high + 1e-12)
    return held / defined


@pytest.mark.parametrize("tries", [(50, 50), (30, 90), (90, 30)])
@pytest.mark.parametrize(
    "rates", [(0.0, 0.0), (0.02, 0.0), (0.1, 0.01), (0.3, 0.3), (0.6, 0.0), (0.9, 0.8), (0.1, 0.5)]
)
def test_the_interval_of_the_excess_covers_it(rates: tuple[float, float], tries: tuple[int, int]) -> None:
    assert covered(rates, tries) >= 0.93


@pytest.mark.parametrize("rates", [(0.02, 0.01), (0.12, 0.02), (0.5, 0.1)])
def test_it_covers_at_the_usual_size_and_no_more_than_it_should(rates: tuple[float, float]) -> None:
    rng = np.random.default_rng(4)
    truth = 1 - (1 - rates[0]) / (1 - rates[1])
    draws = rng.binomial(500, rates, size=(2000, 2)).tolist()
    found = [excess_over_control(trials((a, 500), (c, 500))) for a, c in draws]
    share = float(np.mean([one.low <= truth <= one.high for one in found]))
    assert 0.935 <= share <= 0.975


@given(counts())
def test_chances_are_covered_at_least_as_well_as_hits(count: tuple[float, int]) -> None:
    """The spread of a mean of chances is at most that of hits and misses with the same mean: Wilson is wide enough."""
    share = count[0] / count[1]
    chances = np.clip(np.full(9, share) + np.linspace(-1, 1, 9) * min(share, 1 - share), 0, 1)
    assert chances.var() <= share * (1 - share) + 1e-12


def test_without_a_control_table_nothing_is_said_of_the_excess() -> None:
    found = risk(trials((5, 10)))
    for rate in (found.control_rate, found.excess_over_control):
        assert all(math.isnan(number) for number in (rate.value, rate.low, rate.high))
        assert not rate.defined
        assert "no control table" in rate.why
    assert (found.attack_rate.value, found.naive_rate.value, found.attack_rate.why) == (0.5, 0, "")


def test_a_control_that_always_succeeds_leaves_nothing_to_exceed() -> None:
    found = excess_over_control(trials((5, 10), (10, 10)))
    assert math.isnan(found.value)
    assert "everybody in the control table" in found.why


def test_the_bundle_holds_the_four() -> None:
    given_trials = trials((60, 500), (10, 500))
    bundle = risk(given_trials, confidence=0.9)
    for name, function in zip(RATES, (attack_rate, naive_rate, control_rate, excess_over_control), strict=True):
        assert getattr(bundle, name) == function(given_trials, confidence=0.9)
    narrow, wide = (risk(given_trials, confidence=level).excess_over_control for level in (0.5, 0.99))
    assert wide.low < narrow.low < narrow.value == wide.value < narrow.high < wide.high


def test_the_four_are_listed_on_trials() -> None:
    for name in RATES:
        facts = METRICS[name]
        assert (facts.on, facts.category, facts.per, facts.needs_truth) == ("Trials", "risk", "release", False)
        assert facts.more_means == "less private"
        assert facts.undefined.startswith("NaN without a control table") == ("control" in name)
