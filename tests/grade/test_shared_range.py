"""Shared value range: the formula, and what more cases do to it."""

import numpy as np
import pytest
from hypothesis import given, settings

from tests.grade.suite_cases import drawn, replicated
from tests.oracles.evenness import used_share
from unveil.grade.replicated import Replicated
from unveil.grade.shared_range import shared_range


@settings(deadline=None, max_examples=40)
@given(drawn())
def test_it_is_the_formula(values: Replicated) -> None:
    scores = shared_range(values)
    for row, metric in np.ndindex(scores.shape):
        expected = used_share(values.values[row, metric].ravel().tolist(), values.values[:, metric].ravel().tolist())
        assert scores[row, metric] == pytest.approx(expected, abs=1e-12, nan_ok=True)


@settings(deadline=None, max_examples=20)
@given(drawn())
def test_more_cases_never_raise_it(values: Replicated) -> None:
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
