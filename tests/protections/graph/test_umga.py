"""UMGA: the nearest degrees that k nodes share, reached exactly by few changes of edges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graph_strategies import erdos_renyi, graphs, heavy_tail
from tests.oracles.degree_anonymity import all_graphs, best_rounding, centrality, is_shared, rounding_cost
from tests.oracles.masking import least_squares
from unveil._kernels.graph.degree_groups import even_rounding, is_graphic, nearest_degrees
from unveil._kernels.table.microaggregation import best_groups
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphRelease
from unveil.errors import CannotProtectError, InputError
from unveil.metrics import smallest_degree_class
from unveil.protections.graph import umga as umga_kernel
from unveil.protections.graph import umga as umga_module
from unveil.protections.graph.umga import Selection, Umga, changed_to

SELECTIONS: tuple[Selection, ...] = ("random", "nc")


def applied(original: Graph, k: int = 5, seed: int = 1, edge_selection: Selection = "random") -> GraphRelease:
    return Umga(k=k, edge_selection=edge_selection).apply(original, rng=np.random.default_rng(seed))


def check(release: GraphRelease, original: Graph, k: int) -> None:
    """Check that k nodes share each degree, that changes are right, and that degrees are those of microaggregation."""
    after = release.in_original_numbers()
    before, now = set(original.keys.tolist()), set(after.keys.tolist())
    assert is_shared(after.degrees.tolist(), k)
    assert release.changes.added == len(now - before)
    assert release.changes.removed == len(before - now)
    assert smallest_degree_class(release) >= k
    wanted = nearest_degrees(np.sort(original.degrees), int(release.facts["k used"]))
    assert wanted is not None
    # Which of equal nodes goes to which group is drawn by lot, so the degrees agree in order alone.
    assert np.array_equal(np.sort(after.degrees), np.sort(wanted))
    assert 2 * (after.edges - original.edges) == int(wanted.sum() - original.degrees.sum())


@settings(max_examples=24)
@given(st.lists(st.tuples(st.integers(2, 9), st.integers(0, 8)), max_size=10))
def test_no_rounding_keeps_the_number_of_edges_better(groups: list[tuple[int, int]]) -> None:
    size = [count for count, _ in groups]
    rest = [left % count for count, left in groups]
    up = even_rounding(np.array(size, np.int64), np.array(rest, np.int64))
    best = best_rounding(size, rest)
    if up is None or best is None:
        assert up is None
        assert best is None
        return
    assert not up[np.array(rest, np.int64) == 0].any()
    assert rounding_cost(size, rest, up.tolist()) == best


def test_a_single_group_of_even_size_may_have_no_even_rounding() -> None:
    assert even_rounding(np.array([3, 2]), np.array([0, 1])) is None


@settings(max_examples=22)
@given(st.lists(st.integers(0, 9), min_size=2, max_size=9), st.integers(2, 4))
def test_groups_of_degrees_have_the_least_squares(numbers: list[int], k: int) -> None:
    if len(numbers) < k:
        return
    if sum(numbers) % 2:
        numbers[0] += 1
    degrees = np.array(numbers)
    found = nearest_degrees(degrees, k)
    if found is None:
        return
    assert found.sum() % 2 == 0
    assert is_shared(found.tolist(), k)
    # Rounding adds to each group at most a quarter of its size, and nothing where means are whole.
    within = ((degrees - found) ** 2).sum()
    least = least_squares(degrees.astype(float), k)
    assert least - 1e-9 <= within <= least + degrees.size
    group = best_groups(degrees.astype(float), k)
    for number in np.unique(group):
        mean = degrees[group == number].mean()
        assert np.abs(found[group == number] - mean).max() < 1


def test_a_graph_has_degrees_if_and_only_if_some_graph_has_them() -> None:
    for nodes in range(1, 6):
        have = {tuple(sorted(graph.degrees.tolist())) for graph in all_graphs(nodes)}
        grid = np.indices((nodes + 1,) * nodes).reshape(nodes, -1).T
        for degrees in grid[(np.diff(grid, axis=1) >= 0).all(axis=1)]:
            assert is_graphic(degrees) == (tuple(degrees.tolist()) in have)
    assert is_graphic(np.zeros(0, np.int64))
    assert not is_graphic(np.array([-1, 1]))


@settings(max_examples=24)
@given(graphs(min_nodes=2, max_nodes=14), st.integers(2, 6), st.integers(0, 1000), st.sampled_from(SELECTIONS))
def test_degrees_are_reached_exactly_on_any_graph(original: Graph, k: int, seed: int, by: Selection) -> None:
    if k > original.nodes:
        return
    check(applied(original, k, seed, by), original, k)


@settings(max_examples=22)
@given(graphs(min_nodes=2, max_nodes=10), graphs(min_nodes=2, max_nodes=10), st.integers(0, 1000), st.booleans())
def test_any_degrees_that_a_graph_has_are_reached(one: Graph, other: Graph, seed: int, by_relevance: bool) -> None:
    nodes = max(one.nodes, other.nodes)
    one, other = (Graph.from_edges(*graph.ends, nodes=nodes) for graph in (one, other))
    found = [
        changed_to(
            one.start, one.neighbour, other.degrees, np.full(1, seed + turn, np.uint64), by_relevance=by_relevance
        )
        for turn in range(10)
    ]
    reached = [keys for keys, lacking, _ in found if not lacking.any()]
    assert reached
    for keys in reached:
        assert np.array_equal(Graph.from_keys(keys, nodes).degrees, other.degrees)


@pytest.mark.parametrize("by", SELECTIONS)
@pytest.mark.parametrize("original", [heavy_tail(300, 3, 1), erdos_renyi(120, 0.05, 2), erdos_renyi(50, 0.8, 3)])
def test_degrees_are_reached_exactly_on_larger_graphs(original: Graph, by: Selection) -> None:
    check(applied(original, edge_selection=by), original, 5)


@pytest.mark.parametrize("by", SELECTIONS)
def test_degrees_that_are_shared_already_stay(by: Selection) -> None:
    for original in (Graph.from_edges(*np.triu_indices(7, 1)), Graph.from_edges(range(9), [*range(1, 9), 0])):
        release = applied(original, edge_selection=by)
        assert np.array_equal(release.in_original_numbers().keys, original.keys)
        assert release.notes == ()
        assert release.facts["k used"] == 5


def test_a_star_loses_most_of_its_centre() -> None:
    # The centre and four leaves have 19 + 4 edges: 4.6 on average. The 15 other leaves keep theirs, so the sum is even
    # with 5 each, and one edge more.
    star = Graph.from_edges([0] * 19, range(1, 20))
    release = applied(star)
    check(release, star, 5)
    assert sorted(release.released.degrees.tolist()) == [1] * 15 + [5] * 5
    assert release.released.edges == 20


def test_groups_grow_where_no_graph_has_the_degrees() -> None:
    original = Graph.from_edges([0, 0, 1, 0, 1, 2], [1, 2, 2, 3, 4, 4])
    assert sorted(original.degrees.tolist()) == [1, 2, 3, 3, 3]
    release = applied(original, 2)
    check(release, original, 2)
    assert release.facts["k used"] == 3
    assert release.notes[0] == "groups of 3 nodes were made: no graph has the degrees of groups of 2"


def test_too_many_edges_on_both_sides_are_dropped_and_ends_connected() -> None:
    # Two paths of three nodes: both middles must lose one, and none of the ends may.
    paths = Graph.from_edges([0, 1, 3, 4], [1, 2, 4, 5])
    for seed in range(8):
        state = np.full(1, seed, np.uint64)
        keys, lacking, longer = changed_to(paths.start, paths.neighbour, np.ones(6, np.int64), state)
        assert (keys.size, lacking.tolist(), longer) == (3, [0] * 6, 0)


def test_the_least_relevant_edge_is_moved() -> None:
    # Node 0 gives one of its two neighbours to node 1, which has none of them. Node 2 has three neighbours more that
    # node 3 has not, so the pair of edges at node 3 is the less relevant one.
    original = Graph.from_edges([0, 0, 2, 2, 2], [2, 3, 4, 5, 6], nodes=7)
    assert centrality(original, 0, 3) + centrality(original, 3, 1) < centrality(original, 0, 2) + centrality(
        original, 2, 1
    )
    degrees = original.degrees + np.array([-1, 1, 0, 0, 0, 0, 0])
    moved: dict[bool, set[int]] = {True: set(), False: set()}
    for by_relevance in (True, False):
        for seed in range(20):
            state = np.full(1, seed, np.uint64)
            keys, _, _ = changed_to(original.start, original.neighbour, degrees, state, by_relevance=by_relevance)
            moved[by_relevance].add(int(Graph.from_keys(keys, 7).neighbours_of(1)[0]))
    assert moved == {True: {3}, False: {2, 3}}


def test_relevance_is_the_sum_of_centralities() -> None:
    original = erdos_renyi(30, 0.3, 4)
    walk = np.array([3, 8, 1, 20])
    size = np.diff(original.start)
    found = umga_kernel._relevance(original.start, size, original.neighbour, walk)
    pairs = zip(walk[:-1].tolist(), walk[1:].tolist(), strict=True)
    expected = sum(centrality(original, one, other) for one, other in pairs) * 2 * original.degrees.max()
    assert found == pytest.approx(expected)


def test_dense_graphs_need_longer_exchanges_and_a_note_says_so() -> None:
    longer = 0
    for original in list(all_graphs(5))[::5]:
        release = applied(original, 2)
        check(release, original, 2)
        count = release.facts["longer exchanges"]
        longer += count > 0
        assert (count > 0) == any("because single moves were not possible" in note for note in release.notes)
    assert longer > 0


def test_degrees_that_no_graph_has_leave_a_rest_and_come_to_an_end() -> None:
    path = Graph.from_edges([0, 1], [1, 2], nodes=4)
    for by_relevance in (True, False):
        state = np.zeros(1, np.uint64)
        wanted = np.array([3, 3, 1, 1])
        _, lacking, _ = changed_to(path.start, path.neighbour, wanted, state, by_relevance=by_relevance)
        assert lacking.any()


def test_a_failure_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*graph: object, by_relevance: bool) -> tuple[object, object, int]:
        return None, np.array([1, -1]), 0

    monkeypatch.setattr(umga_module, "changed_to", never)
    with pytest.raises(CannotProtectError, match=r"in the last of 10 attempts 2 nodes had no edge left.* too dense"):
        applied(erdos_renyi(12, 0.5, 1))
    with pytest.raises(CannotProtectError, match="in the only attempt 2 nodes had no edge left"):
        Umga(attempts=1).apply(erdos_renyi(12, 0.5, 1), rng=np.random.default_rng(1))


def test_what_every_answer_says_is_no_note() -> None:
    release = applied(heavy_tail(60, 3, 1))
    assert release.changes.removed > 0
    assert release.notes == ()


@pytest.mark.unwatched
def test_compiled_and_plain_loops_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    for original in (heavy_tail(150, 3, 2), erdos_renyi(30, 0.8, 3)):
        target = nearest_degrees(original.degrees, 6)
        assert target is not None
        for by_relevance in (True, False):
            found = []
            for limit in (0, 10**9):
                monkeypatch.setattr(umga_kernel, "_PLAIN_UP_TO", limit)
                state = np.full(1, 7, np.uint64)
                found.append(changed_to(original.start, original.neighbour, target, state, by_relevance=by_relevance))
            assert all(np.array_equal(one, other) for one, other in zip(*found, strict=True))


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"k": 0}, "k must be a whole number of at least 2"),
        ({"attempts": 0}, "attempts must be a whole number of at least 1"),
        ({"edge_selection": "all"}, "Unknown edge_selection 'all'"),
    ],
)
def test_settings_are_checked(setting: dict[str, object], said: str) -> None:
    with pytest.raises(InputError, match=said):
        Umga(**setting)  # type: ignore[arg-type]


def test_more_nodes_in_a_class_than_there_are_is_refused() -> None:
    with pytest.raises(InputError, match="k is 3, but the graph has 2 nodes"):
        applied(Graph.from_edges([0], [1]), 3)
