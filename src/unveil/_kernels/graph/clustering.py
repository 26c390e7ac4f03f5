"""Triangles, wedges, and degree correlations of an undirected graph."""

from math import nan

import numpy as np

from unveil._kernels._compile import compiled, loop
from unveil._kernels.graph.paths import PLAIN_STEPS
from unveil._kernels.graph.rows import row_numbers
from unveil._kernels.types import Int32Array, IntArray


def triangles(start: IntArray, neighbour: Int32Array) -> IntArray:
    """Return the number of triangles at each node.

    >>> triangles(np.array([0, 2, 4, 7, 8]), np.array([1, 2, 0, 2, 0, 1, 3, 2], np.int32))
    array([1, 1, 1, 0])
    """
    degree = np.diff(start)
    # Every edge points to the end of higher degree: no node then has more than sqrt(2 m) edges that leave it.
    row, other = row_numbers(start), neighbour
    up = (degree[row] < degree[other]) | ((degree[row] == degree[other]) & (row < other))
    begin = np.zeros(start.size, np.int64)
    np.cumsum(np.bincount(row[up], minlength=degree.size), out=begin[1:])
    inside = np.zeros(degree.size, np.int64)
    above = np.diff(begin)
    steps = int(above[other[up]].sum()) + start.size
    run = _mark_and_count if steps <= PLAIN_STEPS else compiled(_mark_and_count)
    run(begin, other[up], inside)
    return inside


def wedges(degree: IntArray) -> int:
    """Return the number of wedges, pairs of neighbors of a node.

    >>> wedges(np.array([2, 2, 3, 1]))
    5
    """
    wide = degree.astype(np.int64)
    return int((wide * (wide - 1) // 2).sum())


def clustering_coefficient(start: IntArray, neighbour: Int32Array) -> float:
    """Return the clustering coefficient, ``3 * triangles / wedges``; NaN without wedges.

    >>> clustering_coefficient(np.array([0, 2, 4, 7, 8]), np.array([1, 2, 0, 2, 0, 1, 3, 2], np.int32))
    0.6
    """
    all_wedges = wedges(np.diff(start))
    return int(triangles(start, neighbour).sum()) / all_wedges if all_wedges else nan


def joint_degrees(start: IntArray, neighbour: Int32Array) -> tuple[IntArray, IntArray]:
    """Return the joint degrees of edges, and their numbers.

    >>> joint_degrees(np.array([0, 2, 4, 7, 8]), np.array([1, 2, 0, 2, 0, 1, 3, 2], np.int32))
    (array([[1, 3],
           [2, 2],
           [2, 3]]), array([1, 1, 2]))
    """
    degree = np.diff(start)
    row = row_numbers(start)
    once = row < neighbour
    one, other = degree[row[once]], degree[neighbour[once]]
    base = int(degree.max(initial=0)) + 1
    keys, count = np.unique(np.minimum(one, other) * base + np.maximum(one, other), return_counts=True)
    return np.column_stack(np.divmod(keys, base)), count.astype(np.int64)


def assortativity(start: IntArray, neighbour: Int32Array) -> float:
    """Return the degree assortativity, -1 to 1; NaN for equal degrees.

    >>> round(assortativity(np.array([0, 2, 4, 7, 8]), np.array([1, 2, 0, 2, 0, 1, 3, 2], np.int32)), 4)
    -0.7143
    """
    pairs, count = joint_degrees(start, neighbour)
    if len(pairs) == 0 or pairs.min() == pairs.max():
        return nan
    # Whole numbers of any size: sums of squares of hubs leave 64 bits, and rounding would blur what is nearly regular.
    low, high, edges = (numbers.astype(object) for numbers in (pairs[:, 0], pairs[:, 1], count))
    ends = 2 * edges.sum()
    mean = (edges * (low + high)).sum()
    product = 2 * (edges * low * high).sum()
    squares = (edges * (low * low + high * high)).sum()
    return float((ends * product - mean * mean) / (ends * squares - mean * mean))


@loop("i8[], i4[], i8[]")
def _mark_and_count(begin: IntArray, above: Int32Array, inside: IntArray) -> None:
    """Count every triangle at its lowest node."""
    mark = np.full(begin.size, -1, np.int64)
    for node in range(begin.size - 1):
        for place in range(begin[node], begin[node + 1]):
            mark[above[place]] = node
        for place in range(begin[node], begin[node + 1]):
            middle = above[place]
            for entry in range(begin[middle], begin[middle + 1]):
                if mark[above[entry]] == node:
                    inside[node] += 1
                    inside[middle] += 1
                    inside[above[entry]] += 1
