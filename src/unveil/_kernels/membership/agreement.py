"""Row that shares most of a person's rare values, by batch bounds."""

from typing import Any

import numpy as np

from unveil._kernels._compile import kernel
from unveil._kernels.neighbours.nearest import ALL_UP_TO
from unveil._kernels.threads import available, in_threads
from unveil._kernels.types import CodeArray, IntArray, NarrowArray

#: Weights are whole multiples of 1 / this, so that equal sums are equal.
UNIT = 2**20
#: So many rows are compared with everybody before the next: they stay near the processor.
_AT_A_TIME = 2048
#: Rows are passed over by the sum of what columns weigh, in one byte each where the columns are at most so many, and
#: else in two, so that what is rounded is little beside the sum.
_FEW_COLUMNS = 24


def weight_by_count(number: int) -> IntArray:
    """Return value weights -log((c + 1/2) / (N + 1)), in `UNIT`s.

    >>> (weight_by_count(3) / UNIT).round(4)
    array([2.0794, 0.9808, 0.47  , 0.1335])
    """
    weights: IntArray = np.rint(-UNIT * np.log((np.arange(number + 1) + 0.5) / (number + 1))).astype(np.int64)
    return weights


def rarity(codes: CodeArray, population: CodeArray) -> IntArray:
    """Return the weight of sharing each value by rarity, in `UNIT`s.

    With c of n people that is -log((c + 1/2) / (n + 1)). Codes are whole numbers from 0 on.

    >>> weights = rarity(np.array([[1], [2]], np.int32), np.array([[1], [1], [1]], np.int32))
    >>> (weights / UNIT).round(4)  # -log(3.5 / 4) and -log(0.5 / 4)
    array([[0.1335],
           [2.0794]])
    """
    weights, by_count = np.empty(codes.shape, np.int64), weight_by_count(len(population))
    for column, (mine, theirs) in enumerate(zip(codes.T, population.T, strict=True)):
        weights[:, column] = by_count[np.bincount(theirs, minlength=int(mine.max(initial=0)) + 1)[mine]]
    return weights


def highest_agreement(
    rows: CodeArray, people: CodeArray, weights: IntArray, so_far: IntArray | None = None
) -> IntArray:
    """Return each person's largest weighted agreement with any row.

    Codes are whole numbers from 0 on; a person has none that is 0, so that a row's 0 equals nothing. ``so_far`` is the
    largest sum over other rows, which counts too.

    >>> rows, people = np.array([[1, 2], [3, 3]], np.int32), np.array([[1, 3], [4, 4]], np.int32)
    >>> highest_agreement(rows, people, np.array([[5, 7], [9, 9]]))
    array([7, 0])
    """
    least = np.zeros(len(people), np.int64) if so_far is None else so_far
    if len(rows) * len(people) <= ALL_UP_TO:
        return np.maximum(_by_matrix(rows, people, weights), least)
    lines = np.ascontiguousarray(rows.T)
    parts = np.array_split(np.arange(len(people)), available())
    found = in_threads(lambda some: _by_bounds(lines, people[some], weights[some], least[some]), parts)
    return np.concatenate(found)


def _by_matrix(rows: CodeArray, people: CodeArray, weights: IntArray) -> IntArray:
    shared = np.zeros((len(people), len(rows)), np.int64)
    for theirs, mine, weight in zip(rows.T, people.T, weights.T, strict=True):
        shared += (mine[:, None] == theirs) * weight[:, None]
    return np.asarray(shared.max(axis=1, initial=0), np.int64)


def _by_bounds(lines: CodeArray, people: CodeArray, weights: IntArray, at_least: IntArray) -> IntArray:
    """Return the highest agreement, or a lower bound, by column."""
    columns = len(lines)
    kind: np.dtype[np.unsignedinteger[Any]] = np.dtype(np.uint8 if columns <= _FEW_COLUMNS else np.uint16)
    # Shares are rounded up, so that their sum is a bound, and fits however it is rounded.
    unit = np.maximum(-(-weights.sum(axis=1) // (np.iinfo(kind).max - columns)), 1)
    share = np.zeros((len(people), columns + 1), kind)
    share[:, :columns] = -(-weights // unit[:, None])
    best = at_least.copy()
    low, bound = np.empty((columns, _AT_A_TIME), kind), np.empty(_AT_A_TIME, kind)
    _scan(lines, np.ascontiguousarray(people), people.astype(kind), weights, share, unit, low, bound, best)
    return best


@kernel(
    "i2[,], i2[,], u1[,], i8[,], u1[,], i8[], u1[,], u1[], i8[]",
    "i4[,], i4[,], u1[,], i8[,], u1[,], i8[], u1[,], u1[], i8[]",
    "i2[,], i2[,], u2[,], i8[,], u2[,], i8[], u2[,], u2[], i8[]",
    "i4[,], i4[,], u2[,], i8[,], u2[,], i8[], u2[,], u2[], i8[]",
    cost=64,
)
def _scan(
    lines: CodeArray,
    people: CodeArray,
    low_codes: NarrowArray,
    weights: IntArray,
    share: NarrowArray,
    unit: IntArray,
    low: NarrowArray,
    bound: NarrowArray,
    best: IntArray,
) -> None:
    """Raise each person's best agreement; ``low`` and ``bound`` are buffers.

    A bound of each row is the sum of what a person's columns weigh, in units, where the lowest bytes of codes are
    equal (``low_codes`` are those of people). Only rows whose bound is above the best so far are looked at. The last
    ``share`` of each person is nothing, in as few bytes: otherwise the processor would take fewer rows at a time.
    """
    columns, rows = lines.shape
    last = 255 if low.itemsize == 1 else 65535
    for first in range(0, rows, _AT_A_TIME):
        size = min(_AT_A_TIME, rows - first)
        for column in range(columns):
            for at in range(size):
                low[column, at] = lines[column, first + at] & last
        for person in range(len(people)):
            bound[:] = 0
            nothing = share[person, columns]
            for column in range(columns):
                line, code, added = low[column], low_codes[person, column], share[person, column]
                for at in range(size):
                    bound[at] += added if line[at] == code else nothing
            highest = bound[0]
            for at in range(size):
                highest = max(highest, bound[at])
            limit = best[person] // unit[person]
            if highest <= limit:
                continue
            for at in range(size):
                if bound[at] > limit:
                    total = 0
                    for column in range(columns):
                        if lines[column, first + at] == people[person, column]:
                            total += weights[person, column]
                    if total > best[person]:
                        best[person] = total
                        limit = total // unit[person]
