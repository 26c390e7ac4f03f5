"""A simple undirected graph in two forms: one sorted key per edge, and the neighbours of each node in a row."""

import numpy as np
from numpy.typing import ArrayLike

from unveil._kernels.types import BoolArray, Int32Array, IntArray


def edge_keys(source: ArrayLike, target: ArrayLike, nodes: int) -> IntArray:
    """Return one number per edge, ``smaller * nodes + larger``, in the order given; loops and repeats are kept.

    >>> edge_keys([0, 2], [1, 0], 3)
    array([1, 2])
    """
    one, other = np.asarray(source, np.int64), np.asarray(target, np.int64)
    return np.minimum(one, other) * nodes + np.maximum(one, other)


def distinct(numbers: IntArray) -> IntArray:
    """Return the different numbers, ascending; many times faster than the hashing of numpy's unique.

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
    """Return ``start`` and ``neighbour`` of the simple graph whose sorted, distinct edge keys these are.

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
    """Return for each entry of ``neighbour`` the node whose row it is in.

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
