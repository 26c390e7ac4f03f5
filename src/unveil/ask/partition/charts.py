"""What to draw of a partition: how fast mergings link a subject's items, and what that means for each policy."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unveil._kernels.types import FloatArray
from unveil.errors import InputError
from unveil.measure.partitions.guessing import Reference
from unveil.measure.partitions.policy_grid import PolicyGrid, beta_point
from unveil.measure.partitions.unlinkability import Unlinkability
from unveil.show.blocks import Chart, Output, Playground, Series, Slider, Style, Threshold, Vector
from unveil.show.scale import axis, thin
from unveil.show.text import count, decimal, fixed, name, percent, short_percent, slope

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
        # Above the highest bar there is room for its value and for the name of the threshold.
        y_range=(0.0, min(1.15, math.ceil(float(share.max()) * 11.5 - 1e-9) / 10)),
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


#: What the script fills in; Python fills in the same for the start, so that both say the same.
TEXTS = {
    "already_breached": slope(math.nan),
    "threshold": "β = {beta}",
    "slope": "{slope}",
    "breached": "{breached} of {subjects}",
    "mergings": "{mergings}",
    "sentence": (
        "With α = {alpha} and β = {beta}, {breached} of {subjects} subjects are already breached. The average subject "
        "would be after {mergings} mergings: a risk slope of {slope}."
    ),
    "sentence_breached": (
        "With α = {alpha} and β = {beta}, {breached} of {subjects} subjects are already breached. The average subject "
        "is too, without any merging, so that there is no risk slope."
    ),
}


def playground(result: Unlinkability, grid: PolicyGrid) -> Playground:
    """Return the sliders, starting at the policy of the result, and everything they can show.

    Each figure is looked up, never computed from the thinned curves; the picture alone uses those.
    """
    data = _data(result, grid)
    a = int(np.abs(grid.alphas - result.overall.alpha).argmin())
    b = int(np.abs(grid.betas - result.overall.beta).argmin())
    values = _values(data, a, b)
    defined = data["risk_slope"][a][b] is not None
    return Playground(
        sliders=(
            Slider(
                name="alpha",
                label="α: what counts as harm",
                meaning="0: only foreign items mixed in. 1: only a subject's own items linked. Between: both.",
                texts=tuple(data["alpha_texts"]),
                start=a,
            ),
            Slider(
                name="beta",
                label="β: how much is too much",
                meaning="The share of a subject's items that must not come together; from there on it is breached.",
                texts=tuple(data["beta_texts"]),
                start=b,
            ),
        ),
        outputs=(
            Output(name="slope", label="Risk slope", value=values["slope"]),
            Output(name="breached", label="Subjects already breached", value=TEXTS["breached"].format(**values)),
            Output(name="mergings", label="Mergings to a breach", value=values["mergings"]),
        ),
        sentence=TEXTS["sentence" if defined else "sentence_breached"].format(**values),
        chart=_start_chart(grid, data, a, b),
        data=data,
        script="partition",
        note=_note(result, grid, a, b),
    )


def _data(result: Unlinkability, grid: PolicyGrid) -> dict[str, Any]:
    graphs = list(zip(grid.linked, grid.mixed, strict=True))
    points = [beta_point(linked, mixed, grid.betas) for linked, mixed in graphs]
    breached = np.isnan(grid.risk_slope)
    mergings = np.where(breached, np.nan, np.array([x for x, _ in points]))
    farthest = float(np.nanmax(mergings)) if not breached.all() else 1.0
    axes = _axes(max(reach(linked, 0.0) for linked in grid.linked), farthest)
    top = axes[-1]["high"]
    return {
        "subjects": int(result.subjects.size),
        "betas": np.round(grid.betas, 6),
        "alpha_texts": [fixed(alpha) for alpha in grid.alphas],
        "beta_texts": [short_percent(beta) for beta in grid.betas],
        "risk_slope": _rounded(grid.risk_slope),
        "breached_subjects": grid.breached_subjects.tolist(),
        "mergings": _rounded(mergings),
        # Rounded here: browsers and Python disagree on what to do with half a hundredth.
        "mergings_shown": np.round(np.where(breached, 0.0, mergings), 2).tolist(),
        "mixed_at": _rounded(np.where(breached, np.nan, np.array([y for _, y in points]))),
        "linked": [_curve(linked, top) for linked, _ in graphs],
        "mixed": [_curve(mixed, top) for _, mixed in graphs],
        "axes": axes,
        "texts": TEXTS,
    }


def _axes(nearest: int, farthest: float) -> list[dict[str, Any]]:
    """Return horizontal axes of growing length, so that the script can take the shortest that shows the beta point."""
    highs = [max(1, nearest)]
    while highs[-1] < farthest:
        highs.append(min(highs[-1] * 4, max(1, math.ceil(farthest))))
    return [{"high": high, "ticks": axis(0, high, "count").ticks} for high in highs]


def _rounded(values: FloatArray) -> list[list[float | None]]:
    return [[None if math.isnan(each) else each for each in row] for row in np.round(values, 4).tolist()]


def _curve(heights: FloatArray, top: int) -> list[list[float]]:
    shown = heights[: top + 1]
    x, y = thin(np.arange(shown.size, dtype=np.float64), shown)
    return [x.astype(np.int64).tolist(), np.round(y, 4).tolist()]


def _values(data: dict[str, Any], a: int, b: int) -> dict[str, str]:
    value = data["risk_slope"][a][b]
    return {
        "alpha": data["alpha_texts"][a],
        "beta": data["beta_texts"][b],
        "breached": count(data["breached_subjects"][a][b]),
        "subjects": count(data["subjects"]),
        "slope": slope(math.nan if value is None else value),
        "mergings": decimal(data["mergings_shown"][a][b], places=2),
    }


def _start_chart(grid: PolicyGrid, data: dict[str, Any], a: int, b: int) -> Chart:
    """Return the chart at the start; the script moves what is in it and adds nothing."""
    reached = data["mergings"][a][b]
    chart = graph_chart(
        grid.linked[a],
        grid.mixed[a],
        beta=float(grid.betas[b]),
        breached=reached is None,
        mergings=reached or 0.0,
        title="The average subject for this α and β",
    )
    high = next(each["high"] for each in data["axes"] if each["high"] >= (reached or 0.0))
    curves = (
        replace(series, x=np.array(curve[a][0], dtype=np.float64), y=np.array(curve[a][1]))
        for series, curve in zip(chart.series, (data["linked"], data["mixed"]), strict=True)
    )
    # Hidden while the threshold is passed, yet there, so that the script finds them.
    hidden = (
        Vector(name="β-linked vector", x=math.nan, y=math.nan, style="first"),
        Vector(name="β-mixed vector", x=math.nan, y=math.nan, style="second"),
    )
    return replace(
        chart,
        series=tuple(curves),
        vectors=chart.vectors or hidden,
        x_range=(0.0, float(high)),
        caption="Linked: a subject's own items that are together. Mixed in: everybody else's items that came along.",
    )


def _note(result: Unlinkability, grid: PolicyGrid, a: int, b: int) -> str:
    overall = result.overall
    said = []
    if np.ptp(result.alpha) > 0 or np.ptp(result.beta) > 0:
        said.append(
            "In this report subjects have policies of their own. The sliders give one α and one β to everybody, so the "
            "figures here can differ from those above."
        )
    if not np.isclose(grid.alphas[a], overall.alpha) or not np.isclose(grid.betas[b], overall.beta):
        said.append(
            f"The report uses α = {decimal(overall.alpha)} and β = {short_percent(overall.beta)}; "
            "the sliders start at the nearest values that were computed."
        )
    said.append("Every figure was computed beforehand from all items; moving a slider only looks it up.")
    return " ".join(said)
