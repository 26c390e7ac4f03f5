"""Which rows are equal to somebody, found without sorting the rows.

People are few and rows are many. A column at a time, only those rows are looked at further whose value somebody has,
together with the values of the columns before; mostly that are very few after two or three columns.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from unveil._kernels.neighbours.index import sorted_rows
from unveil._kernels.types import BoolArray, Int32Array, IntArray

#: So many rows are looked at in one go; no number depends on it.
BLOCK_ROWS = 2**20
#: Up to so many numbers a list that tells each of them its place is quicker than looking them up.
_LISTED_UP_TO = 2**20


class ColumnOfRows(Protocol):
    """A column of which any rows can be had."""

    def of(self, rows: IntArray | slice, /) -> IntArray | Int32Array:
        """Return what these rows hold, in whole numbers."""


class EqualRows(NamedTuple):
    """The group of each person, numbered in the order of their columns, and of each row; -1 is a row of nobody."""

    of_person: IntArray
    of_row: IntArray
    groups: int


def equal_rows(people: Sequence[IntArray | Int32Array], rows: Sequence[ColumnOfRows], size: int) -> EqualRows:
    """Return who are equal in all columns, and which of ``size`` rows are equal to them.

    >>> class Column(NamedTuple):
    ...     cells: IntArray
    ...     def of(self, rows): return self.cells[rows]
    >>> equal_rows([np.array([7, 3, 7])], [Column(np.array([3, 8, 7, 3]))], 4)
    EqualRows(of_person=array([1, 0, 1]), of_row=array([ 0, -1,  1,  0]), groups=2)
    """
    values, codes = zip(*(np.unique(column, return_inverse=True) for column in people), strict=True)
    found = sorted_rows(codes, codes[0].size)
    of_person, groups = found.numbered(np.int64), found.start.size
    of_row = np.full(size, -1, np.int64)
    # The columns with the most values first: they leave the fewest rows.
    order = sorted(range(len(rows)), key=lambda place: -values[place].size)
    for first in range(0, size, BLOCK_ROWS):
        some, number, person = np.arange(first, min(first + BLOCK_ROWS, size)), np.zeros(1, np.int64), None
        for place in order:
            own = codes[place] if person is None else person * values[place].size + codes[place]
            known, person = np.unique(own, return_inverse=True)
            is_there, code = _looked_up(rows[place].of(some), values[place])
            some, number = some[is_there], (number if number.size == 1 else number[is_there])
            is_there, number = _looked_up(number * values[place].size + code, known)
            some = some[is_there]
        if some.size:
            group = np.empty(known.size, np.int64)
            group[person] = of_person
            of_row[some] = group[number]
    return EqualRows(of_person, of_row, groups)


def _looked_up(numbers: IntArray | Int32Array, known: IntArray | Int32Array) -> tuple[BoolArray, IntArray]:
    """Return which numbers are known, and the places of those among the known ones, which ascend."""
    low, high = int(known[0]), int(known[-1])
    if high - low < _LISTED_UP_TO:
        listed = np.full(high - low + 2, -1, np.int32)
        listed[known - low] = np.arange(known.size, dtype=np.int32)
        place = listed[np.where((numbers >= low) & (numbers <= high), numbers - low, high - low + 1)]
        is_there = place >= 0
    else:
        place = np.minimum(np.searchsorted(known, numbers), known.size - 1)
        is_there = known[place] == numbers
    return is_there, place[is_there].astype(np.int64)
