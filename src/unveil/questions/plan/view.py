"""How the plan of an audit is shown: JSON, limits, table, page and chart."""

from math import ceil, isnan, log10
from typing import TYPE_CHECKING

from unveil.metrics.verdict.effects import FEWEST_ATTEMPTS
from unveil.metrics.verdict.plan import POWER
from unveil.questions.plan.findings import PlanFindings
from unveil.questions.result import PLAIN, PageContext, QuestionView
from unveil.report.blocks import Chart, Page, Series, TableBlock, Threshold
from unveil.report.figures import frame_of
from unveil.report.text import UNDEFINED, about, count, decimal, short_percent

if TYPE_CHECKING:
    import polars as pl

#: Charts with a larger ratio of the last number of people to the first have a logarithmic axis.
_WIDE = 100
_METHOD = (
    "A release passes if the upper limit of every attacker's excess risk is at most the threshold. A leak-free release "
    "has an excess risk of 0.",
    "For one attacker the chance to pass is exact: a sum over all numbers of successes. Several attackers are combined "
    "as normal variables with one correlation.",
    "A leak is found if its score test with Yates's correction is significant after Bonferroni's correction. The "
    "step-down tests of an audit find slightly smaller leaks.",
)
_LIMITATIONS = (
    "Ties between candidates reduce the variance: the audit then shows more than planned here.",
    "The plan assumes random samples from one population, with one person per record.",
)


def frame(findings: PlanFindings) -> "pl.DataFrame":
    """Return one row per size in the table."""
    return frame_of(findings.sizes)


def headline(findings: PlanFindings) -> str:
    """Return the chance to pass in one sentence."""
    return (
        f"With {count(findings.people)} people and {count(findings.control)} in the control group, a leak-free release "
        f"passes a threshold of {short_percent(findings.threshold)} in {_of_100(findings.pass_chance)} audits."
    )


def explanation(findings: PlanFindings) -> tuple[str, ...]:
    """Return the smallest leak found and the people needed."""
    if isnan(findings.smallest_found):
        found = "No leak is large enough to be found in 8 of 10 audits."
    else:
        found = f"A leak of {_per_100(findings.smallest_found)} more people per 100 is found in 8 of 10 audits."
    needed = f"About {_needed(findings)} people and as many in the control group are needed to pass in 8 of 10 audits."
    if findings.control >= findings.people:
        return found, needed
    # The baseline of singling out is not counted but bounded then, which is not part of the plan.
    return found, needed, "Singling out needs a control group as large as the data to pass."


def next_steps(findings: PlanFindings) -> tuple[str, ...]:
    """Return the next step: the audit, or more people."""
    if findings.pass_chance >= POWER:
        return ("Fix the threshold now, and run the audit with it.",)
    return (
        f"Audit about {_needed(findings)} people, with as many in the control group. With fewer, expect an "
        "inconclusive decision.",
    )


def page(findings: PlanFindings, context: PageContext = PLAIN) -> Page:
    """Return the whole report as data."""
    return Page(
        title="Audit plan",
        question="How many people does an audit need?",
        headline=headline(findings),
        explanation=explanation(findings),
        next_steps=next_steps(findings),
        picture=(chart(findings), size_table(findings)),
        tone="good" if findings.pass_chance >= POWER else "warning",
        sections=(),
        method=(*_METHOD, _assumptions(findings)),
        limitations=_LIMITATIONS,
        seed=context.seed,
        strip=context.strip,
    )


def chart(findings: PlanFindings) -> Chart:
    """Return the chance to pass against the number of people."""
    import numpy as np

    people = np.array([each.people for each in findings.curve], np.float64)
    is_wide = bool(people[-1] > _WIDE * people[0])
    x, planned = (np.log10(people), log10(findings.people)) if is_wide else (people, float(findings.people))
    y = np.array([each.pass_chance for each in findings.curve], np.float64)
    same = findings.control == findings.people
    ratio = "" if same else f" (control group: {decimal(findings.control / findings.people, places=2)} times as many)"
    return Chart(
        title="Chance to pass by number of people",
        x_label=f"people {'per table' if same else 'in the data'}{ratio}",
        y_label="chance to pass",
        series=(Series(name="leak-free release", x=x, y=y, style="first"),),
        x_range=(float(x[0]) if is_wide else 0.0, float(x[-1])),
        x_kind="power" if is_wide else "count",
        thresholds=(
            Threshold(name=about(POWER), value=POWER),
            Threshold(name=f"planned: {count(findings.people)}", value=planned, across="x"),
        ),
        caption=f"The chance that a leak-free release passes a threshold of {short_percent(findings.threshold)}.",
    )


def size_table(findings: PlanFindings) -> TableBlock:
    """Return the chance to pass and the smallest leak found by size."""
    return TableBlock(
        caption="Chance to pass and smallest leak found, by number of people",
        columns=("People in the data", "Control group", "Chance to pass", "Smallest leak found (people per 100)"),
        rows=tuple(
            (count(each.people), count(each.control), about(each.pass_chance), _per_100(each.smallest_found))
            for each in findings.sizes
        ),
        align=("right", "right", "right", "right"),
    )


def _assumptions(findings: PlanFindings) -> str:
    return (
        f"Assumed: {count(findings.attackers, 'attacker', 'attackers')}, a success rate of "
        f"{short_percent(findings.baseline)} on the control group, and a correlation of "
        f"{decimal(findings.correlation, places=2)}."
    )


def _of_100(chance: float) -> str:
    number = round(100 * chance)
    return "fewer than 1 of 100" if number < 1 else "more than 99 of 100" if number > 99 else f"{number} of 100"


def _per_100(excess: float) -> str:
    if isnan(excess):
        return UNDEFINED
    return f"{100 * excess:.0f}" if excess >= 0.1 else f"{100 * excess:.1f}"


def _needed(findings: PlanFindings) -> str:
    """Return the number of people needed, rounded up to two digits."""
    number = max(findings.people_needed, FEWEST_ATTEMPTS)
    unit = 10 ** max(int(log10(number)) - 1, 0)
    return count(ceil(number / unit) * unit)


VIEW = QuestionView(
    schema="unveil.plan/1",
    findings=PlanFindings,
    about="Result of `unveil plan`: the power of an audit of a given size.",
    frame=frame,
    page=page,
)
