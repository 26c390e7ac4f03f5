"""Where each metric lies between random guessing and knowing all, and how one is spread over the targets."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from unveil.metrics import MetricValue
from unveil.questions.attack_metrics.findings import CandidatesFindings, ReferenceValues
from unveil.report.blocks import Chart, Series, Threshold
from unveil.report.blocks_spread import BoxRow, BoxRows, box_of, spread_of
from unveil.report.scale import choose_bins
from unveil.report.text import decimal, significant
from unveil.report.trust import GROUNDS, NOT_GRADED, mark, meaning_of, title_of

#: So many metrics are in the picture that is seen first; the others are below.
FIRST = 8
#: Values further left than this are drawn there: who is surely wrong may be any distance away.
_LEFT_END = -0.5
_RANKS = {"use": 0, "care": 1, "no": 2, NOT_GRADED: 3}


def overviews(findings: CandidatesFindings) -> tuple[BoxRows, ...]:
    """Return where the adversary is from random guessing to knowing all by each metric, those to trust first.

    The first picture has those that are trusted most, a second one the others; a metric that is the same for
    random guessing and knowing all has no place, and is in neither.
    """
    rows = [(each, findings.ends[each.metric.name]) for each in findings.shown]
    rows = [(each, ends) for each, ends in rows if not math.isnan(float(ends.place(each.mean)))]
    rows.sort(key=lambda row: (_distrust(row[0]), row[0].metric.category != "success"))
    parts = [rows[:FIRST], rows[FIRST:]]
    titles = ("How near the adversary is to knowing all", "The same by the other metrics")
    return tuple(_overview(title, part) for title, part in zip(titles, parts, strict=True) if part)


def _distrust(measured: MetricValue) -> int:
    return sum(_RANKS[word] for word in (mark(measured.metric.name, ground) for ground in GROUNDS))


def _overview(title: str, rows: Sequence[tuple[MetricValue, ReferenceValues]]) -> BoxRows:
    return BoxRows(
        title=title,
        x_label="from random guessing to knowing all",
        row_label="Metric",
        number_label="Values",
        rows=tuple(_overview_row(measured, ends) for measured, ends in rows),
        x_range=(_LEFT_END, 1.0),
        x_kind="share",
        more_private="left",
        thresholds=(Threshold(name="0%: random guessing among the same candidates", value=0.0, across="x"),),
        caption="Each metric on one scale: 0% is its value for random guessing, 100% that for who knows everybody; "
        "left of 0% the adversary does worse. The value itself stands below the name.",
    )


def _overview_row(measured: MetricValue, ends: ReferenceValues) -> BoxRow:
    places = ends.place(measured.values)
    drawn = spread_of(np.clip(places, _LEFT_END, 1.0))
    return box_of(
        title_of(measured.metric),
        replace(drawn, mean=float(ends.place(measured.mean))),
        note=f"{significant(measured.mean)}; by chance {significant(ends.blind)}",
    )


def histogram(measured: MetricValue) -> Chart:
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


def _caption(measured: MetricValue) -> str:
    text = meaning_of(measured.metric)
    if math.isnan(measured.mean):
        return f"{text} Here no target has a value: {measured.why}."
    range_text = f"nine in ten targets lie between {decimal(measured.low)} and {decimal(measured.high)}"
    missing = f" No value: {measured.why}." if measured.undefined else ""
    return f"{text} Median {decimal(measured.median)}; {range_text}.{missing}"
