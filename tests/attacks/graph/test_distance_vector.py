"""Distance vectors: nodes as far from every seed are matched, in chunks by degree or all at once."""

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.graph_strategies import graphs, heavy_tail
from tests.oracles.graph_attacks_global import best_assignment, check_chunks, seed_scores
from unveil.attacks.graph import _chunks
from unveil.attacks.graph._similarity import of_seed_distances
from unveil.attacks.graph.distance_vector import DistanceVector
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphKnowledge
from unveil.errors import InputError
from unveil.guesses import Candidates


def drawn_seeds(released: Graph, auxiliary: Graph, count: int, rng: np.random.Generator) -> GraphKnowledge:
    count = min(count, released.nodes, auxiliary.nodes)
    pairs = [rng.permutation(graph.nodes)[:count] for graph in (released, auxiliary)]
    return GraphKnowledge(auxiliary, np.column_stack(pairs))


def run(attack: DistanceVector, released: Graph, knowledge: GraphKnowledge, seed: int = 1) -> Candidates:
    return attack.run(released=released, knowledge=knowledge, rng=np.random.default_rng(seed))


@given(
    graphs(min_nodes=2, max_nodes=9, min_edges=1),
    graphs(min_nodes=2, max_nodes=9, min_edges=1),
    st.sampled_from([1, 2, 3, 5, None]),
    st.integers(1, 4),
    st.integers(0, 2**32 - 1),
)
def test_it_is_the_best_assignment_of_cosines_in_chunks_by_degree(
    released: Graph, auxiliary: Graph, chunk: int | None, seeds: int, seed: int
) -> None:
    knowledge = drawn_seeds(released, auxiliary, seeds, np.random.default_rng(seed))
    guess = run(DistanceVector(chunk=chunk), released, knowledge, seed)
    check_chunks(guess, seed_scores(released, knowledge), released, knowledge, chunk)


@given(graphs(min_nodes=2, max_nodes=9, min_edges=1), graphs(min_nodes=2, max_nodes=9, min_edges=1), st.integers(0, 99))
def test_many_nodes_that_are_alike_are_assigned_as_one_by_one(released: Graph, auxiliary: Graph, seed: int) -> None:
    knowledge = drawn_seeds(released, auxiliary, 2, np.random.default_rng(seed))
    with patch.object(_chunks, "_PAIRS_FOR_TWINS", 0):
        guess = run(DistanceVector(chunk=None), released, knowledge, seed)
    check_chunks(guess, seed_scores(released, knowledge), released, knowledge, None)


def test_twins_take_every_partner_with_the_same_chance() -> None:
    star = Graph.from_edges([0] * 6, range(1, 7))
    knowledge = GraphKnowledge(star, np.array([[0, 0], [1, 1]]))
    counts = np.zeros((7, 7), int)
    with patch.object(_chunks, "_PAIRS_FOR_TWINS", 0):
        for seed in range(600):
            chosen = run(DistanceVector(chunk=None), star, knowledge, seed).chosen
            assert chosen is not None
            counts[np.arange(2, 7), chosen[2:]] += 1
    # Binomial(600, 1/5): mean 120, standard deviation 9.8.
    assert abs(counts[2:, 2:] - 120).max() < 50


def test_a_seed_that_cannot_be_reached_is_one_step_beyond_the_farthest_of_either_graph() -> None:
    released = Graph.from_edges([0, 1, 4], [1, 2, 5], nodes=6)  # farthest: 2 steps
    auxiliary = Graph.from_edges([0, 1, 2], [1, 2, 3], nodes=6)  # farthest: 3 steps
    score = of_seed_distances(released, GraphKnowledge(auxiliary, np.array([[0, 0], [4, 4]])))
    # Released node 2 is 2 steps from the one seed and cannot reach the other, and so is auxiliary node 2.
    assert score(np.array([2]), np.array([2]))[0, 0] == 1.0
    # Auxiliary node 1: (1, 4) against (2, 4).
    assert score(np.array([2]), np.array([1]))[0, 0] == pytest.approx(18 / np.sqrt(20 * 17))


def test_a_threshold_accepts_what_reaches_it() -> None:
    graph = heavy_tail(40, 2, 1)
    rng = np.random.default_rng(5)
    knowledge = drawn_seeds(graph, graph, 5, rng)
    every = run(DistanceVector(chunk=10), graph, knowledge)
    scores = seed_scores(graph, knowledge)
    assert every.chosen is not None
    reached = {node: scores[node, int(every.chosen[node])] for node in np.flatnonzero(every.attempted).tolist()}
    theta = float(np.median(list(reached.values())))
    some = run(DistanceVector(chunk=10, theta=theta - 1e-9), graph, knowledge)
    expected = {node for node, score in reached.items() if score >= theta - 1e-9}
    assert set(np.flatnonzero(some.attempted).tolist()) == expected
    assert 0 < len(expected) < len(reached)
    assert not run(DistanceVector(theta=float("inf")), graph, knowledge).attempted.any()


@pytest.mark.parametrize(("released_size", "auxiliary_size"), [(9, 6), (6, 9)])
def test_graphs_of_different_size_are_cut_at_the_same_shares(released_size: int, auxiliary_size: int) -> None:
    released, auxiliary = heavy_tail(released_size + 1, 2, 1), heavy_tail(auxiliary_size + 1, 2, 2)
    knowledge = GraphKnowledge(auxiliary, np.array([[0, 0]]))
    guess = run(DistanceVector(chunk=3), released, knowledge)
    assert guess.attempted.sum() == 6
    width = 3 * auxiliary_size // max(released_size, auxiliary_size)
    assert set(guess.considered[guess.attempted].tolist()) == {width}
    check_chunks(guess, seed_scores(released, knowledge), released, knowledge, 3)


def test_one_seed_teaches_nothing() -> None:
    graph = heavy_tail(30, 2, 1)
    guess = run(DistanceVector(), graph, GraphKnowledge(graph, np.array([[3, 3]])))
    np.testing.assert_allclose(guess.probability, 1 / 29)


def test_the_oracle_finds_the_best_assignment() -> None:
    scores = {(0, 5): 1.0, (0, 6): 0.9, (1, 5): 0.9, (1, 6): 0.1}
    assert best_assignment(scores, [0, 1], [5, 6]) == (1.8, {0: 6, 1: 5})
    assert best_assignment(scores, [0, 1], [5]) == (1.0, {0: 5})


@pytest.mark.parametrize("theta", [float("nan"), "0", None, True])
def test_a_threshold_is_a_number(theta: object) -> None:
    with pytest.raises(InputError, match="it must be a number, the least score to accept"):
        DistanceVector(theta=theta)  # type: ignore[arg-type]


@pytest.mark.parametrize("chunk", [0, -1, 2.5, True, "100"])
def test_a_chunk_is_a_whole_number(chunk: object) -> None:
    with pytest.raises(InputError, match="chunk must be a whole number of at least 1"):
        DistanceVector(chunk=chunk)  # type: ignore[arg-type]
