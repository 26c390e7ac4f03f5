"""Centralities of a graph are computed once, exact while it is small, and never hang on what ran before."""

import gc

import numpy as np
import pytest

from tests.graph_strategies import heavy_tail
from tests.oracles.graph_statistics import betweenness, closeness
from unveil.attacks.graph import _centralities
from unveil.attacks.graph._centralities import betweenness_of, closeness_of, pivots_of
from unveil.attacks.graph._centralities import closeness as exact_closeness
from unveil.attacks.graph.adaptive_deanonymization import AdaptiveDeanonymization
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphKnowledge


def test_small_graphs_have_exact_ones() -> None:
    graph = heavy_tail(25, 2, 1)
    near, between = closeness_of(graph, exact_up_to=25), betweenness_of(graph, exact_up_to=25)
    assert near.exact
    assert between.exact
    np.testing.assert_allclose(near.values, closeness(graph), atol=1e-12)
    np.testing.assert_allclose(between.values, betweenness(graph), atol=1e-9)


def test_larger_ones_are_estimated_from_pivots_and_say_so() -> None:
    graph = heavy_tail(300, 3, 1)
    for find in (closeness_of, betweenness_of):
        exact, sampled = find(graph), find(graph, exact_up_to=299, pivots=100)
        assert exact.exact
        assert not sampled.exact
        assert (sampled.values != exact.values).any()
        assert np.corrcoef(sampled.values, exact.values)[0, 1] > 0.95


def test_as_many_pivots_as_nodes_are_exact() -> None:
    graph = heavy_tail(30, 2, 1)
    assert closeness_of(graph, exact_up_to=0, pivots=30).exact


def test_each_is_computed_once_per_graph_object(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def counted(*given: object) -> object:
        calls.append(given)
        return exact_closeness(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(_centralities, "closeness", counted)
    graph = heavy_tail(30, 2, 1)
    for settings in ({}, {}, {"exact_up_to": 3, "pivots": 5}, {"exact_up_to": 4, "pivots": 5}, {"exact_up_to": 50}):
        closeness_of(graph, **settings)  # type: ignore[arg-type]
    assert len(calls) == 2  # exact, and from 5 pivots
    closeness_of(graph.called("another object"))
    assert len(calls) == 3
    assert not closeness_of(graph).values.flags.writeable


def test_nothing_is_kept_of_a_graph_that_is_gone() -> None:
    gc.collect()
    before = len(_centralities._FOUND)
    graph = heavy_tail(30, 2, 1)
    closeness_of(graph)
    assert len(_centralities._FOUND) == before + 1
    del graph
    gc.collect()
    assert len(_centralities._FOUND) == before


def test_estimates_do_not_hang_on_what_ran_before() -> None:
    """An attack with sampled centralities finds the same first, again, and on an equal graph."""
    graph = heavy_tail(80, 3, 1)
    attack = AdaptiveDeanonymization(exact_up_to=10, pivots=20)
    found = []
    for each in (graph, graph, Graph.from_keys(graph.keys, graph.nodes)):
        knowledge = GraphKnowledge(each, np.array([[3, 3], [7, 7], [20, 20]]))
        guess = attack.run(released=each, knowledge=knowledge, rng=np.random.default_rng(4))
        found.append((guess.chosen, guess.probability))
        closeness_of(heavy_tail(40, 2, 5), exact_up_to=3, pivots=7)
    for chosen, probability in found[1:]:
        np.testing.assert_array_equal(chosen, found[0][0])
        np.testing.assert_array_equal(probability, found[0][1])


def test_pivots_are_distinct_and_decided_by_the_edges() -> None:
    one, other = heavy_tail(50, 2, 1), heavy_tail(50, 2, 2)
    assert np.unique(pivots_of(one, 20)).size == 20
    np.testing.assert_array_equal(pivots_of(one, 20), pivots_of(Graph.from_keys(one.keys, 50), 20))
    assert (pivots_of(one, 20) != pivots_of(other, 20)).any()
    assert (pivots_of(one, 20, "released") != pivots_of(one, 20, "auxiliary")).any()
