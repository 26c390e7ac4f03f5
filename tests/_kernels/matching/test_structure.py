"""Blocks, missing matchings, scaling, brackets and the frontier: what they promise, on cases with known answers."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests._kernels.matching.examples import intervals, sparse
from tests.oracles import matchings as oracle
from unveil._kernels.matching import (
    NoPerfectMatchingError,
    TooLargeError,
    as_edges,
    bethe,
    convolve,
    decompose,
    edge_at,
    maximum_matching,
    permanent,
    random_matching,
    sinkhorn,
    solve,
)
from unveil._kernels.matching import frontier as frontier_module
from unveil._kernels.matching.bethe import _by_logs
from unveil._kernels.matching.closed_form import cracks_of_even
from unveil._kernels.matching.frontier import _drafted, _orders, plan, sweep

RNG = np.random.default_rng


@settings(deadline=None, max_examples=22)
@given(st.integers(1, 6), st.integers(0, 2**32), st.sampled_from([0.2, 0.4, 0.7]))
def test_edges_between_blocks_are_those_in_no_matching(n: int, seed: int, density: float) -> None:
    matrix = np.ceil(sparse(n, density, RNG(seed)))
    blocks = decompose(as_edges(matrix))
    kept = np.zeros((n, n), bool)
    for block in blocks:
        assert block.rows.size == block.columns.size
        kept[block.rows[block.edges.row], block.columns[block.edges.column]] = True
    assert sorted(np.concatenate([block.rows for block in blocks])) == list(range(n))
    assert (kept == (np.array(oracle.marginals(matrix.astype(int).tolist()), float) > 0)).all()


@settings(deadline=None, max_examples=22)
@given(st.integers(1, 7), st.integers(0, 2**32), st.floats(0.1, 0.5))
def test_rows_named_have_too_few_columns(n: int, seed: int, density: float) -> None:
    matrix = (RNG(seed).random((n, n)) < density).astype(float)
    if oracle.permanent(matrix.astype(int).tolist()) > 0:
        matched = random_matching(as_edges(matrix), RNG(seed))
        assert sorted(matched) == list(range(n))
        assert (matrix[np.arange(n), matched] > 0).all()
        return
    assert permanent(matrix).log == -np.inf
    with pytest.raises(NoPerfectMatchingError) as caught:
        solve(matrix, np.arange(n), rng=RNG(0))
    rows, columns = caught.value.rows, caught.value.columns
    assert np.flatnonzero(matrix[rows].any(axis=0)).tolist() == columns.tolist()
    assert columns.size == rows.size - 1


def test_random_starts_of_a_full_matrix_are_even() -> None:
    edges, rng = as_edges(np.ones((3, 3))), RNG(5)
    found = [tuple(random_matching(edges, rng).tolist()) for _ in range(1200)]
    assert min(found.count(one) for one in set(found)) > 150
    assert len(set(found)) == 6


def test_a_maximum_matching_of_shuffled_intervals_is_perfect() -> None:
    assert (maximum_matching(intervals(3000, 9, RNG(2), shuffled=True)) >= 0).all()


@pytest.mark.parametrize("n", [1, 2, 3, 7])
def test_cracks_where_all_matchings_are_alike(n: int) -> None:
    for known in {n, n - 1, 0}:
        truth = np.where(np.arange(n) < known, np.arange(n), -1)
        expected = oracle.crack_distribution([[1] * n] * n, truth.tolist())
        np.testing.assert_allclose(cracks_of_even(n, truth), np.array(expected, float), atol=1e-15)


def test_a_thousand_alike() -> None:
    found = solve(np.outer(np.arange(1, 1001.0), np.arange(2, 1002.0)), RNG(0).permutation(1000), rng=RNG(0))
    assert found.methods["marginals"] == "closed form"
    assert found.expected_cracks == pytest.approx(1.0)
    assert found.crack_distribution is not None
    np.testing.assert_allclose(found.crack_distribution[:4], np.exp(-1) / np.array([1, 1, 2, 6]), rtol=1e-12)


def test_convolution_of_many_blocks() -> None:
    pairs = np.kron(np.eye(300), np.array([[0.6, 0.4], [0.4, 0.6]]))
    found = solve(pairs, np.arange(600), rng=RNG(0))
    assert found.expected_cracks == pytest.approx(600 * 0.36 / 0.52, rel=1e-12)
    assert found.crack_distribution is not None
    assert found.crack_distribution[1::2].sum() == 0
    assert found.crack_distribution @ np.arange(601) == pytest.approx(found.expected_cracks, rel=1e-12)
    assert convolve([]).tolist() == [1.0]


@pytest.mark.parametrize("shuffled", [False, True])
def test_frontier_of_an_interval_graph(shuffled: bool) -> None:
    edges = intervals(60, 4, RNG(3), shuffled=shuffled)
    sweeping = plan(edges)
    assert sweeping is not None
    assert sweeping.width <= 8
    found = sweep(sweeping, edges.weight, np.arange(0), cracks=False)
    sums = np.bincount(edges.row, found.marginal), np.bincount(edges.column, found.marginal)
    np.testing.assert_allclose(sums, 1.0, rtol=1e-12)
    # The same by blocks, which go through other methods.
    whole = permanent(edges)
    assert "subsets" in whole.method or "frontier" in whole.method
    assert found.log_permanent == pytest.approx(whole.log, rel=1e-13)


def test_forward_sums_made_again_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    edges = intervals(80, 5, RNG(4))
    sweeping = plan(edges)
    assert sweeping is not None
    truth = edge_at(edges, np.arange(80))
    whole = sweep(sweeping, edges.weight, truth, cracks=True)
    monkeypatch.setattr(frontier_module, "_KEPT", 300)
    again = sweep(sweeping, edges.weight, truth, cracks=True)
    np.testing.assert_array_equal(whole.marginal, again.marginal)
    np.testing.assert_array_equal(whole.cracks, again.cracks)
    assert whole.cracks is not None
    assert whole.cracks @ np.arange(81) == pytest.approx(whole.marginal[truth].sum(), rel=1e-12)
    # Neighbouring cracks are not independent, so the spread tells something that the mean does not.
    assert whole.cracks.sum() == pytest.approx(1.0)


@pytest.mark.unwatched
def test_long_interval_graph_with_all_marginals() -> None:
    edges = intervals(10_000, 6, RNG(6))
    found = solve(edges, np.arange(10_000), rng=RNG(0))
    assert "worm" not in found.methods["marginals"] + found.methods["crack_distribution"]
    np.testing.assert_allclose(np.bincount(edges.row, found.marginal), 1.0, rtol=1e-10)
    assert found.crack_distribution is not None
    assert found.crack_distribution @ np.arange(10_001) == pytest.approx(found.expected_cracks, rel=1e-9)


@pytest.mark.parametrize("seed", range(6))
def test_scaling_and_bracket(seed: int) -> None:
    rng = RNG(seed)
    n = int(rng.integers(3, 9))
    matrix = rng.random((n, n)) ** 6 + 1e-6
    edges = as_edges(matrix)
    scaled = sinkhorn(edges)
    np.testing.assert_allclose([scaled.edges.dense().sum(axis=k) for k in (0, 1)], 1.0, atol=1e-11)
    value = permanent(matrix).log
    assert permanent(scaled.edges).log + scaled.log_factor == pytest.approx(value, rel=1e-12)
    found = bethe(edges)
    assert found.low <= value <= found.high


def test_bracket_of_pairs_touches_its_upper_end() -> None:
    # On a block of two even entries belief propagation is off by the whole factor of 2 = sqrt(2)^2.
    pair = bethe(as_edges(np.ones((2, 2))))
    assert pair.high == pytest.approx(np.log(2.0), abs=1e-6)


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (np.ones((2, 3)), "square"),
        (np.ones((0, 0)), "at least one row"),
        (np.array([[1.0, -1.0], [1.0, 1.0]]), "finite numbers of at least 0"),
        (np.array([[1.0, np.nan], [1.0, 1.0]]), "finite numbers of at least 0"),
        (np.array([[1.0, np.inf], [1.0, 1.0]]), "finite numbers of at least 0"),
    ],
)
def test_matrices_that_cannot_be_used(matrix: np.ndarray[tuple[int, int], np.dtype[np.float64]], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        permanent(matrix)


def test_too_many_rows_and_a_truth_that_is_none() -> None:
    from scipy.sparse import eye_array

    assert permanent(eye_array(100_000) * 2.0).log == pytest.approx(100_000 * np.log(2), rel=1e-12)
    with pytest.raises(TooLargeError, match="at most 1,000,000 rows"):
        permanent(eye_array(1_000_001))
    for truth in ([0, 0], [0], [0, 2], [0.5, 1]):
        with pytest.raises(ValueError, match="columns of the 2, none twice"):
            solve(np.ones((2, 2)), truth, rng=RNG(0))
    assert solve(eye_array(5).tocsr() * 2.0, np.arange(5), rng=RNG(0)).expected_cracks == 5


def test_a_truth_that_the_adversary_rules_out_is_an_answer() -> None:
    matrix = np.array([[1.0, 1.0, 1.0], [0.0, 1.0, 1.0], [0.0, 1.0, 1.0]])
    found = solve(matrix, [1, 0, 2], rng=RNG(0))
    assert found.crack_probability.tolist() == [0.0, 0.0, 0.5]
    assert "1 true matches have the value 0" in found.notes[0]
    assert "1 true matches are positive but in no perfect matching" in found.notes[1]
    assert found.crack_distribution is not None
    np.testing.assert_allclose(found.crack_distribution, [0.5, 0.5, 0, 0])


def test_twelve_rows_need_no_compiler() -> None:
    code = (
        "import sys, numpy as np; from unveil._kernels.matching import solve, permanent;"
        "rng = np.random.default_rng(0);"
        "[solve(rng.random((n, n)), np.arange(n), rng=rng) for n in (1, 2, 12)];"
        "permanent((rng.random((12, 12)) < 0.7) + np.eye(12)); sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_every_order_of_columns_is_an_order_and_the_best_is_found_again() -> None:
    straight, shuffled = intervals(300, 5, RNG(8)), intervals(300, 5, RNG(8), shuffled=True)
    orders = list(_orders(shuffled))
    assert len(orders) == 5
    assert all(sorted(order) == list(range(300)) for order in orders)
    best, again = plan(straight), plan(shuffled)
    assert best is not None
    assert again is not None
    assert again.work < 1.5 * best.work
    assert _drafted(as_edges(np.ones((30, 30))), np.arange(30, dtype=np.int32), np.arange(900)) is None
    assert plan(as_edges(np.ones((30, 30)))) is None


def test_scaling_beyond_floating_point_numbers() -> None:
    # The ring's factors go from 1e-300 to 1e+300 and on; only their logarithms can be told.
    n = 12
    ring = 1e-250 * np.eye(n) + np.roll(np.eye(n), 1, axis=1)
    ring[0] *= 1e-40
    scaled = sinkhorn(as_edges(ring), rounds=50)
    np.testing.assert_allclose(scaled.edges.dense().sum(axis=1), 1.0, rtol=1e-9)
    assert permanent(ring).log == pytest.approx(np.log(1e-40), rel=1e-9)
    column = np.ones((3, 3))
    column[:, 0] = 1e-300
    np.testing.assert_allclose(sinkhorn(as_edges(column)).edges.weight, 1 / 3, rtol=1e-12)
    rng = RNG(1)
    mild = as_edges(rng.random((9, 9)) + 0.01)
    linear, logs = sinkhorn(mild), _by_logs(mild, np.log(mild.weight), 1e-12, 1000)
    np.testing.assert_allclose(linear.edges.weight, logs.edges.weight, rtol=1e-9)
    assert linear.log_factor == pytest.approx(logs.log_factor, rel=1e-10)
