"""Effect of each column: success and uncertainty as the attacker learns one column after another."""

import math
from collections.abc import Callable

import numpy as np

from unveil.questions.reidentify.findings import AttackOutcome, KnowledgeStep, ReidentifyFindings
from unveil.questions.reidentify.sections.validity import rate_text, spoken
from unveil.questions.result import PageContext
from unveil.report.blocks import Chart, Section, Series, Style, TableBlock, Threshold
from unveil.report.text import count, decimal, name, percent, together

_STYLES: tuple[Style, ...] = ("first", "second", "third", "fourth", "fifth")
_KNOWN = "columns that the attacker knows"


def section(findings: ReidentifyFindings, context: PageContext) -> Section | None:
    """Return success and remaining uncertainty by the number of columns known."""
    del context
    if not findings.attacks:
        return None
    columns = together([name(each, 30) for each in findings.known], at_most=8)
    return Section(
        heading="Effect of each column",
        question="How much does each column reveal?",
        lead=f"The attacker learns {count(len(findings.known), 'column', 'columns')}, {findings.order}: {columns}.",
        blocks=(hit_chart(findings), uncertainty_chart(findings)),
        data=(step_table(findings),),
    )


def drawn(findings: ReidentifyFindings) -> tuple[AttackOutcome, ...]:
    """Return the most successful attacks that a chart can show."""
    by_success = sorted(findings.attacks, key=lambda each: number(each.attack_rate.value), reverse=True)
    return tuple(each for each in findings.attacks if each in by_success[: len(_STYLES)])


def hit_chart(findings: ReidentifyFindings) -> Chart:
    """Return the attack success by the number of columns known."""
    lines = _lines(findings, lambda _, step: step.attack_rate.value)
    top = max([findings.blind, *(number(y) for line in lines for y in line.y.tolist())])
    left = len(findings.attacks) - len(drawn(findings))
    gap = any(step.why for attacked in drawn(findings) for step in attacked.steps)
    return Chart(
        title="Success by columns known",
        x_label=_KNOWN,
        y_label="attack success",
        series=lines,
        caption="Share of records whose top-ranked candidate is correct."
        + (f" {left} less successful attacks are not drawn." if left else "")
        + (" Gap: the attack needs more columns." if gap else ""),
        x_range=(0.0, float(len(findings.known))),
        y_range=(0.0, min(1.0, max(0.1, math.ceil(top * 11) / 10))),
        x_kind="count",
        thresholds=(Threshold(name=f"baseline {percent(findings.blind)}", value=findings.blind),),
        small=True,
    )


def uncertainty_chart(findings: ReidentifyFindings) -> Chart:
    """Return the remaining uncertainty: nonspecificity of sets, entropy of probabilities."""
    highest = math.log(findings.originals)
    return Chart(
        title="Remaining uncertainty by columns known",
        x_label=_KNOWN,
        y_label="nats",
        series=_lines(findings, uncertainty),
        caption="Nonspecificity of attacks that return sets, entropy of the rest. A low value is not a correct one.",
        x_range=(0.0, float(len(findings.known))),
        y_range=(0.0, max(1.0, math.ceil(highest * 2) / 2)),
        x_kind="count",
        y_kind="number",
        small=True,
    )


def uncertainty(attacked: AttackOutcome, step: KnowledgeStep) -> float:
    """Return the uncertainty that remains after a step: of sets, or of probabilities."""
    return step.nonspecificity if attacked.leaves == "Beliefs" else step.entropy


def _lines(findings: ReidentifyFindings, value: Callable[[AttackOutcome, KnowledgeStep], float]) -> tuple[Series, ...]:
    return tuple(
        Series(
            name=name(attacked.attack, 40),
            x=np.array([float(step.known) for step in attacked.steps]),
            y=np.array([value(attacked, step) for step in attacked.steps]),
            style=style,
        )
        for attacked, style in zip(drawn(findings), _STYLES, strict=False)
    )


def step_table(findings: ReidentifyFindings) -> TableBlock:
    """Return success and uncertainty after each column."""
    rows = (
        (
            spoken(attacked),
            f"{count(step.known)}: {name(step.column, 40)}" if step.known else "none",
            rate_text(step.attack_rate) if step.known else percent(step.attack_rate.value),
            decimal(step.nonspecificity),
            decimal(step.entropy),
            count(step.nobody) if not step.why else "",
        )
        for attacked in findings.attacks
        for step in attacked.steps
    )
    return TableBlock(
        caption="Success by columns known",
        columns=("Attack", "Columns up to", "Success (95% CI)", "Nonspecificity", "Entropy", "Without candidate"),
        rows=tuple(rows),
        align=("left", "left", "right", "right", "right", "right"),
        note="Means in nats. Without candidate: records that the attack matches to no person.",
    )


def number(value: float) -> float:
    """Return a value to compare; an undefined one is 0."""
    return 0.0 if math.isnan(value) else value
