"""Conflicting attacks: pairs that cannot both be valid."""

from unveil.questions.reidentify.findings import ReidentifyFindings
from unveil.questions.result import PageContext
from unveil.report.blocks import Section, TableBlock
from unveil.report.text import count, name


def section(findings: ReidentifyFindings, context: PageContext) -> Section | None:
    """Return the attacks that contradict each other; None where there are none."""
    del context
    if not findings.clashes:
        return None
    worst = max(findings.clashes, key=lambda clash: clash.records)
    table = TableBlock(
        caption="Conflicting attacks",
        columns=("Attack", "Other attack", "Records in conflict"),
        rows=tuple(
            (clash.first, clash.second, f"{count(clash.records)} of {count(clash.of)}") for clash in findings.clashes
        ),
        align=("left", "left", "right"),
    )
    return Section(
        heading="Conflicting attacks",
        question="Which attacks cannot both be valid?",
        lead=(
            f"{name(worst.first, 60)} and {name(worst.second, 60)} contradict each other for {count(worst.records)} of "
            f"{count(worst.of, 'record', 'records')}: at least one is wrong there, whatever the truth is."
        ),
        blocks=(),
        data=(table,),
    )
