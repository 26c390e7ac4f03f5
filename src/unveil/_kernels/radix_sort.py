"""The order of many whole numbers, byte by byte: a third of the time of numpy's sort for a million of them."""

import numpy as np

from unveil._kernels._compile import compiled, loop
from unveil._kernels.types import CodeArray, IntArray

#: Fewer are sorted sooner than the compiler is loaded.
_FEW = 2**15
_BITS = 8
_DIGITS = 2**_BITS


def sort(keys: IntArray, below: int) -> IntArray:
    """Put keys from 0 to ``below`` into ascending order where they lie, and return where each stood before.

    Equal ones stay in the order in which they stand.

    >>> keys = np.array([7, 300, 7, 0])
    >>> sort(keys, 301), keys
    (array([3, 0, 2, 1]), array([  0,   7,   7, 300]))
    """
    if below <= 2**16:  # numpy does these byte by byte too
        order = np.argsort(keys.astype(np.uint16), kind="stable")
    elif keys.size < _FEW:
        order = np.argsort(keys, kind="stable")
    else:
        order = np.arange(keys.size, dtype=np.int32 if keys.size < 2**31 else np.int64)
        compiled(_by_bytes)(keys, order, (below - 1).bit_length())
        return order.astype(np.int64)
    keys[:] = keys[order]
    return order


@loop("i8[], i4[], i8", "i8[], i8[], i8")
def _by_bytes(keys: IntArray, order: CodeArray, bits: int) -> None:
    """Sort keys, and move what stands in ``order`` with them."""
    old, new = keys, np.empty_like(keys)
    place_of, moved = order, np.empty_like(order)
    begin = np.empty(_DIGITS + 1, np.int64)
    for shift in range(0, bits, _BITS):
        for digit in range(_DIGITS + 1):
            begin[digit] = 0
        for place in range(old.size):
            begin[((old[place] >> shift) & (_DIGITS - 1)) + 1] += 1
        for digit in range(_DIGITS):
            begin[digit + 1] += begin[digit]
        for place in range(old.size):
            digit = (old[place] >> shift) & (_DIGITS - 1)
            new[begin[digit]] = old[place]
            moved[begin[digit]] = place_of[place]
            begin[digit] += 1
        old, new = new, old
        place_of, moved = moved, place_of
    if (bits + _BITS - 1) // _BITS % 2:  # after an odd number of moves they lie in the other place
        for place in range(old.size):
            keys[place], order[place] = old[place], place_of[place]
