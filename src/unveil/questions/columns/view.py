"""How the findings about columns are shown: JSON, limits, table, page and picture."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from unveil.data.table.forms import KINDS
from unveil.questions.columns.findings import ColumnReading, ColumnsFindings
from unveil.questions.result import PLAIN, PageContext, QuestionView
from unveil.report.blocks import Chart, Page, Section, Series, TableBlock
from unveil.report.terminal import Part, opening
from unveil.report.text import count, name, together

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

_LONGEST = 40
#: So many columns are seen first.
_FIRST = 12
_METHOD = (
    "What is told counts first, then a dictionary, then labels inside the file, then the rules, of which the first "
    "that fits decides.",
    "sure: the values leave no doubt. likely: the name of the column, its values or other columns tell. unsure: "
    "nothing does.",
    "A marker is a cell that stands for no value. Missing, not applicable and own codes are values of their own: equal "
    "to the same marker, and as far as can be from anything else.",
)
_UNTESTED = (
    "What codes mean: only a dictionary can tell.",
    "Whether numbers are right, in one unit, or about the same people in all rows.",
)


def brief(findings: ColumnsFindings) -> Iterator[Part]:
    """Yield what a terminal shows: what was found, and how each column was read, and why."""
    yield from opening(page(findings))
    for table in (column_table(findings.columns), why_table(findings)):
        yield ""
        yield table


def frame(findings: ColumnsFindings) -> "pl.DataFrame":
    """Return one row per column."""
    import polars as pl

    names = ("name", "kind", "role", "confidence", "reason", "different", "missing")
    rows = [{key: getattr(each, key) for key in names} | {"markers": _markers(each)} for each in findings.columns]
    return pl.DataFrame(rows)


def headline(findings: ColumnsFindings) -> str:
    """Return the answer in one sentence."""
    rows = count(findings.rows, "row", "rows")
    if not findings.unsure:
        return f"It is told, known or clear what {_columns(findings)} ({rows}) holds."
    return (
        f"For {len(findings.unsure)} of {count(len(findings.columns), 'column', 'columns')} ({rows}) nothing tells "
        f"for sure "
        f"what {'it holds' if len(findings.unsure) == 1 else 'they hold'}."
    )


def _columns(findings: ColumnsFindings) -> str:
    number = len(findings.columns)
    return "the only column" if number == 1 else f"each of {number:,} columns"


def explanation(findings: ColumnsFindings) -> tuple[str, ...]:
    """Return which columns are unsure, and how many have cells that stand for no value."""
    marked = sum(bool(each.markers) for each in findings.columns)
    said = []
    if findings.unsure:
        names = together(name(each, _LONGEST) for each in findings.unsure)
        said.append(f"Unsure: {names}. A wrong kind changes every figure that uses the column.")
    if marked:
        said.append(f"{count(marked, 'column has', 'columns have')} cells that stand for no value.")
    return tuple(said)


def next_steps(findings: ColumnsFindings) -> tuple[str, ...]:
    """Return what to do before anything is made of the table."""
    correct = "write what the columns are taken for with --write kinds.toml, correct it, and name it with --dictionary"
    if findings.unsure:
        return (f"Say what they hold: {correct} in every question.",)
    return (f"Look through the kinds once; if one is wrong, {correct}.",)


def page(findings: ColumnsFindings, context: PageContext = PLAIN) -> Page:
    """Return the whole report as data. Markers are shown as they stand in the cells: it is for internal use."""
    first, rest = findings.columns[:_FIRST], findings.columns[_FIRST:]
    others = Section(
        heading="The other columns",
        lead="Of these the kind is told, known or clear, or there are too many unsure ones to show above.",
        blocks=(column_table(rest),),
    )
    why = Section(heading="Why each column was read so", lead="", blocks=(why_table(findings),))
    return Page(
        title="What is in each column",
        question=f"How was {findings.table} read?",
        headline=headline(findings),
        explanation=explanation(findings),
        next_steps=next_steps(findings),
        picture=(column_table(first),),
        tone="warning" if findings.unsure else "good",
        sections=(*([others] if rest else []), why),
        method=_METHOD,
        limitations=_UNTESTED,
        notes=findings.notes,
        seed=context.seed,
        strip=context.strip,
    )


def plot(findings: ColumnsFindings) -> "NDArray[Any]":
    """Return matplotlib axes with the number of columns of each kind."""
    from unveil.report.draw.lines import draw_all

    return draw_all([_chart(findings)])


def _chart(findings: ColumnsFindings) -> Chart:
    import numpy as np

    counts = Counter(each.kind for each in findings.columns)
    values = np.array([counts[kind] for kind in KINDS], np.float64)
    rows = np.arange(len(KINDS), dtype=np.float64)
    return Chart(
        title="Columns of each kind",
        x_label="columns",
        y_label="",
        series=(Series(name="columns", x=values, y=rows, style="first", kind="points", low=values, high=values),),
        x_range=(0.0, float(values.max())),
        y_kind="number",
        rows=tuple(KINDS),
    )


def column_table(columns: Sequence[ColumnReading]) -> TableBlock:
    """Return how columns were read, a row for each."""
    return TableBlock(
        caption="How each column was read",
        columns=("Column", "Kind", "Role", "Confidence", "Values", "Missing", "Markers"),
        rows=tuple(
            (
                name(each.name, _LONGEST),
                each.kind,
                each.role,
                each.confidence,
                f"{each.different:,}",
                f"{each.missing:,}",
                _markers(each),
            )
            for each in columns
        ),
        align=("left", "left", "left", "left", "right", "right", "left"),
    )


def why_table(findings: ColumnsFindings) -> TableBlock:
    """Return why each column was read as it was."""
    return TableBlock(
        caption="Why each column was read so",
        columns=("Column", "Why"),
        rows=tuple((name(each.name, _LONGEST), each.reason) for each in findings.columns),
        align=("left", "left"),
        prose=True,
    )


def _markers(column: ColumnReading) -> str:
    return ", ".join(f"{marker.text} ({marker.kind}, {marker.cells:,})" for marker in column.markers)


VIEW = QuestionView(
    schema="unveil.columns/1",
    findings=ColumnsFindings,
    about="The answer of `unveil columns`: what is in each column of a table, and how sure that is.",
    frame=frame,
    page=page,
    plot=plot,
)
