"""The table of all metrics says what each metric says: its spread, what is undefined, and why."""

import math
from collections.abc import Mapping
from statistics import fmean

import numpy as np
import pytest
from hypothesis import given

from tests.candidate_strategies import Case, cases
from unveil.guesses import Candidates
from unveil.metrics import METRICS, MetricValue, all_metrics

LISTED = [name for name, metric in METRICS.items() if metric.on == "Candidates" and metric.usual]


def by_name(table: tuple[MetricValue, ...]) -> Mapping[str, MetricValue]:
    return {one.metric.name: one for one in table}


def quantile(values: list[float], share: float) -> float:
    """The value below which this share of the sorted values lies, on the line between the two nearest."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below, above = ordered[math.floor(place)], ordered[math.ceil(place)]
    return below + (place - math.floor(place)) * (above - below)


def close(one: float, other: float) -> bool:
    return one == pytest.approx(other, rel=1e-12, abs=1e-12, nan_ok=True)


@given(cases())
def test_who_is_at_the_cap_was_given_no_probability(case: Case) -> None:
    table = by_name(all_metrics(case.guess, case.truth))
    surprised = table["information_surprisal"].values
    believed = 1 - table["incorrectness"].values[~np.isnan(surprised)]
    # Cases have no probability that is tiny and not 0.
    share = math.nan if believed.size == 0 else float((believed < 1e-12).mean())
    assert close(table["information_surprisal"].at_cap, share)
    assert close(table["relative_entropy"].at_cap, share)
    assert all(math.isnan(each.at_cap) for name, each in table.items() if not METRICS[name].capped)


@given(cases())
def test_every_row_is_what_its_metric_says(case: Case) -> None:
    table = all_metrics(case.guess, case.truth)
    assert [one.metric.name for one in table] == LISTED
    for one in table:
        assert one.metric is METRICS[one.metric.name]
        truth = (case.truth,) if one.metric.needs_truth else ()
        direct = np.atleast_1d(one.metric.function(case.guess, *truth))
        np.testing.assert_array_equal(one.values, direct)
        known = [value for value in direct.tolist() if not math.isnan(value)]
        assert one.undefined == direct.size - len(known)
        assert bool(one.why) == bool(one.undefined)
        assert close(one.mean, fmean(known) if known else math.nan), one.metric.name
        spread = one.metric.per == "target" and known
        for value, share in ((one.low, 0.05), (one.median, 0.5), (one.high, 0.95)):
            assert close(value, quantile(known, share) if spread else math.nan), one.metric.name


@given(cases())
def test_without_truth_there_is_what_needs_none(case: Case) -> None:
    table, full = all_metrics(case.guess), by_name(all_metrics(case.guess, case.truth))
    assert [one.metric.name for one in table] == [name for name in LISTED if not METRICS[name].needs_truth]
    for one in table:
        other = full[one.metric.name]
        np.testing.assert_array_equal(one.values, other.values)
        assert (one.undefined, one.why) == (other.undefined, other.why)


@given(cases())
def test_reasons_count_what_is_undefined(case: Case) -> None:
    idle = sum(not target.attempted for target in case.targets)
    nobody = sum(target.attempted and not target.somebody for target in case.targets)
    for one in all_metrics(case.guess, case.truth):
        if one.metric.per == "target":
            reasons = [f"{idle} not attempted"] if idle else []
            reasons += [f"{nobody} without a true match"] if nobody and one.metric.needs_truth else []
            assert one.why == " and ".join(reasons)


def test_all_that_can_be_undefined() -> None:
    guess = Candidates.from_scores([[1, 1], [1, 3], [0, 0], [1, 0]], chosen=[0, 1, -1, -1])
    table = by_name(all_metrics(guess, [0, -1, 0, 1]))
    entropy, error = table["entropy"], table["incorrectness"]
    assert (entropy.undefined, entropy.why) == (2, "2 not attempted")
    assert (error.undefined, error.why) == (3, "2 not attempted and 1 without a true match")
    assert (error.mean, error.median, error.low, error.high) == (0.5, 0.5, 0.5, 0.5)
    np.testing.assert_array_equal(error.values, [0.5, np.nan, np.nan, np.nan])


def test_nobody_at_all() -> None:
    guess = Candidates.from_matrix([[0.5, 0.5]])
    table = by_name(all_metrics(guess, [-1]))
    for name in ("conditional_privacy_loss", "loss_of_anonymity", "incorrectly_classified"):
        assert math.isnan(table[name].mean)
        assert (table[name].undefined, bool(table[name].why)) == (1, True)
    assert table["adversary_success_rate"].mean == 0
    assert table["entropy"].mean == 1


def test_nothing_attempted() -> None:
    table = by_name(all_metrics(Candidates.from_scores([[0.0], [0.0]]), [0, 0]))
    for one in table.values():
        if one.metric.per == "target":
            assert (one.undefined, one.why) == (2, "2 not attempted")
            assert all(math.isnan(number) for number in (one.mean, one.median, one.low, one.high))
    certain = {"adversary_success_rate": 0, "adversary_overall_success": 0, "incorrectly_classified": 0}
    certain |= {"amount_of_leaked_information": 0, "hiding_property": 2, "user_specified_innocence": 2}
    assert {name: table[name].mean for name in certain} == certain


def test_truth_by_name_is_the_same() -> None:
    guess = Candidates.from_table(["t", "t", "u"], ["x", "y", "x"], [0.25, 0.75, 1.0])
    named = all_metrics(guess, {"t": "y", "u": "elsewhere"})
    numbered = all_metrics(guess, [1, 2])
    for one, other in zip(named, numbered, strict=True):
        np.testing.assert_array_equal(one.values, other.values)
