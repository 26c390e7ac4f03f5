"""Correlated noise: normal noise with the correlations of the columns."""

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
from unveil.protections.table.additive_noise import check_scale

# Directions in which the columns vary less than this, as a share of where they vary most, count as not varying.
_FLAT = 1e-12
# How far a released row may be off such a direction by rounding, in standard deviations of the columns.
_ROUNDING = 1e-7


@protection(
    source='Kim, "A method for limiting disclosure in microdata based on random noise and transformation", 1986',
    aka=("kim-noise",),
    suits=("number",),
    new_values=True,
    gaps="few",
)
@dataclass(frozen=True, kw_only=True)
class CorrelatedNoise:
    """Add noise with the columns' correlations; then shuffle the rows.

    The noise is normal with the mean 0 and the covariance of the columns times ``scale**2``, so correlations are
    kept on average. With ``rescale`` the noisy values are drawn towards the means by the factor
    1/sqrt(1 + scale**2), which keeps variances on average too. Where columns depend on one another exactly, such as
    a sum and its terms, the noise does too.

    Covariances are those of the rows that have all values. A missing value stays missing, and a column
    with one value only stays as it is; so do columns of other kinds, with a note.

    The true probability of an original row is proportional to the normal density of the difference, taken over the
    columns that are there, with the rescaling undone.

    Parameters
    ----------
    columns
        The columns to mask, all of the kind number; None masks all that are.
    scale
        The size of the noise as a multiple of that of the columns, above 0.
    rescale
        Whether the values are drawn towards the means so that variances stay.
    shuffle
        Whether the rows are put in random order. Without it, row numbers re-identify everyone.

    Examples
    --------
    >>> import polars as pl
    >>> people = Table.from_frame(pl.DataFrame({"net": [1.0, 2, 3, 5], "gross": [2.0, 4, 6, 10]}))
    >>> frame = CorrelatedNoise(scale=0.5).apply(people, rng=np.random.default_rng(1)).released.frame
    >>> bool(np.allclose(frame["gross"] - 2 * frame["net"], 0))
    True
    """

    columns: tuple[str, ...] | None = None
    scale: float = 0.1
    rescale: bool = False
    shuffle: bool = True

    def __post_init__(self) -> None:
        check_columns(self.columns)
        check_scale(self.scale)

    def apply(self, original: Table, *, rng: np.random.Generator) -> Release:
        """Return the table with noise on its numbers, in random order."""
        names = masked_columns(original, self.columns, self)
        noise = self._noise(original, _moving(original, names))
        numbers = noise.numbers
        values = numbers.values + noise.draw(len(numbers.values), rng)
        if self.rescale:
            values = noise.middle + (values - noise.middle) / noise.stretch
        frame = numbers.put_into(original.frame[released_columns(original)], values)
        return masked_release(
            original, frame, names, [noise], name="correlated-noise-added", shuffle=self.shuffle, rng=rng
        )

    def declared(self, file: DeclaredFile) -> RecognizedMechanism:
        """Return the mechanism recognized in a file masked elsewhere."""
        names = masked_columns(file.original, self.columns, self)
        noise = self._noise(file.original, _moving(file.original, names))
        return RecognizedMechanism((noise,), repeated(file, noise.names))

    def _noise(self, original: Table, numbers: Numbers) -> "JointNoise":
        whole = numbers.values[~np.isnan(numbers.values).any(axis=1)]
        spread = spreads(whole)
        if numbers.names and (len(whole) < 2 or not spread.all()):
            raise InputError(
                f"correlated noise needs rows of the {original.name} with a value in all {len(numbers.names)} "
                f"masked columns, each of which varies, but only {len(whole)} have them. "
                "Name fewer columns, or take additive-noise, which masks each column separately"
            )
        stretch = float(np.sqrt(1 + self.scale**2)) if self.rescale else 1.0
        if not numbers.names:
            return JointNoise(numbers, np.empty(0), np.empty(0), np.empty((0, 0)), stretch)
        correlation = np.corrcoef(whole / spread, rowvar=False).reshape(spread.size, spread.size)
        return JointNoise(numbers, whole.mean(axis=0), self.scale * spread, correlation, stretch)


def _moving(original: Table, names: list[str]) -> Numbers:
    """Return the columns that have more than one value."""
    numbers = numbers_of(original, names)
    return numbers.chosen([name for name, size in zip(names, spreads(numbers.values), strict=True) if size > 0])


@dataclass(frozen=True, eq=False, repr=False)
class JointNoise:
    """Correlated normal noise, then a rescaling."""

    numbers: Numbers
    middle: FloatArray
    spread: FloatArray
    correlation: FloatArray
    stretch: float

    @property
    def names(self) -> tuple[str, ...]:
        """The columns with noise."""
        return self.numbers.names

    def draw(self, rows: int, rng: np.random.Generator) -> FloatArray:
        """Return drawn noise."""
        if not self.names:
            return np.empty((rows, 0))
        size, direction = np.linalg.eigh(self.correlation)
        size = np.where(size > _FLAT * size.max(), size, 0.0)
        normal = rng.standard_normal((rows, size.size))
        found: FloatArray = (normal * np.sqrt(size)) @ direction.T * self.spread
        return found

    def log_chance(self, original: Table, released: Table, line: IntArray, candidate: IntArray) -> FloatArray:
        """Return log densities, up to a constant per released row.

        A missing value only comes from a missing value.
        """
        names = original.column_names
        places = [self.names.index(name) for name in names]
        numbers = self.numbers.chosen(names)
        middle, spread = self.middle[places], self.spread[places]
        before = (numbers.scaled_like(original) - middle) / spread
        after = (numbers.scaled_like(released) - middle) * self.stretch / spread
        kinds, kind = np.unique(np.isnan(np.concatenate([after, before])), axis=0, return_inverse=True)
        of_after, of_before = np.split(kind.ravel(), [len(after)])
        total = np.full(np.broadcast(line, candidate).shape, -np.inf)
        for number, gone in enumerate(kinds):
            there = np.flatnonzero(~gone)
            matrix = self.correlation[np.ix_(places, places)][np.ix_(there, there)]
            both = (of_after[line] == number) & (of_before[candidate] == number)
            found = _log_normal(after[:, there], before[:, there], matrix, line, candidate)
            total[both] = found[both]
        return total


def _log_normal(
    after: FloatArray, before: FloatArray, correlation: FloatArray, line: IntArray, candidate: IntArray
) -> FloatArray:
    """Return each difference's log density, or minus infinity.

    It is minus infinity outside the space that noise can reach.
    """
    total = np.zeros(np.broadcast(line, candidate).shape)
    if not correlation.size:
        return total
    size, direction = np.linalg.eigh(correlation)
    flat = size <= _FLAT * size.max()
    turned_after, turned_before = after @ direction, before @ direction
    for place in range(size.size):
        old = turned_before[candidate, place]
        apart = turned_after[line, place] - old
        if flat[place]:
            total[np.abs(apart) > _ROUNDING * (1 + np.abs(old))] = -np.inf
        else:
            total -= apart**2 / (2 * size[place])
    return total
