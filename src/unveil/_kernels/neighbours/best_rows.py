"""How likely the secret of a best released row is right, for many sets of columns that differ by one column.

What a row scores for a person is a sum over columns, so that a set of columns is tried by adding one column to those
that are held, or by taking one away. All scores are whole numbers: rows tie exactly, and ties are broken by lot.
"""

from typing import NamedTuple

import numpy as np

from unveil._kernels._compile import PLAIN_UP_TO, compiled, loop
from unveil._kernels.membership.agreement import weight_by_count
from unveil._kernels.neighbours.index import LAST_MARKER, Grid
from unveil._kernels.types import BoolArray, FloatArray, IntArray

#: So many rows are looked at in one go; no number depends on it.
_AT_A_TIME = 1024
#: No row scores as little.
_LOWEST = -(2**62)


class RowScores(NamedTuple):
    """What released rows score for people, column by column, the number columns first.

    A column in which both are equal scores ``weight`` of the person; where they differ it costs ``step`` for each unit
    between two numbers (the first ``numbers`` columns), and else ``mismatch``.
    """

    rows: IntArray  # [released rows, columns], each column in one piece
    people: IntArray  # [people, columns]
    weight: IntArray  # [people, columns]
    step: IntArray
    mismatch: int
    numbers: int


class RightRanks(NamedTuple):
    """The place of each released row's secret, -1 where it is missing, and which places are right for each person."""

    rank: IntArray
    low: IntArray
    high: IntArray

    def of(self, some: slice) -> "RightRanks":
        """Return the same for some of the people."""
        return RightRanks(self.rank, self.low[some], self.high[some])


def by_distance(released: Grid, people: Grid) -> RowScores:
    """Return scores that are highest for the nearest rows: minus the distance."""
    rows, wanted = np.asfortranarray(_columns(released)), _columns(people)
    step = np.concatenate([released.step_cost, np.zeros(released.codes.shape[1], np.int64)])
    return RowScores(rows, wanted, np.zeros_like(wanted), step, released.mismatch_cost, released.numbers.shape[1])


def by_agreement(released: Grid, people: Grid) -> RowScores:
    """Return scores that are highest for rows that share rare values: minus the logarithm of how frequent each is.

    A value that c of n released rows have weighs ``-log((c + 1/2) / (n + 1))``.

    >>> def grid(*codes):
    ...     return Grid(np.empty((len(codes), 0), np.int64), np.array(codes, np.int32)[:, None], np.empty(0, int), 1)
    >>> by_agreement(grid(1, 1, 2), grid(1, 2, 3)).weight[:, 0] / 2**20
    array([0.47000408, 0.98082924, 2.07944107])
    """
    rows, wanted = np.asfortranarray(_columns(released)), _columns(people)
    weight, by_count = np.empty_like(wanted), weight_by_count(len(rows))
    for column in range(rows.shape[1]):
        ascending = np.sort(rows[:, column])
        ends = [np.searchsorted(ascending, wanted[:, column], side) for side in ("left", "right")]
        weight[:, column] = by_count[ends[1] - ends[0]]
    return RowScores(rows, wanted, weight, np.zeros(rows.shape[1], np.int64), 0, 0)


def _columns(grid: Grid) -> IntArray:
    return np.ascontiguousarray(np.column_stack([grid.numbers, grid.codes.astype(np.int64)]))


def best_row_chances(
    scores: RowScores, right: RightRanks, held: IntArray, tried: IntArray, *, taken_away: bool = False
) -> FloatArray:
    """Return at [person, set] the chance that a row with the highest score, drawn by lot, has a right secret.

    The sets are the ``held`` columns with each of the ``tried`` ones added, or with each of them taken away.

    >>> released, people = (Grid(np.array([[x] for x in ages]), np.empty((len(ages), 0), np.int32), np.array([1]), 10)
    ...     for ages in ([24, 31, 29], [30, 25]))
    >>> right = RightRanks(np.array([0, 0, 1]), np.array([1, 0]), np.array([2, 1]))
    >>> best_row_chances(by_distance(released, people), right, np.empty(0, int), np.array([0]))
    array([[0.5],
           [1. ]])
    """
    work = len(scores.rows) * len(scores.people) * (held.size + tried.size)
    # How long it takes is told by the pairs of rows and people, not by the size of either.
    search = compiled(_best_rows) if work > PLAIN_UP_TO else _best_rows
    return search(
        np.ascontiguousarray(scores.rows.T),
        scores.people,
        scores.weight,
        scores.step,
        scores.mismatch,
        scores.numbers,
        LAST_MARKER,
        right.rank,
        right.low,
        right.high,
        held.astype(np.int64),
        tried.astype(np.int64),
        taken_away,
    )


@loop("i8[,], i8[,], i8[,], i8[], i8, i8, i8, i8[], i8[], i8[], i8[], i8[], b1")
def _best_rows(
    columns: IntArray,
    people: IntArray,
    weight: IntArray,
    step: IntArray,
    mismatch: int,
    numbers: int,
    last_marker: int,
    rank: IntArray,
    low: IntArray,
    high: IntArray,
    held: IntArray,
    tried: IntArray,
    taken_away: bool,
) -> FloatArray:
    # A few rows at a time, so that what is told of them stays near the processor, and each column of them in one piece:
    # the loops over rows are functions of their own without branches, which it goes through several rows at a time.
    chance = np.zeros((len(people), tried.size))
    total, changed = np.zeros(_AT_A_TIME, np.int64), np.zeros(_AT_A_TIME, np.int64)
    is_right = np.zeros(_AT_A_TIME, np.bool_)
    best, ties, hits = np.zeros(tried.size, np.int64), np.zeros(tried.size, np.int64), np.zeros(tried.size, np.int64)
    sign = -1 if taken_away else 1
    for person in range(len(people)):
        ties[:] = 0
        for begin in range(0, rank.size, _AT_A_TIME):
            end = min(begin + _AT_A_TIME, rank.size)
            _tell_right(rank[begin:end], low[person], high[person], is_right)
            total[:] = 0
            highest = 0
            for column in held:
                some, new, by_steps = columns[column, begin:end], people[person, column], column < numbers
                own = weight[person, column]
                highest = _add_column(total, some, new, own, -step[column], -mismatch, by_steps, last_marker, changed)
                total, changed = changed, total
            for place in range(tried.size):
                column = tried[place]
                some, new, by_steps = columns[column, begin:end], people[person, column], column < numbers
                own, each, no = sign * weight[person, column], -sign * step[column], -sign * mismatch
                # What a row gains by the column at most; how far numbers may be apart is not known.
                gain = max(own, no)
                if ties[place] and highest + gain < best[place] and not (by_steps and taken_away):
                    continue
                top = _add_column(total, some, new, own, each, no, by_steps, last_marker, changed)
                if ties[place] and top < best[place]:
                    continue
                if ties[place] == 0 or top > best[place]:
                    best[place], ties[place], hits[place] = top, 0, 0
                tied, right = _count_ties(changed, top, is_right, end - begin)
                ties[place] += tied
                hits[place] += right
        for place in range(tried.size):
            chance[person, place] = hits[place] / ties[place]
    return chance


def _tell_right(rank: IntArray, low: int, high: int, is_right: BoolArray) -> None:
    for row in range(rank.size):
        is_right[row] = (low <= rank[row]) & (rank[row] < high)


def _add_column(
    total: IntArray,
    some: IntArray,
    new: int,
    equal: int,
    each: int,
    other: int,
    by_steps: bool,
    last_marker: int,
    changed: IntArray,
) -> int:
    """Write what rows score with one column more, and return the highest.

    ``equal`` is added where the value is the person's, ``each`` for every unit between numbers, and else ``other``.
    """
    top = _LOWEST
    if by_steps and new > last_marker:
        for row in range(some.size):
            value = some[row]
            unequal = abs(value - new) * each if value > last_marker else other
            score = total[row] + (equal if value == new else unequal)
            changed[row] = score
            top = max(top, score)
    else:
        for row in range(some.size):
            score = total[row] + (equal if some[row] == new else other)
            changed[row] = score
            top = max(top, score)
    return top


def _count_ties(scores: IntArray, top: int, is_right: BoolArray, size: int) -> tuple[int, int]:
    """Return how many of the first rows score so much, and how many of those are right."""
    ties = hits = 0
    for row in range(size):
        is_best = scores[row] == top
        ties += is_best
        hits += is_best & is_right[row]
    return ties, hits
