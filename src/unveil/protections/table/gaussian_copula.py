"""A synthetic table: people who do not exist, drawn from a model of those who do."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unveil._kernels.table.gaussian_copula import (
    latent_correlation,
    pairwise_correlation,
    positive_root,
    step_expansion,
)
from unveil._kernels.types import IntArray
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.errors import whole_number
from unveil.protections._listing import protection
from unveil.protections.table._levels import WITH_ORDER, ValueLevels, levels
from unveil.protections.table._release import release_of, released_columns

if TYPE_CHECKING:
    import polars as pl


@protection(
    kind="synthetic",
    source='Patki, Wedge and Veeramachaneni, "The synthetic data vault", 2016',
    aka=("gaussian-copula-synthesis", "copula"),
)
@dataclass(frozen=True, kw_only=True)
class GaussianCopula:
    """Draw a synthetic table from a Gaussian copula: each column's own distribution, and their correlations.

    Each column is read as a cut-up normal variable: its values in order take up bands as wide as their shares of the
    rows. The normal variables of two columns get the correlation with which the bands have the correlation that they
    have in the original (Cario and Nelson, "Modeling and generating random vectors with arbitrary marginal
    distributions and correlation matrix", 1997). Rows are drawn from the normal distribution with these correlations,
    and each number is given the value in whose band it falls.

    So every value is one of the original's, with about the same shares, and pairs of columns go together about as much
    as there, as far as they rise or fall together: more than that about rows the model does not know. Values that
    are rare enough to identify somebody can come out again; this is a synthesis to measure, not one to trust.

    Columns without an order (category, text) are put in that of how often their values occur, the most frequent first,
    and a missing value there is a category of its own. For the other kinds, whether a value is missing is a column
    with two values, so missing values are as many, and go together with other columns, as in the original.
    Columns that identify people are left out.

    Parameters
    ----------
    rows
        How many people to draw; None draws as many as the original has.

    Examples
    --------
    >>> import polars as pl
    >>> people = Table.from_frame(pl.DataFrame({"age": [30, 30, 41, 52], "pet": ["cat", None, "dog", "dog"]}))
    >>> GaussianCopula(rows=1000).apply(people, rng=np.random.default_rng(1)).released.rows
    1000
    """

    rows: int | None = None

    def __post_init__(self) -> None:
        if self.rows is not None:
            whole_number(self.rows, "rows", advice="Leave it out for as many as there are")

    def apply(self, original: Table, *, rng: np.random.Generator) -> Release:
        """Return the synthetic table."""
        import polars as pl

        names = released_columns(original)
        columns = [_parts(levels(original, name), original.column(name).kind in WITH_ORDER) for name in names]
        parts = [part for column in columns for part in column]
        rows = original.rows if self.rows is None else self.rows
        drawn = iter(_draw(parts, rows, rng))
        frame = pl.DataFrame(
            {
                name: _values(original.series(name), [next(drawn) for _ in column], column)
                for name, column in zip(names, columns, strict=True)
            }
        )
        return release_of(original, frame, name="gaussian-copula", kind="synthetic", rng=rng)


@dataclass(frozen=True, eq=False, repr=False)
class _Part:
    """One normal variable of the model: a column's values, or whether they are missing.

    ``level`` has the level of each row (-1 where it is not known), ``counts`` how often each occurs, and ``row`` a row
    where its value stands (-1 is a missing value).
    """

    level: IntArray
    counts: IntArray
    row: IntArray


def _parts(levels: ValueLevels, with_order: bool) -> list[_Part]:
    """Return the normal variables of a column."""
    absent = int(levels.missing.sum())
    if with_order and levels.row.size:
        values = _Part(levels.level, levels.counts, levels.row)
        if not absent:
            return [values]
        present = levels.level.size - absent
        return [values, _Part(levels.missing.astype(np.int64), np.array([present, absent]), np.array([0, -1]))]
    level, counts, row = levels.level, levels.counts, levels.row
    if absent:
        level = np.where(levels.missing, row.size, level)
        counts, row = np.append(counts, absent), np.append(row, -1)
    by_count = np.argsort(-counts, kind="stable")
    return [_Part(np.argsort(by_count)[level], counts[by_count], row[by_count])]


def _draw(parts: Sequence[_Part], rows: int, rng: np.random.Generator) -> list[IntArray]:
    """Return drawn levels of each part, one for each new row."""
    from scipy.special import ndtr

    expansions = [step_expansion(part.counts) for part in parts]
    present = np.column_stack([part.level >= 0 for part in parts]).astype(np.float64)
    # Level -1 takes the zero that is appended.
    scores = np.column_stack(
        [np.append(score, 0.0)[part.level] for part, (score, _) in zip(parts, expansions, strict=True)]
    )
    correlation = latent_correlation(
        pairwise_correlation(scores, present), np.array([coefficients for _, coefficients in expansions])
    )
    normal = rng.standard_normal((rows, len(parts))) @ positive_root(correlation).T
    drawn = []
    for part, column in zip(parts, normal.T, strict=True):
        # The last border is 1, and must not be passed where rounding makes a probability of 1.
        borders = np.cumsum(part.counts)[:-1] / part.counts.sum()
        drawn.append(np.searchsorted(borders, ndtr(column), side="right"))
    return drawn


def _values(series: "pl.Series", drawn: Sequence[IntArray], parts: Sequence[_Part]) -> "pl.Series":
    """Return the values behind the drawn levels."""
    import polars as pl

    row = parts[0].row[drawn[0]]
    if len(parts) > 1:
        row = np.where(parts[1].row[drawn[1]] < 0, -1, row)
    index = pl.Series(row)
    # Renamed, because polars would read a name such as "^a.*$" as a pattern of names.
    return series.alias("values").gather(index.set(index < 0, None))
