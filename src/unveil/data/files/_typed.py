"""Read tables that keep the types of their columns (Parquet, Feather, NDJSON), and say plainly when one is damaged."""

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from unveil.data.files.source import Source, changed_while_read
from unveil.data.files.stored import ColumnStore
from unveil.errors import InputError

if TYPE_CHECKING:
    import polars as pl

#: Standard error belongs to the whole process: two threads must not put it away at once.
_STANDARD_ERROR = threading.Lock()


def typed_columns(source: Source) -> list[str]:
    """Return the names of the columns."""
    import polars as pl

    try:
        with _without_panic_text():
            return _scan(source).collect_schema().names()
    except pl.exceptions.DuplicateError as error:
        raise InputError(
            f"the columns of {source.name} must have different names, but more than one have the same. Rename them"
        ) from error
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        raise _damaged(source) from None  # what polars says can hold a cell


def typed_rows(source: Source, chosen: Sequence[str], store: ColumnStore | None = None) -> "pl.DataFrame":
    """Return the chosen columns with the types they have in the file; with a store, each is read by itself."""
    import polars as pl

    # Of records all columns are read anyhow, whichever are asked for.
    apart = [[name] for name in chosen] if store is not None and source.kind != "ndjson" else [list(chosen)]
    frames: list[pl.DataFrame] = []
    for names in apart:
        try:
            with _without_panic_text():
                frame = _scan(source).select(names).collect()
        except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
            raise _damaged(source) from None  # what polars says can hold a cell
        if frames and frame.height != frames[0].height:
            raise changed_while_read(source.path)
        frames.append(frame if store is None else store.frame(frame))
    return pl.concat(frames, how="horizontal")


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


@contextmanager
def _without_panic_text() -> Iterator[None]:
    """Keep what polars prints about a damaged file, before it raises the error, from standard error.

    It prints from Rust, past ``sys.stderr``, and what it prints can hold a cell.
    """
    with _STANDARD_ERROR:
        try:
            kept = os.dup(2)
        except OSError:  # closed before we began
            yield
            return
        try:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, 2)
            os.close(nowhere)
            yield
        finally:
            os.dup2(kept, 2)
            os.close(kept)
