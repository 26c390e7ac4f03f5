"""How each metric is spread over the targets: a small histogram of at most 20 bars."""

import math

import numpy as np

from unveil.measure import Measured
from unveil.show.blocks import Chart, Series, Threshold
from unveil.show.metrics import meaning_of, title_of
from unveil.show.scale import choose_bins
from unveil.show.text import decimal


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


def _caption(measured: Measured) -> str:
    text = meaning_of(measured.metric)
    if math.isnan(measured.mean):
        return f"{text} Here no target has a value: {measured.why}."
    range_text = f"nine in ten targets lie between {decimal(measured.low)} and {decimal(measured.high)}"
    missing = f" No value: {measured.why}." if measured.undefined else ""
    return f"{text} Median {decimal(measured.median)}; {range_text}.{missing}"
