"""Effects are risk differences with Newcombe's limits, and the worst attacker has limits of the largest effect."""

import math
from collections.abc import Sequence
from dataclasses import replace
from math import fsum
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import effects as oracle
from unveil.errors import InputError
from unveil.guesses.trials import Attempts, mean_of_rows
from unveil.metrics.trials.risk import Rate
from unveil.metrics.verdict.effects import (
    FOLD_CORRELATION,
    EffectSize,
    RatePair,
    _expected_maximum,
    _newcombe,
    _wilson_of,
    counted,
    cross_fitted,
    effective_attempts,
    household_effect,
    mean_correlation,
    membership_pair,
    risk_difference,
    shrunk_estimate,
    singling_out_pair,
    worst_effect,
)
from unveil.metrics.verdict.singling_out import SinglingOutRate, most_by_guessing

chances = st.lists(st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1)), min_size=20, max_size=60)
effects = st.builds(
    lambda value, low, high: EffectSize(value, value - low, value + high),
    st.floats(-1, 1),
    st.floats(0.01, 0.5),
    st.floats(0.01, 0.5),
)


def hits(number: float, attempts: int) -> Attempts:
    return Attempts(tries=attempts, expected=number, low=number, high=number)


def limits(effect: EffectSize) -> tuple[float, float, float]:
    return effect.value, effect.low, effect.high


def points(effect: EffectSize) -> tuple[float, float, float]:
    """Return an effect as it is printed: people per 100."""
    value, low, high = (round(100 * each, 1) for each in limits(effect))
    return value, low, high


@given(chances, chances, st.sampled_from([1, 5, 20, 80]))
def test_it_is_the_difference_with_limits_by_definition(attack: list[float], control: list[float], family: int) -> None:
    effect = risk_difference(Attempts.from_chances(attack), Attempts.from_chances(control), effects=family)
    assert limits(effect) == pytest.approx(oracle.risk_difference(attack, control, family), abs=1e-6)
    assert effect.value == effect.attack_rate - effect.baseline
    assert -1 <= effect.low <= effect.value <= effect.high <= 1


@given(chances)
def test_chances_are_worth_what_varies_as_much(each: list[float]) -> None:
    worth = effective_attempts(Attempts.from_chances(each))
    assert worth == pytest.approx(oracle.worth(each))
    assert worth >= len(each)
    assert effective_attempts(hits(sum(each), len(each))) == len(each)


@given(chances, chances, st.randoms(use_true_random=False))
def test_the_order_of_people_changes_nothing(attack: list[float], control: list[float], random: Random) -> None:
    effect = risk_difference(Attempts.from_chances(attack), Attempts.from_chances(control))
    shuffled = [each.copy() for each in (attack, control)]
    for each in shuffled:
        random.shuffle(each)
    assert risk_difference(*map(Attempts.from_chances, shuffled)) == effect


def test_rows_of_one_person_count_once() -> None:
    """Every person has three rows with one fate: three times the rows say no more."""
    rng = np.random.default_rng(1)
    fate = (rng.random(90) < 0.3).astype(np.float64)
    person = np.repeat(rng.permutation(90), 3)
    per_person = Attempts.from_chances(mean_of_rows(fate[person], person))
    assert limits(risk_difference(per_person, 0.1)) == limits(risk_difference(hits(fate.sum(), 90), 0.1))


#: Newcombe (1998), Table II: method 10, two-sided 95 %.
NEWCOMBE = [
    ((56, 70), (48, 80), 0.0524, 0.3339),
    ((9, 10), (3, 10), 0.1705, 0.8090),
    ((6, 7), (2, 7), 0.0582, 0.8062),
    ((5, 56), (0, 29), -0.0381, 0.1926),
    ((0, 10), (0, 20), -0.1611, 0.2775),
    ((0, 10), (0, 10), -0.2775, 0.2775),
    ((10, 10), (0, 20), 0.6791, 1.0),
    ((10, 10), (0, 10), 0.6075, 1.0),
]


@pytest.mark.parametrize(("one", "other", "low", "high"), NEWCOMBE)
def test_limits_printed_by_newcombe(one: tuple[int, int], other: tuple[int, int], low: float, high: float) -> None:
    """The lower limit of one effect has an error of 2.5 %; the upper one is the lower one of the opposite."""
    sides = [_wilson_of(each[0] / each[1], each[1]) for each in (one, other)]
    assert round(_newcombe(sides[0], sides[1], 1).low, 4) == low
    assert round(_newcombe(sides[1], sides[0], 1).low, 4) == -high


def test_published_worked_cases() -> None:
    """Copies of 26 against 3 of 500 people; re-identification of 10, 27 and 36 of 300, 1,800 and 1,800 records."""
    assert points(risk_difference(hits(26, 500), hits(3, 500), effects=20)) == (4.6, 1.4, 6.5)
    assert points(risk_difference(hits(10, 300), 1 / 300, effects=10)) == (3.0, 1.1, 5.2)
    assert points(risk_difference(hits(27, 1800), 1 / 1800, effects=10)) == (1.4, 0.8, 2.0)
    assert points(risk_difference(hits(36, 1800), 1 / 1800, effects=10)) == (1.9, 1.2, 2.6)
    linked = risk_difference(hits(0.1 * 1200, 1200), hits(0.003 * 800, 800), effects=20)
    assert points(linked) == (9.7, 7.0, 11.2)


def test_the_normalized_excess_is_a_share_of_what_is_left() -> None:
    effect = risk_difference(hits(84, 100), hits(20, 100))
    assert effect.normalized_excess == pytest.approx(0.8)
    assert math.isnan(risk_difference(hits(100, 100), hits(100, 100)).normalized_excess)


def test_few_attempts_are_not_tested() -> None:
    few, enough = hits(5, 19), hits(5, 20)
    assert risk_difference(enough, enough).is_tested
    assert "on people in the data" in risk_difference(few, enough).why_not_tested
    assert "on the control group" in risk_difference(enough, few).why_not_tested
    assert risk_difference(few, few, fewest=5).is_tested
    with pytest.raises(InputError, match="baseline must lie between 0 and 1"):
        risk_difference(enough, 1.5)
    with pytest.raises(InputError, match="effects must be"):
        risk_difference(enough, 0.5, effects=0)


def test_counted_effects_have_no_error() -> None:
    assert limits(counted(0.25, 0.05)) == (0.2, 0.2, 0.2)
    with pytest.raises(InputError, match="attack_rate must lie"):
        counted(2)


def singled_out(attack: Rate, strangers: Rate) -> SinglingOutRate:
    return SinglingOutRate(attack=attack, strangers=strangers, excess=Rate(0, 0, 0), shown=True, most=0.37)


def test_singling_out_joins_the_limits_of_both_rates() -> None:
    attack = Rate(0.5, 0.0, 1.0, tries=300, worth=120.0)
    effect = singling_out_pair(singled_out(attack, Rate(0.2, 0.1, 0.27))).effect(3)
    low, _ = oracle.score_limits(0.5, 120, 0.025 / 3)
    _, high = oracle.score_limits(0.5, 120, 0.05)
    expected = 0.3, 0.3 - math.hypot(0.5 - low, 0.07), 0.3 + math.hypot(high - 0.5, 0.1)
    assert limits(effect) == pytest.approx(expected, abs=1e-7)
    assert (
        not singling_out_pair(singled_out(Rate(1, 1, 1, tries=19, worth=19.0), Rate(0.2, 0.1, 0.3))).effect().is_tested
    )


def test_singling_out_without_a_control_group_is_above_every_guess() -> None:
    nobody = Rate(math.nan, 0.0, 0.37)
    effect = singling_out_pair(singled_out(Rate(0.71, 0, 1, tries=300, worth=250.0), nobody)).effect()
    low, _ = oracle.score_limits(0.71, 250, 0.025)
    _, high = oracle.score_limits(0.71, 250, 0.05)
    assert limits(effect) == pytest.approx((0.34, low - 0.37, high), abs=1e-7)
    assert (effect.attack_rate, effect.baseline) == (0.71, 0.37)
    below = singling_out_pair(singled_out(Rate(0.4, 0, 1, tries=300, worth=250.0), nobody)).effect()
    assert not below.is_tested
    assert most_by_guessing(10**6) < 0.37


scores = st.lists(st.integers(0, 8).map(float), min_size=20, max_size=50)


@given(scores, scores, scores)
def test_membership_is_measured_at_a_cutoff_of_others(
    members: list[float], control: list[float], calibration: list[float]
) -> None:
    effect = membership_pair(members, control, calibration).effect(2)
    called = [[oracle.chance_above_cutoff(each, calibration, 0.05) for each in side] for side in (members, control)]
    assert limits(effect) == pytest.approx(oracle.risk_difference(called[0], called[1], 2), abs=1e-6)


def test_membership_needs_people() -> None:
    some = np.arange(30.0)
    assert "fewer than 19 people" in membership_pair(some, some, some[:18]).why_not_tested
    assert not membership_pair([], some, some).effect().is_tested
    with pytest.raises(InputError, match="members has missing values or is not a flat sequence"):
        membership_pair([math.nan], some, some)


@given(st.lists(st.tuples(effects, st.booleans()), min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_the_worst_attacker_has_the_largest_limits(pairs: list[tuple[EffectSize, bool]], random: Random) -> None:
    every, significant = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    worst = worst_effect(every, significant)
    named = [effect for effect, is_named in pairs if is_named] or every
    assert worst.value == max(effect.value for effect in named)
    assert worst.high == max(effect.high for effect in every)
    assert worst.low == min(max(effect.low for effect in every), worst.value)
    random.shuffle(pairs)
    again = worst_effect([pair[0] for pair in pairs], [pair[1] for pair in pairs])
    assert limits(again) == limits(worst)
    assert limits(worst_effect([*every, EffectSize(math.nan, math.nan, math.nan)])) == limits(worst_effect(every))


def test_no_attacker_is_the_worst_where_none_was_tested() -> None:
    untested = EffectSize(math.nan, math.nan, math.nan, why_not_tested="too few")
    assert worst_effect([untested, untested]).why_not_tested == "too few"
    assert worst_effect([]).why_not_tested
    assert math.isnan(shrunk_estimate([untested]))


@given(st.lists(st.tuples(st.floats(-0.2, 0.6), st.floats(0.01, 0.1)), min_size=2, max_size=6))
def test_the_expected_maximum_is_an_integral(estimates: Sequence[tuple[float, float]]) -> None:
    means, errors = (np.array(each) for each in zip(*estimates, strict=True))
    assert _expected_maximum(means, errors) == pytest.approx(
        oracle.expected_maximum(means.tolist(), errors.tolist()), abs=1e-4
    )


def test_the_expected_maximum_of_equal_normal_numbers() -> None:
    for number, expected in ((1, 0.0), (2, 1 / math.sqrt(math.pi)), (3, 1.5 / math.sqrt(math.pi))):
        assert _expected_maximum(np.zeros(number), np.ones(number)) == pytest.approx(expected, abs=1e-4)


@given(st.lists(effects, min_size=1, max_size=6), st.floats(0, 1))
def test_an_estimate_shrinks_towards_the_mean_at_most(every: list[EffectSize], correlation: float) -> None:
    values = [effect.value for effect in every]
    estimate = shrunk_estimate(every, correlation=correlation)
    assert sum(values) / len(values) - 1e-12 <= estimate <= max(values)
    assert estimate >= max(effect.low for effect in every)
    assert shrunk_estimate(every, correlation=1.0) == max(values)
    assert shrunk_estimate(every[::-1], correlation=correlation) == pytest.approx(estimate)


@given(st.lists(st.tuples(st.integers(20, 90), st.integers(20, 90), st.floats(0, 1), st.floats(0, 1)), max_size=4))
def test_folds_are_weighed_alike_on_both_sides(folds: list[tuple[int, int, float, float]]) -> None:
    pairs = [
        RatePair(attack_rate=a, attack_attempts=n, baseline=c, baseline_attempts=m, people=n, control_people=m)
        for n, m, a, c in folds
    ]
    both = cross_fitted(pairs)
    if not pairs:
        assert both is None
        return
    assert both is not None
    weights = [n * m / (n + m) for n, m, _, _ in folds]
    difference = sum(w * (a - c) for w, (_, _, a, c) in zip(weights, folds, strict=True)) / sum(weights)
    assert both.attack_rate - both.baseline == pytest.approx(difference)
    shares = [w / sum(weights) for w in weights]
    variance = sum(
        shares[i] * shares[j] * (1.0 if i == j else FOLD_CORRELATION) / math.sqrt(folds[i][0] * folds[j][0])
        for i in range(len(folds))
        for j in range(len(folds))
    )
    assert both.attack_attempts == pytest.approx(1 / variance)
    assert cross_fitted([*pairs, replace(pairs[0], why_not_tested="few")]) is None


def test_the_correlation_is_that_of_column_means() -> None:
    """Draws of people, and the differences of means that they give."""
    rng = np.random.default_rng(5)

    def people(number: int) -> np.ndarray:
        common = rng.random((number, 1)) < 0.3
        return np.where(rng.random((number, 4)) < 0.6, common, rng.random((number, 4)) < 0.3).astype(np.float64)

    differences = np.array([people(80).mean(axis=0) - people(40).mean(axis=0) for _ in range(3000)])
    drawn = np.corrcoef(differences.T)[np.triu_indices(4, 1)].mean()
    estimated = np.mean([mean_correlation(people(80), people(40)) for _ in range(200)])
    assert estimated == pytest.approx(drawn, abs=0.03)
    assert mean_correlation(np.ones((5, 3)), np.ones((5, 3))) == 0
    with pytest.raises(InputError, match=r"the chances have the shapes \(5, 3\) and \(5, 2\)"):
        mean_correlation(np.ones((5, 3)), np.ones((5, 2)))


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 4)), min_size=1, max_size=30), st.randoms())
def test_household_effect_is_the_variance_of_household_sums(people: list[tuple[float, int]], rng: Random) -> None:
    chances = [chance for chance, _ in people]
    mean = fsum(chances) / len(chances)
    single = fsum((chance - mean) ** 2 for chance in chances)
    sums = [fsum(chance - mean for chance, home in people if home == each) for each in range(5)]
    made = household_effect(*zip(*people, strict=True))
    if single > 1e-9:
        assert made == pytest.approx(max(fsum(each**2 for each in sums) / single, 1.0), abs=1e-6)
    rng.shuffle(people)
    assert made == household_effect(*zip(*people, strict=True))


def test_identical_relatives_count_as_one() -> None:
    rng = np.random.default_rng(4)
    hits = rng.random(400) < 0.3
    assert household_effect(np.repeat(hits, 3), np.repeat(np.arange(400), 3)) == pytest.approx(3.0)
