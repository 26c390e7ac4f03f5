"""Square matrix as its positive elements: rows are items, columns pseudonyms."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.types import FloatArray, Int32Array, IntArray


class TooLargeError(ValueError):
    """No method can solve a matrix of this size in reasonable time."""


class Edges(NamedTuple):
    """Positive elements by row; row i has ``start[i]`` to ``start[i + 1]``."""

    start: IntArray
    column: Int32Array
    weight: FloatArray

    @property
    def n(self) -> int:
        """Return the number of rows, which is the number of columns."""
        return int(self.start.size) - 1

    @property
    def row(self) -> Int32Array:
        """Return the row of each edge."""
        return np.repeat(np.arange(self.n, dtype=np.int32), np.diff(self.start))

    def with_weight(self, weight: FloatArray) -> "Edges":
        """Return the same places with other weights."""
        return Edges(self.start, self.column, weight)

    def dense(self) -> FloatArray:
        """Return the whole matrix."""
        full = np.zeros((self.n, self.n))
        full[self.row, self.column] = self.weight
        return full


def as_edges(matrix: Any) -> Edges:
    """Return the edges of a dense or sparse nonnegative matrix.

    >>> as_edges(np.array([[0.5, 0.0], [2.0, 1.0]]))
    Edges(start=array([0, 1, 3]), column=array([0, 0, 1], dtype=int32), weight=array([0.5, 2. , 1. ]))
    """
    if isinstance(matrix, Edges):
        return matrix
    sparse = hasattr(matrix, "tocsr")
    shape = matrix.shape if sparse else np.shape(matrix)
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
        raise ValueError(f"the matrix must be square with at least one row; this one has the shape {tuple(shape)}")
    if sparse:
        compressed = matrix.tocsr().astype(np.float64)
        if compressed is matrix:
            compressed = matrix.copy()
        compressed.sum_duplicates()
        compressed.eliminate_zeros()
        edges = Edges(
            compressed.indptr.astype(np.int64), compressed.indices.astype(np.int32), np.asarray(compressed.data)
        )
    else:
        full = np.asarray(matrix, dtype=np.float64)
        row, column = np.nonzero(full)
        edges = edges_of(row, column, full[row, column], shape[0])
    if not (np.isfinite(edges.weight).all() and (edges.weight > 0).all()):
        raise ValueError("the matrix must hold finite numbers of at least 0; correct the rest first")
    return edges


def edges_of(row: NDArray[Any], column: NDArray[Any], weight: FloatArray, n: int) -> Edges:
    """Return edges given in any order, each place once."""
    order = np.lexsort((column, row))
    start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=n))]).astype(np.int64)
    return Edges(start, np.asarray(column[order], np.int32), np.asarray(weight[order], np.float64))


def transposed(edges: Edges) -> Edges:
    """Return the edges with rows and columns exchanged."""
    return edges_of(edges.column, edges.row, edges.weight, edges.n)


def edge_at(edges: Edges, column: NDArray[np.integer]) -> IntArray:
    """Return the position of each row's edge to a column, or -1.

    >>> edge_at(as_edges(np.array([[0.5, 0.0], [2.0, 1.0]])), np.array([1, 0])).tolist()
    [-1, 1]
    """
    wanted = np.arange(edges.n) * edges.n + column
    have = edges.row.astype(np.int64) * edges.n + edges.column
    place = np.minimum(np.searchsorted(have, wanted), have.size - 1)
    return np.where((have[place] == wanted) & (np.asarray(column) >= 0), place, -1)
