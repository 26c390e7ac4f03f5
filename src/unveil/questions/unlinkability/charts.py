"""What to draw of a partition: how fast mergings link a subject's items, and what that means for each policy."""

import math
from dataclasses import replace

import numpy as np

from unveil._kernels.types import FloatArray
from unveil.metrics.partitions._mixing import Mixing
from unveil.metrics.partitions.crowds import CrowdGraphs
from unveil.metrics.partitions.forecast import Forecast
from unveil.metrics.partitions.guessing import Reference
from unveil.metrics.partitions.policy_grid import PolicyGrid, beta_point
from unveil.metrics.partitions.unlinkability import Unlinkability
from unveil.questions.unlinkability import words
from unveil.report.blocks import Chart, Series, Style, Threshold, Vector
from unveil.report.text import count, decimal, name, percent, short_percent

MERGINGS = "mergings of clusters by the adversary"
SHARE = "share of items"
#: Beyond this share a linked graph creeps on for a few scattered subjects; the picture ends there.
_ALMOST_ALL = 0.99
#: Those of the paper.
_SHOWN_ALPHAS = (0.0, 1 / 3, 0.5, 2 / 3, 1.0)
_LINE_STYLES: tuple[Style, ...] = ("first", "second", "third", "fourth", "fifth")


def overall_chart(result: Unlinkability, *, reference: Reference | None = None) -> Chart:
    """Return the overall linked and mixed graphs, with the vectors to the point where beta is reached."""
    overall = result.overall
    chart = graph_chart(
        overall.linked,
        overall.mixed,
        beta=overall.beta,
        breached=overall.breached,
        mergings=overall.mergings,
        title="How fast mergings would link the average subject",
        mixing=result.mixing,
    )
    if reference is None:
        return chart
    beside = words.BESIDE[reference.guesser]
    beside = beside if reference.guesser == "prior" else f"by {beside}"
    guessed = (
        _graph(f"linked, {beside}", reference.linked, "first-reference", chart.x_range[1]),
        _graph(f"mixed in, {beside}", reference.mixed, "second-reference", chart.x_range[1]),
    )
    return replace(chart, series=chart.series + guessed)


def subject_chart(result: Unlinkability, subject: int, *, show_names: bool = True) -> Chart:
    """Return the linked and mixed graphs of the subject with this index, with its vectors."""
    linked, mixed = result.graphs(subject)
    who = name(result.subjects[subject], 40) if show_names else f"subject {subject + 1}"
    return graph_chart(
        linked,
        mixed,
        beta=float(result.beta[subject]),
        breached=bool(result.breached[subject]),
        mergings=float(result.mergings[subject]),
        title=f"How fast mergings would link {who}",
        mixing=result.mixing,
    )


def graph_chart(
    linked: FloatArray,
    mixed: FloatArray,
    *,
    beta: float,
    breached: bool,
    mergings: float,
    title: str,
    mixing: Mixing = "items",
) -> Chart:
    """Return one pair of graphs; the vectors are left out where the threshold is already passed."""
    high = reach(linked, 0.0 if breached else mergings)
    _, there = beta_point(linked, mixed, np.array([beta]))
    vectors = () if breached else _vectors(mergings, beta, float(there[0]))
    last = int(np.flatnonzero(np.append(True, np.diff(linked) > 0))[-1])
    rest = f" The lines creep on up to {decimal(last)} mergings, which is not shown." if last > high else ""
    state = f"The threshold is reached after {decimal(mergings, places=2)} mergings."
    if breached:
        state = f"Linked starts at {percent(float(linked[0]))}, the threshold is passed, and no merging is needed."
    return Chart(
        title=title,
        x_label=MERGINGS,
        y_label=SHARE,
        series=(_graph("linked", linked, "first", high), _graph("mixed in", mixed, "second", high)),
        vectors=vectors,
        caption=(
            f"Linked: the share of a subject's own items that are together. Mixed in: {words.MIXED[mixing]}. The "
            f"higher the linked line starts and the faster it rises, the worse. {state}{rest}"
        ),
        x_range=(0.0, float(high)),
        x_kind="count",
        thresholds=(Threshold(name=f"β = {short_percent(beta)}", value=beta),),
    )


def slope_chart(grid: PolicyGrid, *, beta: float | None = None) -> Chart:
    """Return the overall risk slope against beta, one line per alpha; undefined where already breached."""
    rows = dict.fromkeys(int(np.abs(grid.alphas - wanted).argmin()) for wanted in _SHOWN_ALPHAS)
    series = []
    for style, row in zip(_LINE_STYLES, rows, strict=False):
        defined = bool(np.isfinite(grid.risk_slope[row]).any())
        label = f"α = {alpha_text(grid.alphas[row])}{'' if defined else ' (already breached at every β)'}"
        series.append(Series(name=label, x=grid.betas, y=grid.risk_slope[row], style=style))
    shown = grid.risk_slope[list(rows)]
    highest = float(np.nanmax(shown)) if np.isfinite(shown).any() else 1.0
    return Chart(
        title="Risk slope against the threshold",
        x_label="threshold β, as a share of a subject's items",
        y_label="risk slope Δ of the average subject",
        series=tuple(series),
        caption=(
            "Each line is one α, from caring only about foreign items (0) to caring only about linked ones (1). "
            "Where a line has not begun, the average subject is already breached: that is worse than any slope."
        ),
        y_range=(0.0, min(1.0, max(0.1, math.ceil(highest * 10 - 1e-9) / 10))),
        x_kind="share",
        thresholds=() if beta is None else (Threshold(name=f"β = {short_percent(beta)}", value=beta, across="x"),),
    )


def linked_histogram(result: Unlinkability) -> Chart:
    """Return how many subjects are linked how far already: the share of subjects per tenth of ``linked0``."""
    # The edges are whole tenths: 0.3 belongs to the bar that starts at 0.3, whatever floats make of 3 * 0.1.
    tenth = np.clip(np.floor(result.linked0 * 10 + 1e-9), 0, 9).astype(np.int64)
    share = np.bincount(tenth, minlength=10) / tenth.size
    same = float(result.beta.min()) == float(result.beta.max())
    beta = float(result.beta[0])
    return Chart(
        title="How far subjects are linked already",
        x_label="share of a subject's items together now",
        y_label="share of subjects",
        series=(Series(name="subjects", x=np.arange(10) / 10, y=share, style="first", kind="bars", width=0.1),),
        caption="Bars far to the right are subjects whom the adversary has almost completely.",
        # Above the highest bar there is room for its value and for the name of the threshold.
        y_range=(0.0, min(1.15, math.ceil(float(share.max()) * 11.5 - 1e-9) / 10)),
        x_kind="share",
        thresholds=(Threshold(name=f"β = {short_percent(beta)}", value=beta, across="x"),) if same else (),
    )


def charts(
    result: Unlinkability, grid: PolicyGrid | None = None, *, subject: int, reference: Reference | None = None
) -> tuple[Chart, ...]:
    """Return the charts of an answer: overall graphs, those of the subject with this index, and slopes by policy.

    Without a ``grid`` the last chart is left out.
    """
    found = (overall_chart(result, reference=reference), subject_chart(result, subject))
    return found if grid is None else (*found, slope_chart(grid, beta=result.overall.beta))


def others_chart(others: CrowdGraphs, mergings: float) -> Chart:
    """Return how many other subjects mergings bring along, on average."""
    high = reach(others.overall_others / max(1.0, float(others.overall_others[-1])), mergings)
    top = max(1.0, float(others.overall_others[: high + 1].max()))
    return Chart(
        title="How many others are mixed in",
        x_label=MERGINGS,
        y_label="other subjects, on average",
        series=(
            _graph("others", others.overall_others, "third", high),
            _graph("effective number of others", others.overall_effective, "fourth", high),
        ),
        caption=(
            "Others: how many other subjects have items in what is merged. The effective number is the same if all of "
            "them have as many items there, and near 1 if one of them has nearly all: the fewer, the less is blurred."
        ),
        x_range=(0.0, float(high)),
        y_range=(0.0, top * 1.05),
        x_kind="count",
        y_kind="number",
    )


def forecast_chart(forecast: Forecast) -> Chart:
    """Return the share of subjects that are breached after each piece of evidence."""
    reached = forecast.breached_after >= forecast.breached_after[-1] - 1e-9
    high = max(1, int(np.argmax(reached)))
    steps = np.arange(high + 1, dtype=np.float64)
    last = np.minimum(steps.astype(np.int64), forecast.breached_after.size - 1)
    line = Series(
        name="breached",
        x=steps,
        y=forecast.breached_after[last],
        style="first",
        low=forecast.breached_after_low[last],
        high=forecast.breached_after_high[last],
    )
    average = Series(name="linked, the average subject", x=steps, y=forecast.linked[last], style="second")
    return Chart(
        title="How many would be breached as evidence comes in",
        x_label="pieces of evidence about each subject",
        y_label="share",
        series=(line, average),
        caption=(
            f"Breached: the share of subjects of whom β is linked by then, the mean of {count(forecast.draws)} futures "
            "with the range in which nine of ten lie. Linked: the share of the average subject's items."
        ),
        x_range=(0.0, float(high)),
        x_kind="count",
    )


def alpha_text(alpha: float) -> str:
    """Return an alpha of the grid as it is written: thirds as fractions.

    >>> alpha_text(1 / 3), alpha_text(0.25)
    ('1/3', '0.25')
    """
    thirds = round(float(alpha) * 3)
    return f"{thirds}/3" if thirds in (1, 2) and abs(float(alpha) * 3 - thirds) < 1e-9 else decimal(float(alpha))


def reach(linked: FloatArray, mergings: float) -> int:
    """Return how many mergings a picture of the graph must show: almost all of the way, and the beta point."""
    almost = int(np.argmax(linked >= min(_ALMOST_ALL, float(linked[-1]))))
    return max(1, min(linked.size - 1, max(almost, math.ceil(mergings * 1.1 - 1e-9))))


def _graph(label: str, heights: FloatArray, style: Style, high: float) -> Series:
    shown = heights[: int(high) + 1]
    return Series(name=label, x=np.arange(shown.size, dtype=np.float64), y=shown, style=style)


def _vectors(mergings: float, beta: float, mixed_there: float) -> tuple[Vector, ...]:
    return (
        Vector(name="β-linked vector", x=mergings, y=beta, style="first"),
        Vector(name="β-mixed vector", x=mergings, y=mixed_there, style="second"),
    )
