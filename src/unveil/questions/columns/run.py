"""Look at the columns of a table: how each was read, and how many cells hold its markers."""

from unveil.data.table import Column, Table, kind_notes
from unveil.questions.columns.findings import ColumnReading, ColumnsFindings


def run(table: Table) -> ColumnsFindings:
    """Return how the columns of the table were read."""
    read = [_reading(table, column) for column in table.columns]
    return ColumnsFindings(
        table=table.name,
        rows=table.rows,
        columns=tuple(sorted(read, key=lambda each: each.confidence != "unsure")),
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
