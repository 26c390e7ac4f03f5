"""The walk: degrees stay, the graph stays simple, and the energy kept on the way is the energy there is."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.graph_strategies import erdos_renyi, graphs, heavy_tail
from unveil._kernels.random import State
from unveil.data.graph import Graph
from unveil.protections.graph import _wpinq_walk
from unveil.protections.graph._wpinq_walk import DegreeCells, HalfEdges, cells_for, half_edges, keys_of_half_edges, walk

KINDS = pytest.mark.parametrize("triangles", [False, True], ids=["edges", "triangles"])
SCALE = 0.3
Floats = NDArray[np.float64]


def prepared(graph: Graph, classes: int, triangles: bool, seed: int) -> tuple[HalfEdges, DegreeCells, Floats]:
    """Return a graph to walk, its cells, and weights to walk to."""
    cells = cells_for(graph.start, graph.neighbour, classes, triangles=triangles)
    noise = np.random.default_rng(seed).laplace(0, SCALE, cells.count)
    return half_edges(graph.start, graph.neighbour), cells, cells.answer(graph.start, graph.neighbour) + noise


def residual_of(graph: HalfEdges, cells: DegreeCells, measured: Floats) -> Floats:
    return (cells.answer(graph.start, graph.neighbour) - measured) / SCALE


def go(
    graph: HalfEdges,
    cells: DegreeCells,
    residual: Floats,
    *,
    power: float,
    proposals: int,
    state: State,
    enough: float = -1.0,
) -> tuple[int, int]:
    degrees = np.diff(graph.start)
    return walk(
        graph,
        cells.levels(degrees),
        cells.sizes(degrees),
        residual,
        unit=1 / SCALE,
        power=power,
        proposals=proposals,
        state=state,
        enough=enough,
        triangles=cells.triangles,
    )


@KINDS
@given(
    graph=graphs(min_nodes=4, max_nodes=12, min_edges=3),
    classes=st.integers(1, 12),
    power=st.sampled_from([0.0, 1.0, 10_000.0, np.inf]),
    seed=st.integers(0, 1000),
)
def test_what_is_kept_on_the_way_is_what_there_is(
    triangles: bool, graph: Graph, classes: int, power: float, seed: int
) -> None:
    walked, cells, measured = prepared(graph, classes, triangles, seed)
    residual = residual_of(walked, cells, measured)
    state = np.array([seed], np.uint64)
    assert go(walked, cells, residual, power=power, proposals=150, state=state)[0] == 150
    assert residual == pytest.approx(residual_of(walked, cells, measured), abs=1e-9)
    assert np.isfinite(residual).all()
    released = Graph.from_keys(keys_of_half_edges(walked), graph.nodes)
    assert released.edges == graph.edges
    assert (np.diff(released.keys) > 0).all()
    assert (released.degrees == graph.degrees).all()
    assert (released.ends[0] < released.ends[1]).all()
    assert (walked.twin[walked.twin] == np.arange(2 * graph.edges)).all()
    assert (walked.owner[walked.twin] == walked.neighbour).all()


@KINDS
def test_the_energy_never_rises_with_infinite_power(triangles: bool) -> None:
    graph = erdos_renyi(20, 0.3, 1)
    walked, cells, measured = prepared(graph, 5, triangles, 2)
    residual = residual_of(walked, cells, measured)
    state = np.array([5], np.uint64)
    energies = [np.abs(residual).sum()]
    for _ in range(300):
        go(walked, cells, residual, power=np.inf, proposals=1, state=state)
        energies.append(np.abs(residual).sum())
    assert (np.diff(energies) <= 1e-12).all()
    assert energies[-1] < energies[0]


@KINDS
def test_the_walk_ends_where_it_is_near_enough(triangles: bool) -> None:
    graph = erdos_renyi(30, 0.3, 1)
    walked, cells, measured = prepared(graph, 4, triangles, 3)
    residual = residual_of(walked, cells, measured)
    enough = 0.9 * np.abs(residual).sum()
    made, taken = go(walked, cells, residual, power=np.inf, proposals=2000, state=np.zeros(1, np.uint64), enough=enough)
    assert 0 < taken <= made < 2000
    assert np.abs(residual).sum() <= enough
    again = go(walked, cells, residual, power=np.inf, proposals=9, state=np.zeros(1, np.uint64), enough=enough)
    assert again == (0, 0)


@KINDS
def test_compiled_and_plain_walks_are_the_same(triangles: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = heavy_tail(40, 4, 1)
    ends = []
    for plain in (10**9, -1):
        monkeypatch.setattr(_wpinq_walk, "_PLAIN_PROPOSALS", plain)
        walked, cells, measured = prepared(graph, 4, triangles, 4)
        residual = residual_of(walked, cells, measured)
        state = np.array([9], np.uint64)
        done = go(walked, cells, residual, power=20.0, proposals=1500, state=state)
        ends.append((done, int(state[0]), keys_of_half_edges(walked).tolist(), residual.tolist()))
    assert ends[0][:3] == ends[1][:3]
    assert ends[0][3] == pytest.approx(ends[1][3])
    assert ends[0][2] != graph.keys.tolist()


@pytest.mark.unwatched
def test_every_graph_with_the_degrees_comes_as_often() -> None:
    # Six nodes in one ring, or in two rings of three: 60 and 10 graphs have two neighbours everywhere.
    ring = Graph.from_edges(range(6), [1, 2, 3, 4, 5, 0])
    level, size = np.zeros(6, np.int64), np.ones(6)
    walked, state = half_edges(ring.start, ring.neighbour), np.array([1], np.uint64)
    counts: dict[tuple[int, ...], int] = {}
    for _ in range(7000):
        walk(walked, level, size, np.zeros(1), unit=1.0, power=0.0, proposals=12, state=state)
        key = tuple(keys_of_half_edges(walked).tolist())
        counts[key] = counts.get(key, 0) + 1
    assert len(counts) == 70
    # The sum of squares over 69 degrees of freedom exceeds 130 with a chance below one in 50,000.
    assert sum((count - 100) ** 2 / 100 for count in counts.values()) < 130


@given(st.sampled_from(["one edge", "star", "complete"]))
@settings(max_examples=3)
def test_where_nothing_can_be_exchanged_nothing_is(kind: str) -> None:
    made = {
        "one edge": Graph.from_edges([0], [1]),
        "star": Graph.from_edges([0] * 5, range(1, 6)),
        "complete": Graph.from_edges(*np.triu_indices(6, 1)),
    }
    graph = made[kind]
    walked, cells, measured = prepared(graph, 2, True, 1)
    state = np.zeros(1, np.uint64)
    assert go(walked, cells, residual_of(walked, cells, measured), power=0.0, proposals=200, state=state)[1] == 0
    assert (keys_of_half_edges(walked) == graph.keys).all()
