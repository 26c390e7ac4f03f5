"""Grades of planted values: the mean and its interval by hand, verdicts one by one, suites and what is refused."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.grades.planted import METRICS, planted
from unveil.errors import InputError
from unveil.grades.grades import (
    HERE,
    NOTHING_SIGNIFICANT,
    PAPER,
    MetricGrade,
    ScoreSummary,
    Verdict,
    grade,
    groups_of,
    recommended,
    summarize,
)
from unveil.grades.replicated_metrics import GradedCase
from unveil.grades.suites import SUITES, Suite

RNG = np.random.default_rng


def interval(scores: NDArray[np.float64], groups: NDArray[np.int64]) -> tuple[float, float]:
    """Return the 95 % interval of the mean by its definition: whole groups are the draws."""
    from scipy.special import stdtrit

    mean = scores.mean()
    names = sorted(set(groups.tolist()))
    sums = [sum(score - mean for score, group in zip(scores, groups, strict=True) if group == name) for name in names]
    number = len(names)
    error = math.sqrt(number / (number - 1) * sum(each**2 for each in sums)) / len(scores)
    half = stdtrit(number - 1, 0.975) * error
    return max(0.0, mean - half), min(1.0, mean + half)


def test_the_interval_takes_the_axes_of_an_attack_as_one_draw() -> None:
    scores = np.array([0.2, 0.3, 0.6, 0.5, 0.9, 0.8])
    pairs, alone = np.array([0, 0, 1, 1, 2, 2]), np.arange(6)
    found = summarize(scores, pairs)
    assert (found.mean, found.median) == pytest.approx((0.55, 0.55))
    assert (found.cases, found.undefined) == (6, 0)
    assert (found.low, found.high) == pytest.approx(interval(scores, pairs))
    assert found.high - found.low > summarize(scores, alone).high - summarize(scores, alone).low


def test_with_one_case_to_a_group_it_is_the_interval_of_student() -> None:
    scores = np.array([0.4, 0.5, 0.6, 0.45])
    found = summarize(scores, np.arange(4))
    half = 3.182446305284263 * scores.std(ddof=1) / 2
    assert (found.low, found.high) == pytest.approx((scores.mean() - half, scores.mean() + half))


def test_the_interval_holds_the_truth_in_nineteen_of_twenty_draws() -> None:
    rng, groups = RNG(3), np.repeat(np.arange(20), 2)
    held = 0
    for _ in range(400):
        scores = 0.5 + np.repeat(rng.normal(0, 0.05, 20), 2) + rng.normal(0, 0.03, 40)
        found = summarize(scores, groups)
        held += found.low <= 0.5 <= found.high
    assert 0.92 <= held / 400 <= 0.98


def test_undefined_scores_are_left_out_and_counted() -> None:
    found = summarize(np.array([0.5, np.nan, 0.7]), np.array([0, 1, 1]))
    assert found.mean == pytest.approx(0.6)
    assert (found.cases, found.undefined) == (2, 1)
    nothing = summarize(np.array([np.nan]), np.array([0]))
    assert math.isnan(nothing.mean)
    assert (nothing.cases, nothing.undefined) == (0, 1)
    assert math.isnan(summarize(np.array([0.5, 0.7]), np.array([4, 4])).low)


def test_cases_that_differ_in_their_axis_are_one_group() -> None:
    cases = [GradedCase(d, p, "NS", axis) for d, p, axis in product("ab", "xy", ("overlap", "seed_pairs"))]
    assert groups_of(cases).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


def made(
    mean: float = 0.9,
    low: float = 0.8,
    *,
    undecided: float = 0.1,
    against: float = 0.05,
    cases: int = 9,
    groups: int = 9,
    metric: str = "entropy",
    axis: str = "overlap",
) -> MetricGrade:
    """Return a grade with only what a verdict looks at."""
    nan = math.nan
    score = ScoreSummary(
        mean=mean, low=low, high=1.0, first_quartile=nan, median=nan, third_quartile=nan, cases=cases, groups=groups,
        undefined=0,
    )  # fmt: skip
    return MetricGrade(
        metric=metric,
        monotonicity=score,
        evenness=score,
        shared_range=score,
        undecided=undecided,
        against=against,
        by_axis={axis: score},
    )


@pytest.mark.parametrize(
    ("each", "verdict", "why"),
    [
        (made(), "use", "monotone in attacker strength"),
        (made(cases=0), "no grade", "no case"),
        (made(2 / 3, undecided=1.0), "do not rank by it", "in no case"),
        (made(0.6, 0.55), "do not rank by it", "no better than a metric that never changes"),
        (made(against=0.34), "do not rank by it", "more than a third"),
        (made(against=1 / 3), "with care", "more than a fifth"),
        (made(against=0.2), "use", ""),
        (made(undecided=0.51), "with care", "less than half"),
        (made(undecided=0.5), "use", ""),
        (made(0.7, NOTHING_SIGNIFICANT), "with care", "not significantly better"),
        (made(0.7, math.nan), "with care", "one combination"),
        (made(1.0, 1.0, groups=3), "with care", "3 combinations of data, protection and attack are too few"),
        (made(1.0, 1.0, groups=4), "use", ""),
        (made(metric="hiding_property"), "use", ""),
        (made(metric="hiding_property", axis="seed_pairs"), "with care", "counts targets"),
        (made(metric="adversary_success_rate", axis="seed_pairs"), "use", ""),
    ],
)
def test_the_verdict_follows_its_rule(each: MetricGrade, verdict: Verdict, why: str) -> None:
    assert each.verdict == verdict
    assert why in each.reason


def test_metrics_that_follow_strength_are_told_from_those_that_do_not() -> None:
    found = grade(planted(), rng=RNG(1))
    verdicts = {each.metric: each.verdict for each in found.metrics}
    assert verdicts["adversary_overall_success"] == "use"
    assert verdicts["entropy"] == "do not rank by it"
    assert verdicts["min_entropy"] == "do not rank by it"
    assert verdicts["max_entropy"] == "no grade"
    assert found.metric("min_entropy").undecided == 1
    assert found.metric("min_entropy").monotonicity.mean == pytest.approx(NOTHING_SIGNIFICANT)
    assert found.metric("entropy").against == 1
    means = [each.monotonicity.mean for each in found.metrics if each.monotonicity.cases]
    assert means == sorted(means, reverse=True)
    assert found.metrics[-1].metric == "max_entropy"
    assert {"entropy", "min_entropy", "max_entropy"}.isdisjoint(each.metric for each in recommended(found))
    assert set(found.metric("entropy").by_axis) == {"overlap", "seed_pairs"}


def test_nothing_depends_on_the_order_of_cases_and_metrics() -> None:
    values = planted()
    turned = values.only(cases=np.arange(len(values.cases))[::-1], metrics=values.metrics[::-1])
    one, other = (grade(each, rng=RNG(1)) for each in (values, turned))
    for name in METRICS:
        a, b = one.metric(name), other.metric(name)
        assert a.verdict == b.verdict
        assert (a.monotonicity.mean, a.evenness.mean) == pytest.approx(
            (b.monotonicity.mean, b.evenness.mean), nan_ok=True
        )
        assert (a.monotonicity.low, a.shared_range.high) == pytest.approx(
            (b.monotonicity.low, b.shared_range.high), nan_ok=True
        )


def test_suites_whose_metrics_are_there_are_graded_and_searched() -> None:
    found = grade(planted(), suites=[Suite.parse("mine:entropy=0.5,adversary_success_rate=0.5")], rng=RNG(1))
    assert {each.suite.name for each in found.suites} == {*SUITES, "mine"}
    shares = [each.whole.mean for each in found.suites]
    assert shares == sorted(shares, reverse=True)
    assert PAPER in found.searches
    assert set(found.searches[PAPER].metrics) == set(SUITES["S5"].metrics)
    assert found.left_out == ()
    few = grade(planted().only(metrics=["adversary_overall_success", "adversary_success_rate"]), rng=RNG(1))
    assert few.suites == ()
    assert (few.suite_scores, few.rankings) == (None, None)
    assert len(few.left_out) == 1
    assert few.left_out[0].startswith("The suites S1, S2, S3, S4, S5 are left out: ")
    assert few.left_out[0].count("normalized_variance") == 1
    some = grade(planted().only(metrics=[name for name in METRICS if name != "absolute_error"]), rng=RNG(1))
    assert some.left_out == ("The suite S5 is left out: absolute_error was not computed.",)
    one_level = planted()
    numbers = np.array(one_level.values)
    numbers[:, :, 1:] = np.nan
    assert grade(replace(one_level, values=numbers), rng=RNG(1)).searches == {}
    assert list(few.searches) == [HERE]


def test_a_usual_suite_may_be_named_again() -> None:
    found = grade(planted(), suites=[Suite.parse("S2")], rng=RNG(1))
    assert [each.suite.name for each in found.suites].count("S2") == 1


def test_one_replication_leaves_monotonicity_undefined_and_the_rest_graded() -> None:
    values = planted()
    single = type(values)(
        cases=values.cases,
        metrics=values.metrics,
        levels=values.levels,
        values=values.values[..., :1].copy(),
        rising=values.rising,
    )
    found = grade(single, rng=RNG(1))
    assert {each.verdict for each in found.metrics} == {"no grade"}
    assert all(math.isfinite(each.evenness.mean) for each in found.metrics if each.metric != "max_entropy")
    assert math.isfinite(found.suites[0].whole.mean)
    assert HERE not in found.searches


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"level": 0.0}, "between 0 and 1, both excluded"),
        ({"level": math.nan}, "between 0 and 1, both excluded"),
        ({"suites": [Suite("S1", {"entropy": 1.0})]}, "'S1' is there twice"),
        ({"suites": [Suite("a", {"entropy": 1.0}), Suite("a", {"min_entropy": 1.0})]}, "'a' is there twice"),
        ({"suites": [Suite("a", {"normalized_entropy": 1.0})]}, "was not computed"),
    ],
)
def test_what_cannot_be_graded_is_refused(settings: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        grade(planted(), rng=RNG(1), **settings)  # type: ignore[arg-type]


def test_a_metric_that_was_not_graded_is_refused_with_a_hint() -> None:
    with pytest.raises(InputError, match="Did you mean 'entropy'"):
        grade(planted(), rng=RNG(1)).metric("entropi")
