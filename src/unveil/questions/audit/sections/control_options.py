"""Ways to a control group, where an audit has none."""

from unveil.questions.audit.findings import Audit
from unveil.questions.audit.reference.control_options import (
    CONTROL_OPTIONS,
    LEAD,
    ORIGINAL,
    RELEASED,
    ControlOption,
)
from unveil.questions.audit.report_context import AuditContext
from unveil.report.blocks import PrivateText, Section, TableBlock, sides
from unveil.report.editions import last_part


def section(audit: Audit, context: AuditContext) -> Section | None:
    """Return what an owner may have in place of a control group; None where there is one."""
    if audit.has_control or audit.way is not None:
        return None
    report = context.report
    original = ORIGINAL if report.original is None else str(report.original)
    released = RELEASED if not report.released else str(report.released[0])
    return Section(
        heading="Without a control group",
        question="What would make the excess risk testable?",
        lead="This report tests only what needs no control group. Other files can change that.",
        blocks=(),
        data=(
            TableBlock(
                caption="Ways to a control group",
                columns=("You have", "Command", "The report can then state"),
                rows=tuple((each.have, _command(each, original, released), each.states) for each in CONTROL_OPTIONS),
                align=sides("lll"),
                note=LEAD,
                prose=True,
            ),
        ),
    )


def _command(option: ControlOption, original: str, released: str) -> PrivateText:
    return PrivateText(option.text(original, released), shared=option.text(last_part(original), last_part(released)))
