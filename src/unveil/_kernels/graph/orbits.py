"""The orbits of a graph: nodes that are alike in every way, because an automorphism maps one on the other."""

import numpy as np

from unveil._kernels.graph.refinement import equitable_cells, numbered_by_first
from unveil._kernels.graph.rows import row_numbers
from unveil._kernels.types import BoolArray, Int32Array, IntArray
from unveil._optional import need


def orbits(start: IntArray, neighbour: Int32Array) -> IntArray:
    """Return the orbit of each node, numbered as orbits first appear; needs the extra ``orbits``.

    Only the edges that ``undecided_edges`` leaves are searched for automorphisms. In real graphs these are few or none,
    where a search of all would answer with a permutation of all nodes for nearly every pair of leaves.

    Raises
    ------
    MissingExtraError
        If igraph, which knows how to search for automorphisms, is not installed.
    """
    igraph = need("igraph", extra="orbits")
    cell = equitable_cells(start, neighbour)
    one, other = undecided_edges(start, neighbour, cell)
    if one.size == 0:
        return cell
    left = np.union1d(one, other)
    edges = np.column_stack([np.searchsorted(left, one), np.searchsorted(left, other)])
    graph = igraph.Graph(n=left.size, edges=edges.tolist())
    generators = graph.automorphism_group(color=numbered_by_first(cell[left]).tolist())
    orbit = cell.copy()
    orbit[left] = start.size + _moved_together(left.size, generators)
    return numbered_by_first(orbit)


def undecided_edges(start: IntArray, neighbour: Int32Array, cell: IntArray) -> tuple[IntArray, IntArray]:
    """Return both ends of the edges on which it depends whether the cells of colour refinement are orbits.

    Whatever permutes nodes within cells keeps the edges between two cells that are joined completely: these decide
    nothing. Of the others, a tree decides nothing either: refinement tells all but the alike in a tree apart. So every
    cell without one of the edges returned is an orbit.

    >>> from unveil._kernels.graph.rows import rows_of
    >>> six = rows_of(np.array([1, 2, 8, 22, 23, 29]), 6)  # two triangles
    >>> undecided_edges(*six, equitable_cells(*six))
    (array([0, 0, 1, 3, 3, 4]), array([1, 2, 2, 4, 5, 5]))
    """
    row = row_numbers(start)
    once = row < neighbour
    one, other = row[once].astype(np.int64), neighbour[once].astype(np.int64)
    size = np.bincount(cell)
    low, high = np.minimum(cell[one], cell[other]), np.maximum(cell[one], cell[other])
    _, code, edges = np.unique(low * size.size + high, return_inverse=True, return_counts=True)
    full = np.where(low == high, size[low] * (size[low] - 1) // 2, size[low] * size[high])
    open_ = edges[code] < full
    one, other = one[open_], other[open_]
    kept = _in_circles(one, other, cell.size)
    return one[kept], other[kept]


def _in_circles(one: IntArray, other: IntArray, nodes: int) -> BoolArray:
    """Return whether the part of the graph that each edge is in has a circle, so that it is no tree."""
    if one.size == 0:
        return np.zeros(0, np.bool_)
    part = _connected(one, other, nodes)
    more: BoolArray = np.bincount(part[one], minlength=nodes) >= np.bincount(part, minlength=nodes)
    return more[part[one]]


def _connected(one: IntArray, other: IntArray, nodes: int) -> IntArray:
    """Return a number for each node, equal where edges connect them."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ones = np.ones(one.size, np.int8)
    _, part = connected_components(coo_array((ones, (one, other)), shape=(nodes, nodes)), directed=False)
    return np.asarray(part, np.int64)


def _moved_together(nodes: int, generators: list[list[int]]) -> IntArray:
    """Return a number for each node, equal where generators, one after the other, can take one to the other.

    >>> _moved_together(4, [[2, 1, 0, 3]])
    array([0, 1, 0, 2])
    """
    moves = [np.array(each, np.int64) for each in generators]
    moved = [np.flatnonzero(each != np.arange(nodes)) for each in moves]
    one = np.concatenate([*moved, np.zeros(0, np.int64)])
    other = np.concatenate([*(each[at] for each, at in zip(moves, moved, strict=True)), np.zeros(0, np.int64)])
    return numbered_by_first(_connected(one, other, nodes))
