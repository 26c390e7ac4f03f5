"""Exact intervals of column values, with fractions as ends."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from math import ceil, floor, isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from unveil.data.table.cells import OrderedCells
from unveil.data.table.scales import places_of

if TYPE_CHECKING:
    import polars as pl

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DAY = 86_400_000_000
_MOMENT = re.compile(r"(\d{4})(?:-(\d\d)(?:-(\d\d)(?:[t ](\d\d):(\d\d)(?::(\d\d))?)?)?)?")
_LARGEST = 2**62
_HUGE = Fraction(1e300)


class Interval(NamedTuple):
    """An interval, exactly; None where it has no end. ``dashed`` as in `WrittenInterval`."""

    low: Fraction | None
    high: Fraction | None
    low_out: bool = False
    high_out: bool = False
    dashed: bool = False


class Scale:
    """Original values of a column in exact order, and their common step."""

    def __init__(self, values: list[Any], steps: Fraction | None, words: Sequence[str] = ()) -> None:
        #: How many steps a unit has; None for truly real numbers, which have none.
        self.steps = steps
        self.words = words
        self._values = values

    def exact(self, place: int) -> Fraction:
        """Return the exact value at a position."""
        value = Fraction(self._values[place])
        return value if self.steps is None else value / self.steps

    def span(self, interval: Interval) -> tuple[int, int]:
        """Return the first and last position within the interval."""
        times = self.steps or 1
        left, right = (
            (bisect_right if interval.low_out else bisect_left),
            (bisect_left if interval.high_out else bisect_right),
        )
        first = 0 if interval.low is None else left(self._values, interval.low * times)
        last = len(self._values) if interval.high is None else right(self._values, interval.high * times)
        return first, last - 1


def scale_of(values: "pl.Series") -> Scale:
    """Return the exact scale of the people's different values, ascending."""
    import polars as pl

    if isinstance(values.dtype, pl.Enum):
        return Scale(values.to_physical().to_list(), Fraction(1), values.dtype.categories.to_list())
    if values.dtype == pl.Datetime:
        moments = values.cast(pl.Int64)
        if (moments % _DAY == 0).all():
            return Scale((moments // _DAY).to_list(), Fraction(1, _DAY))
        return Scale(moments.to_list(), Fraction(1))
    places = places_of([values])
    if places is None:
        return Scale(values.to_list(), None)
    steps = 10**places
    whole = values.to_list() if values.dtype.is_integer() else (values * steps).round().cast(pl.Int64).to_list()
    return Scale(whole, Fraction(steps))


def closed(interval: Interval, steps: Fraction | None) -> Interval | None:
    """Return the closed interval for stepped values, or None if empty.

    >>> closed(Interval(Fraction(20), Fraction(30), False, True), Fraction(1))[:2]
    (Fraction(20, 1), Fraction(29, 1))
    """
    low, high, low_out, high_out, _ = interval
    if low is not None and low == high:
        return None if low_out or high_out else interval
    if steps is not None:
        if low is not None:
            low = (floor(low * steps) + 1 if low_out else ceil(low * steps)) / steps
        if high is not None:
            high = (ceil(high * steps) - 1 if high_out else floor(high * steps)) / steps
        low_out = high_out = False
    if low is not None and high is not None and low > high:
        return None
    return Interval(low, high, low_out and low is not None, high_out and high is not None)


def ranges_of(intervals: Sequence[Interval], scale: Scale) -> OrderedCells:
    """Return intervals as arrays."""
    spans = np.array([scale.span(each) for each in intervals], np.int64).reshape(-1, 2)
    return OrderedCells(
        _series([each.low for each in intervals]),
        _series([each.high for each in intervals]),
        np.array([each.low_out for each in intervals], bool),
        np.array([each.high_out for each in intervals], bool),
        spans[:, 0],
        spans[:, 1],
    )


def _series(ends: Sequence[Fraction | None]) -> "pl.Series":
    """Return ends as integers if possible, else as floats, clipped to range."""
    import polars as pl

    if all(end is None or end.denominator == 1 for end in ends):
        whole = [None if end is None else max(-_LARGEST, min(_LARGEST, int(end))) for end in ends]
        return pl.Series(whole, dtype=pl.Int64)
    real = [None if end is None else float(max(-_HUGE, min(_HUGE, end))) for end in ends]
    return pl.Series(real, dtype=pl.Float64)


def moments_in(text: str) -> tuple[Fraction, Fraction] | None:
    """Return the first and last microsecond of an ISO 8601 period.

    >>> [int(end) for end in moments_in("1970-01")]
    [0, 2678399999999]
    """
    found = _MOMENT.fullmatch(text)
    if found is None:
        return None
    _, month, day, hour, _, _ = found.groups()
    year, *rest = (int(part or least) for part, least in zip(found.groups(), (0, 1, 1, 0, 0, 0), strict=True))
    try:
        first = datetime(year, rest[0], rest[1], rest[2], rest[3], rest[4], tzinfo=UTC)
        after = first + timedelta(days=1 if day else 31)
        if day is None:
            # From the first of a month thirty-one days lead into the next, whichever month it is.
            after = (first.replace(month=12) + timedelta(days=31) if month is None else after).replace(day=1)
    except (ValueError, OverflowError):
        return None
    low, high = ((moment - _EPOCH) // timedelta(microseconds=1) for moment in (first, after))
    return Fraction(low), Fraction(low if hour else high - 1)


def as_float(number: Decimal) -> Fraction:
    """Return the number that a float would be, exactly."""
    real = float(number)
    return Fraction(real) if isfinite(real) else Fraction(number)
