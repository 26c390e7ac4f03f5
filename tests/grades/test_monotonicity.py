"""Monotonicity scores: the paper's numbers, every pattern of changes, and the definition on values of all kinds."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import ArrayLike, NDArray

from tests.oracles import monotonicity as oracle
from unveil.errors import InputError
from unveil.grades.monotonicity import _marks, monotonicity, monotonicity_of
from unveil.grades.replicated_metrics import GradedCase, ReplicatedMetrics

Floats = NDArray[np.float64]

NOISE = np.linspace(-1, 1, 10)


def steps(*changes: int) -> list[Floats]:
    """Return levels that clearly rise (1), fall (-1) or stay (0) from one to the next."""
    return [NOISE + 10 * mean for mean in np.cumsum([0, *changes])]


def replicated(values: Floats, rising: Sequence[bool]) -> ReplicatedMetrics:
    """Return values at [case, metric, level, replication] with names."""
    cases = tuple(GradedCase("data", "protect", f"attack {number}", "overlap") for number in range(len(values)))
    metrics = tuple(f"metric {number}" for number in range(values.shape[1]))
    levels = (tuple(float(level) for level in range(values.shape[2])),) * len(cases)
    return ReplicatedMetrics(cases=cases, metrics=metrics, levels=levels, values=values, rising=np.array(rising, bool))


@pytest.mark.parametrize(
    ("changes", "score"),
    [
        ((1, 1, 1, 1, 1), 1.0),  # Zhao & Wagner, Figures 2a and 2b
        ((0, 0, 0, 0, 0), 10 / 15),  # Figure 2f
        ((-1, -1, -1, 0, 0), 7 / 15),  # 0.467 in Table 8
        ((1, -1, 1, 0, 0), 7 / 15),
        ((-1, -1, -1, -1, -1), 5 / 15),
        ((1, -1, 1, -1, 1), 3 / 15),
        ((-1, 1, -1, 1, -1), 1 / 15),
        ((1, 0, 0, -1, 0), 9 / 15),  # the turn is one from the last change that was significant
    ],
)
def test_scores_that_can_be_derived(changes: tuple[int, ...], score: float) -> None:
    up, down = (monotonicity_of(steps(*each), rising=True) for each in (changes, [-change for change in changes]))
    assert float(up) == pytest.approx(score)
    assert float(monotonicity_of(steps(*(-change for change in changes)), rising=False)) == pytest.approx(score)
    assert up.significant == down.significant == 2 * sum(map(abs, changes))
    assert (up.pairs, up.tests) == (5, 10)


def test_the_0833_of_table_8_has_tests_that_differ() -> None:
    outlier = NOISE + 20
    outlier[0] = -1000
    found = monotonicity_of([NOISE, NOISE + 10, NOISE + 15, outlier, NOISE + 20, NOISE + 20], rising=True)
    assert found.welch == (1, 1, 0, 0, 0)
    assert found.rank_sum == (1, 1, 1, 0, 0)
    assert found.score == pytest.approx(12.5 / 15)
    assert round(found.score, 3) == 0.833


def test_three_replications_decide_by_welch_alone() -> None:
    found = monotonicity_of([[0.0, 1, 2], [10, 11, 12], [20, 21, 22]], rising=True)
    assert (found.welch, found.rank_sum) == ((1, 1), (0, 0))
    assert found.score == pytest.approx(5 / 6)


def test_every_pattern_of_changes_and_an_erratum() -> None:
    """Scores of five pairs are thirtieths: 0.307 and 0.271 (Table 8), 0.46 (Figure 2e) come from no single one."""
    patterns = list(product((-1, 0, 1), repeat=5))
    values = np.array([[steps(*pattern)] for pattern in patterns])
    found = monotonicity(replicated(values, [True]))
    sums = [sum(oracle.marks([(change != 0, change) for change in pattern], strict=False)) for pattern in patterns]
    assert found.score[:, 0] == pytest.approx((np.array(sums) + 10) / 15)
    assert (min(sums), max(sums)) == (-9, 5)
    reached = {(one + other + 20) / 30 for one in sums for other in sums}
    assert {round(30 * score, 9) for score in reached} <= set(map(float, range(2, 31)))
    printed = {f"{score:.3f}" for score in reached}
    assert {"0.467", "0.833", "1.000", "0.667"} <= printed
    assert not {"0.307", "0.271", "0.460"} & printed
    # Both are means only of 14 applications or more.
    means = {times: {f"{points / (30 * times):.3f}" for points in range(30 * times)} for times in range(1, 15)}
    assert [times for times in means if {"0.307", "0.271"} <= means[times]] == [14]


values_of = st.integers(-2, 2).map(float) | st.sampled_from([float("nan"), 0.3, 0.1 + 0.2, 7.5])
one_case = st.lists(st.lists(values_of, min_size=0, max_size=5), min_size=0, max_size=5)


@given(one_case, st.booleans(), st.booleans(), st.sampled_from([0.05, 0.2, 0.5]))
def test_one_case_is_as_defined(samples: list[list[float]], rising: bool, strict: bool, level: float) -> None:
    score, marks, significant = oracle.monotonicity(samples, rising=rising, level=level, strict=strict)
    found = monotonicity_of(samples, rising=rising, level=level, strict=strict)
    assert found.score == pytest.approx(score, nan_ok=True)
    assert [list(found.welch), list(found.rank_sum)] == marks
    assert found.significant == significant
    both = [mark for test in marks for mark in test]
    assert (found.right, found.wrong, found.turns) == (both.count(1), both.count(-1), both.count(-2))
    assert found.tests == 2 * found.pairs == len(both)


@given(st.integers(0, 2**32), st.booleans())
def test_all_cases_and_metrics_are_as_one_by_one(seed: int, strict: bool) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 12, (3, 2, 4, 6)) + 3.0 * np.arange(4)[:, None] * rng.integers(-1, 2, (3, 2, 1, 1))
    values[rng.random(values.shape) < 0.2] = np.nan
    values[rng.random(values.shape[:3]) < 0.2] = np.nan
    given_values = replicated(values, [True, False])
    found = monotonicity(given_values, strict=strict)
    for case, metric in product(range(3), range(2)):
        alone = monotonicity_of(values[case, metric], rising=metric == 0, strict=strict)
        at = case, metric
        assert found.score[at] == pytest.approx(alone.score, nan_ok=True)
        assert (found.significant[at], found.tests[at], found.pairs[at]) == (
            alone.significant,
            alone.tests,
            alone.pairs,
        )
        assert (found.right[at], found.wrong[at], found.turns[at]) == (alone.right, alone.wrong, alone.turns)
        assert found.undecided[at] == (alone.pairs > 0 and alone.significant == 0)
    opposite = monotonicity(replace(given_values, values=-values, rising=~given_values.rising), strict=strict)
    np.testing.assert_array_equal(opposite.score, found.score)


def test_strict_also_counts_wrong_changes_that_are_not_significant() -> None:
    slightly = NOISE - 0.01
    samples = [NOISE, NOISE + 10, slightly + 10, NOISE + 20, slightly + 20, slightly + 20]
    lax, strict = (monotonicity_of(samples, rising=True, strict=each) for each in (False, True))
    assert lax.welch == lax.rank_sum == (1, 0, 1, 0, 0)
    assert strict.welch == strict.rank_sum == (1, -2, -2, -2, 0)
    assert strict.significant == lax.significant == 4
    # A right change has to be significant in any case, and equal values are no change.
    assert monotonicity_of([NOISE, NOISE + 0.01, NOISE + 0.01], rising=True, strict=True).welch == (0, 0)
    assert monotonicity_of([NOISE, NOISE + 0.01], rising=False, strict=True).welch == (-1,)


def test_strict_never_scores_higher() -> None:
    every = list(product([(True, 1), (False, 1), (True, -1), (False, -1), (False, 0)], repeat=4))
    significant = np.array([[each for each, _ in row] for row in every])
    sign = np.array([[each for _, each in row] for row in every])
    lax, strict = (_marks(significant, sign, strict=each) for each in (False, True))
    assert lax.tolist() == [oracle.marks(row, strict=False) for row in every]
    assert strict.tolist() == [oracle.marks(row, strict=True) for row in every]
    assert (strict.sum(axis=1) <= lax.sum(axis=1)).all()
    assert (strict.sum(axis=1) < lax.sum(axis=1)).any()


def test_missing_levels_leave_pairs_of_those_that_are_there() -> None:
    nothing = [np.nan] * 10
    full = monotonicity_of(steps(1, 1), rising=True)
    assert monotonicity_of([nothing, NOISE, nothing, [3.0], NOISE + 10, NOISE + 20], rising=True) == full
    assert full.pairs == 2
    short: list[list[ArrayLike]] = [[], [NOISE], [NOISE, nothing], [[1.0], [2.0], [3.0]], [NOISE, [1.0]]]
    for few in short:
        found = monotonicity_of(few, rising=True)
        assert np.isnan(found.score)
        assert (found.pairs, found.tests, found.significant, found.welch) == (0, 0, 0, ())


def test_one_replication_constant_and_undefined_metrics() -> None:
    values = np.full((2, 3, 4, 5), np.nan)
    values[:, 0] = 0.5
    values[:, 1, :, 0] = [1, 2, 3, 4]
    found = monotonicity(replicated(values, [True, True, True]))
    assert found.score[:, 0] == pytest.approx(2 / 3)
    assert np.isnan(found.score[:, 1:]).all()
    assert found.undecided.tolist() == [[True, False, False]] * 2
    assert found.tests.tolist() == [[6, 0, 0]] * 2


@pytest.mark.parametrize("shape", [(0, 2, 6, 5), (2, 0, 6, 5), (2, 2, 0, 5), (2, 2, 1, 5), (2, 2, 6, 0)])
def test_nothing_to_grade(shape: tuple[int, int, int, int]) -> None:
    values = np.zeros(shape)
    if not shape[0]:
        values = np.zeros((0, 2, 0, 5))
    found = monotonicity(replicated(values, [True] * shape[1]))
    assert found.score.shape == found.turns.shape == shape[:2]
    assert np.isnan(found.score).all()


def test_values_at_the_significance_level_are_not_below_it() -> None:
    samples = [[1.0, 2, 3, 4], [5.0, 6, 7, 8]]
    assert monotonicity_of(samples, rising=True, level=2 / 70).rank_sum == (0,)
    assert monotonicity_of(samples, rising=True, level=2 / 70 + 1e-9).rank_sum == (1,)


def test_bad_input_is_refused() -> None:
    for level in (0, 1, -0.1, float("nan")):
        with pytest.raises(InputError, match="significance level must lie between 0 and 1, both excluded"):
            monotonicity_of([NOISE, NOISE], rising=True, level=level)
        with pytest.raises(InputError, match="significance level must lie between 0 and 1, both excluded"):
            monotonicity(replicated(np.zeros((1, 1, 2, 3)), [True]), level=level)
    with pytest.raises(InputError, match="values of level 2 must be numbers"):
        monotonicity_of([[1.0, 2.0], ["high", "low"]], rising=True)
    with pytest.raises(InputError, match="level 1 must be a list of numbers, one per replication, but have 2 dim"):
        monotonicity_of([[[1.0, 2.0]]], rising=True)
