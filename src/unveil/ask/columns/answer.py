"""What is in each column? Its kind, why, how sure that is, and the cells that stand for no value."""

import os
from collections.abc import Collection, Mapping
from typing import Any

from unveil.ask.answer import Answer
from unveil.ask.columns.findings import ColumnsFindings
from unveil.ask.columns.run import run
from unveil.ask.columns.view import VIEW
from unveil.data.table import Dictionary, Table, ToldKind, write_kinds
from unveil.data.table.markers import ToldMarkers


def columns(table: Any) -> Answer[ColumnsFindings]:
    """Return how the columns of a table were read: kind, role, reason, confidence and markers.

    Parameters
    ----------
    table
        A :class:`unveil.data.table.Table`, or any eager DataFrame.

    Examples
    --------
    >>> import polars as pl
    >>> columns(pl.DataFrame({"sex": [1, 2, 2], "age": ["31", "N", "40"]}))
    <Answer: 2 columns were read, and the kind of each is told, known or clear.>
    """
    return Answer(run(table if isinstance(table, Table) else Table.from_frame(table)), VIEW)


def columns_file(
    path: str | os.PathLike[str],
    *,
    kinds: Mapping[str, ToldKind] | None = None,
    missing: Collection[str] | Mapping[str, Collection[str]] = (),
    markers: ToldMarkers | None = None,
    dictionary: Dictionary | str | os.PathLike[str] | None = None,
    write: str | os.PathLike[str] | None = None,
) -> Answer[ColumnsFindings]:
    """Return how the columns of a file are read.

    Parameters
    ----------
    path
        A CSV or Parquet file.
    kinds, missing, markers, dictionary
        As in :meth:`unveil.data.table.Table.read`.
    write
        Where to write the kinds as TOML, to be edited and passed as a dictionary; None writes nothing.
    """
    table = Table.read(path, kinds=kinds, missing=missing, markers=markers, dictionary=dictionary)
    if write is not None:
        write_kinds(table, write)
    return columns(table)
