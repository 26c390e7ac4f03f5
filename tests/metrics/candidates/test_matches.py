"""The counts behind the success of an adversary, against a count by hand over plain targets."""

import math

import numpy as np
import pytest
from hypothesis import given

from tests.candidate_strategies import Case, cases
from tests.oracles.candidates import PER_RELEASE, Target
from unveil.guesses import Candidates
from unveil.metrics.candidates.matches import matches


def tried(target: Target) -> bool:
    return target.attempted and target.somebody


@given(cases())
def test_counts_are_those_of_the_targets(case: Case) -> None:
    found = matches(case.guess, case.truth)
    targets = case.targets
    assert found.has_truth
    assert found.targets == len(targets)
    assert found.attempted == sum(target.attempted for target in targets)
    assert found.nobody == sum(not target.somebody for target in targets)
    assert found.somebody == sum(target.somebody for target in targets)
    assert found.nobody_attempted == sum(target.attempted and not target.somebody for target in targets)
    assert found.missed == sum(target.somebody and not target.attempted for target in targets)
    assert found.not_considered == sum(tried(target) and target.truth not in target.probability for target in targets)
    blind = sum(1 / len(t.probability) for t in targets if tried(t) and t.truth in t.probability)
    assert found.by_chance == pytest.approx(blind)


@given(cases())
def test_success_is_that_of_the_metrics(case: Case) -> None:
    found = matches(case.guess, case.truth)
    for value, name in (
        (found.correct, "amount_of_leaked_information"),
        (found.success_rate, "adversary_success_rate"),
        (found.overall_success, "adversary_overall_success"),
    ):
        assert value == pytest.approx(float(PER_RELEASE[name](case.targets)), nan_ok=True)


def test_without_truth_only_attempts_are_counted() -> None:
    found = matches(Candidates.from_scores([[1, 0], [0, 0]]))
    assert (found.targets, found.attempted, found.has_truth) == (2, 1, False)
    assert all(math.isnan(value) for value in (found.correct, found.by_chance, found.success_rate))


def test_a_candidate_that_was_excluded_counts_for_who_picks_blindly() -> None:
    assert matches(Candidates.from_matrix([[1.0, 0.0, 0.0, 0.0]]), np.array([2])).by_chance == 0.25
