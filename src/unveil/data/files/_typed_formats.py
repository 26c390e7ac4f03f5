"""Read typed tables (Parquet, Feather, NDJSON) and report damaged files."""

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from unveil.data.files._panics import polars_errors, without_panic_text
from unveil.data.files.source import Source, changed_while_read
from unveil.errors import InputError

if TYPE_CHECKING:
    import polars as pl

#: How polars begins what it says of a time zone that is not in its database.
_NO_ZONE = "unable to parse time zone"
#: Makes polars read such a column.
_ANY_ZONE = "POLARS_IGNORE_TIMEZONE_PARSE_ERROR"

Answer = TypeVar("Answer")


def typed_columns(source: Source) -> list[str]:
    """Return the names of the columns."""
    import polars as pl

    try:
        return _in_any_zone(lambda: _scan(source).collect_schema().names())
    except pl.exceptions.DuplicateError as error:
        raise InputError(
            f"the columns of {source.name} must have different names, but more than one have the same. Rename them"
        ) from error
    except polars_errors():
        raise _damaged(source) from None  # what polars says can hold a cell


def typed_cells(source: Source) -> int:
    """Return the number of cells in a Parquet or Feather header."""
    import polars as pl

    names = typed_columns(source)
    try:
        return int(_in_any_zone(_scan(source).select(pl.len()).collect).item()) * len(names)
    except polars_errors():
        raise _damaged(source) from None  # what polars says can hold a cell


def typed_rows(source: Source, chosen: Sequence[str]) -> "pl.DataFrame":
    """Return the chosen columns with the types they have in the file."""
    try:
        return _unknown_zones_in_utc(_in_any_zone(_scan(source).select(chosen).collect))
    except polars_errors():
        raise _damaged(source) from None  # what polars says can hold a cell


def typed_column(source: Source, name: str, height: int) -> "pl.Series":
    """Return one column of a file with the expected number of rows."""
    column = typed_rows(source, [name]).to_series()
    if column.len() != height:
        raise changed_while_read(source.path)
    return column


def _in_any_zone(ask: Callable[[], Answer]) -> Answer:
    """Return the polars result even for unknown time zones.

    A file holds moments in UTC; the zone only says how to show them.
    """
    try:
        with without_panic_text():
            return ask()
    except polars_errors() as error:
        if _NO_ZONE not in str(error):
            raise
    before = os.environ.get(_ANY_ZONE)
    with without_panic_text():
        try:
            os.environ[_ANY_ZONE] = "1"
            return ask()
        finally:
            del os.environ[_ANY_ZONE]
            if before is not None:
                os.environ[_ANY_ZONE] = before


def _unknown_zones_in_utc(frame: "pl.DataFrame") -> "pl.DataFrame":
    """Return the rows with UTC in place of time zones that polars lacks."""
    import polars as pl

    found = []
    for column in frame:
        zone = getattr(column.dtype, "time_zone", None)
        try:  # polars knows a time zone if it can make a column of it
            pl.Series([], dtype=pl.Datetime("us", zone))
        except polars_errors():
            column = column.to_physical().cast(pl.Datetime(column.dtype.time_unit, "UTC"))  # type: ignore[attr-defined]
        found.append(column)
    return frame.with_columns(found)


def _scan(source: Source) -> "pl.LazyFrame":
    import polars as pl

    if source.kind == "ndjson":
        # A type that holds for the first rows need not hold for all.
        return pl.scan_ndjson(source.for_polars(), infer_schema_length=None)
    if source.kind == "feather":
        return pl.scan_ipc(source.for_polars(), glob=False, hive_partitioning=False)
    # Folders called `key=value` above the file are no columns of it.
    return pl.scan_parquet(source.for_polars(), glob=False, hive_partitioning=False)


def _damaged(source: Source) -> InputError:
    name = {"parquet": "Parquet", "feather": "Feather", "ndjson": "NDJSON"}[source.kind]
    return InputError(
        f"the {name} file {source.name} is cut short or damaged, or of a kind that cannot be read. "
        "Copy or write it again"
    )
