"""Edges that are replaced by the ends of random walks."""

from typing import NamedTuple

from unveil._kernels._compile import PLAIN_UP_TO, compiled, loop
from unveil._kernels.graph.lookup import key_of
from unveil._kernels.key_set import add_key, has_key, key_table, keys_in
from unveil._kernels.random import State, below, next_float
from unveil._kernels.types import Int32Array, IntArray


class WalkResult(NamedTuple):
    """The sorted edge keys from random walks, and the number of neighbours without a new end."""

    keys: IntArray
    given_up: int


def walked_edges(
    start: IntArray, neighbour: Int32Array, order: IntArray, hops: int, tries: int, state: State
) -> WalkResult:
    """Return the edges that join each node to the ends of walks of ``hops`` steps from its neighbours.

    Nodes take their turn in ``order``, and the neighbours of each in random order. A walk that ends at the node itself
    or where it has an edge by now starts again, ``tries`` times in all. The first end found is joined for sure, each
    further one with a probability of ``(degree / 2 - 1) / (degree - 1)``: half as many edges as neighbours in all.

    >>> import numpy as np
    >>> start, neighbour = np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32)  # the path 0 - 1 - 2
    >>> walked = walked_edges(start, neighbour, np.arange(3), 1, 10, np.zeros(1, np.uint64))
    >>> walked.keys, walked.given_up
    (array([2]), 3)
    """
    table = key_table(neighbour.size)
    steps = neighbour.size * max(hops, 1)
    run = _walk_all if steps <= PLAIN_UP_TO else compiled(_walk_all)
    given_up = run(start, neighbour, order, hops, tries, table, state)
    return WalkResult(keys_in(table), int(given_up))


@loop("const i8[], const i4[], i8[], i8, i8, i8[], u8[]")
def _walk_all(
    start: IntArray, neighbour: Int32Array, order: IntArray, hops: int, tries: int, table: IntArray, state: State
) -> int:
    nodes = start.size - 1
    given_up = 0
    for node in order:
        row = neighbour[start[node] : start[node + 1]].copy()
        _shuffle(row, state)
        found = 0
        for other in row:
            end = _new_end(start, neighbour, node, other, hops, tries, table, state)
            if end < 0:
                given_up += 1
                continue
            if found == 0 or next_float(state) * (row.size - 1) < 0.5 * row.size - 1:
                add_key(table, key_of(node, end, nodes))
            found += 1
    return given_up


def _new_end(
    start: IntArray, neighbour: Int32Array, node: int, other: int, hops: int, tries: int, table: IntArray, state: State
) -> int:
    """Return where a walk from ``other`` ends, if ``node`` is not there and has no edge to it yet, or else -1."""
    nodes = start.size - 1
    for _ in range(tries):
        end = int(other)
        for _ in range(hops):
            end = int(neighbour[start[end] + below(state, start[end + 1] - start[end])])
        if end != node and not has_key(table, key_of(node, end, nodes)):
            return end
        if hops == 0:  # it would end at the same node again
            break
    return -1


def _shuffle(row: Int32Array, state: State) -> None:
    for place in range(row.size - 1, 0, -1):
        other = below(state, place + 1)
        row[place], row[other] = row[other], row[place]
