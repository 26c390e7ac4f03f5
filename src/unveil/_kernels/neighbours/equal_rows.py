"""Which rows are equal to somebody, found without sorting the rows.

People are few and rows are many. A column at a time, only those rows are looked at further whose value somebody has,
together with the values of the columns before; mostly that are very few after two or three columns.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from unveil._kernels.neighbours.index import sorted_rows
from unveil._kernels.types import Int32Array, IntArray
from unveil._kernels.value_numbers import numbered

#: So many rows are looked at in one go; no number depends on it.
BLOCK_ROWS = 2**20


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
            code = numbered(rows[place].of(some), values[place]).astype(np.int64)
            number = np.where(code > 0, numbered(number * values[place].size + code - 1, known), 0)
            is_there = number > 0
            some, number = some[is_there], number[is_there].astype(np.int64) - 1
        if some.size:
            group = np.empty(known.size, np.int64)
            group[person] = of_person
            of_row[some] = group[number]
    return EqualRows(of_person, of_row, groups)
