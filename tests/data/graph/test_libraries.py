"""Graphs of the real networkx and igraph give what their own counts say."""

from typing import Any

import igraph
import networkx
import pytest

from unveil.data import samples
from unveil.data.graph.read import graph_from


@pytest.mark.parametrize("kind", [networkx.Graph, networkx.DiGraph, networkx.MultiGraph, networkx.MultiDiGraph])
def test_networkx(kind: Any) -> None:
    thing = kind()
    thing.add_nodes_from(["c", "alone", 10, 9])
    thing.add_edges_from([("c", 10), (10, "c"), ("c", 10), (9, 9)], weight=2)
    graph = graph_from(thing)
    assert [graph.name_of(node) for node in range(4)] == ["9", "10", "alone", "c"]
    assert graph.keys.tolist() == [1 * 4 + 3]
    assert graph.notes[:2] == ("weights were ignored", "1 loop was left out")
    text = "; ".join(graph.notes)
    assert ("directions of edges were dropped: 1 of 1 edge" in text) == thing.is_directed()
    repeats = {(True, True): "1 repeated edge was", (True, False): "2 repeated edges were"}
    told = repeats.get((thing.is_multigraph(), thing.is_directed()))
    assert ("repeated" in text) == (told is not None)
    assert told is None or told in text


def test_networkx_karate() -> None:
    graph = graph_from(networkx.karate_club_graph())
    assert (graph.nodes, graph.edges, graph.names) == (34, 78, None)
    assert graph.degrees.tolist() == [degree for _, degree in networkx.karate_club_graph().degree()]
    empty = graph_from(networkx.Graph())
    assert (empty.nodes, empty.edges) == (0, 0)


def test_igraph() -> None:
    thing = igraph.Graph.Famous("Zachary")
    graph = graph_from(thing)
    assert (graph.nodes, graph.edges, graph.names) == (34, 78, None)
    assert graph.degrees.tolist() == thing.degree()
    named = igraph.Graph(n=4, edges=[(0, 1), (1, 0), (3, 3)], directed=True)
    named.vs["name"] = ["z", "a", "m", "b"]
    named.es["weight"] = [1, 2, 3]
    again = graph_from(named)
    assert [again.name_of(node) for node in range(4)] == ["a", "b", "m", "z"]
    assert again.keys.tolist() == [3]
    assert again.notes == (
        "weights were ignored",
        "1 loop was left out",
        "the directions of edges were dropped: 1 of 1 edge occurred in both",
    )
    assert graph_from(igraph.Graph()).nodes == 0


def test_the_sample_graph_goes_through_both() -> None:
    sample = samples.graph()
    one, other = (ends.tolist() for ends in sample.ends)
    thing = networkx.Graph()
    thing.add_nodes_from(reversed(range(sample.nodes)))
    thing.add_edges_from(zip(other, one, strict=True))
    for graph in (
        graph_from(thing),
        graph_from(igraph.Graph(n=sample.nodes, edges=list(zip(one, other, strict=True)))),
    ):
        assert graph.keys.tolist() == sample.keys.tolist()
        assert (graph.nodes, graph.names, graph.notes) == (sample.nodes, None, ())
