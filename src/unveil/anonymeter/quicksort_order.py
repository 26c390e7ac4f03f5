"""The first places of numba's ``argsort``, ties included, without sorting the rest.

A quicksort leaves equal values in an order of its own. Whoever has to give the same answer as a program that took "the
first k" from it must split as it does, but may leave alone what cannot come to the first k places any more.
"""

import numpy as np

from unveil._kernels._compile import PLAIN_UP_TO, compiled, loop
from unveil._kernels.types import FloatArray, Int32Array, IntArray

#: numba splits ranges whose last place is at least this far from the first; shorter ones it sorts by insertion.
SMALL_SIDE = 15
#: How many places are compared with the pivot before any are exchanged.
STRIDE = 64
#: The largest integer, and the bits of infinity: those of a NaN, but for the sign, are between the two.
LAST, INFINITY = 2**63 - 1, 0x7FF0_0000_0000_0000


def first_places(values: FloatArray, k: int, *, fast: bool | None = None) -> Int32Array:
    """Return the first k places of numba's ``argsort``; NaN last.

    ``fast`` tells whether to compile; left out, the number of values decides.

    >>> first_places(np.array([[0.5, 0.25, np.nan, 0.25]]), 3)
    array([[1, 3, 0]], dtype=int32)
    """
    if fast is None:
        fast = values.size > PLAIN_UP_TO
    return (compiled(_first_places) if fast else _first_places)(values, k)


@loop("f8[,], i8")
def _first_places(values: FloatArray, k: int) -> Int32Array:
    result = np.empty((values.shape[0], k), np.int32)
    key = np.empty(values.shape[1], np.int64)
    index = np.empty(values.shape[1], np.int32)
    waiting = np.empty((k + 1, 2), np.int64)  # sides that begin within the first k places, each at another one
    not_below, not_above = np.empty(STRIDE, np.int64), np.empty(STRIDE, np.int64)
    for t in range(values.shape[0]):
        _keys(values[t], key, index)
        waiting[0, 0], waiting[0, 1] = 0, key.size - 1
        sides = 1
        while sides > 0:
            sides -= 1
            low, high = waiting[sides, 0], waiting[sides, 1]
            while high - low >= SMALL_SIDE:
                pivot = _split(key, index, low, high, not_below, not_above)
                # Sides never touch each other: one that begins behind the first k places stays as it is.
                if pivot + 1 < k:
                    waiting[sides, 0], waiting[sides, 1] = pivot + 1, high
                    sides += 1
                high = pivot - 1
            _insert(key, index, low, high)
        for place in range(k):
            result[t, place] = index[place]
    return result


def _keys(values: FloatArray, key: IntArray, index: Int32Array) -> None:
    """Write integers in value order; zeros tie, and NaN tie last."""
    number = key.view(np.float64)
    for i in range(values.size):
        number[i] = values[i] + 0.0
        index[i] = i
    for i in range(values.size):
        key[i] = LAST if key[i] & LAST > INFINITY else key[i] ^ ((key[i] >> 63) & LAST)


def _swap(key: IntArray, index: Int32Array, one: int, other: int) -> None:
    key[one], key[other] = key[other], key[one]
    index[one], index[other] = index[other], index[one]


def _split(key: IntArray, index: Int32Array, low: int, high: int, not_below: IntArray, not_above: IntArray) -> int:
    """Return the place of the pivot after splitting the range around it.

    The pivot is the median of the first, the middle and the last value. From both ends, values that are not below it
    are exchanged with values that are not above it, until the ends meet. Which places these are does not depend
    on earlier exchanges, so those of a whole stride are listed first, in a loop without jumps.
    """
    middle = (low + high) >> 1
    for one, other in ((low, middle), (middle, high), (low, middle)):
        if key[other] < key[one]:
            _swap(key, index, one, other)
    pivot = key[middle]
    _swap(key, index, middle, high)
    left, right = low, high - 1  # the next places to look at
    lefts, next_left, rights, next_right = 0, 0, 0, 0
    while right - left + 1 >= 2 * STRIDE:
        if next_left == lefts:
            lefts, next_left = 0, 0
            for place in range(left, left + STRIDE):
                not_below[lefts] = place
                lefts += key[place] >= pivot
            left += STRIDE
        if next_right == rights:
            rights, next_right = 0, 0
            for place in range(right, right - STRIDE, -1):
                not_above[rights] = place
                rights += key[place] <= pivot
            right -= STRIDE
        for _ in range(min(lefts - next_left, rights - next_right)):
            _swap(key, index, not_below[next_left], not_above[next_right])
            next_left += 1
            next_right += 1
    if next_left < lefts:
        left = not_below[next_left]
    if next_right < rights:
        right = not_above[next_right]
    while True:
        while left < high and key[left] < pivot:
            left += 1
        while right >= low and key[right] > pivot:
            right -= 1
        if left >= right:
            break
        _swap(key, index, left, right)
        left += 1
        right -= 1
    _swap(key, index, left, high)
    return left


def _insert(key: IntArray, index: Int32Array, low: int, high: int) -> None:
    """Sort a short range, equal values in the order in which they stand."""
    for last in range(low + 1, high + 1):
        moved_key, moved_index, place = key[last], index[last], last
        while place > low and key[place - 1] > moved_key:
            key[place], index[place] = key[place - 1], index[place - 1]
            place -= 1
        key[place], index[place] = moved_key, moved_index
