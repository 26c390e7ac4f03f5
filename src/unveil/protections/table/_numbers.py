"""Columns of numbers as arrays, on scales where nothing overflows."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unveil._kernels.types import FloatArray, IntArray
from unveil.data.table import Table
from unveil.errors import InputError

if TYPE_CHECKING:
    import polars as pl


# Squares and sums of numbers below this are finite.
_LARGE = 500


@dataclass(frozen=True, eq=False, repr=False)
class Numbers:
    """Numeric columns as scaled values, one line per row, NaN if missing.

    The power is 1 but for columns with numbers beyond some 10**150, whose squares would be infinite.
    """

    names: tuple[str, ...]
    values: FloatArray
    exponent: IntArray

    def scaled_like(self, table: Table) -> FloatArray:
        """Return the same columns of another table, divided by the same powers."""
        return np.ldexp(_raw(table, self.names), -self.exponent)

    def chosen(self, names: Sequence[str]) -> "Numbers":
        """Return some of the columns only."""
        places = [self.names.index(name) for name in names]
        return Numbers(tuple(names), self.values[:, places], self.exponent[places])

    def series(self, place: int, values: FloatArray) -> "pl.Series":
        """Return new values of a column, on its scale; NaN is missing."""
        import polars as pl

        with np.errstate(over="ignore"):
            found = np.ldexp(values, self.exponent[place])
        if np.isinf(found).any():
            raise InputError(
                f"column {self.names[place]!r} has numbers so large that their masked values overflow. "
                "Divide the column, or leave it out of columns"
            )
        return pl.Series(self.names[place], found).fill_nan(None)

    def put_into(self, frame: "pl.DataFrame", values: FloatArray) -> "pl.DataFrame":
        """Return a frame with new values of these columns."""
        return frame.with_columns([self.series(place, values[:, place]) for place in range(len(self.names))])


def _raw(table: Table, names: Sequence[str]) -> FloatArray:
    import polars as pl

    columns = [table.series(name).cast(pl.Float64).fill_null(float("nan")).to_numpy() for name in names]
    return np.column_stack(columns) if columns else np.empty((table.rows, 0))


def numbers_of(table: Table, names: Sequence[str]) -> Numbers:
    """Return columns of the kind number as an array.

    >>> import polars as pl
    >>> numbers_of(Table.from_frame(pl.DataFrame({"age": [31, None, 40]})), ["age"]).values[:, 0]
    array([31., nan, 40.])
    """
    raw = _raw(table, names)
    largest = np.nanmax(np.abs(raw), axis=0, initial=0.0)
    exponent = np.frexp(largest)[1].astype(np.int64)
    exponent = np.where(exponent > _LARGE, exponent, 0)
    return Numbers(tuple(names), np.ldexp(raw, -exponent), exponent)


def refuse_missing(table: Table, names: Sequence[str], *, mask: str, instead: str) -> None:
    """Raise InputError for columns with missing values."""
    for name in names:
        gone = table.series(name).is_null()
        if gone.any():
            raise InputError(
                f"{mask} needs a value in every cell it masks, but column {name!r} of the {table.name} lacks "
                f"{int(gone.sum())}, the first in row {gone.arg_true()[0] + 1} (counted from 1 below the header). "
                f"Name columns without gaps, fill them, leave out these rows, or take {instead}"
            )


def spreads(values: FloatArray) -> FloatArray:
    """Return each column's standard deviation without missing values.

    Equal values are told by comparing, because rounding gives many of them a deviation that is not quite 0.

    >>> spreads(np.array([[0.1, 1.0], [0.1, np.nan], [0.1, 3.0]]))
    array([0., 1.])
    """
    found = np.zeros(values.shape[1])
    for place, column in enumerate(values.T):
        there = column[~np.isnan(column)]
        if there.size and there.min() < there.max():
            found[place] = there.std()
    return found


def group_means(values: FloatArray, group: IntArray) -> FloatArray:
    """Return each row's group means without missing values.

    >>> group_means(np.array([1.0, 3.0, np.nan, 7.0]), np.array([0, 0, 0, 1]))
    array([2., 2., 2., 7.])
    """
    # Summed in the order of the values, so that rounding does not tell the order of rows.
    order = np.lexsort((values, group))
    entry = order[~np.isnan(values[order])]
    classes, start, count = np.unique(group[entry], return_index=True, return_counts=True)
    means = np.full(int(group.max(initial=-1)) + 1, np.nan)
    if entry.size:
        total = np.add.reduceat(values[entry], start)
        # Rounding must not take the mean of equal values from them.
        means[classes] = np.clip(total / count, values[entry[start]], values[entry[start + count - 1]])
    return means[group]
