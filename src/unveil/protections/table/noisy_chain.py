"""Synthetic data from noisy counts of adjacent columns, with proven epsilon."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

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
    aka=("dp-chain",),
    new_values=True,
)
@dataclass(frozen=True, kw_only=True)
class NoisyChain:
    """Draw synthetic data from noisy counts of adjacent columns (Laplace noise).

    A reference whose epsilon is known: made to test auditors of generators, and for tables whose combinations are too
    many for a noisy histogram. The counts of the first column and of each pair of columns that stand side by side
    are d tables for d columns; every cell of them gets noise of the scale d / epsilon, and counts below 0 become 0. The
    first value of a row is drawn from the first table, each further one from the line of its pair that belongs to the
    value before it; where nothing is left of that line, from all lines together. Columns that do not stand side by
    side go together only as far as this chain does.

    Proof: one person more or less changes one count by 1 in each of the d tables, d counts in all, and each change
    makes the noisy counts at most e^(epsilon / d) times as likely; all that follows looks at the noisy counts alone.
    Replacing a person changes twice as many: 2 epsilon.

    What is known beforehand, and how columns are cut, is as for the noisy histogram; two neighboring columns may have
    10^6 cells.

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
    >>> release = NoisyChain(epsilon=1, rows=5).apply(people, rng=np.random.default_rng(1))
    >>> release.released.rows, release.notes[0]
    (5, "the values of columns 'sex', 'smokes' were taken from the table itself, so epsilon = 1 holds only for people \
whose values occur anyhow")
    """

    epsilon: float = 1.0
    noise: float = 1.0
    rows: int | None = None
    domain: Domain | None = field(default=None, repr=False, hash=False)

    def __post_init__(self) -> None:
        check_settings(self.epsilon, self.noise, self.rows, self.domain)

    def apply(self, original: Table, *, rng: np.random.Generator) -> Release:
        """Return the synthetic table."""
        axes = axes_of(
            original,
            self.domain,
            lambda sizes: max(one * other for one, other in pairwise([1, *sizes])),
            "noisy-chain",
            ", or reorder columns so that adjacent ones have few values",
        )
        rows = original.rows if self.rows is None else self.rows
        return noisy_release(
            original,
            axes,
            self.drawn_levels(axes, rows, rng),
            name="noisy-chain",
            epsilon=self.epsilon,
            noise=self.noise,
            domain=self.domain,
            rng=rng,
        )

    def drawn_levels(self, axes: Sequence[ColumnLevels], rows: int, rng: np.random.Generator) -> list[IntArray]:
        """Return the level that each column of each new row has."""
        before, levels = np.zeros(rows, np.int64), []
        for noisy in self.noisy_counts(axes, rng):
            weights = np.maximum(noisy, 0)
            left = weights.sum(axis=1, keepdims=True) > 0
            before = drawn_cells(np.where(left, weights, weights.sum(axis=0)), before, rng)
            levels.append(before)
        return levels

    def noisy_counts(self, axes: Sequence[ColumnLevels], rng: np.random.Generator) -> list[FloatArray]:
        """Return the noisy count tables; the first has one line."""
        tables = [counts_of(axes[:1])[None, :], *(counts_of(pair) for pair in pairwise(axes))]
        scale = self.noise * len(axes) / self.epsilon
        return [counts + rng.laplace(0, scale, counts.shape) for counts in tables]
