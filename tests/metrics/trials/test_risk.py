"""Rates say what was counted, and their intervals hold the truth as often as they claim."""

import math
from collections.abc import Callable
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import risk as oracle
from unveil.errors import InputError
from unveil.guesses.trials import Attempts, Trials
from unveil.metrics import METRICS
from unveil.metrics.trials.risk import (
    ExcessStatus,
    Rate,
    attack_rate,
    clopper_pearson,
    control_rate,
    excess,
    excess_over_control,
    measured,
    naive_rate,
    risk,
    risk_of_people,
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


@given(st.integers(1, 40), st.data(), st.floats(0.5, 0.999))
def test_clopper_and_pearson_have_the_tails_of_a_binomial(tries: int, data: st.DataObject, confidence: float) -> None:
    hits = data.draw(st.integers(0, tries))
    found = clopper_pearson(hits, tries, confidence=confidence)
    assert (found.low, found.high) == pytest.approx(oracle.clopper_pearson(hits, tries, confidence), abs=1e-9)
    assert (found.value, found.tries) == (hits / tries, tries)


def test_clopper_and_pearson_as_printed() -> None:
    """Newcombe (1998), Statistics in Medicine 17, Table I, method 5."""
    printed = {
        (81, 263): (0.2527, 0.3676),
        (15, 148): (0.0578, 0.1617),
        (0, 20): (0.0, 0.1684),
        (1, 29): (0.0009, 0.1776),
    }
    for count, limits in printed.items():
        rate = clopper_pearson(*count)
        assert (round(rate.low, 4), round(rate.high, 4)) == limits


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


both_intervals = pytest.mark.parametrize("interval", [clopper_pearson, wilson])


@both_intervals
def test_nothing_found_is_exactly_nothing(interval: Callable[..., Rate]) -> None:
    for tries in (1, 3, 7, 500, 39_032):
        assert (interval(0, tries).value, interval(0, tries).low) == (0, 0)
        assert (interval(tries, tries).value, interval(tries, tries).high) == (1, 1)


@both_intervals
def test_rounding_of_a_sum_of_chances_is_forgiven_and_more_is_not(interval: Callable[..., Rate]) -> None:
    assert interval(3 + 1e-12, 3) == interval(3, 3)
    assert interval(-1e-12, 3) == interval(0, 3)
    for hits, tries in ((-0.1, 3), (3.1, 3), (math.nan, 3), (0, 0), (0, -3)):
        with pytest.raises(InputError, match=f"there are {hits:g} successes in {tries} attempts"):
            interval(hits, tries)


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
    assert (nothing.value, round(nothing.high, 4)) == (0, 0.0074)
    assert nothing.low < 0


def test_hardly_anything_left_to_win_is_no_bound_from_below() -> None:
    for hits in (426.99, 427 - 1e-6, 427 - 1e-13):
        found = excess_over_control(trials((0, 1), (hits, 427)))
        assert found.low < -1e4
        assert found.low <= found.value <= found.high <= 1


@pytest.mark.parametrize("tries", [(50, 50), (20, 80), (80, 20)])
def test_the_interval_of_the_excess_covers_it_by_all_outcomes(tries: tuple[int, int]) -> None:
    """On a grid of 400 truths; Wilson's limits would cover with 93.7 % only, which the least must be above."""
    one, two = ([clopper_pearson(hits, n) for hits in range(n + 1)] for n in tries)
    found = [[excess(attack, control) for control in two[:-1]] for attack in one]
    low, high = (np.array([[getattr(each, end) for each in row] for row in found]) for end in ("low", "high"))
    grid = np.linspace(0, 0.95, 20)
    of_control = {c: np.array(oracle.binomial(tries[1], c)[:-1]) for c in grid.tolist()}
    held, over = [], []
    for c, truth in product(grid.tolist(), grid.tolist()):
        weights = np.outer(oracle.binomial(tries[0], 1 - (1 - truth) * (1 - c)), of_control[c] / of_control[c].sum())
        held.append(weights[(low - 1e-12 <= truth) & (truth <= high + 1e-12)].sum())
        over.append(weights[low - 1e-12 > truth].sum())
    assert 0.95 <= min(held) <= 0.965
    assert max(over) <= 0.03


def test_what_cannot_be_measured_is_said() -> None:
    def said(attack: tuple[int, int], control: tuple[int, int]) -> ExcessStatus:
        rates = clopper_pearson(*attack), clopper_pearson(*control)
        return measured(excess(*rates), rates[1])

    assert said((90, 100), (10, 100)) == ExcessStatus.YES
    assert said((500, 500), (451, 500)) == ExcessStatus.TOO_BLUNT  # strangers are missed in less than a tenth
    assert said((5, 10), (5, 10)) == ExcessStatus.TOO_BLUNT  # the interval is wider than one half
    assert said((5, 10), (10, 10)) == ExcessStatus.AS_SURELY
    nobody = risk(trials((5, 10)))
    assert measured(nobody.excess_over_control, nobody.control_rate) == ExcessStatus.NO_CONTROL


@given(counts())
def test_chances_are_covered_at_least_as_well_as_hits(count: tuple[float, int]) -> None:
    """The spread of a mean of chances is at most that of hits and misses with the same mean: it is wide enough."""
    share = count[0] / count[1]
    chances = np.clip(np.full(9, share) + np.linspace(-1, 1, 9) * min(share, 1 - share), 0, 1)
    assert chances.var() <= share * (1 - share) + 1e-12


def test_without_a_control_table_nothing_is_said_of_the_excess() -> None:
    found = risk(trials((5, 10)))
    for rate in (found.control_rate, found.excess_over_control):
        assert all(math.isnan(number) for number in (rate.value, rate.low, rate.high))
        assert not rate.defined
        assert "no control group" in rate.why
    assert (found.attack_rate.value, found.naive_rate.value, found.attack_rate.why) == (0.5, 0, "")


def test_a_control_that_always_succeeds_leaves_nothing_to_exceed() -> None:
    found = excess_over_control(trials((5, 10), (10, 10)))
    assert math.isnan(found.value)
    assert found.why == "the control group is hit as surely, so this attack has no excess risk to measure"


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


@pytest.mark.unwatched
def test_means_over_secrets_that_go_together_have_intervals_over_people() -> None:
    rng = np.random.default_rng(5)

    def means(people: int, share: float) -> Attempts:
        """Return the mean over four secrets of each person, which are right together more often than not."""
        same, own = rng.random((people, 1)) < share, rng.random((people, 4)) < share
        return Attempts.from_chances(np.where(rng.random((people, 4)) < 0.6, same, own).mean(axis=1))

    covered, narrower = 0, 0
    for _ in range(300):
        tried = means(150, 0.4)
        trials = Trials(attack=tried, naive=tried, control=means(100, 0.25), what="a mean")
        of_people, plain = (each(trials).excess_over_control for each in (risk_of_people, risk))
        covered += of_people.low <= 0.2 <= of_people.high
        narrower += plain.low < of_people.low < of_people.high < plain.high
        assert of_people.value == pytest.approx(plain.value)
    assert 0.92 * 300 <= covered <= 0.99 * 300
    assert narrower == 300
    # A try that hits or misses is worth one, and nothing to compare with leaves nothing to tell.
    sure = Attempts.from_chances([1.0, 0.0, 0.0, 1.0, 1.0])
    alone = Trials(attack=sure, naive=sure, control=None, what="a mean")
    assert risk_of_people(alone).attack_rate == attack_rate(alone)
    assert not risk_of_people(alone).excess_over_control.defined
