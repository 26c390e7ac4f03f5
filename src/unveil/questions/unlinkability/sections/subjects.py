"""Subjects: the linked items of each, and those most at risk."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unveil.metrics.partitions.fairness import FigureSpread
from unveil.metrics.partitions.forecast import Forecast
from unveil.metrics.partitions.policy_grid import beta_point
from unveil.metrics.partitions.unlinkability import Unlinkability
from unveil.metrics.partitions.views import ViewRanges
from unveil.questions.result import PageContext
from unveil.questions.unlinkability.findings import PartitionFindings
from unveil.questions.unlinkability.sections.forecast import forecast_text
from unveil.questions.unlinkability.sections.merges import graph_chart, movable, reach, rounded, thin_curve
from unveil.report.blocks import Chart, Chooser, Playground, Section, Series, Side, SliderOutput, TableBlock, Threshold
from unveil.report.scale import axis
from unveil.report.text import UNDEFINED, count, decimal, name, percent, short_percent, significant, slope

#: How many subjects can be chosen on a page, and the points of their curves at most: pages stay small.
MOST_CHOICES = 300
_MOST_POINTS = 40
#: The chart of the first screen names each of at most this many subjects.
_FEW = 6

_COLUMNS = (
    "Subject",
    "Linked",
    "Merges to breach",
    "Risk slope",
    "Breached",
    "Items",
    "Miss errors",
    "Include errors",
)

#: The script shows these for a chosen subject.
TEXTS = {
    "already_breached": "breached",
    "threshold": "β = {beta}",
    "slope": "{slope}",
    "linked_now": "{linked_now}",
    "merges": "{merges}",
    "forecast": "{forecast}",
    "sentence": (
        "{name}: {linked_now} of {items} are linked. The subject has a risk slope of {slope} and would be breached "
        "({beta}) after {merges} merges."
    ),
    "sentence_breached": "{name}: {linked_now} of {items} are linked, at least {beta}: breached without any merge.",
}


@dataclass(frozen=True, kw_only=True)
class UnlinkabilityContext(PageContext):
    """The choices of the report: named or numbered subjects, and how many the table lists."""

    show_names: bool = True
    top: int = 10


def section(findings: PartitionFindings, context: UnlinkabilityContext) -> Section:
    """Return the subjects most at risk, with the curves of each."""
    result, names = findings.result, context.show_names
    first = most_at_risk(result, at_most=1)[0]
    linked = f"{percent(float(result.linked0[first]))} of its items linked"
    lead = f"{_name(result, first, names)} is closest to a breach: {linked}, risk slope "
    lead += f"{slope(float(result.risk_slope[first]))}."
    if result.breached[first]:
        lead = f"{_name(result, first, names)} is breached with {linked}."
        single = int((result.breached & (result.size == 1)).sum())
        if single:
            lead += f" Breached subjects with a single item, which count as linked: {count(single)}."
    if not names:
        lead += " The subjects are numbered in the order of the true partition; their names are left out."
    return Section(
        heading="Subjects",
        question="Which subjects are most at risk?",
        lead=lead,
        blocks=(at_risk_table(result, show_names=names, at_most=context.top, views=findings.views),),
        data=(
            subject_playground(result, findings.shown, forecast=findings.forecast, show_names=names),
            fairness_table(findings.fairness),
        ),
    )


def linked_chart(result: Unlinkability, *, show_names: bool = True) -> Chart:
    """Return the linked share by subject, or its distribution."""
    same = float(np.ptp(result.beta)) == 0
    beta = float(result.beta[0])
    lines = (Threshold(name=f"β = {short_percent(beta)}", value=beta, across="x"),) if same else ()
    label = "share of a subject's items in one cluster of the attacker"
    breached = count(int(result.breached.sum()))
    caption = f"{breached} of {count(result.subjects.size)} subjects reach {'β' if same else 'their own β'}."
    if result.subjects.size <= _FEW:
        order = most_at_risk(result)
        places = np.arange(len(order), dtype=np.float64)
        return Chart(
            title="Linked items by subject",
            x_label=label,
            y_label="",
            x_kind="share",
            series=(Series(name="linked", x=result.linked0[order], y=places, style="first", kind="points"),),
            rows=tuple(_name(result, index, show_names) for index in order),
            thresholds=lines,
            caption=caption,
        )
    # The edges are whole tenths: 0.3 belongs to the bar that starts at 0.3, whatever floats make of 3 * 0.1.
    tenth = np.clip(np.floor(result.linked0 * 10 + 1e-9), 0, 9).astype(np.int64)
    share = np.bincount(tenth, minlength=10) / tenth.size
    return Chart(
        title="Linked items by subject",
        x_label=label,
        y_label="share of subjects",
        series=(Series(name="subjects", x=np.arange(10) / 10, y=share, style="first", kind="bars", width=0.1),),
        caption=caption,
        # Above the highest bar there is room for its value and for the name of the threshold.
        y_range=(0.0, min(1.15, math.ceil(float(share.max()) * 11.5 - 1e-9) / 10)),
        x_kind="share",
        thresholds=lines,
    )


def most_at_risk(result: Unlinkability, *, at_most: int | None = None) -> list[int]:
    """Return the indices of the subjects most at risk: the breached first, then by risk slope.

    Among the breached, those with a larger share linked come first, then those with more items.
    """
    score = np.where(result.breached, result.linked0, result.risk_slope)
    order = np.lexsort((-result.size, -score, ~result.breached))
    return [int(index) for index in order[:at_most]]


def at_risk_table(
    result: Unlinkability, *, show_names: bool = True, at_most: int = 10, views: ViewRanges | None = None
) -> TableBlock:
    """Return the subjects most at risk; for views with breach probabilities."""
    chosen = most_at_risk(result, at_most=at_most)
    left = result.subjects.size - len(chosen)
    rows = [_at_risk_row(result, index, show_names) for index in chosen]
    columns: tuple[str, ...] = _COLUMNS
    if views is not None:
        columns = (*columns, "P(breached)")
        rows = [
            (*row, percent(float(views.breached_probability[index]))) for row, index in zip(rows, chosen, strict=True)
        ]
    right: Side = "right"
    return TableBlock(
        caption="Subjects most at risk",
        columns=columns,
        rows=tuple(rows),
        align=("left", *[right] * (len(columns) - 1)),
        note=f"{count(left, 'more subject is', 'more subjects are')} in the JSON output." if left else "",
    )


def _at_risk_row(result: Unlinkability, index: int, show_names: bool) -> tuple[str, ...]:
    breached = bool(result.breached[index])
    return (
        _name(result, index, show_names),
        percent(float(result.linked0[index])),
        "0" if breached else decimal(float(result.merges[index]), places=2),
        "–" if breached else slope(float(result.risk_slope[index])),
        "yes" if breached else "no",
        count(int(result.size[index])),
        *(decimal(float(each[index]), places=2) for each in (result.miss, result.include)),
    )


def _name(result: Unlinkability, index: int, show_names: bool) -> str:
    return name(result.subjects[index], 40) if show_names else f"subject {index + 1}"


def fairness_table(fairness: Sequence[FigureSpread]) -> TableBlock:
    """Return how each value is spread over the subjects."""
    labels: dict[str, tuple[str, Callable[[float], str]]] = {
        "linked0": ("Linked", percent),
        "normalized_error": ("Error e*", significant),
        "risk_slope": ("Risk slope", lambda value: UNDEFINED if math.isnan(value) else slope(value)),
        "others": ("Other subjects in cluster", lambda value: decimal(value, places=2)),
    }
    rows = []
    for spread in fairness:
        label, form = labels[spread.quantity]
        values = (spread.mean, spread.median, spread.low, spread.high)
        ends = (decimal(spread.gini), form(spread.worst_decile), count(spread.undefined))
        rows.append((label, *map(form, values), *ends))
    right: Side = "right"
    return TableBlock(
        caption="Spread over the subjects",
        columns=("Value", "Mean", "Median", "Lowest", "Highest", "Gini", "Worst 10%", "Undefined for"),
        rows=tuple(rows),
        align=("left", *[right] * 7),
        note=(
            "Worst 10%: mean over the subjects most at risk. The risk slope of a breached subject is undefined; it "
            "counts there as the steepest that its α and β allow."
        ),
    )


def subject_playground(
    result: Unlinkability, shown: int, *, forecast: Forecast | None = None, show_names: bool = True
) -> Playground:
    """Return the graphs of one subject, and a list of other subjects."""
    at_risk = most_at_risk(result, at_most=MOST_CHOICES)
    chosen = at_risk if shown in at_risk else [shown, *at_risk[: MOST_CHOICES - 1]]
    start = chosen.index(shown)
    data = _subject_data(result, chosen, forecast, show_names)
    values = {key: data["values"][key][start] for key in data["values"]}
    left = result.subjects.size - len(chosen)
    labels = {"linked_now": "Linked", "merges": "Merges to a breach", "slope": "Risk slope"}
    labels |= {"forecast": "Risk slope, forecast"} if "forecast" in values else {}
    chart = graph_chart(
        *result.graphs(shown),
        beta=float(result.beta[shown]),
        breached=bool(result.breached[shown]),
        merges=float(result.merges[shown]),
        # It names no subject, because the script changes which one is shown.
        title="Linked items of this subject by merges",
    )
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
        outputs=tuple(SliderOutput(name=key, label=label, value=values[key]) for key, label in labels.items()),
        sentence=TEXTS["sentence_breached" if result.breached[shown] else "sentence"].format(**values),
        chart=movable(chart, data, start, data["highs"][start], result.mixing),
        data=data,
        script="partition",
        note=f"{count(left, 'subject is', 'subjects are')} not in this list." if left else "",
    )


def _subject_data(
    result: Unlinkability, chosen: Sequence[int], forecast: Forecast | None, show_names: bool
) -> dict[str, Any]:
    breached = result.breached[chosen]
    graphs = [result.graphs(index) for index in chosen]
    merges = np.where(breached, np.nan, result.merges[chosen])
    there = [beta_point(*graph, result.beta[[index]])[1][0] for graph, index in zip(graphs, chosen, strict=True)]
    highs = [
        reach(linked, 0.0 if gone else float(x)) for (linked, _), x, gone in zip(graphs, merges, breached, strict=True)
    ]
    values: dict[str, list[str]] = {
        "name": [_name(result, index, show_names) for index in chosen],
        "beta": [short_percent(float(result.beta[index])) for index in chosen],
        "items": [count(int(result.size[index]), "item", "items") for index in chosen],
        "linked_now": [percent(float(result.linked0[index])) for index in chosen],
        "merges": ["0" if gone else decimal(float(x), places=2) for x, gone in zip(merges, breached, strict=True)],
        "slope": ["breached" if result.breached[index] else slope(float(result.risk_slope[index])) for index in chosen],
    }
    if forecast is not None and forecast.subjects.size == result.subjects.size:
        values["forecast"] = [forecast_text(forecast, index) for index in chosen]
    return {
        "kind": "subjects",
        "betas": np.round(result.beta[chosen], 6).tolist(),
        "merges": rounded(merges[None])[0],
        "mixed_at": rounded(np.where(breached, np.nan, there)[None])[0],
        "linked": [thin_curve(linked, high, _MOST_POINTS) for (linked, _), high in zip(graphs, highs, strict=True)],
        "mixed": [thin_curve(mixed, high, _MOST_POINTS) for (_, mixed), high in zip(graphs, highs, strict=True)],
        "axes": [{"high": high, "ticks": axis(0, high, "count").ticks} for high in sorted(set(highs))],
        "highs": highs,
        "values": values,
        "texts": TEXTS,
    }
