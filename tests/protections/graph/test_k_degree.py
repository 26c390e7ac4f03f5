"""k-degree anonymity by adding edges: no degrees rise by less, nobody loses an edge, every degree has k nodes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graph_strategies import erdos_renyi, graphs, heavy_tail
from tests.oracles.degree_anonymity import all_graphs, is_shared, least_even_raise, least_raise
from unveil._kernels._compile import compiled
from unveil._kernels.graph.degree_groups import _raised, raised_degrees, smallest_class
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphRelease
from unveil.errors import CannotProtectError, InputError
from unveil.metrics import smallest_degree_class
from unveil.protections.graph import k_degree
from unveil.protections.graph.k_degree import EdgeRule, KDegree, check_classes, raised

STAR = Graph.from_edges([0] * 19, range(1, 20))
CYCLE = Graph.from_edges(range(9), [*range(1, 9), 0])
COMPLETE = Graph.from_edges(*np.triu_indices(7, 1))


def applied(original: Graph, k: int = 5, seed: int = 1, edges: EdgeRule = "add") -> GraphRelease:
    return KDegree(k=k, edges=edges).apply(original, rng=np.random.default_rng(seed))


def check(release: GraphRelease, original: Graph, k: int) -> None:
    """Check that k nodes share each degree, and that changes count what became of the edges."""
    after = release.in_original_numbers()
    before, now = set(original.keys.tolist()), set(after.keys.tolist())
    assert is_shared(after.degrees.tolist(), k)
    assert release.changes.added == len(now - before)
    assert release.changes.removed == len(before - now)
    assert smallest_degree_class(release) == smallest_class(after.degrees) >= k


def falling(numbers: list[int]) -> list[int]:
    return sorted((number % len(numbers) for number in numbers), reverse=True)


@settings(max_examples=22)
@given(st.lists(st.integers(0, 9), min_size=2, max_size=9), st.integers(2, 4))
def test_no_groups_raise_degrees_by_less(numbers: list[int], k: int) -> None:
    degrees = falling(numbers)
    if len(degrees) < k:
        return
    found = raised_degrees(np.array(degrees), k)
    assert (found >= degrees).all()
    assert is_shared(found.tolist(), k)
    assert int(found.sum()) - sum(degrees) == least_raise(degrees, k)


@settings(max_examples=22)
@given(st.lists(st.integers(0, 5), min_size=2, max_size=6), st.integers(2, 3))
def test_no_even_sum_of_shared_degrees_is_nearer(numbers: list[int], k: int) -> None:
    degrees = falling(numbers)
    if len(degrees) < k:
        return
    found = raised_degrees(np.array(degrees), k, even=True)
    assert (found >= degrees).all()
    assert found.max() < found.size
    assert is_shared(found.tolist(), k)
    assert int(found.sum()) - sum(degrees) == least_even_raise(degrees, k)


def test_ten_degrees_are_grouped_as_well_as_any_way_there_is() -> None:
    degrees = [9, 7, 7, 6, 4, 4, 3, 3, 2, 0]
    assert int(raised_degrees(np.array(degrees), 3).sum()) - sum(degrees) == least_raise(degrees, 3)


@settings(max_examples=24)
@given(graphs(min_nodes=2, max_nodes=14), st.integers(2, 6), st.integers(0, 1000))
def test_edges_are_only_added_and_every_degree_is_shared(original: Graph, k: int, seed: int) -> None:
    if k > original.nodes:
        return
    release = applied(original, k, seed)
    check(release, original, k)
    assert release.changes.removed == 0
    assert np.isin(original.keys, release.in_original_numbers().keys).all()
    assert release.notes == ()


@settings(max_examples=22)
@given(graphs(min_nodes=2, max_nodes=14), st.integers(2, 6), st.integers(0, 1000))
def test_with_priority_degrees_do_not_fall_and_every_degree_is_shared(original: Graph, k: int, seed: int) -> None:
    if k > original.nodes:
        return
    release = applied(original, k, seed, "priority")
    check(release, original, k)
    assert (release.in_original_numbers().degrees >= original.degrees).all()


def test_hardly_any_graph_of_five_nodes_could_do_with_fewer_edges() -> None:
    shared = {
        k: [set(graph.keys.tolist()) for graph in all_graphs(5) if is_shared(graph.degrees.tolist(), k)] for k in (2, 3)
    }
    some = list(all_graphs(5))[::7]
    for k, could in shared.items():
        more, beyond = [], []
        for original in some:
            edges = set(original.keys.tolist())
            least = min(len(other - edges) for other in could if edges <= other)
            release = applied(original, k)
            more.append(release.changes.added - least)
            beyond.append(least - release.facts["least edges to add"])
            rise = least_even_raise(sorted(original.degrees.tolist(), reverse=True), k)
            assert release.facts["least edges to add"] == rise / 2
        assert min(more) == min(beyond) == 0
        assert np.mean(more) < 0.4


@pytest.mark.parametrize("original", [CYCLE, COMPLETE, Graph.from_edges([], [], nodes=6)])
@pytest.mark.parametrize("edges", ["add", "priority"])
def test_degrees_that_are_shared_already_stay(original: Graph, edges: EdgeRule) -> None:
    release = applied(original, edges=edges)
    assert np.array_equal(release.in_original_numbers().keys, original.keys)
    assert dict(release.facts) == {"attempts": 1, "least edges to add": 0}
    assert smallest_degree_class(release) == original.nodes


def test_a_star_gets_five_centres() -> None:
    # Five nodes must be connected to all others, and then the others have five edges: no graph has fewer.
    release = applied(STAR)
    check(release, STAR, 5)
    assert sorted(release.released.degrees.tolist()) == [5] * 15 + [19] * 5
    assert release.changes.added == 4 * 15 + 4 * 3 // 2


def test_every_leaf_of_a_star_is_as_likely_to_become_a_centre() -> None:
    star = Graph.from_edges([0] * 5, range(1, 6))
    raised_leaves = [int(applied(star, 2, seed).in_original_numbers().degrees[1:].argmax()) for seed in range(300)]
    assert np.bincount(raised_leaves, minlength=5).min() > 60 - 4 * np.sqrt(300 * 0.2 * 0.8)


@pytest.mark.parametrize("k", [5, 6, 7])
def test_fewer_than_twice_k_nodes_share_one_degree(k: int) -> None:
    path = Graph.from_edges(range(6), range(1, 7))
    degrees = applied(path, k).released.degrees
    assert np.unique(degrees).tolist() == [2]


def test_an_odd_number_of_nodes_with_an_odd_degree_gets_one_more() -> None:
    # Five nodes cannot all have one neighbour: they get two.
    pairs = Graph.from_edges([0, 2], [1, 3], nodes=5)
    assert applied(pairs, 5).released.degrees.tolist() == [2] * 5


def test_hubs_need_partners_that_the_cheapest_degrees_do_not_offer() -> None:
    original = heavy_tail(400, 3, 1)
    release, exchanged = applied(original), applied(original, edges="priority")
    check(release, original, 5)
    check(exchanged, original, 5)
    top = np.sort(original.degrees)[:-6:-1]
    # At least five nodes reach the largest degree, and an edge between two of them counts twice.
    assert release.changes.added >= int((top[0] - top).sum()) - 10
    assert release.changes.removed == 0 < exchanged.changes.removed
    least = raised_degrees(np.sort(original.degrees)[::-1], 5, even=True).sum() // 2
    assert exchanged.released.edges == least < release.released.edges


def test_after_the_last_attempt_edges_are_exchanged_and_a_note_says_so() -> None:
    original = heavy_tail(400, 3, 1)
    release = KDegree(attempts=1).apply(original, rng=np.random.default_rng(1))
    check(release, original, 5)
    assert release.changes.removed > 0
    assert release.facts["attempts"] == 2
    assert release.notes[0] == "1 attempt to add edges alone failed, so edges were exchanged"


def test_a_failure_says_how_often_it_was_tried() -> None:
    both = "in 1 attempt to add edges alone, and 1 to exchange some as well: in the last one 4 nodes still lacked 60"
    with pytest.raises(CannotProtectError, match=both) as refused:
        KDegree(attempts=1).apply(STAR, rng=np.random.default_rng(1))
    assert str(refused.value).endswith("Allow more attempts, or take a smaller k")
    with pytest.raises(CannotProtectError, match="in 1 attempt: in the last one"):
        KDegree(attempts=1, edges="priority").apply(STAR, rng=np.random.default_rng(1))


def test_a_degree_with_too_few_nodes_is_never_released() -> None:
    with pytest.raises(CannotProtectError, match="only 1 nodes share a degree of the changed graph, fewer than 5"):
        check_classes(STAR, STAR.keys, 5)


def test_degrees_that_no_graph_has_leave_a_rest_and_come_to_an_end() -> None:
    path = Graph.from_edges([0, 1], [1, 2], nodes=4)
    for keep in (True, False):
        _, lacking = raised(path.start, path.neighbour, np.array([3, 3, 3, 1]), np.zeros(1, np.uint64), keep=keep)
        assert lacking.sum() > 0


@pytest.mark.unwatched
def test_compiled_and_plain_loops_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    degrees = np.sort(np.random.default_rng(1).geometric(0.1, 300))[::-1].copy()
    for even in (False, True):
        assert np.array_equal(compiled(_raised)(degrees, 4, even), _raised(degrees, 4, even))
    for original in (heavy_tail(150, 3, 2), erdos_renyi(40, 0.7, 3)):
        order = np.argsort(-original.degrees)
        target = np.empty_like(order)
        target[order] = raised_degrees(original.degrees[order], 6, even=True)
        for keep in (True, False):
            found = []
            for limit in (0, 10**9):
                monkeypatch.setattr(k_degree, "_PLAIN_UP_TO", limit)
                state = np.full(1, 7, np.uint64)
                found.append(raised(original.start, original.neighbour, target, state, keep=keep))
            assert all(np.array_equal(one, other) for one, other in zip(*found, strict=True))


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"k": 1}, "k must be a whole number of at least 2"),
        ({"k": 2.5}, "k must be a whole number of at least 2"),
        ({"attempts": 0}, "attempts must be a whole number of at least 1"),
        ({"attempts": True}, "attempts must be a whole number of at least 1"),
        ({"edges": "remove"}, "Unknown edges rule 'remove'"),
    ],
)
def test_settings_are_checked(setting: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        KDegree(**setting)  # type: ignore[arg-type]


def test_more_nodes_in_a_class_than_there_are_is_refused() -> None:
    with pytest.raises(InputError, match="k is 8, but the graph has 7 nodes"):
        applied(COMPLETE, 8)
