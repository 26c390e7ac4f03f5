"""HrgDP: what it spends, how much one edge can change, what it keeps, and when it warns."""

from itertools import combinations, pairwise
from math import isclose, log
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graph_strategies import erdos_renyi, graphs
from tests.oracles.dendrograms import all_dendrograms, clusters_of, log_likelihood
from unveil.data.graph import Graph
from unveil.errors import CannotProtectError, InputError
from unveil.protections._listing import PROTECTIONS
from unveil.protections.graph import _release
from unveil.protections.graph._dendrogram import dendrogram, random_children
from unveil.protections.graph.hrg_dp import HrgDP, blocks_of, most_change, noisy_chances, still_rising


def _rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def _cliques(*sizes: int) -> Graph:
    begins = np.cumsum([0, *sizes])
    pairs = [pair for begin, end in pairwise(begins.tolist()) for pair in combinations(range(begin, end), 2)]
    return Graph.from_edges(*np.array(pairs).T, nodes=int(begins[-1]))


class _Watched(np.random.Generator):
    """A generator that remembers what Laplace noise was asked for."""

    def __init__(self, seed: int) -> None:
        super().__init__(np.random.PCG64(seed))
        self.asked: list[tuple[Any, ...]] = []

    def laplace(self, *args: Any) -> Any:
        self.asked.append(args)
        return super().laplace(*args)


def test_it_is_listed() -> None:
    listed = PROTECTIONS["hrg-dp"]
    assert (listed.make, listed.on, listed.kind) == (HrgDP, "graph", "synthetic")
    assert listed.aka == ("HRG-DP", "HRG")


@pytest.mark.parametrize("nodes", [3, 4])
def test_one_edge_changes_the_likelihood_of_no_dendrogram_by_more(nodes: int) -> None:
    pairs = np.array(list(combinations(range(nodes), 2)))
    worst = 0.0
    for tree in all_dendrograms(frozenset(range(nodes))):
        scores = []
        for number in range(2 ** len(pairs)):
            kept = pairs[[bool(number >> bit & 1) for bit in range(len(pairs))]]
            scores.append(log_likelihood(tree, Graph.from_edges(kept[:, 0], kept[:, 1], nodes=nodes)))
        changes = [
            abs(scores[number] - scores[number ^ 1 << bit])
            for number in range(len(scores))
            for bit in range(len(pairs))
        ]
        worst = max(worst, *changes)
    assert most_change(nodes) == pytest.approx(worst, abs=1e-12)


@given(graphs(min_nodes=2, max_nodes=11), st.integers(0, 2**32 - 1), st.integers(0, 10**6))
@settings(deadline=None, max_examples=22)
def test_sensitivity_of_the_likelihood(graph: Graph, seed: int, picked: int) -> None:
    one, other = np.triu_indices(graph.nodes, 1)
    key = (one * graph.nodes + other)[picked % one.size]
    neighbour = Graph.from_keys(np.setxor1d(graph.keys, [key]), graph.nodes)
    tree = clusters_of(dendrogram(random_children(graph.nodes, _rng(seed)), graph.start, graph.neighbour))
    change = abs(log_likelihood(tree, graph) - log_likelihood(tree, neighbour))
    assert change <= most_change(graph.nodes) + 1e-9


@pytest.mark.parametrize("nodes", [2, 3, 5, 6, 4039, 10**6])
def test_sensitivity_has_a_closed_form(nodes: int) -> None:
    pairs = (nodes // 2) * (nodes - nodes // 2)
    assert isclose(most_change(nodes), pairs * log(pairs) - (pairs - 1) * log(max(pairs - 1, 1)), rel_tol=1e-3)
    assert most_change(nodes + 2) > most_change(nodes)


@pytest.mark.parametrize(("epsilon", "share"), [(1.0, 0.5), (0.3, 0.9), (7.0, 0.01)])
def test_ledger_says_what_was_spent(epsilon: float, share: float) -> None:
    graph, rng = erdos_renyi(20, 0.3, seed=2), _Watched(4)
    release = HrgDP(epsilon=epsilon, share_structure=share, moves_per_node=2).apply(graph, rng=rng)
    ledger = release.ledger
    assert ledger is not None
    assert ledger.total == pytest.approx(epsilon, rel=1e-12)
    tree, counts = ledger.queries
    assert (tree.mechanism, tree.sensitivity) == ("exponential", most_change(20))
    assert tree.cost == pytest.approx(epsilon * share)
    assert tree.scale == pytest.approx(2 * most_change(20) / (epsilon * share))
    assert (counts.mechanism, counts.sensitivity, counts.part) == ("Laplace", 1, "blocks")
    assert counts.scale == pytest.approx(1 / (epsilon * (1 - share)))
    # The noise that was drawn is the one written down, one number for each block, and there is no other.
    assert rng.asked == [(0.0, counts.scale, counts.answers)]
    assert counts.answers == release.facts["blocks"]


def test_noise_has_the_scale_it_should() -> None:
    from scipy.stats import kstest

    graph = erdos_renyi(300, 0.5, seed=1)
    tree = dendrogram(random_children(300, _rng()), graph.start, graph.neighbour)
    blocks = blocks_of(tree, most_between=0, most_inside=0)
    large = (blocks.edges > 30) & (blocks.pairs - blocks.edges > 30)
    rng = _rng(3)
    noise = [noisy_chances(blocks, 2.0, rng)[large] * blocks.pairs[large] - blocks.edges[large] for _ in range(50)]
    assert np.concatenate(noise).size > 2000
    assert kstest(np.concatenate(noise), "laplace", args=(0, 0.5)).pvalue > 0.001


@pytest.mark.parametrize("graph", [_cliques(5, 7, 1), _cliques(9), _cliques(2, 2, 2, 2)], ids=str)
def test_much_epsilon_reproduces_graphs_that_a_dendrogram_explains(graph: Graph) -> None:
    release = HrgDP(epsilon=1e6).apply(graph, rng=_rng())
    np.testing.assert_array_equal(release.in_original_numbers().keys, graph.keys)


@pytest.mark.unwatched
def test_much_epsilon_reproduces_densities() -> None:
    graph = erdos_renyi(120, 0.2, seed=5)
    tree = dendrogram(random_children(120, _rng()), graph.start, graph.neighbour)
    blocks = blocks_of(tree, most_between=1 / (5e5 * 0.05), most_inside=1 / (5e5 * 0.01))
    assert blocks.pairs.size == 119
    np.testing.assert_allclose(noisy_chances(blocks, 5e5, _rng()), blocks.edges / blocks.pairs, atol=1e-4)
    released = [HrgDP(epsilon=1e6, moves_per_node=100).apply(graph, rng=_rng(seed)).released.edges for seed in range(5)]
    assert abs(np.mean(released) - graph.edges) < 4 * np.sqrt(graph.edges / 5)


def test_groups_survive_with_a_larger_epsilon() -> None:
    graph = _cliques(30, 30)
    release = HrgDP(epsilon=10.0).apply(graph, rng=_rng())
    drawn = release.in_original_numbers()
    one, other = drawn.ends
    across = int(((one < 30) != (other < 30)).sum())
    assert drawn.edges == pytest.approx(graph.edges, rel=0.1)
    assert across < 0.1 * drawn.edges
    assert release.released.nodes == 60
    assert (release.kind, release.pairing, release.pseudo_nodes) == ("synthetic", "node", 0)


def test_a_small_subtree_is_one_block() -> None:
    few = HrgDP(epsilon=1.0, moves_per_node=1).apply(erdos_renyi(6, 0.5, seed=1), rng=_rng())
    assert (few.facts["blocks"], few.facts["blocks of one density"]) == (1, 1)
    many = HrgDP(epsilon=1e6, moves_per_node=1).apply(erdos_renyi(6, 0.5, seed=1), rng=_rng())
    assert (many.facts["blocks"], many.facts["blocks of one density"]) == (5, 0)


def test_same_seed_same_release() -> None:
    graph = erdos_renyi(25, 0.2, seed=8)
    one, same, other = (HrgDP(moves_per_node=5).apply(graph, rng=_rng(seed)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one.released.keys, same.released.keys)
    np.testing.assert_array_equal(one.truth, same.truth)
    assert not np.array_equal(one.released.keys, other.released.keys)


@given(graphs(min_nodes=2, max_nodes=10, min_edges=1), st.sampled_from([1e-6, 0.5, 1e9]), st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=22)
def test_any_graph_works(graph: Graph, epsilon: float, seed: int) -> None:
    release = HrgDP(epsilon=epsilon, moves_per_node=3).apply(graph, rng=_rng(seed))
    assert release.released.nodes == graph.nodes
    assert release.ledger is not None
    assert release.ledger.total <= epsilon * (1 + 1e-9)
    assert np.unique(release.released.keys).size == release.released.edges


def test_two_nodes_have_one_dendrogram_which_costs_nothing() -> None:
    release = HrgDP(epsilon=1.0).apply(Graph.from_edges([0], [1]), rng=_rng())
    assert release.ledger is not None
    assert [query.mechanism for query in release.ledger.queries] == ["Laplace"]
    assert release.ledger.total == 0.5
    assert release.notes == ()
    three = HrgDP(epsilon=1.0).apply(Graph.from_edges([0], [1], nodes=3), rng=_rng())
    assert three.ledger is not None
    assert three.ledger.total == 1.0


def test_notes_say_how_far_epsilon_holds() -> None:
    graph = erdos_renyi(12, 0.3, seed=3)
    enough = HrgDP(moves_per_node=300).apply(graph, rng=_rng())
    assert enough.facts["moves done"] == 3600
    assert 0 < enough.facts["moves taken"] <= 3600
    (note,) = enough.notes
    assert "a walk of infinite length; 3,600 moves" in note
    few = HrgDP(moves_per_node=2).apply(graph, rng=_rng())
    assert len(few.notes) == 2
    assert few.notes[1].startswith("warning: a walk of 2 moves per node is too short")
    least = HrgDP(moves_per_node=1).apply(graph, rng=_rng())
    assert least.notes[1].startswith("warning: a walk of 1 move per node is too short")


@pytest.mark.parametrize("nodes", [2, 9])
def test_the_ledger_says_what_a_release_takes_as_public(nodes: int) -> None:
    release = HrgDP(moves_per_node=5).apply(Graph.from_edges([0], [1], nodes=nodes), rng=_rng())
    assert release.ledger is not None
    assert release.ledger.public == ("the number of nodes", "that there is an edge at all")


def test_noise_that_asks_for_more_edges_than_fit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_release, "MOST_EDGES", 5)
    with pytest.raises(CannotProtectError, match=r"hrg-dp can draw up to 5 edges, but .*: take a larger one"):
        HrgDP(epsilon=1000, moves_per_node=5).apply(_cliques(6, 6), rng=_rng())


@pytest.mark.unwatched
def test_a_walk_that_still_climbs_warns() -> None:
    climbing = HrgDP(epsilon=8.0, moves_per_node=100).apply(_cliques(100, 100), rng=_rng())
    assert climbing.notes[1].startswith("warning: with 100 moves per node the sampler has not mixed")


def test_a_walk_that_gets_stuck_warns() -> None:
    stuck = HrgDP(epsilon=100.0, moves_per_node=100).apply(_cliques(30, 30), rng=_rng())
    assert stuck.notes[1].startswith("warning: the sampler may not have mixed: with so large an epsilon")


def test_rising_is_told_from_noise() -> None:
    rng = _rng(6)
    noise = rng.normal(scale=10, size=(400, 20))
    assert np.mean([still_rising(each, 1.0) for each in noise]) < 0.02
    assert all(still_rising(each + np.linspace(0, 190, 20), 1.0) for each in noise)
    # Less than a factor of e in the chance of a dendrogram does not matter, however clear it is.
    assert not still_rising(np.linspace(0, 0.2, 20), 1.0)
    assert not still_rising(np.zeros(20), 1e-12)


@pytest.mark.parametrize("epsilon", [0, -1, float("nan"), float("inf"), True, "1", None])
def test_epsilon_must_be_a_budget(epsilon: Any) -> None:
    with pytest.raises(InputError, match="epsilon must be a finite number above 0"):
        HrgDP(epsilon=epsilon)


@pytest.mark.parametrize("share", [0, 1, -0.1, 1.5, float("nan"), True, "half"])
def test_share_must_leave_both_something(share: Any) -> None:
    with pytest.raises(InputError, match="share_structure must lie between 0 and 1, both excluded"):
        HrgDP(share_structure=share)


def test_parts_must_not_vanish() -> None:
    with pytest.raises(InputError, match="the dendrogram and the counts need 1e-09 of epsilon each, but get"):
        HrgDP(epsilon=1e-300)
    with pytest.raises(InputError, match="the dendrogram and the counts need 1e-09 of epsilon each, but get"):
        HrgDP(share_structure=1 - 1e-12)


@pytest.mark.parametrize("moves", [0, -5, 1.5, True, "many"])
def test_moves_must_be_a_whole_number(moves: Any) -> None:
    with pytest.raises(InputError, match="moves_per_node must be a whole number of at least 1"):
        HrgDP(moves_per_node=moves)


@pytest.mark.parametrize("nodes", [0, 1, 7])
def test_a_graph_without_edges_is_refused(nodes: int) -> None:
    none = np.zeros(0, np.int64)
    with pytest.raises(InputError, match="hrg-dp needs a graph with edges"):
        HrgDP().apply(Graph.from_edges(none, none, nodes=nodes), rng=_rng())
