"""What a protection did to a graph: how many neighbours nodes have, by counting them one by one."""

import math

import numpy as np
import pytest

from tests.graph_strategies import heavy_tail
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphRelease
from unveil.protections import graph_protection_from
from unveil.questions.protect_graph.answer import _run, degrees_of
from unveil.report.progress import silent


@pytest.mark.parametrize("graph", [heavy_tail(60, 3, 1), Graph.from_edges([0, 0], [1, 2], nodes=5)])
def test_degrees_are_counted_node_by_node(graph: Graph) -> None:
    found = degrees_of(GraphRelease(graph, graph, np.arange(graph.nodes)))
    each = graph.degrees.tolist()
    wanted = sorted({degree for degree in each if degree})
    assert found.number.tolist() == wanted
    assert found.at_least.tolist() == [sum(other >= degree for other in each) / len(each) for degree in wanted]
    assert found.alone == each.count(0)
    assert found.smallest_class == min(each.count(degree) for degree in each)
    assert found.unique_share == sum(each.count(degree) == 1 for degree in each) / len(each)


def test_a_graph_without_nodes_has_no_degrees() -> None:
    found = degrees_of(GraphRelease(empty := Graph.from_edges([], [], nodes=0), empty, np.arange(0)))
    assert (found.number.size, found.at_least.size, found.alone) == (0, 0, 0)
    assert math.isnan(found.smallest_class)


def test_before_is_the_original_and_after_the_release() -> None:
    graph = heavy_tail(60, 3, 1)
    found = _run(
        graph,
        graph_protection_from("graph-anon:k=4"),
        protect="graph-anon:k=4",
        rng=np.random.default_rng(1),
        progress=silent,
        notes=("first",),
    )
    assert found.before.number.max() == graph.degrees.max()
    assert found.after.number.max() == found.release.released.degrees.max()
    assert found.before.smallest_class < 4 <= found.after.smallest_class
    assert found.changes == found.release.changes
    degrees, released = graph.degrees.tolist(), found.release.released.degrees.tolist()
    now = {int(node): degree for node, degree in zip(found.release.truth, released, strict=True)}
    unique = [node for node, degree in enumerate(degrees) if degrees.count(degree) == 1]
    assert found.hidden == sum(released.count(now[node]) > 1 for node in unique) > 0
    assert found.notes[0] == "first"
    assert "release=" not in repr(found)
