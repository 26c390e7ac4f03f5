"""Forecast: when further evidence breaches subjects."""

import math
from collections.abc import Callable, Mapping
from types import MappingProxyType

import numpy as np

from unveil.metrics.partitions.forecast import Forecast
from unveil.questions.result import PageContext
from unveil.questions.unlinkability.findings import PartitionFindings
from unveil.questions.unlinkability.sections.merges import others_chart, overall_chart
from unveil.report.blocks import Chart, Section, Series, TableBlock
from unveil.report.text import count, decimal, percent, slope

_LINKAGES: Mapping[str, str] = MappingProxyType(
    {
        "pairs": "clusters with more of the subject's items are more likely to be merged next",
        "any": "all related clusters are equally likely to be merged next",
        "cheapest": "the cheapest related cluster is merged next, as in the paper",
        "given": "clusters are merged by the given rates",
    }
)


def section(findings: PartitionFindings, context: PageContext) -> Section:
    """Return the effect of further evidence: in the order of the paper, and at random."""
    del context
    overall, future, others = findings.result.overall, findings.forecast, findings.others
    soon = f"The next piece of evidence breaches {percent(float(future.next_breach.mean()))} of the subjects."
    if overall.breached:
        lead = f"The average subject is breached before any merge. {soon}"
    else:
        needed = future.overall_evidence
        pieces = with_ends(needed.mean, needed.low, needed.high, _pieces)
        lead = (
            f"The average subject is breached after {decimal(overall.merges, places=1)} merges in the order of "
            f"cost, or after {pieces} random pieces of evidence. {soon}"
        )
    return Section(
        heading="Forecast",
        question="What if the attacker learns more?",
        lead=lead,
        blocks=(overall_chart(findings.result, reference=findings.reference), forecast_chart(future)),
        data=(forecast_table(future), *(() if others is None else (others_chart(others, overall.merges),))),
    )


def forecast_chart(forecast: Forecast) -> Chart:
    """Return the share of subjects that are breached after each piece of evidence."""
    reached = forecast.breached_after >= forecast.breached_after[-1] - 1e-9
    high = max(1, int(np.argmax(reached)))
    steps = np.arange(high + 1, dtype=np.float64)
    last = np.minimum(steps.astype(np.int64), forecast.breached_after.size - 1)
    line = Series(
        name="subjects breached",
        x=steps,
        y=forecast.breached_after[last],
        style="first",
        low=forecast.breached_after_low[last],
        high=forecast.breached_after_high[last],
    )
    average = Series(name="items linked, average subject", x=steps, y=forecast.linked[last], style="second")
    return Chart(
        title="Subjects breached by evidence",
        x_label="pieces of evidence about each subject",
        y_label="share",
        series=(line, average),
        caption=f"Mean of {count(forecast.draws)} random futures, with the range of 90% of them.",
        x_range=(0.0, float(high)),
        x_kind="count",
        small=True,
    )


def forecast_table(forecast: Forecast) -> TableBlock:
    """Return the risk slope and the evidence needed, over all futures."""
    rows = (
        ("Risk slope of the average subject", slope, forecast.overall),
        ("Pieces of evidence to a breach of the average subject", _pieces, forecast.overall_evidence),
    )
    return TableBlock(
        caption="Forecast over random futures",
        columns=("Result", "Mean", "5%", "95%"),
        rows=tuple(
            (label, *(_or_breached(each, form) for each in (found.mean, found.low, found.high)))
            for label, form, found in rows
        ),
        align=("left", "right", "right", "right"),
        note=f"In {percent(forecast.overall.undefined)} of the futures the average subject is breached from the start."
        if forecast.overall.undefined
        else "",
    )


def with_ends(mean: float, low: float, high: float, form: Callable[[float], str]) -> str:
    """Return a mean with the range of 90%.

    >>> with_ends(0.5, 0.25, math.nan, percent)
    '50.0% (25.0% to breached)'
    """
    texts = [_or_breached(each, form) for each in (mean, low, high)]
    return texts[0] if texts[0] == texts[1] == texts[2] else f"{texts[0]} ({texts[1]} to {texts[2]})"


def _or_breached(value: float, form: Callable[[float], str]) -> str:
    return "breached" if math.isnan(value) else form(value)


def _pieces(value: float) -> str:
    return "never" if math.isinf(value) else decimal(value, places=1)


def forecast_text(forecast: Forecast, at: int) -> str:
    """Return the forecast risk slope of a subject, with its range."""
    gone = float(forecast.breached[at])
    if gone == 1:
        return "breached"
    values = (forecast.risk_slope, forecast.risk_slope_low, forecast.risk_slope_high)
    mean, low, high = (_or_breached(float(each[at]), slope) for each in values)
    text = f"{mean} ({low} to {high})"
    return f"{text}; breached from the start in {percent(gone)}" if gone > 0 else text


def forecast_method(forecast: Forecast) -> str:
    """Return how futures were drawn."""
    parted = "no cluster is split"
    if forecast.split > 0:
        each = "other subject" if forecast.linkage == "any" else "item of another subject"
        parted = f"a split removes one other subject's items, with odds of {decimal(forecast.split)} per {each}"
    futures = count(forecast.draws, "random future", "random futures")
    return f"Forecast ({futures} of each subject): {_LINKAGES[forecast.linkage]}; {parted}."
