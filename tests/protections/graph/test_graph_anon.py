"""GraphAnon: every degree is shared, the original is in the release, and no one is raised further than needed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graph_strategies import erdos_renyi, graphs, heavy_tail
from tests.oracles.cuts import cuts
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphRelease
from unveil.errors import CannotProtectError, InputError
from unveil.metrics import smallest_degree_class
from unveil.protections._listing import PROTECTIONS
from unveil.protections.graph import graph_anon
from unveil.protections.graph.graph_anon import GraphAnon, _hiding_edges, minimax_groups


def anonymized(graph: Graph, k: int, *, hide_new: bool = True, seed: int = 1) -> GraphRelease:
    return GraphAnon(k=k, hide_new=hide_new).apply(graph, rng=np.random.default_rng(seed))


def best_rises(degrees: list[int], k: int) -> tuple[int, int]:
    """Return the least largest rise and the least sum of rises with it, from all cuts."""
    found = []
    for sizes in cuts(len(degrees), k):
        ends = np.cumsum(sizes)
        rises = [
            degrees[end - size] - each
            for size, end in zip(sizes, ends, strict=True)
            for each in degrees[end - size : end]
        ]
        found.append((max(rises), sum(rises)))
    return min(found)


@settings(max_examples=50)
@given(st.lists(st.integers(0, 12), min_size=2, max_size=10), st.integers(2, 10))
def test_the_grouping_is_the_best_of_all(degrees: list[int], k: int) -> None:
    k = min(k, len(degrees))
    ordered = np.sort(np.array(degrees))[::-1].copy()
    first = minimax_groups(ordered, k)
    rises = ordered[first] - ordered
    assert (int(rises.max()), int(rises.sum())) == best_rises(ordered.tolist(), k)
    assert np.unique(first, return_counts=True)[1].min() >= k
    assert (np.diff(first) >= 0).all()


def test_the_sum_is_least_for_the_largest_rise_of_all_and_not_of_the_part_before() -> None:
    # 0 has to rise to 5, so that rises of up to 5 are free elsewhere: 11 10 | 8 6 6 | 5 0, although the part before
    # could do with a largest rise of 3. Comparing the parts first by largest rise and then by sum would end at 10.
    degrees = np.array([11, 10, 8, 6, 6, 5, 0])
    rises = degrees[minimax_groups(degrees, 2)] - degrees
    assert (int(rises.max()), int(rises.sum())) == best_rises(degrees.tolist(), 2) == (5, 9)


def test_the_compiled_grouping_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    degrees = np.sort(heavy_tail(300, 3, seed=2).degrees)[::-1].copy()
    plain = minimax_groups(degrees, 7)
    monkeypatch.setattr(graph_anon, "_PLAIN_STEPS", 0)
    assert (minimax_groups(degrees, 7) == plain).all()


def check_invariants(release: GraphRelease, k: int, *, hide_new: bool) -> None:
    original, released = release.original, release.in_original_numbers()
    # Without the pseudo nodes, the release is the original.
    one, other = released.ends
    among_originals = other < original.nodes
    back = Graph.from_edges(one[among_originals], other[among_originals], nodes=original.nodes)
    assert (back.keys == original.keys).all()
    counts = np.bincount(released.degrees[: original.nodes])
    assert counts[counts > 0].min() >= k
    whole = np.bincount(released.degrees)
    if hide_new:
        assert whole[whole > 0].min() >= k
    assert smallest_degree_class(release) == whole[released.degrees[: original.nodes]].min()
    assert release.changes.added == released.edges - original.edges
    largest_rise = int((released.degrees[: original.nodes] - original.degrees).max())
    if largest_rise == 0 or not hide_new:
        assert release.pseudo_nodes == largest_rise
    else:
        assert release.pseudo_nodes == max(largest_rise, k) + (max(largest_rise, k) + 1) % 2


@settings(max_examples=24)
@given(graphs(min_nodes=2, max_nodes=14, min_edges=1), st.integers(2, 14), st.booleans(), st.integers(0, 2**32 - 1))
def test_every_degree_is_shared_and_the_original_stays(graph: Graph, k: int, hide_new: bool, seed: int) -> None:
    k = min(k, graph.nodes)
    check_invariants(anonymized(graph, k, hide_new=hide_new, seed=seed), k, hide_new=hide_new)


@pytest.mark.parametrize("pseudo", [3, 5, 7, 9, 11])
def test_edges_among_pseudo_nodes_give_all_of_them_one_degree(pseudo: int) -> None:
    for high in range(1, pseudo):
        degrees = np.where(np.arange(pseudo) < high, 4, 3)
        new = _hiding_edges(degrees, np.array([], np.int64), pseudo)
        assert (new[:, 0] != new[:, 1]).all()
        assert np.unique(np.sort(new, axis=1), axis=0).shape == new.shape
        after = degrees + np.bincount(new.ravel(), minlength=pseudo)
        assert np.unique(after).tolist() == [4 if (pseudo - high) % 2 == 0 else 5]


def test_pseudo_nodes_that_share_their_degree_with_others_need_no_edges() -> None:
    assert _hiding_edges(np.array([2, 1, 1]), np.array([2, 2, 2, 1]), 3).size == 0
    assert _hiding_edges(np.array([2, 1, 1]), np.array([2, 1, 1]), 3).size > 0


def test_fewer_nodes_than_two_groups_all_get_the_largest_degree() -> None:
    star = Graph.from_edges([0] * 7, range(1, 8))
    release = anonymized(star, 5, hide_new=False)
    assert (release.in_original_numbers().degrees[:8] == 7).all()
    assert (release.pseudo_nodes, release.changes.added, smallest_degree_class(release)) == (6, 42, 14)


def test_a_graph_that_has_it_already_stays_as_it_is() -> None:
    ring = Graph.from_edges(range(10), [*range(1, 10), 0])
    release = anonymized(ring, 5)
    assert (release.in_original_numbers().keys == ring.keys).all()
    assert (release.pseudo_nodes, release.changes.added, smallest_degree_class(release)) == (0, 0, 10)
    assert release.notes == ("nothing was changed: at least 5 nodes already share each degree",)


def test_without_hiding_a_note_says_who_can_be_told() -> None:
    # Degrees 6, 4 and 3 rise by 0, 2 and 3: of three pseudo nodes two get 2 edges, which nobody else has.
    stars = Graph.from_edges([0] * 6 + [1] * 4 + [2] * 3, range(3, 16))
    plain, hidden = anonymized(stars, 3, hide_new=False), anonymized(stars, 3)
    assert (plain.pseudo_nodes, plain.changes.added, smallest_degree_class(plain)) == (3, 5, 3)
    assert "some of the 3 pseudo nodes are recognizable by their degree" in plain.notes[0]
    # A path from one of these through the third to the other makes it 3 edges each.
    assert (hidden.pseudo_nodes, hidden.changes.added, smallest_degree_class(hidden)) == (3, 7, 3)
    assert hidden.notes == ()


def test_a_single_pseudo_node_that_can_be_told_is_one() -> None:
    release = anonymized(Graph.from_edges([0, 1], [1, 2], nodes=4), 4, hide_new=False)
    assert release.pseudo_nodes == 2
    almost_complete = Graph.from_edges(*np.triu_indices(12, 2))
    release = anonymized(almost_complete, 5, hide_new=False)
    assert release.pseudo_nodes == 1
    assert release.notes == (
        "the pseudo node is recognizable by its degree, which fewer than 5 nodes share; hide_new avoids that",
    )


@pytest.mark.parametrize("k", [2, 5, 50])
@pytest.mark.parametrize("graph", [heavy_tail(3000, 3, seed=1), erdos_renyi(200, 0.5, seed=1)], ids=["tail", "dense"])
def test_larger_graphs(graph: Graph, k: int) -> None:
    for hide_new in (True, False):
        check_invariants(anonymized(graph, k, hide_new=hide_new), k, hide_new=hide_new)


def test_which_of_equal_nodes_are_raised_is_drawn_by_lot() -> None:
    # Two hubs of degrees 3 and 2 (in groups of 2), of which one of two equal ones must be raised.
    graph = Graph.from_edges([0, 0, 0, 1, 1, 2, 2], [3, 4, 5, 6, 7, 8, 9])
    raised = set()
    for seed in range(30):
        released = anonymized(graph, 2, hide_new=False, seed=seed).in_original_numbers()
        raised |= set(np.flatnonzero(released.degrees[:3] > graph.degrees[:3]).tolist())
    assert raised == {1, 2}


@pytest.mark.parametrize("k", [1, 0, 2.0, True, None])
def test_a_k_that_hides_nobody_is_refused(k: object) -> None:
    with pytest.raises(InputError, match="k must be a whole number of at least 2"):
        GraphAnon(k=k)  # type: ignore[arg-type]


def test_other_bad_input_is_refused() -> None:
    with pytest.raises(InputError, match="hide_new is 1"):
        GraphAnon(hide_new=1)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="k is 5, but the graph has 4 nodes"):
        anonymized(Graph.from_edges([0], [1], nodes=4), 5)
    with pytest.raises(InputError, match="graph-anon needs a graph with edges"):
        anonymized(Graph.from_edges([], [], nodes=9), 2)


def test_a_k_that_would_fill_the_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_anon, "MOST_EDGES", 41)
    star = Graph.from_edges([0] * 7, range(1, 8))
    with pytest.raises(CannotProtectError, match="graph-anon would add 42 edges for k = 5, above the maximum of 41"):
        anonymized(star, 5)


def test_it_is_listed() -> None:
    assert PROTECTIONS["graph-anon"].settings == ("k=5", "hide_new=yes")
