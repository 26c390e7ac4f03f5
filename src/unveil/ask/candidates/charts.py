"""How each metric is spread over the targets: a small histogram of at most 20 bars."""

import math
from typing import NamedTuple

import numpy as np

from unveil.ask.candidates.words import meaning_of, title_of
from unveil.measure import Measured
from unveil.show.blocks import Chart, Series, Threshold
from unveil.show.scale import FloatArray, round_step
from unveil.show.text import decimal

#: The most bars that one histogram has.
MOST_BINS = 20
#: A scale no wider than this, such as 0 to 1, is shown whole, so that pictures can be compared.
_WHOLE_SCALE = 2.0


class Bins(NamedTuple):
    """Bars of one width, the first of which begins at ``low``; whole numbers stand in the middle of their bar."""

    low: float
    width: float
    number: int
    whole_numbers: bool

    @property
    def high(self) -> float:
        """Where the last bar ends."""
        return self.low + self.number * self.width


def histogram(measured: Measured) -> Chart:
    """Return the share of targets per range of values, over the targets that have a value; with the mean."""
    metric = measured.metric
    known = measured.values[~np.isnan(measured.values)]
    where = f"{metric.name.replace('_', ' ')} (further right is {metric.more_means})"
    bins = choose_bins(known, metric.bounds)
    # A value on the edge of two bars belongs to the upper one, whatever floats make of the edge.
    bar = np.clip(np.floor((known - bins.low) / bins.width + 1e-9), 0, bins.number - 1).astype(np.int64)
    share = np.bincount(bar, minlength=bins.number) / max(known.size, 1)
    filled = np.flatnonzero(share)
    return Chart(
        title=title_of(metric),
        x_label=where,
        y_label="share of targets",
        series=(
            Series(
                name="targets",
                x=bins.low + filled.astype(np.float64) * bins.width,
                y=share[filled],
                style="first",
                kind="bars",
                width=bins.width,
            ),
        ),
        caption=_caption(measured),
        x_range=(bins.low, bins.high),
        # Above the highest bar there is room for the name of the mean.
        y_range=(0.0, max(0.1, math.ceil(float(share.max()) * 11.5 - 1e-9) / 10)),
        x_kind="count" if bins.whole_numbers else "number",
        thresholds=(Threshold(name=f"mean {decimal(measured.mean)}", value=measured.mean, across="x"),)
        if known.size
        else (),
        small=True,
    )


def choose_bins(values: FloatArray, bounds: tuple[float, float]) -> Bins:
    """Return at most 20 bins of a round width that hold all values.

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


def _caption(measured: Measured) -> str:
    text = meaning_of(measured.metric)
    if math.isnan(measured.mean):
        return f"{text} Here no target has a value: {measured.why}."
    range_text = f"nine in ten targets lie between {decimal(measured.low)} and {decimal(measured.high)}"
    missing = f" No value: {measured.why}." if measured.undefined else ""
    return f"{text} Median {decimal(measured.median)}; {range_text}.{missing}"
