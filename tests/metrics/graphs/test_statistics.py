"""The statistics of a graph agree with their definitions; estimates are marked, and as good as they say."""

import dataclasses
from importlib import import_module
from math import isnan, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graph_strategies import graphs, heavy_tail
from tests.oracles import graph_statistics as oracle
from unveil.data.graph import Graph
from unveil.errors import InputError
from unveil.metrics.graphs.statistics import GraphStatistics, graph_statistics, largest_component_paths

#: The module, not the function of the same name.
MODULE = import_module("unveil.metrics.graphs.statistics")
FIGURES = [field.name for field in dataclasses.fields(GraphStatistics)][:13]


def complete(nodes: int) -> Graph:
    return Graph.from_edges(*np.triu_indices(nodes, 1), nodes=nodes)


def cycle(nodes: int) -> Graph:
    return Graph.from_edges(np.arange(nodes), (np.arange(nodes) + 1) % nodes)


def chain(nodes: int) -> Graph:
    return Graph.from_edges(np.arange(nodes - 1), np.arange(1, nodes), nodes=nodes)


STAR = Graph.from_edges([0] * 9, range(1, 10))
PETERSEN = Graph.from_edges(
    [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9], [1, 2, 3, 4, 0, 5, 6, 7, 8, 9, 7, 8, 9, 5, 6]
)
NONE = float("nan")


# Nodes, edges, average degree, diameter, average path, wedges, triangles, clustering, Gini, norm, assortativity.
@pytest.mark.parametrize(
    ("graph", "known"),
    [
        (complete(6), (6, 15, 5, 1, 1, 60, 20, 1, 0, 5, NONE)),
        (cycle(8), (8, 8, 2, 4, 16 / 7, 8, 0, 0, 0, 2, NONE)),
        (chain(4), (4, 3, 1.5, 3, 5 / 3, 2, 0, 0, 1 / 6, (1 + sqrt(5)) / 2, -0.5)),
        (STAR, (10, 9, 1.8, 2, 1.8, 36, 0, 0, 0.4, 3, -1)),
        (PETERSEN, (10, 15, 3, 2, 5 / 3, 30, 0, 0, 0, 3, NONE)),
        (Graph.from_edges([0], [1]), (2, 1, 1, 1, 1, 0, 0, NONE, 0, 1, NONE)),
        (Graph.from_edges([], [], nodes=2), (2, 0, 0, NONE, NONE, 0, 0, NONE, NONE, 0, NONE)),
        (Graph.from_edges([], []), (0, 0, NONE, NONE, NONE, 0, 0, NONE, NONE, 0, NONE)),
    ],
)
def test_figures_of_known_graphs(graph: Graph, known: tuple[float, ...]) -> None:
    names = "nodes edges average_degree diameter average_path wedges triangles clustering gini spectral_norm"
    found = graph_statistics(graph)
    values = [getattr(found, name) for name in (*names.split(), "assortativity")]
    np.testing.assert_allclose(values, known, rtol=1e-12, atol=1e-12)
    assert found.sampled == ()
    undefined = {name for name in FIGURES if isnan(getattr(found, name))}
    assert set(found.notes) == undefined
    assert all(note.startswith("undefined: ") for note in found.notes.values())


@settings(deadline=None, max_examples=22)
@given(graph=graphs(min_nodes=1))
def test_figures_agree_with_their_definitions(graph: Graph) -> None:
    found = graph_statistics(graph)
    parts = oracle.components(graph)
    assert (found.components, found.largest_component) == (len(parts), max(map(len, parts)))
    known = (*oracle.largest_component_paths(graph), oracle.clustering(graph), oracle.gini(graph))
    values = (found.diameter, found.average_path, found.clustering, found.gini)
    np.testing.assert_allclose(values, known, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.assortativity, oracle.assortativity(graph), rtol=1e-9, atol=1e-12)
    assert found.triangles == sum(oracle.triangles(graph)) // 3


@settings(deadline=None, max_examples=22)
@given(graph=graphs(min_nodes=1), seed=st.integers(0, 99))
def test_the_numbers_of_nodes_play_no_part(graph: Graph, seed: int) -> None:
    other = graph.relabelled(np.random.default_rng(seed).permutation(graph.nodes))
    one, two = graph_statistics(graph), graph_statistics(other)
    for name in FIGURES:
        np.testing.assert_allclose(getattr(one, name), getattr(two, name), rtol=1e-12, atol=1e-12)


def test_all_components_count_that_are_the_largest() -> None:
    # A chain and a triangle with three nodes each: steps 1, 1, 2 and 1, 1, 1.
    found = graph_statistics(Graph.from_edges([0, 1, 3, 4, 5], [1, 2, 4, 5, 3], nodes=8))
    assert (found.components, found.largest_component) == (4, 3)
    assert found.diameter == 2.0
    assert found.average_path == pytest.approx(7 / 6)


@settings(deadline=None, max_examples=22)
@given(graph=graphs(min_nodes=2), seed=st.integers(0, 99))
def test_a_sample_of_all_is_exact(graph: Graph, seed: int) -> None:
    exact = graph_statistics(graph)
    found = graph_statistics(graph, exact_up_to=1, sources=99, rng=np.random.default_rng(seed))
    np.testing.assert_allclose(
        (found.diameter, found.average_path), (exact.diameter, exact.average_path), rtol=1e-12, atol=0
    )
    assert (found.sampled, dict(found.standard_errors)) == ((), {})


@pytest.mark.unwatched
def test_estimates_are_as_good_as_they_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(MODULE, "_HELD", 10_000)
    graph = heavy_tail(400, 2, 7)
    exact = graph_statistics(graph)
    rng = np.random.default_rng(1)
    # Half of the nodes: without what that saves, errors would be said to be 1.41 times as large as they are.
    found = [largest_component_paths(graph, exact_up_to=100, sources=200, rng=rng) for _ in range(100)]
    means, errors = np.array([(each.average, each.standard_error) for each in found]).T
    covered = np.abs(means - exact.average_path) <= 1.96 * errors
    assert covered.mean() >= 0.88
    assert 0.8 <= errors.mean() / means.std(ddof=1) <= 1.2
    assert abs(means.mean() - exact.average_path) <= 4 * means.std(ddof=1) / sqrt(100)
    assert all(each.longest <= exact.diameter for each in found)


def test_an_estimate_is_marked_and_all_else_is_exact() -> None:
    graph = heavy_tail(400, 2, 7)
    exact = graph_statistics(graph)
    found = graph_statistics(graph, exact_up_to=100, sources=40, rng=np.random.default_rng(1))
    assert "average_path" in found.sampled
    assert found.notes["average_path"] == "sampled: the mean over paths from 40 random nodes"
    assert all(getattr(found, name) == getattr(exact, name) for name in FIGURES if name not in found.sampled)


def test_a_diameter_that_is_not_certain_is_a_lower_bound() -> None:
    wheel = cycle(301)
    found = graph_statistics(wheel, exact_up_to=1, sources=2, rng=np.random.default_rng(1))
    assert found.diameter == 150.0
    assert found.sampled == ("average_path", "diameter")
    assert found.notes["diameter"].startswith("sampled: at least this, and at most ")


def test_a_norm_that_is_not_exact_is_marked() -> None:
    found = graph_statistics(chain(5_000), exact_up_to=10, rng=np.random.default_rng(1))
    assert "spectral_norm" in found.sampled
    assert found.notes["spectral_norm"] == "approximate: the iteration came within 0.1% of it"


def test_two_graphs_on_the_same_nodes_share_their_sources() -> None:
    graph = heavy_tail(200, 2, 3)
    larger = Graph.from_edges(*graph.ends, nodes=300)
    one, two = (
        graph_statistics(each, exact_up_to=100, sources=20, rng=np.random.default_rng(5)) for each in (graph, larger)
    )
    assert one.average_path == two.average_path
    assert one.standard_errors == two.standard_errors


def test_a_sample_needs_lots_and_enough_sources() -> None:
    with pytest.raises(InputError, match="the graph has 4 nodes; above 3 paths are sampled, which needs rng"):
        graph_statistics(chain(4), exact_up_to=3)
    with pytest.raises(InputError, match="sources must be a whole number of at least 2"):
        graph_statistics(chain(4), sources=1)


def test_an_iteration_without_an_end_is_undefined() -> None:
    assert MODULE._said_of_norm(NONE) == "undefined: the iteration did not converge"
