"""Special uniques: rows that a few columns already single out (SUDA)."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import comb, inf, prod

import numpy as np

from unveil._figure import figure
from unveil._kernels._compile import compiled, loop
from unveil._kernels.types import ByteArray, FloatArray, Int32Array, IntArray
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.errors import InputError, whole_number
from unveil.metrics._listing import metric
from unveil.metrics.releases._classes import column_codes, quasi_identifiers, released_table

SIZE = 3
#: How often a row may be looked at in a set of columns: about half a minute.
MOST_VISITS = 5 * 10**8


@dataclass(frozen=True, kw_only=True, eq=False)
class SpecialUniques:
    """Special uniques: minimal column sets that single out a row."""

    COUNTS = "statistic"

    columns: tuple[str, ...] = figure("The columns of which sets were made.")
    size: int = figure("Largest number of columns in a set.")
    rows: int = figure("Number of rows.")
    special: int = figure("Number of rows with at least one unique set of columns.", counts="rows")
    by_size: tuple[int, ...] = figure("Number of sets (of all rows) with 1, 2, … `size` columns.")
    rows_by_size: tuple[int, ...] = figure("Number of rows whose smallest set has 1, 2, … `size` columns.")
    by_column: tuple[int, ...] = figure(
        "Number of sets with each column, in the order of `columns`: generalize those with many first."
    )
    #: For each row its number of sets by size, and its SUDA score; private, as they are about people.
    found: IntArray = field(repr=False)
    score: FloatArray = field(repr=False)

    @property
    def share(self) -> float:
        """The share of rows that up to ``size`` columns single out."""
        return self.special / self.rows


@metric(
    category="disclosure",
    per="release",
    more_means="less private",
    bounds=(0, inf),
    source="Elliot, Manning and Ford (2002), SUDA; score after Elliot et al. (2005)",
)
def special_uniques(
    release: Release | Table, *, columns: Sequence[str] | None = None, size: int = SIZE
) -> SpecialUniques:
    """Return the special uniques of a table, with SUDA scores.

    Formula: a set of at most ``size`` columns counts for a row if no other row has the same values in it and this is
    true of no part of the set; the score of a row is the sum over its sets of ``product(a - i for i = k, …, m)``, where
    a is the number of columns, k the number of columns in the set and m the smaller of ``size`` and a - 1 (the source
    needs m < a); the sum for no set is 0. 0 means that no set of up to ``size`` columns singles the row out. Larger
    scores mean more and smaller sets; they rank the rows of one table and are no probabilities, and they do not compare
    tables with other numbers of columns. A missing value is a value of its own. It is never undefined, but refused
    where there are too many sets: all are searched, none sampled.

    >>> import polars as pl
    >>> people = Table.from_frame(pl.DataFrame({"sex": list("ffmf"), "town": ["Ulm", "Ulm", "Ulm", "Bonn"]}))
    >>> found = special_uniques(people, size=2)
    >>> found.special, found.by_size, found.by_column, found.score
    (2, (2, 0), (1, 1), array([0., 0., 1., 1.]))
    """
    table = released_table(release)
    names = quasi_identifiers(table, columns)
    size = min(whole_number(size, "size", advice=f"Write size={SIZE}"), len(names))
    needed = visits(table.rows, len(names), size)
    if needed > MOST_VISITS:
        raise InputError(
            f"sets of up to {size} of {len(names)} columns in {table.rows} rows need {needed:.1e} row visits, above "
            f"the maximum of {MOST_VISITS:.0e}. Name fewer columns, or use size={size - 1}"
        )
    return uniques_of(column_codes(table, names), names, size)


def uniques_of(codes: Int32Array, names: tuple[str, ...], size: int) -> SpecialUniques:
    """Return the special uniques of coded columns, up to a size."""
    found, by_column = minimal_uniques(codes, size)
    smallest = np.where(found.any(axis=1), (found > 0).argmax(axis=1), -1)
    return SpecialUniques(
        columns=names,
        size=size,
        rows=len(codes),
        special=int(np.count_nonzero(smallest >= 0)),
        by_size=tuple(found.sum(axis=0).tolist()),
        rows_by_size=tuple(int(np.count_nonzero(smallest == place)) for place in range(size)),
        by_column=tuple(by_column.tolist()),
        found=found,
        score=found @ _weights(len(names), size),
    )


def _weights(columns: int, size: int) -> FloatArray:
    """Return the score of one set of 1, 2, … ``size`` columns.

    >>> _weights(4, 3)
    array([6., 2., 1.])
    """
    most = min(size, columns - 1)
    return np.array([float(prod(columns - i for i in range(k, most + 1))) for k in range(1, size + 1)])


def affordable_size(rows: int, columns: int, *, at_most: int) -> int:
    """Return the largest affordable size up to ``SIZE``, or 0.

    >>> affordable_size(40_000, 12, at_most=10**8), affordable_size(10**6, 200, at_most=10**8)
    (3, 0)
    """
    sizes = range(min(SIZE, columns), 0, -1)
    return next((size for size in sizes if visits(rows, columns, size) <= at_most), 0)


# Minimal sample uniques: the smallest sets of columns in which a row differs from all others.

#: Up to this many visits of a row in a set of columns plain Python is quick enough.
PLAIN_UP_TO = 200_000


def visits(rows: int, columns: int, size: int) -> int:
    """Return the largest number of visits per row, one per set.

    >>> visits(10, 4, 2)
    100
    """
    return rows * sum(comb(columns, k) for k in range(1, size + 1))


def minimal_uniques(codes: Int32Array, size: int) -> tuple[IntArray, IntArray]:
    """Return minimal sample uniques per row and size, and per column.

    A set of columns is one of a row if no other row has the same codes in it, and this holds for no smaller part of
    the set. ``codes`` has one row per row of the table and one column per column, with numbers from 0 on.

    >>> uniques, of_column = minimal_uniques(np.array([[0, 0], [0, 1], [1, 1], [0, 0]], np.int32), 2)
    >>> uniques  # the second row is alone in both columns together, the third in the first column
    array([[0, 0],
           [0, 1],
           [1, 0],
           [0, 0]])
    >>> of_column
    array([2, 1])
    """
    rows, columns = codes.shape
    size = min(size, columns)
    choose = np.array([[comb(n, k) for k in range(size + 1)] for n in range(columns + 1)], np.int64)
    levels = int(codes.max(initial=0)) + 1
    small = visits(rows, columns, size) <= PLAIN_UP_TO
    uniques, of_column = np.zeros((rows, size), np.int64), np.zeros(columns, np.int64)
    known = np.zeros((choose[columns, :size].sum(), (rows + 7) // 8), np.uint8)
    member, start = np.zeros((size + 1, rows), np.int64), np.zeros((size + 1, rows + 1), np.int64)
    member[0], start[0, 1] = np.arange(rows), rows
    room = np.zeros((2, levels), np.int64), np.zeros(rows, np.int64), np.zeros((2, size + 1), np.int64)
    (_search if small else compiled(_search))(
        np.ascontiguousarray(codes.T), choose, member, start, *room, known, uniques, of_column
    )
    return uniques, of_column


# Whatever is filled in is made by the caller: numba compiles functions of numpy that make arrays slowly.
@loop("i4[,], i8[,], i8[,], i8[,], i8[,], i8[], i8[,], u1[,], i8[,], i8[]")
def _search(
    codes: Int32Array,
    choose: IntArray,
    member: IntArray,
    start: IntArray,
    room: IntArray,
    alone: IntArray,
    by_depth: IntArray,
    known: ByteArray,
    uniques: IntArray,
    of_column: IntArray,
) -> None:
    """Visit the column sets depth first.

    Each keeps only the rows that are not yet unique, grouped by their codes.

    Of two sets that share their first columns, the one that goes on with the later column is visited first. So every
    part of a set is visited before the set, and what is unique in a part is known by then.
    """
    columns, size = len(codes), uniques.shape[1]
    chosen, groups = by_depth[0], by_depth[1]
    count, touched = room[0], room[1]
    groups[0] = 1
    depth = 0
    chosen[0] = columns - 1
    while depth >= 0:
        # The set is chosen[: depth + 1]; its first columns have the rows member[depth] left.
        column = chosen[depth]
        singles, groups[depth + 1] = _refine(
            codes[column], member[depth], start[depth], groups[depth],
            member[depth + 1], start[depth + 1], count, touched, alone,
        )  # fmt: skip
        place = _place(chosen, depth + 1, (1 << (depth + 1)) - 1, choose)
        for k in range(singles):
            each = alone[k]
            if _is_minimal(chosen, depth + 1, each, known, choose):
                uniques[each, depth] += 1
                for one in range(depth + 1):
                    of_column[chosen[one]] += 1
                if depth + 1 < size:
                    known[place, each >> 3] |= 1 << (each & 7)
        if depth + 1 < size and column + 1 < columns and groups[depth + 1] > 0:
            depth += 1
            chosen[depth] = columns - 1
            continue
        # Go on with the next column to the left, which must stay to the right of the one before.
        while depth >= 0:
            chosen[depth] -= 1
            if chosen[depth] > (chosen[depth - 1] if depth > 0 else -1):
                break
            depth -= 1


def _refine(
    code: Int32Array,
    member: IntArray,
    start: IntArray,
    groups: int,
    finer: IntArray,
    finer_start: IntArray,
    count: IntArray,
    touched: IntArray,
    alone: IntArray,
) -> tuple[int, int]:
    """Refine groups by codes; return unique rows and groups left.

    Rows that are alone are put into ``alone`` and leave; ``count`` is all 0 before and after.
    """
    singles = 0
    left = 0
    finer_start[0] = 0
    for group in range(groups):
        low, high = start[group], start[group + 1]
        seen = 0
        for k in range(low, high):
            value = code[member[k]]
            if count[value] == 0:
                touched[seen] = value
                seen += 1
            count[value] += 1
        position = finer_start[left]
        for k in range(seen):
            value = touched[k]
            many = count[value]
            # From here on count holds where the next row of that code goes, below 0 for a row that is alone.
            if many == 1:
                count[value] = -1
            else:
                count[value] = position
                position += many
                left += 1
                finer_start[left] = position
        for k in range(low, high):
            row = member[k]
            value = code[row]
            if count[value] == -1:
                alone[singles] = row
                singles += 1
            else:
                finer[count[value]] = row
                count[value] += 1
        for k in range(seen):
            count[touched[k]] = 0
    return singles, left


def _place(chosen: IntArray, size: int, part: int, choose: IntArray) -> int:
    """Return the number of a column subset; small sets come first."""
    taken = 0
    number = 0
    for k in range(size):
        if part >> k & 1:
            taken += 1
            if chosen[k] >= taken:
                number += choose[chosen[k], taken]
    last = choose.shape[0] - 1
    for k in range(1, taken):
        number += choose[last, k]
    return number


def _is_minimal(chosen: IntArray, size: int, row: int, known: ByteArray, choose: IntArray) -> bool:
    """Return whether the chosen columns are a minimal unique."""
    for part in range(1, (1 << size) - 1):
        if known[_place(chosen, size, part, choose), row >> 3] >> (row & 7) & 1:
            return False
    return True
