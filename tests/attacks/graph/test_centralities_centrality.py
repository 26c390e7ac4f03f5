"""Closeness and betweenness agree with their definitions over all pairs of nodes, exact and from pivots."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graph_strategies import erdos_renyi, graphs, heavy_tail
from tests.oracles import graph_statistics as oracle
from unveil._kernels.graph import paths
from unveil._kernels.threads import threads
from unveil.attacks.graph import _centralities
from unveil.attacks.graph._centralities import betweenness, closeness
from unveil.data.graph import Graph


@settings(deadline=None, max_examples=22)
@given(graph=graphs(min_nodes=0, max_nodes=9))
def test_exact_values_agree_with_all_pairs(graph: Graph) -> None:
    near, between = closeness(graph.start, graph.neighbour), betweenness(graph.start, graph.neighbour)
    np.testing.assert_allclose(near.values, oracle.closeness(graph), rtol=1e-12)
    np.testing.assert_allclose(between.values, oracle.betweenness(graph), rtol=1e-9, atol=1e-12)
    assert near.exact
    assert between.exact


@settings(deadline=None, max_examples=22)
@given(graph=graphs(min_nodes=2, max_nodes=9), data=st.data())
def test_pivots_are_the_sources_of_an_estimate(graph: Graph, data: st.DataObject) -> None:
    pivots = data.draw(st.lists(st.integers(0, graph.nodes - 1), min_size=1, unique=True))
    between = betweenness(graph.start, graph.neighbour, np.array(pivots))
    np.testing.assert_allclose(between.values, oracle.betweenness(graph, set(pivots)), rtol=1e-9, atol=1e-12)
    assert between.exact == (len(pivots) == graph.nodes)
    near = closeness(graph.start, graph.neighbour, np.array(pivots))
    far = np.array(oracle.distances(graph))
    for node in range(graph.nodes):
        others = [far[pivot, node] for pivot in pivots if pivot != node]
        steps = [step for step in others if not np.isinf(step)]
        assert near.values[node] == pytest.approx(len(steps) ** 2 / len(others) / sum(steps) if steps else 0.0)


@pytest.mark.unwatched
def test_estimates_are_right_on_average() -> None:
    graph = heavy_tail(40, 2, 3)
    exact = betweenness(graph.start, graph.neighbour).values
    rng = np.random.default_rng(1)
    drawn = [betweenness(graph.start, graph.neighbour, rng.permutation(40)[:8]).values for _ in range(400)]
    error = np.std(drawn, axis=0, ddof=1) / np.sqrt(400)
    assert (np.abs(np.mean(drawn, axis=0) - exact) <= 4.5 * error + 1e-9).all()


@pytest.mark.unwatched
@pytest.mark.parametrize("most", [10**12, 0])
def test_plain_and_compiled_agree(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = erdos_renyi(30, 0.12, 4)
    monkeypatch.setattr(paths, "PLAIN_STEPS", most)
    values = betweenness(graph.start, graph.neighbour).values
    np.testing.assert_allclose(values, oracle.betweenness(graph), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(closeness(graph.start, graph.neighbour).values, oracle.closeness(graph), rtol=1e-12)


@settings(deadline=None, max_examples=24)
@given(graph=graphs(min_nodes=1, max_nodes=9))
def test_logarithms_of_path_counts_agree_with_the_counts(graph: Graph) -> None:
    limit = _centralities._MOST_PATHS
    _centralities._MOST_PATHS = 0.5
    try:
        values = betweenness(graph.start, graph.neighbour).values
    finally:
        _centralities._MOST_PATHS = limit
    np.testing.assert_allclose(values, oracle.betweenness(graph), rtol=1e-9, atol=1e-9)


def diamonds(count: int) -> Graph:
    """Return a chain of squares that meet at corners: the number of paths doubles with each."""
    corner = 3 * np.arange(count)
    source = np.concatenate([corner, corner, corner + 1, corner + 2])
    target = np.concatenate([corner + 1, corner + 2, corner + 3, corner + 3])
    return Graph.from_edges(source, target)


def test_more_paths_than_a_float_can_count() -> None:
    count = 1100
    graph = diamonds(count)
    pivots = np.array([0, graph.nodes - 1])
    values = betweenness(graph.start, graph.neighbour, pivots).values / (graph.nodes / 2) * 2
    # From the one end: all that lies beyond a corner passes it, and half of that each of the two nodes before it.
    beyond = graph.nodes - 1 - 3 * np.arange(1, count)
    np.testing.assert_allclose(values[3:-1:3], beyond + beyond[::-1], rtol=1e-9)
    after = (graph.nodes - 3 * np.arange(1, count + 1)) / 2
    np.testing.assert_allclose(values[1::3], after + after[::-1], rtol=1e-9)


def test_the_middle_of_a_star_has_all_pairs() -> None:
    star = Graph.from_edges([0] * 9, range(1, 10))
    assert betweenness(star.start, star.neighbour).values.tolist() == [36.0] + [0.0] * 9
    assert closeness(star.start, star.neighbour).values[0] == 1.0


@settings(deadline=None, max_examples=12)
@given(graph=graphs(min_nodes=1, max_nodes=9))
def test_sources_may_be_followed_a_few_at_a_time(graph: Graph) -> None:
    at_a_time = _centralities._SOURCES
    _centralities._SOURCES = 2
    try:
        values = betweenness(graph.start, graph.neighbour).values
    finally:
        _centralities._SOURCES = at_a_time
    np.testing.assert_allclose(values, oracle.betweenness(graph), rtol=1e-9, atol=1e-12)


def test_betweenness_is_the_same_on_any_number_of_threads() -> None:
    graph = heavy_tail(700, 3, 5)
    found = []
    for number in (1, 2, 5):
        with threads(number):
            found.append(betweenness(graph.start, graph.neighbour).values.tobytes())
    assert found[0] == found[1] == found[2]
