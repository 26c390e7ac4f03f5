"""Chart scales: axes with round numbers, and curves of 200 points."""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from unveil._kernels.types import FloatArray, IntArray
from unveil.report.text import decimal

#: What an axis counts: any number, a share of 1 (shown in percent), things (whole numbers only), or powers of ten: the
#: chart then holds logarithms to base 10, and the axis shows the numbers or shares that they stand for.
Kind = Literal["number", "share", "count", "power", "power of share"]

#: The most points that one curve of a picture has.
MOST_POINTS = 200


@dataclass(frozen=True, kw_only=True)
class ChartAxis:
    """The range of an axis and its labeled ticks."""

    low: float
    high: float
    ticks: tuple[tuple[float, str], ...]


def axis(low: float, high: float, kind: Kind = "number", *, at_most: int = 6) -> ChartAxis:
    """Return an axis with at most ``at_most`` round labeled points.

    >>> axis(0, 1, "share").ticks
    ((0.0, '0%'), (0.2, '20%'), (0.4, '40%'), (0.6, '60%'), (0.8, '80%'), (1.0, '100%'))
    >>> [text for _, text in axis(0, 23, "count").ticks]
    ['0', '5', '10', '15', '20']
    >>> [text for _, text in axis(0, 4, "power").ticks]
    ['1', '10', '100', '1,000', '10k']
    """
    if not high > low:
        high = low + 1.0
    step = round_step((high - low) / (at_most - 1))
    if kind not in ("number", "share"):
        step = max(1.0, step)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    ticks = tuple((round(k * step, 12), _tick_text(round(k * step, 12), kind)) for k in range(first, last + 1))
    return ChartAxis(low=float(low), high=float(high), ticks=ticks)


def round_step(at_least: float) -> float:
    """Return the smallest of 1, 2, 5, 10, … not below ``at_least``."""
    power = 10.0 ** math.floor(math.log10(at_least))
    for factor in (1, 2, 5, 10):
        if factor * power >= at_least * (1 - 1e-9):
            return factor * power
    return 10 * power


def value_text(value: float, kind: Kind) -> str:
    """Return a chart value as text for this type of axis.

    >>> value_text(0.5, "share"), value_text(2.0, "power"), value_text(-2.0, "power of share"), value_text(-4, "power")
    ('50%', '100', '1%', '0.0001')
    """
    if kind in ("power", "power of share"):
        value = 10.0**value
        value = float(f"{value:.3g}")
    return f"{_plain(value * 100, places=2)}%" if kind in ("share", "power of share") else _plain(value)


def _tick_text(value: float, kind: Kind) -> str:
    if kind in ("share", "power of share"):
        return value_text(value, kind)
    if kind == "power":
        value = 10.0**value
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            return f"{decimal(value / (1e3 if letter == 'k' else size))}{letter}"
    return _plain(value)


def _plain(value: float, *, places: int = 3) -> str:
    """Return a number without exponent, with three significant digits.

    >>> _plain(0.0001), _plain(0.00000123456), _plain(0.5), _plain(0.0)
    ('0.0001', '0.00000123', '0.5', '0')
    """
    text = decimal(value, places=places)
    if "e" not in text or not math.isfinite(value):
        return text
    return f"{value:.{2 - math.floor(math.log10(abs(value)))}f}".rstrip("0")


def thin(x: FloatArray, y: FloatArray, *, at_most: int = MOST_POINTS) -> tuple[FloatArray, FloatArray]:
    """Return the curve with at most ``at_most`` points, ends included.

    No point is moved or invented. A gap (NaN) stays a gap as long as the curve has one point on each side of it.

    >>> x = np.arange(1000.0)
    >>> kept, height = thin(x, np.where(x < 500, 0.0, 1.0))
    >>> len(kept), bool(499.0 in kept), bool(500.0 in kept), bool(height[-1] == 1.0)
    (200, True, True, True)
    """
    if x.size <= at_most:
        return x, y
    there = np.flatnonzero(np.isfinite(y))
    gaps = there.size < y.size
    if there.size == 0:
        return x[:0], y[:0]
    kept = there[_landmarks(x[there], y[there], at_most // 2 if gaps else at_most)]
    if gaps:
        undefined = np.flatnonzero(~np.isfinite(y))
        after = np.searchsorted(undefined, kept[:-1])
        behind = undefined[np.minimum(after, undefined.size - 1)]
        inside = (behind > kept[:-1]) & (behind < kept[1:])
        kept = np.sort(np.concatenate([kept, behind[inside]]))
    return x[kept], y[kept]


def _landmarks(x: FloatArray, y: FloatArray, at_most: int) -> IntArray:
    """Return which points of a curve without gaps to keep."""
    if x.size <= at_most:
        return np.arange(x.size)
    rise = np.abs(np.diff(y))
    steep = np.argsort(-rise, kind="stable")[: at_most // 4]
    steep = steep[rise[steep] > 0]
    kept = np.unique(np.concatenate([[0, x.size - 1], steep, steep + 1]))
    # The others lie evenly along the drawn curve, so that neither flat nor rising parts are left bare.
    way = np.diff(x) / max(float(x[-1] - x[0]), 1e-300) + rise / max(float(np.ptp(y)), 1e-300)
    length = np.concatenate([[0.0], np.cumsum(way)])
    evenly = np.searchsorted(length, np.linspace(0.0, length[-1], 4 * at_most))
    spare = np.setdiff1d(np.minimum(evenly, x.size - 1), kept)
    room = at_most - kept.size
    if spare.size > room:
        spare = spare[np.linspace(0, spare.size - 1, room).astype(np.int64)]
    return np.union1d(kept, spare)


#: The most bars that one histogram has.
MOST_BINS = 20
#: A scale no wider than this, such as 0 to 1, is shown whole, so that pictures can be compared.
_WHOLE_SCALE = 2.0


class Bins(NamedTuple):
    """Bars of equal width from ``low``; integers are centered in bars."""

    low: float
    width: float
    number: int
    whole_numbers: bool

    @property
    def high(self) -> float:
        """Where the last bar ends."""
        return self.low + self.number * self.width


def choose_bins(values: FloatArray, bounds: tuple[float, float]) -> Bins:
    """Return at most 20 round bins that hold all values.

    >>> choose_bins(np.array([0.2, 0.3]), (0, 1))
    Bins(low=0.0, width=0.05, number=20, whole_numbers=False)
    >>> choose_bins(np.array([1.0, 6.0]), (1, math.inf))
    Bins(low=0.5, width=1.0, number=6, whole_numbers=True)
    """
    floor, ceiling = bounds
    if ceiling - floor <= _WHOLE_SCALE or values.size == 0:
        span = ceiling - floor if math.isfinite(ceiling - floor) else 1.0
        return Bins(float(floor) if math.isfinite(floor) else 0.0, span / MOST_BINS, MOST_BINS, False)
    least, most = float(values.min()), float(values.max())
    # The scale starts where it can start at all, unless that would squeeze all values into one corner.
    if math.isfinite(floor) and least - floor <= (most - floor) / 2:
        least = float(floor)
    whole = bool((values == np.floor(values)).all()) and least == math.floor(least)
    # One bin is kept in reserve, because the first begins at a round number. Narrower bins than a hundredth would show
    # the noise of rounding, on an axis whose points could not be told apart.
    narrowest = 1.0 if whole else max(0.01, 1e-4 * abs(most))
    width = round_step(max((most - least + whole) / (MOST_BINS - 1), narrowest))
    low = math.floor(least / width + 1e-9) * width
    number = math.floor((most - low) / width + 1e-9) + 1 if whole else math.ceil((most - low) / width - 1e-9)
    return Bins(low - 0.5 * whole, width, max(number, 1), whole)
