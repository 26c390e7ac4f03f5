"""Edge exchanges that change the degrees of two nodes only.

A walk that adds an edge, takes the next one away, adds the next, and so on, leaves every node on its way as it was and
changes the two at its ends: a node with too few edges begins (or ends) with one added, a node with too many with one
taken away. The shortest such walk changes the fewest edges. Walks are found by breadth-first search over states:
``2 * node`` is a node that lacks an edge, ``2 * node + 1`` one that has an edge too many.
"""

import numpy as np

from unveil._kernels.graph.roomy_rows import connect, disconnect, has_edge, shuffle
from unveil._kernels.random import State, below
from unveil._kernels.types import Int32Array, IntArray

#: After so many nodes from which no walk leads on, the rest is left: it is rarely worth the time.
MOST_FAILURES = 60
_DRAWS = 50


def _walk_to(came: IntArray, last: int) -> IntArray:
    """Return the walk to a state, empty if an edge repeats."""
    length = 1
    here = last
    while came[here] != here:
        here = came[here]
        length += 1
    nodes = np.empty(length, np.int64)
    here = last
    for place in range(length - 1, -1, -1):
        nodes[place] = here // 2
        here = came[here]
    for place in range(length - 1):
        for before in range(place):
            same = nodes[before] == nodes[place] and nodes[before + 1] == nodes[place + 1]
            if same or (nodes[before] == nodes[place + 1] and nodes[before + 1] == nodes[place]):
                return nodes[:0]
    return nodes


def _shortest_walk(
    start: IntArray,
    size: IntArray,
    neighbour: Int32Array,
    kept: IntArray,
    need: IntArray,
    source: np.int64,
    state: State,
) -> IntArray:
    """Return a shortest walk to a node in need, or an empty one.

    The first ``kept[i]`` neighbours of node ``i`` stay. Takes time in proportion to nodes and edges: each node that is
    not connected to the present one is struck off the list of those not reached.
    """
    n = size.size
    came, queue = np.empty(2 * n, np.int64), np.empty(2 * n, np.int64)
    # Those that were not reached with an edge too many.
    away = np.empty(n, np.int64)
    for node in range(n):
        came[2 * node], came[2 * node + 1], away[node] = -1, -1, node
    shuffle(away, state)
    marked = np.zeros(n, np.bool_)
    queue[0] = 2 * source if need[source] > 0 else 2 * source + 1
    came[queue[0]] = queue[0]
    head, tail = 0, 1
    away_size = n
    while head < tail:
        here = queue[head]
        head += 1
        node = here // 2
        row, count = start[node], size[node]
        if here % 2 == 0:
            marked[node] = True
            for place in range(row, row + count):
                marked[neighbour[place]] = True
            still = 0
            for place in range(away_size):
                other = away[place]
                if marked[other]:
                    away[still] = other
                    still += 1
                elif came[2 * other + 1] < 0:
                    came[2 * other + 1] = here
                    if need[other] > (1 if other == source else 0):
                        walk = _walk_to(came, 2 * other + 1)
                        if walk.size > 0:
                            return walk
                    queue[tail] = 2 * other + 1
                    tail += 1
            away_size = still
            marked[node] = False
            for place in range(row, row + count):
                marked[neighbour[place]] = False
        elif count > kept[node]:
            free = count - kept[node]
            shift = below(state, free)
            for step in range(free):
                other = neighbour[row + kept[node] + (shift + step) % free]
                if came[2 * other] < 0:
                    came[2 * other] = here
                    if need[other] < (-1 if other == source else 0):
                        walk = _walk_to(came, 2 * other)
                        if walk.size > 0:
                            return walk
                    queue[tail] = 2 * other
                    tail += 1
    return came[:0]


def _drawn_walk(
    start: IntArray,
    size: IntArray,
    neighbour: Int32Array,
    kept: IntArray,
    need: IntArray,
    source: np.int64,
    open_nodes: IntArray,
    state: State,
) -> IntArray:
    """Return a random three-edge walk between nodes in need, or none.

    On most graphs a few draws find one, which is faster than a search, and each edge has the same chance to go.
    """
    for _ in range(_DRAWS if need[source] > 0 else 0):
        place = below(state, start[-1])
        node, above = 0, size.size
        while above - node > 1:  # the last node whose row starts at the place or before it
            middle = (node + above) // 2
            if start[middle] <= place:
                node = middle
            else:
                above = middle
        target = open_nodes[below(state, open_nodes.size)]
        is_edge = kept[node] <= place - start[node] < size[node]
        if not is_edge or need[target] < (2 if target == source else 1):
            continue
        other = neighbour[place]
        if node == source or other == target or has_edge(start, size, neighbour, source, node):
            continue
        if not has_edge(start, size, neighbour, other, target):
            walk = np.empty(4, np.int64)
            walk[0], walk[1], walk[2], walk[3] = source, node, other, target
            return walk
    return open_nodes[:0]


def follow(start: IntArray, size: IntArray, neighbour: Int32Array, need: IntArray, walk: IntArray) -> None:
    """Apply the edge exchanges of a walk."""
    first_added = 0 if need[walk[0]] > 0 else 1
    for place in range(1 - first_added, walk.size - 1, 2):
        disconnect(start, size, neighbour, walk[place], walk[place + 1])
    for place in range(first_added, walk.size - 1, 2):
        connect(start, size, neighbour, walk[place], walk[place + 1])
    need[walk[0]] += 1 if first_added else -1
    last = walk[walk.size - 1]
    # The last edge was added if the number of edges and the kind of the first one say so.
    need[last] += -1 if (walk.size - 2) % 2 == first_added else 1


def settle(start: IntArray, size: IntArray, neighbour: Int32Array, kept: IntArray, need: IntArray, state: State) -> int:
    """Exchange edges to meet all needs, and return long walks.

    A walk is long if it does more than to add an edge, to move one end of an edge, or to take two edges away and
    connect their other ends: more than one edge for two nodes that lack one, more than two or three for others.

    ``need`` is how many edges each node lacks (has too many, if negative), and is brought to 0 where that is possible.
    """
    long_walks = 0
    failures = 0
    moved = True
    while moved:
        moved = False
        open_nodes, count = np.empty(need.size, np.int64), 0
        for node in range(need.size):
            if need[node] != 0:
                open_nodes[count] = node
                count += 1
        sources = open_nodes[:count]
        shuffle(sources, state)
        for source in sources:
            while need[source] != 0 and failures < MOST_FAILURES:
                walk = _drawn_walk(start, size, neighbour, kept, need, source, sources, state)
                if walk.size == 0:
                    walk = _shortest_walk(start, size, neighbour, kept, need, source, state)
                if walk.size == 0:
                    failures += 1
                    break
                if walk.size > 4 or (walk.size == 4 and need[source] > 0):
                    long_walks += 1
                follow(start, size, neighbour, need, walk)
                moved = True
    return long_walks
