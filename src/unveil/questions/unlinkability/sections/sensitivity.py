"""Sensitivity: the risk slope by α, β, and partition of a view."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from unveil.metrics.partitions.policy_grid import PolicyGrid, beta_point
from unveil.metrics.partitions.unlinkability import Unlinkability
from unveil.metrics.partitions.views import ViewRanges
from unveil.questions.result import PageContext
from unveil.questions.unlinkability.findings import PartitionFindings
from unveil.questions.unlinkability.sections.merges import graph_chart, movable, reach, rounded, thin_curve
from unveil.report.blocks import Chart, Playground, Section, Series, Side, Slider, SliderOutput, Style, TableBlock
from unveil.report.blocks import Threshold as Line
from unveil.report.scale import axis
from unveil.report.text import UNDEFINED, count, decimal, fixed, percent, short_percent, significant, slope

#: Those of the paper.
_SHOWN_ALPHAS = (0.0, 1 / 3, 0.5, 2 / 3, 1.0)
_LINE_STYLES: tuple[Style, ...] = ("first", "second", "third", "fourth", "fifth")

#: The script fills these in; Python fills in the same for the start, so that both show the same.
TEXTS = {
    "already_breached": "breached",
    "threshold": "β = {beta}",
    "slope": "{slope}",
    "breached": "{breached} of {subjects}",
    "merges": "{merges}",
    "sentence": (
        "With α = {alpha} and β = {beta}, {breached} of {subjects} subjects are breached. The average subject has a "
        "risk slope of {slope} and would be breached after {merges} merges."
    ),
    "sentence_breached": (
        "With α = {alpha} and β = {beta}, {breached} of {subjects} subjects are breached. The average subject is "
        "breached without any merge, so it has no risk slope."
    ),
}


def section(findings: PartitionFindings, context: PageContext) -> Section:
    """Return sliders for α and β, with the risk slope by β."""
    del context
    result, grid = findings.result, findings.grid
    views = () if findings.views is None else (view_table(findings.views),)
    return Section(
        heading="Sensitivity to α and β",
        question="Does the result hold for other values of α and β?",
        lead=_lead(result, grid),
        blocks=(playground(result, grid),),
        data=(slope_chart(grid, beta=result.overall.beta), *views),
    )


def _lead(result: Unlinkability, grid: PolicyGrid) -> str:
    """Return for which β the average subject is breached, at the α of the report."""
    row = int(np.abs(grid.alphas - result.overall.alpha).argmin())
    breached = grid.betas[np.isnan(grid.risk_slope[row])]
    alpha = f"With α = {alpha_text(float(grid.alphas[row]))} for all subjects"
    if not breached.size:
        return f"{alpha}, the average subject is breached for no β."
    return f"{alpha}, the average subject is breached for every β up to {short_percent(float(breached.max()))}."


def slope_chart(grid: PolicyGrid, *, beta: float | None = None) -> Chart:
    """Return the overall risk slope against β, one line per α; undefined where breached."""
    rows = dict.fromkeys(int(np.abs(grid.alphas - wanted).argmin()) for wanted in _SHOWN_ALPHAS)
    series = []
    for style, row in zip(_LINE_STYLES, rows, strict=False):
        defined = bool(np.isfinite(grid.risk_slope[row]).any())
        label = f"α = {alpha_text(grid.alphas[row])}{'' if defined else ' (breached at every β)'}"
        series.append(Series(name=label, x=grid.betas, y=grid.risk_slope[row], style=style))
    shown = grid.risk_slope[list(rows)]
    highest = float(np.nanmax(shown)) if np.isfinite(shown).any() else 1.0
    return Chart(
        title="Risk slope by β",
        x_label="threshold β, as a share of a subject's items",
        y_label="risk slope of the average subject",
        series=tuple(series),
        caption="A line starts where the average subject is no longer breached.",
        y_range=(0.0, min(1.0, max(0.1, math.ceil(highest * 10 - 1e-9) / 10))),
        x_kind="share",
        thresholds=() if beta is None else (Line(name=f"β = {short_percent(beta)}", value=beta, across="x"),),
    )


def playground(result: Unlinkability, grid: PolicyGrid) -> Playground:
    """Return the sliders, starting at the policy of the result, and everything they can show.

    Each value is looked up, never computed from the thinned curves; only the chart uses those.
    """
    data = _data(result, grid)
    a = int(np.abs(grid.alphas - result.overall.alpha).argmin())
    b = int(np.abs(grid.betas - result.overall.beta).argmin())
    values = _values(data, a, b)
    reached = data["merges"][a][b]
    chart = graph_chart(
        grid.linked[a],
        grid.mixed[a],
        beta=float(grid.betas[b]),
        breached=reached is None,
        merges=reached or 0.0,
        title="Average subject for this α and β",
    )
    high = next(each["high"] for each in data["axes"] if each["high"] >= (reached or 0.0))
    return Playground(
        sliders=(
            Slider(
                name="alpha",
                label="α: weight of miss errors",
                meaning="0: only include errors count. 1: only miss errors count.",
                texts=tuple(data["alpha_texts"]),
                start=a,
            ),
            Slider(
                name="beta",
                label="β: share of items that counts as a breach",
                meaning="A subject is breached from this share of linked items.",
                texts=tuple(data["beta_texts"]),
                start=b,
            ),
        ),
        outputs=(
            SliderOutput(name="slope", label="Risk slope", value=values["slope"]),
            SliderOutput(name="breached", label="Subjects breached", value=TEXTS["breached"].format(**values)),
            SliderOutput(name="merges", label="Merges to a breach", value=values["merges"]),
        ),
        sentence=TEXTS["sentence_breached" if data["risk_slope"][a][b] is None else "sentence"].format(**values),
        chart=movable(chart, data, a, high, result.mixing),
        data=data,
        script="partition",
        note=_note(result, grid, a, b),
    )


def _data(result: Unlinkability, grid: PolicyGrid) -> dict[str, Any]:
    graphs = list(zip(grid.linked, grid.mixed, strict=True))
    points = [beta_point(linked, mixed, grid.betas) for linked, mixed in graphs]
    breached = np.isnan(grid.risk_slope)
    merges = np.where(breached, np.nan, np.array([x for x, _ in points]))
    farthest = float(np.nanmax(merges)) if not breached.all() else 1.0
    axes = _axes(max(reach(linked, 0.0) for linked in grid.linked), farthest)
    top = axes[-1]["high"]
    return {
        "kind": "policies",
        "subjects": int(result.subjects.size),
        "betas": np.round(grid.betas, 6),
        "alpha_texts": [text if "/" in (text := alpha_text(each)) else fixed(each) for each in grid.alphas],
        "beta_texts": [short_percent(beta) for beta in grid.betas],
        "risk_slope": rounded(grid.risk_slope),
        "breached_subjects": grid.breached_subjects.tolist(),
        "merges": rounded(merges),
        # Rounded here: browsers and Python disagree on what to do with half a hundredth.
        "merges_shown": np.round(np.where(breached, 0.0, merges), 2).tolist(),
        "mixed_at": rounded(np.where(breached, np.nan, np.array([y for _, y in points]))),
        "linked": [thin_curve(linked, top) for linked, _ in graphs],
        "mixed": [thin_curve(mixed, top) for _, mixed in graphs],
        "axes": axes,
        "texts": TEXTS,
    }


def _axes(nearest: int, farthest: float) -> list[dict[str, Any]]:
    """Return axes of growing length, for the script to choose from."""
    highs = [max(1, nearest)]
    while highs[-1] < farthest:
        highs.append(min(highs[-1] * 4, max(1, math.ceil(farthest))))
    return [{"high": high, "ticks": axis(0, high, "count").ticks} for high in highs]


def _values(data: dict[str, Any], a: int, b: int) -> dict[str, str]:
    value = data["risk_slope"][a][b]
    return {
        "alpha": data["alpha_texts"][a],
        "beta": data["beta_texts"][b],
        "breached": count(data["breached_subjects"][a][b]),
        "subjects": count(data["subjects"]),
        "slope": TEXTS["already_breached"] if value is None else slope(value),
        "merges": decimal(data["merges_shown"][a][b], places=2),
    }


def _note(result: Unlinkability, grid: PolicyGrid, a: int, b: int) -> str:
    overall, notes = result.overall, []
    if np.ptp(result.alpha) > 0 or np.ptp(result.beta) > 0:
        notes.append(
            "In this report subjects have their own α and β. The sliders set one α and one β for all subjects, so "
            "values here can differ from those above."
        )
    if not np.isclose(grid.alphas[a], overall.alpha) or not np.isclose(grid.betas[b], overall.beta):
        notes.append(
            f"The report uses α = {decimal(overall.alpha)} and β = {short_percent(overall.beta)}; "
            "the sliders start at the nearest computed values."
        )
    return " ".join(notes)


def alpha_text(alpha: float) -> str:
    """Return an alpha of the grid as it is written: thirds as fractions.

    >>> alpha_text(1 / 3), alpha_text(0.25)
    ('1/3', '0.25')
    """
    thirds = round(float(alpha) * 3)
    return f"{thirds}/3" if thirds in (1, 2) and abs(float(alpha) * 3 - thirds) < 1e-9 else decimal(float(alpha))


def view_table(views: ViewRanges) -> TableBlock:
    """Return how each value varies over the partitions of the attacker."""
    forms: dict[str, tuple[str, Callable[[float], str]]] = {
        "breached_share": ("Subjects breached", percent),
        "risk_slope": ("Risk slope of the average subject", slope),
        "miss": ("Miss errors", lambda value: decimal(value, places=2)),
        "include": ("Include errors", lambda value: decimal(value, places=2)),
        "normalized_error": ("Normalized error e*", significant),
        "voi": ("Variation of information (bits)", lambda value: decimal(value, places=2)),
        "adjusted_rand": ("Adjusted Rand index", lambda value: fixed(value, places=3)),
    }
    rows = []
    for quantity, (label, form) in forms.items():
        found = views.range_of(quantity)
        values = (found.mean, found.low, found.median, found.high)
        rows.append((label, *(UNDEFINED if math.isnan(each) else form(each) for each in values)))
    right: Side = "right"
    return TableBlock(
        caption="Each partition of the attacker alone",
        columns=("Result", "Mean", "5%", "Median", "95%"),
        rows=tuple(rows),
        align=("left", *[right] * 4),
        note=(
            f"{count(views.partitions)} partitions with their probabilities. The risk slope is undefined where a "
            "partition breaches the average subject; such partitions count as the highest, and the mean excludes them."
        ),
    )
