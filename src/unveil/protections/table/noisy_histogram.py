"""Synthetic data from one noisy frequency table, with proven epsilon."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np

from unveil._kernels.types import FloatArray, IntArray
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.protections._listing import protection
from unveil.protections.table._noisy_counts import (
    ColumnLevels,
    Domain,
    axes_of,
    check_settings,
    counts_of,
    drawn_cells,
    noisy_release,
)


@protection(
    kind="synthetic",
    source='Dwork, McSherry, Nissim and Smith, "Calibrating noise to sensitivity in private data analysis", 2006',
    aka=("dp-histogram",),
    new_values=True,
)
@dataclass(frozen=True, kw_only=True)
class NoisyHistogram:
    """Draw synthetic data from one noisy frequency table (Laplace noise).

    A reference whose epsilon is known: made to test auditors of generators, and of use for few columns with few values.
    Every cell of the table of counts, also one without people, gets noise of the scale 1 / epsilon; counts below
    0 become 0, and rows are drawn with probabilities in proportion.

    Proof: one person more or less changes one count by 1, and the density of Laplace noise of the scale b changes by a
    factor of at most e^(1/b) where it is moved by 1. So whatever the noisy counts are, they are at most e^epsilon times
    as likely with the person as without; all that follows looks at the noisy counts alone. Replacing a person changes
    two counts: 2 epsilon.

    What the proof takes as known beforehand: which cells there are, and how many rows the table has where ``rows`` is
    left out. A missing value is a level of its own. Each value of a column is a level; numbers and dates with more than
    64 values, or fewer where the cells would be more than 10^6, are cut in parts of equal width, and any number of the
    drawn part is released. Columns that identify people are left out.

    Parameters
    ----------
    epsilon
        Of adding or removing one person.
    noise
        The share of the due noise that is added. Only 1 is correct: anything less is a fault, kept for tests of
        auditors; 0.5 doubles the true epsilon.
    rows
        How many people to draw; None draws as many as the original has, whose number is thereby taken as public.
    domain
        The possible values of columns, None among them where cells may be missing, whoever is in the table. For columns
        that are left out the values of the table are taken, and epsilon holds only for people whose values occur
        anyhow. Only in Python.

    Examples
    --------
    >>> import polars as pl
    >>> people = Table.from_frame(pl.DataFrame({"sex": ["f", "m"] * 500, "smokes": [True, False, False, False] * 250}))
    >>> domain = {"sex": ["f", "m"], "smokes": [False, True]}
    >>> release = NoisyHistogram(epsilon=1, domain=domain).apply(people, rng=np.random.default_rng(1))
    >>> release.released.frame["smokes"].sum()
    273
    """

    epsilon: float = 1.0
    noise: float = 1.0
    rows: int | None = None
    domain: Domain | None = field(default=None, repr=False, hash=False)

    def __post_init__(self) -> None:
        check_settings(self.epsilon, self.noise, self.rows, self.domain)

    def apply(self, original: Table, *, rng: np.random.Generator) -> Release:
        """Return the synthetic table."""
        axes = axes_of(original, self.domain, prod, "noisy-histogram", ", or take noisy-chain")
        rows = original.rows if self.rows is None else self.rows
        return noisy_release(
            original,
            axes,
            self.drawn_levels(axes, rows, rng),
            name="noisy-histogram",
            epsilon=self.epsilon,
            noise=self.noise,
            domain=self.domain,
            rng=rng,
        )

    def drawn_levels(self, axes: Sequence[ColumnLevels], rows: int, rng: np.random.Generator) -> list[IntArray]:
        """Return the level that each column of each new row has."""
        noisy = self.noisy_counts(axes, rng)
        cells = drawn_cells(np.maximum(noisy, 0).reshape(1, -1), np.zeros(rows, np.int64), rng)
        return list(np.unravel_index(cells, noisy.shape))

    def noisy_counts(self, axes: Sequence[ColumnLevels], rng: np.random.Generator) -> FloatArray:
        """Return the noisy frequency table."""
        counts = counts_of(axes)
        return counts + rng.laplace(0, self.noise / self.epsilon, counts.shape)
