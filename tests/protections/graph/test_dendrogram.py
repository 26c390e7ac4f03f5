"""Dendrograms: what they keep up to date, where their walk ends up, and what is drawn from their blocks."""

from collections import Counter
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graph_strategies import erdos_renyi, graphs, heavy_tail
from tests.oracles.dendrograms import all_dendrograms, check, clusters_of, exact_chances, log_likelihood
from unveil._kernels._compile import compiled
from unveil._kernels.random import fresh_state
from unveil.data.graph import Graph
from unveil.protections.graph import _dendrogram
from unveil.protections.graph import hrg_dp as drawn_blocks
from unveil.protections.graph._dendrogram import Dendrogram, dendrogram, random_children, walk
from unveil.protections.graph.hrg_dp import Blocks, blocks_of, draw_edges

_SEEDS = st.integers(0, 2**32 - 1)


def _begun(graph: Graph, seed: int) -> Dendrogram:
    return dendrogram(random_children(graph.nodes, np.random.default_rng(seed)), graph.start, graph.neighbour)


@given(graphs(min_nodes=2, max_nodes=12), _SEEDS)
@settings(deadline=None, max_examples=24)
def test_a_random_dendrogram_is_right(graph: Graph, seed: int) -> None:
    tree = _begun(graph, seed)
    check(tree, graph)
    assert tree.edges.sum() == graph.edges
    np.testing.assert_allclose(tree.score.sum(), log_likelihood(clusters_of(tree), graph), atol=1e-9)


@given(graphs(min_nodes=3, max_nodes=12), _SEEDS, st.sampled_from([0.0, 0.3, 50.0]))
@settings(deadline=None, max_examples=24)
def test_moves_keep_everything_up_to_date(graph: Graph, seed: int, factor: float) -> None:
    tree = _begun(graph, seed)
    state = fresh_state(np.random.default_rng(seed))
    for moves in (1, 1, 1, 40):
        walk(tree, graph.start, graph.neighbour, state, moves=moves, factor=factor)
        check(tree, graph)


@pytest.mark.unwatched
def test_a_long_walk_does_not_lose_the_likelihood() -> None:
    graph = heavy_tail(400, 4, seed=3)
    tree = _begun(graph, 1)
    state = fresh_state(np.random.default_rng(2))
    taken, mean = walk(tree, graph.start, graph.neighbour, state, moves=300_000, factor=0.05)
    ended = tree.score.sum()
    _, at_last = walk(tree, graph.start, graph.neighbour, state, moves=1, factor=np.inf)
    recomputed = dendrogram(tree.child, graph.start, graph.neighbour)
    np.testing.assert_array_equal(tree.edges, recomputed.edges)
    assert tree.score.sum() == pytest.approx(recomputed.score.sum(), abs=1e-6)
    assert at_last == pytest.approx(tree.score.sum(), abs=1e-6)
    assert at_last >= ended - 1e-6
    assert 0 < taken < 300_000
    assert mean < 0
    check(tree, graph)


def test_plain_and_compiled_walks_are_the_same() -> None:
    graph = erdos_renyi(30, 0.2, seed=1)
    ends = []
    for run in (_dendrogram._walk, compiled(_dendrogram._walk)):
        tree, state = _begun(graph, 5), np.array([9], np.uint64)
        taken, total = run(tree, graph.start, graph.neighbour, state, np.empty(30, np.int32), 900, 0.2)
        ends.append((taken, int(state[0]), tree.order.tolist(), tree.edges.tolist()))
        assert total < 0
    assert ends[0] == ends[1]


@pytest.mark.parametrize("nodes", [2, 3, 4, 5])
def test_every_dendrogram_is_as_likely_to_begin_with(nodes: int) -> None:
    from scipy.stats import chisquare

    every = list(all_dendrograms(frozenset(range(nodes))))
    assert len(set(every)) == len(every) == {2: 1, 3: 3, 4: 15, 5: 105}[nodes]
    edge = Graph.from_edges([0], [1], nodes=nodes)
    seen = Counter(clusters_of(_begun(edge, seed)) for seed in range(15 * len(every)))
    assert set(seen) <= set(every)
    if len(every) > 1:
        assert chisquare([seen[tree] for tree in every]).pvalue > 0.001


@pytest.mark.parametrize(
    ("graph", "factor"),
    [
        (Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3]), 0.6),
        (Graph.from_edges([0, 2], [1, 3]), 0.4),
        (Graph.from_edges([0, 0, 1, 2, 3], [1, 2, 2, 3, 4]), 0.5),
        (Graph.from_edges([0, 0, 0], [1, 2, 3], nodes=5), 0.3),
    ],
    ids=["triangle with a tail", "two edges", "five nodes", "star and a lone node"],
)
def test_a_long_walk_follows_the_exponential_mechanism(graph: Graph, factor: float) -> None:
    from scipy.stats import chisquare

    exact = exact_chances(graph, factor)
    tree, state = _begun(graph, 1), np.array([11], np.uint64)
    run = compiled(_dendrogram._walk)
    count, seen, spare = 40 * len(exact), Counter[object](), np.empty(graph.nodes, np.int32)
    for _ in range(count):
        # So far apart that one dendrogram tells nothing about the next: the test takes them as independent.
        run(tree, graph.start, graph.neighbour, state, spare, 150, factor)
        seen[clusters_of(tree)] += 1
    found = [seen[each] for each in exact]
    assert sum(found) == count
    assert chisquare(found, [count * chance for chance in exact.values()]).pvalue > 0.001
    # The walk is not just a blind one.
    assert chisquare(found).pvalue < 1e-6


@given(graphs(min_nodes=2, max_nodes=12), _SEEDS, st.floats(0, 40), st.floats(0, 70))
@settings(deadline=None, max_examples=24)
def test_blocks_hold_every_pair_and_edge_once(graph: Graph, seed: int, between: float, inside: float) -> None:
    tree = _begun(graph, seed)
    blocks = blocks_of(tree, most_between=between, most_inside=inside)
    assert blocks.pairs.sum() == comb(graph.nodes, 2)
    assert blocks.edges.sum() == graph.edges
    held = []
    for number, (begin, left, right, pairs, edges) in enumerate(zip(*blocks, strict=True)):
        chance = np.zeros(blocks.pairs.size)
        chance[number] = 1
        keys = draw_edges(blocks, chance, tree.order, np.zeros(1, np.uint64))
        assert np.unique(keys).size == pairs
        assert np.isin(keys, graph.keys).sum() == edges
        nodes = tree.order[begin : begin + left + right]
        assert np.isin(np.array(np.divmod(keys, graph.nodes)), nodes).all()
        if right == 0:
            assert pairs == comb(int(left), 2) <= inside
        held.append(keys)
    one, other = np.triu_indices(graph.nodes, 1)
    np.testing.assert_array_equal(np.sort(np.concatenate(held)), one * graph.nodes + other)


@given(graphs(min_nodes=2, max_nodes=12), _SEEDS, st.integers(0, 10**6))
@settings(deadline=None, max_examples=24)
def test_one_edge_changes_one_count_by_one_and_no_block(graph: Graph, seed: int, picked: int) -> None:
    """The cut-off looks at sizes alone, and the counts together have sensitivity 1."""
    one, other = np.triu_indices(graph.nodes, 1)
    key = (one * graph.nodes + other)[picked % one.size]
    neighbour = Graph.from_keys(np.setxor1d(graph.keys, [key]), graph.nodes)
    here, there = (blocks_of(_begun(each, seed), most_between=6, most_inside=15) for each in (graph, neighbour))
    for field in ("begin", "left", "right", "pairs"):
        np.testing.assert_array_equal(getattr(here, field), getattr(there, field))
    assert np.abs(here.edges - there.edges).sum() == 1


def test_every_pair_of_a_block_is_as_likely() -> None:
    from scipy.stats import chisquare

    blocks = Blocks(*np.array([[0, 6], [6, 3], [0, 4], [15, 12], [0, 0]]))
    order, state = np.arange(13, dtype=np.int32), np.array([5], np.uint64)
    rounds = 6000
    chance = np.array([0.25, 0.07])
    drawn = [draw_edges(blocks, chance, order, state) for _ in range(rounds)]
    seen = Counter(np.concatenate(drawn).tolist())
    first = [seen[one * 13 + other] for one in range(6) for other in range(one + 1, 6)]
    second = [seen[one * 13 + other] for one in range(6, 9) for other in range(9, 13)]
    assert sum(first) + sum(second) == sum(map(len, drawn))
    for counts, each in ((first, 0.25), (second, 0.07)):
        counted = np.array([counts, rounds - np.array(counts)])
        expected = rounds * np.array([[each] * len(counts), [1 - each] * len(counts)])
        # Its mean is the number of pairs and its variance twice that.
        statistic = ((counted - expected) ** 2 / expected).sum()
        assert abs(statistic - len(counts)) < 4 * np.sqrt(2 * len(counts))
    # Pairs are drawn on their own: the number of edges of a block is binomial.
    sizes = np.bincount([int((keys < 6 * 13).sum()) for keys in drawn], minlength=16)
    likely = np.array([comb(15, k) * 0.25**k * 0.75 ** (15 - k) for k in range(16)]) * rounds
    assert chisquare([*sizes[:9], sizes[9:].sum()], [*likely[:9], likely[9:].sum()]).pvalue > 0.001


@pytest.mark.unwatched
def test_drawing_takes_all_none_and_grows() -> None:
    blocks = Blocks(*np.array([[0, 40], [40, 20], [0, 20], [780, 400], [0, 0]]))
    order, state = np.arange(80, dtype=np.int32), np.array([1], np.uint64)
    assert draw_edges(blocks, np.zeros(2), order, state).size == 0
    assert draw_edges(blocks, np.full(2, 1e-300), order, state).size == 0
    assert np.unique(draw_edges(blocks, np.ones(2), order, state)).size == 1180
    few = (*blocks[:4], np.array([0.5, 0.5]), order)
    plain = drawn_blocks._draw(*few, np.array([3], np.uint64), 1)
    fast = compiled(drawn_blocks._draw)(*few, np.array([3], np.uint64), 1)
    np.testing.assert_array_equal(plain, fast)
    assert 450 < plain.size < 730
