"""The bound by symmetry: who is alike by trying every permutation, and no attack finds more on average."""

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
from unveil.metrics.graphs.symmetry import exchangeable_counts, most_found


def edges_of(graph: Graph) -> Edges:
    return {frozenset(edge) for edge in zip(*(ends.tolist() for ends in graph.ends), strict=True)}


@st.composite
def forests(draw: st.DrawFn, *, max_nodes: int = 7) -> Graph:
    """Draw any forest: each node has an earlier one as neighbor, or none; numbers at random."""
    nodes = draw(st.integers(1, max_nodes))
    parent = [draw(st.integers(-1, node - 1)) for node in range(nodes)]
    number = np.array(draw(st.permutations(range(nodes))))
    joined = [node for node in range(nodes) if parent[node] >= 0]
    return Graph.from_edges(number[joined], number[[parent[node] for node in joined]], nodes=nodes)


def found_of(graph: Graph, free: set[int]) -> list[int]:
    counted = np.isin(np.arange(graph.nodes), list(free))
    return [int(each) for each in exchangeable_counts(graph.start, graph.neighbour, counted)]


@given(forests(), st.sets(st.integers(0, 6), max_size=2))
@settings(max_examples=150)
def test_on_forests_nodes_are_alike_if_a_permutation_that_changes_no_edge_exchanges_them(
    graph: Graph, known: set[int]
) -> None:
    free = set(range(graph.nodes)) - known
    assert found_of(graph, free) == orbits(graph.nodes, edges_of(graph), free)


@given(graphs(min_nodes=1, max_nodes=6), st.sets(st.integers(0, 5)))
@settings(max_examples=150)
def test_nodes_that_are_alike_are_exchanged_by_a_permutation_and_twins_are_alike(graph: Graph, known: set[int]) -> None:
    free = set(range(graph.nodes)) - known
    found, edges = found_of(graph, free), edges_of(graph)
    assert all(one <= other for one, other in zip(found, orbits(graph.nodes, edges, free), strict=True))
    assert all(one >= other for one, other in zip(found, twins(graph.nodes, edges, free), strict=True))


@given(forests(max_nodes=5), st.integers(0, 4), st.sampled_from([3, 4]))
def test_trees_that_hang_from_a_core_are_exchanged_where_the_core_stays(tree: Graph, at: int, ring: int) -> None:
    one, other = tree.ends
    core = np.arange(tree.nodes, tree.nodes + ring)
    # A ring of which one node is a node of the forest, too.
    turn = np.append(core[:-1], at % tree.nodes)
    graph = Graph.from_edges(np.append(one, turn), np.append(other, np.roll(turn, 1)))
    nodes, edges = set(range(graph.nodes)), edges_of(graph)
    found = found_of(graph, nodes)
    fixed = orbits(graph.nodes, edges, nodes - set(turn.tolist()))
    every = orbits(graph.nodes, edges, nodes)
    assert all(low <= each <= high for low, each, high in zip(fixed, found, every, strict=True))


def test_the_bound_of_a_path_is_half_and_that_of_a_ring_ignores_turns() -> None:
    nodes = np.arange(200)
    path = Graph.from_edges(nodes[:-1], nodes[1:])
    nobody = np.empty((0, 2), np.int64)
    assert most_found(path, GraphKnowledge(path, nobody), nodes).sum() == 100
    # One known end tells both sides apart.
    assert most_found(path, GraphKnowledge(path, np.array([[0, 0]])), nodes).sum() == 199
    ring = Graph.from_edges(nodes, np.roll(nodes, 1))
    assert most_found(ring, GraphKnowledge(ring, nobody), nodes).sum() == 200
    halves = Graph.from_edges(np.delete(nodes[:-1], 99), np.delete(nodes[1:], 99))
    assert most_found(halves, GraphKnowledge(halves, nobody), nodes).sum() == 50


@given(graphs(min_nodes=1, max_nodes=9), st.integers(0, 99))
def test_who_is_alike_does_not_depend_on_numbers(graph: Graph, seed: int) -> None:
    number = np.random.default_rng(seed).permutation(graph.nodes)
    moved, every = graph.relabelled(number), set(range(graph.nodes))
    assert np.array(found_of(moved, every))[number].tolist() == found_of(graph, every)


@given(graphs(min_nodes=2, max_nodes=6), graphs(min_nodes=2, max_nodes=6), st.integers(0, 2), st.integers(0, 99))
@settings(max_examples=40)
def test_each_has_one_chance_among_those_alike_in_either_graph(one: Graph, other: Graph, known: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    # Beyond the auxiliary graph, and below 0, is nobody who could be found.
    truth = rng.permutation(max(one.nodes, other.nodes) + 1)[: one.nodes] - 1
    pairs = np.flatnonzero((truth >= 0) & (truth < other.nodes))[:known]
    chance = most_found(one, GraphKnowledge(other, np.column_stack([pairs, truth[pairs]])), truth)
    here = found_of(one, set(range(one.nodes)) - set(pairs.tolist()))
    there = found_of(other, set(range(other.nodes)) - set(truth[pairs].tolist()))
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
