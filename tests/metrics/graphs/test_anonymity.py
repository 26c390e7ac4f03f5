"""How far degrees give nodes away, against counting by hand."""

import math
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.graph_strategies import graphs
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphRelease
from unveil.metrics import smallest_degree_class, unique_degree_share


@given(graphs(max_nodes=10), st.integers(0, 4))
def test_classes_are_counted_with_pseudo_nodes_and_asked_for_real_ones(graph: Graph, pseudo: int) -> None:
    pseudo = min(pseudo, graph.nodes - 1)
    truth = np.arange(graph.nodes) - pseudo
    truth[:pseudo] = -1
    original = Graph.from_edges([], [], nodes=graph.nodes - pseudo)
    release = GraphRelease(original, graph, truth)
    size = Counter(graph.degrees.tolist())
    sizes = [size[int(graph.degrees[node])] for node in range(pseudo, graph.nodes)]
    assert smallest_degree_class(release) == min(sizes)
    assert unique_degree_share(release) == sizes.count(1) / len(sizes)


def test_a_graph_without_nodes_has_no_classes() -> None:
    nothing = Graph.from_edges([], [], nodes=0)
    release = GraphRelease(nothing, nothing, np.array([], np.int64))
    assert math.isnan(smallest_degree_class(release))
    assert math.isnan(unique_degree_share(release))
