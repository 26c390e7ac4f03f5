"""Table columns as integers on shared scales, without loss if possible.

An audit compares the same rows in many sets of columns. What a column is in whole numbers does not depend on the set,
so tables that were brought together share one `Agreement`, which finds it out once, in as few bytes as hold it.
"""

import math
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.neighbours import index
from unveil._kernels.types import FloatArray, Int32Array, IntArray
from unveil.data.files.column_store import arrays_on_disk
from unveil.data.table.coded_columns import different, places_among

if TYPE_CHECKING:
    import polars as pl

    from unveil.data.table.table import Table

_Narrow = NDArray[np.signedinteger[Any]]

#: Stands for a missing value among the grid units; up to the last marker are those that say why it is missing.
MISSING, LAST_MARKER = int(index.MISSING), int(index.LAST_MARKER)
#: How many spans beyond the range a value counts that is not in the tables that make the range.
BEYOND = 3

_REAL_STEPS = 2**40
_WIDEST = 2**58
_MOST_PLACES = 6
_EXACT_FLOAT = 2.0**50
_BLOCK = 1 << 16


class ColumnGrid(NamedTuple):
    """Column of all tables in grid units, with its span and extent.

    ``exact`` says whether whole numbers, decimals, moments and levels are on the grid as they are; real ones never are.
    """

    values: list[IntArray]
    span: int
    reach: int
    exact: bool


class WholeScale(NamedTuple):
    """Integers from ``low`` in steps, for scaled decimal numbers."""

    factor: int
    low: int
    step: int

    def units(self, part: "pl.Series") -> IntArray:
        """Return the numbers of one table on it, 0 where there is none."""
        whole = _times(_as_numbers(part), self.factor)
        units = (whole.fill_null(self.low) if whole.null_count() else whole).to_numpy().astype(np.int64) - self.low
        if self.step > 1:
            units //= self.step
        return units


def whole_scale(parts: Sequence["pl.Series"], *, ranks: bool = False) -> WholeScale | None:
    """Return the scale that represents all numbers exactly.

    None where there is none: ranks hang on the values of those that make it, and so do steps of real numbers and of
    numbers too large for a machine word.
    """
    import polars as pl

    if (ranks and not any(isinstance(part.dtype, pl.Enum) for part in parts)) or pl.Int128 in {p.dtype for p in parts}:
        return None
    parts = [_as_numbers(part) for part in parts]
    places = places_of(parts)
    if places is None:
        return None
    whole = [_times(part, 10**places) for part in parts]
    low, high = _bounds(whole)
    if max(abs(low), abs(high), high - low) >= 2**61:
        return None
    scale = WholeScale(10**places, low, 1)
    step = math.gcd(*(int(np.gcd.reduce(scale.units(part), initial=0)) for part in parts))
    return scale._replace(step=max(1, step))


def _as_numbers(part: "pl.Series") -> "pl.Series":
    """Return levels and moments as numbers; other types stay."""
    import polars as pl

    if isinstance(part.dtype, pl.Enum):
        return part.to_physical().cast(pl.Int64)
    return part.cast(pl.Int64) if part.dtype == pl.Datetime else part


def on_grid(parts: Sequence["pl.Series"], reference: Sequence[int], *, ranks: bool = False) -> ColumnGrid:
    """Return the column of each table in units of a common grid.

    Parameters
    ----------
    parts
        The column of each table: numbers, moments or ordered levels.
    reference
        The positions of the tables whose values make the span.
    ranks
        True counts places in the order of the values that the reference has, instead of the values; a value
        that it has not is half way between two places.
    """
    import polars as pl

    if ranks and not any(isinstance(part.dtype, pl.Enum) for part in parts):
        parts = _ranks(parts, reference)
    else:
        parts = [_as_numbers(part) for part in parts]
    places = places_of(parts)
    if places is None:
        return _real(parts, reference)
    if any(part.dtype == pl.Float64 for part in parts):
        parts = [_times(part, 10**places) for part in parts]
    return _whole(parts, reference)


def _ranks(parts: Sequence["pl.Series"], reference: Sequence[int]) -> list["pl.Series"]:
    import polars as pl

    same = pl.Int64 if all(part.dtype == pl.Int64 for part in parts) else pl.Float64
    parts = [part.cast(same) for part in parts]
    have = pl.concat([part.head(0) for part in parts] + [parts[position].unique() for position in reference])
    have = have.drop_nulls().unique().sort()
    ranked = []
    for part in parts:
        # Odd where the value is there, else the even number between two such places.
        place = have.search_sorted(part, side="left").cast(pl.Int64) + have.search_sorted(part, side="right")
        ranked.append(place.set(part.is_null(), None))
    return ranked


def _filled(parts: Sequence["pl.Series"]) -> list["pl.Series"]:
    return [part for part in parts if part.null_count() < part.len()]


def _bounds(parts: Sequence["pl.Series"]) -> tuple[int, int]:
    """Return the least and the greatest value, 0 and 0 where there is none."""
    filled = _filled(parts)
    least = min((int(part.min()) for part in filled), default=0)  # type: ignore[arg-type]
    return least, max((int(part.max()) for part in filled), default=0)  # type: ignore[arg-type]


def places_of(parts: Sequence["pl.Series"]) -> int | None:
    """Return the number of decimals, at most six, or None."""
    whole = [part for part in parts if part.dtype.is_integer()]
    real = [part for part in parts if not part.dtype.is_integer()]
    largest = max(map(abs, _bounds(whole)))
    for places in range(_MOST_PLACES + 1):
        if places and largest * 10**places >= 2**62:
            return None
        if all(_has_places(part, 10.0**places) for part in real):
            return places
    return None


def _blocks(part: "pl.Series") -> Iterator[FloatArray]:
    """Yield the non-missing numbers in small blocks."""
    for start in range(0, part.len(), _BLOCK):
        yield part.slice(start, _BLOCK).drop_nulls().to_numpy()


def _has_places(part: "pl.Series", factor: float) -> bool:
    """Return whether each number is a multiple of 1 / ``factor``."""
    for numbers in _blocks(part):
        with np.errstate(over="ignore"):
            units = np.rint(numbers * factor)
        # Below 2**50 the product is less than half a unit off, so that comparing the quotient is right.
        if (np.abs(units) >= _EXACT_FLOAT).any() or (units / factor != numbers).any():
            return False
    return True


def _times(part: "pl.Series", factor: int) -> "pl.Series":
    import polars as pl

    if part.dtype.is_integer():
        return part * factor if factor > 1 else part
    return (part * factor).round().cast(pl.Int64)


def _whole(parts: Sequence["pl.Series"], reference: Sequence[int]) -> ColumnGrid:
    """Return integers from the reference minimum, in steps of their GCD."""
    import polars as pl

    low, high = _bounds([parts[position] for position in reference])
    span = high - low
    unit = 1
    most = max(abs(low - BEYOND * span), abs(high + BEYOND * span))
    if most >= 2**62 or any(part.dtype == pl.Int128 for part in parts):
        unit = max(1, -(-span // _WIDEST))
        parts = [_shortened(part, low, high, unit) for part in parts]
        low, span = 0, span // unit
    values = []
    step = span
    for part in parts:
        # Filling gaps where there are none costs more than all the rest of a small column.
        units = (part.fill_null(low) if part.null_count() else part).to_numpy()
        units = np.clip(units, low - BEYOND * span, low + (1 + BEYOND) * span) - low
        step = math.gcd(step, int(np.gcd.reduce(units)))
        values.append(units)
    for units in values:
        if step > 1:
            units //= step
    return _finished(values, parts, span // max(1, step), exact=unit == 1)


def _shortened(part: "pl.Series", low: int, high: int, unit: int) -> "pl.Series":
    """Return numbers too large for a machine word in units from ``low`` on."""
    import polars as pl

    def one(value: int) -> "pl.Series":
        return pl.Series([value], dtype=pl.Int128)

    span = high - low
    long = part.cast(pl.Int128).clip(low - BEYOND * span, high + BEYOND * span)
    return ((long - one(low)) // one(unit)).cast(pl.Int64)


def _real(parts: Sequence["pl.Series"], reference: Sequence[int]) -> ColumnGrid:
    """Return real numbers in equal steps of the span."""
    import polars as pl

    parts = [part.cast(pl.Float64) for part in parts]
    ranging = _filled([parts[position] for position in reference])
    low = min((float(part.min()) for part in ranging), default=0.0)  # type: ignore[arg-type]
    high = max((float(part.max()) for part in ranging), default=0.0)  # type: ignore[arg-type]
    # In halves, because the difference of two numbers may be too large for a float.
    half = high / 2 - low / 2
    values = []
    for part in parts:
        numbers = part.fill_null(low).to_numpy()
        if half > 0:
            with np.errstate(over="ignore"):
                share = np.clip((numbers / 2 - low / 2) / half, -BEYOND, 1 + BEYOND)
            values.append(np.rint(share * _REAL_STEPS).astype(np.int64))
        else:
            values.append(np.zeros(part.len(), np.int64))
    return _finished(values, parts, _REAL_STEPS if half > 0 else 0, exact=half == 0)


def _finished(values: list[IntArray], parts: Sequence["pl.Series"], span: int, *, exact: bool) -> ColumnGrid:
    spread = max(int(units.max()) for units in values) - min(int(units.min()) for units in values)
    for units, part in zip(values, parts, strict=True):
        if part.null_count():
            units[part.is_null().to_numpy()] = MISSING
    return ColumnGrid(values, span, reach_of(spread, span), exact)


def reach_of(spread: int, span: int) -> int:
    """Return how many spans values fill that are as far apart as ``spread``."""
    return max(1, -(-spread // span)) if span else 1


class Units(NamedTuple):
    """Number column in grid units from 0; negative values are markers.

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
        """True if there is no value."""
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
        """Return these rows in their own smallest representation."""
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
    """Number column of several tables on the reference scale, and its span."""

    tables: list[Units]
    span: int
    reach: int
    exact: bool = True


class Agreement:
    """Shared scales of agreed tables, computed at first use.

    Rows of these tables are found here. What was made of them, as the extremes of a column, keeps what it is on the
    scale itself.
    """

    def __init__(self, tables: "Sequence[Table]") -> None:
        # Tables without what they share: otherwise these would refer to themselves, and stay longer than anybody needs.
        self._tables = tuple(replace(table) for table in tables)
        self._lock = threading.RLock()
        self._numbers: dict[str, tuple[WholeScale, dict[int, Units]] | None] = {}
        self._codes: dict[str, tuple[pl.Series, dict[int, Codes]]] = {}
        self._markers: dict[str, dict[str, int]] = {}

    def __reduce__(self) -> tuple[type["Agreement"], tuple[tuple["Table", ...]]]:
        # Elsewhere tables still agree, but a few rows that are sent there do not take everybody along.
        return Agreement, ((),)

    @property
    def has_scales(self) -> bool:
        """True if the reference tables are available."""
        return bool(self._tables)

    def numbers(self, name: str, tables: "Sequence[Table]", reference: Sequence[int]) -> PlacedColumn | None:
        """Return an agreed number column; None if its scale is not shared."""
        with self._lock:
            if name not in self._numbers:
                self._numbers[name] = self._put_on_scale(name)
            found = self._numbers[name]
        if found is None:
            return None
        scale, kept = found
        units = [_column_of(table, name, kept, partial(self._units, scale, table, name)) for table in tables]
        return _placed(units, reference)

    def codes(self, name: str, tables: "Sequence[Table]") -> list[Codes]:
        """Return an agreed category column as numbers from 1; 0 is missing."""
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

    def _with_single_values(self, name: str) -> "dict[int, Table]":
        """Return the tables with single values in this column, by position."""
        return {place: table for place, table in enumerate(self._tables) if not table.coarse([name])}

    def _units(self, scale: WholeScale, table: "Table", name: str) -> Units:
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

    def _coded(self, words: "pl.Series", table: "Table", name: str) -> Codes:
        values, rows = table.lookup(name)
        marker = self._marker_of(table, name)
        narrow = _narrow(places_among(values, words), -len(self._markers.get(name, ())))[rows]
        if marker is not None:
            narrow = np.where(narrow == 0, -marker, narrow).astype(narrow.dtype)
        return Codes(arrays_on_disk(narrow, table.store))

    def _marker_of(self, table: "Table", name: str) -> IntArray | None:
        """Return the marker number of each cell, shared by all tables; 0 for none."""
        if name not in self._markers:
            self._markers[name] = marker_numbers(self._tables, name)
        return marker_of_cells(table, name, self._markers[name])


def _column_of(table: "Table", name: str, kept: Mapping[int, _Column], make: Callable[[], _Column]) -> _Column:
    """Return a table's column from the table with the same rows, cached."""
    column, rows = None if table.agreed_as is None else kept.get(table.agreed_as), table.agreed_rows
    if column is not None and rows is None:
        return column
    if name not in table.on_scale:
        table.on_scale[name] = make() if column is None or rows is None else column.taken(rows)
    return cast("_Column", table.on_scale[name])


def _placed(units: list[Units], reference: Sequence[int]) -> PlacedColumn:
    """Return the column on the reference scale, clipped far outside."""
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


def marker_numbers(tables: "Sequence[Table]", name: str) -> dict[str, int]:
    """Return a number from 1 for each marker key."""
    keys = {marker.key for table in tables if name in table.marked for marker in table.column(name).markers}
    return {key: number for number, key in enumerate(sorted(keys), 1)}


def marker_of_cells(table: "Table", name: str, number: dict[str, int]) -> IntArray | None:
    """Return each cell's marker number, 0 for none; None without markers."""
    if name not in table.marked:
        return None
    own = [0, *(number[marker.key] for marker in table.column(name).markers)]
    return np.asarray(np.array(own, np.int64)[table.marked[name].to_numpy()])


def _narrow(values: IntArray | Int32Array, at_least: int) -> _Narrow:
    """Return integers in the smallest type that holds them."""
    most = max(int(values.max(initial=0)), -at_least)
    for kind in (np.int8, np.int16, np.int32):
        if most < np.iinfo(kind).max:
            return values.astype(kind)
    return values.astype(np.int64, copy=False)
