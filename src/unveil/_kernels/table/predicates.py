"""Numbers of rows that match predicates, on integer codes."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from unveil._kernels._compile import PLAIN_UP_TO, compiled, loop
from unveil._kernels.threads import in_threads
from unveil._kernels.types import BoolArray, FloatArray, Int32Array, IntArray

#: Up to this many pairs of a predicate and a row all are looked at: quick enough, and nobody waits for a compiler.
ALL_UP_TO = 2**19
#: So many predicates are looked up at a time, by one thread.
_AT_ONCE = 125


class Index(NamedTuple):
    """Table columns as codes (0: missing), with rows by code.

    The rows with code c in column j are ``by_code[j, start[offset[j] + c] : start[offset[j] + c + 1]]``.
    """

    codes: Int32Array
    by_code: Int32Array
    start: IntArray
    offset: IntArray

    def rows_with(self, column: int) -> IntArray:
        """Return how many rows have each code of the column, from 0 on."""
        return np.diff(self.start[self.offset[column] : self.offset[column + 1]])


class PredicateConditions(NamedTuple):
    """Conditions of predicates; predicate p has ``begin[p]:begin[p + 1]``.

    A condition holds for a row whose code in ``column`` is from ``low`` to ``high``, both included; where ``outside``
    is True it holds for the other rows instead, but never for those where the value is missing. No code is from
    ``low`` to ``low - 1``. Where ``choice`` is given and not -1, it holds for the codes in that line of ``among``
    instead, whatever the rest says.
    """

    begin: IntArray
    column: IntArray
    low: IntArray
    high: IntArray
    outside: BoolArray
    choice: IntArray | None = None
    among: BoolArray | None = None


def index(columns: Sequence[IntArray] | Int32Array, levels: Sequence[int], by_code: Int32Array | None = None) -> Index:
    """Return indexed code columns, optionally in a store.

    >>> found = index([np.array([2, 0, 1, 2])], [2])
    >>> found.by_code, found.start
    (array([[1, 2, 0, 3]], dtype=int32), array([0, 1, 2, 4]))
    """
    codes = np.ascontiguousarray(columns, np.int32)
    by_code = np.empty_like(codes) if by_code is None else by_code

    def arranged(coded: tuple[Int32Array, Int32Array, int]) -> IntArray:
        column, rows, most = coded
        start = np.concatenate([[0], np.cumsum(np.bincount(column, minlength=most + 1))])
        if column.size <= PLAIN_UP_TO:
            rows[:] = np.argsort(column, kind="stable")
        else:
            compiled(_arrange)(column, start[:-1].copy(), rows)
        return start

    starts = in_threads(arranged, zip(codes, by_code, levels, strict=True))
    return Index(codes, by_code, np.concatenate(starts), np.cumsum([0, *(start.size for start in starts)]))


@loop("i4[], i8[], i4[]")
def _arrange(codes: Int32Array, free: IntArray, rows: Int32Array) -> None:
    """Sort the rows by code, given the first place of each."""
    for row in range(codes.size):
        rows[free[codes[row]]] = row
        free[codes[row]] += 1


def matches(table: Index, conditions: PredicateConditions, *, stop: int | None = None) -> tuple[IntArray, IntArray]:
    """Return matches per predicate, and the row if single, else -1.

    Where there is much to do, the rows of the rarest condition are looked up and the others are tried on those, the
    next rarest first. With ``stop``, at least 2, counting ends there: a predicate that holds for more rows gets
    ``stop``. Each predicate has a condition.

    >>> table = index([np.array([1, 2, 3, 0]), np.array([1, 2, 2, 1])], [3, 2])  # age and sex of four people
    >>> # the age is at least 2 and the sex is 2; the sex is not 2
    >>> begin, column, low, high = map(np.array, ([0, 2, 3], [0, 1, 1], [2, 2, 2], [3, 2, 2]))
    >>> matches(table, PredicateConditions(begin, column, low, high, np.array([False, False, True])))
    (array([2, 2]), array([-1, -1]))
    """
    if (conditions.begin.size - 1) * table.codes.shape[1] <= ALL_UP_TO:
        return _by_matrix(table.codes, conditions, stop)
    return _by_search(table, conditions, stop)


def fits(table: Index, conditions: PredicateConditions) -> tuple[IntArray, IntArray]:
    """Return all matching rows per predicate; g has ``starts[g]:starts[g + 1]``.

    >>> table = index([np.array([1, 2, 3, 0])], [3])  # the age is at least 2; it is missing
    >>> begin, column, low, high = map(np.array, ([0, 1, 2], [0, 0], [2, 0], [3, 0]))
    >>> fits(table, PredicateConditions(begin, column, low, high, np.zeros(2, bool)))
    (array([0, 2, 3]), array([1, 2, 3]))
    """
    if (conditions.begin.size - 1) * table.codes.shape[1] <= ALL_UP_TO:
        guess, rows = np.nonzero(_holds(table.codes, conditions))
        return np.searchsorted(guess, np.arange(conditions.begin.size)), rows
    return _listed(table, conditions)


def _listed(table: Index, conditions: PredicateConditions) -> tuple[IntArray, IntArray]:
    plan = _plan(table, conditions)
    counts, _ = _counted(table, conditions.begin, plan)
    starts = np.concatenate([[0], np.cumsum(counts)])
    rows = np.empty(starts[-1], np.int64)
    compiled(_list)(table.codes, table.by_code, conditions.begin, *plan, starts[:-1], rows)
    # Rows of one code ascend, but those of several codes do not.
    return starts, rows[np.lexsort((rows, np.repeat(np.arange(counts.size), counts)))]


def _holds(codes: Int32Array, conditions: PredicateConditions) -> BoolArray:
    """Return at [predicate, row] whether it holds."""
    begin, size = conditions.begin[:-1], np.diff(conditions.begin)
    holds = np.ones((begin.size, codes.shape[1]), bool)
    for place in range(int(size.max(initial=0))):
        have = np.flatnonzero(size > place)
        here = begin[have] + place
        code, outside = codes[conditions.column[here]], conditions.outside[here, None]
        inside = (code >= conditions.low[here, None]) & (code <= conditions.high[here, None])
        inside = np.where(outside, (code > 0) & ~inside, inside)
        if conditions.choice is not None and conditions.among is not None:
            chosen = conditions.choice[here, None]
            inside = np.where(chosen >= 0, conditions.among[chosen, code], inside)
        holds[have] &= inside
    return holds


def _by_matrix(codes: Int32Array, conditions: PredicateConditions, stop: int | None) -> tuple[IntArray, IntArray]:
    holds = _holds(codes, conditions)
    counts = holds.sum(axis=1)
    single = np.where(counts == 1, holds.argmax(axis=1), -1)
    return counts if stop is None else np.minimum(counts, stop), single


def _by_search(table: Index, conditions: PredicateConditions, stop: int | None) -> tuple[IntArray, IntArray]:
    return _counted(table, conditions.begin, _plan(table, conditions), stop)


def _counted(
    table: Index, begin: IntArray, plan: tuple[IntArray, BoolArray, IntArray], stop: int | None = None
) -> tuple[IntArray, IntArray]:
    """Return what `matches` does, some predicates at a time."""
    most = table.codes.shape[1] + 1 if stop is None else stop

    def part(first: int) -> tuple[IntArray, IntArray]:
        some = begin[first : first + _AT_ONCE + 1]
        counts, single = np.zeros(some.size - 1, np.int64), np.full(some.size - 1, -1, np.int64)
        compiled(_count)(table.codes, table.by_code, some, *plan, most, counts, single)
        return counts, single

    found = in_threads(part, range(0, max(begin.size - 1, 1), _AT_ONCE))
    return np.concatenate([counts for counts, _ in found]), np.concatenate([single for _, single in found])


def _plan(table: Index, conditions: PredicateConditions) -> tuple[IntArray, BoolArray, IntArray]:
    """Return conditions by rarity, code lists, and row positions."""
    first, last = (
        table.start[table.offset[conditions.column] + code] for code in (conditions.low, conditions.high + 1)
    )
    present, rows = table.start[table.offset[conditions.column] + 1], table.codes.shape[1]
    choice = np.full(first.size, -1) if conditions.choice is None else conditions.choice
    among = np.zeros((1, 1), bool) if conditions.among is None else conditions.among
    # A list of codes is looked up row by row: all of them are visited where it is the only condition.
    first, last = np.where(choice >= 0, 0, first), np.where(choice >= 0, rows, last)
    found = np.where(conditions.outside, rows - present - (last - first), last - first)
    whose = np.repeat(np.arange(conditions.begin.size - 1), np.diff(conditions.begin))
    order = np.lexsort((found, whose))
    # Two pieces of the rows by code hold all rows of a condition; the second is only needed for those outside.
    pieces = np.stack(
        [
            np.where(conditions.outside, present, first),
            np.where(conditions.outside, first, last),
            np.where(conditions.outside, last, rows),
            np.full(first.size, rows),
        ],
        axis=1,
    )
    spans = np.stack([conditions.column, conditions.low, conditions.high, conditions.outside, choice], axis=1)
    return spans[order], among, pieces[order]


def _has(codes: Int32Array, row: int, first: int, last: int, spans: IntArray, among: BoolArray) -> bool:
    """Return whether the conditions from ``first`` up to ``last`` hold for a row."""
    for part in range(first, last):
        code = codes[spans[part, 0], row]
        if spans[part, 4] >= 0:
            holds = among[spans[part, 4], code]
        elif spans[part, 3]:
            holds = code > 0 and not (spans[part, 1] <= code <= spans[part, 2])
        else:
            holds = spans[part, 1] <= code <= spans[part, 2]
        if not holds:
            return False
    return True


@loop("i4[,], i4[,], i8[], i8[,], b1[,], i8[,], i8, i8[], i8[]")
def _count(
    codes: Int32Array,
    by_code: Int32Array,
    begin: IntArray,
    spans: IntArray,
    among: BoolArray,
    pieces: IntArray,
    stop: int,
    counts: IntArray,
    single: IntArray,
) -> None:
    for place in range(counts.size):
        rarest, count, seen = begin[place], 0, -1
        # All rows of the rarest condition stand together, unless it is a list of codes.
        second = rarest if spans[rarest, 4] >= 0 else rarest + 1
        for piece in range(2):
            for at in range(pieces[rarest, 2 * piece], pieces[rarest, 2 * piece + 1]):
                row = by_code[spans[rarest, 0], at]
                if _has(codes, row, second, begin[place + 1], spans, among):
                    count, seen = count + 1, row
                    if count == stop:
                        break
            if count == stop:
                break
        counts[place] = count
        if count == 1:
            single[place] = seen


@loop("i4[,], i4[,], i8[], i8[,], b1[,], i8[,], i8[], i8[]")
def _list(
    codes: Int32Array,
    by_code: Int32Array,
    begin: IntArray,
    spans: IntArray,
    among: BoolArray,
    pieces: IntArray,
    starts: IntArray,
    rows: IntArray,
) -> None:
    """Write down the rows that each predicate holds for, from its start on."""
    for place in range(begin.size - 1):
        rarest, free = begin[place], starts[place]
        second = rarest if spans[rarest, 4] >= 0 else rarest + 1
        for piece in range(2):
            for at in range(pieces[rarest, 2 * piece], pieces[rarest, 2 * piece + 1]):
                row = by_code[spans[rarest, 0], at]
                if _has(codes, row, second, begin[place + 1], spans, among):
                    rows[free] = row
                    free += 1


def chance_of_one(counts: IntArray, rows: int, drawn: int) -> FloatArray:
    """Return the probability that ``drawn`` random rows match exactly once.

    That is ``c * C(rows - c, drawn - 1) / C(rows, drawn)`` for a count of c, with 1 to ``rows`` drawn. 0.0 and 1.0 are
    exact where it is impossible or certain; chances below the smallest number of the machine are 0.0 too.

    >>> chance_of_one(np.array([0, 1, 2, 4]), 4, 2).round(6)
    array([0.      , 0.5     , 0.666667, 0.      ])
    """
    most = int(counts.max(initial=1))
    c = np.arange(1, most, dtype=np.float64)
    # From each count to the next: one more row that may be the one, and one more that must stay out.
    step = (c + 1) / c * np.maximum(rows - drawn - c + 1, 0) / np.maximum(rows - c, 1)
    chance = np.concatenate([[0.0], np.cumprod(np.concatenate([[drawn / rows], step]))])
    if drawn == 1 and most == rows:
        chance[rows] = 1.0
    each: FloatArray = np.minimum(chance, 1.0)[counts]
    return each
