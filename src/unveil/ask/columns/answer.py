"""What is in each column? Its kind, why, how sure that is, and the cells that stand for no value."""

import os
from collections.abc import Collection, Mapping
from typing import Any

from unveil.ask.answer import Answer
from unveil.ask.columns.findings import ColumnsFindings
from unveil.ask.columns.run import run
from unveil.ask.columns.view import VIEW, brief
from unveil.ask.settings import READING
from unveil.ask.told import Output, Reply, Told
from unveil.data.files.settings import FileSettings
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
    reading: FileSettings | None = None,
) -> Answer[ColumnsFindings]:
    """Return how the columns of a file are read.

    Parameters
    ----------
    path
        A file with a table.
    kinds, missing, markers, dictionary
        As in :meth:`unveil.data.table.Table.read`.
    reading
        How text is to be read, where that is not to be found out: `unveil.data.files.settings.FileSettings`.
    """
    return columns(_read(path, kinds, missing, markers, dictionary, reading or FileSettings()))


def ask(told: Told) -> Reply:
    """Return the answer to what was asked through a door, with the kinds as a file to be corrected."""
    from unveil.data.samples import audit_sample

    reading = FileSettings(**told.named(*READING))
    if told.sample:
        table = audit_sample()[0]
    else:
        table = _read(told.must("file"), None, told.values["missing"], None, told.path("dictionary"), reading)
    answer = columns(table)
    return Reply(
        answer=answer,
        brief=lambda: list(brief(answer.findings)),
        outputs={
            "write": Output(
                write=lambda path, **_: write_kinds(table, path),
                name="kinds.toml",
                said="What the columns are taken for is in {}: correct it, and name it with --dictionary",
            )
        },
    )


def _read(
    path: str | os.PathLike[str],
    kinds: Mapping[str, ToldKind] | None,
    missing: Collection[str] | Mapping[str, Collection[str]],
    markers: ToldMarkers | None,
    dictionary: Dictionary | str | os.PathLike[str] | None,
    reading: FileSettings,
) -> Table:
    return Table.read(path, kinds=kinds, missing=missing, markers=markers, dictionary=dictionary, **vars(reading))
