"""Detect rounding and top or bottom coding from value frequencies."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import gcd, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unveil._kernels.types import FloatArray, IntArray
from unveil.data.table._intervals import Interval, Scale, closed, scale_of

if TYPE_CHECKING:
    import polars as pl

_LEAST_VALUES = 3
_MORE_VALUES = 1.5
_SLACK = 0.05
# In steps of two a value and its neighbours are hardly ever told from codes that are rare.
_LEAST_EVEN = 2
_LARGEST_STEPS = 2**40


class RoundedColumn(NamedTuple):
    """The interval that each released value represents, and its description."""

    intervals: list[Interval]
    said: str


class _ValueCounts(NamedTuple):
    """Distinct values, ascending, and the number of rows with each."""

    scale: Scale
    up_to: IntArray

    @property
    def size(self) -> int:
        """Number of distinct values."""
        return self.up_to.size - 1

    def between(self, interval: Interval) -> int:
        """Return how many rows lie in the interval."""
        first, last = self.scale.span(interval)
        return int(self.up_to[max(last + 1, first)] - self.up_to[first])


def recognize(original: "pl.Series", released: "pl.Series") -> RoundedColumn | None:
    """Return the intervals of rounded or truncated values, else None.

    Both are numbers. Rounding shows in at least 3 values that are multiples of one step apart where the original has
    half as many values again, if the people that each would hold are as many as released rows have it. A top code is
    one of several values and has more than twice the rows that the original has there (and 3 more), and as many as the
    original has from there on, which must be as many more.

    >>> import polars as pl
    >>> ages = pl.Series(range(20, 80))
    >>> recognize(ages, ages // 10 * 10).said
    'rounded down in steps of 10'
    """
    own, shown = (_counted(series) for series in (original, released))
    # Truly real numbers are no multiples of anything.
    if not own.size or not shown.size or own.scale.steps is None or shown.scale.steps is None:
        return None
    ends = _cut_off(own, shown)
    found = _rounded(own, shown, ends)
    if found is None and any(ends):
        single = [Interval(value, value) for value in map(shown.scale.exact, range(shown.size))]
        found = RoundedColumn(_with_ends(single, ends), _said_of_ends(ends))
    return found


def _counted(series: "pl.Series") -> _ValueCounts:
    counted = series.alias("value").drop_nulls().value_counts(name="rows").sort("value")
    rows = counted["rows"].to_numpy().astype(np.int64)
    return _ValueCounts(scale_of(counted["value"]), np.concatenate([[0], np.cumsum(rows)]))


def _cut_off(own: _ValueCounts, shown: _ValueCounts) -> tuple[bool, bool]:
    """Return whether the extreme released values are bottom or top codes."""
    size = shown.up_to[-1] / own.up_to[-1]
    found = []
    least, greatest = shown.scale.exact(0), shown.scale.exact(shown.size - 1)
    for value, rest in ((least, Interval(None, least)), (greatest, Interval(greatest, None))):
        rows = shown.between(Interval(value, value))
        there, beyond = own.between(Interval(value, value)) * size, own.between(rest) * size
        # Of a column with one value both ends would hold everybody, which says nothing of either.
        more = shown.size > 1 and min(rows, beyond) > 2 * there + 3
        found.append(more and abs(rows - beyond) <= 3 * sqrt(beyond))
    return found[0], found[1]


def _rounded(own: _ValueCounts, shown: _ValueCounts, ends: tuple[bool, bool]) -> RoundedColumn | None:
    if shown.size < _LEAST_VALUES or own.size < _MORE_VALUES * shown.size:
        return None
    values = [shown.scale.exact(place) for place in range(shown.size)]
    units = max(value.denominator for value in values)
    step = Fraction(gcd(*(int((value - values[0]) * units) for value in values[1:])), units)
    if (values[-1] - values[0]) / step > _LARGEST_STEPS:
        return None
    rows = np.diff(shown.up_to) / shown.up_to[-1]
    best, least = None, _SLACK + 1 / sqrt(int(own.up_to[-1]))
    for cut in dict.fromkeys(((False, False), ends)):
        for intervals, said in _readings(values, step, own.scale):
            opened = _with_ends(intervals, cut)
            apart = _misfit(own, opened, rows)
            if apart < least and any(each.low != each.high for each in opened):
                more = f", {_said_of_ends(cut)}" if any(cut) else ""
                best, least = RoundedColumn(opened, f"{said} in steps of {float(step):g}{more}"), apart
    return best


def _readings(values: Sequence[Fraction], step: Fraction, scale: Scale) -> Iterator[tuple[list[Interval], str]]:
    """Yield possible readings; values outside the data stand for themselves."""
    half = step / 2
    ways = (
        (Fraction(0), step, False, True, "rounded down"),
        (-half, half, False, True, "rounded"),
        (-half, half, True, False, "rounded"),
        (-step, Fraction(0), True, False, "rounded up"),
    )
    made = [
        ([Interval(value + below, value + above, low_out, high_out) for value in values], said)
        for below, above, low_out, high_out, said in ways
    ]
    if values[0] % step == 0 and step * (scale.steps or 0) > _LEAST_EVEN:
        # As computers do it: what is half way goes to the even multiple.
        odd = [value / step % 2 == 1 for value in values]
        even = [Interval(value - half, value + half, out, out) for value, out in zip(values, odd, strict=True)]
        made.append((even, "rounded to even"))
    for intervals, said in made:
        yield (
            [
                closed(each, scale.steps) or Interval(value, value)
                for each, value in zip(intervals, values, strict=True)
            ],
            said,
        )


def _misfit(own: _ValueCounts, intervals: Sequence[Interval], rows: FloatArray) -> float:
    """Return the total variation distance, and the share of uncovered people."""
    people = np.array([own.between(each) for each in intervals]) / own.up_to[-1]
    return float(np.abs(people - rows).sum() / 2 + max(0.0, 1 - people.sum()))


def _with_ends(intervals: Sequence[Interval], ends: tuple[bool, bool]) -> list[Interval]:
    made = list(intervals)
    if ends[0]:
        made[0] = made[0]._replace(low=None)
    if ends[1]:
        made[-1] = made[-1]._replace(high=None)
    return made


def _said_of_ends(ends: tuple[bool, bool]) -> str:
    words = "the least value meaning that or less", "the greatest value meaning that or more"
    return " and ".join(word for word, cut in zip(words, ends, strict=True) if cut)
