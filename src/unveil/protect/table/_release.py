"""What all protections of tables share: which columns may leave, and a release whose rows are in random order."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from unveil.data.release import Release, ReleaseKind
from unveil.data.table import Table
from unveil.errors import InputError

if TYPE_CHECKING:
    import polars as pl


def released_columns(original: Table) -> list[str]:
    """Return the names of the columns that a release may have: all but those that identify people."""
    names = [column.name for column in original.columns if column.role != "identifier"]
    if not names:
        raise InputError(
            f"a release of the {original.name} must have a column that does not identify people, but all of its "
            f"{len(original.columns)} columns have the role identifier. Give another role to those to be released"
        )
    return names


def release_of(
    original: Table,
    frame: "pl.DataFrame",
    *,
    name: str,
    kind: ReleaseKind,
    rng: np.random.Generator,
    notes: tuple[str, ...] = (),
) -> Release:
    """Return the release of a table whose protected cells are ``frame``, with kinds and roles as in the original.

    The rows of a masked one, of which row i was made from row i of the original, are put in random order, and the
    release knows whose each of them is.
    """
    truth = None
    if kind == "masked":
        truth = rng.permutation(frame.height)
        frame = frame[truth]
    columns = tuple(replace(original.column(series.name), missing=series.null_count()) for series in frame)
    released = Table(f"{name} table", columns, frame)
    return Release(original, released, kind=kind, name=name, notes=notes, truth=truth)
