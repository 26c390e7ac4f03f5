"""The sheet of a split table: sizes, files to keep, and what to do with them."""

from typing import TYPE_CHECKING

from unveil.questions.result import PLAIN, PageContext, QuestionView
from unveil.questions.split.findings import SplitFindings
from unveil.report.blocks import NextStep, Page, Section, TableBlock, sides
from unveil.report.figures import frame_of
from unveil.report.text import about, count, name

if TYPE_CHECKING:
    import polars as pl

#: Below this number of people in the control group an audit is often inconclusive.
ENOUGH = 200
_LIMITATIONS = (
    "A group that is set aside after the release was made is no control group: the release knows it.",
    "The control group must stay out of every release of these data, and out of all training data.",
)


def frame(findings: SplitFindings) -> "pl.DataFrame":
    """Return one row per part."""
    return frame_of((findings.release_part, findings.control))


def headline(findings: SplitFindings) -> str:
    """Return the sizes of the two parts in one sentence."""
    release, control = findings.release_part.people, findings.control.people
    return (
        f"{count(control)} of {count(release + control)} people ({about(findings.control_share)}) are the control "
        f"group; {count(release)} are left to release."
    )


def explanation(findings: SplitFindings) -> tuple[str, ...]:
    """Return how the control group was drawn, and whether it is large enough."""
    drawn = {
        "row": "Each row counts as a person.",
        "person": "All rows of a person are in the same part.",
        "household": "All people of a household are in the same part.",
    }[findings.unit]
    if findings.control.people >= ENOUGH:
        return (drawn,)
    return drawn, f"With fewer than {ENOUGH} people in the control group, an audit is often inconclusive."


def page(findings: SplitFindings, context: PageContext = PLAIN) -> Page:
    """Return the whole sheet as data."""
    return Page(
        title="Control group",
        question=f"Which people of {name(findings.table)} are released, and which are kept out?",
        headline=headline(findings),
        explanation=explanation(findings),
        next_steps=(
            NextStep("Protect or synthesize only the people to release."),
            NextStep("Audit the release with the control group.", option=f"--control {name(findings.control.file)}"),
        ),
        picture=(size_table(findings),),
        tone="good" if findings.control.people >= ENOUGH else "warning",
        sections=(
            Section(
                heading="What to keep",
                question="Which files are part of this split?",
                lead=f"Split on {findings.date}. Keep this sheet and both files; none of them is for publication.",
                blocks=(file_table(findings),),
            ),
        ),
        method=(
            f"The control group is a simple random sample of {_units(findings)}; the share asked for is "
            f"{about(findings.share)}. Both parts keep the order of rows and the cells as written.",
            "The random seed is not stored.",
        ),
        limitations=(
            *_LIMITATIONS,
            *(
                ("Relatives in both parts weaken the comparison. State the households if the table has any.",)
                if findings.unit != "household"
                else ()
            ),
        ),
        notes=findings.notes,
        seed=context.seed,
        strip=context.strip,
        edition="internal",
    )


def size_table(findings: SplitFindings) -> TableBlock:
    """Return the number of people, households and rows of each part."""
    has_homes = findings.unit == "household"
    rows = (
        (part, count(each.people), *((count(each.households or 0),) if has_homes else ()), count(each.rows))
        for part, each in (("people to release", findings.release_part), ("control group", findings.control))
    )
    return TableBlock(
        caption="The two parts",
        columns=("Part", "People", *(("Households",) if has_homes else ()), "Rows"),
        rows=tuple(rows),
        align=sides("lrrr" if has_homes else "lrr"),
    )


def file_table(findings: SplitFindings) -> TableBlock:
    """Return the files with their SHA-256."""
    files = (
        ("input", findings.table, findings.sha256 or "–"),
        ("people to release", findings.release_part.file, findings.release_part.sha256),
        ("control group", findings.control.file, findings.control.sha256),
    )
    return TableBlock(
        caption="Files and their SHA-256",
        columns=("Part", "File", "SHA-256"),
        rows=tuple((part, name(file), digest) for part, file, digest in files),
        align=sides("lll"),
        prose=True,
    )


def _units(findings: SplitFindings) -> str:
    return {"row": "rows", "person": "people", "household": "households"}[findings.unit]


VIEW = QuestionView(
    schema="unveil.split/1",
    findings=SplitFindings,
    about="The answer of `unveil split`: people to release, and a control group drawn at random.",
    frame=frame,
    page=page,
)
