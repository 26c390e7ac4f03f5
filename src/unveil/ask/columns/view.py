"""How the findings about columns are shown: JSON, limits, table, page and picture."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from unveil.ask.answer import View
from unveil.ask.columns.findings import ColumnReading, ColumnsFindings
from unveil.data.table.forms import KINDS
from unveil.show.blocks import Chart, Number, Page, Section, Series, Table
from unveil.show.limits import Quantity
from unveil.show.terminal import Headline, Part
from unveil.show.text import count, name

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

_LONGEST = 40
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


def meanings() -> Mapping[str, str]:
    """Return what each quantity means that a limit can be set for."""
    return {"unsure_columns": "how many columns in use nothing tells for sure what they hold"}


def quantities(found: ColumnsFindings) -> Mapping[str, Quantity]:
    """Return the figures that a limit can be set for: how many columns in use are unsure."""
    return {
        name: Quantity(name=name, value=len(found.unsure), meaning=meaning, exceeded_when_undefined=True)
        for name, meaning in meanings().items()
    }


def brief(found: ColumnsFindings) -> Iterator[Part]:
    """Yield what a terminal shows: the headline, notes, and how each column was read."""
    yield Headline(headline(found), "warning" if found.unsure else "good")
    yield from (f"Note: {note}" for note in found.notes)
    yield ""
    yield _column_table(found)


def figures(found: ColumnsFindings) -> Mapping[str, Any]:
    """Return what JSON holds."""
    columns = [asdict(each) for each in found.columns]
    for column in columns:
        column["markers"] = [
            {"text": marker["text"], "class": marker["kind"], "cells": marker["cells"]} for marker in column["markers"]
        ]
    return {"table": found.table, "rows": found.rows, "columns": columns, "notes": list(found.notes)}


def frame(found: ColumnsFindings) -> "pl.DataFrame":
    """Return one row per column."""
    import polars as pl

    names = ("name", "kind", "role", "confidence", "reason", "different", "missing")
    rows = [{key: getattr(each, key) for key in names} | {"markers": _markers(each)} for each in found.columns]
    return pl.DataFrame(rows)


def headline(found: ColumnsFindings) -> str:
    """Return the answer in one sentence."""
    columns = count(len(found.columns), "column was read", "columns were read")
    if not found.unsure:
        return f"{columns}, and the kind of each is told, known or clear."
    return f"{columns}, and for {len(found.unsure)} of them nothing tells for sure what they hold."


def page(found: ColumnsFindings, *, seed: int | None = None, version: str | None = None) -> Page:
    """Return the whole report as data. Markers are shown as they stand in the cells: it is for internal use."""
    from unveil._version import __version__

    return Page(
        title="What is in each column",
        question=f"How was {found.table} read?",
        headline=headline(found),
        tone="warning" if found.unsure else "good",
        sections=(_numbers(found), _table(found)),
        method=_METHOD,
        untested=_UNTESTED,
        notes=found.notes,
        seed=seed,
        version=__version__ if version is None else version,
    )


def plot(found: ColumnsFindings) -> "NDArray[Any]":
    """Return matplotlib axes with the number of columns of each kind."""
    from unveil.show.draw.lines import draw_all

    return draw_all([_chart(found)])


def _chart(found: ColumnsFindings) -> Chart:
    import numpy as np

    counts = Counter(each.kind for each in found.columns)
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


def _numbers(found: ColumnsFindings) -> Section:
    marked = sum(bool(each.markers) for each in found.columns)
    return Section(
        heading="At a glance",
        lead="",
        blocks=(
            Number(label="Rows", value=f"{found.rows:,}", meaning="Rows of the table."),
            Number(
                label="Unsure",
                value=str(len(found.unsure)),
                meaning="Columns in use of which nothing tells for sure what they hold.",
                tone="warning" if found.unsure else "good",
            ),
            Number(label="With markers", value=str(marked), meaning="Columns with cells that stand for no value."),
        ),
    )


def _column_table(found: ColumnsFindings) -> Table:
    rows = tuple(
        (name(each.name, _LONGEST), each.kind, each.role, each.confidence, _markers(each), each.reason)
        for each in found.columns
    )
    return Table(
        caption="How each column was read",
        columns=("Column", "Kind", "Role", "Confidence", "Markers", "Why"),
        rows=rows,
        align=("left",) * 6,
        prose=True,
    )


def _table(found: ColumnsFindings) -> Section:
    return Section(
        heading="Columns",
        lead="Those first of which nothing is sure. A wrong kind changes every figure that uses the column.",
        blocks=(_column_table(found),),
    )


def _markers(column: ColumnReading) -> str:
    return ", ".join(f"{marker.text} ({marker.kind}, {marker.cells:,})" for marker in column.markers)


VIEW = View(
    schema="unveil.columns/1",
    figures=figures,
    quantities=quantities,
    frame=frame,
    page=page,
    plot=plot,
    meanings=meanings,
)
