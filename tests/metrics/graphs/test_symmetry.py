"""The bound by symmetry: twins by trying every exchange, and no attack finds more on average."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graph_attack_strategies import renumbered, right
from tests.graph_strategies import graphs, heavy_tail
from tests.oracles.exchangeable import Edges, orbits, twins
from unveil.attacks import MeanField
from unveil.data.graph import Graph
from unveil.data.graph.knowledge import draw_knowledge
from unveil.data.graph.release import GraphKnowledge
from unveil.metrics.graphs.symmetry import most_found, twin_counts


def edges_of(graph: Graph) -> Edges:
    return {frozenset(edge) for edge in zip(*(ends.tolist() for ends in graph.ends), strict=True)}


@given(graphs(min_nodes=1, max_nodes=6), st.sets(st.integers(0, 5)))
def test_twins_are_nodes_that_change_places_and_no_edge_changes(graph: Graph, known: set[int]) -> None:
    free = set(range(graph.nodes)) - known
    counted = np.isin(np.arange(graph.nodes), list(free))
    found = twin_counts(graph.start, graph.neighbour, counted).tolist()
    assert found == twins(graph.nodes, edges_of(graph), free)
    # Whoever is exchanged is in the same orbit, which may hold more.
    assert all(one <= other for one, other in zip(found, orbits(graph.nodes, edges_of(graph), free), strict=True))


@given(graphs(min_nodes=2, max_nodes=6), graphs(min_nodes=2, max_nodes=6), st.integers(0, 2), st.integers(0, 99))
@settings(max_examples=40)
def test_each_has_one_chance_in_its_twins_of_either_graph(one: Graph, other: Graph, known: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    # Beyond the auxiliary graph, and below 0, is nobody who could be found.
    truth = rng.permutation(max(one.nodes, other.nodes) + 1)[: one.nodes] - 1
    pairs = np.flatnonzero((truth >= 0) & (truth < other.nodes))[:known]
    chance = most_found(one, GraphKnowledge(other, np.column_stack([pairs, truth[pairs]])), truth)
    here = twins(one.nodes, edges_of(one), set(range(one.nodes)) - set(pairs.tolist()))
    there = twins(other.nodes, edges_of(other), set(range(other.nodes)) - set(truth[pairs].tolist()))
    for node, whose in enumerate(truth.tolist()):
        findable = node not in pairs and 0 <= whose < other.nodes
        assert chance[node] == pytest.approx(1 / max(here[node], there[whose]) if findable else 0.0)


@pytest.mark.unwatched
def test_the_strongest_attack_finds_no_more_on_average() -> None:
    # Trees of stars have many twins, and with all edges known nothing else is in doubt.
    base = heavy_tail(12, 1, 1)
    one, other = base.ends
    leaves = np.repeat(np.arange(12), 3)
    original = Graph.from_edges(np.append(one, leaves), np.append(other, np.arange(12, 48)))
    found, bound = [], []
    for seed in range(100):
        release = renumbered(original, seed)
        knowledge = draw_knowledge(release, overlap=0.95, seed_pairs=2, rng=np.random.default_rng(seed))
        guess = MeanField().run(released=release.released, knowledge=knowledge, rng=np.random.default_rng(seed))
        found.append(right(guess, release.truth))
        bound.append(most_found(release.released, knowledge, release.truth).sum())
    gap = np.array(found) - np.array(bound)
    assert gap.mean() < 3 * gap.std() / 10
    assert np.mean(found) > 0.6 * np.mean(bound)
