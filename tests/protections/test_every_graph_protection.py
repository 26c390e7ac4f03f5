"""What holds for every protection of graphs that is listed, whatever it does."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graph_strategies import erdos_renyi, graphs, heavy_tail
from tests.randomness import shared_state
from unveil.data.graph import Graph
from unveil.data.graph.release import NOBODY, GraphRelease
from unveil.errors import CannotProtectError, InputError
from unveil.protections import PROTECTIONS, Protection
from unveil.protections._listing import original_edges

OF_GRAPHS = [one for one in PROTECTIONS.values() if one.on == "graph"]
each = pytest.mark.parametrize("protection", OF_GRAPHS, ids=lambda one: one.name)

AWKWARD = {
    "empty": Graph.from_edges([], [], nodes=0),
    "one node": Graph.from_edges([], [], nodes=1),
    "no edges": Graph.from_edges([], [], nodes=8),
    "one edge": Graph.from_edges([0], [1], nodes=2),
    "star": Graph.from_edges([0] * 9, range(1, 10)),
    "path": Graph.from_edges(range(9), range(1, 10)),
    "complete": Graph.from_edges(*np.triu_indices(9, 1)),
    "two parts": Graph.from_edges([0, 1, 2, 5, 6, 7], [1, 2, 0, 6, 7, 5], nodes=9),
    "nodes without edges": Graph.from_edges([0, 0, 1], [1, 2, 2], nodes=12),
}


def applied(protection: Protection, original: Graph, seed: int = 1) -> GraphRelease:
    release = protection.make().apply(original, rng=np.random.default_rng(seed))
    assert isinstance(release, GraphRelease)
    return release


def check(release: GraphRelease, original: Graph, protection: Protection) -> None:
    """Check what every release must be: a simple graph in which each original node has exactly one released one."""
    released = release.released
    assert release.original is original
    assert release.kind == protection.kind
    one, other = released.ends
    assert (one < other).all()
    assert (np.diff(released.keys) > 0).all()
    rows = [released.neighbours_of(node).tolist() for node in range(released.nodes)]
    assert all(row == sorted(set(row)) and node not in row for node, row in enumerate(rows))
    assert all(node in rows[near] for node, row in enumerate(rows) for near in row)
    assert sorted(release.truth[release.truth != NOBODY].tolist()) == list(range(original.nodes))
    assert released.names is None
    renamed, degrees = release.in_original_numbers(), np.diff(original.start)
    kept = {
        "node count": released.nodes == original.nodes,
        "edge count": released.edges == original.edges,
        "degrees": np.array_equal(np.diff(renamed.start)[: original.nodes], degrees),
        "edges": set(zip(*original.ends, strict=True)) <= set(zip(*renamed.ends, strict=True)),
    }
    assert all(kept[fact] for fact in protection.keeps)
    if release.ledger is not None:
        assert 0 < release.ledger.total <= release.ledger.epsilon * (1 + 1e-9)


def check_released_or_refused(protection: Protection, original: Graph, seed: int = 1) -> None:
    """Check that a graph is refused where the facts say so, and released otherwise, unless a reason is found later."""
    small = original.nodes < protection.least_rows or (protection.needs_edges and original.edges == 0)
    try:
        release = applied(protection, original, seed)
    except InputError as error:
        refused = error
    else:
        assert not small
        check(release, original, protection)
        return
    assert small or isinstance(refused, CannotProtectError)
    assert "\n" not in str(refused)


@each
@given(original=graphs(max_nodes=14), seed=st.integers(0, 1000))
@settings(max_examples=15)
def test_a_release_is_simple_and_complete_or_refused(protection: Protection, original: Graph, seed: int) -> None:
    check_released_or_refused(protection, original, seed)


@each
@pytest.mark.parametrize("original", AWKWARD.values(), ids=AWKWARD)
def test_awkward_graphs_are_released_or_refused(protection: Protection, original: Graph) -> None:
    check_released_or_refused(protection, original)


@each
def test_a_graph_of_many_nodes_is_released(protection: Protection) -> None:
    for original in (heavy_tail(150, 3, 1), erdos_renyi(120, 0.05, 2)):
        check(applied(protection, original), original, protection)


@each
def test_one_seed_gives_one_release_and_another_seed_another(protection: Protection) -> None:
    original = heavy_tail(60, 2, 3)
    one, same, other = (applied(protection, original, seed) for seed in (1, 1, 2))
    assert np.array_equal(one.released.keys, same.released.keys)
    assert np.array_equal(one.truth, same.truth)
    assert dict(one.facts) == dict(same.facts)
    assert not np.array_equal(one.truth, other.truth)


@each
def test_the_original_and_other_generators_are_left_as_they_were(protection: Protection) -> None:
    original = heavy_tail(60, 2, 4)
    start, neighbour, state = original.start.copy(), original.neighbour.copy(), shared_state()
    applied(protection, original)
    assert shared_state() == state
    assert np.array_equal(original.start, start)
    assert np.array_equal(original.neighbour, neighbour)


@each
def test_changes_are_counted_once_and_by_the_release_itself(protection: Protection) -> None:
    for seed, original in enumerate((heavy_tail(60, 3, 1), heavy_tail(30, 12, 2), erdos_renyi(31, 0.5, 3))):
        release = applied(protection, original, seed)
        released = release.in_original_numbers()
        before = {(int(a), int(b)) for a, b in zip(*original.ends, strict=True)}
        after = {(int(a), int(b)) for a, b in zip(*released.ends, strict=True)}
        assert release.changes == (len(after - before), len(before - after), len(before & after))
        twice = {"edges added", "edges removed", "edges kept", "pseudo nodes", "smallest degree class"}
        assert not twice & release.facts.keys()


@each
def test_the_share_of_original_edges_is_as_the_settings_tell(protection: Protection) -> None:
    told = original_edges(protection.make())
    if protection.kind == "synthetic":
        assert told == 0
    elif protection.exchanges or {"edges", "edge count"} <= set(protection.keeps):
        release = applied(protection, heavy_tail(200, 5, 1))
        # Up to one switch less is done than the share says.
        assert release.changes.kept / release.released.edges == pytest.approx(told, abs=2.1 / release.released.edges)
    else:
        assert told is None


@each
def test_what_was_seen_in_the_private_file_is_not_told_under_a_ledger(protection: Protection) -> None:
    original = replace(heavy_tail(60, 2, 3), notes=("3 loops were left out",))
    release = applied(protection, original)
    assert ("3 loops were left out" in release.notes) == (release.ledger is None)


@pytest.mark.unwatched
@each
def test_every_order_of_nodes_is_as_likely(protection: Protection) -> None:
    original = heavy_tail(30, 2, 5)
    places = []
    for seed in range(48):
        release = applied(protection, original, seed)
        first = np.flatnonzero(release.truth == 0)[0]
        places.append((first + 0.5) / release.released.nodes)
    # The mean of 48 uniform numbers is within 4 standard errors of a half.
    assert abs(np.mean(places) - 0.5) < 4 / np.sqrt(12 * 48)
