"""Edges from counts of joint degrees: every end gets a degree, and ends of like degree are put together into nodes."""

import numpy as np

from unveil._kernels.graph.joint_degrees import places, places_of_cells
from unveil._kernels.graph.noisy_counts import whole_counts
from unveil._kernels.types import FloatArray, IntArray

# Of the number of nodes: far above rounding errors of sums, far below the 1 / degree that one end counts for.
_ROUNDING = 1e-9


def degrees_around(grid: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Return how to spread the ends of each place over the degrees around it: place, degree and share, by place.

    The shares fall towards the neighbouring places and keep the mean of ``1 / degree``, hence the number of nodes. The
    first and last place, and those next to another on one side at least, keep their ends.

    >>> place, degree, share = degrees_around(np.array([1, 3, 6, 10]))
    >>> degree[place == 1], share[place == 1].round(3)
    (array([2, 3, 4, 5]), array([0.219, 0.408, 0.267, 0.107]))
    """
    degree = np.arange(1, grid[-1] + 1)
    below, share = places(grid, degree)
    between = share > 0
    # Each degree between two places belongs to the upper one's left side and to the lower one's right side.
    left = below[between] + 1, degree[between], share[between]
    right = below[between], degree[between], 1 - share[between]
    mass, inverse = np.ones((2, grid.size)), np.zeros((2, grid.size))
    for side, (place, number, part) in enumerate((left, right)):
        mass[side] = np.bincount(place, part, grid.size)
        inverse[side] = np.bincount(place, part / number, grid.size)
    spread = (mass[0] > 0) & (mass[1] > 0)
    away = np.abs(np.divide(inverse, mass, out=np.zeros(mass.shape), where=mass > 0) - 1 / grid)
    kept = np.where(spread, 1 / (1 + mass.sum(axis=0)), 1.0)
    # Both sides pull the mean of 1 / degree away from the middle, so the one that pulls harder gets less.
    factor = np.divide((1 - kept) * away[::-1], away.sum(axis=0) * mass, out=np.zeros(mass.shape), where=mass > 0)
    parts = [(place, number, part * factor[side][place]) for side, (place, number, part) in enumerate((left, right))]
    parts.append((np.arange(grid.size), grid, kept))
    place, number, part = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((number, place))
    order = order[part[order] > 0]
    return place[order], number[order], part[order]


def nodes_of_ends(degree: IntArray, nodes: int) -> IntArray:
    """Return the node of each end, given the degree that each should have, in falling order: 1 / degree is its part.

    A node gets ends until their parts add up to one. If that makes too many nodes, each gets more ends.

    >>> nodes_of_ends(np.array([3, 3, 3, 2, 1, 1]), 9)
    array([0, 0, 0, 1, 1, 2])
    >>> nodes_of_ends(np.array([1, 1, 1, 1]), 2)
    array([0, 0, 1, 1])
    """
    if degree.size == 0:
        return degree
    first = np.flatnonzero(np.diff(degree, prepend=-1))
    count = np.diff(first, append=degree.size)
    # Summed by degree and not by end, so that rounding errors stay far below a part.
    before = np.cumsum(count / degree[first]) - count / degree[first]
    run = np.repeat(np.arange(first.size), count)
    part = before[run] + (np.arange(degree.size) - first[run]) / degree
    needed = before[-1] + count[-1] / degree[-1]
    fit = min(1.0, nodes / needed)
    node: IntArray = np.minimum((part * fit + _ROUNDING).astype(np.int64), nodes - 1)
    return node


def drawn_edges(
    grid: IntArray, counts: IntArray, nodes: int, lots: FloatArray, offset: float
) -> tuple[IntArray, IntArray]:
    """Return both ends of edges whose joint degrees have these counts by cell; loops and repeats may be among them.

    Nodes are numbered from 0 by falling degree. ``lots`` are two rows of random numbers, one per end of an edge each,
    and ``offset`` is one more.

    >>> lots = np.random.default_rng(1).random((2, 4))
    >>> drawn_edges(np.array([1, 2]), np.array([0, 2, 0]), 3, lots, 0.5)  # a path
    (array([1, 2]), array([0, 0]))
    """
    smaller, larger = places_of_cells(grid.size)
    place = np.concatenate([np.repeat(smaller, counts), np.repeat(larger, counts)])
    if place.size == 0:
        return place, place
    around, degree, share = degrees_around(grid)
    ends = np.bincount(place, minlength=grid.size)
    last = np.append(np.flatnonzero(np.diff(around)), around.size - 1) + 1
    each = whole_counts(ends[around] * share, last, offset)
    by_place = np.lexsort((lots[0], place))
    wanted = np.empty(place.size, np.int64)
    wanted[by_place] = np.repeat(degree, each)
    by_degree = np.lexsort((lots[1], -wanted))
    node = np.empty(place.size, np.int64)
    node[by_degree] = nodes_of_ends(wanted[by_degree], nodes)
    half = place.size // 2
    return node[:half], node[half:]
