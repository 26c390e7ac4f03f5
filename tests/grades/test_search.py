"""The search for suites: planted gains are found, noise shows none, and no case is on both sides."""

from collections.abc import Sequence
from dataclasses import astuple

import numpy as np
import pytest

from tests.approved.sentences import Approved
from tests.grades.suite_cases import NAMES, replicated
from tests.oracles.suites import grid, order
from unveil._kernels.types import FloatArray
from unveil.errors import InputError
from unveil.grades.cross_validation import WAYS, SuiteChoice, gain, validate
from unveil.grades.replicated_metrics import GradedCase, ReplicatedMetrics
from unveil.grades.search import SuiteSearch, best_suites
from unveil.grades.suite_steps import Steps, best_weights, merit
from unveil.grades.suites import Suite, rankings

DIRECTION = np.array([1.0, -1.0, 1.0, -1.0])


def attacks(number: int, data: int = 4) -> tuple[GradedCase, ...]:
    """Return two cases, one per axis, of so many attacks on so many data sets."""
    every = [(f"data{k % data}", f"attack{k}") for k in range(number)]
    return tuple(GradedCase(name, "none", attack, axis) for name, attack in every for axis in ("seeds", "overlap"))


def planted(slopes: Sequence[float], *, noise: float, number: int, levels: int, seed: int) -> ReplicatedMetrics:
    """Return metrics that follow strength with so much slope and independent noise, all in logarithms."""
    rng = np.random.default_rng(seed)
    count = len(slopes)
    signal = np.array(slopes)[:, None] * np.arange(levels)
    logs = signal[None] + rng.normal(0, noise, (2 * number, count, levels))
    return replicated(np.exp(DIRECTION[:count, None] * logs)[..., None], NAMES[:count], attacks(number))


def search(values: ReplicatedMetrics, seed: int = 0, **told: object) -> SuiteSearch:
    return best_suites(values, values.metrics, rng=np.random.default_rng(seed), **told)  # type: ignore[arg-type]


def test_a_suite_that_averages_independent_noise_is_better_and_the_gain_is_shown() -> None:
    found = search(planted([1, 1, 1, 1], noise=0.7, number=60, levels=4, seed=1))
    assert set(found.equal[0].suite.metrics) == set(NAMES)
    for validation in found.validations:
        for way in WAYS[1:]:
            assert validation.gains[way].shown
            assert 0.15 < validation.gains[way].mean < 0.6
    assert all("a gain." in sentence for sentence in found.sentences)


def test_noise_shows_no_gain_although_the_best_of_many_looks_better() -> None:
    apparent, honest, contained = [], [], 0
    for seed in range(20):
        found = search(planted([0, 0, 0], noise=1, number=30, levels=3, seed=seed), seed)
        apparent.append(found.apparent["optimized weights"] - found.apparent["single metric"])
        gains = found.validations[0].gains.values()
        honest.append([each.mean for each in gains])
        contained += sum(each.low <= 0 <= each.high for each in gains)
    assert np.mean(apparent) > 0.04
    assert np.abs(np.mean(honest, axis=0)).max() < 0.05
    assert contained >= 36  # of 40: an interval misses 0 about once in forty


def test_where_one_metric_holds_all_there_is_to_know_suites_are_no_better() -> None:
    found = search(planted([1, 0, 0, 0], noise=0.5, number=40, levels=4, seed=2))
    assert found.singles[0].suite.name == NAMES[0]
    by_attack = found.validations[0]
    assert by_attack.gains["equal weights"].high < 0
    assert not by_attack.gains["optimized weights"].shown
    assert any("a loss." in sentence for sentence in found.sentences)


def test_metrics_that_rank_alike_have_no_gain_at_all(approved: Approved) -> None:
    values = planted([1, 1], noise=0.5, number=10, levels=4, seed=3)
    alike = np.concatenate((values.values[:, :1], 1 / values.values[:, :1]), axis=1)
    found = search(replicated(alike, NAMES[:2], values.cases))
    for validation in found.validations:
        assert {astuple(each) for each in validation.gains.values()} == {(0.0, 0.0, 0.0)}
    approved(found.sentences[0])


@pytest.mark.parametrize("by", ["whole", "pairs"])
def test_shares_are_those_of_the_rankings(by: str) -> None:
    values = planted([0.5, 0.3, 0.4, 0.2], noise=0.8, number=15, levels=4, seed=4)
    found = search(values, by=by)
    assert found.optimized is not None
    for tried in (*found.singles, *found.equal, found.optimized):
        ranked = rankings(values, [tried.suite])
        assert (tried.whole, tried.pairs) == pytest.approx((ranked.share[0], ranked.pair_share[0]))
    shares = [getattr(each, by) for each in found.equal]
    assert np.diff(shares).max() <= 1e-12
    assert len(found.equal) == 11
    assert getattr(found.optimized, by) >= max(shares[0], getattr(found.singles[0], by))
    assert found.apparent["equal weights"] == shares[0]
    assert sum(found.optimized.suite.weights.values()) == pytest.approx(1)


def test_each_fold_is_judged_by_what_the_others_chose_and_both_axes_of_an_attack_are_on_one_side() -> None:
    rng = np.random.default_rng(6)
    falls, start = rng.normal(0.5, 1, (48, 2)), np.arange(25) * 2
    steps, cases = Steps(falls=falls, start=start), attacks(12)
    inside_of: list[Steps] = []
    one, other = np.array([1.0, 0.0]), np.array([0.0, 1.0])

    def choose(inside: Steps) -> dict[SuiteChoice, tuple[Suite, FloatArray]]:
        inside_of.append(inside)
        suite = Suite("any", {NAMES[0]: 1.0})
        # The way that stands for single metrics chooses by what it sees, so that it matters what that is.
        seen = one if inside.falls[:, 0].sum() > inside.falls[:, 1].sum() else other
        return {"single metric": (suite, seen), "equal weights": (suite, one), "optimized weights": (suite, other)}

    keys = [(case.data, case.protect, case.attack) for case in cases]
    told = validate(steps, keys, choose, grouping="attack", by="whole", folds=5, rng=rng)
    assert (told.folds, told.groups, told.cases, len(inside_of)) == (5, 12, 24, 5)
    everywhere: list[int] = []
    for fold, inside in enumerate(tuple(inside_of)):
        there = set(inside.falls[:, 0].tolist())
        outside = [case for case in range(24) if falls[2 * case, 0] not in there]
        assert {keys[case] for case in outside}.isdisjoint(keys[case] for case in range(24) if case not in outside)
        everywhere += outside
        weights = {way: found[1] for way, found in choose(inside).items()}
        for way, shares in told.by_fold.items():
            right = [bool((falls[2 * case : 2 * case + 2] @ weights[way] > 0).all()) for case in outside]
            assert shares[fold] == pytest.approx(np.mean(right))
    assert sorted(everywhere) == list(range(24))
    for column, way in enumerate(WAYS[1:]):
        assert told.shares[way] == pytest.approx((falls[:, column].reshape(24, 2) > 0).all(axis=1).mean())
        assert told.gains[way].mean == pytest.approx(told.shares[way] - told.shares["single metric"])


def test_data_sets_are_held_out_as_wholes_where_there_are_three() -> None:
    by_attack, by_data = search(planted([1, 1], noise=0.5, number=12, levels=3, seed=5)).validations
    assert (by_attack.grouping, by_attack.folds, by_attack.groups) == ("attack", 5, 12)
    assert (by_data.grouping, by_data.folds, by_data.groups) == ("data set", 4, 4)


def test_the_order_of_cases_does_not_matter() -> None:
    values = planted([0.5, 0.3, 0.4], noise=0.8, number=12, levels=4, seed=7)
    mixed = values.only(cases=np.random.default_rng(1).permutation(24))
    one, other = search(values), search(mixed)
    assert one.equal == other.equal
    assert one.optimized == other.optimized
    for before, after in zip(one.validations, other.validations, strict=True):
        assert before.chosen == after.chosen
        assert before.shares == pytest.approx(after.shares)
        assert [astuple(each) for each in before.gains.values()] == [
            pytest.approx(astuple(each)) for each in after.gains.values()
        ]


@pytest.mark.parametrize("seed", range(4))
def test_weights_are_as_good_as_the_best_of_a_grid(seed: int) -> None:
    rng = np.random.default_rng(seed)
    falls = rng.normal(0.3, 1, (40 * 2, 3))
    steps = Steps(falls=falls, start=np.arange(41) * 2)
    starts = [np.array(each, float) for each in ((1, 0, 0), (0, 1, 0), (0, 0, 1))]
    found = best_weights(steps, starts, "whole", rng)
    best = 0
    for weights in grid(3, 20):
        scores = [np.concatenate(([0.0], -np.cumsum(case @ weights))) for case in falls.reshape(40, 2, 3)]
        best = max(best, sum(order(np.exp(each).tolist())[0] == 1 for each in scores))
    assert merit(steps, found[None], "whole")[0] >= best - 1  # a climb may miss one case of forty
    assert found.sum() == pytest.approx(1)
    assert found.min() >= 0


def test_levels_and_cases_with_undefined_metrics_are_left_out_for_all_and_said(approved: Approved) -> None:
    values = planted([1, 1], noise=0.5, number=4, levels=3, seed=8)
    holes = values.values.copy()
    holes[0, 0, 1], holes[1, 1, :2] = np.nan, np.nan
    found = search(replicated(holes, NAMES[:2], values.cases))
    assert found.cases == 7
    approved(found.notes[0])
    approved(found.notes[1])


def test_too_few_cases_are_no_error_but_show_nothing() -> None:
    one = search(planted([1, 1], noise=0.5, number=1, levels=3, seed=9))
    assert one.validations == ()
    assert one.optimized is not None
    assert "too few attacks" in one.notes[-1]
    nothing = search(replicated(np.full((2, 2, 3, 1), np.nan), NAMES[:2]))
    assert (nothing.optimized, nothing.cases, nothing.validations) == (None, 0, ())
    assert np.isnan(list(nothing.apparent.values())).all()
    assert len(nothing.singles) == 2
    two = search(replicated(np.ones((4, 2, 3, 1)), NAMES[:2]))
    assert [each.grouping for each in two.validations] == ["attack"]


def test_bad_settings_are_refused() -> None:
    values = planted([1, 1], noise=0.5, number=2, levels=3, seed=10)
    with pytest.raises(InputError, match="folds must be a whole number of at least 2"):
        search(values, folds=1)
    with pytest.raises(InputError, match="these results do not have"):
        best_suites(values, ["entropy", NAMES[0]], rng=np.random.default_rng(0))
    with pytest.raises(InputError, match="2 to 12 different"):
        best_suites(values, [NAMES[0]], rng=np.random.default_rng(0))


@pytest.mark.parametrize("groups", [4, 12, 24])
def test_intervals_of_a_gain_hold_what_they_promise(groups: int) -> None:
    rng = np.random.default_rng(groups)
    group = np.repeat(np.arange(groups), 4)
    held = 0
    for _ in range(200):
        # Cases of one group share most of what they have.
        differences = 0.1 + rng.normal(0, 1, groups)[group] + rng.normal(0, 0.5, group.size)
        found = gain(differences, group, rng=rng)
        held += found.low <= 0.1 <= found.high
    assert 0.91 <= held / 200 <= 0.99
