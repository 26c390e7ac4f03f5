"""The metrics ranked: scores, reliability with its reason, and the values of nodes."""

import math
from collections.abc import Mapping

from unveil._kernels.types import FloatArray
from unveil.grades.grades import LEAST, NOTHING_SIGNIFICANT, MetricGrade, ScoreSummary
from unveil.grades.scores import Reading
from unveil.metrics import METRICS
from unveil.questions.grade_metrics.findings import VERDICTS, GradesFindings, words
from unveil.questions.result import PageContext
from unveil.report.blocks import Section, Side, TableBlock, Threshold
from unveil.report.blocks_spread import BoxRows, BoxStatistics, box_of, spread_of
from unveil.report.text import fixed, percent, significant
from unveil.report.trust import RELIABILITY

#: The titles of the scores.
SCORES = {"monotonicity": "Monotonicity", "evenness": "Evenness", "shared_range": "Shared value range"}
#: What each score says, in one sentence.
MEANINGS: Mapping[str, str] = {
    "monotonicity": (
        "Monotonicity: does the metric show less privacy for each stronger attacker? 1: significantly, each time; "
        "0.667: nothing is significant; below: the wrong way, or back and forth."
    ),
    "evenness": "Evenness: do the values spread over the metric's range? 1: evenly; 0: all at one end.",
    "shared_range": "Range: which part of the metric's whole range does a case use? 1: all of it; 0: one value.",
}
#: What a name in bold means.
BOLD = "metrics of a whole release, which do not describe a single target"


def section(findings: GradesFindings, context: PageContext) -> Section:
    """Return the section on all metrics."""
    del context
    every = findings.grades.metrics
    passed = sum(each.monotonicity.mean >= LEAST for each in every)
    tables = (node_table(findings), span_table(findings))
    return Section(
        heading="Metrics",
        question="Does a metric rank attacks correctly?",
        lead=f"A metric that never changes has a monotonicity of {fixed(NOTHING_SIGNIFICANT, places=3)}; reliable "
        f"metrics exceed it clearly. The rule of Zhao and Wagner, a mean of {LEAST:g}, would pass {passed} of "
        f"{len(every)}.",
        blocks=(ranking_table(findings),),
        data=(
            reason_table(findings),
            *(ranking_boxes(findings, score) for score in SCORES),
            *(each for each in tables if each is not None),
        ),
    )


def ranking_table(findings: GradesFindings) -> TableBlock:
    """Return all metrics with their scores, the most reliable and most monotonic first."""
    return TableBlock(
        caption=f"{len(findings.grades.metrics)} metrics",
        columns=("Metric", "Reliability", "Monotonicity", "No change", "Wrong way", "Evenness", "Range"),
        rows=tuple(
            (
                words(each.metric),
                RELIABILITY[each.verdict],
                score_text(each.monotonicity),
                *(percent(share, places=0) for share in (each.undecided, each.against)),
                *(fixed(score.mean) for score in (each.evenness, each.shared_range)),
            )
            for each in _by_verdict(findings)
        ),
        align=sides(2, 5),
        note=f"{' '.join(MEANINGS.values())} Means over cases, monotonicity with its 95% CI. No change and wrong way: "
        "share of cases in which nothing, or something in the wrong direction, is significant.",
    )


def node_table(findings: GradesFindings) -> TableBlock | None:
    """Return evenness and range of node values next to means."""
    nodes = node_reading(findings)
    if nodes is None:
        return None
    rows = []
    for each in _by_verdict(findings):
        own = nodes.metric(each.metric)
        if own is not None:
            scores = (each.evenness, own.evenness, each.shared_range, own.shared_range)
            rows.append((words(each.metric), *(fixed(score.mean) for score in scores)))
    return TableBlock(
        caption="Means over targets and values of nodes",
        columns=("Metric", "Evenness", "Evenness (nodes)", "Range", "Range (nodes)"),
        rows=tuple(rows),
        align=sides(1, 4),
        note="Metrics of a whole release have no values of nodes.",
    )


def node_reading(findings: GradesFindings) -> Reading | None:
    """Return the scores of node values next to means."""
    return findings.grades.nodes if findings.grades.of == "both" else None


def score_text(score: ScoreSummary) -> str:
    """Return a mean with three decimals and its CI with two."""
    return fixed(score.mean, places=3) + ("" if math.isnan(score.low) else f" ({fixed(score.low)}–{fixed(score.high)})")


def _by_verdict(findings: GradesFindings) -> list[MetricGrade]:
    return [each for verdict in VERDICTS for each in findings.by_verdict(verdict)]


def sides(names: int, numbers: int) -> tuple[Side, ...]:
    """Return where columns of names, and after them columns of numbers, are aligned."""
    return tuple("left" if place < names else "right" for place in range(names + numbers))


def reason_table(findings: GradesFindings) -> TableBlock:
    """Return the reason for each metric's reliability, and its monotonicity by the attacker's strength."""
    axes = list(dict.fromkeys(case.axis for case in findings.grades.values.cases))
    shown = axes if len(axes) > 1 else []
    return TableBlock(
        caption="Reasons" + (", and monotonicity by attacker strength" if shown else ""),
        columns=("Metric", "Reason", *(f"By {axis.replace('_', ' ')}" for axis in shown)),
        rows=tuple(
            (words(each.metric), each.reason, *(fixed(each.by_axis[axis].mean, places=3) for axis in shown))
            for each in _by_verdict(findings)
        ),
        align=sides(2, len(shown)),
        prose=True,
    )


def ranking_boxes(findings: GradesFindings, score: str) -> BoxRows:
    """Return the metrics ranked by a score, as boxes (Figs 4, 10, 12)."""
    values, every = findings.grades.values, _score_of(findings, score)
    means = {each.metric: getattr(each, score) for each in findings.grades.metrics}
    order = sorted(means, key=lambda name: math.inf if math.isnan(means[name].mean) else -means[name].mean)
    # Monotonicity of nodes is no second opinion: their tests find the least change significant.
    nodes = node_reading(findings) if score != "monotonicity" else None
    rows = tuple(
        box_of(
            words(name),
            spread_of(every[:, values.metrics.index(name)], interval=interval_of(means[name].low, means[name].high)),
            *(() if nodes is None else (_box_of_nodes(nodes, name, score),)),
            bold=per_release(name),
        )
        for name in order
    )
    lines: tuple[Threshold, ...] = ()
    if score == "monotonicity":
        lines = (
            Threshold(name="0.667, nothing significant", value=NOTHING_SIGNIFICANT, across="x"),
            Threshold(name=f"{LEAST:g}, the rule of Zhao and Wagner", value=LEAST, across="x"),
        )
    return BoxRows(
        title=f"Metrics by {SCORES[score].lower()}",
        x_label=SCORES[score],
        row_label="Metric",
        number_label="Cases",
        series=("",) if nodes is None else ("means over targets", "values of nodes"),
        rows=rows,
        thresholds=lines,
        bold_meaning=BOLD if any(row.bold for row in rows) else "",
        caption="Boxes hold the middle half of the cases; lines are medians, means have their 95% CI.",
    )


def _score_of(findings: GradesFindings, score: str) -> FloatArray:
    """Return a score by case and metric."""
    scores = findings.grades.scores
    every: FloatArray = scores.monotonicity.score if score == "monotonicity" else getattr(scores, score)
    return every


def _box_of_nodes(nodes: Reading, name: str, score: str) -> BoxStatistics | None:
    """Return a score of a metric's values of nodes over cases; None where it has none."""
    each = nodes.metric(name)
    if each is None:
        return None
    every = nodes.scores.evenness if score == "evenness" else nodes.scores.shared_range
    summary = getattr(each, score)
    column = nodes.scores.values.metrics.index(name)
    return spread_of(every[:, column], interval=interval_of(summary.low, summary.high))


def interval_of(low: float, high: float) -> tuple[float, float] | None:
    """Return the interval of a mean, or None where it has none."""
    return (low, high) if math.isfinite(low) else None


def per_release(metric: str) -> bool:
    """Return whether a metric has one value per release."""
    return metric in METRICS and METRICS[metric].per == "release"


def span_table(findings: GradesFindings) -> TableBlock | None:
    """Return each metric's range over all nodes, with extreme cases."""
    if not findings.spans:
        return None
    return TableBlock(
        caption="Range of the values of nodes",
        columns=("Metric", "Lowest", "Highest", "Widest case", "Case", "Narrowest case", "Case"),
        rows=tuple(
            (
                words(each.metric),
                significant(each.lowest),
                significant(each.highest),
                *(
                    text
                    for one in (each.widest, each.narrowest)
                    for text in (percent(one.highest - one.lowest), findings.case_words(one.case))
                ),
            )
            for each in findings.spans
        ),
        align=("left", "right", "right", "right", "left", "right", "left"),
        prose=True,
        note="Widest and narrowest: the cases that use the largest and the smallest part of the range.",
    )
