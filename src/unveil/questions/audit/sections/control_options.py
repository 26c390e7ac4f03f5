"""Ways to a control group, where an audit has none."""

import shlex
from collections.abc import Iterator

from unveil.questions.audit.findings import Audit
from unveil.questions.audit.reference.control_options import (
    CONTROL_OPTIONS,
    LEAD,
    ORIGINAL,
    RELEASED,
    ControlOption,
)
from unveil.questions.audit.report_context import AuditContext, ReportContext
from unveil.report.blocks import NextStep, PrivateText, Section, TableBlock, sides
from unveil.report.editions import last_part

STEP = "See the ways to a control group."


def section(audit: Audit, context: AuditContext) -> Section | None:
    """Return what an owner may have in place of a control group; None where there is one."""
    if audit.has_control or audit.way is not None:
        return None
    original, released = _files(context.report)
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


def next_steps(audit: Audit, report: ReportContext) -> Iterator[NextStep]:
    """Yield where all ways to a control group are listed, where there is none."""
    if not audit.has_control and audit.way is None and audit.decision.decision != "pass":
        yield NextStep(STEP, option=shlex.join(("unveil", "audit", *_files(report), "--help-control")))


def _files(report: ReportContext) -> tuple[str, str]:
    """Return the owner's names of the original and of the first release."""
    original = ORIGINAL if report.original is None else str(report.original)
    return original, RELEASED if not report.released else str(report.released[0])


def _command(option: ControlOption, original: str, released: str) -> PrivateText:
    return PrivateText(option.text(original, released), shared=option.text(last_part(original), last_part(released)))
