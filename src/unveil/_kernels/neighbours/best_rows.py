"""Probability of a correct guess from the best row, by column set.

What a row scores for a person is a sum over columns, so that a set of columns is tried by adding one column to those
that are held, or by taking one away. All scores are whole numbers: rows tie exactly, and ties are broken by lot.
"""

from typing import Any, NamedTuple

import numpy as np

from unveil._kernels._compile import NUMPY_STEPS, kernel
from unveil._kernels.membership.agreement import weight_by_count
from unveil._kernels.neighbours.index import EVERY, LAST_MARKER, IntegerGrid
from unveil._kernels.neighbours.scan import in_costs, in_few_bytes
from unveil._kernels.types import FloatArray, Int32Array, IntArray, NarrowArray

#: So many rows are looked at in one go; no number depends on it.
_AT_A_TIME = 1024
#: Two counts in one number: rows, and those with a right secret, which count so much more.
_RIGHT = 2**16
_LAST_MARKER = int(LAST_MARKER)


class RowScores(NamedTuple):
    """Scores of released rows by column, number columns first.

    A row that equals a person in a column gains what that is worth; two numbers lose what lies between them in place of
    that, and a marker beside a number ``mismatch``.
    """

    numbers: IntArray  # [number columns, released rows], in units of the score; markers as they are
    codes: NarrowArray  # [further columns, released rows]
    people_numbers: IntArray  # [people, number columns]
    people_codes: NarrowArray  # [people, further columns]
    gain: IntArray  # [people, columns]
    mismatch: int


class RightRanks(NamedTuple):
    """Rank of each row's sensitive value (-1: missing), and correct ranks."""

    rank: IntArray
    low: IntArray
    high: IntArray

    def of(self, some: slice) -> "RightRanks":
        """Return the same for some of the people."""
        return RightRanks(self.rank, self.low[some], self.high[some])


def by_distance(released: IntegerGrid, people: IntegerGrid) -> RowScores:
    """Return scores by distance, highest for the nearest rows."""
    codes, wanted = in_few_bytes(released.codes, people.codes)
    return RowScores(
        np.ascontiguousarray(in_costs(released.numbers, released.step_cost).T),
        np.ascontiguousarray(codes.T),
        in_costs(people.numbers, released.step_cost),
        wanted,
        np.full((people.size, sum(released.widths)), released.mismatch_cost),
        released.mismatch_cost,
    )


def by_agreement(released: IntegerGrid, people: IntegerGrid) -> RowScores:
    """Return scores by shared rare values (minus log frequency).

    A value that c of n released rows have weighs ``-log((c + 1/2) / (n + 1))``.

    >>> def grid(*codes):
    ...     none = np.empty((len(codes), 0), np.int64)
    ...     return IntegerGrid(none, np.array(codes, np.int32)[:, None], np.empty(0, int), 1)
    >>> by_agreement(grid(1, 1, 2), grid(1, 2, 3)).gain[:, 0] / 2**20
    array([0.47000408, 0.98082924, 2.07944107])
    """
    columns, by_count = range(sum(released.widths)), weight_by_count(released.size)
    codes, wanted = (np.empty((each.size, len(columns)), np.int32) for each in (released, people))
    weight = np.empty(wanted.shape, np.int64)
    for column in columns:
        old, new = (each.column(column, EVERY) for each in (released, people))
        if min(old.min(initial=0), new.min(initial=0)) < 0 or max(old.max(initial=0), new.max(initial=0)) >= 2**16:
            old, new = np.split(np.unique(np.concatenate([old, new]), return_inverse=True)[1], [old.size])
        codes[:, column], wanted[:, column] = old, new
        weight[:, column] = by_count[np.bincount(old, minlength=int(new.max(initial=0)) + 1)[new]]
    in_few = in_few_bytes(codes, wanted)
    numbers = np.empty((0, released.size), np.int64), np.empty((people.size, 0), np.int64)
    return RowScores(numbers[0], np.ascontiguousarray(in_few[0].T), numbers[1], in_few[1], weight, mismatch=0)


def best_row_chances(
    scores: RowScores, right: RightRanks, held: IntArray, tried: IntArray, *, taken_away: bool = False
) -> FloatArray:
    """Return the correct-guess probability at [person, column set].

    The sets are the ``held`` columns with each of the ``tried`` ones added, or with each of them taken away.

    >>> def grid(*ages):
    ...     return IntegerGrid(np.array(ages)[:, None], np.empty((len(ages), 0), np.int32), np.array([1]), 10)
    >>> released, people = grid(24, 31, 29), grid(30, 25)
    >>> right = RightRanks(np.array([0, 0, 1]), np.array([1, 0]), np.array([2, 1]))
    >>> best_row_chances(by_distance(released, people), right, np.empty(0, int), np.array([0]))
    array([[0.5],
           [1. ]])
    """
    numbers = len(scores.numbers)
    shape = len(scores.people_codes), tried.size
    hits, ties = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
    _best_rows(
        scores.numbers,
        scores.codes,
        scores.people_numbers,
        scores.people_codes,
        scores.gain,
        -scores.gain if taken_away else scores.gain,
        scores.mismatch,
        right.rank.astype(np.int32),
        right.low.astype(np.int32),
        right.high.astype(np.int32),
        held[held < numbers],
        held[held >= numbers],
        tried,
        taken_away,
        np.zeros(shape, np.int64),
        np.zeros((2, _AT_A_TIME), np.int64),
        np.zeros(_AT_A_TIME, np.int32),
        hits,
        ties,
    )
    return np.asarray(hits / ties)


def _steps(*given: Any) -> int:
    # How long it takes follows from the pairs of rows and people, not from the size of either.
    people, rank, held_numbers, held_codes, tried = given[3], given[7], given[10], given[11], given[12]
    steps: int = len(people) * rank.size * (held_numbers.size + held_codes.size + 4 * tried.size)
    return steps // NUMPY_STEPS


def _compare_all(
    numbers: IntArray,
    codes: NarrowArray,
    people_numbers: IntArray,
    people_codes: NarrowArray,
    gain: IntArray,
    change: IntArray,
    mismatch: int,
    rank: Int32Array,
    low: Int32Array,
    high: Int32Array,
    held_numbers: IntArray,
    held_codes: IntArray,
    tried: IntArray,
    taken_away: bool,
    *room: Any,
) -> None:
    """Do the same as ``_best_rows`` in numpy, with all rows at a time."""

    def worth(column: int, by_equal: IntArray, sign: int) -> IntArray:
        """Return what each row gains in a column, for each person."""
        equal = by_equal[:, column][:, None]
        if column >= len(numbers):
            some, new = codes[column - len(numbers)].astype(np.int64), people_codes[:, column - len(numbers)]
            return np.where(some == new[:, None], equal, 0)
        value, own = numbers[column], people_numbers[:, column][:, None]
        both = (value > _LAST_MARKER) & (own > _LAST_MARKER)
        far = np.where(both, np.abs(np.where(both, value - own, 0)), mismatch)
        return np.where(own > _LAST_MARKER, -sign * far, np.where(value == own, equal, 0))

    total = np.zeros((len(people_codes), rank.size), np.int64)
    for column in (*held_codes, *held_numbers):
        total += worth(column, gain, 1)
    is_right = (low[:, None] <= rank) & (rank < high[:, None])
    hits, ties = room[-2:]
    for place, column in enumerate(tried):
        scores = total + worth(column, change, -1 if taken_away else 1)
        is_best = scores == scores.max(axis=1, keepdims=True, initial=np.iinfo(np.int64).min)
        ties[:, place], hits[:, place] = is_best.sum(axis=1), (is_best & is_right).sum(axis=1)


@kernel(
    "i8[,], u2[,], i8[,], u2[,], i8[,], i8[,], i8, i4[], i4[], i4[], i8[], i8[], i8[], b1, "
    "i8[,], i8[,], i4[], i8[,], i8[,]",
    cost=_steps,
    small=_compare_all,
)
def _best_rows(
    numbers: IntArray,
    codes: NarrowArray,
    people_numbers: IntArray,
    people_codes: NarrowArray,
    gain: IntArray,
    change: IntArray,
    mismatch: int,
    rank: Int32Array,
    low: Int32Array,
    high: Int32Array,
    held_numbers: IntArray,
    held_codes: IntArray,
    tried: IntArray,
    taken_away: bool,
    best: IntArray,
    sums: IntArray,
    count: Int32Array,
    hits: IntArray,
    ties: IntArray,
) -> None:
    # A few rows at a time, so that what is told of them stays near the processor, and each column of them in one piece:
    # the loops over rows are functions of their own without branches, which it goes through several rows at a time.
    width = len(numbers)
    people = len(people_codes)
    total, changed = sums[0], sums[1]
    for begin in range(0, rank.size, _AT_A_TIME):
        end = min(begin + _AT_A_TIME, rank.size)
        for person in range(people):
            _tell_right(rank[begin:end], low[person], high[person], count)
            for row in range(end - begin):
                total[row] = 0
            at = 0
            while at < held_codes.size:
                more = 4 if held_codes.size - at >= 4 else 1
                some = held_codes[at : at + more]
                _add_codes(total, codes, begin, end, some, width, people_codes[person], gain[person], changed)
                total, changed = changed, total
                at += more
            for column in held_numbers:
                some, new = numbers[column, begin:end], people_numbers[person, column]
                _add_number(total, some, new, gain[person, column], mismatch, 1, changed)
                total, changed = changed, total
            highest = _highest(total, end - begin)
            for place in range(tried.size):
                column = tried[place]
                is_far = column < width and people_numbers[person, column] > _LAST_MARKER
                # What a row gains at most; how far numbers are apart that are taken away is not known.
                most = 0 if is_far or taken_away else change[person, column]
                if ties[person, place] and highest + most < best[person, place] and not (is_far and taken_away):
                    continue
                if column < width:
                    some, new = numbers[column, begin:end], people_numbers[person, column]
                    _add_number(total, some, new, change[person, column], mismatch, -1 if taken_away else 1, changed)
                else:
                    code, wanted = codes[column - width, begin:end], people_codes[person, column - width]
                    _add_code(total, code, wanted, change[person, column], changed)
                top = _highest(changed, end - begin)
                if ties[person, place] and top < best[person, place]:
                    continue
                if ties[person, place] == 0 or top > best[person, place]:
                    best[person, place], ties[person, place], hits[person, place] = top, 0, 0
                counted = _count_ties(changed, top, count, end - begin)
                ties[person, place] += counted % _RIGHT
                hits[person, place] += counted // _RIGHT


def _tell_right(rank: Int32Array, low: int, high: int, count: Int32Array) -> None:
    """Write the weight of each row, and of correct ones."""
    once, both = np.int32(1), np.int32(1 + _RIGHT)
    for row in range(rank.size):
        count[row] = both if (low <= rank[row]) & (rank[row] < high) else once


def _add_codes(
    total: IntArray,
    codes: NarrowArray,
    begin: int,
    end: int,
    columns: IntArray,
    width: int,
    wanted: NarrowArray,
    gain: IntArray,
    changed: IntArray,
) -> None:
    """Write what rows score with one or four categories more.

    Four at a time, as otherwise the processor is mostly busy with fetching the sums and putting them back.
    """
    one = columns[0] - width
    if columns.size == 1:
        _add_code(total, codes[one, begin:end], wanted[one], gain[columns[0]], changed)
        return
    two, three, four = columns[1] - width, columns[2] - width, columns[3] - width
    first, second, third, fourth = (
        codes[one, begin:end],
        codes[two, begin:end],
        codes[three, begin:end],
        codes[four, begin:end],
    )
    a, b, c, d = wanted[one], wanted[two], wanted[three], wanted[four]
    of_a, of_b, of_c, of_d = gain[columns[0]], gain[columns[1]], gain[columns[2]], gain[columns[3]]
    nothing = of_a - of_a
    for row in range(first.size):
        by_a = of_a if first[row] == a else nothing
        by_b = of_b if second[row] == b else nothing
        by_c = of_c if third[row] == c else nothing
        by_d = of_d if fourth[row] == d else nothing
        changed[row] = total[row] + by_a + by_b + by_c + by_d


def _add_code(total: IntArray, some: NarrowArray | IntArray, new: int, gain: int, changed: IntArray) -> None:
    """Write what rows score with one category more."""
    nothing = gain - gain
    for row in range(some.size):
        changed[row] = total[row] + (gain if some[row] == new else nothing)


def _add_number(
    total: IntArray, some: IntArray, new: int, gain: int, mismatch: int, sign: int, changed: IntArray
) -> None:
    """Add or subtract (``sign`` -1) a number column's scores."""
    if new > _LAST_MARKER:
        for row in range(some.size):
            far = abs(some[row] - new) if some[row] > _LAST_MARKER else mismatch
            changed[row] = total[row] - sign * far
    else:
        _add_code(total, some, new, gain, changed)


def _highest(scores: IntArray, size: int) -> int:
    top = scores[0]
    for row in range(size):
        top = scores[row] if scores[row] > top else top
    return top  # type: ignore[no-any-return]


def _count_ties(scores: IntArray, top: int, count: Int32Array, size: int) -> int:
    """Return the rows with this score, and the correct ones."""
    found = nothing = np.int32(0)
    for row in range(size):
        found += count[row] if scores[row] == top else nothing
    return int(found)
