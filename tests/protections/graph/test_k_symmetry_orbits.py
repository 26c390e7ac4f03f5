"""Orbits against brute force; igraph itself is asked where it is installed, a small stand-in otherwise."""

import sys
from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.graph_strategies import graphs
from tests.oracles import k_symmetry as oracle
from unveil.data.graph import Graph
from unveil.errors import MissingExtraError
from unveil.protections.graph.k_symmetry import equitable_cells, orbits, undecided_edges


class SmallIgraph(ModuleType):
    """Answers as igraph does, slowly, and remembers what it was asked."""

    def __init__(self) -> None:
        super().__init__("igraph")
        self.asked: list[tuple[int, list[list[int]], list[int]]] = []

    def Graph(self, n: int, edges: list[list[int]]) -> Any:  # noqa: N802
        graph = ModuleType("graph")

        def automorphism_group(*, color: list[int]) -> list[list[int]]:
            self.asked.append((n, edges, color))
            one, other = np.array(edges, np.int64).reshape(-1, 2).T
            return oracle.generators(oracle.rows(Graph.from_edges(one, other, nodes=n)), color)

        graph.automorphism_group = automorphism_group  # type: ignore[attr-defined]
        return graph


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> SmallIgraph:
    module = SmallIgraph()
    monkeypatch.setitem(sys.modules, "igraph", module)
    return module


@pytest.fixture
def igraph(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the real library answer if it is there; what is tested is the same."""
    if find_spec("igraph") is None:
        monkeypatch.setitem(sys.modules, "igraph", SmallIgraph())


@st.composite
def alike(draw: st.DrawFn) -> Graph:
    """Draw circles side by side, perhaps with tails, perhaps turned inside out: refinement takes some for alike."""
    lengths = draw(st.lists(st.integers(3, 5), min_size=1, max_size=2))
    tails = draw(st.booleans())
    one, other, first = [], [], 0
    for length in lengths:
        one += [first + place for place in range(length)]
        other += [first + (place + 1) % length for place in range(length)]
        first += length
        if tails:
            one.append(first - 1)
            other.append(first)
            first += 1
    graph = Graph.from_edges(one, other, nodes=first + draw(st.integers(0, 1)))
    if draw(st.booleans()):
        return graph
    every = np.column_stack(np.triu_indices(graph.nodes, 1))
    return Graph.from_edges(*every[~np.isin(every @ [graph.nodes, 1], graph.keys)].T, nodes=graph.nodes)


def found(graph: Graph) -> set[frozenset[int]]:
    return oracle.groups(orbits(graph.start, graph.neighbour).tolist())


TRIANGLE_AND_SQUARE = Graph.from_edges([0, 1, 2, 3, 4, 5, 6], [1, 2, 0, 4, 5, 6, 3])


@pytest.mark.usefixtures("igraph")
@given(graphs(max_nodes=7) | alike())
@example(TRIANGLE_AND_SQUARE)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_orbits_are_those_of_brute_force(graph: Graph) -> None:
    assert found(graph) == oracle.groups(oracle.orbits(oracle.rows(graph)))


@given(graphs(max_nodes=7) | alike())
@example(TRIANGLE_AND_SQUARE)
def test_cells_without_undecided_edges_are_orbits(graph: Graph) -> None:
    cell = equitable_cells(graph.start, graph.neighbour)
    open_nodes = set(np.concatenate(undecided_edges(graph.start, graph.neighbour, cell)).tolist())
    by_cell, true = oracle.groups(cell.tolist()), oracle.groups(oracle.orbits(oracle.rows(graph)))
    assert {one for one in by_cell if not one & open_nodes} <= true
    # A cell is decided as a whole or not at all.
    assert all(one <= open_nodes for one in by_cell if one & open_nodes)


def test_a_triangle_and_a_square_are_one_cell_but_two_orbits(stand_in: SmallIgraph) -> None:
    graph = TRIANGLE_AND_SQUARE
    assert equitable_cells(graph.start, graph.neighbour).max() == 0
    assert orbits(graph.start, graph.neighbour).tolist() == [0, 0, 0, 1, 1, 1, 1]
    nodes, edges, colour = stand_in.asked[0]
    assert (nodes, len(edges), colour) == (7, 7, [0] * 7)


def test_only_undecided_edges_are_searched(stand_in: SmallIgraph) -> None:
    # A star, a tree and a complete graph tell by themselves; two hexagons with a tail each do not.
    star = [(0, each) for each in range(1, 6)]
    tree = [(6, 7), (6, 8), (7, 9), (7, 10), (8, 11), (8, 12)]
    full = [(one, other) for one in range(13, 17) for other in range(13, one)]
    graph = Graph.from_edges(*np.array(star + tree + full).T, nodes=17)
    assert found(graph) == oracle.groups([0, 1, 1, 1, 1, 1, 2, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5])
    assert stand_in.asked == []
    hexagons = [(17 + 7 * half + one, 17 + 7 * half + (one + 1) % 6) for half in (0, 1) for one in range(6)]
    tails = [(17, 23), (24, 30)]
    graph = Graph.from_edges(*np.array(star + tree + full + hexagons + tails).T)
    assert len(found(graph)) == 6 + 5
    assert stand_in.asked[0][0] == 14


def test_without_igraph_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "igraph", None)
    with pytest.raises(MissingExtraError, match=r"'igraph'.*pip install 'unveil\[orbits\]'"):
        orbits(np.array([0, 1, 2]), np.array([1, 0], np.int32))
