"""How the findings about columns are shown: the first screen, the sections and the methods."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from unveil.data.table.kinds import Role
from unveil.data.table.rules import Confidence
from unveil.questions.columns.findings import ColumnReading, ColumnsFindings
from unveil.questions.result import PLAIN, PageContext, QuestionView
from unveil.report.blocks import Chart, NextStep, Page, Section, Series, TableBlock
from unveil.report.text import count, name, together

if TYPE_CHECKING:
    import polars as pl

_LONGEST = 40
#: Columns in the table of the first screen.
_FIRST = 12
#: How certain the type of a column is, from the most certain.
_CONFIDENCE: Mapping[Confidence, str] = {
    "given": "given",
    "dictionary": "dictionary",
    "labels": "labels",
    "sure": "sure",
    "likely": "likely",
    "uncertain": "needs a check",
}
#: What an attacker does with a column, as the report names it.
_ROLES: Mapping[Role, str] = {
    "known": "quasi-identifier",
    "sensitive": "sensitive attribute",
    "identifier": "identifier",
    "ignored": "left out",
}
_METHOD = (
    "Given types count first, then the dictionary, then labels in the file, then the rules; the first rule that fits "
    "decides.",
    "sure: the values determine the type. likely: the name of the column, its values, or other columns "
    "suggest the type.",
    "A marker is a text that stands for a missing value, such as NA. Each marker counts as a value of its own.",
)
_LIMITATIONS = (
    "Only a dictionary can tell the meaning of codes.",
    "The values themselves, their units, and whether rows describe the same people are not checked.",
)


def frame(findings: ColumnsFindings) -> "pl.DataFrame":
    """Return one row per column."""
    import polars as pl

    names = {"name": "name", "type": "kind"} | {
        name: name for name in ("role", "confidence", "reason", "different", "missing")
    }
    rows = [
        {name: getattr(each, field) for name, field in names.items()} | {"markers": _markers(each)}
        for each in findings.columns
    ]
    return pl.DataFrame(rows)


def headline(findings: ColumnsFindings) -> str:
    """Return how many columns need a check, in one sentence."""
    columns = count(len(findings.columns), "column", "columns")
    if not findings.unsure:
        likely = sum(each.confidence == "likely" for each in findings.columns)
        of_them = f", {count(likely)} of them as likely" if likely else ""
        return f"{'The' if len(findings.columns) == 1 else 'All'} {columns} {_were(findings)} recognized{of_them}."
    names = together(name(each, _LONGEST) for each in findings.unsure)
    return f"{len(findings.unsure)} of {columns} need{'s' * (len(findings.unsure) == 1)} a check: {names}."


def _were(findings: ColumnsFindings) -> str:
    return "was" if len(findings.columns) == 1 else "were"


def explanation(findings: ColumnsFindings) -> tuple[str, ...]:
    """Return what a wrong type does, and the number of columns with markers."""
    marked = sum(bool(each.markers) for each in findings.columns)
    wrong = ("A wrong type changes every result that uses the column.",) if findings.unsure else ()
    has = f"{count(marked, 'column has', 'columns have')} markers of missing values."
    return (*wrong, *((has,) if marked else ()))


def page(findings: ColumnsFindings, context: PageContext = PLAIN) -> Page:
    """Return the whole report with markers as they stand, internally."""
    first, others = findings.columns[:_FIRST], findings.columns[_FIRST:]
    reasons = Section(
        heading="Reasons",
        question="Why does each column have this type?",
        lead=f"{findings.table} has {count(findings.rows, 'row', 'rows')}.",
        blocks=(reason_table(findings),),
    )
    rest = Section(
        heading="Other columns",
        question="Which types do the other columns have?",
        lead=f"{count(len(others), 'more column', 'more columns')}.",
        blocks=(column_table(others),),
    )
    step = (
        "Correct the types in the dictionary." if findings.unsure else "Check the types once, and correct wrong ones."
    )
    return Page(
        title="Column types",
        question=f"How is {findings.table} read?",
        headline=headline(findings),
        explanation=explanation(findings),
        next_steps=(NextStep(step, option="--write-dictionary types.toml, then --dictionary types.toml"),),
        picture=(confidence_chart(findings), column_table(first)),
        tone="warning" if findings.unsure else "good",
        sections=(*([rest] if others else []), reasons),
        method=_METHOD,
        limitations=_LIMITATIONS,
        notes=findings.notes,
        seed=context.seed,
        strip=context.strip,
    )


def confidence_chart(findings: ColumnsFindings) -> Chart:
    """Return the number of columns by how certain their type is."""
    import numpy as np

    counts = Counter(each.confidence for each in findings.columns)
    levels = [level for level in _CONFIDENCE if counts[level]]
    values = np.array([counts[level] for level in levels], np.float64)
    return Chart(
        title="Columns by confidence of their type",
        x_label="columns",
        y_label="",
        series=(
            Series(name="columns", x=values, y=np.arange(len(levels), dtype=np.float64), style="first", kind="points"),
        ),
        x_range=(0.0, float(max(len(findings.columns), 1))),
        x_kind="count",
        y_kind="number",
        rows=tuple(_CONFIDENCE[level] for level in levels),
    )


def column_table(columns: Sequence[ColumnReading]) -> TableBlock:
    """Return the type of each column."""
    return TableBlock(
        caption="Columns",
        columns=("Column", "Type", "Role", "Confidence", "Missing"),
        rows=tuple(
            (name(each.name, _LONGEST), each.kind, _ROLES[each.role], _CONFIDENCE[each.confidence], f"{each.missing:,}")
            for each in columns
        ),
        align=("left", "left", "left", "left", "right"),
    )


def reason_table(findings: ColumnsFindings) -> TableBlock:
    """Return the reason for the type of each column, its values and its markers."""
    return TableBlock(
        caption="Reasons by column",
        columns=("Column", "Reason", "Values", "Markers"),
        rows=tuple(
            (name(each.name, _LONGEST), each.reason, f"{each.different:,}", _markers(each)) for each in findings.columns
        ),
        align=("left", "left", "right", "left"),
        prose=True,
    )


def _markers(column: ColumnReading) -> str:
    return ", ".join(f"{marker.text} ({marker.kind}, {marker.cells:,})" for marker in column.markers)


VIEW = QuestionView(
    schema="unveil.columns/2",
    findings=ColumnsFindings,
    about="Result of `unveil columns`: the type of each column, with the confidence.",
    frame=frame,
    page=page,
)
