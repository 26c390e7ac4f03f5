"""Distances, components and sums of paths agree with Floyd and Warshall, plain and compiled."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graph_strategies import erdos_renyi, graphs, heavy_tail
from tests.oracles import graph_statistics as oracle
from unveil._kernels.graph import paths
from unveil._kernels.graph.paths import UNREACHABLE, components, diameter_bounds, distances, path_sums
from unveil.data.graph import Graph


def path_graph(nodes: int) -> Graph:
    return Graph.from_edges(np.arange(nodes - 1), np.arange(1, nodes), nodes=nodes)


@pytest.fixture(params=["plain", "compiled"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Run all of a test's kernels in one of the two ways."""
    monkeypatch.setattr(paths, "PLAIN_STEPS", 10**12 if request.param == "plain" else 0)
    return str(request.param)


@settings(deadline=None, max_examples=22)
@given(graph=graphs(min_nodes=0), data=st.data())
def test_distances_agree_with_floyd_and_warshall(graph: Graph, data: st.DataObject) -> None:
    far = oracle.distances(graph)
    nodes = st.integers(0, graph.nodes - 1) if graph.nodes else st.nothing()
    sources = data.draw(st.lists(nodes, max_size=5) if graph.nodes else st.just([]))
    found = distances(graph.start, graph.neighbour, np.array(sources, np.int64))
    assert found.shape == (len(sources), graph.nodes)
    assert found.dtype == np.int32
    assert found.tolist() == [[UNREACHABLE if step == np.inf else step for step in far[source]] for source in sources]


@settings(deadline=None, max_examples=22)
@given(graph=graphs(min_nodes=0))
def test_components_agree_with_who_can_be_reached(graph: Graph) -> None:
    label = components(graph.start, graph.neighbour)
    parts = {frozenset(np.flatnonzero(label == number).tolist()) for number in set(label.tolist())}
    assert parts == oracle.components(graph)
    first = [int(np.flatnonzero(label == number)[0]) for number in range(len(parts))]
    assert first == sorted(first)


@settings(deadline=None, max_examples=22)
@given(graph=graphs(min_nodes=1), data=st.data())
def test_sums_over_sources_agree_with_floyd_and_warshall(graph: Graph, data: st.DataObject) -> None:
    sources = data.draw(st.lists(st.integers(0, graph.nodes - 1), unique=True))
    far = np.array(oracle.distances(graph))[sources].reshape(len(sources), graph.nodes)
    counted = np.where(np.isinf(far) | (far == 0), 0, far)
    sums = path_sums(graph.start, graph.neighbour, np.array(sources, np.int64))
    assert sums.reached.tolist() == (counted > 0).sum(axis=0).tolist()
    assert sums.total.tolist() == counted.sum(axis=0).tolist()
    assert sums.farthest.tolist() == counted.max(axis=0, initial=0).tolist()


@pytest.mark.usefixtures("way")
def test_more_sources_than_bits_in_a_word() -> None:
    graph = heavy_tail(150, 2, 1)
    sources = np.random.default_rng(2).permutation(graph.nodes)[:131]
    far = distances(graph.start, graph.neighbour, sources)
    sums = path_sums(graph.start, graph.neighbour, sources)
    assert sums.reached.tolist() == (far > 0).sum(axis=0).tolist()
    assert sums.total.tolist() == far.sum(axis=0).tolist()
    assert sums.farthest.tolist() == far.max(axis=0).tolist()


@pytest.mark.usefixtures("way")
def test_paths_of_a_chain_are_known() -> None:
    chain = path_graph(200)
    sums = path_sums(chain.start, chain.neighbour, np.arange(200))
    assert sums.total.sum() == 200 * (200 - 1) * (200 + 1) // 3
    assert sums.farthest.tolist() == [max(node, 199 - node) for node in range(200)]
    assert components(chain.start, chain.neighbour).tolist() == [0] * 200
    assert distances(chain.start, chain.neighbour, np.array([7]))[0].tolist() == [abs(7 - node) for node in range(200)]


@settings(deadline=None, max_examples=22)
@given(graph=graphs(min_nodes=2, min_edges=1), most=st.integers(0, 20))
def test_the_diameter_is_between_its_bounds(graph: Graph, most: int) -> None:
    label = components(graph.start, graph.neighbour)
    inside = np.flatnonzero(label == np.bincount(label).argmax())
    diameter = np.array(oracle.distances(graph))[np.ix_(inside, inside)].max()
    bounds = diameter_bounds(graph.start, graph.neighbour, inside, most)
    assert bounds.at_least <= diameter <= bounds.at_most
    assert bounds.searches <= most
    if most >= inside.size:
        assert bounds.at_least == bounds.at_most


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("graph", [path_graph(300), heavy_tail(300, 2, 5), erdos_renyi(200, 0.05, 3)])
def test_few_searches_find_the_diameter(graph: Graph) -> None:
    bounds = diameter_bounds(graph.start, graph.neighbour, np.arange(graph.nodes), graph.nodes)
    exact = path_sums(graph.start, graph.neighbour, np.arange(graph.nodes)).farthest.max()
    assert (bounds.at_least, bounds.at_most) == (exact, exact)
    assert bounds.searches < graph.nodes


def test_bits_are_counted() -> None:
    for word in (0, 1, 2**63, 2**64 - 1, 0x8000000000000001, 0x0123456789ABCDEF):
        assert paths._count_bits(np.uint64(word)) == word.bit_count()
