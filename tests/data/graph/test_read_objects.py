"""Graphs out of objects of other libraries; stand-ins have the little of networkx and igraph that is used."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from tests.data.graph.test_read import agrees, named_edges
from tests.data.refusals import refusal
from tests.graph_strategies import graphs
from tests.oracles.edge_list import slow_graph
from unveil.data.graph import Graph
from unveil.data.graph.read import graph_from


class EdgeView:
    """The edges of a networkx graph: can be gone through, and called for their facts."""

    def __init__(self, edges: list[tuple[Any, ...]], facts: dict[str, float]) -> None:
        self._edges, self._facts = edges, facts

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self._edges)

    def __call__(self, *, data: bool) -> list[tuple[Any, ...]]:
        assert data
        return [(*edge[:2], self._facts) for edge in self._edges]


class FakeNetworkx:
    """A stand-in for networkx graphs; edges of multigraphs have a third part, their key."""

    def __init__(
        self, nodes: list[Any], edges: list[tuple[Any, ...]], *, directed: bool = False, weight: float | None = None
    ) -> None:
        self.nodes = dict.fromkeys(nodes)
        self.edges = EdgeView(edges, {} if weight is None else {"weight": weight})
        self._directed = directed

    def is_directed(self) -> bool:
        return self._directed

    def is_multigraph(self) -> bool:
        return False


class Attributes(dict[str, list[Any]]):
    """Vertices or edges of igraph: lists by the name of an attribute."""

    def attributes(self) -> list[str]:
        return list(self)


class FakeIgraph:
    """A stand-in for igraph graphs."""

    def __init__(
        self,
        nodes: int,
        edges: list[tuple[int, int]],
        *,
        names: list[Any] | None = None,
        directed: bool = False,
        weight: list[float] | None = None,
    ) -> None:
        self._nodes, self._edges, self._directed = nodes, edges, directed
        self.vs = Attributes({} if names is None else {"name": names})
        self.es = Attributes({} if weight is None else {"weight": weight})

    def vcount(self) -> int:
        return self._nodes

    def get_edgelist(self) -> list[tuple[int, int]]:
        return self._edges

    def is_directed(self) -> bool:
        return self._directed


def test_a_graph_stays_as_it_is() -> None:
    graph = Graph.from_edges([0], [1], name="pair")
    assert graph_from(graph) is graph
    assert graph_from(graph, name="other").name == "other"


def test_a_path_is_read(tmp_path: Path) -> None:
    file = tmp_path / "e.txt"
    file.write_text("0 1\n")
    assert graph_from(file).edges == graph_from(str(file)).edges == 1


def test_networkx() -> None:
    graph = graph_from(FakeNetworkx(["b", 10, 9, "alone"], [("b", 10), (9, 10), (9, 9)]))
    assert list(graph.names if graph.names is not None else []) == ["9", "10", "alone", "b"]
    assert named_edges(graph) == {frozenset(("b", "10")), frozenset(("9", "10"))}
    assert graph.notes == ("1 loop was left out",)


def test_networkx_with_directions_repeats_and_weights() -> None:
    thing = FakeNetworkx([0, 1, 2], [(0, 1, 0), (0, 1, 1), (1, 0, 0), (2, 0, 0)], directed=True, weight=2.0)
    graph = graph_from(thing, name="mail")
    assert (graph.name, graph.edges, graph.names) == ("mail", 2, None)
    assert graph.notes == (
        "weights were ignored",
        "1 repeated edge was left out",
        "the directions of edges were dropped: 1 of 2 edges occurred in both",
    )


@pytest.mark.parametrize("nodes", [[1, "1"], ["SECRET", " SECRET"], [""], [" "]])
def test_nodes_that_are_called_alike_are_refused(nodes: list[Any]) -> None:
    assert "share a name or have none" in refusal(lambda: graph_from(FakeNetworkx(nodes, [])))
    assert "share a name or have none" in refusal(lambda: graph_from(FakeIgraph(len(nodes), [], names=nodes)))


def test_igraph() -> None:
    graph = graph_from(FakeIgraph(4, [(0, 1), (1, 0), (3, 3)], names=["z", "a", "m", "b"], directed=True))
    assert list(graph.names if graph.names is not None else []) == ["a", "b", "m", "z"]
    assert named_edges(graph) == {frozenset(("a", "z"))}
    assert graph.notes == ("1 loop was left out", "the directions of edges were dropped: 1 of 1 edge occurred in both")
    plain = graph_from(FakeIgraph(12, [(2, 10)], weight=[3.0]))
    assert (plain.nodes, plain.names, plain.ends[1].tolist(), plain.notes) == (
        12,
        None,
        [10],
        ("weights were ignored",),
    )


@given(graph=graphs(min_nodes=0, max_nodes=8))
@settings(deadline=None, max_examples=22)
def test_a_sparse_matrix_and_back(graph: Graph) -> None:
    for take in (sparse.csr_array, sparse.coo_matrix, sparse.csc_matrix):
        again = graph_from(take(graph.to_sparse()))
        assert again.nodes == graph.nodes
        assert again.keys.tolist() == graph.keys.tolist()
        assert again.notes == ()
    half = graph_from(sparse.triu(graph.to_sparse()))
    assert half.keys.tolist() == graph.keys.tolist()
    both = "the directions of edges were dropped: 0 of"
    assert all(note.startswith(both) for note in half.notes)
    assert len(half.notes) == (graph.edges > 0)


def test_a_matrix_with_loops_weights_zeros_and_parts() -> None:
    matrix = sparse.coo_array(
        (np.array([0.5, 0.5, 2.0, 0.0, 3.0]), (np.array([0, 0, 1, 2, 2]), np.array([1, 1, 0, 0, 2]))), shape=(4, 4)
    )
    graph = graph_from(matrix)
    assert (graph.nodes, graph.keys.tolist()) == (4, [1])
    assert graph.notes == ("weights were ignored", "1 loop was left out")
    assert matrix.nnz == 5


@pytest.mark.parametrize("matrix", [sparse.csr_array((2, 3)), sparse.csr_array(np.array([[0, np.nan], [1, 0]]))])
def test_a_matrix_that_is_no_graph_is_refused(matrix: Any) -> None:
    message = refusal(lambda: graph_from(matrix))
    assert "shape is (2, 3)" in message or "finite" in message


ENDS = st.lists(st.tuples(st.integers(-2, 12), st.none() | st.integers(-2, 12)), min_size=1, max_size=15)


@given(rows=ENDS)
@settings(deadline=None, max_examples=22)
def test_frames_agree_with_a_slow_reader(rows: list[tuple[int, int | None]]) -> None:
    slow = slow_graph([(str(one), None if other is None else str(other)) for one, other in rows])
    columns = {"Source": [one for one, _ in rows], "Target": [other for _, other in rows]}
    agrees(graph_from(pl.DataFrame(columns, schema={"Source": pl.Int64, "Target": pl.Int64})), slow)
    agrees(graph_from(pd.DataFrame(columns)), slow)
    agrees(graph_from((columns["Source"], columns["Target"])), slow)


def test_arrays_and_frames() -> None:
    numbers = graph_from((np.array([5, 3]), np.array([3, 3])))
    assert list(numbers.names if numbers.names is not None else []) == ["3", "5"]
    assert numbers.notes == ("1 loop was left out",)
    frame = pl.DataFrame({"weight": [1.5], "from": ["x"], "to": ["y"]})
    assert graph_from(frame).notes == ("the column 'weight' was ignored",)
    decimal = graph_from(pl.DataFrame({"from": [5.0, 7.0], "to": [6, 5]}))
    assert list(decimal.names if decimal.names is not None else []) == ["5", "6", "7"]


@pytest.mark.parametrize(
    ("thing", "words"),
    [
        (([1, 2], [3]), "2 sources and 1 targets"),
        (([[1, 2]], [3]), "flat sequence"),
        (([1.5], [3]), "flat sequence"),
        (([None], [3]), "must name the source"),
        (pl.DataFrame({"a": [1], "b": ["SECRET"]}), "none of its 2 columns"),
        (pl.DataFrame({"source": [None, 1], "target": [1, 1]}), "row 1 "),
        (pl.DataFrame({"source": ["SECRET", "x"], "target": ["y", "SECRET "]}), "rows 1 and 2"),
        (pl.DataFrame({"source": [1.0, 0.5], "target": [1, 1]}), "row 2 (counted from 1) has a number with decimals"),
        ([(1, 2), (3, 4)], "but are a list that could hold pairs"),
        ([(1, 2), (3, 4), (5, 6)], "Pass (sources, targets), or a DataFrame"),
        (((1, 2), (3, 4)), "but are a tuple that could hold pairs"),
        (([1, 2], (3, 4)), "could hold pairs"),
        ([[1, 2], [3, 4]], "but are a list"),
        ([], "but are a list"),
        (([1], [2], [3]), "two lists or arrays"),
        (5, "is a int"),
        (np.zeros((3, 2)), "is a ndarray"),
        (None, "is a NoneType"),
    ],
)
def test_what_is_no_graph_is_refused(thing: Any, words: str) -> None:
    assert words in refusal(lambda: graph_from(thing))
