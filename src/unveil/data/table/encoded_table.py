"""Encode the columns of tables as integers, so that row distances are exact."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from unveil._kernels.cells.boxes import CellColumns
from unveil._kernels.neighbours.index import EVERY, IntegerGrid, SortedRows, chosen_columns, from_zero, sorted_rows
from unveil._kernels.types import Int32Array, IntArray
from unveil.data.table._scales import Codes, Units


@dataclass(frozen=True, eq=False)
class EncodedTable:
    """The columns of one table as integers, on scales and codes shared by all tables of a call.

    The distance of two rows is the sum of ``step_cost`` times the difference over the number columns, plus
    ``mismatch_cost`` for each code that differs and for each number that only one of the two rows has, or that neither
    has for another reason. It is at most 2**61. Divided by ``mismatch_cost`` it counts mismatches, a whole span being
    one.

    Attributes
    ----------
    size
        How many rows there are.
    names_numbers, number_columns
        The columns of kinds number, ordered and date, in grid units; `MISSING` where the value is missing, and one of
        the next numbers up to `LAST_MARKER` where a marker stands for it: each marker equals itself only.
    names_codes, code_columns
        All other columns, each value a number from 1 on; 0 is a missing value, a category of its own, and so is each
        number below 0, a marker that stands for no value.
    step_cost
        The cost of one grid unit of each number column; 0 for a column whose span is 0.
    mismatch_cost
        The cost of two different categories, and of a whole span of a number column.
    exact
        Whether nothing was rounded: the distance is then ``mismatch_cost`` times the exact fraction. False as soon as
        a column is truly real, has a span of more than 2**58 steps, or the costs of all columns do not fit.
    cells
        Of a released table with coarse cells in these columns: what they are, number columns first. The columns
        then hold the cells that are single values, and a missing value for all others.
    """

    size: int
    names_numbers: tuple[str, ...]
    number_columns: Sequence[Units]
    names_codes: tuple[str, ...]
    code_columns: Sequence[Codes]
    step_cost: IntArray
    mismatch_cost: int
    exact: bool = True
    cells: CellColumns | None = None

    @cached_property
    def numbers(self) -> IntArray:
        """The number columns of all rows."""
        return self.block(slice(None)).numbers

    @cached_property
    def codes(self) -> Int32Array:
        """The category columns of all rows."""
        return self.block(slice(None)).codes

    def grid(self, rows: IntArray | slice = slice(None)) -> IntegerGrid:
        """Return these rows, or all, as the kernels take them."""
        if isinstance(rows, slice) and rows == slice(None):
            return IntegerGrid(self.numbers, self.codes, self.step_cost, self.mismatch_cost)
        return self.block(rows)

    def block(self, rows: IntArray | slice) -> IntegerGrid:
        """Return these rows as the kernels take them, without keeping all others."""
        size = len(range(*rows.indices(self.size))) if isinstance(rows, slice) else len(rows)
        # Column by column, as they are gone through.
        numbers = np.empty((size, len(self.number_columns)), np.int64, order="F")
        codes = np.empty((size, len(self.code_columns)), np.int32, order="F")
        for place, units in enumerate(self.number_columns):
            numbers[:, place] = units.of(rows)
        for place, coded in enumerate(self.code_columns):
            codes[:, place] = coded.of(rows)
        return IntegerGrid(numbers, codes, self.step_cost, self.mismatch_cost)

    @property
    def widths(self) -> tuple[int, int]:
        """How many number columns and how many category columns there are."""
        return len(self.number_columns), len(self.code_columns)

    def column(self, place: int, rows: IntArray | slice) -> IntArray | Int32Array:
        """Return some rows of one column; those of numbers come first."""
        width = len(self.number_columns)
        return self.number_columns[place].of(rows) if place < width else self.code_columns[place - width].of(rows)

    def on_columns(self, columns: IntArray) -> "EncodedTable":
        """Return some of the columns, of which each cell is one value."""
        numbers, codes = chosen_columns(columns, len(self.number_columns))
        return replace(
            self,
            names_numbers=tuple(self.names_numbers[place] for place in numbers),
            number_columns=[self.number_columns[place] for place in numbers],
            names_codes=tuple(self.names_codes[place] for place in codes),
            code_columns=[self.code_columns[place] for place in codes],
            step_cost=self.step_cost[numbers],
            cells=None,
        )

    def take(self, rows: IntArray) -> "EncodedTable":
        """Return some of the rows, of which each cell is one value."""
        some = self.block(rows)
        return replace(
            self,
            size=len(rows),
            number_columns=[Units(column) for column in some.numbers.T],
            code_columns=[Codes(column) for column in some.codes.T],
            cells=None,
        )

    def in_order(self) -> SortedRows:
        """Return the rows in an order that depends on what they hold; equal ones stand in any."""
        every: Iterable[IntArray | Int32Array] = (self.column(place, EVERY) for place in range(sum(self.widths)))
        if self.cells is not None:
            every = self.cells.of_row
        return sorted_rows(map(from_zero, every), self.size)

    def by_content(self) -> IntArray:
        """Return the rows in an order that depends on what they hold; equal ones stand as they do here."""
        return np.argsort(self.in_order().numbered(np.int64), kind="stable")
