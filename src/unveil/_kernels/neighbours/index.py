"""Integer rows arranged for fast exact nearest-neighbor search.

Rows that are equal in all columns are one row with a number of copies. Released rows stand in groups with the same
categories, sorted within a group by the number column that tells rows apart best.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from unveil._kernels._compile import compiled, loop
from unveil._kernels.types import BagArray, ByteArray, CodeArray, Int32Array, IntArray

if TYPE_CHECKING:
    from unveil._kernels.neighbours.search import NearRows

#: A number that is not there. It differs from every number by one mismatch, and not at all from another missing one.
MISSING = np.iinfo(np.int64).min
#: From MISSING up to here are markers of no value: each differs by one mismatch from every number and other marker.
LAST_MARKER = MISSING + 255

#: All rows.
EVERY = slice(None)
#: So many groups are compared with a target's categories at a time.
CHUNK = 512

#: Columns are at most so wide that one of them always fits beside a number for each row into ``_MOST_KEYS``.
_ROOM, _MOST_KEYS = 2**62, 2**63 - 1
_Whole = TypeVar("_Whole", np.int32, np.int64)


class IntegerGrid(NamedTuple):
    """Integer rows with difference costs; compared grids share both.

    The distance of two rows is the sum over number columns of ``|difference| * step_cost`` (``mismatch_cost`` where one
    of the two is a marker, from ``MISSING`` to ``LAST_MARKER``, and the other is not the same) plus ``mismatch_cost``
    per category column in which they differ. It must fit 62 bits.
    """

    numbers: IntArray
    codes: Int32Array
    step_cost: IntArray
    mismatch_cost: int

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.numbers)

    @property
    def widths(self) -> tuple[int, int]:
        """Numbers of number columns and category columns."""
        return self.numbers.shape[1], self.codes.shape[1]

    def block(self, rows: IntArray | slice) -> "IntegerGrid":
        """Return some of the rows."""
        return self._replace(numbers=self.numbers[rows], codes=self.codes[rows])

    def column(self, place: int, rows: IntArray | slice) -> IntArray | Int32Array:
        """Return some rows of one column; those of numbers come first."""
        width = self.numbers.shape[1]
        return self.numbers[rows, place] if place < width else self.codes[rows, place - width]

    def on_columns(self, columns: IntArray) -> "IntegerGrid":
        """Return some of the columns."""
        numbers, codes = chosen_columns(columns, self.numbers.shape[1])
        return self._replace(
            numbers=self.numbers[:, numbers], codes=self.codes[:, codes], step_cost=self.step_cost[numbers]
        )


def chosen_columns(columns: IntArray, numbers: int) -> tuple[IntArray, IntArray]:
    """Return the positions of chosen number and category columns."""
    return columns[columns < numbers], columns[columns >= numbers] - numbers


class BlockedRows(Protocol):
    """Rows read in blocks to limit memory."""

    @property
    def size(self) -> int:
        """Number of rows."""

    @property
    def widths(self) -> tuple[int, int]:
        """Numbers of number columns and category columns."""

    def block(self, rows: IntArray | slice) -> IntegerGrid:
        """Return some of the rows."""

    def column(self, place: int, rows: IntArray | slice) -> IntArray | Int32Array:
        """Return some rows of one column; those of numbers come first."""

    def on_columns(self, columns: IntArray) -> "BlockedRows":
        """Return some of the columns."""


class SearchIndex(NamedTuple):
    """Distinct released rows and distinct targets, ready for a search."""

    row_of: Int32Array  # the distinct row of each released row
    in_order: IntArray  # the released rows in the order of the distinct ones
    copies: IntArray  # how many released rows each distinct row stands for
    group_start: IntArray  # the distinct rows of group g are group_start[g] to group_start[g + 1] - 1
    group_codes: Int32Array  # [columns, groups]: the categories that the rows of a group share
    low_codes: ByteArray  # [chunks, columns, CHUNK]: the lowest byte of these
    bags: BagArray  # [chunks, columns]: one bit for each code modulo 64 that a group of the chunk has
    numbers: IntArray  # [distinct rows, number columns]: ascending in the first column within a group
    target_of: Int32Array  # the distinct target of each target
    tuple_of: IntArray  # the categories of each distinct target, as a number from 0; ascending
    tuple_codes: Int32Array  # [tuples, columns]: what these categories are
    tuple_group: IntArray  # the group with exactly these categories, -1 where there is none
    wanted: IntArray  # [distinct targets, number columns]
    step: IntArray
    mismatch: int

    @property
    def targets(self) -> int:
        """Number of distinct targets."""
        return self.tuple_of.size

    def common_limit(self, limit: IntArray) -> IntArray:
        """Return the largest limit of each distinct target."""
        common = np.zeros(self.targets, np.int64)
        np.maximum.at(common, self.target_of, limit)
        return common

    def nearest(self, some: IntArray, k: int, limit: IntArray | None = None) -> "NearRows | None":
        """Return the near rows of some ascending targets, or None if full."""
        from unveil._kernels.neighbours.search import nearest_sets

        return nearest_sets(self, some, k, limit)

    def nearest_of_each(self, some: IntArray, ks: Sequence[int]) -> "list[NearRows] | None":
        """Return the near rows for several k, or None if full."""
        from unveil._kernels.neighbours.search import nearer_rows

        near = self.nearest(some, max(ks))
        return None if near is None else [near if k == max(ks) else nearer_rows(near, self.copies, k) for k in ks]


def prepare(released: IntegerGrid, targets: IntegerGrid, *, collapse: bool = True) -> SearchIndex:
    """Return distinct released rows and targets, independent of row order.

    Targets that look alike beside these rows are one, unless ``collapse`` is False.
    """
    # Columns are gone through one by one, many times, which is quicker where they are in one piece.
    released = released._replace(numbers=np.asfortranarray(released.numbers), codes=np.asfortranarray(released.codes))
    # Those with the most codes first: groups next to one another then differ from a target in the same columns.
    columns = sorted((*_missing_as_codes(released, targets), *_codes(released, targets)), key=_fewest_codes)
    order = _best_first(released)
    wanted, n = targets.numbers[:, order], len(released.numbers)
    group_of_row, group_of_target = _one_number(columns, n, len(wanted))
    rows = sorted_rows([group_of_row, *_shifted(released.numbers[:, order])], n)
    row_at = rows.order[rows.start]
    group = group_of_row[row_at]
    group_start = np.flatnonzero(np.diff(group, prepend=-1))
    group_codes = _table([old for old, _ in columns], row_at[group_start])
    low_codes, bags = _in_chunks(group_codes)
    tuples, tuple_at, tuple_of_target = np.unique(group_of_target, return_index=True, return_inverse=True)
    alike = sorted_rows([tuple_of_target, *(_shifted(wanted) if collapse else [np.arange(len(wanted))])], len(wanted))
    target_at = alike.order[alike.start]
    place = np.searchsorted(group[group_start], tuples)
    is_there = np.append(group[group_start], -1)[place] == tuples
    return SearchIndex(
        row_of=rows.numbered(np.int32),
        in_order=rows.order,
        copies=np.diff(rows.start, append=n),
        group_start=np.append(group_start, row_at.size),
        group_codes=group_codes,
        low_codes=low_codes,
        bags=bags,
        numbers=_side_by_side([released.numbers[:, column] for column in order], row_at),
        target_of=alike.numbered(np.int32),
        tuple_of=tuple_of_target[target_at],
        tuple_codes=np.ascontiguousarray(_table([new for _, new in columns], tuple_at).T),
        tuple_group=np.where(is_there, place, -1),
        wanted=np.ascontiguousarray(wanted[target_at]),
        step=released.step_cost[order],
        mismatch=released.mismatch_cost,
    )


def content_rank(*grids: IntegerGrid) -> IntArray:
    """Return each row's rank among distinct rows, by content.

    The grids are the same rows in several groups of columns.

    >>> rows = IntegerGrid(np.array([[7], [3], [7]]), np.empty((3, 0), np.int32), np.array([1]), 4)
    >>> content_rank(rows)
    array([1, 0, 1])
    """
    columns = (column for grid in grids for part in (grid.numbers, grid.codes) for column in _shifted(part))
    return sorted_rows(columns, len(grids[0].numbers)).numbered(np.int64)


def _missing_as_codes(released: IntegerGrid, targets: IntegerGrid) -> Iterator[tuple[Int32Array, Int32Array]]:
    """Yield the marker of missing numbers by column, else 0."""
    for old, new in zip(released.numbers.T, targets.numbers.T, strict=True):
        gone, unknown = old <= LAST_MARKER, new <= LAST_MARKER
        if gone.any() or unknown.any():
            marker, other = np.where(gone, old - MISSING + 1, 0), np.where(unknown, new - MISSING + 1, 0)
            yield marker.astype(np.int32), other.astype(np.int32)


def _codes(released: IntegerGrid, targets: IntegerGrid) -> Iterator[tuple[Int32Array, Int32Array]]:
    """Yield category columns with codes renumbered."""
    for old, new in zip(released.codes.T, targets.codes.T, strict=True):
        low = min(old.min(initial=0), new.min(initial=0))
        old, new = old - low, new - low
        size = int(max(old.max(initial=0), new.max(initial=0))) + 1
        there, asked = np.zeros(size, bool), np.zeros(size, bool)
        there[old] = True
        asked[new] = True
        shared = there & asked
        number = np.where(shared, np.cumsum(shared), 0).astype(np.int32)
        unmatched = np.where(shared, number, np.int32(shared.sum() + 1)).astype(np.int32)
        yield number[old], unmatched[new]


def _fewest_codes(pair: tuple[Int32Array, Int32Array]) -> int:
    return -int(pair[0].max(initial=0))


def _in_chunks(group_codes: Int32Array) -> tuple[ByteArray, BagArray]:
    """Return the low bytes of codes by chunk, and occurring codes.

    >>> low, bags = _in_chunks(np.array([[3, 257]], np.int32))
    >>> low[0, 0, :2], bags
    (array([3, 1], dtype=uint8), array([[10]], dtype=uint64))
    """
    columns, groups = group_codes.shape
    chunks = -(-groups // CHUNK)
    low_codes, bags = np.empty((chunks, columns, CHUNK), np.uint8), np.empty((chunks, columns), np.uint64)
    for place, codes in enumerate(group_codes):
        # The last chunk is filled up with copies of its last group, which put nothing new into its bag.
        lines = np.pad(codes, (0, chunks * CHUNK - groups), mode="edge").reshape(chunks, CHUNK)
        low_codes[:, place] = lines & 255
        bags[:, place] = np.bitwise_or.reduce(np.left_shift(np.uint64(1), (lines & 63).astype(np.uint64)), axis=1)
    return low_codes, bags


def _best_first(released: IntegerGrid) -> list[int]:
    """Return the variable number columns, widest first."""

    def spread(column: int) -> float:
        # Ten thousand rows will do: this decides how long the search takes, not what it finds.
        known = released.numbers[:: max(1, len(released.numbers) // 10_000), column]
        known = known[known > LAST_MARKER]
        if known.size == 0:
            return 0.0
        return float(np.abs(known - np.median(known)).mean()) * float(released.step_cost[column])

    return sorted(np.flatnonzero(released.step_cost).tolist(), key=spread, reverse=True)


def _shifted(numbers: IntArray | Int32Array) -> Iterator[IntArray | Int32Array]:
    """Yield each column from 0 upwards."""
    return (from_zero(column) for column in numbers.T)


def from_zero(column: IntArray | Int32Array) -> IntArray | Int32Array:
    """Return a column from 0 up, or ranks if too wide."""
    missing = column <= LAST_MARKER
    known = column[~missing] if missing.any() else column
    low, high = (int(known.min()), int(known.max())) if known.size else (0, 0)
    if high - low >= _ROOM // max(column.size, 1):
        return np.unique(column, return_inverse=True)[1]
    markers = int(column[missing].max()) - MISSING + 1 if missing.any() else 0
    return column - np.where(missing, MISSING, low - markers) if markers else column - low


class SortedRows(NamedTuple):
    """Rows in ascending order, and where in this order each distinct one begins."""

    order: IntArray
    start: IntArray

    def numbered(self, kind: type[_Whole]) -> NDArray[_Whole]:
        """Return the place of each row among the distinct ones."""
        number = np.empty(self.order.size, kind)
        first = np.zeros(self.order.size, kind)
        first[self.start[1:]] = 1
        number[self.order] = np.cumsum(first, out=first)
        return number


def sorted_rows(columns: Iterable[IntArray | Int32Array], size: int) -> SortedRows:
    """Return rows sorted by columns, the first column first.

    As many columns as one whole number has room for are sorted at once, and by further ones only the rows that are
    equal so far, which mostly are few.

    >>> sorted_rows([np.array([1, 0, 1]), np.array([5, 9, 5])], 3)
    SortedRows(order=array([1, 0, 2]), start=array([0, 1]))
    """
    left = _Columns(columns)
    key, keys = left.behind(np.zeros(size, np.int64), 1, EVERY)
    order = sort(key, keys)
    is_first = np.ones(size, bool)
    is_first[1:] = key[1:] != key[:-1]
    del key
    while left.next is not None and not is_first.all():
        some = np.flatnonzero(~(is_first & np.append(is_first[1:], True)))
        rows = order[some]
        key, keys = left.behind((np.cumsum(is_first) - 1)[some], size, rows)
        order[some] = rows[sort(key, keys)]
        is_first[some[1:]] |= key[1:] != key[:-1]
    return SortedRows(order, np.flatnonzero(is_first))


class _Columns:
    """Columns consumed one by one to limit memory."""

    def __init__(self, columns: Iterable[IntArray | Int32Array]) -> None:
        self._left = iter(columns)
        self.next = next(self._left, None)

    def behind(self, key: IntArray, keys: int, rows: IntArray | slice) -> tuple[IntArray, int]:
        """Return keys extended by as many columns as fit.

        The keys are changed where they lie.
        """
        while self.next is not None:
            width = int(self.next.max(initial=0)) + 1
            if keys * width > _MOST_KEYS:
                break
            if width > 1:
                key *= width
                key += self.next[rows]
                keys *= width
            self.next = next(self._left, None)
        return key, keys


def _one_number(columns: list[tuple[Int32Array, Int32Array]], rows: int, targets: int) -> tuple[IntArray, IntArray]:
    """Return equal numbers for rows equal in all columns."""
    widths = [int(max(old.max(initial=0), new.max(initial=0))) + 1 for old, new in columns]
    if math.prod(widths) > _ROOM:
        together = sorted_rows([np.concatenate(pair) for pair in columns], rows + targets).numbered(np.int64)
        return together[:rows], together[rows:]
    numbers = np.zeros(rows, np.int64), np.zeros(targets, np.int64)
    for width, pair in zip(widths, columns, strict=True):
        for number, column in zip(numbers, pair, strict=True):
            number *= width
            number += column
    return numbers


def _side_by_side(columns: list[IntArray], rows: IntArray) -> IntArray:
    """Return some rows with columns gathered side by side."""
    beside = np.empty((rows.size, len(columns)), np.int64)
    for place, column in enumerate(columns):
        beside[:, place] = column[rows]
    return beside


def _table(columns: list[Int32Array], rows: IntArray) -> Int32Array:
    return np.array([column[rows] for column in columns], np.int32).reshape(len(columns), rows.size)


# The order of many whole numbers, byte by byte: a third of the time of numpy's sort for a million of them.

#: Fewer are sorted sooner than the compiler is loaded.
_FEW = 2**15
_BITS = 8
_DIGITS = 2**_BITS


def sort(keys: IntArray, below: int) -> IntArray:
    """Sort keys in place, and return their previous positions.

    Equal ones stay in the order in which they stand.

    >>> keys = np.array([7, 300, 7, 0])
    >>> sort(keys, 301), keys
    (array([3, 0, 2, 1]), array([  0,   7,   7, 300]))
    """
    if below <= 2**16:  # numpy does these byte by byte too
        order = np.argsort(keys.astype(np.uint16), kind="stable")
    elif keys.size < _FEW:
        order = np.argsort(keys, kind="stable")
    else:
        order = np.arange(keys.size, dtype=np.int32 if keys.size < 2**31 else np.int64)
        begin = np.empty(_DIGITS + 1, np.int64)
        compiled(_by_bytes)(keys, order, np.empty_like(keys), np.empty_like(order), begin, (below - 1).bit_length())
        return order.astype(np.int64)
    keys[:] = keys[order]
    return order


@loop("i8[], i4[], i8[], i4[], i8[], i8", "i8[], i8[], i8[], i8[], i8[], i8")
def _by_bytes(
    keys: IntArray, order: CodeArray, other_keys: IntArray, other_order: CodeArray, begin: IntArray, bits: int
) -> None:
    """Sort keys, and move what stands in ``order`` with them."""
    old, new, place_of, moved = keys, other_keys, order, other_order
    for shift in range(0, bits, _BITS):
        for digit in range(_DIGITS + 1):
            begin[digit] = 0
        for place in range(old.size):
            begin[((old[place] >> shift) & (_DIGITS - 1)) + 1] += 1
        for digit in range(_DIGITS):
            begin[digit + 1] += begin[digit]
        for place in range(old.size):
            digit = (old[place] >> shift) & (_DIGITS - 1)
            new[begin[digit]] = old[place]
            moved[begin[digit]] = place_of[place]
            begin[digit] += 1
        old, new = new, old
        place_of, moved = moved, place_of
    if (bits + _BITS - 1) // _BITS % 2:  # after an odd number of moves they lie in the other place
        for place in range(old.size):
            keys[place], order[place] = old[place], place_of[place]
