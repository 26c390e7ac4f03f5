"""Degrees that fit two noisy views best, and a graph that has them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.graph_strategies import graphs, heavy_tail
from tests.oracles.wpinq import best_staircase_cost, is_graphical, staircase_cost
from unveil.data.graph import Graph
from unveil.protections.graph import _wpinq_steps
from unveil.protections.graph._wpinq_steps import fitted_degrees, graph_with_degrees
from unveil.protections.graph._wpinq_walk import degree_distribution, degree_sequence


@st.composite
def views(draw: st.DrawFn) -> tuple[list[float], list[float]]:
    nodes = draw(st.integers(1, 6))
    number = st.floats(-3, nodes + 3) | st.integers(-2, nodes + 1).map(float)
    return (
        draw(st.lists(number, min_size=nodes - 1, max_size=nodes - 1)),
        draw(st.lists(number, min_size=nodes, max_size=nodes)),
    )


@given(views())
def test_no_other_degrees_fit_better(seen: tuple[list[float], list[float]]) -> None:
    above, sequence = seen
    fitted, exact = fitted_degrees(np.array(above), np.array(sequence))
    assert exact
    assert (np.diff(fitted) <= 0).all()
    assert staircase_cost(fitted.tolist(), above, sequence) == pytest.approx(best_staircase_cost(above, sequence))


@given(graphs(min_nodes=1, max_nodes=15))
def test_without_noise_the_degrees_come_back(graph: Graph) -> None:
    fitted, _ = fitted_degrees(degree_distribution(graph.degrees), degree_sequence(graph.degrees))
    assert fitted.tolist() == sorted(graph.degrees.tolist(), reverse=True)


@pytest.mark.parametrize("scale", [1.0, 8.0, 100.0])
def test_a_band_loses_nothing_and_compiled_is_the_same(scale: float, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    degrees = heavy_tail(60, 3, 1).degrees
    above = degree_distribution(degrees) + rng.laplace(0, scale, degrees.size - 1)
    sequence = degree_sequence(degrees) + rng.laplace(0, scale, degrees.size)
    fitted, exact = fitted_degrees(above, sequence)
    assert exact
    monkeypatch.setattr(_wpinq_steps, "PLAIN_UP_TO", -1)
    assert (fitted_degrees(above, sequence)[0] == fitted).all()
    whole = np.zeros(60, np.int64), np.full(60, 59)
    monkeypatch.setattr(_wpinq_steps, "_band", lambda *_: whole)
    everywhere, _ = fitted_degrees(above, sequence)
    costs = [staircase_cost(each.tolist(), above.tolist(), sequence.tolist()) for each in (fitted, everywhere)]
    assert costs[0] == pytest.approx(costs[1])


def test_too_many_points_are_narrowed_to_the_middle() -> None:
    rng = np.random.default_rng(2)
    degrees = heavy_tail(60, 3, 1).degrees
    above = degree_distribution(degrees) + rng.laplace(0, 3, degrees.size - 1)
    sequence = degree_sequence(degrees) + rng.laplace(0, 3, degrees.size)
    best, _ = fitted_degrees(above, sequence)
    fitted, exact = fitted_degrees(above, sequence, most_steps=600)
    assert not exact
    assert (np.diff(fitted) <= 0).all()
    assert np.abs(fitted - best).mean() < 5


@given(st.lists(st.integers(0, 9), min_size=1, max_size=9))
def test_a_graph_has_the_degrees_if_any_simple_graph_has(given_degrees: list[int]) -> None:
    degrees = sorted(given_degrees, reverse=True)
    nodes = len(degrees)
    one, other = graph_with_degrees(np.array(degrees))
    graph = Graph.from_edges(one, other, nodes=nodes)
    assert graph.edges == one.size
    assert (graph.degrees <= degrees).all()
    if is_graphical(degrees):
        assert graph.degrees.tolist() == degrees


def test_a_compiled_graph_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    degrees = np.sort(heavy_tail(80, 4, 3).degrees)[::-1].copy()
    plain = graph_with_degrees(degrees)
    monkeypatch.setattr(_wpinq_steps, "PLAIN_UP_TO", -1)
    assert all((one == other).all() for one, other in zip(plain, graph_with_degrees(degrees), strict=True))
