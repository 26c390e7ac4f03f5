"""Other readings of the values in rows: raw scores beside calibrated probabilities, and where values of nodes lie."""

import math

from unveil.grades.calibration_grades import CalibratedGrade
from unveil.questions.grade_metrics.findings import GradesFindings, words
from unveil.questions.grade_metrics.tables import score_text, sides
from unveil.report.blocks import TableBlock
from unveil.report.text import UNDEFINED, fixed, percent, significant


def calibration_table(findings: GradesFindings, *, short: bool = False) -> TableBlock | None:
    """Return each metric from raw scores and from calibrated probabilities; None where there is nothing calibrated.

    ``short`` is for a terminal: without intervals and verdicts, and with names as they are written.
    """
    both = findings.grades.calibrated
    if both is None or not both.changed:
        return None
    same = [words(each.metric) for each in both.metrics if each.same]
    cases = len(both.raw.scores.values.cases)
    heads = ("metric", "monotonicity", "gain", "wrong way") if short else (
        "metric", "raw", "calibrated", "gain", "wrong way", "raw: verdict", "calibrated: verdict"
    )  # fmt: skip
    return TableBlock(
        caption=f"Raw scores → calibrated probabilities, over {cases:,} {'case' if cases == 1 else 'cases'}",
        columns=heads,
        rows=tuple(_calibrated_row(each, short=short) for each in both.changed),
        align=sides(1, 3) if short else (*sides(1, 4), "left", "left"),
        note=(
            "Monotonicity, and the share of cases in which something significant goes the wrong way. Gain: the mean "
            "difference of monotonicity within a case, with its 95% interval."
            + (f" The same either way: {', '.join(same)}." if same else "")
        ),
    )


def _calibrated_row(each: CalibratedGrade, *, short: bool) -> tuple[str, ...]:
    before, after = each.raw.monotonicity, each.calibrated.monotonicity
    wrong = f"{percent(each.raw.against, places=0)} → {percent(each.calibrated.against, places=0)}"
    if short:
        told = f"{fixed(before.mean, places=3)} → {fixed(after.mean, places=3)}"
        return (each.metric, told, _gain_text(each, ends=False), wrong)
    verdicts = (each.raw.verdict, each.calibrated.verdict)
    return (words(each.metric), score_text(before), score_text(after), _gain_text(each, ends=True), wrong, *verdicts)


def _gain_text(each: CalibratedGrade, *, ends: bool) -> str:
    if math.isnan(each.gain.mean):
        return UNDEFINED
    interval = f" ({each.gain.low:+.2f} to {each.gain.high:+.2f})" if ends and not math.isnan(each.gain.low) else ""
    return f"{each.gain.mean:+.3f}{interval}"


def span_table(findings: GradesFindings) -> TableBlock | None:
    """Return the range of each metric over all nodes, and which cases use most and least of it; None without nodes."""
    if not findings.spans:
        return None
    cases = findings.grades.values.cases
    return TableBlock(
        caption="Which part of the range of a metric's nodes a case uses",
        columns=("metric", "lowest", "highest", "widest", "in", "narrowest", "in"),
        rows=tuple(
            (
                words(each.metric),
                significant(each.lowest),
                significant(each.highest),
                *(
                    text
                    for one in (each.widest, each.narrowest)
                    for text in (percent(one.highest - one.lowest), findings.case_words(cases[one.case]))
                ),
            )
            for each in findings.spans
        ),
        align=("left", "right", "right", "right", "left", "right", "left"),
        prose=True,
    )
