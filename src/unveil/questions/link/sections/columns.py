"""Columns: what each one links alone, and what the rest links without it."""

import numpy as np

from unveil.questions.link.findings import LINKED, LinkFindings
from unveil.questions.link.words import success
from unveil.questions.result import PageContext
from unveil.report.blocks import Chart, Section, Series, TableBlock, Threshold, sides
from unveil.report.text import about, count, name, percent

#: So many columns are drawn.
_MOST_ROWS = 15


def section(findings: LinkFindings, context: PageContext) -> Section | None:
    """Return the columns by what the attack loses without them; None for a single one."""
    del context
    if not findings.columns:
        return None
    ordered = sorted(findings.columns, key=lambda each: (each.all_but, -each.alone))
    best, whole = ordered[0], success(findings)
    what = "people" if findings.column_measure == LINKED else "records"
    lead = (
        f"With all columns {about(whole)} of {what} are linked; without {name(best.column, 40)}, "
        f"{about(best.all_but)}. A column that links little alone can add to the rest."
    )
    shown = ordered[:_MOST_ROWS]
    place = np.arange(len(shown), dtype=np.float64)
    chart = Chart(
        title="Share linked by column",
        x_label=f"share of {what} linked",
        y_label="",
        series=(
            Series(
                name="this column alone",
                x=np.array([each.alone for each in shown]),
                y=place,
                style="first",
                kind="points",
            ),
            Series(
                name="all but this column",
                x=np.array([each.all_but for each in shown]),
                y=place,
                style="second",
                kind="points",
            ),
        ),
        rows=tuple(name(each.column, 30) for each in shown),
        thresholds=(Threshold(name="all columns", value=whole, across="x"),),
        caption=f"Without {name(best.column, 40)}: {about(best.all_but)}; with it alone: {about(best.alone)}.",
        x_kind="share",
    )
    table = TableBlock(
        caption="Share linked by column",
        columns=("Column", "Alone", "All but it"),
        rows=tuple((name(each.column, 40), percent(each.alone), percent(each.all_but)) for each in ordered),
        align=sides("lrr"),
        note=f"{count(len(ordered), 'column', 'columns')}; the attack runs again for each number.",
    )
    return Section(heading="Columns", question="What links people?", lead=lead, blocks=(chart,), data=(table,))
