"""Columns as compact codes: positions among ascending distinct values.

Codes lie on disk, and values are looked up for those who ask. So a table needs no memory but that of one column.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.types import Int32Array, IntArray
from unveil.data.files.column_store import ColumnStore, read_column, write_column

if TYPE_CHECKING:
    import polars as pl

#: Words up to this many are held in memory.
_FEW_WORDS = 1 << 14
#: How many rows are looked up at a time where all columns are asked for.
_BLOCK = 1 << 18
_ALL = slice(None)

#: Values, and the place of each row's among them.
Lookup: TypeAlias = "tuple[pl.Series, NDArray[np.unsignedinteger[Any]] | slice]"


@dataclass(frozen=True, eq=False, repr=False)
class StoredColumn:
    """Column on disk: codes (0 is missing) and their values.

    A code is the place of a value among ``words``: a null, and then the different values of the column, ascending.
    """

    codes: NDArray[np.unsignedinteger[Any]]
    _words: "pl.Series | NDArray[np.uint8]"
    dtype: "pl.DataType"

    @classmethod
    def of(cls, column: "CellColumn", store: ColumnStore | None) -> "CellColumn":
        """Return a column in the store if codes can represent it exactly."""
        return cls.joined([lookup_of(column)], store) if store and not isinstance(column, cls) else column

    @classmethod
    def joined(cls, parts: Sequence[Lookup], store: ColumnStore | None) -> "CellColumn":
        """Return the concatenation of columns, comparing distinct values only.

        Whole numbers in one of them may be real ones in another.
        """
        values = _below_one_another([each for each, _ in parts])
        if store is None or values.is_empty() or not _has_codes(values):
            return _below_one_another([each if isinstance(rows, slice) else each.gather(rows) for each, rows in parts])
        codes, words = codes_of(values)
        words = words.clear(1).append(words)
        own = np.split(codes, np.cumsum([each.len() for each, _ in parts])[:-1])
        coded = [part[rows] for part, (_, rows) in zip(own, parts, strict=True)]
        room = store.room((sum(map(len, coded)),), np.min_scalar_type(words.len() - 1))
        np.concatenate(coded, out=room, casting="unsafe")
        return cls(room, words if words.len() <= _FEW_WORDS else write_column(words, store), values.dtype)

    def series(self, rows: IntArray | slice = _ALL) -> "pl.Series":
        """Return the values of these rows in memory."""
        return self.words.gather(self.codes[rows])

    @property
    def words(self) -> "pl.Series":
        """Values of the codes; many words are on disk, too."""
        return read_column(self._words) if isinstance(self._words, np.ndarray) else self._words

    def len(self) -> int:
        """Return the number of cells."""
        return self.codes.size

    def null_count(self) -> int:
        """Return the number of cells without a value."""
        return self.codes.size - int(np.count_nonzero(self.codes))


#: A column on disk, or in memory.
CellColumn: TypeAlias = "StoredColumn | pl.Series"


def cells_of(column: CellColumn) -> "pl.Series":
    """Return the values of a column, which may be on disk, in memory."""
    return column.series() if isinstance(column, StoredColumn) else column


def lookup_of(column: CellColumn) -> Lookup:
    """Return the distinct values of a column, and each row's position."""
    return (column.words, column.codes) if isinstance(column, StoredColumn) else (column, _ALL)


def words_of(column: CellColumn) -> "pl.Series":
    """Return the different values of a column, in any order."""
    return lookup_of(column)[0].drop_nulls().unique()


def value_counts(column: CellColumn) -> "pl.DataFrame":
    """Return each ``value`` of a column, ascending, and how many ``cells`` hold it.

    >>> import polars as pl
    >>> value_counts(pl.Series([7, None, 5, 7])).rows()
    [(5, 1), (7, 2)]
    """
    import polars as pl

    values, codes = lookup_of(column)
    if isinstance(codes, slice):
        return values.drop_nulls().alias("value").to_frame().group_by("value").len(name="cells").sort("value")
    cells = np.bincount(codes, minlength=values.len()).astype(np.uint32)
    return pl.DataFrame({"value": values, "cells": cells})[1:]


class CellFrame:
    """Columns of a table in memory or on disk, as a data frame."""

    def __init__(self, columns: Mapping[str, CellColumn]) -> None:
        self.cells = dict(columns)

    def __reduce__(self) -> tuple[type["CellFrame"], tuple[dict[str, CellColumn]]]:
        return CellFrame, (self.cells,)

    @cached_property
    def _in_memory(self) -> "pl.DataFrame":
        """The columns that are not on disk."""
        import polars as pl

        return pl.DataFrame({name: each for name, each in self.cells.items() if not isinstance(each, StoredColumn)})

    @property
    def height(self) -> int:
        """The number of rows."""
        return next((each.len() for each in self.cells.values()), 0)

    @property
    def schema(self) -> dict[str, "pl.DataType"]:
        """The type of each column."""
        return {name: each.dtype for name, each in self.cells.items()}

    def get_column(self, name: str) -> "pl.Series":
        """Return the values of a column in memory."""
        return cells_of(self.cells[name]).alias(name)

    def rename(self, mapping: Mapping[str, str]) -> "CellFrame":
        """Return the columns under other names."""
        return CellFrame({mapping.get(name, name): each for name, each in self.cells.items()})

    def with_columns(self, columns: Sequence["pl.Series"]) -> "CellFrame":
        """Return the columns with some replaced by name."""
        return CellFrame(self.cells | {each.name: each for each in columns})

    def hash_rows(self, seed: int = 0) -> "pl.Series":
        """Return a hash of each row."""
        import polars as pl

        return pl.concat([self[start : start + _BLOCK].hash_rows(seed) for start in range(0, self.height, _BLOCK)])

    def ranks(self) -> "pl.DataFrame":
        """Return columns that sort as the values do, a missing one first."""
        import polars as pl

        found = {name: lookup_of(each) for name, each in self.cells.items()}
        return pl.DataFrame({name: each if isinstance(rows, slice) else rows for name, (each, rows) in found.items()})

    @overload
    def __getitem__(self, key: list[str]) -> "CellFrame": ...
    @overload
    def __getitem__(self, key: IntArray | slice) -> "pl.DataFrame": ...
    def __getitem__(self, key: list[str] | IntArray | slice) -> "CellFrame | pl.DataFrame":
        import polars as pl

        if isinstance(key, list):
            return CellFrame({name: self.cells[name] for name in key})
        held = self._in_memory[key] if self._in_memory.width else self._in_memory
        coded = {name: each.series(key) for name, each in self.cells.items() if isinstance(each, StoredColumn)}
        return pl.DataFrame(held.to_dict() | coded)[list(self.cells)] if coded else held


def marks_in(store: ColumnStore | None, marked: "pl.Series") -> "pl.Series":
    """Return the marker number of each cell, in the store if any."""
    import polars as pl

    return marked if store is None else pl.Series(marked.name, store.array(marked.to_numpy()))


def _below_one_another(parts: Sequence["pl.Series"]) -> "pl.Series":
    import polars as pl

    return pl.concat([each.to_frame("value") for each in parts], how="vertical_relaxed").to_series()


def _has_codes(values: "pl.Series") -> bool:
    """Return whether equal codes mean equal cells (false for signed zeros)."""
    import polars as pl

    dtype = values.dtype
    if dtype.is_float():
        numbers = values.drop_nulls().to_numpy()
        return not (np.isnan(numbers) | (np.signbit(numbers) & (numbers == 0))).any()
    return dtype.is_integer() or dtype in (pl.String, pl.Boolean, pl.Datetime, pl.Enum)


def codes_of(values: "pl.Series") -> tuple[Int32Array, "pl.Series"]:
    """Return each cell's position among the ascending distinct values."""
    import polars as pl

    if isinstance(values.dtype, pl.Enum) and values.null_count() < values.len():
        codes, numbers = places_of_close(values.to_physical())
        return codes, values.dtype.categories.gather(numbers).cast(values.dtype)
    if are_close(values):
        codes, numbers = places_of_close(values)
        return codes, pl.Series(numbers, dtype=values.dtype)
    words = different(values)
    return places_among(values, words), words


def places(cells: "pl.Series") -> Int32Array:
    """Return each cell's position among distinct values, from 1; 0 is missing.

    As the dense rank, which sorts all cells where only the different ones have to be.

    >>> import polars as pl
    >>> places(pl.Series(["b", None, "a", "b"])), places(pl.Series([7, None, 5, 7]))
    (array([2, 0, 1, 2], dtype=int32), array([2, 0, 1, 2], dtype=int32))
    """
    return codes_of(cells)[0]


def different(*parts: "pl.Series") -> "pl.Series":
    """Return the different values that are there, ascending."""
    import polars as pl

    return pl.concat([part.unique() for part in parts]).unique().drop_nulls().sort()


def places_among(cells: "pl.Series", words: "pl.Series") -> Int32Array:
    """Return each cell's position among given words, from 1; 0 is missing.

    >>> import polars as pl
    >>> places_among(pl.Series(["b", None]), pl.Series(["a", "b", "c"]))
    array([2, 0], dtype=int32)
    """
    import polars as pl

    if cells.dtype == pl.String:  # looking up each cell is quicker than joining
        place = cells.cast(pl.Enum(words)).to_physical().cast(pl.Int32) + 1
        return place.fill_null(0).to_numpy()
    numbered = words.alias("word").to_frame().with_row_index("code", offset=1)
    found = cells.alias("word").to_frame().join(numbered, on="word", how="left", maintain_order="left")["code"]
    return found.fill_null(0).cast(pl.Int32).to_numpy()


def are_close(cells: "pl.Series") -> bool:
    """Return whether integers are dense enough for counting sort."""
    if not cells.dtype.is_integer():
        return False
    low, high = cells.min(), cells.max()
    return isinstance(low, int) and isinstance(high, int) and high - low <= 4 * cells.len() and high < 2**62


def places_of_close(cells: "pl.Series") -> tuple[Int32Array, list[Any]]:
    """Return what `places` does of whole numbers close together, and these numbers."""
    import polars as pl

    low: Any = cells.min()
    above = (cells.cast(pl.Int64) - low).fill_null(0).to_numpy()
    # What is missing counts as the lowest number, which occurs anyhow.
    occurs = np.bincount(above) > 0
    codes = np.cumsum(occurs, dtype=np.int32)[above]
    if cells.null_count():
        codes[cells.is_null().to_numpy()] = 0
    return codes, (low + np.flatnonzero(occurs)).tolist()
