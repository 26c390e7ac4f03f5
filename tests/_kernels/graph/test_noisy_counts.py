"""Noisy counts made possible: the nearest ones, rounded without bias, and ends put together into nodes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unveil._kernels.graph.joint_degrees import cells_of, degree_grid
from unveil._kernels.graph.joint_ends import degrees_around, drawn_edges, nodes_of_ends
from unveil._kernels.graph.noisy_counts import nearest_counts, whole_counts

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
