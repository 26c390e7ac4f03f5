"""The interactive part of the partition page: alpha and beta as sliders over a precomputed grid."""

import math
from dataclasses import replace
from typing import Any

import numpy as np

from unveil.measure.policy_grid import PolicyGrid, beta_point
from unveil.measure.unlinkability import Unlinkability
from unveil.show.blocks import Chart, Output, Playground, Slider, Vector
from unveil.ask.partition.charts import graph_chart, reach
from unveil.show.scale import FloatArray, axis, thin
from unveil.show.text import count, decimal, fixed, short_percent, slope

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
