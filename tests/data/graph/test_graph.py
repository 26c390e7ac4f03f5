from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.data.refusals import refusal
from tests.graph_strategies import erdos_renyi, graphs, heavy_tail
from unveil._kernels.graph.rows import among, edge_keys, ends_of, keys_of, row_numbers, rows_of
from unveil.data.graph import Graph

PAIRS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=30)


def pairs_of(graph: Graph) -> set[frozenset[int]]:
    one, other = graph.ends
    return {frozenset(pair) for pair in zip(one.tolist(), other.tolist(), strict=True)}


@given(pairs=PAIRS, more=st.integers(0, 3))
@settings(deadline=None, max_examples=22)
def test_a_graph_is_a_set_of_pairs(pairs: list[tuple[int, int]], more: int) -> None:
    nodes = max([-1, *(end for pair in pairs for end in pair)]) + 1 + more
    graph = Graph.from_edges([one for one, _ in pairs], [other for _, other in pairs], nodes=nodes)
    expected = {frozenset(pair) for pair in pairs if pair[0] != pair[1]}
    assert (graph.nodes, graph.edges) == (nodes, len(expected))
    assert pairs_of(graph) == expected
    for node in range(nodes):
        near = sorted(next(iter(pair - {node})) for pair in expected if node in pair)
        assert graph.neighbours_of(node).tolist() == near
        assert graph.degrees[node] == len(near)
    assert graph.keys.tolist() == sorted(min(pair) * nodes + max(pair) for pair in expected)
    loops = sum(one == other for one, other in pairs)
    repeats = len(pairs) - loops - len(expected)
    assert [int(note.split()[0]) for note in graph.notes] == [count for count in (loops, repeats) if count]


@given(graph=graphs(min_nodes=0, max_nodes=9))
@settings(deadline=None, max_examples=22)
def test_the_forms_of_a_graph_agree(graph: Graph) -> None:
    nodes = graph.nodes
    dense = graph.to_sparse().toarray()
    assert (dense == dense.T).all()
    assert dense.sum() == 2 * graph.edges
    assert {frozenset(pair) for pair in np.argwhere(dense).tolist()} == pairs_of(graph)
    start, neighbour = rows_of(graph.keys, nodes)
    assert (start == graph.start).all()
    assert (neighbour == graph.neighbour).all()
    assert (keys_of(start, neighbour) == graph.keys).all()
    assert (row_numbers(start) == np.repeat(np.arange(nodes), graph.degrees)).all()
    assert (edge_keys(*ends_of(graph.keys, nodes), nodes) == graph.keys).all()
    every = np.arange(nodes * nodes)
    assert among(every, graph.keys).tolist() == [key in set(graph.keys.tolist()) for key in every]
    assert Graph.from_keys(graph.keys, nodes).neighbour.tolist() == graph.neighbour.tolist()


@given(graph=graphs(min_nodes=1, max_nodes=9), seed=st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=22)
def test_relabelling_moves_edges_and_names(graph: Graph, seed: int) -> None:
    named = Graph.from_keys(graph.keys, graph.nodes, names=[f"n{node}" for node in range(graph.nodes)])
    number = np.random.default_rng(seed).permutation(graph.nodes)
    moved = named.relabelled(number)
    assert pairs_of(moved) == {frozenset(int(number[end]) for end in pair) for pair in pairs_of(graph)}
    assert [moved.name_of(int(place)) for place in number] == list(named.names if named.names is not None else [])
    back = moved.relabelled(np.argsort(number))
    assert back.keys.tolist() == graph.keys.tolist()
    assert graph.relabelled(number).names is None


def test_arrays_are_read_only_and_the_input_is_left_alone() -> None:
    source, target, names = np.array([2, 0, 1]), np.array([0, 2, 1]), np.array(["a", "b", "c"], object)
    graph = Graph.from_edges(source, target, names=names)
    assert source.tolist() == [2, 0, 1]
    assert source.flags.writeable
    assert names.flags.writeable
    for array in (graph.start, graph.neighbour, graph.names, graph.degrees, graph.keys):
        assert array is not None
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[0]


@pytest.mark.parametrize("nodes", [0, 1, 3])
def test_graphs_without_an_edge(nodes: int) -> None:
    graph = Graph.from_edges([], [], nodes=nodes)
    assert (graph.nodes, graph.edges, graph.degrees.tolist(), graph.keys.tolist()) == (nodes, 0, [0] * nodes, [])
    assert graph.to_sparse().shape == (nodes, nodes)
    assert repr(graph) == f"Graph({nodes} nodes, 0 edges)"


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Graph.from_edges([0], [1, 2]), "1 and 2"),
        (lambda: Graph.from_edges([0], [5], nodes=3), "ends at 5"),
        (lambda: Graph.from_edges([-1], [0]), "negative"),
        (lambda: Graph.from_edges([0.5], [1]), "whole numbers"),
        (lambda: Graph.from_edges([[0]], [[1]]), "flat"),
        (lambda: Graph.from_edges(["SECRET"], ["b"]), "Number the nodes"),
        (lambda: Graph.from_edges([0], [1], nodes=2, names=["a"]), "2 nodes, but 1 names"),
        (lambda: Graph.from_edges([0], [1], names=["SECRET", "SECRET"]), "name of its own"),
        (lambda: Graph.from_edges([0], [1], nodes=2**31), "at most 2,147,483,647"),
        (lambda: Graph.from_edges([0], [1]).relabelled([0, 0]), "each number from 0 to 1 once"),
        (lambda: Graph.from_edges([0], [1]).relabelled([0]), "each number"),
    ],
)
def test_what_is_no_graph_is_refused(make: Any, words: str) -> None:
    assert words in refusal(make)


def test_the_graphs_that_tests_use() -> None:
    assert erdos_renyi(30, 1.0, 1).edges == 435
    assert erdos_renyi(30, 0.0, 1).edges == 0
    hubs = heavy_tail(300, 2, 1)
    assert hubs.degrees.max() > 5 * np.median(hubs.degrees)
