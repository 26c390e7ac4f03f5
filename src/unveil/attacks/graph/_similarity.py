"""Features of node similarity between a released and an auxiliary graph.

All vectors hold whole numbers, so that their products are exact in floating point, whatever the order in which they are
added: nodes with the same vectors get the same score to the last bit, and ties are ties.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.graph.paths import UNREACHABLE, distances
from unveil._kernels.graph.rows import row_numbers
from unveil._kernels.types import FloatArray, IntArray
from unveil.attacks.graph._centralities import Side, betweenness_of, closeness_of
from unveil.attacks.graph._chunks import Score, Twins
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphKnowledge

Numbers = NDArray[Any]

# Sums of three squares of whole numbers up to this one are exact.
_FINE = 2**25


def cosines(one: Numbers, other: Numbers) -> FloatArray:
    """Return cosines between the rows of two nonnegative integer matrices.

    From 0, at right angles, to 1, the same direction. Two rows of nothing but zeros are alike, 1; one such row is like
    no other, 0.

    >>> cosines(np.array([[1, 2], [0, 0]]), np.array([[2, 4], [2, 0], [0, 0]])).round(4)
    array([[1.    , 0.4472, 0.    ],
           [0.    , 0.    , 1.    ]])
    """
    one, other = one.astype(np.float64), other.astype(np.float64)
    squares, other_squares = (one * one).sum(axis=1), (other * other).sum(axis=1)
    lengths: FloatArray = np.sqrt(np.outer(squares, other_squares))
    found: FloatArray = one @ other.T
    empty, other_empty = np.flatnonzero(squares == 0), np.flatnonzero(other_squares == 0)
    lengths[empty], lengths[:, other_empty] = 1.0, 1.0
    found[np.ix_(empty, other_empty)] = 1.0
    np.divide(found, lengths, out=found)
    return np.minimum(found, 1.0, out=found)


def of_vectors(released: Numbers, auxiliary: Numbers) -> Score:
    """Return the cosine of two nodes' vectors; one row per node."""
    return lambda rows, columns: cosines(released[rows], auxiliary[columns])


def steps_to(released: Graph, auxiliary: Graph, references: IntArray) -> tuple[Numbers, Numbers]:
    """Return the distances to reference nodes, one row per node.

    ``references`` has a row per pair: a released node, and the auxiliary node that corresponds to it. What cannot be
    reached is one step farther than the farthest that can be, in either graph.

    >>> path = Graph.from_edges([0, 1], [1, 2], nodes=4)
    >>> steps_to(path, path, np.array([[0, 2], [1, 3]]))[0]
    array([[0, 1],
           [1, 0],
           [2, 1],
           [3, 3]], dtype=int32)
    """
    found = [
        distances(graph.start, graph.neighbour, nodes).T
        for graph, nodes in ((released, references[:, 0]), (auxiliary, references[:, 1]))
    ]
    beyond = np.int32(max(each.max() for each in found) + 1)
    one, other = (np.ascontiguousarray(np.where(each == UNREACHABLE, beyond, each)) for each in found)
    return one, other


def of_seed_distances(released: Graph, knowledge: GraphKnowledge) -> Score:
    """Return the cosine of two nodes' distances to the seeds."""
    return of_vectors(*steps_to(released, knowledge.auxiliary, knowledge.seeds))


def twins_of(released: Numbers, auxiliary: Numbers) -> Twins:
    """Return which nodes of each graph have the same vector."""
    one, other = (np.unique(vectors, axis=0, return_inverse=True)[1].ravel() for vectors in (released, auxiliary))
    return Twins(one, other)


def of_degrees(released: Graph, auxiliary: Graph) -> Score:
    """Return the feature ``sqrt(1 / (1 + difference of degrees))``, 0 to 1."""

    def score(rows: IntArray, columns: IntArray) -> FloatArray:
        apart = np.abs(released.degrees[rows, None] - auxiliary.degrees[columns])
        alike: FloatArray = np.sqrt(1.0 / (1.0 + apart))
        return alike

    return score


def largest_neighbour_degrees(graph: Graph, at_most: int) -> IntArray:
    """Return the largest neighbor degrees per node, falling, 0-padded to ``at_most``.

    >>> largest_neighbour_degrees(Graph.from_edges([0, 0, 0, 1], [1, 2, 3, 2]), 2)
    array([[2, 2],
           [3, 2],
           [3, 2],
           [3, 0]])
    """
    row = row_numbers(graph.start).astype(np.int64)
    # One number per neighbor whose order is that of the rows, and within a row that of falling degrees.
    scale = graph.nodes
    key = np.sort((row + 1) * scale - graph.degrees[graph.neighbour])
    place = np.arange(key.size) - graph.start[row]
    kept = place < at_most
    found = np.zeros((graph.nodes, at_most), np.int64)
    found[row[kept], place[kept]] = ((row + 1) * scale - key)[kept]
    return found


def of_closeness(released: Graph, auxiliary: Graph, *, exact_up_to: int, pivots: int) -> Score:
    """Return the ratio of closeness values, 0 to 1; 1 if both are 0."""
    one = closeness_of(released, exact_up_to=exact_up_to, pivots=pivots, side="released").values
    other = closeness_of(auxiliary, exact_up_to=exact_up_to, pivots=pivots, side="auxiliary").values

    def score(rows: IntArray, columns: IntArray) -> FloatArray:
        smaller = np.minimum(one[rows, None], other[columns])
        larger = np.maximum(one[rows, None], other[columns])
        alike: FloatArray = np.divide(smaller, larger, out=np.ones(larger.shape), where=larger > 0)
        return alike

    return score


def structure_vectors(graph: Graph, *, exact_up_to: int, pivots: int, side: Side) -> IntArray:
    """Return scaled closeness, betweenness, and degree as integers."""
    values = (
        closeness_of(graph, exact_up_to=exact_up_to, pivots=pivots, side=side).values,
        betweenness_of(graph, exact_up_to=exact_up_to, pivots=pivots, side=side).values,
        graph.degrees,
    )
    return np.column_stack([np.rint(each / (each.max(initial=0) or 1) * _FINE).astype(np.int64) for each in values])


def blended(features: Sequence[tuple[float, Score]]) -> Score:
    """Return the sum of features times their weights."""

    def score(rows: IntArray, columns: IntArray) -> FloatArray:
        total = np.zeros((rows.size, columns.size))
        for weight, feature in features:
            total += weight * feature(rows, columns)
        return total

    return score
