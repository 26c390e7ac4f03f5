"""PRAM (post-randomization): categories kept or redrawn with known probabilities."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unveil._kernels.types import FloatArray, IntArray
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.errors import InputError
from unveil.guesses.partition import exact_fraction
from unveil.protections._listing import protection
from unveil.protections.table._levels import ValueLevels, levels
from unveil.protections.table._mechanism import MechanismPart, SingleColumn
from unveil.protections.table._recognition import DeclaredFile, RecognizedMechanism
from unveil.protections.table._release import (
    check_columns,
    masked_columns,
    masked_release,
    named_columns,
    released_columns,
)

if TYPE_CHECKING:
    import polars as pl


@protection(
    source='Gouweleeuw, Kooiman, Willenborg and de Wolf, "Post randomisation for statistical disclosure control", 1998',
    aka=("post-randomisation", "randomised-response"),
    suits=("category", "ordered", "boolean"),
)
@dataclass(frozen=True, kw_only=True)
class Pram:
    """Keep each category with one probability, else redraw; then shuffle.

    Invariant PRAM (the default) redraws from the column's own distribution, the value itself included: how often each
    value occurs is then kept on average, whatever ``keep`` is. Otherwise a value changes to each of the others with
    the same probability, and rare values become more frequent. Columns and rows are redrawn independently.

    For columns of the kinds category, ordered and boolean; a number or date that is named is taken as a
    category, so that any of its values can become any other. A missing value stays missing, and a column
    with one value only stays as it is; so do the other columns, with a note.

    The true probability of an original row is proportional to the product over columns of the probability with which
    its value becomes the released one.

    Parameters
    ----------
    columns
        The columns to mask; None masks all of the kinds category, ordered and boolean.
    keep
        The probability with which a value is kept, from 0 to below 1. With ``invariant`` a redrawn value may still be
        the old one.
    invariant
        Whether values are redrawn from their own distribution.
    shuffle
        Whether the rows are put in random order. Without it, row numbers re-identify everyone.

    Examples
    --------
    >>> import polars as pl
    >>> people = Table.from_frame(pl.DataFrame({"town": ["Ulm"] * 900 + ["Bonn"] * 100}))
    >>> for invariant in (True, False):
    ...     mask = Pram(keep=0.8, invariant=invariant)
    ...     print((mask.apply(people, rng=np.random.default_rng(1)).released.frame["town"] == "Bonn").mean())
    0.097
    0.27
    """

    columns: tuple[str, ...] | None = None
    keep: float = 0.8
    invariant: bool = True
    shuffle: bool = True

    def __post_init__(self) -> None:
        check_columns(self.columns)
        if isinstance(self.keep, bool) or not 0 <= exact_fraction(self.keep, what="keep") < 1:
            raise InputError(f"keep is {self.keep!r}; it must be a probability from 0 to below 1. Change it")

    def apply(self, original: Table, *, rng: np.random.Generator) -> Release:
        """Return the table with redrawn values, in random order."""
        # Any column that is named can be redrawn; by default, numbers and dates stay, of which few would be alike.
        names = self._names(original)
        frame = original.frame[released_columns(original)]
        notes: tuple[str, ...] = ()
        parts: list[MechanismPart] = []
        for name in names:
            found = levels(original, name)
            values = original.series(name)
            part, chances = self._part(original, name, found)
            parts.append(part)
            if found.row.size < 2:
                notes += (f"column {name!r} has only one value and was not changed",)
            else:
                frame = frame.with_columns(_drawn(values, found, chances, rng))
        return masked_release(original, frame, names, parts, name="pram", shuffle=self.shuffle, rng=rng, notes=notes)

    def declared(self, file: DeclaredFile) -> RecognizedMechanism:
        """Return the mechanism recognized in a file masked elsewhere."""
        original = file.original
        return RecognizedMechanism(
            tuple(self._part(original, name, levels(original, name))[0] for name in self._names(original))
        )

    def _names(self, original: Table) -> list[str]:
        return named_columns(original, self.columns) if self.columns else masked_columns(original, None, self)

    def _part(self, original: Table, name: str, levels: ValueLevels) -> "tuple[SingleColumn, PramMechanism]":
        chances = PramMechanism(levels.counts, float(self.keep), self.invariant)
        # Renamed for a moment, because polars would read a name such as "^a.*$" as a pattern of names.
        return SingleColumn(name, original.series(name).alias("values")[levels.row], chances), chances


@dataclass(frozen=True, eq=False, repr=False)
class PramMechanism:
    """Transition probabilities of a column, returned per released value."""

    counts: IntArray
    keep: float
    invariant: bool

    @property
    def matrix(self) -> FloatArray:
        """Probabilities of new values (columns) given old ones (lines)."""
        everything = np.arange(self.counts.size)
        return self(everything).T[:-1]

    def __call__(self, new: IntArray) -> FloatArray:
        """Return transition probabilities of new values; the last is missing."""
        size = self.counts.size
        lines = np.zeros((new.size, size + 1))
        there = new < size
        if size < 2:
            lines[there, :size] = 1.0
        elif self.invariant:
            lines[there, :size] = (1 - self.keep) * (self.counts[new[there]] / self.counts.sum())[:, None]
        else:
            lines[there, :size] = (1 - self.keep) / (size - 1)
        if size > 1:
            at = np.flatnonzero(there)
            lines[at, new[at]] = lines[at, new[at]] + self.keep if self.invariant else self.keep
        lines[~there, size] = 1.0
        return lines


def _drawn(values: "pl.Series", levels: ValueLevels, chances: PramMechanism, rng: np.random.Generator) -> "pl.Series":
    import polars as pl

    rows, size = levels.level.size, levels.row.size
    if chances.invariant:
        other = rng.choice(size, rows, p=levels.counts / levels.counts.sum())
    else:
        # One of the others, each as likely.
        other = (levels.level + rng.integers(1, size, rows)) % size
    level = np.where(rng.random(rows) < chances.keep, levels.level, other)
    row = pl.Series(np.where(levels.missing, -1, levels.row[level]))
    return values.alias("values").gather(row.set(row < 0, None)).alias(values.name)
