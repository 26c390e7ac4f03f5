"""Shuffle: remove direct identifiers and reorder rows; the minimum protection."""

from dataclasses import dataclass

import numpy as np

from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.protections._listing import protection
from unveil.protections.table._recognition import DeclaredFile, RecognizedMechanism
from unveil.protections.table._release import release_of, released_columns


@protection(source="folklore", aka=("pseudonymisation", "de-identification"), keeps=("values",))
@dataclass(frozen=True, kw_only=True)
class Shuffle:
    """Remove direct identifiers and shuffle the rows; keep other cells.

    This is what many call anonymised. An attacker who knows a few of the columns about a person still finds the row, so
    it is a measure of what a release without protection would give away.

    Examples
    --------
    >>> import polars as pl
    >>> people = Table.from_frame(pl.DataFrame({"age": [30, 31, 32]}))
    >>> Shuffle().apply(people, rng=np.random.default_rng(1)).released.rows
    3
    """

    def apply(self, original: Table, *, rng: np.random.Generator) -> Release:
        """Return the shuffled table."""
        frame = original.frame[released_columns(original)]
        return release_of(original, frame, name="shuffled", kind="masked", rng=rng)

    def declared(self, file: DeclaredFile) -> RecognizedMechanism:  # noqa: ARG002
        """Return the mechanism recognized in a file masked elsewhere."""
        return RecognizedMechanism(())
