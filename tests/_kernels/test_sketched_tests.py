"""Tests of sketches: those of few values are those of the values, and those of many come near."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from unveil._kernels.sketched_tests import sketched_tests
from unveil._kernels.sketches import sketch_of, weights_of
from unveil._kernels.two_samples import NeighbourTests, neighbour_tests
from unveil._kernels.types import FloatArray


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
