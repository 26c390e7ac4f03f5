"""Edges taken away and added so that degrees come to targets, as far as simple edges allow."""

from typing import NamedTuple

import numpy as np

from unveil._kernels._compile import PLAIN_UP_TO, compiled, loop
from unveil._kernels.graph.lookup import place_in_row
from unveil._kernels.graph.rows import row_numbers
from unveil._kernels.types import BoolArray, FloatArray, Int32Array, IntArray


class EdgeMatching(NamedTuple):
    """The removed edges (in the order of keys), the ends of new edges, and the remaining need of each node."""

    removed: BoolArray
    one: IntArray
    other: IntArray
    need: IntArray


def matched_degrees(
    start: IntArray, neighbour: Int32Array, keys: IntArray, need: IntArray, rng: np.random.Generator
) -> EdgeMatching:
    """Return how to bring every degree to its target, where ``need`` is the target less the degree.

    First, edges between two nodes that both have too many go, in random order. A node that still has too many loses
    edges by lot, and the other ends need one more. Then nodes that need edges are joined: the neediest one to the
    neediest ones that it has no edge to, and so on. What a node needs after that found no partner.

    >>> from unveil._kernels.graph.rows import rows_of
    >>> keys = np.array([1, 2, 3])  # a star: 0 is joined to 1, 2, 3
    >>> matched = matched_degrees(*rows_of(keys, 4), keys, np.array([-2, 0, 0, 0]), np.random.default_rng(1))
    >>> int(matched.removed.sum()), matched.one.size, matched.need
    (2, 1, array([0, 0, 0, 0]))
    """
    nodes = start.size - 1
    need = need.copy()
    removed = np.zeros(keys.size, np.bool_)
    fast = keys.size > PLAIN_UP_TO or nodes > PLAIN_UP_TO
    together, alone, join = (
        (compiled(_remove_together), compiled(_remove_alone), compiled(_join))
        if fast
        else (_remove_together, _remove_alone, _join)
    )
    one, other = np.divmod(keys, max(nodes, 1))
    together(one, other, rng.permutation(keys.size), need, removed)
    edge = _edge_of_entry(start, neighbour, keys)
    alone(start, neighbour, edge, need, removed, rng.random(-int(need[need < 0].sum())))
    lot = rng.permutation(nodes)
    needy = lot[need[lot] > 0]
    line = needy[np.argsort(need[needy], kind="stable")]
    new = np.empty((int(need.sum()) // 2, 2), np.int64)
    count = join(start, neighbour, edge, removed, line, need, new)
    return EdgeMatching(removed, new[:count, 0], new[:count, 1], need)


def _edge_of_entry(start: IntArray, neighbour: Int32Array, keys: IntArray) -> IntArray:
    """Return for each entry of ``neighbour`` which of the sorted keys it belongs to."""
    row = row_numbers(start).astype(np.int64)
    key = np.minimum(row, neighbour) * (start.size - 1) + np.maximum(row, neighbour)
    return np.searchsorted(keys, key)


@loop("i8[], i8[], i8[], i8[], b1[]")
def _remove_together(one: IntArray, other: IntArray, order: IntArray, need: IntArray, removed: BoolArray) -> None:
    for edge in order:
        if need[one[edge]] < 0 and need[other[edge]] < 0:
            removed[edge] = True
            need[one[edge]] += 1
            need[other[edge]] += 1


@loop("const i8[], const i4[], i8[], i8[], b1[], f8[]")
def _remove_alone(
    start: IntArray, neighbour: Int32Array, edge: IntArray, need: IntArray, removed: BoolArray, draws: FloatArray
) -> None:
    """Let every node that has too many edges lose some by lot.

    No two such nodes are connected by now, so the order in which they do so does not matter.
    """
    drawn = 0
    for node in range(start.size - 1):
        if need[node] >= 0:
            continue
        there = np.arange(start[node], start[node + 1])
        there = there[~removed[edge[start[node] : start[node + 1]]]]
        left = there.size
        while need[node] < 0:
            pick = int(draws[drawn] * left)
            drawn += 1
            entry = there[pick]
            left -= 1
            there[pick] = there[left]
            removed[edge[entry]] = True
            need[neighbour[entry]] += 1
            need[node] += 1


@loop("const i8[], const i4[], i8[], b1[], i8[], i8[], i8[,]")
def _join(
    start: IntArray,
    neighbour: Int32Array,
    edge: IntArray,
    removed: BoolArray,
    line: IntArray,
    need: IntArray,
    new: IntArray,
) -> int:
    """Write new edges and return how many there are; ``line`` holds those in need, by rising need."""
    place = np.full(need.size, -1)
    # Where those that need at least so much begin in the line; it stays sorted as needs fall one by one.
    begin = np.full(need[line].max() + 2 if line.size else 2, line.size)
    for at in range(line.size - 1, -1, -1):
        place[line[at]] = at
        begin[need[line[at]]] = at
    for amount in range(begin.size - 2, -1, -1):
        begin[amount] = min(begin[amount], begin[amount + 1])
    count = 0
    for end in range(line.size - 1, -1, -1):
        node = line[end]
        found = count
        at = end - 1
        while found - count < need[node] and at >= begin[1]:
            other = line[at]
            entry = place_in_row(start, neighbour, node, other)
            if entry < 0 or removed[edge[entry]]:
                new[found, 0], new[found, 1] = node, other
                found += 1
            at -= 1
        for made in range(count, found):
            _lower(new[made, 1], line, place, begin, need)
        need[node] -= found - count
        count = found
    return count


def _lower(node: int, line: IntArray, place: IntArray, begin: IntArray, need: IntArray) -> None:
    """Let a node need one less, and move it to the end of those that need as much in the line."""
    front = begin[need[node]]
    moved = line[front]
    line[place[node]], place[moved] = moved, place[node]
    line[front], place[node] = node, front
    begin[need[node]] += 1
    need[node] -= 1
