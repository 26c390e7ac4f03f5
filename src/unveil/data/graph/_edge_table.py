"""Make a graph of a table of edges: CSV with a header, or the columns of a DataFrame."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from unveil.data.files._delimited_text import csv_columns, csv_rows
from unveil.data.files._spreadsheet import as_meant
from unveil.data.files.source import Source
from unveil.data.graph._edge_header import find_ends, ignored, lost_weights, surely_header, unknown_ends
from unveil.data.graph._edge_layout import Layout
from unveil.data.graph._edge_lines import whole
from unveil.data.graph._edge_names import NamedEdges, graph_of
from unveil.data.graph._edge_stream import EdgeFile
from unveil.data.graph.graph import DroppedInformation, Graph
from unveil.errors import InputError

if TYPE_CHECKING:
    import polars as pl

_BELOW_HEADER = " (counted from 1 below the header) "
_CHUNK = 1 << 22


def graph_of_csv(file: EdgeFile, layout: Layout, name: str) -> Graph:
    """Return the graph of a CSV file with a header, of which other columns are ignored."""
    content = b"".join(file.chunks(_CHUNK, skip=layout.skip))
    source = Source(file.path, "csv", content)
    names = csv_columns(source)
    where = find_ends(names)
    if where is None:
        raise unknown_ends(names, f"the file {file.name}")
    # By place, because other columns may share a name.
    frame = csv_rows(source, len(names), where)
    if frame.height == 0:
        raise InputError(f"the file {file.name} must hold rows, but has a header only. Check that it is complete")
    ends = [as_meant(column) for column in frame]
    sure = surely_header([names[place] for place in where], ends, f"line {layout.before + 1} of {file.name}")
    said = () if sure else ("the first line was read as a header",)
    notes = (*said, *ignored(names, where, shown=sure))
    lost = lost_weights(names, where)
    return graph_of_ends(ends, (file.name, "row", _BELOW_HEADER), name, layout.directed, notes, lost)


def graph_of_columns(columns: Sequence["pl.Series"], what: str, where: tuple[str, str, str], *, name: str) -> Graph:
    """Return the graph of the two columns that are called like the ends of edges; the notes say what was ignored."""
    names = [column.name for column in columns]
    found = find_ends(names)
    if found is None:
        raise unknown_ends(names, what)
    ends = [columns[place] for place in found]
    return graph_of_ends(ends, where, name, None, ignored(names, found), lost_weights(names, found))


def graph_of_ends(
    ends: Sequence["pl.Series"],
    where: tuple[str, str, str],
    name: str,
    directed: bool | None,
    notes: tuple[str, ...] = (),
    lost: tuple[DroppedInformation, ...] = (),
) -> Graph:
    """Return the graph of two columns, the sources and the targets."""
    source, target = (_as_names(column, where) for column in ends)
    rows = np.arange(1, source.len() + 1)
    return graph_of(NamedEdges(source, target, rows, where, directed), name=name, notes=notes, lost=lost)


def _as_names(column: "pl.Series", where: tuple[str, str, str]) -> "pl.Series":
    """Return a column as names: whole numbers as such (also those that only missing cells made decimal), else text."""
    import polars as pl

    if not column.dtype.is_float():
        return whole(column.cast(pl.String))
    column = column.fill_nan(None)
    rounded = column.cast(pl.Int64, strict=False)
    wrong = (column.is_not_null() & (rounded.is_null() | (rounded.cast(column.dtype) != column))).arg_true()
    if wrong.len():
        file, what, how = where
        raise InputError(
            f"nodes of {file} must be called by names or whole numbers, but {what} {wrong[0] + 1}{how}has a number "
            "with decimals. Check that these are the ends of edges, and write them as text"
        )
    return rounded
