"""Values of nodes graded from sketches: as the definitions say of all values, and where there are none."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from tests.grades.planted import planted
from tests.grades.sketched import Nodes, around_means, kept, node_values
from tests.grades.suite_cases import replicated
from tests.oracles.evenness import criterion, used_share
from unveil._kernels.sketches import sketch_of, weights_of
from unveil._kernels.two_samples import NeighbourTests, neighbour_tests
from unveil._kernels.types import FloatArray
from unveil.grades.grades import grade
from unveil.grades.nodes import NodeSketches, sketched_tests
from unveil.grades.scores import Scores

RNG = np.random.default_rng
NODE_METRICS = ("pearson_correlation", "incorrectness", "entropy")

sizes = st.integers(0, 400)


@settings(max_examples=25)
@given(st.lists(st.tuples(sizes, st.integers(0, 3)), min_size=4, max_size=8), st.integers(0, 2**32 - 1))
def test_evenness_and_range_are_those_of_all_values(drawn: list[tuple[int, int]], seed: int) -> None:
    """Two cases of up to four levels each; values pile up at few numbers or at an end."""
    rng = RNG(seed)
    values = replicated(np.zeros((2, 1, 4, 1)))
    name = values.metrics[0]
    made = (
        lambda n: rng.random(n),
        lambda n: rng.integers(0, 4, n) / 4,
        lambda n: rng.beta(0.3, 3, n),
        lambda n: np.where(rng.random(n) < 0.5, 0.25, rng.random(n)),
    )
    nodes: Nodes = {(at // 4, name, at % 4): np.asarray(made[kind](n), float) for at, (n, kind) in enumerate(drawn)}
    by_case = [[x for (case, _, _), some in nodes.items() if case == row for x in some.tolist()] for row in range(2)]
    found = NodeSketches.of(values, kept(values, nodes))
    every = by_case[0] + by_case[1]
    if not every:
        assert found is None
        return
    assert found is not None
    scores = found.scores()
    for row, numbers in enumerate(by_case):
        right = 1 - 3 * criterion(numbers, min(every), max(every)) if numbers else np.nan
        constant = max(every) == min(every)
        assert scores.evenness[row, 0] == pytest.approx(0.0 if constant and numbers else right, abs=0.005, nan_ok=True)
        assert scores.shared_range[row, 0] == pytest.approx(used_share(numbers, every), abs=1e-12, nan_ok=True)


def test_nodes_that_rise_with_strength_are_monotonic_and_those_that_fall_are_not() -> None:
    values = planted()
    found = node_values(values, around_means(values, NODE_METRICS)).scores()
    score = dict(zip(found.values.metrics, found.monotonicity.score.T, strict=True))
    assert (score["pearson_correlation"] > 0.9).all()
    assert (score["incorrectness"] > 0.9).all()
    assert (score["entropy"] < 0.4).all()
    assert (found.monotonicity.tests == 6).all()


def test_with_so_few_nodes_that_blocks_are_values_scores_are_those_of_the_values() -> None:
    rng = RNG(2)
    numbers = rng.normal(0, 1, (2, 2, 3, 45)) + np.arange(3)[:, None] / 4
    values = replicated(numbers)
    nodes: Nodes = {
        (case, name, level): numbers[case, column, level]
        for case in range(2)
        for column, name in enumerate(values.metrics)
        for level in range(3)
    }
    found, right = node_values(values, nodes).scores(), Scores.of(values)
    assert found.evenness == pytest.approx(right.evenness, abs=1e-6)
    assert found.shared_range == pytest.approx(right.shared_range)
    assert found.monotonicity.score == pytest.approx(right.monotonicity.score)


def test_cases_and_metrics_without_nodes_have_no_scores_of_them() -> None:
    values = planted()
    nodes = {key: numbers for key, numbers in around_means(values, NODE_METRICS).items() if key[0] != 3}
    found = node_values(values, nodes)
    assert found.values.metrics == tuple(name for name in values.metrics if name in NODE_METRICS)
    assert np.flatnonzero(~found.cases).tolist() == [3]
    scores = found.scores()
    assert np.isnan(scores.evenness[3]).all()
    assert np.isnan(scores.shared_range[3]).all()
    assert np.isnan(scores.monotonicity.score[3]).all()
    assert not np.isnan(np.delete(scores.evenness, 3, axis=0)).any()
    assert NodeSketches.of(values, kept(values, {})) is None


def test_by_nodes_verdicts_come_from_them_and_the_others_stay() -> None:
    values = planted()
    # Means of nodes go the other way than the means that the study kept: whoever reads one for the other is seen.
    turned = {(case, name, 3 - level): some for (case, name, level), some in around_means(values, NODE_METRICS).items()}
    nodes = node_values(values, turned)
    means, both, alone = (grade(values, nodes=nodes, of=of, rng=RNG(1)) for of in ("means", "both", "nodes"))
    assert means.nodes is None
    assert both.nodes is not None
    for name in values.metrics:
        assert both.metric(name) == means.metric(name) or np.isnan(means.metric(name).monotonicity.mean)
    assert means.metric("incorrectness").monotonicity.mean > 0.9
    assert alone.metric("incorrectness").monotonicity.mean < 0.4
    assert alone.metric("incorrectness").evenness == both.nodes.metric("incorrectness").evenness  # type: ignore[union-attr]
    assert alone.metric("adversary_overall_success") == means.metric("adversary_overall_success")
    assert both.nodes.metric("adversary_overall_success") is None


@pytest.mark.parametrize("nodes", [3, 64, 65, 100, 257, 1000])
def test_blocks_stand_for_as_many_values_as_the_sketch_says(nodes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    values = replicated(np.zeros((1, 1, 2, 1)))
    name = values.metrics[0]
    found = node_values(values, {(0, name, 0): RNG(1).random(nodes), (0, name, 1): RNG(2).random(nodes + 7)})
    seen: list[Any] = []
    monkeypatch.setattr("unveil.grades.nodes.sketched_tests", lambda *told: seen.append(told[-1]))
    found._tests()
    for level, number in enumerate((nodes, nodes + 7)):
        right = weights_of(number, min(number, 64))
        assert seen[0][0, level, : len(right)].tolist() == right.tolist()
        assert seen[0][0, level].sum() == number


def of_samples(*samples: FloatArray) -> NeighbourTests:
    """Return the tests of one row of samples, of which nothing but sketches is left."""
    made = [sketch_of(each) for each in samples]
    blocks = np.full((1, len(made), max(len(each.blocks) for each in made)), np.nan)
    weights = np.zeros(blocks.shape)
    for place, each in enumerate(made):
        blocks[0, place, : len(each.blocks)] = each.blocks
        weights[0, place, : len(each.blocks)] = weights_of(each.count, len(each.blocks))
    count, total, squares = (np.array([[getattr(each, name) for each in made]]) for name in ("count", "sum", "squares"))
    return sketched_tests(count.astype(np.int64), total, squares, blocks, weights)


def plain(*samples: FloatArray) -> NeighbourTests:
    """Return the tests of the values themselves."""
    values = np.full((1, len(samples), max(each.size for each in samples)), np.nan)
    for place, each in enumerate(samples):
        values[0, place, : each.size] = each
    return neighbour_tests(values)


few = st.lists(st.integers(-4, 4).map(lambda number: number / 4), min_size=0, max_size=30).map(np.array)


@given(st.lists(few, min_size=1, max_size=4))
def test_of_few_values_nothing_is_lost(samples: list[FloatArray]) -> None:
    found, right = of_samples(*samples), plain(*samples)
    number = int(right.pairs[0])
    assert found.pairs[0] == number
    assert found.welch_sign[0, :number].tolist() == right.welch_sign[0, :number].tolist()
    assert found.rank_sum_sign[0, :number].tolist() == right.rank_sum_sign[0, :number].tolist()
    assert found.welch[0, :number] == pytest.approx(right.welch[0, :number], abs=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_of_many_values_welch_is_exact_and_the_rank_sum_test_near(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shift = 0.08 * rng.random()
    # A third are ties, as nodes that nobody could tell apart are.
    one, other = (
        np.where(rng.random(size) < 1 / 3, 0.0, rng.gamma(2.0, 1.0, size) + more)
        for size, more in ((3000, 0.0), (2500, shift))
    )
    found = of_samples(one, other)
    assert found.welch[0, 0] == pytest.approx(stats.ttest_ind(other, one, equal_var=False).pvalue, rel=1e-6)
    ranks = stats.mannwhitneyu(other, one, method="asymptotic")
    near = stats.norm.isf(np.array([found.rank_sum[0, 0], ranks.pvalue]) / 2)
    assert near[0] == pytest.approx(near[1], abs=0.3)
    if ranks.pvalue < 0.5:
        assert found.rank_sum_sign[0, 0] == np.sign(ranks.statistic - one.size * other.size / 2)


def test_levels_that_never_change_are_not_told_apart_and_constants_that_differ_are() -> None:
    same = of_samples(np.full(900, 0.1), np.full(1200, 0.1), np.full(700, 0.2))
    assert same.welch[0].tolist() == [1.0, 0.0]
    assert same.welch_sign[0].tolist() == [0, 1]
    assert same.rank_sum[0, 0] == 1.0
    assert same.rank_sum_sign[0].tolist() == [0, 1]


def test_levels_with_fewer_than_two_values_are_passed_over() -> None:
    rng = np.random.default_rng(3)
    low, high = rng.normal(0, 1, 500), rng.normal(1, 1, 500)
    found, without = of_samples(low, np.array([7.0]), np.array([]), high), of_samples(low, high)
    assert found.pairs.tolist() == [1]
    assert found.welch[0, 0] == without.welch[0, 0]
    assert found.rank_sum[0, 0] == without.rank_sum[0, 0]
