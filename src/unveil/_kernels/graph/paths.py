"""Shortest paths of an undirected graph, from single or many nodes."""

from typing import NamedTuple

import numpy as np

from unveil._kernels._compile import compiled, loop
from unveil._kernels.types import Int32Array, IntArray

#: Up to this many looks at an end of an edge plain Python is quick enough.
PLAIN_STEPS = 30_000
#: The distance to what cannot be reached.
UNREACHABLE = -1

_WORD = 64
_ONE = np.uint64(1)
_NONE = np.uint64(0)
# Neighbouring groups of 1, 2 and 4 bits are added up, then the eight bytes.
_BITS, _PAIRS, _FOURS = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)
_SHIFT_1, _SHIFT_2, _SHIFT_4 = np.uint64(1), np.uint64(2), np.uint64(4)
_SHIFT_8, _SHIFT_16, _SHIFT_32 = np.uint64(8), np.uint64(16), np.uint64(32)
_BYTE = np.uint64(0x7F)


class PathSums(NamedTuple):
    """The shortest paths from many sources to each node.

    ``reached`` counts the sources, the node itself left out, from which a path leads to the node; ``total`` is the sum
    of their distances, ``farthest`` the largest (0 where there is none).
    """

    reached: IntArray
    total: IntArray
    farthest: Int32Array


class DiameterBounds(NamedTuple):
    """Bounds of the diameter, and the number of searches."""

    at_least: int
    at_most: int
    searches: int


def runs_plain(start: IntArray, neighbour: Int32Array, searches: int) -> bool:
    """Return whether N searches are few enough for plain Python."""
    return searches * (start.size + neighbour.size) <= PLAIN_STEPS


def distances(start: IntArray, neighbour: Int32Array, sources: IntArray) -> Int32Array:
    """Return the distances from each source (rows), -1 if unreachable.

    >>> distances(np.array([0, 1, 3, 4, 4]), np.array([1, 0, 2, 1], np.int32), np.array([0, 1]))
    array([[ 0,  1,  2, -1],
           [ 1,  0,  1, -1]], dtype=int32)
    """
    return _distances(start, neighbour, np.asarray(sources, np.int64), runs_plain(start, neighbour, sources.size))


def components(start: IntArray, neighbour: Int32Array) -> Int32Array:
    """Return each node's connected component, numbered by first node.

    >>> components(np.array([0, 0, 1, 2, 2]), np.array([2, 1], np.int32))
    array([0, 1, 1, 2], dtype=int32)
    """
    return _components_in_order(start, neighbour)[0]


def path_sums(start: IntArray, neighbour: Int32Array, sources: IntArray) -> PathSums:
    """Return number, sum, and maximum of distances to each node.

    With every node as a source, these are the exact farness and eccentricity of each node. 64 sources are searched
    from at a time, one bit each.

    >>> path_sums(np.array([0, 1, 3, 4, 4]), np.array([1, 0, 2, 1], np.int32), np.array([0, 1]))
    PathSums(reached=array([1, 1, 2, 0]), total=array([1, 1, 3, 0]), farthest=array([1, 1, 2, 0], dtype=int32))
    """
    nodes = start.size - 1
    sums = PathSums(np.zeros(nodes, np.int64), np.zeros(nodes, np.int64), np.zeros(nodes, np.int32))
    # Sources that are near one another go the same ways, and should do so together: that halves the time.
    wanted = np.zeros(nodes, np.bool_)
    wanted[sources] = True
    order = _components_in_order(start, neighbour)[1]
    plain = runs_plain(start, neighbour, sources.size)
    run = _sweep if plain else compiled(_sweep)
    run(start, neighbour, order[wanted[order]], sums.reached, sums.total, sums.farthest)
    return sums


def diameter_bounds(start: IntArray, neighbour: Int32Array, inside: IntArray, at_most: int) -> DiameterBounds:
    """Return diameter bounds of the connected component ``inside``.

    After a search from ``s`` no path from ``v`` is longer than ``distance(v, s) + longest(s)``, nor are all shorter
    than the larger of ``distance(v, s)`` and ``longest(s) - distance(v, s)``. Searches begin in turn where the longest
    path may be longest and where it may be shortest, until the bounds meet or ``at_most`` searches are done.

    >>> diameter_bounds(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32), np.arange(3), 9)
    DiameterBounds(at_least=2, at_most=2, searches=2)
    """
    degree = np.diff(start)[inside]
    lower, upper = np.zeros(inside.size, np.int64), np.full(inside.size, inside.size - 1)
    # Nodes that a search can still learn from; ends of a path with the same bounds are told apart by their degree.
    open_nodes = np.ones(inside.size, np.bool_)
    searches, plain = 0, runs_plain(start, neighbour, min(at_most, inside.size))
    while searches < at_most and lower.max() < upper.max() and open_nodes.any():
        key, other = (-upper, -degree) if searches % 2 else (lower, -degree)
        place = np.flatnonzero(open_nodes)
        chosen = place[np.lexsort((other[place], key[place]))[0]]
        far = _distances(start, neighbour, inside[chosen : chosen + 1], plain)[0, inside].astype(np.int64)
        longest = int(far.max())
        np.maximum(lower, np.maximum(far, longest - far), out=lower)
        np.minimum(upper, far + longest, out=upper)
        open_nodes &= (lower < upper) & ~((upper <= lower.max()) & (2 * lower >= upper.max()))
        open_nodes[chosen] = False
        searches += 1
    return DiameterBounds(int(lower.max()), int(max(lower.max(), upper.max())), searches)


def _distances(start: IntArray, neighbour: Int32Array, sources: IntArray, plain: bool) -> Int32Array:
    found = np.full((sources.size, start.size - 1), UNREACHABLE, np.int32)
    search = _search if plain else compiled(_search)
    search(start, neighbour, sources, found)
    return found


@loop(
    "const i8[], const i4[], i8[], i4[,]",
    "const i8[], const i4[], const i8[]A, i4[,]",
)
def _search(start: IntArray, neighbour: Int32Array, sources: IntArray, distances: Int32Array) -> None:
    """Write the distances from each source into its row of ``distances``, which holds -1."""
    queue = np.empty(start.size, np.int32)
    for row in range(sources.size):
        far = distances[row]
        queue[0] = sources[row]
        far[sources[row]] = 0
        first, last = 0, 1
        while first < last:
            node = queue[first]
            first += 1
            step = far[node] + 1
            for place in range(start[node], start[node + 1]):
                other = neighbour[place]
                if far[other] < 0:
                    far[other] = step
                    queue[last] = other
                    last += 1


def _components_in_order(start: IntArray, neighbour: Int32Array) -> tuple[Int32Array, Int32Array]:
    """Return the component of each node, and nodes in search order."""
    label, order = np.full(start.size - 1, -1, np.int32), np.empty(start.size - 1, np.int32)
    run = _label if runs_plain(start, neighbour, 1) else compiled(_label)
    run(start, neighbour, label, order)
    return label, order


@loop("const i8[], const i4[], i4[], i4[]")
def _label(start: IntArray, neighbour: Int32Array, label: Int32Array, order: Int32Array) -> None:
    """Fill ``label`` (initially -1) and ``order`` with components."""
    count = first = last = 0
    for root in range(start.size - 1):
        if label[root] >= 0:
            continue
        label[root] = count
        order[last] = root
        last += 1
        while first < last:
            node = order[first]
            first += 1
            for place in range(start[node], start[node + 1]):
                other = neighbour[place]
                if label[other] < 0:
                    label[other] = count
                    order[last] = other
                    last += 1
        count += 1


@loop("const i8[], const i4[], i4[], i8[], i8[], i4[]")
def _sweep(
    start: IntArray,
    neighbour: Int32Array,
    sources: Int32Array,
    reached: IntArray,
    total: IntArray,
    farthest: Int32Array,
) -> None:
    """Add the paths from a batch of sources, one bit each."""
    nodes = start.size - 1
    seen, here, coming = np.zeros(nodes, np.uint64), np.zeros(nodes, np.uint64), np.zeros(nodes, np.uint64)
    active, touched = np.empty(nodes, np.int32), np.empty(nodes, np.int32)
    for first in range(0, sources.size, _WORD):
        seen[:] = _NONE
        count = min(_WORD, sources.size - first)
        for place in range(count):
            node = sources[first + place]
            active[place] = node
            seen[node] = here[node] = _ONE << np.uint64(place)
        step = 0
        while count:
            step += 1
            found = 0
            for place in range(count):
                node = active[place]
                word = here[node]
                for entry in range(start[node], start[node + 1]):
                    other = neighbour[entry]
                    if coming[other] == _NONE:
                        touched[found] = other
                        found += 1
                    coming[other] |= word
            count = 0
            for place in range(found):
                node = touched[place]
                new = coming[node] & ~seen[node]
                coming[node] = _NONE
                if new != _NONE:
                    seen[node] |= new
                    here[node] = new
                    active[count] = node
                    count += 1
                    bits = _count_bits(new)
                    reached[node] += bits
                    total[node] += bits * step
                    farthest[node] = max(farthest[node], step)


def _count_bits(word: np.uint64) -> int:
    """Return how many bits are set."""
    word = word - ((word >> _SHIFT_1) & _BITS)
    word = (word & _PAIRS) + ((word >> _SHIFT_2) & _PAIRS)
    word = (word + (word >> _SHIFT_4)) & _FOURS
    word = word + (word >> _SHIFT_8)
    word = word + (word >> _SHIFT_16)
    word = word + (word >> _SHIFT_32)
    return int(word & _BYTE)
