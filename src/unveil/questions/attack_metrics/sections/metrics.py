"""Metrics by family: values relative to the baseline and perfect knowledge."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby

import numpy as np

from unveil.metrics import MetricValue
from unveil.questions.attack_metrics.findings import CandidatesFindings, ReferenceValues
from unveil.questions.result import PageContext
from unveil.report.blocks import Section, Side, TableBlock, Threshold
from unveil.report.blocks_spread import BoxRow, BoxRows, box_of, spread_of
from unveil.report.text import count, decimal, significant
from unveil.report.trust import GROUNDS, LEGEND, NOT_GRADED, cap_mark, cap_notes, mark, summary_of, title_of

#: Metrics in the chart of the first screen; the others are in the section.
FIRST = 6
#: Values further left than this are drawn there: a wrong attacker who is certain may be any distance away.
_LEFT_END = -0.5
_RANKS = {"reliable": 0, "limited": 1, "unreliable": 2, NOT_GRADED: 3}
_COLUMNS: Mapping[str, Side] = {
    "Metric": "left",
    "Mean": "right",
    "Median": "right",
    "5–95%": "right",
    "Baseline": "right",
    "Private": "left",
    "Trust": "left",
    "Meaning": "left",
}


def section(findings: CandidatesFindings, context: PageContext) -> Section:
    """Return every metric, by family."""
    del context
    families = list(by_category(findings.shown))
    return Section(
        heading="Metrics by family",
        question="What does each metric say?",
        lead=f"{count(len(findings.shown), 'metric', 'metrics')} in {len(families)} families. {LEGEND}",
        blocks=(),
        data=(
            *overviews(findings)[1:],
            *(metric_table(category, members, findings.ends) for category, members in families),
        ),
    )


def overviews(findings: CandidatesFindings) -> tuple[BoxRows, ...]:
    """Return each metric relative to its references, most reliable first.

    The first chart has the most reliable metrics, a second one the others. A metric that is the same for both ends is
    in neither.
    """
    rows = [(each, findings.ends[each.metric.name]) for each in findings.shown]
    rows = [(each, ends) for each, ends in rows if not math.isnan(float(ends.place(each.mean)))]
    rows.sort(key=lambda row: (_distrust(row[0]), row[0].metric.category != "success"))
    parts = [rows[:FIRST], rows[FIRST:]]
    titles = ("Metrics relative to the baseline", "Other metrics relative to the baseline")
    return tuple(_overview(title, part) for title, part in zip(titles, parts, strict=True) if part)


def _distrust(measured: MetricValue) -> int:
    return sum(_RANKS[word] for word in (mark(measured.metric.name, ground) for ground in GROUNDS))


def _overview(title: str, rows: Sequence[tuple[MetricValue, ReferenceValues]]) -> BoxRows:
    return BoxRows(
        title=title,
        x_label="from baseline (0%) to an attacker who knows everything (100%)",
        row_label="Metric",
        number_label="Values",
        rows=tuple(_overview_row(measured, ends) for measured, ends in rows),
        x_range=(_LEFT_END, 1.0),
        x_kind="share",
        more_private="left",
        thresholds=(Threshold(name="baseline", value=0.0, across="x"),),
        caption="Left of 0% the attack is worse than random guessing.",
    )


def _overview_row(measured: MetricValue, ends: ReferenceValues) -> BoxRow:
    drawn = spread_of(np.clip(ends.place(measured.values), _LEFT_END, 1.0))
    return box_of(
        title_of(measured.metric),
        replace(drawn, mean=float(ends.place(measured.mean))),
        note=f"{significant(measured.mean)}; baseline {significant(ends.blind)}",
    )


def by_category(measured: Sequence[MetricValue]) -> Iterator[tuple[str, list[MetricValue]]]:
    """Yield each family with its metrics, in the order of the listing."""
    order = list(dict.fromkeys(each.metric.category for each in measured))
    ordered = sorted(measured, key=lambda each: order.index(each.metric.category))
    for category, members in groupby(ordered, key=lambda each: each.metric.category):
        yield category, list(members)


def metric_table(caption: str, measured: Sequence[MetricValue], ends: Mapping[str, ReferenceValues]) -> TableBlock:
    """Return metrics in rows, with their baselines."""
    reasons = dict.fromkeys(each.why for each in measured if each.undefined and math.isnan(each.mean))
    notes = [f"Undefined: {'; '.join(reasons)}."] if reasons else []
    notes += _missing(measured)
    notes += cap_notes({each.metric.name: each.at_cap for each in measured}, who="targets")
    return TableBlock(
        caption=caption[:1].upper() + caption[1:],
        columns=tuple(_COLUMNS),
        rows=tuple(_row(each, ends) for each in measured),
        align=tuple(_COLUMNS.values()),
        note=" ".join(notes),
        prose=True,
        terminal_columns=(0, 1, 3, 5, 6),
    )


def _missing(measured: Sequence[MetricValue]) -> list[str]:
    """Return a sentence on undefined targets and the reason, if any."""
    groups: dict[str, list[str]] = {}
    for each in measured:
        if each.metric.per == "target" and not math.isnan(each.mean):
            groups.setdefault(_how_many(each) if each.undefined else "", []).append(each.metric.name)
    # What most of them lack needs no names, unless others lack nothing.
    most = "" if "" in groups else max(groups, key=lambda missing: len(groups[missing]), default="")
    said = [most] if most else []
    said += [f"in {', '.join(names)} {missing}" for missing, names in groups.items() if missing not in ("", most)]
    return [f"Missing: {'; '.join(said)}."] if said else []


def _how_many(measured: MetricValue) -> str:
    # One reason begins with the number itself.
    many, why = count(measured.undefined), measured.why
    return why if why.startswith(f"{measured.undefined} ") else f"{many} ({why})" if why else many


def _row(measured: MetricValue, ends: Mapping[str, ReferenceValues]) -> tuple[str, ...]:
    metric = measured.metric
    median, between = "", ""
    if metric.per == "target":
        median = decimal(measured.median)
        between = f"{decimal(measured.low)} to {decimal(measured.high)}" if not math.isnan(measured.low) else ""
    return (
        title_of(metric),
        decimal(measured.mean) + cap_mark(measured.at_cap),
        median,
        between,
        decimal(ends[metric.name].blind) if metric.name in ends else "",
        "if high" if metric.more_means == "more private" else "if low",
        mark(metric.name, *GROUNDS),
        summary_of(metric),
    )
