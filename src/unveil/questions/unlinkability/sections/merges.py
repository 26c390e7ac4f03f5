"""Linked items by merges of clusters: the curves of the average subject and of any subject."""

import math
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np

from unveil._kernels.types import FloatArray
from unveil.metrics.partitions._mixing import Mixing
from unveil.metrics.partitions.crowds import CrowdGraphs
from unveil.metrics.partitions.guessing import Reference
from unveil.metrics.partitions.policy_grid import beta_point
from unveil.metrics.partitions.unlinkability import Unlinkability
from unveil.report.blocks import Chart, Series, Style, Threshold, Vector
from unveil.report.scale import MOST_POINTS, thin
from unveil.report.text import decimal, percent, short_percent

#: Beyond this share a linked graph rises for a few scattered subjects only; the chart ends there.
_ALMOST_ALL = 0.99
_MERGES = "merges of clusters by the attacker"

#: What the mixed graph shows, by what it counts.
MIXED: Mapping[str, str] = MappingProxyType(
    {
        "items": "the share of all other items in the merged clusters",
        "others": "the share of all other subjects with items in the merged clusters",
        "even": "the effective share of all other subjects with items in the merged clusters",
    }
)

#: What a value is compared with, by the way of guessing.
BASELINES: Mapping[str, str] = MappingProxyType(
    {
        "uniform": "random guessing",
        "growing": "guessing with growing clusters",
        "sizes": "guessing with these cluster sizes",
        "prior": "the attacker's prior",
    }
)


def overall_chart(result: Unlinkability, *, reference: Reference | None = None) -> Chart:
    """Return the overall linked and mixed graphs, up to beta."""
    overall = result.overall
    chart = graph_chart(
        overall.linked,
        overall.mixed,
        beta=overall.beta,
        breached=overall.breached,
        merges=overall.merges,
        title="Linked items of the average subject by merges",
        mixing=result.mixing,
    )
    chart = replace(chart, small=True)
    if reference is None:
        return chart
    baseline = BASELINES[reference.guesser]
    guessed = (
        _graph(f"linked, {baseline}", reference.linked, "first-reference", chart.x_range[1]),
        _graph(f"mixed in, {baseline}", reference.mixed, "second-reference", chart.x_range[1]),
    )
    return replace(chart, series=chart.series + guessed)


def graph_chart(
    linked: FloatArray,
    mixed: FloatArray,
    *,
    beta: float,
    breached: bool,
    merges: float,
    title: str,
    mixing: Mixing = "items",
) -> Chart:
    """Return one pair of graphs; the vectors are left out where the threshold is already reached."""
    high = reach(linked, 0.0 if breached else merges)
    _, there = beta_point(linked, mixed, np.array([beta]))
    vectors = () if breached else _vectors(merges, beta, float(there[0]))
    last = int(np.flatnonzero(np.append(True, np.diff(linked) > 0))[-1])
    rest = f" The lines continue to {decimal(last)} merges, which is not shown." if last > high else ""
    state = f"β is reached after {decimal(merges, places=2)} merges."
    if breached:
        state = f"Linked starts at {percent(float(linked[0]))}: β is reached without any merge."
    return Chart(
        title=title,
        x_label=_MERGES,
        y_label="share of items",
        series=(_graph("linked", linked, "first", high), _graph("mixed in", mixed, "second", high)),
        vectors=vectors,
        caption=f"{state} Linked: the share of a subject's own items. Mixed in: {MIXED[mixing]}.{rest}",
        x_range=(0.0, float(high)),
        x_kind="count",
        thresholds=(Threshold(name=f"β = {short_percent(beta)}", value=beta),),
    )


def others_chart(others: CrowdGraphs, merges: float) -> Chart:
    """Return how many other subjects merges include, on average."""
    high = reach(others.overall_others / max(1.0, float(others.overall_others[-1])), merges)
    top = max(1.0, float(others.overall_others[: high + 1].max()))
    return Chart(
        title="Other subjects mixed in by merges",
        x_label=_MERGES,
        y_label="other subjects, on average",
        series=(
            _graph("others", others.overall_others, "third", high),
            _graph("effective number of other subjects", others.overall_effective, "fourth", high),
        ),
        caption=(
            "The effective number equals the number if all other subjects have equally many items there. It is near 1 "
            "if one of them has nearly all."
        ),
        x_range=(0.0, float(high)),
        y_range=(0.0, top * 1.05),
        x_kind="count",
        y_kind="number",
    )


def reach(linked: FloatArray, merges: float) -> int:
    """Return the number of merges that a chart shows."""
    almost = int(np.argmax(linked >= min(_ALMOST_ALL, float(linked[-1]))))
    return max(1, min(linked.size - 1, max(almost, math.ceil(merges * 1.1 - 1e-9))))


def _graph(label: str, heights: FloatArray, style: Style, high: float) -> Series:
    shown = heights[: int(high) + 1]
    return Series(name=label, x=np.arange(shown.size, dtype=np.float64), y=shown, style=style)


def _vectors(merges: float, beta: float, mixed_there: float) -> tuple[Vector, ...]:
    return (
        Vector(name="β-linked vector", x=merges, y=beta, style="first"),
        Vector(name="β-mixed vector", x=merges, y=mixed_there, style="second"),
    )


# Charts that the script of a page moves: all is precomputed, and thinned so that pages stay small.


def rounded(values: FloatArray) -> list[list[float | None]]:
    """Return a matrix for the script, with None where a value is undefined."""
    return [[None if math.isnan(each) else each for each in row] for row in np.round(values, 4).tolist()]


def thin_curve(heights: FloatArray, top: int, at_most: int = MOST_POINTS) -> list[list[float]]:
    """Return the points of a curve up to ``top`` merges, thinned."""
    shown = heights[: top + 1]
    x, y = thin(np.arange(shown.size, dtype=np.float64), shown, at_most=at_most)
    return [x.astype(np.int64).tolist(), np.round(y, 4).tolist()]


def movable(chart: Chart, data: dict[str, Any], at: int, high: float, mixing: Mixing) -> Chart:
    """Return the chart that the script updates: thinned curves and arrows."""
    curves = (
        replace(series, x=np.array(curve[at][0], dtype=np.float64), y=np.array(curve[at][1]))
        for series, curve in zip(chart.series, (data["linked"], data["mixed"]), strict=True)
    )
    return replace(
        chart,
        series=tuple(curves),
        vectors=chart.vectors or _vectors(math.nan, math.nan, math.nan),
        x_range=(0.0, float(high)),
        caption=f"Linked: the share of a subject's own items. Mixed in: {MIXED[mixing]}.",
    )
