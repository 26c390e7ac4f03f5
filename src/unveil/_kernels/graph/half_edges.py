"""A graph whose edges exchange their ends in place: every edge is listed at both ends, and knows where the other is."""

from typing import NamedTuple

import numpy as np

from unveil._kernels.graph.rows import edge_keys, row_numbers
from unveil._kernels.types import Int32Array, IntArray


class HalfEdges(NamedTuple):
    """A graph that a walk changes in place: every edge is listed at both ends.

    ``neighbour[start[i]:start[i + 1]]`` are the neighbours of node i in no order, ``owner`` says in whose row an entry
    is, and ``twin`` where the same edge is listed at its other end.
    """

    start: IntArray
    neighbour: Int32Array
    owner: Int32Array
    twin: IntArray


def half_edges(start: IntArray, neighbour: Int32Array) -> HalfEdges:
    """Return a copy of a graph, with ascending rows, that a walk may change.

    >>> half_edges(np.array([0, 2, 3, 4]), np.array([1, 2, 0, 0], np.int32)).twin
    array([2, 3, 0, 1])
    """
    owner = row_numbers(start)
    # Sorted by the other end first, the entries are the same edges in the same order, seen from the other side.
    return HalfEdges(start, neighbour.copy(), owner, np.lexsort((owner, neighbour)))


def keys_of_half_edges(graph: HalfEdges) -> IntArray:
    """Return the sorted keys of the edges, each once.

    >>> keys_of_half_edges(half_edges(np.array([0, 2, 3, 4]), np.array([1, 2, 0, 0], np.int32)))
    array([1, 2])
    """
    once = graph.owner < graph.neighbour
    return np.sort(edge_keys(graph.owner[once], graph.neighbour[once], graph.start.size - 1))


def connected(start: IntArray, neighbour: Int32Array, one: int, other: int) -> bool:
    """Return whether two nodes are connected, by a look at the shorter row."""
    if start[one + 1] - start[one] > start[other + 1] - start[other]:
        one, other = other, one
    found = False
    for place in range(start[one], start[one + 1]):
        if neighbour[place] == other:
            found = True
            break
    return found


def exchange(neighbour: Int32Array, owner: Int32Array, twin: IntArray, first: int, second: int) -> None:
    """Let two entries exchange their other ends."""
    back, forth = twin[first], twin[second]
    neighbour[first], neighbour[second] = neighbour[second], neighbour[first]
    neighbour[back], neighbour[forth] = owner[second], owner[first]
    twin[first], twin[forth] = forth, first
    twin[second], twin[back] = back, second
