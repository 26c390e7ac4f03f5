"""Weighted questions: the weights are those of wPINQ's rules, and one edge changes no answer by more than is said."""

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graph_strategies import graphs, heavy_tail
from tests.oracles import wpinq as oracle
from unveil.data.graph import Graph
from unveil.protections.graph import _wpinq_walk as queries
from unveil.protections.graph._wpinq_walk import DegreeCells, cells_for, cells_of, classes_for

KINDS = pytest.mark.parametrize("triangles", [False, True], ids=["edges", "triangles"])
CHANGES = {False: queries.JOINT_DEGREES_CHANGE, True: queries.TRIANGLES_CHANGE}


def by_degree(graph: Graph, *, triangles: bool, loops: bool = False) -> oracle.Weighted:
    """Return the weights of all cells that are not empty, each named by its degrees."""
    highest = graph.nodes
    cells = DegreeCells(triangles, np.arange(0.5, highest), loops)
    answer = cells.answer(graph.start, graph.neighbour)
    number = queries.triple_cell if triangles else queries.pair_cell
    size = 3 if triangles else 2
    names = {number(*reversed(each)): each for each in combinations_of_degrees(highest, size)}
    return {names[cell]: float(answer[cell]) for cell in np.flatnonzero(answer).tolist()}


def combinations_of_degrees(highest: int, size: int) -> list[tuple[int, ...]]:
    return [tuple(at - i for i, at in enumerate(each)) for each in combinations(range(highest + size), size)]


def same(one: oracle.Weighted, other: oracle.Weighted) -> bool:
    return one.keys() == other.keys() and all(one[key] == pytest.approx(other[key]) for key in one)


@given(graphs(max_nodes=8))
def test_weights_follow_from_the_rules(graph: Graph) -> None:
    assert same(by_degree(graph, triangles=False), oracle.joint_degrees(graph))
    assert same(by_degree(graph, triangles=True), oracle.triangles(graph))
    assert same(by_degree(graph, triangles=True, loops=True), oracle.triangles(graph, loops=True))


@given(graphs(min_nodes=2, max_nodes=9))
def test_degrees_follow_from_the_rules(graph: Graph) -> None:
    above = oracle.shave(oracle.select(oracle.directed(graph), lambda edge: edge[0]))
    sequence = oracle.shave(above)
    assert queries.degree_distribution(graph.degrees).tolist() == [above.get(i, 0) for i in range(graph.nodes - 1)]
    assert queries.degree_sequence(graph.degrees).tolist() == [sequence.get(i, 0) for i in range(graph.nodes)]


@given(graphs(min_nodes=2, max_nodes=9))
def test_one_edge_changes_answers_by_no_more_than_is_said(graph: Graph) -> None:
    for more in oracle.with_one_edge_more(graph):
        for ask, limit in (
            (queries.degree_distribution, queries.DEGREE_DISTRIBUTION_CHANGES),
            (queries.degree_sequence, queries.DEGREE_SEQUENCE_CHANGES),
        ):
            assert np.abs(ask(more.degrees) - ask(graph.degrees)).sum() == limit
        for triangles, limit in CHANGES.items():
            moved = oracle.change(by_degree(graph, triangles=triangles), by_degree(more, triangles=triangles))
            assert moved < limit


@given(graphs(min_nodes=2, max_nodes=8), st.lists(st.integers(0, 7), max_size=4, unique=True))
def test_classes_of_degrees_change_no_more(graph: Graph, bounds: list[int]) -> None:
    for triangles, limit in CHANGES.items():
        cells = DegreeCells(triangles, np.sort(bounds) + 0.5)
        before = cells.answer(graph.start, graph.neighbour)
        for more in oracle.with_one_edge_more(graph):
            assert np.abs(cells.answer(more.start, more.neighbour) - before).sum() < limit


def two_hubs(inside: int, ring: int) -> tuple[Graph, Graph]:
    """Return two hubs, each with neighbours that have ``ring`` others among them, and the same with the hubs joined."""
    place = np.arange(inside)
    one = [np.zeros(inside, np.int64)]
    other = [1 + place]
    for step in range(1, ring // 2 + 1):
        one.append(1 + place)
        other.append(1 + (place + step) % inside)
    source, target = np.concatenate(one), np.concatenate(other)
    hub = inside + 1
    ends = np.concatenate([source, source + hub]), np.concatenate([target, target + hub])
    return Graph.from_edges(*ends), Graph.from_edges(np.append(ends[0], 0), np.append(ends[1], hub))


@pytest.mark.parametrize(
    ("triangles", "inside", "ring", "least"), [(False, 200, 0, 3.9), (True, 200, 142, 2.05)], ids=["edges", "triangles"]
)
def test_smaller_limits_would_not_hold(triangles: bool, inside: int, ring: int, least: float) -> None:
    before, after = two_hubs(inside, ring)
    cells = DegreeCells(triangles, np.unique(after.degrees).astype(np.float64) - 0.5)
    answers = [cells.answer(graph.start, graph.neighbour) for graph in (before, after)]
    assert least < np.abs(answers[1] - answers[0]).sum() < CHANGES[triangles]


@KINDS
def test_compiled_and_plain_weights_are_the_same(triangles: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = heavy_tail(60, 4, 1)
    cells = cells_for(graph.start, graph.neighbour, 4, triangles=triangles)
    plain = cells.answer(graph.start, graph.neighbour)
    monkeypatch.setattr(queries, "PLAIN_UP_TO", -1)
    assert (cells.answer(graph.start, graph.neighbour) == plain).all()


@pytest.mark.parametrize("number", [queries.pair_cell, queries.triple_cell])
def test_every_cell_has_a_number_of_its_own(number: Callable[..., int]) -> None:
    triangles = number is queries.triple_cell
    seen = {number(*each) for each in combinations_of_degrees(6, 3 if triangles else 2)}
    assert seen == set(range(cells_of(7, triangles=triangles)))


@KINDS
@given(graph=graphs(min_nodes=2, min_edges=1), classes=st.integers(1, 8))
@settings(max_examples=20)
def test_classes_cover_all_degrees(triangles: bool, graph: Graph, classes: int) -> None:
    cells = cells_for(graph.start, graph.neighbour, classes, triangles=triangles)
    levels = cells.levels(graph.degrees[graph.degrees > 0])
    distinct = np.unique(graph.degrees[graph.degrees > 0]).size
    assert cells.bounds.size + 1 <= min(classes, distinct)
    assert set(levels.tolist()) == set(range(cells.bounds.size + 1))
    if classes >= distinct:
        assert cells.bounds.size + 1 == distinct


@KINDS
def test_as_many_classes_as_cells_allow(triangles: bool) -> None:
    for most in (0.5, 1, 3, 10, 1000):
        classes = classes_for(most, triangles=triangles)
        assert classes == 1 or cells_of(classes, triangles=triangles) <= most
        assert cells_of(classes + 1, triangles=triangles) > most
