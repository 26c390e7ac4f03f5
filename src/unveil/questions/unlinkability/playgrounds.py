"""The parts of the page that a reader can move: any policy, and any subject; all looked up, nothing computed."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unveil._kernels.types import FloatArray
from unveil.metrics.partitions._mixing import Mixing
from unveil.metrics.partitions.forecast import Forecast
from unveil.metrics.partitions.policy_grid import PolicyGrid, beta_point
from unveil.metrics.partitions.unlinkability import Unlinkability
from unveil.questions.unlinkability import words
from unveil.questions.unlinkability.charts import alpha_text, graph_chart, reach
from unveil.questions.unlinkability.tables import most_at_risk
from unveil.report.blocks import Chart, Chooser, Playground, Slider, SliderOutput, Vector
from unveil.report.scale import MOST_POINTS, axis, thin
from unveil.report.text import count, decimal, fixed, name, percent, short_percent, slope

#: How many subjects can be chosen on a page, and of how many points their curves are at most: pages stay small.
MOST_CHOICES = 300
_MOST_POINTS = 40

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
            SliderOutput(name="slope", label="Risk slope", value=values["slope"]),
            SliderOutput(name="breached", label="Subjects already breached", value=TEXTS["breached"].format(**values)),
            SliderOutput(name="mergings", label="Mergings to a breach", value=values["mergings"]),
        ),
        sentence=TEXTS["sentence" if defined else "sentence_breached"].format(**values),
        chart=_start_chart(grid, data, a, b, result.mixing),
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
        "kind": "policies",
        "subjects": int(result.subjects.size),
        "betas": np.round(grid.betas, 6),
        "alpha_texts": [_slider_alpha(alpha) for alpha in grid.alphas],
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


def _curve(heights: FloatArray, top: int, at_most: int = MOST_POINTS) -> list[list[float]]:
    shown = heights[: top + 1]
    x, y = thin(np.arange(shown.size, dtype=np.float64), shown, at_most=at_most)
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


def _start_chart(grid: PolicyGrid, data: dict[str, Any], a: int, b: int, mixing: Mixing) -> Chart:
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
    return _movable(chart, data, a, high, mixing)


def _movable(chart: Chart, data: dict[str, Any], at: int, high: float, mixing: Mixing) -> Chart:
    """Return a chart with all that the script moves: the thinned curves, and arrows even where they are hidden."""
    curves = (
        replace(series, x=np.array(curve[at][0], dtype=np.float64), y=np.array(curve[at][1]))
        for series, curve in zip(chart.series, (data["linked"], data["mixed"]), strict=True)
    )
    hidden = (
        Vector(name="β-linked vector", x=math.nan, y=math.nan, style="first"),
        Vector(name="β-mixed vector", x=math.nan, y=math.nan, style="second"),
    )
    return replace(
        chart,
        series=tuple(curves),
        vectors=chart.vectors or hidden,
        x_range=(0.0, float(high)),
        caption=f"Linked: the share of a subject's own items that are together. Mixed in: {words.MIXED[mixing]}.",
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


def _slider_alpha(alpha: float) -> str:
    text = alpha_text(alpha)
    return text if "/" in text else fixed(alpha)


#: What the script says of a subject that is chosen.
SUBJECT_TEXTS = {
    "already_breached": slope(math.nan),
    "threshold": "β = {beta}",
    "slope": "{slope}",
    "linked_now": "{linked_now}",
    "mergings": "{mergings}",
    "forecast": "{forecast}",
    "sentence": (
        "{name}: {linked_now} of {items} are together now, and {beta} would be after {mergings} mergings: a risk slope "
        "of {slope}."
    ),
    "sentence_breached": (
        "{name}: {linked_now} of {items} are together now, which is {beta} or more: already breached, without any "
        "merging."
    ),
}


def subject_playground(
    result: Unlinkability, shown: int, *, forecast: Forecast | None = None, show_names: bool = True
) -> Playground:
    """Return the graphs of one subject and a list to choose another from: those most at risk, and the one shown."""
    at_risk = most_at_risk(result, at_most=MOST_CHOICES)
    chosen = at_risk if shown in at_risk else [shown, *at_risk[: MOST_CHOICES - 1]]
    start = chosen.index(shown)
    data = _subject_data(result, chosen, forecast, show_names)
    values = {key: data["values"][key][start] for key in data["values"]}
    left = result.subjects.size - len(chosen)
    outputs = [
        SliderOutput(name="linked_now", label="Linked now", value=values["linked_now"]),
        SliderOutput(name="mergings", label="Mergings to a breach", value=values["mergings"]),
        SliderOutput(name="slope", label="Risk slope", value=values["slope"]),
    ]
    if "forecast" in values:
        outputs.append(SliderOutput(name="forecast", label="Risk slope, forecast", value=values["forecast"]))
    others = f" {count(left, 'subject is', 'subjects are')} not in this list: name one when you ask." if left else ""
    return Playground(
        sliders=(),
        choosers=(
            Chooser(
                name="subject",
                label="Subject",
                meaning="Those most at risk come first.",
                texts=tuple(data["values"]["name"]),
                start=start,
            ),
        ),
        outputs=tuple(outputs),
        sentence=SUBJECT_TEXTS["sentence_breached" if result.breached[shown] else "sentence"].format(**values),
        chart=_subject_start(result, shown, data, start),
        data=data,
        script="partition",
        note=f"Every figure was computed beforehand; choosing only looks it up.{others}",
    )


def _subject_data(
    result: Unlinkability, chosen: Sequence[int], forecast: Forecast | None, show_names: bool
) -> dict[str, Any]:
    breached = result.breached[chosen]
    graphs = [result.graphs(index) for index in chosen]
    mergings = np.where(breached, np.nan, result.mergings[chosen])
    there = [beta_point(*graph, result.beta[[index]])[1][0] for graph, index in zip(graphs, chosen, strict=True)]
    highs = [
        reach(linked, 0.0 if gone else float(x))
        for (linked, _), x, gone in zip(graphs, mergings, breached, strict=True)
    ]
    values: dict[str, list[str]] = {
        "name": [name(result.subjects[index], 40) if show_names else f"subject {index + 1}" for index in chosen],
        "beta": [short_percent(float(result.beta[index])) for index in chosen],
        "items": [count(int(result.size[index]), "item", "items") for index in chosen],
        "linked_now": [percent(float(result.linked0[index])) for index in chosen],
        "mergings": ["0" if gone else decimal(float(x), places=2) for x, gone in zip(mergings, breached, strict=True)],
        "slope": [slope(math.nan if result.breached[index] else float(result.risk_slope[index])) for index in chosen],
    }
    if forecast is not None and forecast.subjects.size == result.subjects.size:
        values["forecast"] = [forecast_text(forecast, index) for index in chosen]
    return {
        "kind": "subjects",
        "betas": np.round(result.beta[chosen], 6).tolist(),
        "mergings": _rounded(mergings[None])[0],
        "mixed_at": _rounded(np.where(breached, np.nan, there)[None])[0],
        "linked": [_curve(linked, high, _MOST_POINTS) for (linked, _), high in zip(graphs, highs, strict=True)],
        "mixed": [_curve(mixed, high, _MOST_POINTS) for (_, mixed), high in zip(graphs, highs, strict=True)],
        "axes": [{"high": high, "ticks": axis(0, high, "count").ticks} for high in sorted(set(highs))],
        "highs": highs,
        "values": values,
        "texts": SUBJECT_TEXTS,
    }


def forecast_text(forecast: Forecast, at: int) -> str:
    """Return the forecast risk slope of the subject at this place of the forecast, with its range."""
    if forecast.breached[at] == 1:
        return slope(math.nan)
    low, high = forecast.risk_slope_low[at], forecast.risk_slope_high[at]
    ends = [slope(float(end)) for end in (low, high)]
    text = f"{slope(float(forecast.risk_slope[at]))} ({ends[0]} to {ends[1]})"
    gone = float(forecast.breached[at])
    return f"{text}; in {percent(gone)} breached from the start" if gone > 0 else text


def _subject_start(result: Unlinkability, shown: int, data: dict[str, Any], start: int) -> Chart:
    """Return the chart of the subject shown; its title names nobody, as the script changes whom it is about."""
    chart = graph_chart(
        *result.graphs(shown),
        beta=float(result.beta[shown]),
        breached=bool(result.breached[shown]),
        mergings=float(result.mergings[shown]),
        title="How fast mergings would link this subject",
    )
    return _movable(chart, data, start, data["highs"][start], result.mixing)
