"""Simple undirected graph as sorted edge keys, or neighbor rows."""

import numpy as np
from numpy.typing import ArrayLike

from unveil._kernels.types import BoolArray, Int32Array, IntArray


def edge_keys(source: ArrayLike, target: ArrayLike, nodes: int) -> IntArray:
    """Return the key of each edge, ``smaller * nodes + larger``, in order.

    >>> edge_keys([0, 2], [1, 0], 3)
    array([1, 2])
    """
    one, other = np.asarray(source, np.int64), np.asarray(target, np.int64)
    return np.minimum(one, other) * nodes + np.maximum(one, other)


def distinct(numbers: IntArray) -> IntArray:
    """Return the distinct numbers, ascending, faster than numpy's unique.

    >>> distinct(np.array([3, 1, 3]))
    array([1, 3])
    """
    ordered = np.sort(numbers)
    kept: IntArray = ordered[np.diff(ordered, prepend=ordered[:1] - 1) != 0]
    return kept


def ends_of(keys: IntArray, nodes: int) -> tuple[Int32Array, Int32Array]:
    """Return the smaller and the larger end of each edge.

    >>> ends_of(np.array([1, 2]), 3)
    (array([0, 0], dtype=int32), array([1, 2], dtype=int32))
    """
    smaller, larger = np.divmod(keys, max(nodes, 1))
    return smaller.astype(np.int32), larger.astype(np.int32)


def rows_of(keys: IntArray, nodes: int) -> tuple[IntArray, Int32Array]:
    """Return ``start`` and ``neighbour`` of sorted, distinct edge keys.

    The neighbours of node ``i`` are ``neighbour[start[i]:start[i + 1]]``, ascending.

    >>> rows_of(np.array([1, 2]), 3)
    (array([0, 2, 3, 4]), array([1, 2, 0, 0], dtype=int32))
    """
    smaller, larger = ends_of(keys, nodes)
    start = np.zeros(nodes + 1, np.int64)
    np.cumsum(np.bincount(smaller, minlength=nodes) + np.bincount(larger, minlength=nodes), out=start[1:])
    # Both directions of every edge as one number each: sorting those sorts rows and, within a row, neighbours.
    both = np.concatenate([keys, larger.astype(np.int64) * nodes + smaller])
    both.sort()
    return start, (both % max(nodes, 1)).astype(np.int32)


def row_numbers(start: IntArray) -> Int32Array:
    """Return the row of each element of ``neighbour``.

    >>> row_numbers(np.array([0, 2, 3]))
    array([0, 0, 1], dtype=int32)
    """
    return np.repeat(np.arange(start.size - 1, dtype=np.int32), np.diff(start))


def keys_of(start: IntArray, neighbour: Int32Array) -> IntArray:
    """Return the sorted keys of the edges, each once.

    >>> keys_of(np.array([0, 2, 3, 4]), np.array([1, 2, 0, 0], np.int32))
    array([1, 2])
    """
    row = row_numbers(start)
    once = row < neighbour
    return row[once].astype(np.int64) * (start.size - 1) + neighbour[once]


def among(keys: IntArray, known: IntArray) -> BoolArray:
    """Return whether each key is one of the sorted ``known`` ones.

    >>> among(np.array([5, 1]), np.array([1, 2]))
    array([False,  True])
    """
    if known.size == 0:
        return np.zeros(keys.shape, np.bool_)
    place = np.searchsorted(known, keys)
    found: BoolArray = known[np.minimum(place, known.size - 1)] == keys
    return found


# Whether an edge is there, asked inside a loop of rows that stay as they are, and by which key a set holds it.


def place_in_row(start: IntArray, neighbour: Int32Array, node: int, other: int) -> int:
    """Return the position of ``other`` in the row of ``node``, or -1.

    >>> import numpy as np
    >>> place_in_row(np.array([0, 2, 3, 4]), np.array([1, 2, 0, 0], np.int32), 0, 2)
    1
    """
    low, high = start[node], start[node + 1]
    while low < high:
        middle = (low + high) // 2
        if neighbour[middle] < other:
            low = middle + 1
        else:
            high = middle
    if low < start[node + 1] and neighbour[low] == other:
        return int(low)
    return -1


def has_edge(start: IntArray, neighbour: Int32Array, one: int, other: int) -> bool:
    """Return whether two nodes are connected; the shorter of both rows is searched.

    >>> import numpy as np
    >>> has_edge(np.array([0, 2, 3, 4]), np.array([1, 2, 0, 0], np.int32), 1, 2)
    False
    """
    if start[one + 1] - start[one] > start[other + 1] - start[other]:
        one, other = other, one
    return place_in_row(start, neighbour, one, other) >= 0


def key_of(one: int, other: int, nodes: int) -> int:
    """Return the key of the edge between two nodes.

    >>> key_of(2, 0, 3)
    2
    """
    if one < other:
        return one * nodes + other
    return other * nodes + one
