"""Suppress polars messages about damaged files: they may contain cells."""

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

#: Standard error belongs to the whole process: two threads must not put it away at once.
_STANDARD_ERROR = threading.Lock()


def polars_errors() -> tuple[type[BaseException], ...]:
    """Return the errors that polars raises for a file, including panics."""
    import polars as pl

    return (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)


@contextmanager
def without_panic_text() -> Iterator[None]:
    """Keep polars panic messages away from standard error.

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
