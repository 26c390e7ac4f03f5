"""What to draw of a partition: how fast mergings link a subject's items, and what that means for each policy."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace

import numpy as np

from unveil.errors import InputError
from unveil.measure.guessing import Reference
from unveil.measure.policy_grid import PolicyGrid, beta_point
from unveil.measure.unlinkability import Unlinkability
from unveil.show.blocks import Chart, Series, Style, Threshold, Vector
from unveil.show.scale import FloatArray
from unveil.show.text import decimal, name, percent, short_percent

MERGINGS = "mergings of clusters by the adversary"
SHARE = "share of items"
#: Beyond this share a linked graph creeps on for a few scattered subjects; the picture ends there.
_ALMOST_ALL = 0.99
_SHOWN_ALPHAS = (0.0, 0.25, 0.5, 0.75, 1.0)
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
    )
    if reference is None:
        return chart
    guessed = (
        _graph("linked, by random guessing", reference.linked, "first-reference", chart.x_range[1]),
        _graph("mixed in, by random guessing", reference.mixed, "second-reference", chart.x_range[1]),
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
    )


def graph_chart(
    linked: FloatArray, mixed: FloatArray, *, beta: float, breached: bool, mergings: float, title: str
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
            "Linked: the share of a subject's own items that are together. Mixed in: the share of everybody else's "
            "items that came along. The higher the linked line starts and the faster it rises, the worse. "
            f"{state}{rest}"
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
        label = f"α = {decimal(grid.alphas[row])}{'' if defined else ' (already breached at every β)'}"
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
        y_range=(0.0, min(1.0, math.ceil(float(share.max()) * 10 - 1e-9) / 10)),
        x_kind="share",
        thresholds=(Threshold(name=f"β = {short_percent(beta)}", value=beta, across="x"),) if same else (),
    )


def charts(
    result: Unlinkability,
    grid: PolicyGrid | None = None,
    *,
    subject: Hashable | None = None,
    reference: Reference | None = None,
) -> tuple[Chart, ...]:
    """Return the charts of an answer: overall graphs, one subject's graphs, and the risk slope for each policy.

    Without a ``subject`` the one with the steepest risk slope is taken, or the first where all are breached. Without
    a ``grid`` the last chart is left out.
    """
    if subject is None:
        slopes = np.where(result.breached, -1.0, result.risk_slope)
        place = int(slopes.argmax())
    else:
        place = place_of(subject, result.subjects.tolist())
    found = (overall_chart(result, reference=reference), subject_chart(result, place))
    return found if grid is None else (*found, slope_chart(grid, beta=result.overall.beta))


def place_of(subject: Hashable, subjects: Sequence[Hashable]) -> int:
    """Return the place of a subject that is told by its name, or by its index where that is no name.

    >>> place_of("B", ["A", "B"]), place_of(0, ["A", "B"])
    (1, 0)
    """
    if subject in subjects:
        return subjects.index(subject)
    if isinstance(subject, int | np.integer) and -len(subjects) <= subject < len(subjects):
        return int(subject) % len(subjects)
    raise InputError(
        f"the subject must be the name of one, or its index from 0 to {len(subjects) - 1}, but is neither. "
        "The column 'subject' of to_frame() has the names"
    )


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
