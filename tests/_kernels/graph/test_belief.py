"""Belief propagation between two graphs: messages against sums over all matchings, seeds, numbering, and failure."""

from itertools import combinations, permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graph_attack_strategies import renumbered
from tests.graph_strategies import erdos_renyi, graphs
from unveil._kernels.graph import belief
from unveil._kernels.graph.belief import SETTLED, believed
from unveil._kernels.types import FloatArray
from unveil.data.graph import Graph
from unveil.data.graph.knowledge import draw_knowledge

NO_SEEDS = np.empty((0, 2), np.int64)
MODEL = np.array([1.5, -1.2, -2.3, 40.0])


def even(graph: Graph) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    return np.full((graph.nodes, graph.nodes), 1 / graph.nodes, np.float32)


def grid_road(size: int, seed: int) -> Graph:
    """Return a grid without a third of its streets."""
    rng = np.random.default_rng(seed)
    place = np.arange(size * size).reshape(size, size)
    one = np.append(place[:, :-1].ravel(), place[:-1].ravel())
    other = np.append(place[:, 1:].ravel(), place[1:].ravel())
    kept = rng.random(one.size) < 0.66
    return Graph.from_edges(one[kept], other[kept], nodes=size * size)


def sum_over_matchings(weight: FloatArray) -> float:
    """Return the sum over all matchings of rows and columns of the product of their weights."""
    rows, columns = weight.shape
    return sum(
        float(np.prod([weight[i, j] for i, j in zip(chosen, partners, strict=True)]))
        for size in range(min(rows, columns) + 1)
        for chosen in combinations(range(rows), size)
        for partners in permutations(range(columns), size)
    )


@given(graphs(min_nodes=2, max_nodes=6), graphs(min_nodes=2, max_nodes=6), st.integers(0, 99))
@settings(max_examples=40)
def test_a_message_is_the_sum_over_matchings_of_the_other_neighbors_or_a_little_more(
    graph: Graph, auxiliary: Graph, seed: int
) -> None:
    one, other = (belief._side(each.to_sparse()) for each in (graph, auxiliary))
    messages = np.random.default_rng(seed).exponential(size=(one.sender.size, other.sender.size)).astype(np.float32)
    scale, other_scale = (np.ones(side.sender.size, np.float32) for side in (one, other))
    found = np.zeros_like(messages)
    belief._pass_on(one.start, one.back, other.start, other.back, messages, found, scale, other_scale, MODEL)
    for u in range(one.nodes):
        for v in range(other.nodes):
            rows, columns = (np.arange(side.start[x], side.start[x + 1]) for side, x in ((one, u), (other, v)))
            for row in rows:
                for column in columns:
                    c, d = rows[rows != row], columns[columns != column]
                    exact = sum_over_matchings(MODEL[3] * messages[np.ix_(c, d)].astype(np.float64))
                    exact *= np.exp(MODEL[0] + MODEL[1] * c.size + MODEL[2] * d.size)
                    value = found[one.back[row], other.back[column]]
                    assert value >= exact * (1 - 1e-4)
                    if min(c.size, d.size) <= 1:
                        assert value == pytest.approx(exact, rel=1e-4)


def test_a_node_of_many_neighbors_passes_on_the_same_by_logarithms() -> None:
    """Above 30 neighbors products are sums of logarithms, in which the other row or column counts as well."""
    stars = [Graph.from_edges(np.zeros(size, int), np.arange(1, size + 1)) for size in (30, 31)]
    values = []
    for star in stars:
        side = belief._side(star.to_sparse())
        messages = np.full((side.sender.size,) * 2, 1 / MODEL[3], np.float32)
        found, scale = np.zeros_like(messages), np.ones(side.sender.size, np.float32)
        belief._pass_on(side.start, side.back, side.start, side.back, messages, found, scale, scale, MODEL)
        first = side.back[side.start[0]]
        values.append(float(np.log(found[first, first])))
    expected = MODEL[1] + MODEL[2] + 30 * np.log1p(31) - 29 * np.log1p(29)
    assert values[1] - values[0] == pytest.approx(expected, abs=1e-3)


@given(st.integers(0, 9), st.integers(0, 99))
@settings(max_examples=5)
def test_chances_do_not_depend_on_numbers_and_rows_sum_to_1(seed: int, numbering: int) -> None:
    graph = grid_road(6, seed)
    auxiliary = draw_knowledge(
        renumbered(graph, 1), overlap=0.85, seed_pairs=0, rng=np.random.default_rng(seed)
    ).auxiliary
    number = np.random.default_rng(numbering).permutation(graph.nodes)
    found = believed(graph.to_sparse(), auxiliary.to_sparse(), NO_SEEDS, even(graph))
    moved = believed(graph.relabelled(number).to_sparse(), auxiliary.to_sparse(), NO_SEEDS, even(graph))
    np.testing.assert_allclose(found.chances.sum(axis=1), 1, atol=1e-4)
    assert moved.common == pytest.approx(found.common, rel=0.05)


@pytest.mark.unwatched
def test_a_road_network_is_found_by_messages_and_its_overlap_is_learned() -> None:
    release = renumbered(grid_road(18, 1), 1)
    knowledge = draw_knowledge(release, overlap=0.9, seed_pairs=0, rng=np.random.default_rng(1))
    found = believed(release.released.to_sparse(), knowledge.auxiliary.to_sparse(), NO_SEEDS, even(release.released))
    assert found.moved < SETTLED
    assert found.common / knowledge.auxiliary.edges > 0.95
    right = found.chances[np.arange(release.released.nodes), release.truth]
    assert right.mean() > 0.6


@pytest.mark.unwatched
def test_messages_between_graphs_of_others_do_not_settle() -> None:
    one, other = erdos_renyi(200, 0.02, 2), erdos_renyi(200, 0.02, 102)
    assert believed(one.to_sparse(), other.to_sparse(), NO_SEEDS, even(one)).moved > 10 * SETTLED


def test_known_pairs_stay_and_help_their_neighbors() -> None:
    path = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    either_way = believed(path.to_sparse(), path.to_sparse(), NO_SEEDS, even(path)).chances
    assert either_way[0, 0] == pytest.approx(either_way[0, 4], abs=1e-3)
    first = even(path)
    first[0], first[:, 0] = 0, 0
    first[0, 0] = 1
    known = believed(path.to_sparse(), path.to_sparse(), np.array([[0, 0]]), first).chances
    assert known[0, 0] == pytest.approx(1, abs=1e-3)
    assert (np.diag(known) > 0.9).all()
