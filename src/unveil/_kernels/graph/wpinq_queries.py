"""Weighted questions about a graph (wPINQ), and by how much one edge more or less can change each answer.

Every record carries a weight, made so small where a record depends on much that one edge never changes the sum of all
weights by more than a constant. The constants below are per undirected edge. The rules of wPINQ would count how often
a question uses the edges (joint degrees 4 times, triangles 9 times) and would count an edge twice, as two directed
records: 8 and 18. What the answers really change by is less, and is proved here; tests add and take edges to see it.

Let an edge join u and v, which had p and q neighbours before. No other node changes its degree.

* Degrees. How many nodes have more than i neighbours changes by 1 at i = p and at i = q: 2 together. Sorted degrees
  change by 2 together, because degrees do, and sorting two lists never moves them further apart.
* Joint degrees: an edge between degrees x and y weighs 1 / (1 + x + y). The p edges at u leave a cell and enter
  another: each changes at most 1 / (1 + p + 1) + 1 / (1 + p + 1 + 1), as the other end has at least one neighbour.
  Together that is p / (p + 2) + p / (p + 3) = 2 - 2 / (p + 2) - 3 / (p + 3), and the same for v. The new edge weighs
  1 / (3 + p + q), which is less than what u lacks to 2. So the change stays below 4, and comes near it for large p, q.
* Triangles: one with degrees x, y and z weighs 3 / (x² + y² + z²). Those at u are the edges among its p neighbours.
  As 1 / (s + t) is at most (1 / s + 1 / t) / 4, and with k the number of such edges at a neighbour w, whose degree is
  at least k + 1, w's part is at most 3/4 k / (p² / 2 + (k + 1)²), which is at most 3/8 / (p / √2 + 1). All p
  neighbours together: at most 3/8 √2 p / (p + √2), and after the edge is there 3/8 √2 p / (p + 1 + √2). So u's
  triangles change by less than 3/4 √2, and at least 3/8 √2 (1 + 2 √2) / (p + 1 + √2) less. The same holds for v, and
  no triangle has both before. The new ones, at most min(p, q) =: p of them, weigh at most
  3 p / (2 (p + 1)² + 4) together, which is less than that for every p. So the change stays below 3 / √2.
"""

import numpy as np

from unveil._kernels._compile import PLAIN_UP_TO, compiled, loop
from unveil._kernels.graph.rows import row_numbers
from unveil._kernels.types import FloatArray, Int32Array, IntArray

DEGREE_DISTRIBUTION_CHANGES = 2.0
DEGREE_SEQUENCE_CHANGES = 2.0
JOINT_DEGREES_CHANGE = 4.0
TRIANGLES_CHANGE = 3 / np.sqrt(2)


def degree_distribution(degrees: IntArray) -> FloatArray:
    """Return for each i from 0 to the number of nodes - 2 how many nodes have more than i neighbours.

    >>> degree_distribution(np.array([1, 2, 1]))
    array([3., 1.])
    """
    nodes = degrees.size
    return (nodes - np.cumsum(np.bincount(degrees, minlength=nodes))[: nodes - 1]).astype(np.float64)


def degree_sequence(degrees: IntArray) -> FloatArray:
    """Return all degrees, the largest first.

    >>> degree_sequence(np.array([1, 2, 1]))
    array([2., 1., 1.])
    """
    return np.sort(degrees)[::-1].astype(np.float64)


def pair_cell(one: int, other: int) -> int:
    """Return the number of the cell of two classes, in any order.

    >>> [pair_cell(*pair) for pair in ((0, 0), (1, 0), (0, 1), (1, 1), (0, 2))]
    [0, 1, 1, 2, 3]
    """
    high = max(one, other)
    return high * (high + 1) // 2 + min(one, other)


def triple_cell(one: int, other: int, third: int) -> int:
    """Return the number of the cell of three classes, in any order.

    >>> [triple_cell(*each) for each in ((0, 0, 0), (0, 1, 0), (1, 0, 1), (1, 1, 1), (2, 0, 0))]
    [0, 1, 2, 3, 4]
    """
    high = max(one, other, third)
    low = min(one, other, third)
    middle = one + other + third - high - low
    return high * (high + 1) * (high + 2) // 6 + middle * (middle + 1) // 2 + low


def pair_cells(classes: int) -> int:
    """Return how many cells of two classes there are."""
    return classes * (classes + 1) // 2


def triple_cells(classes: int) -> int:
    """Return how many cells of three classes there are."""
    return classes * (classes + 1) * (classes + 2) // 6


def pair_weights(start: IntArray, neighbour: Int32Array, level: IntArray, size: FloatArray, cells: int) -> FloatArray:
    """Return the sum of the weights of the edges in each cell of two classes.

    Parameters
    ----------
    start, neighbour
        The neighbours of each node.
    level
        The class of each node, from 0.
    size
        An edge weighs ``1 / (size of one end + size of the other)``; joint degrees have a size of degree + 1/2.
    cells
        How many cells there are.

    >>> pair_weights(np.array([0, 1, 2]), np.array([1, 0], np.int32), np.array([0, 1]), np.array([1.5, 1.5]), 3)
    array([0.        , 0.33333333, 0.        ])
    """
    row = row_numbers(start)
    once = row < neighbour
    one, other = row[once], neighbour[once]
    high = np.maximum(level[one], level[other])
    cell = high * (high + 1) // 2 + np.minimum(level[one], level[other])
    return np.bincount(cell, 1 / (size[one] + size[other]), minlength=cells).astype(np.float64)


@loop("i8[], i4[], i8[], f8[], f8[]")
def _add_triangles(
    start: IntArray, neighbour: Int32Array, level: IntArray, size: FloatArray, table: FloatArray
) -> None:
    """Add the weight of every triangle to its cell; rows hold only neighbours that come later in some order."""
    seen = np.full(start.size - 1, -1)
    for one in range(start.size - 1):
        for place in range(start[one], start[one + 1]):
            seen[neighbour[place]] = one
        for place in range(start[one], start[one + 1]):
            other = neighbour[place]
            for step in range(start[other], start[other + 1]):
                third = neighbour[step]
                if seen[third] == one:
                    cell = triple_cell(level[one], level[other], level[third])
                    table[cell] += 3.0 / (size[one] + size[other] + size[third])


def triple_weights(start: IntArray, neighbour: Int32Array, level: IntArray, size: FloatArray, cells: int) -> FloatArray:
    """Return the sum of the weights of the triangles in each cell of three classes.

    The settings are those of ``pair_weights``, but a triangle weighs 3 / (sum of the three sizes); triangles by degree
    have a size of degree squared.
    """
    # Looking from nodes with few neighbours to those with more, no row is longer than the square root of 2 m.
    degrees = np.diff(start)
    rank = np.empty(degrees.size, np.int64)
    rank[np.argsort(degrees, kind="stable")] = np.arange(degrees.size)
    row = row_numbers(start)
    later = rank[row] < rank[neighbour]
    ahead = np.zeros_like(start)
    np.cumsum(np.bincount(row[later], minlength=degrees.size), out=ahead[1:])
    table = np.zeros(cells)
    add = _add_triangles if neighbour.size <= PLAIN_UP_TO else compiled(_add_triangles)
    add(ahead, neighbour[later], level, size, table)
    return table
