"""The one row that shares most of a person's rare values, found through lists of the rows with each value."""

import numpy as np

from unveil._kernels._compile import kernel
from unveil._kernels.neighbours.index import Grid, content_rank
from unveil._kernels.neighbours.nearest import ALL_UP_TO
from unveil._kernels.types import Int32Array, IntArray

#: Weights are whole multiples of 1 / this, so that equal sums are equal.
UNIT = 2**20


def weight_by_count(number: int) -> IntArray:
    """Return how much a value weighs that c = 0, 1, ... of so many have: -log((c + 1/2) / (number + 1)), in `UNIT`s.

    >>> (weight_by_count(3) / UNIT).round(4)
    array([2.0794, 0.9808, 0.47  , 0.1335])
    """
    weights: IntArray = np.rint(-UNIT * np.log((np.arange(number + 1) + 0.5) / (number + 1))).astype(np.int64)
    return weights


def rarity(codes: Int32Array, population: Int32Array) -> IntArray:
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


def highest_agreement(rows: Int32Array, people: Int32Array, weights: IntArray) -> IntArray:
    """Return the largest sum of weights of the values that a row shares with each person, over all rows.

    Codes are whole numbers from 0 on; a person has none that is 0, so that a row's 0 equals nothing.

    >>> rows, people = np.array([[1, 2], [3, 3]], np.int32), np.array([[1, 3], [4, 4]], np.int32)
    >>> highest_agreement(rows, people, np.array([[5, 7], [9, 9]]))
    array([7, 0])
    """
    if len(rows) * len(people) <= ALL_UP_TO:
        return _by_matrix(rows, people, weights)
    # Equal rows agree alike: one of each is enough.
    rank = content_rank(Grid(np.empty((len(rows), 0), np.int64), rows, np.empty(0, np.int64), 1))
    rows = np.ascontiguousarray(rows[np.unique(rank, return_index=True)[1]])
    size = np.maximum(rows.max(axis=0, initial=0), people.max(axis=0, initial=0)) + 1
    offset = np.concatenate([[0], np.cumsum(size + 1)])
    start = np.empty(int(offset[-1]), np.int64)
    listed = np.empty(rows.T.shape, np.int32)
    for column, codes in enumerate(rows.T):
        listed[column] = np.argsort(codes, kind="stable")
        start[offset[column] : offset[column + 1]] = np.searchsorted(codes[listed[column]], np.arange(size[column] + 1))
    order = np.argsort(-weights, axis=1, kind="stable")
    best = np.zeros(len(people), np.int64)
    arranged = np.take_along_axis(people, order, 1), np.take_along_axis(weights, order, 1), order.astype(np.int32)
    _search(rows, listed, start, offset, *arranged, best)
    return best


def _by_matrix(rows: Int32Array, people: Int32Array, weights: IntArray) -> IntArray:
    shared = np.zeros((len(people), len(rows)), np.int64)
    for theirs, mine, weight in zip(rows.T, people.T, weights.T, strict=True):
        shared += (mine[:, None] == theirs) * weight[:, None]
    return np.asarray(shared.max(axis=1), np.int64)


@kernel("i4[,], i4[,], i8[], i8[], i4[,], i8[,], i4[,], i8[]")
def _search(
    rows: Int32Array,
    listed: Int32Array,
    start: IntArray,
    offset: IntArray,
    wanted: Int32Array,
    weights: IntArray,
    order: Int32Array,
    best: IntArray,
) -> None:
    """Fill in the highest agreement of each person, whose columns stand from the heaviest to the lightest.

    Rows that share the heaviest value are looked at first, then those that share the next one; as soon as all that is
    left weighs no more than the best so far, no other row can be better.
    """
    columns = wanted.shape[1]
    seen = np.full(len(rows), -1, np.int64)
    for person in range(len(wanted)):
        highest, left = 0, 0
        for place in range(columns):
            left += weights[person, place]
        for place in range(columns):
            if left <= highest:
                break
            column, value = order[person, place], wanted[person, place]
            at, end = start[offset[column] + value], start[offset[column] + value + 1]
            while at < end:
                row = listed[column, at]
                at += 1
                if seen[row] == person:
                    continue
                seen[row] = person
                # It shares no heavier value, or it would have been seen.
                possible = left
                for other in range(place + 1, columns):
                    if rows[row, order[person, other]] != wanted[person, other]:
                        possible -= weights[person, other]
                        if possible <= highest:
                            break
                highest = max(highest, possible)
            left -= weights[person, place]
        best[person] = highest
