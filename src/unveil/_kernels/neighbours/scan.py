"""The search for the nearest rows of tables with many columns, in which every row is about as far as every other.

There no arrangement of rows tells which of them are near, so that all are looked at: a few rows at a time, which stay
near the processor while every target is compared with them, column by column.
"""

import numpy as np

from unveil._kernels._compile import kernel
from unveil._kernels.neighbours.index import LAST_MARKER
from unveil._kernels.types import Int32Array, IntArray

_LAST_MARKER = int(LAST_MARKER)
#: So many rows are compared with all targets in one go; no number depends on it.
_AT_A_TIME = 256


@kernel("i4[,], i8[,], i8[], i4[,], i8[,], i8, i8, i8[], i4[], i4[], i8[]", cost=8)
def scan(
    codes: Int32Array,
    numbers: IntArray,
    copies: IntArray,
    target_codes: Int32Array,
    target_numbers: IntArray,
    mismatch: int,
    k: int,
    limit: IntArray,
    owner: Int32Array,
    row: Int32Array,
    distance: IntArray,
) -> int:
    """Fill in targets, near rows and their distances, and return how many; -1 where there is no room for them.

    Rows come as columns, ``codes`` [columns, rows] and ``numbers`` [columns, rows], targets as lines. Numbers are in
    units of cost; where one of two is a marker they cost nothing here. ``limit`` says how far rows may be at most, and
    is lowered to the distance of the k-th nearest row.
    """
    targets, rows = len(target_codes), copies.size
    far, many = np.empty((targets, k + 2), np.int64), np.empty((targets, k + 2), np.int64)
    entries = np.zeros(targets, np.int64)

    def insert(t: int, new: int, count: int) -> None:
        """Put rows among the nearest ones of a target, ascending, and lower its limit once they are k."""
        place = entries[t]
        while place > 0 and far[t, place - 1] > new:
            far[t, place], many[t, place] = far[t, place - 1], many[t, place - 1]
            place -= 1
        far[t, place], many[t, place] = new, count
        entries[t] += 1
        held = 0
        for at in range(entries[t]):
            held += many[t, at]
            if held >= k:
                entries[t], limit[t] = at + 1, far[t, at]
                break

    def still_near(filled: int) -> int:
        """Leave out the rows that are no longer near, and return how many there are then."""
        kept = 0
        for at in range(filled):
            if distance[at] <= limit[owner[at]]:
                owner[kept], row[kept], distance[kept] = owner[at], row[at], distance[at]
                kept += 1
        return kept

    differ, apart = np.empty(_AT_A_TIME, np.int32), np.empty(_AT_A_TIME, np.int64)
    filled = 0
    for first in range(0, rows, _AT_A_TIME):
        size = min(_AT_A_TIME, rows - first)
        for t in range(targets):
            for i in range(size):
                differ[i] = 0
            for c in range(len(codes)):
                codes_here, code = codes[c, first : first + size], target_codes[t, c]
                for i in range(size):
                    differ[i] += codes_here[i] != code
            for i in range(size):
                apart[i] = differ[i] * mismatch
            for c in range(len(numbers)):
                here, wanted = numbers[c, first : first + size], target_numbers[t, c]
                if wanted > _LAST_MARKER:
                    for i in range(size):
                        apart[i] += abs(here[i] - wanted) if here[i] > _LAST_MARKER else 0
            nearest = apart[0]
            for i in range(size):
                nearest = min(nearest, apart[i])
            if nearest > limit[t]:
                continue
            for i in range(size):
                if apart[i] > limit[t]:
                    continue
                if filled == row.size:
                    filled = still_near(filled)
                    if 2 * filled > row.size:
                        return -1
                owner[filled], row[filled], distance[filled] = t, first + i, apart[i]
                filled += 1
                if apart[i] < limit[t]:
                    insert(t, apart[i], copies[first + i])
    return still_near(filled)
