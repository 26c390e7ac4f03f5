"""Simple graphs from edges with loops and repeats: degrees and joint degrees stay wherever a graph has them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graph_strategies import erdos_renyi, graphs, heavy_tail
from tests.oracles.joint_degrees import joint_degrees
from unveil._kernels.random import fresh_state
from unveil.data.graph import Graph
from unveil.protections.graph import dk_series_dp
from unveil.protections.graph.dk_series_dp import simple_keys

seeds = st.integers(0, 2**32 - 1)


def joint(graph: Graph) -> dict[tuple[int, int], int]:
    return joint_degrees([(int(u), int(v)) for u, v in zip(*graph.ends, strict=True)], graph.nodes)


def rewired(graph: Graph, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Give the ends of edges to other nodes of the same degree at random, whatever comes of it."""
    ends = np.concatenate(graph.ends).astype(np.int64)
    for degree in np.unique(graph.degrees[ends]):
        of_degree = np.flatnonzero(graph.degrees[ends] == degree)
        ends[of_degree] = rng.permutation(ends[of_degree])
    return ends[: graph.edges], ends[graph.edges :]


def repaired(one: np.ndarray, other: np.ndarray, nodes: int, rng: np.random.Generator) -> tuple[Graph, dict[str, int]]:
    grid = np.array([1, 2, 4, 8, 16, 32, 64])
    keys, done = simple_keys(one, other, nodes, grid, fresh_state(rng), rng.random(2 * one.size))
    graph = Graph.from_keys(np.unique(keys), nodes)
    assert graph.edges == keys.size
    assert (keys // nodes != keys % nodes).all()
    return graph, done


@settings(deadline=None, max_examples=24)
@given(graphs(min_nodes=2, max_nodes=14, min_edges=1), seeds)
def test_joint_degrees_that_some_graph_has_are_always_reached(graph: Graph, seed: int) -> None:
    rng = np.random.default_rng(seed)
    found, done = repaired(*rewired(graph, rng), graph.nodes, rng)
    assert (found.degrees == graph.degrees).all()
    assert joint(found) == joint(graph)
    assert done["loops and repeats"] == done["of the same degrees"]
    assert done["dropped"] == done["anywhere"] == done["of the same groups"] == 0


@pytest.mark.parametrize(
    "graph",
    [heavy_tail(900, 3, 1), erdos_renyi(70, 0.6, 2), erdos_renyi(50, 1.0, 3), erdos_renyi(60, 0.97, 4)],
    ids=["hubs", "dense", "complete", "nearly complete"],
)
def test_larger_graphs_too(graph: Graph) -> None:
    rng = np.random.default_rng(5)
    found, done = repaired(*rewired(graph, rng), graph.nodes, rng)
    assert (found.degrees == graph.degrees).all()
    assert joint(found) == joint(graph)
    assert done["loops and repeats"] > 10


@settings(deadline=None, max_examples=24)
@given(seeds, st.integers(1, 12), st.integers(0, 60))
def test_what_no_graph_has_is_come_close_to(seed: int, nodes: int, edges: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = rng.integers(0, nodes, (2, edges))
    wanted = np.bincount(np.concatenate([one, other]), minlength=nodes)
    found, done = repaired(one, other, nodes, rng)
    assert (found.degrees <= wanted).all()
    assert found.edges == edges - done["dropped"]
    repairs = done["of the same degrees"] + done["of the same groups"] + done["anywhere"] + done["dropped"]
    assert done["loops and repeats"] == repairs
    assert min(done.values()) >= 0


def test_edges_that_fit_nowhere_are_dropped() -> None:
    # Two nodes can be joined once.
    found, done = repaired(np.zeros(5, np.int64), np.ones(5, np.int64), 2, np.random.default_rng(1))
    assert (found.edges, done["dropped"]) == (1, 4)


def test_an_edge_makes_way_where_nothing_else_helps() -> None:
    # A loop at node 0, the only one of its degree; the others are a long path.
    path = np.arange(1, 40)
    one, other = np.append(path, 0), np.append(path + 1, 0)
    found, done = repaired(one, other, 41, np.random.default_rng(2))
    assert done["dropped"] == 0
    assert (found.degrees == np.bincount(np.concatenate([one, other]))).all()


def test_nodes_of_similar_degree_stand_in() -> None:
    # Two edges between the only nodes of degree 8 and 9 cannot be, but nodes of degree 10 are of the same group.
    rng = np.random.default_rng(3)
    graph = heavy_tail(400, 2, 7)
    one, other = (ends.astype(np.int64) for ends in graph.ends)
    hubs = np.argsort(graph.degrees)[-6:]
    one, other = np.append(one, np.repeat(hubs, 3)), np.append(other, np.tile(np.roll(hubs, 1)[:3], 6))
    _, done = repaired(one, other, 400, rng)
    assert done["of the same groups"] > 0


def test_plain_and_compiled_repair_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = erdos_renyi(40, 0.5, 6)
    ends = rewired(graph, np.random.default_rng(7))
    # Some that no graph has, so that all three ways are gone.
    one, other = np.append(ends[0], np.zeros(30, np.int64)), np.append(ends[1], np.arange(30) % 3)
    found = []
    for limit in (10**9, -1):
        monkeypatch.setattr(dk_series_dp, "_PLAIN_UP_TO", limit)
        found.append(repaired(one, other, 40, np.random.default_rng(8)))
    assert (found[0][0].keys == found[1][0].keys).all()
    assert found[0][1] == found[1][1]
    assert found[0][1]["anywhere"] > 0


def test_the_search_has_a_bound() -> None:
    # Nothing but repeats between two halves that are joined already: every search is in vain.
    left, right = np.divmod(np.arange(400), 20)
    one, other = np.tile(left, 3), np.tile(right + 20, 3)
    found, done = repaired(one, other, 40, np.random.default_rng(9))
    assert found.edges + done["dropped"] == 1200
    assert found.edges <= 40 * 39 / 2
