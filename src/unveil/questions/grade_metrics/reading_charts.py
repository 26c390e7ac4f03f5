"""Other readings of the values as pictures: raw scores beside calibrated probabilities, and spans of nodes."""

from unveil.grades.grades import NOTHING_SIGNIFICANT
from unveil.questions.grade_metrics.charts import BOLD, interval_of, per_release
from unveil.questions.grade_metrics.findings import GradesFindings, NodeSpan, words
from unveil.report.blocks import Threshold
from unveil.report.blocks_spread import BoxRows, BoxStatistics, box_of, spread_of
from unveil.report.text import percent


def calibration_boxes(findings: GradesFindings) -> BoxRows | None:
    """Return the monotonicity of each metric from raw scores and calibrated probabilities; None without the latter."""
    both = findings.grades.calibrated
    if both is None or not both.changed:
        return None
    every = both.raw.scores.values.metrics
    rows = []
    for each in both.changed:
        column = every.index(each.metric)
        boxes = [
            spread_of(
                side.scores.monotonicity.score[:, column],
                interval=interval_of(grade.monotonicity.low, grade.monotonicity.high),
            )
            for side, grade in ((both.raw, each.raw), (both.calibrated, each.calibrated))
        ]
        wrong = f"{percent(each.raw.against, places=0)} → {percent(each.calibrated.against, places=0)} wrong"
        rows.append(box_of(words(each.metric), *boxes, bold=per_release(each.metric), note=wrong))
    return BoxRows(
        title="Monotonicity from raw scores and from calibrated probabilities",
        x_label="Monotonicity",
        row_label="Metric",
        number_label="Cases",
        series=("raw scores, of those attempted", "calibrated probabilities, of all targets"),
        rows=tuple(rows),
        thresholds=(Threshold(name="0.667, nothing significant", value=NOTHING_SIGNIFICANT, across="x"),),
        bold_meaning=BOLD if any(row.bold for row in rows) else "",
        caption="The largest gain first. Below a name: the share of cases in which something significant goes the "
        "wrong way, raw and calibrated.",
    )


def span_boxes(findings: GradesFindings) -> BoxRows | None:
    """Return where the values of nodes of each metric lie in two cases, on one scale (Fig. 11); None without nodes."""
    if not findings.spans:
        return None
    return BoxRows(
        title="Spans of nodes",
        x_label="place in the range of the metric over all cases",
        row_label="Metric",
        number_label="Values",
        series=("the case that uses most of the range", "the case that uses least"),
        rows=tuple(
            box_of(words(each.metric), _node_box(each.widest), _node_box(each.narrowest)) for each in findings.spans
        ),
        caption="Each box holds the middle half of the values of nodes, at all levels and in all replications, from "
        "the means of 64 runs of equal count; beyond the whiskers only the lowest and the highest node are drawn. The "
        "metric whose narrowest case uses most of the range comes first.",
    )


def _node_box(span: NodeSpan) -> BoxStatistics:
    lower, median, upper = span.quartiles
    low, high = span.whiskers
    return BoxStatistics(
        low=low,
        lower=lower,
        median=median,
        upper=upper,
        high=high,
        mean=span.mean,
        number=span.count,
        beyond=(*((span.lowest,) if span.lowest < low else ()), *((span.highest,) if span.highest > high else ())),
    )
