"""Triangles, wedges and degrees at the ends of edges agree with counting them one by one."""

import numpy as np
import pytest
from hypothesis import given, settings

from tests.graph_strategies import graphs, heavy_tail
from tests.oracles import graph_statistics as oracle
from unveil._kernels.graph import clustering
from unveil._kernels.graph.clustering import assortativity, clustering_coefficient, joint_degrees, triangles, wedges
from unveil.data.graph import Graph


@settings(deadline=None, max_examples=24)
@given(graph=graphs(min_nodes=0))
def test_all_figures_agree_with_counting(graph: Graph) -> None:
    rows = graph.start, graph.neighbour
    assert triangles(*rows).tolist() == oracle.triangles(graph)
    assert wedges(graph.degrees) == sum(len(row) * (len(row) - 1) // 2 for row in oracle.neighbours(graph))
    np.testing.assert_allclose(clustering_coefficient(*rows), oracle.clustering(graph), rtol=1e-12)
    np.testing.assert_allclose(assortativity(*rows), oracle.assortativity(graph), rtol=1e-9, atol=1e-12)
    pairs, count = joint_degrees(*rows)
    found = {(int(low), int(high)): int(times) for (low, high), times in zip(pairs, count, strict=True)}
    assert found == oracle.joint_degrees(graph)


@pytest.mark.parametrize("most", [10**12, 0])
def test_plain_and_compiled_count_the_same_triangles(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = heavy_tail(60, 4, 1)
    monkeypatch.setattr(clustering, "PLAIN_STEPS", most)
    assert triangles(graph.start, graph.neighbour).tolist() == oracle.triangles(graph)


def test_counts_of_a_hub_do_not_overflow() -> None:
    hub = 10**6
    assert wedges(np.array([hub * 1000, hub])) == hub * 1000 * (hub * 1000 - 1) // 2 + hub * (hub - 1) // 2


def test_a_graph_that_is_nearly_regular_has_an_exact_assortativity() -> None:
    # A cycle with one chord: two nodes of degree 3 that are connected, and 998 of degree 2.
    nodes = np.arange(1000)
    graph = Graph.from_edges([*nodes, 0], [*(nodes + 1) % 1000, 500])
    np.testing.assert_allclose(assortativity(graph.start, graph.neighbour), oracle.assortativity(graph), rtol=1e-9)
