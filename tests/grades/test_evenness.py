"""Evenness and shared range: constants, midpoints, the pitfall of the middle, more cases, and the formulas."""

import numpy as np
import pytest
from hypothesis import given, settings

from tests.grades.suite_cases import drawn, replicated
from tests.oracles.evenness import criterion, used_share
from unveil._kernels.types import FloatArray
from unveil.grades.evenness import evenness, raw_evenness, shared_range
from unveil.grades.replicated_metrics import ReplicatedMetrics


def of_numbers(*cases: FloatArray | list[float], within: bool | None = None) -> FloatArray:
    """Return the evenness of one metric, whose values are given per case."""
    scores = evenness(replicated([[[[number] for number in case]] for case in cases]), within=within)
    return np.asarray(scores[:, 0])


def ends_and(numbers: FloatArray | list[float]) -> float:
    """Return the evenness of numbers between 0 and 1, next to a case that has these ends."""
    return float(of_numbers([0.0, 1.0] + [np.nan] * (len(numbers) - 2), numbers)[1])


@pytest.mark.parametrize("end", [0.0, 1.0])
def test_values_at_one_end_score_exactly_zero(end: float) -> None:
    assert ends_and(np.full(7, end)) == 0.0


@pytest.mark.parametrize("n", [2, 3, 10, 600])
def test_midpoints_are_as_even_as_can_be(n: int) -> None:
    assert ends_and((2 * np.arange(n) + 1) / (2 * n)) == pytest.approx(1 - 1 / (4 * n * n), abs=1e-14)


def test_the_middle_and_both_ends_score_three_quarters_which_is_the_pitfall() -> None:
    assert ends_and(np.full(6, 0.5)) == pytest.approx(0.75, abs=1e-15)
    assert ends_and([0.0, 1.0, 0.0, 1.0, 1.0, 0.0]) == pytest.approx(0.75, abs=1e-15)


def test_a_constant_metric_scores_zero_also_when_it_is_constant_up_to_rounding() -> None:
    assert of_numbers([0.5, 0.5, 0.5]) == 0.0
    assert of_numbers([0.1 + 0.2, 0.3, 0.3]) == 0.0
    assert of_numbers([6.6438561897747395, 6.643856189774724, 6.64385618977473]) == 0.0


def test_one_case_is_its_own_range_and_several_share_one() -> None:
    low, high = [0.0, 1.0, 2.0], [0.0, 5.0, 10.0]
    alone, both = of_numbers(low), of_numbers(low, high)
    assert alone[0] == both[1] == pytest.approx(1 - 3 * criterion([0.0, 0.5, 1.0], 0, 1))
    assert both[0] == pytest.approx(1 - 3 * criterion(low, 0, 10))
    assert of_numbers(low, high, within=True).tolist() == [alone[0], alone[0]]
    assert of_numbers(low, within=False)[0] == alone[0]


def test_undefined_values_are_dropped_and_a_case_without_any_is_undefined() -> None:
    scores = of_numbers([0.0, np.nan, 4.0, np.inf], [np.nan] * 4, [1.0, 3.0, np.nan, np.nan])
    assert scores[0] == pytest.approx(1 - 3 * criterion([0.0, 4.0], 0, 4))
    assert np.isnan(scores[1])
    assert scores[2] == pytest.approx(1 - 3 * criterion([1.0, 3.0], 0, 4))


def test_many_cases_are_the_same_as_few_at_a_time() -> None:
    numbers = np.random.default_rng(3).normal(size=(150, 2, 3, 2))
    numbers[0, :, 0, 0], numbers[-1, :, 0, 0] = -9, 9
    scores = evenness(replicated(numbers))
    for row in (0, 63, 64, 100, 149):
        for metric in range(2):
            expected = 1 - 3 * criterion(numbers[row, metric].ravel().tolist(), -9, 9)
            assert scores[row, metric] == pytest.approx(expected, abs=1e-13)


@settings(deadline=None, max_examples=40)
@given(drawn())
def test_it_is_the_formula(values: ReplicatedMetrics) -> None:
    for within in (True, False):
        scores, raw = evenness(values, within=within), raw_evenness(values, within=within)
        for row, metric in np.ndindex(scores.shape):
            numbers = values.values[row, metric].ravel()
            every = numbers if within else values.values[:, metric].ravel()
            there = every[~np.isnan(every)]
            low, high = (there.min(), there.max()) if there.size else (0.0, 0.0)
            expected = criterion(numbers.tolist(), low, high)
            assert raw[row, metric] == pytest.approx(expected, abs=1e-12, nan_ok=True)
            assert scores[row, metric] == pytest.approx(1 - 3 * expected, abs=1e-12, nan_ok=True)
            assert np.isnan(scores[row, metric]) or 0 <= scores[row, metric] < 1


@settings(deadline=None, max_examples=20)
@given(drawn())
def test_neither_scale_nor_direction_nor_order_matters(values: ReplicatedMetrics) -> None:
    for same in (values.values * 8 - 40, -values.values, values.values[:, :, ::-1, ::-1]):
        moved = replicated(same)
        np.testing.assert_allclose(evenness(moved), evenness(values), atol=1e-12)


@settings(deadline=None, max_examples=40)
@given(drawn())
def test_the_shared_range_is_its_formula(values: ReplicatedMetrics) -> None:
    scores = shared_range(values)
    for row, metric in np.ndindex(scores.shape):
        expected = used_share(values.values[row, metric].ravel().tolist(), values.values[:, metric].ravel().tolist())
        assert scores[row, metric] == pytest.approx(expected, abs=1e-12, nan_ok=True)


@settings(deadline=None, max_examples=20)
@given(drawn())
def test_more_cases_never_raise_the_shared_range(values: ReplicatedMetrics) -> None:
    fewer = shared_range(values.only(cases=np.arange(len(values.cases) - 1)))
    more = shared_range(values)[:-1]
    # A metric that was the same everywhere had no range to share: only then may it rise from 0.
    had_a_range = np.nan_to_num(fewer).max(axis=0, initial=0.0) > 0
    assert np.all((more <= fewer + 1e-12)[:, had_a_range] | np.isnan(fewer[:, had_a_range]))


def test_constant_metrics_share_nothing_and_undefined_cases_are_undefined() -> None:
    metric = [[[[0.3], [0.1 + 0.2]]], [[[0.3], [0.3]]], [[[np.nan], [np.inf]]]]
    scores = shared_range(replicated(metric))[:, 0]
    assert scores[:2].tolist() == [0.0, 0.0]
    assert np.isnan(scores[2])


def test_one_case_has_the_whole_range() -> None:
    assert shared_range(replicated([[[[2.0], [5.0], [3.0]]]])) == 1.0
