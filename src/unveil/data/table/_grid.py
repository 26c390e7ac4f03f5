"""Put a number column of several tables on one grid of whole numbers, without loss where that can be."""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unveil._kernels.neighbours import index
from unveil._kernels.types import FloatArray, IntArray

if TYPE_CHECKING:
    import polars as pl


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
    """A column of all tables in grid units, its span over the defining tables, and its extent in spans.

    ``exact`` says whether whole numbers, decimals, moments and levels are on the grid as they are; real ones never are.
    """

    values: list[IntArray]
    span: int
    reach: int
    exact: bool


class WholeScale(NamedTuple):
    """Whole numbers from ``low`` on, in steps, of numbers times a power of ten."""

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
    """Return the scale that holds all numbers of all tables as they are, whichever of them make the span.

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
    """Return levels by their place and moments by their distance from one, all else as it is."""
    import polars as pl

    if isinstance(part.dtype, pl.Enum):
        return part.to_physical().cast(pl.Int64)
    return part.cast(pl.Int64) if part.dtype == pl.Datetime else part


def on_grid(parts: Sequence["pl.Series"], reference: Sequence[int], *, ranks: bool = False) -> ColumnGrid:
    """Return the column of each table in units of a grid that holds all its values.

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
    """Return how many decimals the numbers have, at most six, or None if they are truly real."""
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
    """Yield the numbers that are there, in pieces small enough to work on without much memory."""
    for start in range(0, part.len(), _BLOCK):
        yield part.slice(start, _BLOCK).drop_nulls().to_numpy()


def _has_places(part: "pl.Series", factor: float) -> bool:
    """Return whether each number is the nearest one to a whole multiple of 1 / ``factor``."""
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
    """Return whole numbers from the lowest of the reference on, in steps of their greatest common divisor."""
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
