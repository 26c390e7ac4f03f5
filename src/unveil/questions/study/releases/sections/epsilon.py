"""Risk and utility loss by epsilon, and how reliably results order releases."""

from collections.abc import Callable

import numpy as np

from unveil.grades.releases import Order
from unveil.questions.result import PageContext
from unveil.questions.study.releases.findings import EpsilonSeries, MeanInterval, ReleasesFindings
from unveil.questions.study.releases.sections.techniques import LINKED, LOST, interval_end, points, sides
from unveil.questions.study.sections.strength import STYLES
from unveil.report.blocks import Chart, Section, Series, TableBlock
from unveil.report.text import count, percent
from unveil.report.trust import RELIABILITY


def section(findings: ReleasesFindings, context: PageContext) -> Section | None:
    """Return the section on epsilon and on the results that order releases; None without releases."""
    del context
    if not findings.releases:
        return None
    number = count(len(findings.levels), "technique", "techniques")
    less, more = (
        sum(getattr(each, change).low > 0 for each in findings.levels) for change in ("less_loss", "more_linked")
    )
    return Section(
        heading="Epsilon and reliability",
        question="Does a larger epsilon raise the risk, and which results show it?",
        lead=f"From the smallest to the largest epsilon, utility loss falls significantly in {less} of {number}, and "
        f"linkability rises significantly in {more}."
        if findings.levels
        else "No technique has several values of epsilon.",
        blocks=epsilon_charts(findings) or (grade_table(findings),),
        data=(epsilon_table(findings), grade_table(findings)) if findings.levels else (),
    )


def epsilon_table(findings: ReleasesFindings) -> TableBlock:
    """Return the change from the smallest to the largest epsilon by technique."""
    return TableBlock(
        caption="Change from the smallest to the largest epsilon",
        columns=("Technique", "Epsilon", "Less utility loss", "More linked", "Pairs"),
        rows=tuple(
            (
                each.technique,
                f"{each.epsilons[0]:g} to {each.epsilons[-1]:g}",
                points(each.less_loss),
                points(each.more_linked),
                f"{each.groups:,}",
            )
            for each in findings.levels
        ),
        align=sides("llrrr"),
        note="Percentage points with 95% CI; a pair has the same columns and people.",
    )


def epsilon_charts(findings: ReleasesFindings) -> tuple[Chart, ...]:
    """Return risk and loss against epsilon, a line for each technique that has several."""
    if not findings.levels:
        return ()
    shown = findings.levels[: len(STYLES)]
    ends = [level for each in shown for level in each.epsilons]

    def chart(
        title: str, label: str, values: Callable[[EpsilonSeries], tuple[MeanInterval, ...]], caption: str
    ) -> Chart:
        highs = [interval_end(value, "high") for each in shown for value in values(each)]
        return Chart(
            title=title,
            x_label="epsilon",
            y_label=label,
            series=tuple(
                Series(
                    name=each.technique,
                    x=np.array(each.epsilons),
                    y=np.array([value.mean for value in values(each)]),
                    low=np.array([interval_end(value, "low") for value in values(each)]),
                    high=np.array([interval_end(value, "high") for value in values(each)]),
                    style=style,
                )
                for each, style in zip(shown, STYLES, strict=False)
            ),
            caption=caption,
            x_range=(0.0, max(ends)),
            y_range=(0.0, min(1.0, max(0.05, *highs) * 1.1)),
            small=True,
        )

    same = "Groups of releases with the same columns and people at each epsilon."
    return (
        chart("Risk by epsilon", LINKED, lambda each: each.linked, same),
        chart("Utility loss by epsilon", LOST, lambda each: each.loss, same),
    )


def grade_table(findings: ReleasesFindings) -> TableBlock:
    """Return how well each result orders releases by epsilon and by who is copied."""
    return TableBlock(
        caption="Results that order releases",
        columns=("Result", "Reliability", "By epsilon", "By exact copies"),
        rows=tuple(
            (each.figure, RELIABILITY[each.verdict], _order(each.epsilon), _order(each.copied))
            for each in findings.grades
        ),
        align=sides("lllr"),
        note="Share of pairs of releases in the right order (chance: 50%), with 95% CI. By epsilon: one "
        "technique, the same columns and people. By exact copies: a difference of at least one percentage "
        "point.",
    )


def _order(order: Order) -> str:
    if not order.pairs:
        return "–"
    return f"{percent(order.share)} ({percent(order.low)} to {percent(order.high)}), {order.pairs:,} pairs"
