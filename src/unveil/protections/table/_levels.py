"""Columns as numbered levels, whatever their type."""

from dataclasses import dataclass

import numpy as np

from unveil._kernels.types import BoolArray, IntArray
from unveil.data.table import Table

#: The kinds whose values have an order of their own; the values of the others are only equal or not.
WITH_ORDER = frozenset({"number", "ordered", "date", "boolean"})


@dataclass(frozen=True, eq=False, repr=False)
class ValueLevels:
    """Distinct values of a column, ascending from 0; missing is excluded.

    ``level`` has one number per row, -1 where missing; ``row`` names one row for each level, where its value stands.
    """

    level: IntArray
    row: IntArray

    @property
    def counts(self) -> IntArray:
        """How many rows each level has."""
        return np.bincount(self.level[self.level >= 0], minlength=self.row.size)

    @property
    def missing(self) -> BoolArray:
        """Which rows have no value."""
        return self.level < 0


def levels(table: Table, name: str) -> ValueLevels:
    """Return the levels of a column.

    They ascend in the order of the values for kinds that have one, and in the order of their text for the others, so
    that they never depend on the order of rows.

    >>> import polars as pl
    >>> found = levels(Table.from_frame(pl.DataFrame({"age": [41, None, 30, 41]})), "age")
    >>> found.level, found.counts
    (array([ 1, -1,  0,  1]), array([1, 2]))
    """
    # Under another name, because polars would read a name such as "^a.*$" as a pattern of names.
    rank = table.series(name).alias("values").rank("dense")
    level = rank.cast(int).fill_null(0).to_numpy().astype(np.int64) - 1
    filled = np.flatnonzero(level >= 0)
    _, first = np.unique(level[filled], return_index=True)
    return ValueLevels(level, filled[first])
