"""Metrics from raw scores compared with those from calibrated probabilities."""

import math

from unveil.grades.calibration_grades import CalibratedGrade, CalibrationGrades
from unveil.grades.grades import NOTHING_SIGNIFICANT
from unveil.questions.grade_metrics.findings import GradesFindings, words
from unveil.questions.grade_metrics.sections.metrics import BOLD, interval_of, per_release, score_text, sides
from unveil.questions.result import PageContext
from unveil.report.blocks import Section, TableBlock, Threshold
from unveil.report.blocks_spread import BoxRows, box_of, spread_of
from unveil.report.text import UNDEFINED, count, fixed, percent
from unveil.report.trust import RELIABILITY


def section(findings: GradesFindings, context: PageContext) -> Section | None:
    """Return the section on calibrated probabilities; None where no study has them."""
    del context
    table, boxes = calibration_table(findings), calibration_boxes(findings)
    if table is None or boxes is None:
        return None
    return Section(
        heading="Calibration",
        question="Are metrics reliable with calibrated probabilities?",
        lead=" ".join(calibration_answer(findings)),
        blocks=(boxes,),
        data=(table,),
    )


#: What is said of entropy is about the first of these that was measured.
_DOUBTED = ("entropy", "min_entropy", "collision_entropy", "anonymity_set_size")


def calibration_answer(findings: GradesFindings) -> tuple[str, ...]:
    """Return whether calibration corrects entropy, and its effect on all metrics.

    Nothing where no study has calibrated probabilities. Where entropy was not measured, it is about another metric.
    """
    both = findings.grades.calibrated
    if both is None or not both.changed:
        return ()
    changed = {each.metric: each for each in both.changed}
    first = next((changed[name] for name in _DOUBTED if name in changed), both.changed[0])
    return (_effect(first), _counts(both))


def _effect(each: CalibratedGrade) -> str:
    name = words(each.metric)
    rates = (
        f"from raw scores it goes the wrong way in {percent(each.raw.against, places=0)} of "
        f"{count(each.cases, 'case', 'cases')} (monotonicity {fixed(each.raw.monotonicity.mean, places=3)}), from "
        f"calibrated probabilities of all targets in {percent(each.calibrated.against, places=0)} "
        f"({fixed(each.calibrated.monotonicity.mean, places=3)})"
    )
    if each.effect == "better":
        if not each.mended:
            return f"Calibration improves {name}, but not beyond a metric that never changes: {rates}."
        still = each.calibrated.verdict == "do not rank by it"
        return f"Calibration mends {name}: {rates}{f'; still unreliable: {each.calibrated.reason}' if still else ''}."
    if each.effect == "worse":
        return f"Calibration makes {name} worse: {rates}."
    if each.effect == "cannot be determined":
        return f"One attack on one release cannot show whether calibration changes {name}: {rates}."
    if each.raw.verdict == "use":
        return f"Calibration does not change {name}, which is reliable with raw scores: {rates}."
    return f"Calibration does not significantly change {name}: {rates}."


def _counts(both: CalibrationGrades) -> str:
    """Return how many metrics calibration improves or worsens, and how many are reliable."""
    better, worse = (sum(each.effect == effect for each in both.changed) for effect in ("better", "worse"))
    raw, calibrated = (
        sum(getattr(each, side).verdict == "use" for each in both.changed) for side in ("raw", "calibrated")
    )
    return (
        f"Of {count(len(both.changed), 'metric', 'metrics')} based on probabilities, {better} improve significantly "
        f"and {worse} get worse; {raw} are reliable raw, {calibrated} calibrated."
    )


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
        title="Monotonicity, raw and calibrated",
        x_label="Monotonicity",
        row_label="Metric",
        number_label="Cases",
        series=("raw scores, attempted targets", "calibrated probabilities, all targets"),
        rows=tuple(rows),
        thresholds=(Threshold(name="0.667, nothing significant", value=NOTHING_SIGNIFICANT, across="x"),),
        bold_meaning=BOLD if any(row.bold for row in rows) else "",
        caption="Largest gain first. Below a name: share of cases with a significant change in the wrong direction.",
    )


def calibration_table(findings: GradesFindings) -> TableBlock | None:
    """Return each metric from raw scores and from calibrated probabilities; None where there is nothing calibrated."""
    both = findings.grades.calibrated
    if both is None or not both.changed:
        return None
    same = [words(each.metric) for each in both.metrics if each.same]
    cases = count(len(both.raw.scores.values.cases), "case", "cases")
    return TableBlock(
        caption=f"Raw scores and calibrated probabilities, {cases}",
        columns=("Metric", "Raw", "Calibrated", "Gain", "Wrong way", "Reliability (raw)", "Reliability (calibrated)"),
        rows=tuple(
            (
                words(each.metric),
                *(score_text(side.monotonicity) for side in (each.raw, each.calibrated)),
                _gain_text(each),
                f"{percent(each.raw.against, places=0)} → {percent(each.calibrated.against, places=0)}",
                *(RELIABILITY[side.verdict] for side in (each.raw, each.calibrated)),
            )
            for each in both.changed
        ),
        align=(*sides(1, 4), "left", "left"),
        note="Monotonicity, and share of cases with a significant change in the wrong direction. Gain: mean difference "
        "within a case (95% CI)." + (f" Unchanged: {', '.join(same)}." if same else ""),
    )


def _gain_text(each: CalibratedGrade) -> str:
    if math.isnan(each.gain.mean):
        return UNDEFINED
    interval = "" if math.isnan(each.gain.low) else f" ({each.gain.low:+.2f} to {each.gain.high:+.2f})"
    return f"{each.gain.mean:+.3f}{interval}"
