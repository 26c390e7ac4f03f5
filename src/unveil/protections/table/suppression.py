"""Suppression: some values are not released."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from unveil._kernels.types import FloatArray, IntArray
from unveil.data.table import Table
from unveil.data.table.cells import texts_of
from unveil.data.table.release import Release
from unveil.errors import InputError
from unveil.guesses.partition import exact_fraction
from unveil.protections._listing import protection
from unveil.protections.table._levels import ValueLevels, levels
from unveil.protections.table._mechanism import MechanismPart, SingleColumn
from unveil.protections.table._recognition import DeclaredFile, RecognizedMechanism
from unveil.protections.table._release import (
    check_columns,
    check_group_size,
    masked_columns,
    masked_release,
    released_columns,
)

if TYPE_CHECKING:
    import polars as pl


_SHARE = 0.1
_STAR = "*"


@protection(
    source='Sweeney, "Achieving k-anonymity privacy protection using generalization and suppression", 2002',
    aka=("local-suppression", "cell-suppression"),
)
@dataclass(frozen=True, kw_only=True)
class Suppression:
    """Suppress values at random or rare values; then shuffle the rows.

    By lot, each value is dropped with the probability ``share``, independently of all others. With ``k``, exactly the
    values that fewer than k rows of the column have are dropped. What is dropped is a missing value in the
    release, like one that was missing before; the others stay as they are.

    The true probability of an original row is the product over columns: a value that is there must be equal; a missing
    one tells nothing, except that it was dropped or has been missing before, and with ``k`` that it was rare.

    Parameters
    ----------
    columns
        The columns to mask, of any kind; None masks all.
    share
        The probability with which a value is dropped, above 0 and at most 1.
    k
        Drop the values that fewer than k rows have, instead of drawing lots; None draws lots.
    shuffle
        Whether the rows are put in random order. Without it, row numbers re-identify everyone.
    cells
        Whether ``*`` stands for a value that was dropped, so that it is told from one that was missing before.

    Examples
    --------
    >>> import polars as pl
    >>> people = Table.from_frame(pl.DataFrame({"town": ["Ulm", "Ulm", "Bonn"]}))
    >>> Suppression(k=2).apply(people, rng=np.random.default_rng(1)).released.frame["town"].null_count()
    1
    """

    columns: tuple[str, ...] | None = None
    share: float = _SHARE
    k: int | None = None
    shuffle: bool = True
    cells: bool = False

    def __post_init__(self) -> None:
        check_columns(self.columns)
        if not 0 < exact_fraction(self.share, what="share") <= 1:
            raise InputError(f"share is {self.share}; it must be above 0 and at most 1. Write 10 % as 0.1")
        if self.k is not None:
            check_group_size(self.k)
            if self.share != _SHARE:
                raise InputError("share and k cannot be combined: give share for random values, or k for rare ones")

    def apply(self, original: Table, *, rng: np.random.Generator) -> Release:
        """Return the table without the dropped values, in random order."""
        import polars as pl

        names = masked_columns(original, self.columns, self)
        frame = original.frame[released_columns(original)]
        parts: list[MechanismPart] = []
        for name in names:
            found = levels(original, name)
            dropped = self._dropped(found)
            drop = rng.random(original.rows) < np.append(dropped, 0.0)[found.level]
            values = original.series(name).alias("values")
            chances = DroppedColumn(dropped)
            if self.cells:
                frame = frame.with_columns(texts_of(values).set(pl.Series(drop), _STAR).alias(name))
                parts.append(StarredColumn(name, values[found.row], chances))
            else:
                frame = frame.with_columns(values.set(pl.Series(drop), None).alias(name))
                parts.append(SingleColumn(name, values[found.row], chances))
        return masked_release(original, frame, names, parts, name="suppressed", shuffle=self.shuffle, rng=rng)

    def declared(self, file: DeclaredFile) -> RecognizedMechanism:
        """Return the mechanism recognized in a file masked elsewhere."""
        original, parts = file.original, []
        for name in masked_columns(original, self.columns, self):
            found = levels(original, name)
            values = original.series(name).alias("values")
            part = StarredColumn if self.cells else SingleColumn
            parts.append(part(name, values[found.row], DroppedColumn(self._dropped(found))))
        return RecognizedMechanism(tuple(parts))

    def _dropped(self, levels: ValueLevels) -> FloatArray:
        """Return the chance of each value to be dropped."""
        if self.k is None:
            return np.full(levels.row.size, float(self.share))
        return (levels.counts < self.k).astype(np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class StarredColumn(SingleColumn):
    """A column with ``*`` for suppressed values, and missing ones apart."""

    def log_chance(self, original: Table, released: Table, line: IntArray, candidate: IntArray) -> FloatArray:
        """Return log-probabilities; stars come from values, missing from missing."""
        shown = released.held(self.name).texts()
        star = (shown == _STAR).fill_null(False).to_numpy()
        dropped = super().log_chance(original, _with(released, self.name, shown, self.values), line, candidate)
        gone = original.series(self.name).is_null().to_numpy()
        was_there = star[line] & gone[candidate]
        never = shown.is_null().to_numpy()[line] & ~gone[candidate]
        return np.where(was_there | never, -np.inf, dropped)


def _with(released: Table, name: str, shown: "pl.Series", values: "pl.Series") -> Table:
    """Return the column with its values, suppressed ones missing."""
    import polars as pl

    known = pl.DataFrame({"text": texts_of(values), "value": values})
    found = shown.alias("text").to_frame().join(known, on="text", how="left", maintain_order="left")["value"]
    return replace(released, content=released.content.with_columns([found.alias(name)]))


@dataclass(frozen=True, eq=False, repr=False)
class DroppedColumn:
    """The probability that each value of a column is suppressed."""

    chance: FloatArray

    def __call__(self, new: IntArray) -> FloatArray:
        """Return transition probabilities of new values; the last is missing."""
        size = self.chance.size
        lines = np.zeros((new.size, size + 1))
        there = np.flatnonzero(new < size)
        lines[there, new[there]] = 1 - self.chance[new[there]]
        lines[new == size] = np.append(self.chance, 1.0)
        return lines
