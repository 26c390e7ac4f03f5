"""How well scores tell members: pairs and places counted one by one, intervals that hold the truth, and bad input."""

import math
from collections.abc import Callable
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.oracles import membership as oracle
from unveil.errors import InputError
from unveil.metrics.trials.membership import area_under_curve, called_at, curve, pointed_out
from unveil.metrics.trials.risk import clopper_pearson, wilson

few_scores = st.lists(st.one_of(st.integers(0, 4).map(float), st.just(math.inf)), min_size=2, max_size=9)


@given(few_scores, few_scores)
def test_every_pair_counts_and_both_intervals_are_inside(members: list[float], nonmembers: list[float]) -> None:
    found = area_under_curve(members, nonmembers)
    exact = oracle.area(members, nonmembers)
    assert found.value == pytest.approx(float(exact), abs=1e-12)
    assert 0 <= found.low <= found.value <= found.high <= 1
    # The other way round it is the same question.
    mirrored = area_under_curve(nonmembers, members)
    assert (mirrored.low, mirrored.high) == pytest.approx((1 - found.high, 1 - found.low), abs=1e-9)
    if 0 < exact < 1:
        low, high = delong(members, nonmembers)
        assert found.low <= low + 1e-9
        assert found.high >= high - 1e-9
    m, n, z = len(members), len(nonmembers), NormalDist().inv_cdf(0.975)
    for limit in (found.low, found.high):
        # At or beyond the area that Hanley and McNeil's variance, with both sizes as their mean, cannot reach.
        spread = 1 + ((m + n) / 2 - 1) * ((1 - limit) / (2 - limit) + limit / (1 + limit))
        reach = z * math.sqrt(limit * (1 - limit) / (m * n) * spread)
        assert limit in (0, 1) or abs(found.value - limit) >= reach - 1e-9


def delong(members: list[float], nonmembers: list[float]) -> tuple[float, float]:
    """DeLong's limits on the logit scale, from how much the area of each person varies."""
    of_members = [float(oracle.area([one], nonmembers)) for one in members]
    of_others = [float(oracle.area(members, [other])) for other in nonmembers]
    variance = sum(np.var(each, ddof=1) / len(each) for each in (of_members, of_others))
    area = sum(of_members) / len(of_members)
    width = NormalDist().inv_cdf(0.975) * math.sqrt(variance) / (area * (1 - area))
    odds = math.log(area / (1 - area))
    return tuple(1 / (1 + math.exp(-limit)) for limit in (odds - width, odds + width))  # type: ignore[return-value]


def test_groups_that_do_not_overlap_are_not_sure_to_be_apart() -> None:
    found = area_under_curve(range(10, 50), range(10))
    assert (found.value, found.high) == (1, 1)
    assert found.low <= wilson(10, 10).low
    assert area_under_curve(range(10), range(10, 50)).high == pytest.approx(1 - found.low)


def test_scores_that_are_all_alike_tell_nothing() -> None:
    found = area_under_curve([1] * 30, [1] * 40)
    assert found.value == 0.5
    assert found.low < 0.4
    assert found.high > 0.6


def test_more_confidence_is_wider() -> None:
    wide, narrow = (area_under_curve([1, 2, 3, 4], [0, 1, 2, 3], confidence=share) for share in (0.99, 0.5))
    assert wide.low < narrow.low < narrow.high < wide.high


def drawn(kind: str, m: int, n: int, rng: np.random.Generator) -> tuple[Any, Any, float]:
    """Return scores of members and others, and the true area."""
    others = rng.normal(size=n)
    if kind == "shifted":
        return rng.normal(1.5, 1, m), others, NormalDist().cdf(1.5 / math.sqrt(2))
    if kind == "wider":
        return rng.normal(0, 4, m), others, 0.5
    if kind == "whole numbers":
        return rng.integers(0, 4, m), rng.integers(0, 4, n), 0.5
    share = {"some copied": 0.3, "nearly all copied": 0.95}[kind]
    return np.where(rng.random(m) < share, np.inf, rng.normal(size=m)), others, share + (1 - share) / 2


@pytest.mark.parametrize("sizes", [(20, 30), (300, 40), (40, 300)])
@pytest.mark.parametrize("kind", ["shifted", "wider", "whole numbers", "some copied", "nearly all copied"])
def test_the_interval_holds_the_truth_as_often_as_it_says(kind: str, sizes: tuple[int, int]) -> None:
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(400):
        members, others, truth = drawn(kind, *sizes, rng)
        found = area_under_curve(members, others)
        held += found.low <= truth <= found.high
    # At 95 % fewer than 369 of 400 come once in a hundred such tests.
    assert held >= 369


@pytest.mark.parametrize(("members", "nonmembers"), [([1], [1, 2]), ([1, 2], []), ([], [])])
def test_too_few_people_have_no_area(members: list[float], nonmembers: list[float]) -> None:
    found = area_under_curve(members, nonmembers)
    assert not found.defined
    assert math.isnan(found.low)
    assert "at least two members" in found.why


@pytest.mark.parametrize(
    ("members", "nonmembers", "confidence", "message"),
    [
        ([1, math.nan], [1, 2], 0.95, "members has missing values or is not a flat sequence"),
        ([1, 2], [[1, 2]], 0.95, "nonmembers has missing values or is not a flat sequence"),
        ([1, 2], [1, 2], 95, "confidence must lie between 0 and 1"),
    ],
)
def test_bad_input_is_refused(members: Any, nonmembers: Any, confidence: float, message: str) -> None:
    with pytest.raises(InputError, match=message):
        area_under_curve(members, nonmembers, confidence=confidence)


@given(few_scores, few_scores, st.sampled_from((0.1, 0.25, 0.5, 0.9)))
def test_members_are_called_as_often_as_lots_call_them(members: list[float], others: list[float], level: float) -> None:
    found = called_at(members, others, level)
    if level * (len(others) + 1) < 1:
        assert not found.defined
        assert f"at least {math.ceil(1 / level) - 1} non-members" in found.why
        return
    chances = [oracle.chance(score, others, Fraction(str(level))) for score in members]  # type: ignore[arg-type]
    assert found.value == pytest.approx(float(sum(chances) / len(chances)))
    alone = clopper_pearson(found.value * len(members), len(members))
    assert 0 <= found.low <= alone.low + 1e-9
    assert alone.high - 1e-9 <= found.high <= 1


@pytest.mark.parametrize(("level", "least"), [(0.05, 19), (0.01, 99), (0.001, 999)])
def test_a_level_needs_enough_people_outside(level: float, least: int) -> None:
    assert called_at([2.0] * 50, np.zeros(least), level).value == 1
    assert not called_at([2.0] * 50, np.zeros(least - 1), level).defined
    assert not called_at([], np.zeros(least), level).defined


TRUE_SHARES: dict[str, Callable[[float], float]] = {
    "shifted": lambda level: 1 - NormalDist(1.5, 1).cdf(NormalDist().inv_cdf(1 - level)),
    "wider": lambda level: 1 - NormalDist(0, 4).cdf(NormalDist().inv_cdf(1 - level)),
    "whole numbers": lambda level: level,
    "some copied": lambda level: 0.3 + 0.7 * level,
}


@pytest.mark.parametrize("sizes", [(300, 120), (120, 500)])
@pytest.mark.parametrize("kind", TRUE_SHARES)
def test_the_interval_of_a_rate_knows_that_the_threshold_is_drawn(kind: str, sizes: tuple[int, int]) -> None:
    rng, held, alone = np.random.default_rng(4), 0, 0
    for _ in range(300):
        members, others, _ = drawn(kind, *sizes, rng)
        found, truth = called_at(members, others, 0.05), TRUE_SHARES[kind](0.05)
        held += found.low <= truth <= found.high
        by_members = clopper_pearson(found.value * sizes[0], sizes[0])
        alone += by_members.low <= truth <= by_members.high
    # At 95 % fewer than 275 of 300 come once in a hundred such tests.
    assert held >= 275
    if kind == "shifted" and sizes == (300, 120):
        assert alone < 240


@given(few_scores, few_scores)
def test_the_curve_passes_every_threshold_and_its_area_is_that_of_pairs(one: list[float], other: list[float]) -> None:
    false, true = curve(one, other)
    assert (false[0], true[0], false[-1], true[-1]) == (0, 0, 1, 1)
    corners = set(zip(false.tolist(), true.tolist(), strict=True))
    assert len(corners) == false.size
    points = {
        (sum(each >= limit for each in other) / len(other), sum(each >= limit for each in one) / len(one))
        for limit in [*one, *other]
    }
    assert corners <= points | {(0.0, 0.0)}
    for x, y in points:
        within = (np.diff(false) * (y - true[:-1]) - np.diff(true) * (x - false[:-1])).tolist()
        between = (false[:-1] <= x) & (x <= false[1:]) & (true[:-1] <= y) & (y <= true[1:])
        assert any(abs(each) < 1e-12 and inside for each, inside in zip(within, between, strict=True))
    assert np.trapezoid(true, false) == pytest.approx(float(oracle.area(one, other)))


def test_a_curve_without_people_tells_nothing() -> None:
    assert [each.tolist() for each in curve([], [1.0])] == [[0.0, 1.0], [0.0, 1.0]]


@given(few_scores, st.lists(st.integers(0, 4).map(float), max_size=60), st.sampled_from(("0.05", "0.2", "0.5")))
def test_who_is_pointed_out_follows_from_the_procedure(one: list[float], other: list[float], error: str) -> None:
    wanted = oracle.pointed_out(one, other, Fraction(error))
    assert pointed_out(one, other, error=float(error)).tolist() == wanted


def test_of_all_who_are_pointed_out_few_are_wrong_and_on_null_data_seldom_anybody() -> None:
    rng, wrong, named, by_luck = np.random.default_rng(5), 0, 0, 0
    for _ in range(200):
        others, copied = rng.normal(size=400), rng.random(400) < 0.3
        found = pointed_out(np.where(copied, 9.0, rng.normal(size=400)), others)
        named += int(found.sum())
        wrong += int((found & ~copied).sum())
        by_luck += bool(pointed_out(rng.normal(size=400), others).any())
    assert named > 200 * 0.29 * 400
    assert wrong / named < 0.05
    assert by_luck <= 20  # of 200 at 5 % more come once in a hundred such tests


@pytest.mark.parametrize("level", [0, 1, 5, "5 %", math.nan])
def test_levels_are_checked(level: Any) -> None:
    with pytest.raises(InputError, match="level must lie between 0 and 1"):
        called_at([1.0], [0.0], level)
    with pytest.raises(InputError, match="error must lie between 0 and 1"):
        pointed_out([1.0], [0.0], error=level)
