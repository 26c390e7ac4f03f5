"""Look at the columns of a table: how each was read, and how many cells hold its markers."""

from unveil.ask.columns.findings import ColumnReading, ColumnsFindings, MarkerCount
from unveil.data.table import Column, Table, kind_notes


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
    values, marked = table.frame.get_column(column.name), table.marked.get(column.name)
    return ColumnReading(
        name=column.name,
        kind=column.kind,
        role=column.role,
        confidence=column.confidence,
        reason=column.reason,
        different=values.drop_nulls().n_unique(),
        missing=column.missing,
        markers=tuple(
            MarkerCount(
                text=marker.text,
                kind=marker.kind_of_marker,
                cells=0 if marked is None else int((marked == place).sum()),
            )
            for place, marker in enumerate(column.markers, 1)
        ),
        question=column.question,
    )
