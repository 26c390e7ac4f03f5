"""Fully indecomposable blocks of a matrix.

Given any perfect matching, an edge lies in some perfect matching exactly when it closes a cycle of new and matched
edges in turn, that is, when its two rows (its own and the one matched with its column) are strongly connected. So the
permanent is the product of the blocks' permanents, expected cracks add, and distributions of cracks convolve.
"""

from collections.abc import Iterable
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np

from unveil._kernels.matching.edges import Edges, edges_of
from unveil._kernels.matching.hall import perfect_matching
from unveil._kernels.types import FloatArray, Int32Array, IntArray


class MatchingBlock(NamedTuple):
    """Block: ascending rows and columns, and edges with global positions."""

    rows: IntArray
    columns: IntArray
    edges: Edges
    place: IntArray


def decompose(edges: Edges) -> list[MatchingBlock]:
    """Return the blocks by first row, or raise without perfect matching.

    >>> from unveil._kernels.matching.edges import as_edges
    >>> triangle = np.array([[1.0, 1.0, 1.0], [0.0, 1.0, 1.0], [0.0, 1.0, 1.0]])
    >>> [(block.rows.tolist(), block.columns.tolist()) for block in decompose(as_edges(triangle))]
    [([0], [0]), ([1, 2], [1, 2])]
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    n = edges.n
    if edges.weight.size == n * n:
        every = np.arange(n)
        return [MatchingBlock(every, every, edges, np.arange(n * n))]
    matched = perfect_matching(edges)
    owner = np.empty(n, np.int32)
    owner[matched] = np.arange(n, dtype=np.int32)
    ways = csr_array((np.ones(edges.column.size, np.int8), owner[edges.column], edges.start), shape=(n, n))
    count, label = connected_components(ways, directed=True, connection="strong")
    return _split(edges, label, label[owner], count)


def _split(edges: Edges, of_row: Int32Array, of_column: Int32Array, count: int) -> list[MatchingBlock]:
    """Return each label's rows, columns and edges."""
    row_of = edges.row
    inside = np.flatnonzero(of_row[row_of] == of_column[edges.column])
    parts = []
    for label in (of_row, of_column, of_row[row_of[inside]]):
        ends = np.cumsum(np.bincount(label, minlength=count))[:-1]
        parts.append(np.split(np.argsort(label, kind="stable"), ends))
    number = np.empty(edges.n, np.int64)
    blocks = []
    for rows, columns, some in zip(*parts, strict=True):
        place = inside[some]
        number[rows] = np.arange(rows.size)
        within_row = number[row_of[place]]
        number[columns] = np.arange(columns.size)
        within_column = number[edges.column[place]]
        blocks.append(
            MatchingBlock(rows, columns, edges_of(within_row, within_column, edges.weight[place], rows.size), place)
        )
    return sorted(blocks, key=lambda block: int(block.rows[0]))


def convolve(distributions: Iterable[FloatArray]) -> FloatArray:
    """Return the distribution of the sum of independent counts.

    >>> convolve([np.array([0.5, 0.5]), np.array([0.5, 0.5]), np.array([0.0, 1.0])])
    array([0.  , 0.25, 0.5 , 0.25])
    """
    heap = [(part.size, number, part) for number, part in enumerate(distributions)]
    heapify(heap)
    number = len(heap)
    while len(heap) > 1:
        first, second = heappop(heap)[2], heappop(heap)[2]
        heappush(heap, (first.size + second.size - 1, number, np.convolve(first, second)))
        number += 1
    return heap[0][2] if heap else np.ones(1)
