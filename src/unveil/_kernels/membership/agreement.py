"""The one row that shares most of a person's rare values, found by bounds that are computed for many rows at a time."""

import numpy as np

from unveil._kernels._compile import kernel
from unveil._kernels.neighbours.nearest import ALL_UP_TO
from unveil._kernels.threads import available, in_threads
from unveil._kernels.types import ByteArray, CodeArray, IntArray

#: Weights are whole multiples of 1 / this, so that equal sums are equal.
UNIT = 2**20
#: So many rows are compared with everybody before the next: they stay near the processor.
_AT_A_TIME = 2048
#: By so many columns at most, a person's heaviest ones, rows are passed over; the highest bound is one byte.
_MOST_COLUMNS, _HIGHEST = 24, 255


def weight_by_count(number: int) -> IntArray:
    """Return how much a value weighs that c = 0, 1, ... of so many have: -log((c + 1/2) / (number + 1)), in `UNIT`s.

    >>> (weight_by_count(3) / UNIT).round(4)
    array([2.0794, 0.9808, 0.47  , 0.1335])
    """
    weights: IntArray = np.rint(-UNIT * np.log((np.arange(number + 1) + 0.5) / (number + 1))).astype(np.int64)
    return weights


def rarity(codes: CodeArray, population: CodeArray) -> IntArray:
    """Return how much it weighs to share each value, the more the rarer it is in the population, in parts of `UNIT`.

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


def highest_agreement(rows: CodeArray, people: CodeArray, weights: IntArray) -> IntArray:
    """Return the largest sum of weights of the values that a row shares with each person, over all rows.

    Codes are whole numbers from 0 on; a person has none that is 0, so that a row's 0 equals nothing.

    >>> rows, people = np.array([[1, 2], [3, 3]], np.int32), np.array([[1, 3], [4, 4]], np.int32)
    >>> highest_agreement(rows, people, np.array([[5, 7], [9, 9]]))
    array([7, 0])
    """
    if len(rows) * len(people) <= ALL_UP_TO:
        return _by_matrix(rows, people, weights)
    lines = np.ascontiguousarray(rows.T)
    parts = np.array_split(np.arange(len(people)), available())
    found = in_threads(lambda some: _by_bounds(lines, people[some], weights[some]), parts)
    return np.concatenate(found)


def _by_matrix(rows: CodeArray, people: CodeArray, weights: IntArray) -> IntArray:
    shared = np.zeros((len(people), len(rows)), np.int64)
    for theirs, mine, weight in zip(rows.T, people.T, weights.T, strict=True):
        shared += (mine[:, None] == theirs) * weight[:, None]
    return np.asarray(shared.max(axis=1), np.int64)


def _by_bounds(lines: CodeArray, people: CodeArray, weights: IntArray) -> IntArray:
    """Return the highest agreement where ``lines`` are the columns of the rows."""
    order = np.argsort(-weights, axis=1, kind="stable")[:, :_MOST_COLUMNS]
    heavy = np.take_along_axis(weights, order, 1)
    # Shares are rounded up, so that their sum is a bound, and fits a byte however it is rounded.
    unit = np.maximum(-(-heavy.sum(axis=1) // (_HIGHEST - order.shape[1])), 1)
    share = (-(-heavy // unit[:, None])).astype(np.uint8)
    best, light = np.zeros(len(people), np.int64), weights.sum(axis=1) - heavy.sum(axis=1)
    _scan(lines, np.ascontiguousarray(people), weights, order, share, unit, light, best)
    return best


@kernel(
    "i2[,], i2[,], i8[,], i8[,], u1[,], i8[], i8[], i8[]",
    "i4[,], i4[,], i8[,], i8[,], u1[,], i8[], i8[], i8[]",
    cost=64,
)
def _scan(
    lines: CodeArray,
    people: CodeArray,
    weights: IntArray,
    order: IntArray,
    share: ByteArray,
    unit: IntArray,
    light: IntArray,
    best: IntArray,
) -> None:
    """Raise the best agreement of each person to the highest one of all rows.

    A bound of each row is the sum of what a person's heaviest columns weigh, in units, where the lowest bytes of codes
    are equal, and of what all light columns weigh. Only rows whose bound is above the best so far are looked at.
    """
    columns, rows = lines.shape
    low, bound = np.empty((columns, _AT_A_TIME), np.uint8), np.empty(_AT_A_TIME, np.uint8)
    for first in range(0, rows, _AT_A_TIME):
        size = min(_AT_A_TIME, rows - first)
        for column in range(columns):
            for at in range(size):
                low[column, at] = np.uint8(lines[column, first + at] & 255)
        for person in range(len(people)):
            bound[:] = 0
            for place in range(order.shape[1]):
                line, code = low[order[person, place]], np.uint8(people[person, order[person, place]] & 255)
                added, nothing = share[person, place], np.uint8(0)
                for at in range(size):
                    bound[at] = np.uint8(bound[at] + (added if line[at] == code else nothing))
            highest = np.uint8(0)
            for at in range(size):
                highest = max(highest, bound[at])
            limit = (best[person] - light[person]) // unit[person]
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
                        limit = (total - light[person]) // unit[person]
