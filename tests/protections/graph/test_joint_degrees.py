"""The table of joint degrees on a grid: what it keeps, and that one edge changes it by no more than noise covers."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graph_strategies import graphs, heavy_tail
from tests.oracles import joint_degrees as oracle
from unveil.data.graph import Graph
from unveil.protections.graph._joint_degrees import (
    cell_weights,
    cells_of,
    degree_grid,
    degrees_around,
    drawn_edges,
    finest_grid,
    joint_table,
    nearest_counts,
    nodes_of_ends,
    places_of_cells,
    whole_counts,
)

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


seeds = st.integers(0, 2**32 - 1)


@settings(deadline=None, max_examples=22)
@given(seeds, st.integers(1, 8), st.floats(0, 50), st.booleans())
def test_no_possible_counts_are_nearer(seed: int, size: int, total: float, tight: bool) -> None:
    rng = np.random.default_rng(seed)
    noisy, weight, each = rng.normal(0, 10, size), rng.uniform(0.5, 5, size), rng.uniform(0, 2, size)
    most = total * (each.min() + 0.3 * (each.max() - each.min()) if tight else 3) + 1e-6
    counts = nearest_counts(noisy, weight, total, each, most)
    assert (counts >= 0).all()
    assert counts.sum() == pytest.approx(total, abs=1e-6)
    assert counts @ each <= most + 1e-6
    others = rng.dirichlet(np.full(size, 0.5), 400) * total
    others = np.concatenate([others, counts + rng.uniform(0, 0.2, (400, 1)) * (others - counts)])
    others = others[others @ each <= most]
    distance = (((others - noisy) / weight) ** 2).sum(axis=1)
    assert (distance >= (((counts - noisy) / weight) ** 2).sum() - 1e-6 * (1 + distance)).all()


def test_counts_stay_if_they_are_possible() -> None:
    counts = np.array([3.0, 0.0, 5.0])
    assert nearest_counts(counts, np.array([1.0, 2, 3]), 8, np.ones(3), 100) == pytest.approx(counts)


@pytest.mark.parametrize("noise", [1e3, 1e9, 1e15])
def test_noise_of_any_size_is_borne(noise: float) -> None:
    noisy = np.random.default_rng(1).laplace(0, noise, 500)
    counts = nearest_counts(noisy, np.linspace(1, 40, 500), 100, np.linspace(2, 0.1, 500), 90)
    assert counts.sum() == pytest.approx(100)
    assert (counts >= 0).all()
    assert counts @ np.linspace(2, 0.1, 500) <= 90 * (1 + 1e-6)


def test_a_total_of_nothing_leaves_nothing() -> None:
    assert (nearest_counts(np.array([4.0, -2.0]), np.ones(2), 0, np.ones(2), 5) == 0).all()


def test_what_cannot_be_met_is_come_close_to() -> None:
    counts = nearest_counts(np.array([5.0, 5.0]), np.ones(2), 10, np.array([2.0, 1.0]), 3)
    assert counts == pytest.approx([0, 10], abs=1e-6)


def test_rounding_keeps_sums_of_parts_and_has_no_bias() -> None:
    counts = np.array([0.3, 1.7, 2.0, 0.5, 0.25, 0.25, 3.0])
    ends = np.array([2, 6, 7])
    rng = np.random.default_rng(2)
    many = np.array([whole_counts(counts, ends, rng.random()) for _ in range(4000)])
    assert (np.abs(many - counts) < 1).all()
    assert (many[:, :2].sum(axis=1) == 2).all()
    assert (many[:, 2:6].sum(axis=1) == 3).all()
    assert many.mean(axis=0) == pytest.approx(counts, abs=0.04)


@settings(deadline=None, max_examples=22)
@given(seeds, st.integers(1, 300))
def test_rounding_bears_rounding_errors(seed: int, size: int) -> None:
    rng = np.random.default_rng(seed)
    share = rng.dirichlet(np.ones(size))
    whole = whole_counts(np.concatenate([7 * share, 11 * share]), np.array([size, 2 * size]), rng.random())
    assert whole.min() >= 0
    assert (whole[:size].sum(), whole[size:].sum()) == (7, 11)


@pytest.mark.parametrize("largest", [1, 2, 5, 40, 500])
@pytest.mark.parametrize("spacing", [0, 0.2, 0.5, 1])
def test_spread_ends_keep_their_number_and_that_of_their_nodes(largest: int, spacing: float) -> None:
    grid = degree_grid(largest, spacing)
    place, degree, share = degrees_around(grid)
    assert (np.diff(place) >= 0).all()
    assert np.bincount(place, share) == pytest.approx(np.ones(grid.size))
    assert np.bincount(place, share / degree) == pytest.approx(1 / grid)
    if spacing == 0:
        assert (degree == grid).all()
    if spacing == 0.5 and largest == 500:
        assert np.unique(degree).size > 450


@settings(deadline=None, max_examples=22)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=12))
def test_whole_nodes_get_back_the_degrees_they_had(degrees: list[int]) -> None:
    ends = np.repeat(np.sort(degrees)[::-1], np.sort(degrees)[::-1])
    found = np.bincount(nodes_of_ends(ends, len(degrees) + 3))
    assert found.tolist() == sorted(degrees, reverse=True)


def test_a_node_between_two_degrees_of_the_grid_is_put_together_again() -> None:
    # A node of degree 6 counts for 4 and 12 in halves of its ends: three ends there and three here are one node again.
    assert nodes_of_ends(np.array([12, 12, 12, 4, 4, 4]), 5).tolist() == [0] * 6


@settings(deadline=None, max_examples=22)
@given(seeds, st.integers(1, 30), st.integers(1, 20))
def test_all_ends_find_a_node_however_few_there_are(seed: int, nodes: int, largest: int) -> None:
    rng = np.random.default_rng(seed)
    ends = np.sort(rng.integers(1, largest + 1, rng.integers(1, 200)))[::-1]
    found = nodes_of_ends(ends, nodes)
    assert (np.diff(found) >= 0).all()
    assert found.max() < nodes
    needed = (1 / ends).sum()
    if needed <= nodes:
        assert np.bincount(found).max() <= largest
        assert found.max() + 1 == pytest.approx(needed, abs=1)


def test_drawn_edges_have_the_counts_they_should_have() -> None:
    rng = np.random.default_rng(3)
    # By cell: 1-1, 1-2, 2-2, 1-3, 2-3 and 3-3; the ends of degree 1, 2 and 3 make 8, 5 and 4 nodes.
    grid, counts = np.array([1, 2, 3]), np.array([0, 4, 0, 4, 6, 1])
    one, other = drawn_edges(grid, counts, 30, rng.random((2, 30)), rng.random())
    degree = np.bincount(np.concatenate([one, other]), minlength=30)
    assert np.bincount(degree).tolist() == [13, 8, 5, 4]
    assert np.bincount(cells_of(degree[one] - 1, degree[other] - 1), minlength=6).tolist() == counts.tolist()
    empty = drawn_edges(grid, np.zeros(6, np.int64), 30, rng.random((2, 0)), 0.5)
    assert [ends.size for ends in empty] == [0, 0]
