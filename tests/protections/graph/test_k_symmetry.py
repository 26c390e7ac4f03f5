"""Orbit copying against copying one by one, and what it promises."""

import sys
from importlib.util import find_spec
from math import ceil

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.graph_strategies import erdos_renyi, graphs, heavy_tail
from tests.oracles import k_symmetry as oracle
from tests.protections.graph.test_k_symmetry_orbits import TRIANGLE_AND_SQUARE, SmallIgraph
from unveil.data.graph import Graph
from unveil.data.graph.release import NOBODY, GraphRelease
from unveil.errors import CannotProtectError, InputError, MissingExtraError
from unveil.protections.graph.k_symmetry import KSymmetry, copied_keys, copied_size, equitable_cells

PATH = Graph.from_edges([0, 1], [1, 2])


def applied(graph: Graph, seed: int = 1, **settings: object) -> GraphRelease:
    return KSymmetry(**settings).apply(graph, rng=np.random.default_rng(seed))  # type: ignore[arg-type]


def cells(graph: Graph) -> list[frozenset[int]]:
    return sorted(oracle.groups(equitable_cells(graph.start, graph.neighbour).tolist()), key=min)


def copied(graph: Graph, times: list[int]) -> Graph:
    cell = equitable_cells(graph.start, graph.neighbour)
    keys = copied_keys(*graph.ends, cell, np.array(times))
    return Graph.from_keys(np.sort(keys), sum(times))


@given(graphs(max_nodes=9), st.data())
def test_the_closed_form_is_what_copying_one_by_one_gives(graph: Graph, data: st.DataObject) -> None:
    order = data.draw(st.permutations(cells(graph)))
    times = [0] * graph.nodes
    for cell in order:
        often = data.draw(st.integers(1, 4))
        for node in cell:
            times[node] = often
    names = [(node, 0) for node in range(graph.nodes)]
    names += [(node, copy) for node in range(graph.nodes) for copy in range(1, times[node])]
    fast = copied(graph, times)
    edges = {frozenset((names[one], names[other])) for one, other in zip(*fast.ends, strict=True)}
    assert edges == oracle.copied(oracle.rows(graph), order, times)
    assert (len(names), len(edges)) == (fast.nodes, fast.edges)
    assert (fast.nodes, fast.edges) == copied_size(
        *graph.ends, equitable_cells(graph.start, graph.neighbour), np.array(times)
    )
    # Refinement puts each node together with its copies, and an exchange of two copies of a cell keeps every edge.
    again = equitable_cells(fast.start, fast.neighbour)
    assert all(again[number] == again[node] for number, (node, _) in enumerate(names))
    cell = order[0]
    last = times[min(cell)] - 1
    turn = {(node, 0): (node, last) for node in cell} | {(node, last): (node, 0) for node in cell}
    place = {name: number for number, name in enumerate(names)}
    assert np.array_equal(fast.relabelled([place[turn.get(name, name)] for name in names]).keys, fast.keys)


def test_compiled_copies_are_those_of_plain_copying() -> None:
    graph = heavy_tail(400, 2, 1)
    cell = equitable_cells(graph.start, graph.neighbour)
    times = -(-5 // np.bincount(cell)[cell])
    keys = copied_keys(*graph.ends, cell, times)
    assert keys.size > 10_000
    names = [(node, 0) for node in range(graph.nodes)]
    names += [(node, copy) for node in range(graph.nodes) for copy in range(1, times[node])]
    edges = {frozenset((names[key // len(names)], names[key % len(names)])) for key in keys.tolist()}
    assert edges == oracle.copied(oracle.rows(graph), cells(graph), times.tolist())


def test_sizes_beyond_64_bits_are_exact() -> None:
    graph = erdos_renyi(40, 0.5, 1)
    often = 2**31 - 1
    size = copied_size(*graph.ends, np.arange(40), np.full(40, often))
    assert size == (40 * often, graph.edges * often**2)
    assert size[1] > 2**64


@given(graphs(min_nodes=5, max_nodes=12, min_edges=1), st.integers(2, 5), st.sampled_from([0.0, 0.1, 0.3, 1.0]))
def test_what_is_promised(graph: Graph, k: int, share: float) -> None:
    release = applied(graph, k=k, exclude_hubs=share)
    protected = release.in_original_numbers()
    # The original is there, edge by edge, and nothing else between its nodes.
    one, other = protected.ends
    mine = other < graph.nodes
    assert sorted(zip(one[mine], other[mine], strict=True)) == sorted(zip(*graph.ends, strict=True))
    # Every cell and its copies have k nodes, but for hubs.
    degrees = graph.degrees.tolist()
    hub = [sum(one >= mine for one in degrees) <= share * graph.nodes + 1e-9 for mine in degrees]
    small = [cell for cell in cells(graph) if len(cell) < k]
    copied_cells = [cell for cell in small if not any(hub[node] for node in cell)]
    more = sum(len(cell) * (ceil(k / len(cell)) - 1) for cell in copied_cells)
    assert release.pseudo_nodes == more
    again = equitable_cells(protected.start, protected.neighbour)
    looks_alike = np.bincount(again)[again]
    left = {node for cell in small for node in cell if hub[node]}
    assert all(looks_alike[node] >= k for node in range(graph.nodes) if node not in left)
    assert release.facts["hubs left alone"] == len(left)
    assert any("not protected" in note for note in release.notes) == bool(left)
    assert release.facts["cells"] == len(cells(graph))
    assert release.facts["cells of one node"] == sum(len(cell) == 1 for cell in cells(graph))
    assert release.facts["cells copied"] == len(copied_cells)
    assert release.changes.added == protected.edges - graph.edges


def test_a_dense_graph_of_few_alike_by_hand() -> None:
    """155 nodes of which no two are alike, and 5 pairs of twins: 160 cells, as an e-mail network has them."""
    base = erdos_renyi(160, 0.25, 7)
    one, other = base.ends
    twin = np.arange(160, 165)  # of nodes 155 to 159, one each
    source, target = [one], [other]
    for first, second in ((one, other), (other, one)):
        doubled = first >= 155
        source.append(first[doubled] + 5)
        target.append(second[doubled])
    both = (one >= 155) & (other >= 155)
    graph = Graph.from_edges(
        np.concatenate([*source, one[both] + 5, twin[:2]]), np.concatenate([*target, other[both] + 5, twin[:2] - 5])
    )
    release = applied(graph)
    assert (release.facts["cells"], release.facts["cells of one node"]) == (160, 155)
    pairs_at = (one >= 155).astype(int) + (other >= 155)
    # Nodes alone are there 5 times, twins 3 times; an edge between twins (two pairs have one) stays in its copy.
    by_hand = 25 * (pairs_at == 0).sum() + 2 * 15 * (pairs_at == 1).sum() + 4 * 9 * (pairs_at == 2).sum() + 2 * 3
    assert release.released.nodes == 155 * 5 + 5 * 2 * 3 == 805
    assert release.released.edges == by_hand == 80_478


def test_nodes_that_look_alike_are_left_as_they_are() -> None:
    circle = Graph.from_edges(range(8), [*range(1, 8), 0])
    release = applied(circle, k=8)
    assert np.array_equal(release.in_original_numbers().keys, circle.keys)
    assert release.pseudo_nodes == release.facts["cells copied"] == 0


def test_nodes_without_edges_get_copies_too() -> None:
    release = applied(Graph.from_edges([0, 0, 1], [1, 2, 2], nodes=5), k=5)
    # Three nodes twice, two nodes three times.
    assert (release.released.nodes, release.released.edges) == (6 + 6, 6)
    assert (release.released.degrees == 0).sum() == 6


def test_the_order_of_nodes_changes_nothing() -> None:
    graph = heavy_tail(80, 2, 3)
    number = np.random.default_rng(2).permutation(80)
    one, other = applied(graph, exclude_hubs=0.05), applied(graph.relabelled(number), exclude_hubs=0.05)
    assert dict(one.facts) == dict(other.facts)
    assert np.array_equal(np.sort(one.released.degrees), np.sort(other.released.degrees))


def test_hubs_of_equal_degree_are_left_alone_together_or_not_at_all() -> None:
    # Nodes 0 and 1 have four neighbours each, and one of them has a leaf whose path is longer.
    graph = Graph.from_edges([0, 0, 0, 0, 1, 1, 1, 2], [1, 2, 3, 4, 5, 6, 7, 8])
    assert graph.degrees[:2].tolist() == [4, 4]
    one_ninth = applied(graph, k=3, exclude_hubs=0.12)
    assert one_ninth.facts["hubs left alone"] == 0
    both = applied(graph, k=3, exclude_hubs=0.23)
    assert both.facts["hubs left alone"] == 2
    assert "2 hubs with the highest degrees were excluded (exclude_hubs=0.23): they are not protected" in both.notes
    hub = applied(Graph.from_edges([0] * 4, range(1, 5)), k=4, exclude_hubs=0.2)
    assert "1 hub with the highest degrees was excluded (exclude_hubs=0.2): it is not protected" in hub.notes
    assert both.released.edges < one_ninth.released.edges


def test_a_share_of_hubs_is_what_it_is_in_decimals() -> None:
    assert 0.29 * 100 < 29
    graph = Graph.from_edges(np.repeat(np.arange(29), 3), np.arange(29 * 3) % 71 + 29, nodes=100)
    assert (np.sort(graph.degrees)[::-1][:29] == 3).all()
    hubs = applied(graph, k=100, exclude_hubs=0.29).facts["hubs left alone"]
    assert hubs == 29


def test_what_would_be_too_large_is_refused_with_its_size() -> None:
    graph = erdos_renyi(60, 0.3, 1)
    edges = 25 * graph.edges
    assert applied(graph, max_edges=edges).released.edges == edges
    with pytest.raises(
        CannotProtectError,
        match=rf"make 300 nodes and {edges:,} edges, above max_edges = {edges - 1:,}\. Raise max_edges, take a "
        r"smaller k, or exclude hubs",
    ):
        applied(graph, max_edges=edges - 1)


def test_no_smaller_k_is_advised_where_the_original_itself_is_too_large() -> None:
    graph = erdos_renyi(60, 0.3, 1)
    with pytest.raises(CannotProtectError, match=f"already has {graph.edges:,} edges, and all are kept") as refused:
        applied(graph, max_edges=graph.edges - 1)
    assert "smaller k" not in str(refused.value)


def test_a_release_too_large_for_any_memory_is_refused_at_once() -> None:
    graph = erdos_renyi(1000, 0.03, 1)  # no two nodes are alike
    with pytest.raises(CannotProtectError, match=f"make 1,000,000 nodes and {graph.edges * 10**6:,} edges"):
        applied(graph, k=1000)


def test_refinement_says_what_it_cannot_promise() -> None:
    release = applied(TRIANGLE_AND_SQUARE, k=3)
    assert release.facts["nodes in cells that may be no orbits"] == 7
    assert any("automorphism is not guaranteed. For 7 of 7 nodes" in note for note in release.notes)
    # Where it can be seen that every cell is an orbit, that is said instead.
    sure = applied(PATH, k=3)
    assert sure.facts["nodes in cells that may be no orbits"] == 0
    assert sure.notes == ("cells are those of color refinement, and all of them are orbits",)


@pytest.fixture
def igraph(monkeypatch: pytest.MonkeyPatch) -> None:
    if find_spec("igraph") is None:
        monkeypatch.setitem(sys.modules, "igraph", SmallIgraph())


@pytest.mark.usefixtures("igraph")
def test_orbits_are_copied_where_cells_are_too_coarse() -> None:
    # One cell of 7 needs no copies for k = 5, but the orbits of 3 and 4 nodes do.
    assert applied(TRIANGLE_AND_SQUARE, k=5).pseudo_nodes == 0
    release = applied(TRIANGLE_AND_SQUARE, k=5, partition="orbit")
    assert release.pseudo_nodes == 3 + 4
    assert release.released.edges == 14
    assert release.notes == ()
    assert release.facts["cells"] == 2


@pytest.mark.usefixtures("igraph")
@given(graphs(min_nodes=3, max_nodes=5, min_edges=1))
@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_every_orbit_of_the_release_has_k_nodes(graph: Graph) -> None:
    released = applied(graph, k=3, partition="orbit").released
    orbit = oracle.orbits(oracle.rows(released))
    assert min(orbit.count(one) for one in orbit) >= 3


def test_orbits_need_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "igraph", None)
    with pytest.raises(MissingExtraError, match=r"unveil\[orbits\]"):
        applied(PATH, k=2, partition="orbit")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"k": 1}, "k must be a whole number of at least 2"),
        ({"k": 2.5}, "k must be a whole number of at least 2"),
        ({"partition": "cells"}, "Unknown partition 'cells'"),
        ({"partition": None}, "Unknown partition None"),
        ({"exclude_hubs": 1.5}, "exclude_hubs must lie between 0 and 1, but is 1.5"),
        ({"exclude_hubs": float("nan")}, "exclude_hubs must lie between 0 and 1"),
        ({"max_edges": 0}, "max_edges must be a whole number from 1 to 1,000,000,000, but is 0"),
        ({"max_edges": 1e6}, "max_edges must be a whole number"),
        ({"max_edges": True}, "max_edges must be a whole number"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        KSymmetry(**settings)  # type: ignore[arg-type]


def test_graphs_that_hide_nobody_are_refused() -> None:
    with pytest.raises(InputError, match="k-symmetry needs a graph with edges"):
        applied(Graph.from_edges([], [], nodes=9))
    with pytest.raises(InputError, match="k is 5, but the graph has 3 nodes"):
        applied(PATH)


def test_pseudo_nodes_are_nobody() -> None:
    release = applied(PATH, k=3)
    # The two ends twice, the middle three times, and each end joined to each middle.
    assert (release.released.nodes, release.released.edges) == (7, 12)
    assert (release.truth == NOBODY).sum() == 4
