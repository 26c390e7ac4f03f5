"""Read Parquet tables, and say so plainly when one is damaged."""

from typing import TYPE_CHECKING

from unveil.data._source import Source
from unveil.errors import InputError

if TYPE_CHECKING:
    import polars as pl


def parquet_columns(source: Source) -> list[str]:
    """Return the names of the columns."""
    import polars as pl

    try:
        return _scan(source).collect_schema().names()
    except pl.exceptions.DuplicateError as error:
        raise InputError(
            f"the columns of {source.name} must have different names, but more than one have the same. Rename them"
        ) from error
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        raise _damaged(source) from None  # what polars says can hold a cell


def parquet_rows(source: Source, chosen: list[str]) -> "pl.DataFrame":
    """Return the chosen columns with the types they have in the file."""
    import polars as pl

    try:
        return _scan(source).select(chosen).collect()
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        raise _damaged(source) from None  # what polars says can hold a cell


def _scan(source: Source) -> "pl.LazyFrame":
    import polars as pl

    # Folders called `key=value` above the file are no columns of it.
    return pl.scan_parquet(source.for_polars(), glob=False, hive_partitioning=False)


def _damaged(source: Source) -> InputError:
    return InputError(
        f"the Parquet file {source.name} is cut short or damaged, or of a kind that cannot be read. "
        "Copy or write it again"
    )
