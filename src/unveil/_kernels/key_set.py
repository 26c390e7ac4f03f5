"""A set of whole numbers from 0 on that grows inside a loop."""

import numpy as np

from unveil._kernels.types import IntArray

_FREE = -1


def key_table(at_most: int) -> IntArray:
    """Return an empty hash set for ``at_most`` keys, half full.

    >>> key_table(3)
    array([-1, -1, -1, -1, -1, -1, -1, -1])
    """
    return np.full(1 << max(3, int(2 * at_most - 1).bit_length()), _FREE)


def slot_of(table: IntArray, key: int) -> int:
    """Return the slot of a key, or the free slot for it."""
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


def keys_in(table: IntArray) -> IntArray:
    """Return the keys of the set, ascending."""
    return np.sort(table[table >= 0])
