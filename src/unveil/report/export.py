"""Export a page's tables as CSV and its charts as image files."""

import csv
import re
from collections.abc import Mapping
from io import BytesIO, StringIO

from unveil.report.blocks import Block, CellGrid, Page, RiskSummary, TableBlock, grid_table, risk_table
from unveil.report.blocks_spread import BoxRows, HeatMap, Waterfalls
from unveil.report.figure_tables import boxes_table, heat_table, waterfall_table
from unveil.report.text import one_line

#: What a chart is written as: for a page or a slide, for paper, for anything else.
FORMATS = ("svg", "pdf", "png")
#: Dots per inch of pictures that are made of dots, and the longest name of a file without its number and ending.
_DOTS, _LONGEST = 200, 60


def tables_of(page: Page) -> Mapping[str, bytes]:
    r"""Return each table of a page as CSV, by name.

    Rows of boxes and heat maps are among them, as the figures behind them. A cell that a spreadsheet would run as a
    formula has an apostrophe before it. What the sheet to sign holds stands in full in the tables of the page.

    >>> from unveil.report.blocks import Section
    >>> table = TableBlock(caption="Who is at risk?", columns=("name",), rows=(("=1+1",), ("Ada",)), align=("left",))
    >>> section = Section(heading="H", lead="", blocks=(table,))
    >>> tables_of(Page(title="T", question="Q", headline="H", tone="bad", sections=(section,)))
    {'01-who-is-at-risk.csv': b"name\r\n'=1+1\r\nAda\r\n"}
    """
    tables = [table for block in page.blocks if (table := _table(block)) is not None]
    return {_name(at, table.caption, "csv"): csv_of(table) for at, table in enumerate(tables, start=1)}


def figures_of(page: Page) -> Mapping[str, bytes]:
    """Return each chart as reproducible SVG, PDF, and PNG bytes, by name."""
    from unveil.report.draw import pyplot
    from unveil.report.draw.lines import chart_of, draw

    files = {}
    charts = [chart for block in page.blocks if (chart := chart_of(block)) is not None]
    for at, chart in enumerate(charts, start=1):
        # Names inside an SVG are drawn by lot unless something is there to make them from.
        with pyplot.rc_context({"svg.hashsalt": "unveil"}):
            figure = draw(chart).figure
            for ending in FORMATS:
                stream = BytesIO()
                dated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(ending)
                figure.savefig(stream, format=ending, dpi=_DOTS, bbox_inches="tight", metadata=dated)  # type: ignore[union-attr]
                files[_name(at, chart.title, ending)] = stream.getvalue()
            pyplot.close(figure)  # type: ignore[arg-type]
    return files


def _table(block: Block) -> TableBlock | None:
    match block:
        case TableBlock():
            return block
        case BoxRows():
            return boxes_table(block)
        case HeatMap():
            return heat_table(block, every=True)
        case CellGrid():
            return grid_table(block)
        case Waterfalls():
            return waterfall_table(block)
        case RiskSummary():
            return risk_table(block)
    return None


def _name(number: int, title: str, ending: str) -> str:
    """Return a file name: position, then the title in portable letters."""
    words = re.sub(r"[^a-z0-9]+", "-", title.lower())[:_LONGEST].strip("-")
    return f"{number:02d}-{words or 'untitled'}.{ending}"


def csv_of(table: TableBlock) -> bytes:
    """Return one table as CSV bytes, with formulas escaped."""
    import polars as pl

    from unveil.data.files._spreadsheet import shown_as_text

    width = len(table.columns)
    texts = [one_line(cell) for row in (table.columns, *table.rows) for cell in row]
    safe = shown_as_text(pl.Series("table", texts, pl.String), "texts").to_list()
    stream = StringIO(newline="")
    csv.writer(stream).writerows(safe[at : at + width] for at in range(0, len(safe), width))
    return stream.getvalue().encode("utf-8", "backslashreplace")
