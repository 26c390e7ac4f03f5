"""Take the identifiers away and shuffle the rows: the least that anybody does before a release."""

from dataclasses import dataclass

import numpy as np

from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.protections._listing import protection
from unveil.protections.table._recognition import DeclaredFile, RecognisedMechanism
from unveil.protections.table._release import release_of, released_columns


@protection(source="folklore", aka=("pseudonymisation", "de-identification"), keeps=("values",))
@dataclass(frozen=True, kw_only=True)
class Shuffle:
    """Leave out the columns that identify people, and put the rows in random order; all other cells stay as they are.

    This is what many call anonymised. Whoever knows a few of the columns about somebody still finds the row, so it
    is a measure of what a release without protection would give away.

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

    def declared(self, file: DeclaredFile) -> RecognisedMechanism:  # noqa: ARG002
        """Return what it means for a file to have been made so elsewhere: all of its columns stayed."""
        return RecognisedMechanism(())
