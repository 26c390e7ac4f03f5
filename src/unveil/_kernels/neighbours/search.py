"""The search for the nearest distinct rows of every distinct target, ties included."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol, overload

import numpy as np

from unveil._kernels._compile import NUMPY_STEPS, kernel
from unveil._kernels.neighbours.index import CHUNK, LAST_MARKER, SearchIndex
from unveil._kernels.neighbours.scan import in_costs, in_few_bytes, in_mismatches, off_by, scan
from unveil._kernels.threads import available, in_threads
from unveil._kernels.types import BagArray, ByteArray, Int32Array, IntArray

#: Farther than any row: the limit of a target with fewer than k rows.
FAR = int(np.iinfo(np.int64).max)
_LAST_MARKER = int(LAST_MARKER)

#: So many targets are worth threads of their own.
_LEAST_PER_THREAD = 64

#: With more columns every row is about as far as every other, and looking at all of them is quicker than choosing.
MANY_COLUMNS = 40
_FEW_NEAR = 64

#: A byte counts the categories that differ, so that only this many columns decide which groups are visited when.
_COUNTED = 255

#: Steps of numpy that sorting takes for each distance.
_SORT_STEPS = 16

#: How many near rows are held at once; more targets than that are searched in parts.
ROOM = 2**22


class NearRows(NamedTuple):
    """Distinct rows within the k-th released distance, for some targets."""

    start: IntArray  # those of target t are start[t] to start[t + 1] - 1
    row: Int32Array
    distance: IntArray
    limit: IntArray  # the distance of the k-th nearest released row


def nearest_sets(prepared: SearchIndex, some: IntArray, k: int, limit: IntArray | None = None) -> NearRows | None:
    """Return the near rows of some ascending targets, or None if full.

    There is always room for one target. With a ``limit`` for each of these, near are all rows at most as far; fewer
    than k rows may then be nearer.
    """
    if available() > 1 and some.size > _LEAST_PER_THREAD:
        parts = np.array_split(np.arange(some.size), available())
        found = in_threads(lambda at: _searched(prepared, some[at], k, None if limit is None else limit[at]), parts)
        return _one_after_another(found)
    return _searched(prepared, some, k, limit)


def _one_after_another(parts: list[NearRows | None]) -> NearRows | None:
    """Return the near rows of all parts, or None if full."""
    found = [part for part in parts if part is not None]
    if len(found) < len(parts):
        return None
    starts = np.cumsum([0, *(part.row.size for part in found)])
    start = np.concatenate([[0], *(first + part.start[1:] for first, part in zip(starts, found, strict=False))])
    return NearRows(start, *(np.concatenate([part[place] for part in found]) for place in (1, 2, 3)))


def _searched(prepared: SearchIndex, some: IntArray, k: int, limits: IntArray | None) -> NearRows | None:
    p = prepared
    room = min(max(ROOM, p.copies.size), some.size * p.copies.size)
    row, distance = np.empty(room, np.int32), np.empty(room, np.int64)
    limit = np.full(some.size, FAR) if limits is None else limits.copy()
    start = np.zeros(some.size + 1, np.int64)
    if len(p.group_codes) + p.numbers.shape[1] > MANY_COLUMNS and k <= _FEW_NEAR:
        return _scanned(p, some, k, limit, row, distance)
    released = p.group_start, p.group_codes, p.low_codes, p.bags, p.copies, p.numbers
    targets = p.tuple_codes, p.tuple_group, p.tuple_of[some], p.wanted[some]
    if not _search(
        *released,
        *targets,
        p.step,
        p.mismatch,
        k,
        start,
        row,
        distance,
        limit,
        np.empty(CHUNK, np.uint8),
        np.empty(CHUNK + 1, np.int64),
        np.empty(p.copies.size, np.int32),
        np.empty((2, k + 2), np.int64),
        np.empty((2, max(p.copies.size, len(p.bags))), np.int64),
    ):
        return None
    return NearRows(start, row[: start[-1]].copy(), distance[: start[-1]].copy(), limit)


def _scanned(
    p: SearchIndex, some: IntArray, k: int, limit: IntArray, row: Int32Array, distance: IntArray
) -> NearRows | None:
    """Return the near rows by exhaustive scan, with buffers."""
    owner = np.empty_like(row)
    codes, wanted = in_few_bytes(p.group_codes, p.tuple_codes[p.tuple_of[some]])
    costs, target_costs = in_costs(p.numbers, p.step), in_costs(p.wanted[some], p.step)
    shares, target_shares = (in_mismatches(each, p.mismatch) for each in (costs.T, target_costs))
    found = scan(
        np.repeat(codes, np.diff(p.group_start), axis=1),
        np.ascontiguousarray(shares),
        costs,
        p.copies,
        wanted,
        target_shares,
        target_costs,
        p.mismatch,
        off_by(shares, target_shares),
        k,
        limit,
        owner,
        row,
        distance,
    )
    if found < 0:
        return None
    order = np.argsort(owner[:found], kind="stable")
    start = np.searchsorted(owner[:found][order], np.arange(some.size + 1))
    return NearRows(start, row[:found][order], distance[:found][order], limit)


class Neighbourhood(Protocol):
    """Distinct rows and targets, as exact rows or boxes."""

    @property
    def row_of(self) -> Int32Array:
        """The distinct row of each row."""

    @property
    def copies(self) -> IntArray:
        """Number of rows per distinct row."""

    @property
    def target_of(self) -> Int32Array:
        """The distinct target of each target."""

    @property
    def targets(self) -> int:
        """Number of distinct targets."""

    def nearest(self, some: IntArray, k: int) -> NearRows | None:
        """Return the near rows of some ascending targets, or None if full."""

    def nearest_of_each(self, some: IntArray, ks: Sequence[int]) -> list[NearRows] | None:
        """Return the same for several k, by one search."""


def nearer_rows(near: NearRows, copies: IntArray, k: int) -> NearRows:
    """Return the near rows within a smaller k-th distance."""
    owner = np.repeat(np.arange(near.limit.size), np.diff(near.start))
    # Of the rows at the limit there may be many, and their order does not matter.
    below = np.flatnonzero(near.distance < near.limit[owner])
    below = below[np.lexsort((near.distance[below], owner[below]))]
    so_far = np.concatenate([[0], np.cumsum(copies[near.row[below]])])
    first, end = (np.searchsorted(owner[below], np.arange(near.limit.size), side=side) for side in ("left", "right"))
    place = np.searchsorted(so_far[1:], so_far[first] + k)
    limit, is_below = near.limit.copy(), place < end
    limit[is_below] = near.distance[below[place[is_below]]]
    kept = near.distance <= limit[owner]
    start = np.concatenate([[0], np.cumsum(np.bincount(owner[kept], minlength=limit.size))])
    return NearRows(start, near.row[kept], near.distance[kept], limit)


@overload
def nearest_in_parts(around: Neighbourhood, k: int) -> Iterator[tuple[IntArray, NearRows]]: ...
@overload
def nearest_in_parts(around: SearchIndex, k: int, limit: IntArray) -> Iterator[tuple[IntArray, NearRows]]: ...
def nearest_in_parts(
    around: Neighbourhood | SearchIndex, k: int, limit: IntArray | None = None
) -> Iterator[tuple[IntArray, NearRows]]:
    """Yield all targets in ascending parts, with near rows.

    With a ``limit`` for each, rows are at most as far, and there may be fewer than k, or none.
    """
    todo = [np.arange(around.targets)]
    while todo:
        some = todo.pop()
        if limit is not None and isinstance(around, SearchIndex):
            near = around.nearest(some, k, limit[some])
        else:
            near = around.nearest(some, k)
        if near is None:
            todo += [some[some.size // 2 :], some[: some.size // 2]]
        else:
            yield some, near


def _steps(*given: Any) -> int:
    codes, copies, numbers, targets = given[1], given[4], given[5], given[8]
    steps: int = (copies.size + 1) * targets.size * (len(codes) + numbers.shape[1] + _SORT_STEPS)
    return steps // NUMPY_STEPS


def _compare_all(
    group_start: IntArray,
    group_codes: Int32Array,
    _low_codes: ByteArray,
    _bags: BagArray,
    copies: IntArray,
    numbers: IntArray,
    tuple_codes: Int32Array,
    _tuple_group: IntArray,
    tuple_of: IntArray,
    wanted: IntArray,
    step: IntArray,
    mismatch: int,
    k: int,
    start: IntArray,
    row: Int32Array,
    distance: IntArray,
    limit: IntArray,
    *_room: Any,
) -> bool:
    """Do the same as ``_search`` in numpy, with every row of every target."""
    if not copies.size:
        return True
    tuples, tuple_at = np.unique(tuple_of, return_inverse=True)
    differ = np.zeros((tuples.size, group_codes.shape[1]), np.int64)
    for column, codes in enumerate(group_codes):
        differ += codes != tuple_codes[tuples, column][:, None]
    group = np.repeat(np.arange(group_start.size - 1), np.diff(group_start))
    far = (differ * mismatch)[:, group][tuple_at]
    for column, cost in enumerate(step):
        own, theirs = numbers[:, column], wanted[:, column][:, None]
        both = (own > _LAST_MARKER) & (theirs > _LAST_MARKER)
        far += np.abs(np.where(both, own - theirs, 0)) * cost
    order = np.argsort(far, axis=1, kind="stable")
    enough = np.cumsum(copies[order], axis=1) >= k
    last = np.take_along_axis(order, enough.argmax(axis=1)[:, None], axis=1)
    nearest = np.where(enough.any(axis=1), np.take_along_axis(far, last, axis=1)[:, 0], FAR)
    np.minimum(limit, nearest, out=limit)
    near = far <= limit[:, None]
    start[1:] = np.cumsum(near.sum(axis=1))
    if start[-1] > row.size:
        return False
    row[: start[-1]], distance[: start[-1]] = np.nonzero(near)[1], far[near]
    return True


@kernel(
    "i8[], i4[,], u1[,,], u8[,], i8[], i8[,], i4[,], i8[], i8[], i8[,], i8[], i8, i8, i8[], i4[], i8[], i8[], "
    "u1[], i8[], i4[], i8[,], i8[,]",
    cost=_steps,
    small=_compare_all,
)
def _search(
    group_start: IntArray,
    group_codes: Int32Array,
    low_codes: ByteArray,
    bags: BagArray,
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
    differ: ByteArray,
    listed: IntArray,
    seen: Int32Array,
    heap: IntArray,
    beside: IntArray,
) -> bool:
    """Fill in the near rows of all targets, if there is room.

    ``limit`` says how far rows may be at most, and is lowered to the distance of the k-th nearest row.

    Groups are visited by their number of different categories, which alone cost that many mismatches, until that is
    farther than the limit. Groups stand in chunks: one whose bags of codes lack too many of the target's is passed
    over, and in the others the lowest bytes of codes are compared, many at a time. Within a group rows are visited from
    the target's place in the first number column outwards.
    """

    def lacking(at_least: IntArray, codes: Int32Array) -> None:
        """Count the columns per chunk without the target's code."""
        for chunk in range(len(bags)):
            count = 0
            for c in range(min(codes.size, _COUNTED)):
                count += ((bags[chunk, c] >> np.uint64(codes[c] & 63)) & np.uint64(1)) == 0
            at_least[chunk] = count

    def at_level(
        h: int, size: int, lines: ByteArray, codes: Int32Array, differ: ByteArray, listed: IntArray
    ) -> tuple[int, int]:
        """List the groups with ``h`` differing low bytes, and the minimum.

        Where no low byte differs a code may still do, so these come with the first level.
        """
        differ[:size] = 0
        for c in range(min(codes.size, _COUNTED)):
            line, code = lines[c], np.uint8(codes[c] & 255)
            for i in range(size):
                differ[i] = np.uint8(differ[i] + np.uint8(line[i] != code))
        fewest = np.uint8(255)
        for i in range(size):
            fewest = min(fewest, differ[i])
        found, lowest = 0, h if h > 1 else 0
        if fewest <= h:
            for i in range(size):
                if lowest <= differ[i] <= h:
                    listed[found] = i
                    found += 1
        return found, int(fewest)

    def place_of(value: int, low: int, high: int) -> int:
        """Return the first row from ``low`` with at least the value."""
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
    chunks, width = len(bags), numbers.shape[1]
    seen_distance, least = beside[0], beside[1]  # of each chunk: as few categories differ at least, for one tuple
    far, many = heap[0], heap[1]  # a heap of the nearest k rows so far
    now, ready, filled = -1, False, 0
    for t in range(tuple_of.size):
        if tuple_of[t] != now:
            now, ready = tuple_of[t], False
        visited, entries, held, bound = 0, 0, 0, limit[t]
        for h in range(columns + 1):
            if h * mismatch > bound:
                break
            if h == 1 and not ready:
                ready = True
                lacking(least, tuple_codes[now])
            for chunk in range(chunks if h else 1):
                if h == 0:
                    listed[0] = tuple_group[now]
                    found = 1 if tuple_group[now] >= 0 else 0
                elif least[chunk] > h:
                    continue
                else:
                    first = chunk * CHUNK
                    size = min(CHUNK, groups - first)
                    found, least[chunk] = at_level(h, size, low_codes[chunk], tuple_codes[now], differ, listed)
                    for at in range(found):
                        listed[at] += first
                for at in range(found):
                    g = listed[at]
                    if h > 0 and g == tuple_group[now]:
                        continue
                    base = 0
                    for c in range(columns):
                        base += (group_codes[c, g] != tuple_codes[now, c]) * mismatch
                    if base > bound:
                        continue
                    low, high = group_start[g], group_start[g + 1]
                    in_order = width > 0 and wanted[t, 0] > _LAST_MARKER and numbers[low, 0] > _LAST_MARKER
                    up = place_of(wanted[t, 0], low, high) if in_order else low
                    down = up - 1
                    while up < high or down >= low:
                        d, forward = base, True
                        if in_order:
                            ahead = numbers[up, 0] - wanted[t, 0] if up < high else FAR
                            behind = wanted[t, 0] - numbers[down, 0] if down >= low else FAR
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
