"""Permanents by worms that cross from a full matrix: right, and within their error bars as often as these say."""

from math import lgamma, log

import numpy as np
import pytest

from tests._kernels.matching.examples import intervals, sparse
from unveil._kernels._compile import compiled
from unveil._kernels.matching import as_edges, decompose, permanent, sinkhorn
from unveil._kernels.matching import block_answer as block_answer_module
from unveil._kernels.matching.anneal import _gain, annealed, wander
from unveil._kernels.matching.answers import LogPermanent, product
from unveil._kernels.matching.subsets import permanent_by_subsets
from unveil._kernels.matching.worm import choices

RNG = np.random.default_rng


@pytest.mark.unwatched
def test_error_bars_are_honest() -> None:
    scores = []
    for seed in range(100):
        rng = RNG(seed)
        n = int(rng.integers(5, 9))
        matrix = sparse(n, 0.5, rng) + 1e-3 if seed % 2 else np.exp(1.5 * rng.standard_normal((n, n)))
        scaled = sinkhorn(as_edges(matrix), tolerance=1e-2)
        found = annealed(scaled.edges, rng=rng, error=0.5, budget=10**7)
        assert found is not None
        exact = log(float(permanent_by_subsets(matrix)))
        scores.append((found.log + scaled.log_factor - exact) / found.error)
    assert np.mean(np.abs(scores) < 2) >= 0.9
    assert np.max(np.abs(scores)) < 4.5
    assert abs(np.mean(scores)) < 0.4


def test_plain_python_says_the_same_as_the_compiler() -> None:
    edges = sinkhorn(as_edges(sparse(5, 0.5, RNG(1)) + 0.1)).edges
    packed = choices(edges.start, edges.column, edges.weight)
    results = []
    for way in (wander, compiled(wander)):
        state = np.arange(5, dtype=np.int32), np.arange(5, dtype=np.int32), np.ones(5, np.int64)
        count = np.zeros(6, np.int64)
        done = way(edges.start, packed, 0.4, *state, 300, count, RNG(2))
        results.append((done, count.tolist(), state[0].tolist(), state[2].tolist()))
    assert results[0] == results[1]
    assert sum(results[0][1]) == 300
    assert sorted(results[0][2]) == list(range(5))


def test_lifted_pairs_come_up_as_often_as_their_weight_says() -> None:
    matrix = np.array([[0.7, 0.3], [0.3, 0.7]])
    edges = as_edges(matrix)
    share, count = 0.3, np.zeros(3, np.int64)
    state = np.arange(2, dtype=np.int32), np.arange(2, dtype=np.int32), np.zeros(2, np.int64)
    wander(edges.start, choices(edges.start, edges.column, edges.weight), share, *state, 40_000, count, RNG(3))
    up, down = share / 2, 1 - share
    weight = np.array([down**2 * 0.58, 2 * up * down, 2 * up**2])
    np.testing.assert_allclose(count / count.sum(), weight / weight.sum(), atol=0.01)


def test_an_exact_shift_between_two_steps_is_found() -> None:
    weight = np.array([1.0, 4.0, 6.0, 4.0, 1.0])
    here, ahead = weight / weight.sum(), weight * np.exp(-0.5 * np.arange(5))
    gain = _gain(here[None], ahead[None] / ahead.sum(), -0.5)
    assert gain[0] == pytest.approx(log(ahead.sum() / weight.sum()))


def test_a_slow_graph_against_its_exact_permanent() -> None:
    block = max(decompose(intervals(120, 5, RNG(5))), key=lambda one: one.rows.size)
    exact = permanent(block.edges)
    assert exact.method == "frontier"
    settings = block_answer_module.BlockSettings(distribution=False, precision=0.01, budget=10**8)
    found = block_answer_module.sampled_permanent(block.edges, settings, RNG(6))
    assert found.sampled
    assert found.low <= exact.log <= found.high
    assert abs(found.log - exact.log) < 4 * found.error
    assert found.error <= 0.001 * lgamma(block.rows.size + 1)


def test_the_permanent_of_a_dense_matrix_of_fifty_rows_is_sharp_and_the_same_again() -> None:
    matrix = (RNG(7).random((50, 50)) < 0.4).astype(float)
    bracket, one, again = permanent(matrix), permanent(matrix, rng=RNG(1)), permanent(matrix, rng=RNG(1))
    assert bracket.is_bracket
    assert one == again
    assert one.sampled
    assert bracket.low <= one.log <= bracket.high
    assert 20 * one.error < bracket.high - bracket.low


def test_too_small_a_budget_leaves_the_bracket() -> None:
    matrix = np.exp(RNG(8).standard_normal((40, 40)))
    found = permanent(matrix, rng=RNG(1), budget=500)
    assert found.is_bracket
    assert found.method == "Bethe bracket"


def test_blocks_of_which_one_has_bounds_alone_have_bounds_together() -> None:
    sampled = LogPermanent(2.0, "annealing", 0.1, 1.0, 3.0, None, sampled=True)
    bounds = LogPermanent(1.0, "Bethe bracket", 2.0, 1.0, 3.0)
    whole = product([sampled, bounds])
    assert whole.is_bracket
    assert (whole.low, whole.high, whole.log, whole.error) == (2.0, 6.0, 2.0, 4.0)
    both = product([sampled, sampled])
    assert both.sampled
    assert both.error == pytest.approx(0.1 * 2**0.5)
