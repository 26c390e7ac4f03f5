"""Additive noise: every number moves by a normal amount, on its own."""

from dataclasses import dataclass

import numpy as np

from unveil._kernels.types import FloatArray, IntArray
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.errors import InputError
from unveil.protections._listing import protection
from unveil.protections.table._numbers import Numbers, numbers_of, spreads
from unveil.protections.table._recognition import DeclaredFile, RecognizedMechanism, repeated
from unveil.protections.table._release import (
    check_columns,
    masked_columns,
    masked_release,
    released_columns,
)


@protection(
    source='Brand, "Microdata protection through noise addition", 2002',
    aka=("noise-addition", "uncorrelated-noise"),
    suits=("number",),
    new_values=True,
)
@dataclass(frozen=True, kw_only=True)
class AdditiveNoise:
    """Add normal noise to every number; then shuffle the rows.

    The noise of a column has the mean 0 and a standard deviation of ``scale`` times that of the column; all noise is
    independent. Means are kept on average, variances grow by the factor 1 + scale**2, and correlations shrink. Whole
    numbers become real ones. A column whose values are all equal, and a missing value, stay as they are; so do columns
    of other kinds, with a note.

    The true probability of an original row is proportional to the product over columns of the normal density
    of the difference, and is 0 for those who differ in a column that was left as it is.

    Parameters
    ----------
    columns
        The columns to mask, all of the kind number; None masks all that are.
    scale
        The standard deviation of the noise as a multiple of the column's, above 0.
    shuffle
        Whether the rows are put in random order. Without it, row numbers re-identify everyone.

    Examples
    --------
    >>> import polars as pl
    >>> people = Table.from_frame(pl.DataFrame({"income": range(0, 60000, 10)}))
    >>> release = AdditiveNoise(scale=0.1).apply(people, rng=np.random.default_rng(1))
    >>> before, after = people.frame["income"].to_numpy()[release.truth], release.released.frame["income"].to_numpy()
    >>> round(float((after - before).std() / before.std()), 2)
    0.1
    """

    columns: tuple[str, ...] | None = None
    scale: float = 0.1
    shuffle: bool = True

    def __post_init__(self) -> None:
        check_columns(self.columns)
        check_scale(self.scale)

    def apply(self, original: Table, *, rng: np.random.Generator) -> Release:
        """Return the table with noise on its numbers, in random order."""
        names = masked_columns(original, self.columns, self)
        noise = self._noise(original, names)
        noisy = noise.numbers.values + noise.spread * rng.standard_normal(noise.numbers.values.shape)
        frame = noise.numbers.put_into(original.frame[released_columns(original)], noisy)
        return masked_release(original, frame, names, [noise], name="noise-added", shuffle=self.shuffle, rng=rng)

    def declared(self, file: DeclaredFile) -> RecognizedMechanism:
        """Return the mechanism recognized in a file masked elsewhere."""
        noise = self._noise(file.original, masked_columns(file.original, self.columns, self))
        return RecognizedMechanism((noise,), repeated(file, noise.names))

    def _noise(self, original: Table, names: list[str]) -> "NormalNoise":
        numbers = numbers_of(original, names)
        spread = spreads(numbers.values)
        moving = [name for name, size in zip(names, spread, strict=True) if size > 0]
        return NormalNoise(numbers.chosen(moving), self.scale * spread[spread > 0])


def check_scale(scale: object) -> None:
    """Refuse a setting that is no size of noise."""
    if isinstance(scale, bool) or not isinstance(scale, (int, float)) or not 0 < scale < float("inf"):
        raise InputError(f"scale is {scale!r}; it must be a number above 0. For a tenth of the spread, write 0.1")


@dataclass(frozen=True, eq=False, repr=False)
class NormalNoise:
    """Independent normal noise with one standard deviation per column."""

    numbers: Numbers
    spread: FloatArray

    @property
    def names(self) -> tuple[str, ...]:
        """The columns with noise."""
        return self.numbers.names

    def log_chance(self, original: Table, released: Table, line: IntArray, candidate: IntArray) -> FloatArray:
        """Return log densities, up to a constant per released row.

        A missing value only comes from a missing value.
        """
        names = original.column_names
        numbers = self.numbers.chosen(names)
        before, after = numbers.scaled_like(original), numbers.scaled_like(released)
        total = np.zeros(np.broadcast(line, candidate).shape)
        for place, name in enumerate(names):
            x, y = before[candidate, place], after[line, place]
            apart = (y - x) / self.spread[self.names.index(name)]
            gone = np.isnan(y), np.isnan(x)
            total += np.where(gone[0] | gone[1], np.where(gone[0] & gone[1], 0.0, -np.inf), -(apart**2) / 2)
        return total
