"""Column types of a table, with reasons, confidence, and missing values."""

from typing import Any

from unveil.data.table import Column, Table, kind_notes, write_kinds
from unveil.questions.columns.findings import ColumnReading, ColumnsFindings
from unveil.questions.columns.settings import ColumnsSettings
from unveil.questions.columns.view import VIEW
from unveil.questions.reading import reading_of
from unveil.questions.request import OutputFile, Request, Response
from unveil.questions.result import Result
from unveil.questions.settings import takes_settings


@takes_settings(ColumnsSettings)
def columns(table: Any, settings: ColumnsSettings | None = None, **changes: Any) -> Result[ColumnsFindings]:
    """Return the type of each column, with role, reason, and confidence.

    Parameters
    ----------
    table
        A :class:`unveil.data.table.Table`, any eager DataFrame, or the path of a file.
    settings
        All settings as one object; keywords replace single ones.

    Examples
    --------
    >>> import polars as pl
    >>> columns(pl.DataFrame({"sex": [1, 2, 2], "age": ["31", "N", "40"]}))
    <Result: All 2 columns were recognized, 2 of them as likely.>
    """
    reading = reading_of(ColumnsSettings.merge(settings, changes))
    read = reading.table(table)
    reading.check([read])
    return Result(_run(read), VIEW)


def ask(request: Request) -> Response:
    """Answer a request, with the column types as an editable file."""
    from unveil.data.samples import audit_sample

    settings = ColumnsSettings.of_request(request)
    path = settings.file
    table = audit_sample()[0] if path is None else reading_of(settings).table(path, request.names.get(path, path.name))
    answer = columns(table, settings)
    return Response(
        answer=answer,
        outputs={
            "write_dictionary": OutputFile(
                write=lambda path, **_: write_kinds(table, path),
                name="kinds.toml",
                said="The column types are in {}: correct the file, and pass it with --dictionary",
            )
        },
    )


# Look at the columns of a table: how each was read, and how many cells hold its markers.


def _run(table: Table) -> ColumnsFindings:
    """Return how the columns of the table were read."""
    read = [_reading(table, column) for column in table.columns]
    return ColumnsFindings(
        table=table.name,
        rows=table.rows,
        columns=tuple(sorted(read, key=lambda each: each.confidence != "uncertain")),
        notes=(*table.notes, *kind_notes(table)),
    )


def _reading(table: Table, column: Column) -> ColumnReading:
    return ColumnReading(
        name=column.name,
        kind=column.kind,
        role=column.role,
        confidence=column.confidence,
        reason=column.reason,
        different=table.series(column.name).drop_nulls().n_unique(),
        missing=column.missing,
        markers=table.marker_counts(column.name),
        question=column.question,
    )
