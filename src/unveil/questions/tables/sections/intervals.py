"""Feasibility intervals: the counts that each suppressed cell can still have."""

from typing import TYPE_CHECKING

import numpy as np

from unveil.questions.result import PageContext
from unveil.questions.tables.findings import TablesFindings
from unveil.report.blocks import Chart, Section, Series, Threshold
from unveil.report.text import count, shorten

if TYPE_CHECKING:
    import polars as pl

#: Cells in the chart, the narrowest intervals first.
MOST_CELLS = 15
_LONGEST = 40


def section(findings: TablesFindings, context: PageContext) -> Section | None:
    """Return the narrowest intervals of cells that are not recovered; None if there is none."""
    import polars as pl

    del context
    open_ones = findings.frame.filter(pl.col("listed") & (pl.col("high") > pl.col("low")))
    if open_ones.is_empty():
        return None
    shown = open_ones.sort(pl.col("high") - pl.col("low"), maintain_order=True).head(MOST_CELLS)
    left, word = open_ones.height - shown.height, findings.treatment
    return Section(
        heading="Feasibility intervals",
        question="How far are the other cells protected?",
        lead=(
            f"{count(open_ones.height, f'{word} cell keeps', f'{word} cells keep')} more than one possible value."
            + (f" The chart shows the {shown.height} narrowest intervals." if left else "")
        ),
        blocks=(_chart(findings, shown),),
    )


def _chart(findings: TablesFindings, shown: "pl.DataFrame") -> Chart:
    low, high = (shown[name].to_numpy().astype(np.float64) for name in ("low", "high"))
    variables = shown.columns[: shown.columns.index("listed")]
    rows = tuple(shorten(", ".join(map(str, row)), _LONGEST) for row in shown.select(variables).iter_rows())
    width = int((high - low).min()) + 1
    return Chart(
        title="Narrowest feasibility intervals",
        x_label="possible counts",
        y_label="",
        series=(
            Series(
                name="interval",
                x=low,
                y=np.arange(len(rows), dtype=np.float64),
                low=low,
                high=high,
                labels=tuple(f"{count(int(least))}–{count(int(most))}" for least, most in zip(low, high, strict=True)),
                style="first",
                kind="points",
            ),
        ),
        thresholds=(Threshold(name=f"minimum {findings.minimum}", value=findings.minimum, across="x"),),
        x_range=(0.0, float(max(high.max(), findings.minimum) * 1.05)),
        x_kind="count",
        y_kind="number",
        rows=rows,
        caption=f"The narrowest interval has {count(width, 'value', 'values')}.",
    )
