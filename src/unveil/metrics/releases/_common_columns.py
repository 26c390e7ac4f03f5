"""Select the columns of a release to compare with the original."""

from collections.abc import Sequence

from unveil.data.table.release import Release
from unveil.errors import InputError


def compared_columns(release: Release, columns: Sequence[str] | None) -> tuple[str, ...]:
    """Return the columns to compare (default: all but identifiers and ignored)."""
    if columns is None:
        every = release.original.columns
        columns = [column.name for column in every if column.role not in ("identifier", "ignored")]
    if isinstance(columns, str) or not columns or len(set(columns)) < len(columns):
        raise InputError(
            "no column to compare: all are identifiers or ignored, or one is named twice. "
            "Name the columns, as in columns=['age']"
        )
    return tuple(release.original.column(name).name for name in columns)
