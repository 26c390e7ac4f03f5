"""One scale for each column of tables that were brought together, on which whole tables are put once.

An audit compares the same rows in many sets of columns. What a column is in whole numbers does not depend on the set,
and so it is found out once and kept in as few bytes as hold it.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.types import Int32Array, IntArray
from unveil.data.files.column_store import arrays_on_disk
from unveil.data.table._grid import BEYOND, MISSING, WholeScale, reach_of, whole_scale
from unveil.data.table.coded_columns import different, places_among
from unveil.data.table.table import Table

if TYPE_CHECKING:
    import polars as pl

_Narrow = NDArray[np.signedinteger[Any]]


class Units(NamedTuple):
    """A number column as it is kept: from 0 on, or below 0 where a marker stands for the value (-1 for none at all).

    ``low`` is what 0 is on the scale of those who ask, and values outside ``ends`` count as these.
    """

    kept: _Narrow
    least: int = 0
    greatest: int = -1
    has_gaps: bool = False
    low: int = 0
    ends: tuple[int, int] | None = None

    @property
    def is_empty(self) -> bool:
        """Whether no value is there."""
        return self.greatest < self.least

    def of(self, rows: IntArray | slice) -> IntArray:
        """Return these rows in grid units."""
        kept = self.kept[rows]
        units = np.subtract(kept, self.low, dtype=np.int64)
        if self.ends is not None:
            np.clip(units, *self.ends, out=units)
        if self.has_gaps:
            gone = kept < 0
            units[gone] = MISSING + (-1 - kept[gone].astype(np.int64))
        return units

    def taken(self, rows: IntArray) -> "Units":
        """Return these rows by themselves, as they would be kept if there were no others."""
        kept = self.kept[rows]
        there = kept[kept >= 0] if self.has_gaps else kept
        least, greatest = (int(there.min()), int(there.max())) if there.size else (0, -1)
        return Units(kept, least, greatest, has_gaps=there.size < kept.size)


class Codes(NamedTuple):
    """A category column as it is kept."""

    kept: _Narrow

    def of(self, rows: IntArray | slice) -> Int32Array:
        """Return the codes of these rows."""
        return self.kept[rows].astype(np.int32, copy=False)

    def taken(self, rows: IntArray) -> "Codes":
        """Return these rows by themselves."""
        return Codes(self.kept[rows])


_Column = TypeVar("_Column", Units, Codes)


class PlacedColumn(NamedTuple):
    """A number column of several tables on the scale of those that make its span, and how many spans it fills."""

    tables: list[Units]
    span: int
    reach: int
    exact: bool = True


class Agreement:
    """What tables that were brought together share: the scale of each column, found out when it is first asked for.

    Rows of these tables are found here. What was made of them, as the extremes of a column, keeps what it is on the
    scale itself.
    """

    def __init__(self, tables: Sequence[Table]) -> None:
        # Tables without what they share: otherwise these would refer to themselves, and stay longer than anybody needs.
        self._tables = tuple(replace(table) for table in tables)
        self._lock = threading.RLock()
        self._numbers: dict[str, tuple[WholeScale, dict[int, Units]] | None] = {}
        self._codes: dict[str, tuple[pl.Series, dict[int, Codes]]] = {}
        self._markers: dict[str, dict[str, int]] = {}

    def __reduce__(self) -> tuple[type["Agreement"], tuple[tuple[Table, ...]]]:
        # Elsewhere tables still agree, but a few rows that are sent there do not take everybody along.
        return Agreement, ((),)

    @property
    def has_scales(self) -> bool:
        """Whether the tables are here that the scales are made of."""
        return bool(self._tables)

    def numbers(self, name: str, tables: Sequence[Table], reference: Sequence[int]) -> PlacedColumn | None:
        """Return a number column of tables that agree; None where its scale hangs on who asks."""
        with self._lock:
            if name not in self._numbers:
                self._numbers[name] = self._put_on_scale(name)
            found = self._numbers[name]
        if found is None:
            return None
        scale, kept = found
        units = [_column_of(table, name, kept, partial(self._units, scale, table, name)) for table in tables]
        return _placed(units, reference)

    def codes(self, name: str, tables: Sequence[Table]) -> list[Codes]:
        """Return a category column of tables that agree: numbers from 1 on in the order of values, 0 is missing."""
        with self._lock:
            if name not in self._codes:
                single = self._with_single_values(name)
                words = different(*(table.values(name) for table in single.values()))
                self._codes[name] = words, {place: self._coded(words, each, name) for place, each in single.items()}
            words, kept = self._codes[name]
        return [_column_of(table, name, kept, partial(self._coded, words, table, name)) for table in tables]

    def _put_on_scale(self, name: str) -> tuple[WholeScale, dict[int, Units]] | None:
        single = self._with_single_values(name)
        parts = [table.values(name) for table in single.values()]
        scale = whole_scale(parts, ranks=self._tables[0].column(name).kind == "ordered")
        return None if scale is None else (scale, {at: self._units(scale, each, name) for at, each in single.items()})

    def _with_single_values(self, name: str) -> dict[int, Table]:
        """Return the tables by their places, but for one whose cells in this column stand for several values."""
        return {place: table for place, table in enumerate(self._tables) if not table.coarse([name])}

    def _units(self, scale: WholeScale, table: Table, name: str) -> Units:
        values, rows = table.lookup(name)
        units, gone = scale.units(values), values.is_null().to_numpy()
        there = units[~gone]
        units[gone] = -1
        ends = (int(there.min()), int(there.max())) if there.size else (0, -1)
        missing = gone[rows] if gone.any() else gone
        has_gaps = bool(missing.any())
        marker = self._marker_of(table, name) if has_gaps else None
        narrow = _narrow(units, -1 - len(self._markers.get(name, ())) if has_gaps else 0)[rows]
        if marker is not None:
            narrow[missing] = -1 - marker[missing]
        return Units(arrays_on_disk(narrow, table.store), *ends, has_gaps=has_gaps)

    def _coded(self, words: "pl.Series", table: Table, name: str) -> Codes:
        values, rows = table.lookup(name)
        marker = self._marker_of(table, name)
        narrow = _narrow(places_among(values, words), -len(self._markers.get(name, ())))[rows]
        if marker is not None:
            narrow = np.where(narrow == 0, -marker, narrow).astype(narrow.dtype)
        return Codes(arrays_on_disk(narrow, table.store))

    def _marker_of(self, table: Table, name: str) -> IntArray | None:
        """Return the number of the marker in each cell, the same in all tables for the same marker; 0 for none."""
        if name not in self._markers:
            self._markers[name] = marker_numbers(self._tables, name)
        return marker_of_cells(table, name, self._markers[name])


def _column_of(table: Table, name: str, kept: Mapping[int, _Column], make: Callable[[], _Column]) -> _Column:
    """Return a column of a table from that of the table whose rows it has; made anew, and kept with it, otherwise."""
    column, rows = None if table.agreed_as is None else kept.get(table.agreed_as), table.agreed_rows
    if column is not None and rows is None:
        return column
    if name not in table.on_scale:
        table.on_scale[name] = make() if column is None or rows is None else column.taken(rows)
    return cast("_Column", table.on_scale[name])


def _placed(units: list[Units], reference: Sequence[int]) -> PlacedColumn:
    """Return the column on the scale of the tables at ``reference``; values far beyond their range are cut off."""
    known = [units[place] for place in reference if not units[place].is_empty]
    low = min((each.least for each in known), default=0)
    span = max((each.greatest for each in known), default=0) - low
    bottom, top = -BEYOND * span, (1 + BEYOND) * span
    placed, every = [], [0]
    for each in units:
        least, greatest = (0, 0) if each.is_empty else (each.least - low, each.greatest - low)
        every += [min(max(least, bottom), top), min(max(greatest, bottom), top)]
        ends = (bottom, top) if least < bottom or greatest > top else None
        placed.append(each._replace(low=low, ends=ends))
    return PlacedColumn(placed, span, reach_of(max(every) - min(every), span))


def marker_numbers(tables: Sequence[Table], name: str) -> dict[str, int]:
    """Return a number from 1 on for each marker of a column, by its key."""
    keys = {marker.key for table in tables if name in table.marked for marker in table.column(name).markers}
    return {key: number for number, key in enumerate(sorted(keys), 1)}


def marker_of_cells(table: Table, name: str, number: dict[str, int]) -> IntArray | None:
    """Return the number of the marker in each cell, 0 for none; None where the column has no markers."""
    if name not in table.marked:
        return None
    own = [0, *(number[marker.key] for marker in table.column(name).markers)]
    return np.asarray(np.array(own, np.int64)[table.marked[name].to_numpy()])


def _narrow(values: IntArray | Int32Array, at_least: int) -> _Narrow:
    """Return whole numbers in the fewest bytes that hold them, ``at_least`` and the next one below it."""
    most = max(int(values.max(initial=0)), -at_least)
    for kind in (np.int8, np.int16, np.int32):
        if most < np.iinfo(kind).max:
            return values.astype(kind)
    return values.astype(np.int64, copy=False)
