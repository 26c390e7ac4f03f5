"""Bounded t-means: clusters are the best there are, and their members get one degree as far as edges allow."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.graph_strategies import erdos_renyi, graphs, heavy_tail
from tests.oracles.cuts import cuts
from unveil._kernels.graph.rows import edge_keys
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphRelease
from unveil.errors import InputError
from unveil.metrics import smallest_degree_class
from unveil.protections._listing import PROTECTIONS
from unveil.protections.graph import bounded_t_means
from unveil.protections.graph.bounded_t_means import (
    Bound,
    BoundedTMeans,
    EdgeMatching,
    _notes,
    assigned,
    bounded_means,
    matched_degrees,
)


def made(graph: Graph, size: int, seed: int = 1, bound: Bound = "below") -> GraphRelease:
    return BoundedTMeans(size=size, bound=bound).apply(graph, rng=np.random.default_rng(seed))


def spread(values: NDArray[np.int64], bounds: list[int], centres: Sequence[float] | None = None) -> float:
    """Return the sum of squared distances to the centres, or to the means of clusters."""
    parts = [values[begin:end] for begin, end in pairwise(bounds)]
    around = [part.mean() for part in parts] if centres is None else centres
    return float(sum(((part - centre) ** 2).sum() for part, centre in zip(parts, around, strict=True)))


def all_bounds(length: int, count: int, size: int, most: int | None = None) -> list[list[int]]:
    found = [sizes for sizes in cuts(length, size) if len(sizes) == count]
    return [np.cumsum([0, *sizes]).tolist() for sizes in found if most is None or max(sizes) <= most]


VALUES = st.lists(st.integers(0, 20), min_size=2, max_size=11)


@pytest.mark.parametrize("even", [False, True])
@given(VALUES, st.integers(1, 5), st.data())
def test_values_are_assigned_as_cheaply_as_possible(
    even: bool, found: list[int], size: int, data: st.DataObject
) -> None:
    values = np.sort(np.array(found))
    size = min(size, values.size)
    count = data.draw(st.integers(1, values.size // size))
    if even:
        size = values.size // count
    centres = sorted(data.draw(st.lists(st.integers(0, 20), min_size=count, max_size=count)))
    bounds = assigned(np.concatenate([[0], np.cumsum(values)]), np.array(centres, float), size, even)
    possible = all_bounds(values.size, count, size, size + 1 if even else None)
    best = min(spread(values, each, centres) for each in possible)
    assert spread(values, bounds.tolist(), centres) == pytest.approx(best, abs=1e-9)
    assert bounds.tolist() in possible
    assert np.diff(bounds).min() >= size
    assert (bounds[0], bounds[-1]) == (0, values.size)


@given(VALUES, st.integers(1, 5), st.data())
def test_means_come_to_rest_and_the_best_clusters_stay(found: list[int], size: int, data: st.DataObject) -> None:
    values = np.sort(np.array(found))
    size = min(size, values.size)
    count = values.size // size
    centres = np.array(sorted(data.draw(st.lists(st.sampled_from(found), min_size=count, max_size=count))), float)
    clusters = bounded_means(values, centres, size, 50)
    assert clusters.is_stable
    every = all_bounds(values.size, count, size)
    best = min(every, key=lambda bounds: spread(values, bounds))
    reached = spread(values, clusters.bounds.tolist())
    assert reached >= spread(values, best) - 1e-9
    # It is at rest: with these means, no other assignment is cheaper.
    at = [values[begin:end].mean() for begin, end in pairwise(clusters.bounds)]
    assert reached <= min(spread(values, bounds, at) for bounds in every) + 1e-9
    from_best = bounded_means(values, np.array([values[b:e].mean() for b, e in pairwise(best)]), size, 50)
    assert spread(values, from_best.bounds.tolist()) == pytest.approx(spread(values, best), abs=1e-9)
    if values.size % size == 0:
        assert clusters.bounds.tolist() == list(range(0, values.size + 1, size))


def test_rounds_that_do_not_suffice_are_told() -> None:
    values = np.array([0] * 3 + [10] * 3 + [20] * 5)
    clusters = bounded_means(values, np.array([0.0, 0.0, 0.0]), 3, 0)
    assert (clusters.rounds, clusters.is_stable) == (0, False)
    matched = EdgeMatching(np.zeros(0, bool), values, values, np.zeros(3, np.int64))
    assert _notes(matched, clusters, 0) == ("the clusters were still changing after 0 rounds",)


def match(graph: Graph, need: list[int], seed: int = 1) -> EdgeMatching:
    rng = np.random.default_rng(seed)
    return matched_degrees(graph.start, graph.neighbour, graph.keys, np.array(need), rng)


def check_matched(graph: Graph, need: NDArray[np.int64], matched: EdgeMatching) -> None:
    new = edge_keys(matched.one, matched.other, graph.nodes)
    after = np.concatenate([graph.keys[~matched.removed], new])
    assert np.unique(after).size == after.size
    assert (matched.one != matched.other).all()
    released = Graph.from_keys(np.sort(after), graph.nodes)
    assert (matched.need >= 0).all()
    assert (released.degrees + matched.need == graph.degrees + need).all()
    # Any two nodes that still lack an edge are connected already: no edge was missed.
    lacking = np.flatnonzero(matched.need).tolist()
    assert all(other in released.neighbours_of(one) for one in lacking for other in lacking if one < other)


@settings(max_examples=22)
@given(graphs(min_nodes=2, max_nodes=10, min_edges=1), st.integers(0, 2**32 - 1))
def test_degrees_come_to_any_target_as_far_as_partners_go(graph: Graph, seed: int) -> None:
    rng = np.random.default_rng(seed)
    target = rng.integers(0, graph.nodes, graph.nodes)
    need = target - graph.degrees
    check_matched(graph, need, matched_degrees(graph.start, graph.neighbour, graph.keys, need, rng))


def test_edges_between_two_that_have_too_many_go_first() -> None:
    complete = erdos_renyi(4, 1, 0)
    matched = match(complete, [-1, -1, -1, -1])
    assert (matched.removed.sum(), matched.one.size, matched.need.tolist()) == (2, 0, [0, 0, 0, 0])


def test_who_still_has_too_many_loses_edges_by_lot() -> None:
    star = Graph.from_edges([0] * 5, range(1, 6))
    lost = np.zeros(5)
    for seed in range(200):
        matched = match(star, [-2, 0, 0, 0, 0, 0], seed)
        assert (matched.removed.sum(), matched.one.size, matched.need.sum()) == (2, 1, 0)
        lost += matched.removed
    assert lost.sum() == 400
    assert abs(lost - 80).max() < 4 * (200 * 0.4 * 0.6) ** 0.5


def test_only_nodes_without_an_edge_are_joined() -> None:
    square = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    matched = match(square, [1, 1, 1, 1])
    assert np.sort(edge_keys(matched.one, matched.other, 4)).tolist() == [2, 7]  # both diagonals


def test_the_compiled_loops_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = heavy_tail(301, 4, seed=2)
    plain = made(graph, 7)
    monkeypatch.setattr(bounded_t_means, "PLAIN_UP_TO", 0)
    fast = made(graph, 7)
    assert (plain.released.keys == fast.released.keys).all()
    assert plain.facts == fast.facts


def check_release(release: GraphRelease, max_size: int) -> None:
    original, released, facts = release.original, release.in_original_numbers(), release.facts
    kept = Graph.from_edges(*(ends[released.ends[1] < original.nodes] for ends in released.ends), nodes=original.nodes)
    assert facts["clusters"] == max(1, original.nodes // max_size)
    assert release.changes.removed == np.setdiff1d(original.keys, kept.keys).size
    new = np.setdiff1d(kept.keys, original.keys).size
    assert release.changes.added == new + facts["edges to the pseudo node"]
    if release.pseudo_nodes:
        assert facts["edges to the pseudo node"] == released.degrees[-1] > 0
    counts = np.bincount(released.degrees[: original.nodes])
    if facts["nodes off target"] == 0:
        assert counts[counts > 0].min() >= min(max_size, original.nodes)
    whole = np.bincount(released.degrees)
    assert smallest_degree_class(release) == whole[released.degrees[: original.nodes]].min()
    assert len(release.notes) == (release.pseudo_nodes > 0) + (facts["nodes off target"] > 0)


@settings(max_examples=22)
@given(graphs(min_nodes=2, max_nodes=14, min_edges=1), st.integers(2, 16), st.integers(0, 2**32 - 1))
def test_members_of_a_cluster_get_one_degree(graph: Graph, max_size: int, seed: int) -> None:
    check_release(made(graph, max_size, seed), max_size)


@pytest.mark.parametrize("max_size", [2, 30])
@pytest.mark.parametrize(
    "graph", [heavy_tail(3000, 4, seed=1), erdos_renyi(150, 0.6, seed=1)], ids=["heavy tail", "dense"]
)
def test_larger_graphs_reach_every_target(graph: Graph, max_size: int) -> None:
    release = made(graph, max_size)
    check_release(release, max_size)
    assert release.facts["nodes off target"] == 0
    assert release.facts["edges to the pseudo node"] <= 2


def test_targets_are_means_rounded_down_of_stretches_by_degree() -> None:
    graph = heavy_tail(90, 3, seed=4)
    release = made(graph, 30)
    blocks = np.sort(graph.degrees).reshape(3, 30)
    expected = np.repeat(blocks.sum(axis=1) // 30, 30)
    assert release.facts["nodes off target"] == 0
    assert (np.sort(release.in_original_numbers().degrees[:90]) == expected).all()


def test_a_node_without_a_partner_gets_an_edge_to_a_pseudo_node() -> None:
    path = Graph.from_edges([0, 1], [1, 2])
    release = made(path, 3)  # the mean is 4/3, so the middle loses an edge and one end lacks one
    assert release.pseudo_nodes == 1
    assert (release.released.degrees == 1).all()
    assert release.notes == ("1 node is joined to a pseudo node for lack of another partner",)


def test_a_pseudo_node_with_a_degree_of_its_own_makes_nobody_alone() -> None:
    alone = [
        smallest_degree_class(release)
        for release in (made(erdos_renyi(21, 0.5, seed), 21) for seed in range(30))
        if release.pseudo_nodes and release.facts["nodes off target"] == 0
    ]
    assert alone
    assert min(alone) >= 21


def test_who_misses_the_degree_of_the_cluster_is_counted() -> None:
    paw = Graph.from_edges([0, 1, 2, 1], [1, 2, 0, 3])  # the mean is 2: if 1 drops 3, that one lacks two
    found = {}
    for seed in range(20):
        release = made(paw, 4, seed)
        found[release.facts["nodes off target"]] = release
        degrees = release.in_original_numbers().degrees[:4]
        assert (degrees != 2).sum() == release.facts["nodes off target"]
    assert set(found) == {0, 1}
    assert found[1].notes[1] == "1 nodes still miss the degree of their cluster, by 1 edge in total"


def test_equal_degrees_in_two_clusters_are_told_apart_by_lot() -> None:
    path = Graph.from_edges(range(5), range(1, 6))  # one of the four in the middle is with both ends, and loses an edge
    lowered = set()
    for seed in range(40):
        degrees = made(path, 3, seed).in_original_numbers().degrees[:6]
        lowered |= set(np.flatnonzero(degrees < path.degrees).tolist())
    assert lowered == {1, 2, 3, 4}


@pytest.mark.parametrize("size", [1, 0, 2.0, True, "30", None])
def test_a_cluster_that_hides_nobody_is_refused(size: object) -> None:
    with pytest.raises(InputError, match=r"^size must be a whole number of at least 2"):
        BoundedTMeans(size=size)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"max_size": 1}, "max_size must be a whole number of at least 2"),
        ({"max_size": 5, "size": 6}, "max_size is the old name of size, but size is 6 and max_size 5"),
        ({"bound": "upper"}, "Unknown bound 'upper'"),
    ],
    ids=str,
)
def test_settings_are_checked(setting: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        BoundedTMeans(**setting)  # type: ignore[arg-type]


def test_its_former_name_is_understood_with_a_note() -> None:
    graph = erdos_renyi(40, 0.2, 1)
    before = BoundedTMeans(max_size=7).apply(graph, rng=np.random.default_rng(1))
    now = made(graph, 7)
    assert (before.released.keys == now.released.keys).all()
    assert before.notes[0].startswith("max_size was renamed to size")
    assert before.notes[1:] == now.notes


@pytest.mark.parametrize(
    ("nodes", "size", "sizes"), [(167, 30, {27, 28}), (60, 30, {30}), (20, 30, {20}), (61, 30, {20, 21})]
)
def test_a_bound_from_above_holds_and_clusters_are_even(nodes: int, size: int, sizes: set[int]) -> None:
    graph = heavy_tail(nodes, 4, 1)
    target, clusters = BoundedTMeans(size=size, bound="above")._targets(graph, np.random.default_rng(1))
    assert clusters.bounds.size - 1 == -(-nodes // size)
    assert set(np.diff(clusters.bounds).tolist()) == sizes
    assert np.unique(target).size <= clusters.bounds.size - 1
    release = made(graph, size, bound="above")
    assert release.facts["clusters"] == -(-nodes // size)
    degrees = release.in_original_numbers().degrees[:nodes]
    if release.facts["nodes off target"] == 0:
        assert np.unique(degrees, return_counts=True)[1].min() >= min(sizes)


def test_a_graph_without_an_edge_is_refused() -> None:
    with pytest.raises(InputError, match="bounded t-means needs a graph with edges"):
        made(Graph.from_edges([], [], nodes=9), 2)


def test_it_is_listed() -> None:
    assert PROTECTIONS["bounded-t-means"].aka == ("t-Means",)
    assert PROTECTIONS["bounded-t-means"].settings == ("size=30", "bound=below", "max_size=none")
