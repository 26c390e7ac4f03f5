"""Mutable graph: neighbor rows with spare room, unordered."""

import numpy as np

from unveil._kernels.graph.rows import row_numbers
from unveil._kernels.random import State, below
from unveil._kernels.types import Int32Array, IntArray

Node = int | np.integer


def with_room(start: IntArray, neighbour: Int32Array, at_most: IntArray) -> tuple[IntArray, IntArray, Int32Array]:
    """Return the graph with room for ``at_most`` neighbors per node.

    The neighbours of node ``i`` are ``neighbour[start[i]:start[i] + size[i]]``; those it had before come first.

    >>> with_room(np.array([0, 1, 2]), np.array([1, 0], np.int32), np.array([1, 2]))
    (array([0, 1, 3]), array([1, 1]), array([ 1,  0, -1], dtype=int32))
    """
    size = np.diff(start)
    roomy = np.concatenate([[0], np.cumsum(np.maximum(at_most, size))])
    wide = np.full(roomy[-1], -1, np.int32)
    wide[np.arange(neighbour.size) + (roomy - start)[row_numbers(start)]] = neighbour
    return roomy, size, wide


def keys_in(start: IntArray, size: IntArray, neighbour: Int32Array) -> IntArray:
    """Return the sorted keys of the edges, each once.

    >>> keys_in(np.array([0, 1, 3]), np.array([1, 1]), np.array([1, 0, -1], np.int32))
    array([1])
    """
    row = np.repeat(np.arange(size.size), size)
    before = np.cumsum(size) - size
    other = neighbour[np.arange(row.size) + (start[:-1] - before)[row]]
    once = row < other
    return np.sort(row[once] * size.size + other[once])


def has_edge(start: IntArray, size: IntArray, neighbour: Int32Array, one: Node, other: Node) -> bool:
    """Return whether two nodes are connected; looks through the shorter of their rows."""
    if size[other] < size[one]:
        one, other = other, one
    for place in range(start[one], start[one] + size[one]):  # noqa: SIM110 (a generator would not compile)
        if neighbour[place] == other:
            return True
    return False


def connect(start: IntArray, size: IntArray, neighbour: Int32Array, one: Node, other: Node) -> None:
    """Add an edge that is not there; both rows must have room."""
    neighbour[start[one] + size[one]] = other
    size[one] += 1
    neighbour[start[other] + size[other]] = one
    size[other] += 1


def _take_out(start: IntArray, size: IntArray, neighbour: Int32Array, one: Node, other: Node) -> None:
    last = start[one] + size[one] - 1
    for place in range(start[one], last + 1):
        if neighbour[place] == other:
            neighbour[place] = neighbour[last]
            neighbour[last] = -1
            size[one] -= 1
            return


def disconnect(start: IntArray, size: IntArray, neighbour: Int32Array, one: Node, other: Node) -> None:
    """Remove an existing edge, moving the last neighbor into its place."""
    _take_out(start, size, neighbour, one, other)
    _take_out(start, size, neighbour, other, one)


def shuffle(values: IntArray, state: State) -> None:
    """Put numbers in random order."""
    for last in range(values.size - 1, 0, -1):
        place = below(state, last + 1)
        values[last], values[place] = values[place], values[last]
