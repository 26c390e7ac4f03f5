"""Whether an edge is there, asked inside a loop: of rows that stay as they are, and of a set of keys that grows."""

import numpy as np

from unveil._kernels.types import Int32Array, IntArray

_FREE = -1


def place_in_row(start: IntArray, neighbour: Int32Array, node: int, other: int) -> int:
    """Return where ``other`` stands in ``neighbour`` within the row of ``node``, or -1 if they are not connected.

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

    >>> has_edge(np.array([0, 2, 3, 4]), np.array([1, 2, 0, 0], np.int32), 1, 2)
    False
    """
    if start[one + 1] - start[one] > start[other + 1] - start[other]:
        one, other = other, one
    return place_in_row(start, neighbour, one, other) >= 0


def key_table(most: int) -> IntArray:
    """Return an empty set with room for ``most`` keys; it is never more than half full, so that probes stay short.

    >>> key_table(3)
    array([-1, -1, -1, -1, -1, -1, -1, -1])
    """
    return np.full(1 << max(3, int(2 * most - 1).bit_length()), _FREE)


def slot_of(table: IntArray, key: int) -> int:
    """Return where a key stands in the set, or the free slot where it belongs."""
    last = table.size - 1
    # Neither product nor shift leaves 63 bits, so that plain Python and compiled code find the same slot.
    slot = ((((key ^ (key >> 29)) & 0x7FFFFFFF) * 0x9E3779B1) >> 24) & last
    while table[slot] >= 0 and table[slot] != key:
        slot = (slot + 1) & last
    return int(slot)


def has_key(table: IntArray, key: int) -> bool:
    """Return whether a key is in the set.

    >>> has_key(key_table(1), 5)
    False
    """
    return bool(table[slot_of(table, key)] >= 0)


def add_key(table: IntArray, key: int) -> None:
    """Put a key from 0 into the set, which changes.

    >>> table = key_table(1)
    >>> add_key(table, 5)
    >>> keys_in(table)
    array([5])
    """
    table[slot_of(table, key)] = key


def key_of(one: int, other: int, nodes: int) -> int:
    """Return the key of the edge between two nodes; `rows.edge_keys` does so for many.

    >>> key_of(2, 0, 3)
    2
    """
    if one < other:
        return one * nodes + other
    return other * nodes + one


def keys_in(table: IntArray) -> IntArray:
    """Return the keys of the set, ascending."""
    return np.sort(table[table >= 0])
