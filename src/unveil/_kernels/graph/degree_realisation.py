"""More edges, so that every node has the degree it should have."""

import numpy as np

from unveil._kernels._compile import compiled, loop
from unveil._kernels.graph.exchanges import settle
from unveil._kernels.graph.roomy_rows import connect, keys_in, shuffle, with_room
from unveil._kernels.random import State
from unveil._kernels.types import Int32Array, IntArray

_PLAIN_UP_TO = 4_000


def raised(
    start: IntArray, neighbour: Int32Array, degrees: IntArray, state: State, *, keep: bool
) -> tuple[IntArray, IntArray]:
    """Return the keys of a graph with these degrees, and how many edges each node still lacks; no degree may fall.

    The node that lacks the most is connected to those that lack the most of the others, as in Liu and Terzi, 2008;
    where that leaves nobody to connect with, edges are exchanged along the shortest walks there are. With ``keep``,
    exchanges only undo what was added; otherwise they may take away edges of the graph.

    >>> start, neighbour = np.array([0, 1, 2, 2]), np.array([1, 0], np.int32)
    >>> raised(start, neighbour, np.array([2, 2, 2]), np.zeros(1, np.uint64), keep=True)
    (array([1, 2, 5]), array([0, 0, 0]))
    """
    roomy, size, wide = with_room(start, neighbour, degrees)
    need = degrees - size
    kept = size.copy() if keep else np.zeros_like(size)
    run = compiled(_raise) if wide.size > _PLAIN_UP_TO else _raise
    run(roomy, size, wide, kept, need, state)
    return keys_in(roomy, size, wide), need


@loop("i8[], i8[], i4[], i8[], i8[], u8[]")
def _raise(
    start: IntArray, size: IntArray, neighbour: Int32Array, kept: IntArray, need: IntArray, state: State
) -> None:
    _join(start, size, neighbour, need, state)
    settle(start, size, neighbour, kept, need, state)


def _falling(lack: IntArray, state: State) -> tuple[IntArray, IntArray, IntArray]:
    """Return nodes in falling order of what they lack (equals by lot), where each stands, and how many lack so many."""
    n = lack.size
    largest = 0
    for node in range(n):
        largest = max(largest, lack[node])
    at_least = np.zeros(largest + 2, np.int64)
    for node in range(n):
        at_least[lack[node]] += 1
    for count in range(largest - 1, -1, -1):
        at_least[count] += at_least[count + 1]
    order, by_lot, place = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    for node in range(n):
        by_lot[node] = node
    shuffle(by_lot, state)
    filled = np.zeros(largest + 1, np.int64)
    for draw in range(n):
        lot = by_lot[draw]
        place[lot] = at_least[lack[lot] + 1] + filled[lack[lot]]
        filled[lack[lot]] += 1
        order[place[lot]] = lot
    return order, place, at_least


def _lack_one_less(order: IntArray, place: IntArray, at_least: IntArray, lack: IntArray, node: int) -> None:
    """Let a node lack one edge less: it changes places with the last of its equals."""
    last = at_least[lack[node]] - 1
    swapped = order[last]
    order[place[node]], order[last] = swapped, node
    place[swapped], place[node] = place[node], last
    at_least[lack[node]] = last
    lack[node] -= 1


def _join(start: IntArray, size: IntArray, neighbour: Int32Array, need: IntArray, state: State) -> None:
    """Connect nodes that lack edges, those that lack most first, and take off from ``need`` what was done."""
    lack = np.empty(need.size, np.int64)
    for node in range(need.size):
        lack[node] = need[node]
    order, place, at_least = _falling(lack, state)
    marked = np.zeros(need.size, np.bool_)
    partners = np.empty(need.size, np.int64)
    while at_least[1] > 0:
        node = order[0]
        here_first, here_last = start[node], start[node] + size[node]
        for place_in_row in range(here_first, here_last):
            marked[neighbour[place_in_row]] = True
        found = 0
        for here in range(1, at_least[1]):
            if found == lack[node]:
                break
            if not marked[order[here]]:
                partners[found] = order[here]
                found += 1
        for place_in_row in range(here_first, here_last):
            marked[neighbour[place_in_row]] = False
        for chosen in range(found):
            partner = partners[chosen]
            connect(start, size, neighbour, node, partner)
            need[partner] -= 1
            _lack_one_less(order, place, at_least, lack, partner)
        need[node] -= found
        # What it found nobody for stays in its need, but it is looked at no more.
        while lack[node] > 0:
            _lack_one_less(order, place, at_least, lack, node)
