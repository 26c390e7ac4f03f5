"""Cells of edges or triangles by classes of degrees, wide enough that a noisy weight of each still says something."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.graph.rows import row_numbers
from unveil._kernels.graph.wpinq_queries import pair_cells, pair_weights, triple_cells, triple_weights
from unveil._kernels.types import FloatArray, Int32Array, IntArray

#: Cells are kept in one array of 8 bytes each.
MOST_CELLS = 2**24


@dataclass(frozen=True)
class DegreeCells:
    """What is asked of a graph: the weight of its edges, or of its triangles, by classes of the degrees of their nodes.

    Attributes
    ----------
    triangles
        Whether triangles are asked for, or else edges.
    bounds
        The bounds between one class of degrees and the next; no bounds make one class.
    loops
        Whether a triangle's weight has d (d + 1) for each degree d in place of its square, as the public code of wPINQ
        has it, which counts ways from a node to a neighbour and back.

    Examples
    --------
    >>> path = np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32)
    >>> DegreeCells(triangles=False, bounds=np.array([1.5])).answer(*path)
    array([0. , 0.5, 0. ])
    """

    triangles: bool
    bounds: FloatArray
    loops: bool = False

    @property
    def count(self) -> int:
        """The number of cells."""
        return cells_of(self.bounds.size + 1, triangles=self.triangles)

    def levels(self, degrees: IntArray) -> IntArray:
        """Return the class of each degree, from 0."""
        return np.searchsorted(self.bounds, degrees, side="right").astype(np.int64)

    def sizes(self, degrees: IntArray) -> FloatArray:
        """Return what a node of each degree adds to the divisor of a weight."""
        degree = degrees.astype(np.float64)
        if not self.triangles:
            return degree + 0.5
        return degree * (degree + self.loops)

    def answer(self, start: IntArray, neighbour: Int32Array) -> FloatArray:
        """Return the weight in each cell of a graph."""
        degrees = np.diff(start)
        weights = triple_weights if self.triangles else pair_weights
        return weights(start, neighbour, self.levels(degrees), self.sizes(degrees), self.count)


def cells_of(classes: int, *, triangles: bool) -> int:
    """Return how many cells so many classes make.

    >>> cells_of(3, triangles=False), cells_of(3, triangles=True)
    (6, 10)
    """
    return triple_cells(classes) if triangles else pair_cells(classes)


def classes_for(most_cells: float, *, triangles: bool) -> int:
    """Return how many classes make at most so many cells; at least one.

    >>> classes_for(20, triangles=False), classes_for(20, triangles=True)
    (5, 4)
    """
    classes = 1
    while cells_of(classes + 1, triangles=triangles) <= min(most_cells, MOST_CELLS):
        classes += 1
    return classes


def cells_for(
    start: IntArray, neighbour: Int32Array, classes: int, *, triangles: bool, loops: bool = False
) -> DegreeCells:
    """Return cells whose classes of degrees weigh about the same in a graph.

    Parameters
    ----------
    start, neighbour
        The neighbours of each node; the joint degrees decide how much each degree weighs.
    classes
        How many classes there should be. With one or more for every degree that occurs, each degree is a class; there
        are fewer where one degree weighs more than a class should.
    triangles, loops
        As in the class.

    Examples
    --------
    >>> path = np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32)
    >>> cells_for(*path, 2, triangles=False).bounds
    array([1.5])
    """
    degrees = np.diff(start)
    distinct = np.unique(degrees[degrees > 0])
    place = np.searchsorted(distinct, degrees[row_numbers(start)])
    weight = np.bincount(place, _half_weights(start, neighbour)).astype(np.float64)
    return DegreeCells(triangles, class_bounds(distinct, weight, classes), loops)


def class_bounds(distinct: IntArray, weight: FloatArray, classes: int) -> FloatArray:
    """Return the bounds between classes of these ascending degrees that weigh about the same.

    >>> class_bounds(np.array([1, 2, 5]), np.array([1.0, 1.0, 2.0]), 2)
    array([3.5])
    """
    number: NDArray[np.generic] = np.arange(distinct.size)
    if classes < distinct.size:
        until = np.cumsum(weight)
        number = np.floor(classes * (until - weight / 2) / until[-1])
    last = np.flatnonzero(np.diff(number))
    # A degree that does not occur belongs to the class whose nearest degree is nearer.
    bounds: FloatArray = (distinct[last] + distinct[last + 1]) / 2
    return bounds


def _half_weights(start: IntArray, neighbour: Int32Array) -> FloatArray:
    """Return the weight of the edge of each entry in the joint degrees; an edge has two entries."""
    degrees = np.diff(start)
    weights: FloatArray = 1.0 / (1 + degrees[row_numbers(start)] + degrees[neighbour])
    return weights
