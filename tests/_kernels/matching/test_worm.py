"""Worms: right on average, with honest error bars, the same for the same seed, and worse where they should be."""

import numpy as np
import pytest

from tests._kernels.matching.examples import intervals, sparse
from unveil._kernels.matching import TooLargeError, as_edges, bethe, decompose, sinkhorn, solve
from unveil._kernels.matching import block_answer as block_answer_module
from unveil._kernels.matching import glynn_cracks as glynn_cracks_module
from unveil._kernels.matching import subsets as subsets_module
from unveil._kernels.matching.chains import SampledMatchings, r_hat, sample
from unveil._kernels.matching.frontier import plan
from unveil._kernels.matching.subsets import cracks_by_subsets, marginals_by_subsets
from unveil._kernels.matching.worm import choices, crawl
from unveil._kernels.threads import threads

RNG = np.random.default_rng


def test_choices_are_in_proportion_to_weights() -> None:
    edges = as_edges(sparse(7, 0.6, RNG(1)))
    packed = choices(edges.start, edges.column, edges.weight)
    for row in range(7):
        here = slice(edges.start[row], edges.start[row + 1])
        chance = np.zeros(7)
        for code in packed[here].tolist():
            stay = (code >> 32) / 2147483647.0
            chance[(code >> 16) & 65535] += stay / packed[here].size
            chance[code & 65535] += (1 - stay) / packed[here].size
        np.testing.assert_allclose(chance[edges.column[here]], edges.weight[here] / edges.weight[here].sum(), atol=1e-8)


@pytest.mark.unwatched
def test_error_bars_are_honest() -> None:
    n, scores, entry_scores = 8, [], []
    for seed in range(60):
        rng = RNG(seed)
        matrix = sparse(n, 0.7, rng) + 0.02
        truth = rng.permutation(n)
        exact = marginals_by_subsets(matrix)[1][np.arange(n), truth]
        found = sample(
            sinkhorn(as_edges(matrix), tolerance=1e-2).edges, truth, rng=rng, precision=0.05, samples=500, budget=10**6
        )
        scores.append((found.expected_cracks - exact.sum()) / found.expected_cracks_error)
        entry_scores.append((found.crack_probability - exact) / found.crack_probability_error)
    assert np.mean(np.abs(scores) < 1.96) > 0.85
    assert np.max(np.abs(scores)) < 4
    assert abs(np.mean(scores)) < 0.4
    assert 0.8 < np.std(scores) < 1.3
    assert np.mean(np.abs(entry_scores) < 1.96) > 0.9


def test_marginals_and_distribution_of_a_block() -> None:
    rng = RNG(3)
    matrix, truth = sparse(9, 0.5, rng) + 0.01, rng.permutation(9)
    edges = as_edges(matrix)
    found = sample(sinkhorn(edges, tolerance=1e-2).edges, truth, rng=rng, precision=0.004)
    exact = marginals_by_subsets(matrix)[1]
    np.testing.assert_allclose(found.marginal, exact[edges.row, edges.column], atol=0.01)
    chance, error = found.distribution(9)
    assert (np.abs(chance - cracks_by_subsets(matrix, truth)) < 4 * error).all()
    assert found.settled
    assert found.r_hat < 1.01
    assert found.expected_cracks == pytest.approx(found.crack_probability.sum())


@pytest.mark.unwatched
def test_dense_lognormal_of_a_thousand_rows_to_two_percent() -> None:
    rng = RNG(9)
    found = solve(np.exp(rng.normal(size=(1000, 1000))), np.arange(1000), rng=rng, precision=0.02)
    assert found.methods == {"permanent": "Bethe bracket", "marginals": "worm", "crack_distribution": "worm"}
    assert 0 < found.expected_cracks_error <= 0.021
    assert found.expected_cracks == pytest.approx(1.0, abs=0.2)
    assert found.r_hat < 1.01
    assert not found.exact
    assert found.log_permanent.high - found.log_permanent.low == pytest.approx(500 * np.log(2))


def test_worms_agree_with_the_frontier_on_a_long_interval_graph() -> None:
    block = max(decompose(intervals(2000, 8, RNG(2))), key=lambda one: one.rows.size)
    n = block.rows.size
    truth = np.arange(n)
    exact = solve(block.edges, truth, rng=RNG(0), distribution=False)
    assert exact.methods["marginals"] == "frontier"
    found = sample(sinkhorn(block.edges, tolerance=1e-2).edges, truth, rng=RNG(1), samples=4000)
    assert abs(found.expected_cracks - exact.expected_cracks) < 3 * found.expected_cracks_error
    assert found.expected_cracks_error < 0.01 * exact.expected_cracks


def test_the_same_seed_gives_the_same_answer() -> None:
    matrix = RNG(0).random((40, 40))
    first, second, other = (solve(matrix, np.arange(40), rng=RNG(seed), precision=0.1) for seed in (7, 7, 8))
    np.testing.assert_array_equal(first.marginal, second.marginal)
    np.testing.assert_array_equal(first.crack_distribution, second.crack_distribution)
    assert (first.marginal != other.marginal).any()


def test_plain_and_compiled_worms_draw_alike() -> None:
    matrix = np.eye(6) + np.roll(np.eye(6), 1, axis=1) + np.roll(np.eye(6), 2, axis=1)
    edges, truth = sinkhorn(as_edges(matrix)).edges, np.arange(6)
    plain = sample(edges, truth, rng=RNG(2), budget=15_000, precision=1e-9)
    fast = sample(edges, truth, rng=RNG(2), budget=25_000, precision=1e-9)
    shared = plain.cracks.shape[1]
    np.testing.assert_array_equal(plain.cracks, fast.cracks[:, :shared])
    assert not plain.settled


def test_chains_that_take_turns_do_not_notice_one_another() -> None:
    edges = as_edges(sparse(7, 0.6, RNG(1)) + np.eye(7))
    packed, truth = choices(edges.start, edges.column, edges.weight), np.arange(7)
    chains, samples, batches = 4, 6, 3

    def crawled(*groups: slice) -> list[np.ndarray[tuple[int, ...], np.dtype[np.integer]]]:
        mate = np.tile(np.arange(7, dtype=np.int32), (chains, 1))
        owner, states = mate.copy(), np.arange(chains, dtype=np.uint64)
        rows, seen = np.zeros((chains, batches, 7), np.int64), np.zeros(edges.weight.size, np.int32)
        cracks, steps = np.zeros((chains, samples), np.int64), np.zeros(chains, np.int64)
        scores, score = np.zeros((chains, samples)), (edges.column == truth[edges.row]).astype(np.float64)
        for own in groups:
            crawl(
                edges.start, edges.column, packed, truth, score, mate[own], owner[own], 2, seen,
                rows[own].reshape(-1, 7), cracks[own], scores[own], steps[own], states[own],
            )  # fmt: skip
        assert scores.tolist() == cracks.tolist()  # the score of a matching is added up over its edges
        assert (owner[np.arange(chains)[:, None], mate] == np.arange(7)).all()
        assert rows.sum(axis=(1, 2)).tolist() == cracks.sum(axis=1).tolist()
        assert seen.sum() == chains * samples * 7
        return [mate, owner, rows, seen, cracks, steps, states]

    together = crawled(slice(0, 4))
    assert together[4].std() > 0
    for apart in (crawled(slice(0, 2), slice(2, 4)), crawled(*(slice(k, k + 1) for k in (2, 0, 3, 1)))):
        for one, other in zip(together, apart, strict=True):
            np.testing.assert_array_equal(one, other)


def test_worms_tell_the_same_on_any_number_of_threads() -> None:
    edges = sinkhorn(as_edges(np.exp(RNG(0).normal(size=(50, 50))))).edges
    found = []
    for number in (1, 2, 5):
        with threads(number):
            found.append(sample(edges, np.arange(50), rng=RNG(1), samples=500, precision=0.1))
    for other in found[1:]:
        assert other.marginal.tobytes() == found[0].marginal.tobytes()
        assert other.cracks.tobytes() == found[0].cracks.tobytes()


def test_what_was_never_seen_is_not_impossible() -> None:
    found = SampledMatchings(
        np.zeros(0), np.zeros(0), np.zeros(0), 0.0, 0.0, 0.0, np.zeros((4, 100), np.int64), np.nan, 400.0, True
    )
    chance, error = found.distribution(2)
    assert chance.tolist() == [1.0, 0.0, 0.0]
    assert (error > 0).all()


def test_r_hat_sees_chains_that_disagree() -> None:
    rng = RNG(0)
    alike = rng.integers(0, 5, (4, 400))
    assert r_hat(alike) < 1.02
    assert r_hat(alike + np.array([[0], [0], [0], [3]])) > 1.2
    assert r_hat(np.repeat([[1], [2]], 10, axis=1)) == np.inf
    assert np.isnan(r_hat(np.ones((4, 10), np.int64)))
    assert np.isnan(r_hat(np.ones((4, 3), np.int64)))


def test_chains_that_have_not_settled_are_said_to() -> None:
    matrix = np.exp(4 * RNG(0).normal(size=(60, 60)))
    found = solve(matrix, np.arange(60), rng=RNG(1), precision=1e-6, budget=60_000)
    assert any("stopped at its budget" in note for note in found.notes)


def test_too_many_entries_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_answer_module, "MOST_EDGES", 1000)
    with pytest.raises(TooLargeError, match="must be sampled"):
        solve(RNG(0).random((40, 40)), np.arange(40), rng=RNG(0))


def test_rows_too_many_for_worms_get_an_exact_answer_where_their_work_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    band = np.triu(np.tril(RNG(0).random((40, 40)) + 0.1, 2), -2)
    exact = solve(band, np.arange(40), rng=RNG(0), distribution=False)
    monkeypatch.setattr(block_answer_module, "MOST_ROWS", 30)
    # A tenth of what it takes: enough where there is no other way.
    sweeping = plan(as_edges(band))
    assert sweeping is not None
    monkeypatch.setattr(block_answer_module, "_MOST_WORK", sweeping.work / 9)
    monkeypatch.setattr(block_answer_module, "_MOST_POLYNOMIAL_WORK", 1.0)
    found = solve(band, np.arange(40), rng=RNG(0), distribution=False)
    np.testing.assert_array_equal(found.marginal, exact.marginal)
    with pytest.raises(TooLargeError, match="the distribution of cracks of 40 rows must be sampled"):
        solve(band, np.arange(40), rng=RNG(0))


def test_exact_marginals_beside_a_sampled_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(block_answer_module, "_MOST_POLYNOMIAL_WORK", 0.0)
    edges = intervals(120, 6, RNG(3))
    found = solve(edges, np.arange(120), rng=RNG(1))
    assert "worm" in found.methods["crack_distribution"]
    assert found.exact
    assert found.crack_distribution is not None
    assert found.crack_distribution_error is not None
    assert found.crack_distribution_error.max() > 0
    assert found.crack_distribution @ np.arange(121) == pytest.approx(found.expected_cracks, rel=0.05)


def test_exact_marginals_of_a_dense_block_beside_a_sampled_distribution(monkeypatch: pytest.MonkeyPatch) -> None:
    matrix, truth = RNG(4).random((19, 19)), RNG(5).permutation(19)
    exact = solve(matrix, truth, rng=RNG(1))
    assert exact.methods == {"permanent": "Glynn", "marginals": "Glynn", "crack_distribution": "subsets"}
    monkeypatch.setattr(subsets_module, "LARGEST_CRACKS", 16)
    again = solve(matrix, truth, rng=RNG(1))
    assert again.methods["crack_distribution"] == "Glynn"
    np.testing.assert_allclose(again.crack_distribution, exact.crack_distribution, atol=1e-12)  # type: ignore[arg-type]
    monkeypatch.setattr(glynn_cracks_module, "LARGEST", 16)
    drawn = solve(matrix, truth, rng=RNG(1))
    assert drawn.methods["crack_distribution"] == "worm"
    assert drawn.crack_distribution is not None
    assert exact.crack_distribution is not None
    assert drawn.crack_distribution_error is not None
    gap = np.abs(drawn.crack_distribution - exact.crack_distribution)
    assert (gap < 4 * drawn.crack_distribution_error).all()
    assert drawn.expected_cracks == exact.expected_cracks
    assert solve(matrix, truth, rng=RNG(1), distribution=False).crack_distribution is None


def test_thirty_rows_have_an_exact_permanent_beside_sampled_marginals() -> None:
    matrix = np.exp(RNG(6).normal(size=(29, 29)))
    found = solve(matrix, np.arange(29), rng=RNG(1), precision=0.1)
    assert found.methods == {"permanent": "Glynn", "marginals": "worm", "crack_distribution": "worm"}
    bracket = bethe(as_edges(matrix))
    assert bracket.low < found.log_permanent.log < bracket.high
