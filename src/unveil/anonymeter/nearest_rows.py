"""Nearest rows in anonymeter 1.1.0's order, without a full sort.

Its distances are floats that are added up column by column, and rows at the same distance stand in the order in which
numba's quicksort of the distances happens to leave them. Here only the distinct released rows are compared; the
order within a tie is worked out only for targets whose answer depends on it, and only for the first few places.
"""

from math import gcd
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unveil._kernels._compile import compiled, loop
from unveil._kernels.types import BoolArray, FloatArray, Int32Array, IntArray
from unveil.anonymeter.quicksort_order import first_places

Floats = NDArray[np.floating[Any]]

#: Up to how many comparisons nobody waits for the compiler. Few rows against many targets are many, so that the size of
#: the arrays, by which kernels are compiled elsewhere, would not do.
PLAIN_WORK = 20_000
#: How many released rows, over all targets, are held at a time as candidates, and as distances to be sorted.
CANDIDATES_AT_ONCE = 1 << 24
DISTANCES_AT_ONCE = 1 << 18
TARGETS_AT_ONCE = 512
#: The verdicts of ``meet``.
APART, TOGETHER, OPEN = 0, 1, 2


class ColumnGroup(NamedTuple):
    """Released rows and targets in one column group: codes and numbers.

    A tuple is one combination of category codes; a distinct row is a tuple with its numbers, and the distinct rows of a
    tuple stand side by side. Columns are in anonymeter's order, which is by name.
    """

    codes: Int32Array  # [category columns, tuples]
    tuple_start: IntArray  # [tuples + 1]: where the distinct rows of each tuple begin
    numbers: Floats  # [number columns, distinct rows]
    row_start: IntArray  # [distinct rows + 1]: where the released rows of each distinct row begin
    row: Int32Array  # [released rows], by distinct row
    target_codes: Int32Array  # [targets, category columns]
    target_numbers: Floats  # [targets, number columns]


class NearestRows(NamedTuple):
    """Released rows no farther than the k-th nearest."""

    start: IntArray  # [targets + 1]: where the rows of each target begin
    row: Int32Array
    sure: BoolArray  # among the k nearest in whatever order ties come
    tied: BoolArray  # [targets]: these are more than k rows, so that the order within the last tie decides


class GroupNeighbours(NamedTuple):
    """Nearest rows in one column group, shared by equal targets."""

    group: ColumnGroup  # with one target of each kind
    near: NearestRows
    of: IntArray  # [targets]: the kind of each


def collapse(codes: Int32Array, ranks: Int32Array) -> tuple[IntArray, IntArray, IntArray, Int32Array]:
    """Return the distinct rows of a :class:`ColumnGroup`, with their copies.

    ``codes`` and ``ranks`` have one column per category and per number column; equal rows have equal entries.

    >>> first, tuple_start, row_start, row = collapse(np.array([[1], [0], [1]]), np.array([[5], [5], [5]]))
    >>> first, tuple_start, row_start, row
    (array([1, 0]), array([0, 1, 2]), array([0, 1, 3]), array([1, 0, 2], dtype=int32))
    """
    of_tuple = _numbered(np.zeros(len(codes), np.int64), codes)
    of_row = _numbered(of_tuple, np.apply_along_axis(_scattered, 0, ranks) if ranks.size else ranks)
    row = np.argsort(of_row, kind="stable")
    row_start = np.append(np.flatnonzero(np.diff(of_row[row], prepend=-1)), len(row))
    first = row[row_start[:-1]]
    tuple_start = np.append(np.flatnonzero(np.diff(of_tuple[first], prepend=-1)), len(first))
    return first, tuple_start, row_start, row.astype(np.int32)


def _scattered(rank: IntArray) -> IntArray:
    """Return the ranks in a scattered order.

    A search that meets ever nearer rows on its way would have to note each of them as the nearest so far.
    """
    width = int(rank.max()) + 1
    step = max(1, round(0.618 * width))
    while gcd(step, width) > 1:
        step += 1
    return rank.astype(np.int64) * step % width


def _numbered(number: IntArray, columns: Int32Array) -> IntArray:
    """Return each row's rank among distinct rows, by number, then columns."""
    for column in columns.T:
        width = int(column.max(initial=0)) + 1
        if int(number.max(initial=0)) >= 2**62 // width:
            number = np.unique(number, return_inverse=True)[1]
        number = number * width + column
    return np.unique(number, return_inverse=True)[1]


def link(first: ColumnGroup, second: ColumnGroup, neighbours: int) -> BoolArray:
    """Return whether each target's nearest rows in both groups overlap."""
    targets, rows = len(first.target_codes), len(first.row)
    linked = np.zeros(targets, np.bool_)
    k = min(neighbours, rows)
    fast = targets * (rows + sum(group.codes.size + group.numbers.size for group in (first, second))) > PLAIN_WORK
    # Targets that look alike in a group have the same nearest rows there: side by side, these are found once.
    alike = [target_kinds(group) for group in (first, second)]
    order = np.lexsort(alike)
    at_once = max(1, min(TARGETS_AT_ONCE, CANDIDATES_AT_ONCE // max(1, rows)))
    for begin in range(0, targets if k else 0, at_once):
        part = order[begin : begin + at_once]
        one, other = (
            group_neighbours(group, part, kind[part], k, fast)
            for group, kind in zip((first, second), alike, strict=True)
        )
        linked[part] = _link_some(one, other, k, fast)
    return linked


def target_kinds(group: ColumnGroup) -> IntArray:
    """Return numbers that are equal for equal targets."""
    number = _numbered(np.zeros(len(group.target_codes), np.int64), group.target_codes)
    ranks = [np.unique(column, return_inverse=True)[1] for column in group.target_numbers.T]
    return _numbered(number, np.array(ranks, np.int32).reshape(-1, number.size).T)


def group_neighbours(group: ColumnGroup, targets: IntArray, kinds: IntArray, k: int, fast: bool) -> GroupNeighbours:
    """Return the nearest rows of some targets, one search per distinct target."""
    _, one_of_each, of = np.unique(kinds, return_index=True, return_inverse=True)
    some = _only(group, targets[one_of_each])
    find = compiled(nearest) if fast else nearest
    return GroupNeighbours(some, NearestRows(*find(*some, k)), of)


def _only(group: ColumnGroup, which: IntArray) -> ColumnGroup:
    return group._replace(target_codes=group.target_codes[which], target_numbers=group.target_numbers[which])


def _link_some(first: GroupNeighbours, second: GroupNeighbours, k: int, fast: bool) -> BoolArray:
    """Return :func:`link` for some targets, ordering ties only if needed."""
    verdict = _meet(first, second, fast)
    open_ = np.flatnonzero(verdict == OPEN)
    if _ties(second, open_) < _ties(first, open_):
        first, second = second, first
    first = exact_neighbours(first, open_, k, fast)
    verdict[open_] = _meet(first, second._replace(of=second.of[open_]), fast)
    still = np.flatnonzero(verdict[open_] == OPEN)
    second = exact_neighbours(second, open_[still], k, fast)
    verdict[open_[still]] = _meet(first._replace(of=first.of[still]), second, fast)
    return np.equal(verdict, TOGETHER)


def _ties(side: GroupNeighbours, targets: IntArray) -> int:
    """Return the number of sorts needed to break ties."""
    return int(side.near.tied[np.unique(side.of[targets])].sum())


def _meet(first: GroupNeighbours, second: GroupNeighbours, fast: bool) -> NDArray[np.int8]:
    """Return the verdict on each target, scanning the larger side once."""
    if _rows(first) < _rows(second):
        first, second = second, first
    order = np.argsort(first.of, kind="stable")
    find = compiled(meet) if fast else meet
    return find(order, first.of, *first.near[:3], second.of, *second.near[:3], len(first.group.row))


def _rows(side: GroupNeighbours) -> int:
    return int(np.diff(side.near.start)[side.of].sum())


def exact_neighbours(side: GroupNeighbours, targets: IntArray, k: int, fast: bool) -> GroupNeighbours:
    """Return the k nearest rows, with ties in numba's sort order."""
    group, near = side.group, side.near
    which, of = np.unique(side.of[targets], return_inverse=True)
    tied = near.tied[which]
    row = np.empty((which.size, k), np.int32)
    row[~tied] = near.row[near.start[which[~tied]][:, None] + np.arange(k)]
    codes = np.repeat(group.codes, np.diff(group.tuple_start), axis=1)
    distinct = np.empty(len(group.row), np.int32)
    distinct[group.row] = np.repeat(np.arange(len(group.row_start) - 1, dtype=np.int32), np.diff(group.row_start))
    at_once = max(1, DISTANCES_AT_ONCE // len(group.row))
    all_distances = compiled(distances) if fast else distances
    place = np.flatnonzero(tied)
    for begin in range(0, place.size, at_once):
        part = place[begin : begin + at_once]
        some = _only(group, which[part])
        full = all_distances(codes, group.numbers, distinct, some.target_codes, some.target_numbers)
        row[part] = first_places(full, k, fast=fast)
    certain, none = np.ones(row.size, np.bool_), np.zeros(which.size, np.bool_)
    return GroupNeighbours(group, NearestRows(np.arange(which.size + 1) * k, row.ravel(), certain, none), of)


@loop(
    "i4[,], i8[], f8[,], i8[], i4[], i4[,], f8[,], i8",
    "i4[,], i8[], f4[,], i8[], i4[], i4[,], f4[,], i8",
)
def nearest(
    codes: Int32Array,
    tuple_start: IntArray,
    numbers: Floats,
    row_start: IntArray,
    row: Int32Array,
    target_codes: Int32Array,
    target_numbers: Floats,
    k: int,
) -> tuple[IntArray, Int32Array, BoolArray, BoolArray]:
    """Return the fields of :class:`NearestRows`; there are at least k rows.

    Tuples are visited by their number of mismatches, which no distance to one of their rows is below: rounding is
    monotone. A distance that is NaN counts as infinite, which no other distance is.
    """
    targets = target_codes.shape[0]
    start, tied = np.zeros(targets + 1, np.int64), np.zeros(targets, np.bool_)
    found, sure = np.empty(k * targets, np.int32), np.empty(k * targets, np.bool_)
    mismatches = np.empty(codes.shape[1], np.int32)
    distance = np.empty(numbers.shape[1], np.float64)
    least, weight = np.empty(k + 1, np.float64), np.empty(k + 1, np.int64)
    for t in range(targets):
        _count_mismatches(codes, target_codes[t], mismatches)
        held, total, bound, level = 0, 0, np.inf, 0
        while level <= codes.shape[0] and level <= bound:
            for g in range(mismatches.size):
                if mismatches[g] == level:
                    low = tuple_start[g]
                    part = distance[low : tuple_start[g + 1]]
                    _add_numbers(part, numbers, low, target_numbers[t])
                    for _ in range(level):  # one by one: adding them at once would round differently
                        for i in range(part.size):
                            part[i] += 1.0
                    for i in range(part.size):
                        if np.isnan(part[i]):
                            part[i] = np.inf
                        if part[i] < bound:
                            rows = row_start[low + i + 1] - row_start[low + i]
                            held, total = _keep(part[i], rows, least, weight, held, total, k)
                            if total >= k:
                                bound = least[held - 1]
            level += 1
        if found.size < start[t] + row.size:
            found, sure = _longer(found, start[t], row.size), _longer(sure, start[t], row.size)
        end = _gather(mismatches, level, tuple_start, distance, bound, row_start, row, found, sure, start[t])
        start[t + 1] = end
        tied[t] = end - start[t] > k
        if not tied[t]:
            sure[start[t] : end] = True
    return start, found[: start[targets]].copy(), sure[: start[targets]].copy(), tied


def _count_mismatches(codes: Int32Array, wanted: Int32Array, mismatches: Int32Array) -> None:
    mismatches[:] = 0
    for c in range(wanted.size):
        code, column = wanted[c], codes[c]
        for g in range(column.size):
            mismatches[g] += column[g] != code


def _add_numbers(distance: FloatArray, numbers: Floats, low: int, wanted: Floats) -> None:
    """Add the distances in number columns, from row ``low``; NaN costs 1."""
    distance[:] = 0.0
    for c in range(wanted.size):
        value, column = wanted[c], numbers[c, low : low + distance.size]
        if np.isnan(value):
            for i in range(distance.size):
                distance[i] += 1.0 if np.isnan(column[i]) else np.nan
        else:
            for i in range(distance.size):
                distance[i] += abs(column[i] - value)


def _keep(
    distance: float, rows: int, at_least: FloatArray, weight: IntArray, held: int, total: int, k: int
) -> tuple[int, int]:
    """Return the kept least distances and their rows, after one more."""
    place = held
    while place > 0 and at_least[place - 1] > distance:
        at_least[place], weight[place] = at_least[place - 1], weight[place - 1]
        place -= 1
    at_least[place], weight[place] = distance, rows
    held += 1
    total += rows
    while total - weight[held - 1] >= k:
        held -= 1
        total -= weight[held]
    return held, total


def _longer(values: NDArray[Any], used: int, more: int) -> NDArray[Any]:
    longer = np.empty(2 * values.size + more, values.dtype)
    for place in range(used):
        longer[place] = values[place]
    return longer


def _gather(
    mismatches: Int32Array,
    level: int,
    tuple_start: IntArray,
    distance: FloatArray,
    bound: float,
    row_start: IntArray,
    row: Int32Array,
    rows_found: Int32Array,
    sure: BoolArray,
    end: int,
) -> int:
    """Write the rows within the bound, and return where they end."""
    for g in range(mismatches.size):
        if mismatches[g] < level:
            for i in range(tuple_start[g], tuple_start[g + 1]):
                if distance[i] <= bound:
                    for place in range(row_start[i], row_start[i + 1]):
                        rows_found[end] = row[place]
                        sure[end] = distance[i] < bound
                        end += 1
    return end


@loop("i8[], i8[], i8[], i4[], b1[], i8[], i8[], i4[], b1[], i8")
def meet(
    order: IntArray,
    first: IntArray,
    first_start: IntArray,
    first_row: Int32Array,
    first_sure: BoolArray,
    second: IntArray,
    second_start: IntArray,
    second_row: Int32Array,
    second_sure: BoolArray,
    rows: int,
) -> NDArray[np.int8]:
    """Return whether each target's sides meet: yes, no, or open.

    ``first`` and ``second`` number the targets that look alike; in the order given those of the first are together.
    """
    verdict = np.zeros(order.size, np.int8)
    seen = np.full(rows, -1, np.int64)  # twice the number of the kind of target, and 1 more where the row is sure
    before = -1
    for t in order:
        one, other = first[t], second[t]
        if one != before:
            before = one
            for i in range(first_start[one], first_start[one + 1]):
                seen[first_row[i]] = 2 * one + first_sure[i]
        for i in range(second_start[other], second_start[other + 1]):
            mark = seen[second_row[i]]
            if mark >> 1 == one:
                verdict[t] = OPEN
                if mark & 1 and second_sure[i]:
                    verdict[t] = TOGETHER
                    break
    return verdict


@loop(
    "i4[,], f8[,], i4[], i4[,], f8[,]",
    "i4[,], f4[,], i4[], i4[,], f4[,]",
)
def distances(
    codes: Int32Array, numbers: Floats, distinct: Int32Array, target_codes: Int32Array, target_numbers: Floats
) -> FloatArray:
    """Return the distance of each target to each released row."""
    result = np.empty((target_codes.shape[0], distinct.size), np.float64)
    distance = np.empty(numbers.shape[1], np.float64)
    for t in range(target_codes.shape[0]):
        _add_numbers(distance, numbers, 0, target_numbers[t])
        for c in range(codes.shape[0]):
            code, code_column = target_codes[t, c], codes[c]
            for i in range(distance.size):
                distance[i] += 1.0 if code_column[i] != code else 0.0
        for r in range(distinct.size):
            result[t, r] = distance[distinct[r]]
    return result
