"""The table of joint degrees on a grid: what it keeps, and that one edge changes it by no more than noise covers."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graph_strategies import graphs, heavy_tail
from tests.oracles import joint_degrees as oracle
from unveil._kernels.graph.joint_degrees import (
    cell_weights,
    cells_of,
    degree_grid,
    finest_grid,
    joint_table,
    places_of_cells,
)
from unveil.data.graph import Graph

spacings = st.sampled_from([0.0, 0.2, 0.4, 0.7, 1.0, 1.6, 3.0])


def edges_of(graph: Graph) -> list[oracle.Edge]:
    return [(int(u), int(v)) for u, v in zip(*graph.ends, strict=True)]


def table_of(graph: Graph, grid: np.ndarray) -> np.ndarray:
    one, other = graph.ends
    return joint_table(grid, graph.degrees[one], graph.degrees[other])


@settings(deadline=None, max_examples=22)
@given(graphs(max_nodes=9), st.integers(1, 9), spacings)
def test_the_table_is_that_of_its_definition(graph: Graph, largest: int, spacing: float) -> None:
    grid = degree_grid(largest, spacing)
    smaller, larger = places_of_cells(grid.size)
    expected = oracle.split_table(edges_of(graph), graph.nodes, grid.tolist())
    found = table_of(graph, grid)
    assert found == pytest.approx(
        [float(expected.get((i, j), 0)) for i, j in zip(smaller.tolist(), larger.tolist(), strict=True)]
    )
    assert (cells_of(smaller, larger) == np.arange(found.size)).all()
    assert found.sum() == pytest.approx(graph.edges)
    if graph.degrees.max() <= largest:
        assert found @ (1 / grid[smaller] + 1 / grid[larger]) == pytest.approx((graph.degrees > 0).sum())


@settings(deadline=None, max_examples=24)
@given(graphs(min_nodes=2, max_nodes=7), st.integers(1, 7), spacings)
def test_no_edge_changes_the_weighted_table_by_more_than_one(graph: Graph, largest: int, spacing: float) -> None:
    grid = degree_grid(largest, spacing)
    weight = cell_weights(grid)
    assert (np.diff(weight) >= 0).all()
    before = oracle.split_table(edges_of(graph), graph.nodes, grid.tolist())
    for edges in oracle.neighbours(edges_of(graph), graph.nodes):
        after = oracle.split_table(edges, graph.nodes, grid.tolist())
        assert oracle.change(before, after, weight.tolist()) <= 1 + 1e-9


@settings(deadline=None, max_examples=22)
@given(graphs(min_nodes=2, max_nodes=7), st.integers(1, 7))
def test_no_edge_changes_the_table_of_all_degrees_by_more_than_four_times_the_largest(
    graph: Graph, largest: int
) -> None:
    grid = list(range(1, largest + 1))
    before = oracle.split_table(edges_of(graph), graph.nodes, grid)
    for edges in oracle.neighbours(edges_of(graph), graph.nodes):
        assert oracle.change(before, oracle.split_table(edges, graph.nodes, grid)) <= 4 * largest - 3


@pytest.mark.unwatched
@pytest.mark.parametrize("spacing", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("largest", [9, 25, 40])
def test_nor_does_any_in_a_graph_with_hubs(largest: int, spacing: float) -> None:
    graph = heavy_tail(40, 3, 1)
    grid = degree_grid(largest, spacing)
    weight = cell_weights(grid)[places_of_cells(grid.size)[1]]
    before, changes = table_of(graph, grid), []
    for one, other in itertools.combinations(range(graph.nodes), 2):
        keys = np.setxor1d(graph.keys, [one * graph.nodes + other])
        after = table_of(Graph.from_keys(keys, graph.nodes), grid)
        changes.append((np.abs(after - before) / weight).sum())
    assert 0.3 < max(changes) <= 1 + 1e-9


def two_stars(leaves: int) -> list[oracle.Edge]:
    return [(centre, 2 + centre * leaves + leaf) for centre in (0, 1) for leaf in range(leaves)]


@pytest.mark.parametrize("largest", [1, 2, 3, 6, 20])
def test_joining_two_stars_changes_the_table_as_much_as_any_edge_can(largest: int) -> None:
    leaves = largest - 1
    before, after = two_stars(leaves), [(0, 1), *two_stars(leaves)]
    grid = np.arange(1, largest + 1)
    weight = cell_weights(grid)
    first, second = (oracle.split_table(edges, 2 + 2 * leaves, grid.tolist()) for edges in (before, after))
    assert oracle.change(first, second) == 4 * largest - 3
    assert oracle.change(first, second, weight.tolist()) == pytest.approx(1)
    assert weight[-1] == pytest.approx(4 * largest - 3)
    # The edges leave one cluster of cells and enter the next: clusters are no disjoint parts of the edges.
    assert len({cell[1] for cell in {*first, *second}}) == min(largest, 2)


@pytest.mark.unwatched
@pytest.mark.parametrize("spacing", [0.1, 0.3, 0.7, 1.0])
def test_joining_two_stars_nearly_reaches_the_bound_of_wide_grids(spacing: float) -> None:
    grid = degree_grid(60, spacing)
    weight = cell_weights(grid)
    changes = []
    for leaves in range(60):
        edges = two_stars(leaves)
        first, second = (oracle.split_table(each, 2 + 2 * leaves, grid.tolist()) for each in (edges, [(0, 1), *edges]))
        changes.append(oracle.change(first, second, weight.tolist()))
    assert 0.95 < max(changes) <= 1 + 1e-9
    assert weight.max() < 4 * 60 - 3


def test_degrees_above_the_bound_do_not_move() -> None:
    grid = np.arange(1, 4)
    edges = two_stars(5)
    before, after = (oracle.split_table(each, 12, grid.tolist()) for each in (edges, [(0, 1), *edges]))
    assert oracle.change(before, after) == 1


@pytest.mark.parametrize("largest", [1, 2, 3, 10, 137, 2000])
@pytest.mark.parametrize("spacing", [0, 0.01, 0.3, 1, 2.5])
def test_a_grid_goes_from_one_to_the_largest_degree(largest: int, spacing: float) -> None:
    grid = degree_grid(largest, spacing)
    assert (grid[0], grid[-1]) == (1, largest)
    gaps = np.diff(grid)
    assert (gaps >= 1).all()
    if spacing == 0:
        assert (gaps == 1).all()
    assert (gaps[:-1] <= np.maximum(1, spacing * grid[:-2])).all()


def test_more_budget_gives_a_finer_grid_until_each_degree_has_its_place() -> None:
    sizes = [finest_grid(300, noise, most_places=1000)[0].size for noise in 10.0 ** np.arange(0, 10)]
    assert sizes == sorted(sizes)
    assert sizes[0] < 12
    assert sizes[-1] == 300
    grid, weight = finest_grid(300, 1e4, most_places=1000)
    assert weight @ np.arange(1, grid.size + 1) <= 1e4
    assert (weight == cell_weights(grid)).all()


def test_a_grid_has_no_more_places_than_allowed() -> None:
    assert 30 < finest_grid(5000, 1e30, most_places=60)[0].size <= 60
    assert finest_grid(5000, 1e30, most_places=5)[0].size == degree_grid(5000, 1).size
