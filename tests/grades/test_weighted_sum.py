"""The weighted sum: its definition, ranks that turn when a level is left out, and products, which have none."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from pymcdm.methods import WSM
from pymcdm.normalizations import linear_normalization

from tests.grades.suite_cases import NAMES, drawn, replicated
from tests.grades.test_suites import MIXED, suite_of
from tests.oracles import suites as oracle
from unveil.grades.replicated_metrics import ReplicatedMetrics
from unveil.grades.weighted_sum import sum_rankings


@settings(deadline=None, max_examples=60)
@given(drawn())
def test_scores_rankings_and_reversals_are_the_definition(values: ReplicatedMetrics) -> None:
    suite = suite_of(values)
    found = sum_rankings(values, [suite])
    rising = dict(zip(values.metrics, values.rising.tolist(), strict=True))
    for row in range(len(values.cases)):
        means = dict(zip(values.metrics, values.means[row].tolist(), strict=True))
        for way, ending in ((oracle.sums, ""), (oracle.products, "_product")):
            score = partial(way, rising=rising, weights=suite.weights, floor=0.01)
            numbers = score(means)
            turned = oracle.reversals(score, means)
            known = [k for k, number in enumerate(numbers) if not np.isnan(number)]
            worst = turned[min(known, key=lambda k: numbers[k])] if known else np.nan
            every = [each for each in turned if not np.isnan(each)]
            if not ending:
                assert found.scores[0, row] == pytest.approx(numbers, rel=1e-11, nan_ok=True)
                assert (found.whole[0, row], found.pairs[0, row]) == pytest.approx(oracle.order(numbers), nan_ok=True)
            # Of two levels that are equally bad, either may be the worst: the oracle takes the first one as well.
            lowest = [k for k in known if numbers[k] <= min(numbers[j] for j in known) * (1 + 1e-12)]
            if len(lowest) == 1:
                assert getattr(found, f"reversed{ending}")[0, row] == pytest.approx(worst, nan_ok=True)
            of_any = getattr(found, f"reversed{ending}_any")[0, row]
            assert of_any == pytest.approx(max(every, default=np.nan), nan_ok=True)


@settings(deadline=None, max_examples=40)
@given(drawn(positive=True))
def test_a_product_of_values_above_zero_never_turns_ranks(values: ReplicatedMetrics) -> None:
    found = sum_rankings(values, [suite_of(values)])
    assert not (found.reversed_product > 0).any()
    assert not (found.reversed_product_any > 0).any()


def test_with_zeros_even_a_product_can_turn_ranks_because_what_is_added_changes() -> None:
    """Zhao & Wagner say that products have no rank reversals; that holds where nothing has to be added to zeros."""
    first, second = [0.0, 0.02, 100.0], [1.0, 0.6, 0.5]
    values = replicated([[[[x] for x in first], [[x] for x in second]]], metrics=("incorrectness", "entropy"))
    found = sum_rankings(values, [suite_of(values)])
    assert found.reversed_product_any.tolist() == [[1.0]]


def test_sums_are_those_of_a_peer() -> None:
    rng = np.random.default_rng(3)
    values = replicated(rng.random((5, 4, 6, 1)) + 0.1)
    found = sum_rankings(values, [MIXED])
    types = np.where(values.rising, -1, 1)
    peer = WSM(normalization_function=linear_normalization)
    for row in range(5):
        right = peer(values.means[row].T, np.array([MIXED.weights[name] for name in NAMES]), types)
        assert found.scores[0, row] == pytest.approx(right)
