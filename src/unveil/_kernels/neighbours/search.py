"""The search for the nearest distinct rows of every distinct target, ties included."""

from collections.abc import Iterator
from typing import NamedTuple, Protocol

import numpy as np

from unveil._kernels._compile import kernel
from unveil._kernels.neighbours.index import LAST_MARKER, Prepared
from unveil._kernels.types import Int32Array, IntArray

#: Farther than any row: the limit of a target with fewer than k rows.
_FAR = int(np.iinfo(np.int64).max)
_LAST_MARKER = int(LAST_MARKER)

#: How many near rows are held at once; more targets than that are searched in parts.
ROOM = 2**22


class Near(NamedTuple):
    """The distinct rows at most as far as the k-th nearest released row, for each of some targets."""

    start: IntArray  # those of target t are start[t] to start[t + 1] - 1
    row: Int32Array
    distance: IntArray
    limit: IntArray  # the distance of the k-th nearest released row


def nearest_sets(prepared: Prepared, some: IntArray, k: int) -> Near | None:
    """Return the near rows of some distinct targets (ascending), or None where they are more than there is room for.

    There is always room for one target.
    """
    p = prepared
    room = min(max(ROOM, p.copies.size), some.size * p.copies.size)
    row, distance, limit = np.empty(room, np.int32), np.empty(room, np.int64), np.empty(some.size, np.int64)
    start = np.zeros(some.size + 1, np.int64)
    released = p.group_start, p.group_codes, p.copies, p.numbers
    targets = p.tuple_codes, p.tuple_group, p.tuple_of[some], p.wanted[some]
    if not _search(*released, *targets, p.step, p.mismatch, k, start, row, distance, limit):
        return None
    return Near(start, row[: start[-1]].copy(), distance[: start[-1]].copy(), limit)


class Neighbourhood(Protocol):
    """Rows and targets that look alike once, whatever they are: exact rows, or boxes of cells."""

    @property
    def row_of(self) -> Int32Array:
        """The distinct row of each row."""

    @property
    def copies(self) -> IntArray:
        """How many rows each distinct row stands for."""

    @property
    def target_of(self) -> Int32Array:
        """The distinct target of each target."""

    @property
    def targets(self) -> int:
        """How many distinct targets there are."""

    def nearest(self, some: IntArray, k: int) -> Near | None:
        """Return the near rows of some distinct targets (ascending), or None where there is no room for them."""


def nearest_in_parts(around: Neighbourhood, k: int) -> Iterator[tuple[IntArray, Near]]:
    """Yield all distinct targets in ascending parts for which there is room, with their near rows."""
    todo = [np.arange(around.targets)]
    while todo:
        some = todo.pop()
        near = around.nearest(some, k)
        if near is None:
            todo += [some[some.size // 2 :], some[: some.size // 2]]
        else:
            yield some, near


@kernel
def _search(
    group_start: IntArray,
    group_codes: Int32Array,
    copies: IntArray,
    numbers: IntArray,
    tuple_codes: Int32Array,
    tuple_group: IntArray,
    tuple_of: IntArray,
    wanted: IntArray,
    step: IntArray,
    mismatch: int,
    k: int,
    start: IntArray,
    row: Int32Array,
    distance: IntArray,
    limit: IntArray,
) -> bool:
    """Fill in the near rows of all targets, and return whether there was room for them.

    Groups are visited by their number of different categories, which alone cost that many mismatches, until that is
    farther than the k-th row so far; which groups those are is found once for all targets with the same categories, and
    no further than needed. Within a group rows are visited from the target's place in the first number column outwards.
    """

    def place_of(value: int, low: int, high: int) -> int:
        """Return the first row from ``low`` on whose first number is at least the value."""
        while low < high:
            middle = (low + high) // 2
            if numbers[middle, 0] < value:
                low = middle + 1
            else:
                high = middle
        return low

    def push(far: IntArray, many: IntArray, size: int, new: int, count: int) -> None:
        """Put rows into a heap, the farthest on top, that has ``size`` entries."""
        while size > 0 and far[(size - 1) // 2] < new:
            far[size], many[size] = far[(size - 1) // 2], many[(size - 1) // 2]
            size = (size - 1) // 2
        far[size], many[size] = new, count

    def pop(far: IntArray, many: IntArray, size: int) -> None:
        """Take the top away from a heap that has ``size`` entries after that."""
        at, below = 0, 1
        while below < size:
            if below + 1 < size and far[below + 1] > far[below]:
                below += 1
            if far[below] <= far[size]:
                break
            far[at], many[at] = far[below], many[below]
            at, below = below, 2 * below + 1
        far[at], many[at] = far[size], many[size]

    columns, groups = group_codes.shape
    width = numbers.shape[1]
    different = np.empty(groups, np.int32)
    listed = np.empty(groups + 1, np.int64)  # groups by number of different categories
    level = np.zeros(columns + 2, np.int64)  # where each of these numbers starts
    seen, seen_distance = np.empty(copies.size, np.int32), np.empty(copies.size, np.int64)
    far, many = np.empty(k + 2, np.int64), np.empty(k + 2, np.int64)  # a heap of the nearest k rows so far
    now, ready, filled = -1, 0, 0
    for t in range(tuple_of.size):
        if tuple_of[t] != now:
            now, ready = tuple_of[t], 0
        visited, entries, held, bound = 0, 0, 0, _FAR
        for h in range(columns + 1):
            base = h * mismatch
            if base > bound:
                break
            if h == ready:
                ready += 1
                end = level[h]
                if h == 0:
                    listed[0] = tuple_group[now]
                    end += tuple_group[now] >= 0
                else:
                    if h == 1:
                        different[:] = 0
                        for c in range(columns):
                            code, column = tuple_codes[now, c], group_codes[c]
                            for g in range(groups):
                                different[g] += column[g] != code
                    for g in range(groups):
                        listed[end] = g
                        end += different[g] == h
                level[h + 1] = end
            for at in range(level[h], level[h + 1]):
                low, high = group_start[listed[at]], group_start[listed[at] + 1]
                in_order = width > 0 and wanted[t, 0] > _LAST_MARKER and numbers[low, 0] > _LAST_MARKER
                up = place_of(wanted[t, 0], low, high) if in_order else low
                down = up - 1
                while up < high or down >= low:
                    d, forward = base, True
                    if in_order:
                        ahead = numbers[up, 0] - wanted[t, 0] if up < high else _FAR
                        behind = wanted[t, 0] - numbers[down, 0] if down >= low else _FAR
                        forward = ahead <= behind
                        d += min(ahead, behind) * step[0]
                        if d > bound:
                            break
                    if forward:
                        r = up
                        up += 1
                    else:
                        r = down
                        down -= 1
                    for c in range(1 if in_order else 0, width):
                        if numbers[r, c] > _LAST_MARKER and wanted[t, c] > _LAST_MARKER:
                            d += abs(numbers[r, c] - wanted[t, c]) * step[c]
                    if d <= bound:
                        seen[visited], seen_distance[visited] = r, d
                        visited += 1
                    if d < bound:
                        push(far, many, entries, d, copies[r])
                        entries += 1
                        held += copies[r]
                        while held - many[0] >= k:
                            held -= many[0]
                            entries -= 1
                            pop(far, many, entries)
                        if held >= k:
                            bound = far[0]
        for v in range(visited):
            if seen_distance[v] <= bound:
                if filled == row.size:
                    return False
                row[filled], distance[filled] = seen[v], seen_distance[v]
                filled += 1
        start[t + 1] = filled
        limit[t] = bound
    return True
