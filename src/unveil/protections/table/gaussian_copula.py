"""Synthetic data from a Gaussian copula."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from unveil._kernels.types import FloatArray, IntArray
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
    """Draw synthetic data from a Gaussian copula of all columns.

    Each column is read as a cut-up normal variable: its values in order take up bands as wide as their shares of the
    rows. The normal variables of two columns get the correlation with which the bands have the correlation that they
    have in the original (Cario and Nelson, "Modeling and generating random vectors with arbitrary marginal
    distributions and correlation matrix", 1997). Rows are drawn from the normal distribution with these correlations,
    and each number is given the value in whose band it falls.

    So every value is one of the original's, with about the same shares, and pairs of columns go together about as much
    as there, as far as they rise or fall together: more than that about rows the model does not know. Values that are
    rare enough to identify a person can come out again; this is a synthesis to measure, not one to trust.

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
    """A normal variable for a column's values or missingness.

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


# The numbers of a Gaussian copula for columns with steps: scores, latent correlations, and a root to draw with.

# A step function needs endlessly many terms; beyond these a correlation of 0.9 has less than 1 % left of each.
TERMS = 48
_HALVINGS = 30
# Below this an eigenvalue counts as rounding: columns that are copies of one another stay so to six digits.
_SMALLEST_EIGENVALUE = 1e-6


def step_expansion(counts: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return each level's score, and the scores' Hermite coefficients.

    The levels, in order, cut the standard normal distribution into bands with their shares of the rows. The score of a
    level is the mean of z in its band. ``coefficients[k - 1]`` belongs to the normalized Hermite polynomial of degree
    k.

    >>> scores, coefficients = step_expansion(np.array([5, 5]))
    >>> scores.round(4), coefficients[:3].round(4)
    (array([-0.7979,  0.7979]), array([ 0.6366,  0.    , -0.2599]))
    """
    from scipy.special import ndtri

    cuts = ndtri(np.cumsum(counts)[:-1] / counts.sum())
    density = np.exp(-0.5 * cuts * cuts) / np.sqrt(2 * np.pi)
    scores = -np.diff(density, prepend=0.0, append=0.0) / (counts / counts.sum())
    # The coefficient of a function with steps is a sum over its steps, which is the integral by parts.
    rise = np.diff(scores)
    coefficients = np.empty(TERMS)
    before, now = np.zeros_like(cuts), density
    for k in range(1, TERMS + 1):
        coefficients[k - 1] = float((rise * now).sum()) / np.sqrt(k)
        before, now = now, (cuts * now - np.sqrt(k - 1) * before) / np.sqrt(k)
    return scores, coefficients


def pairwise_correlation(scores: FloatArray, present: FloatArray) -> FloatArray:
    """Return pairwise correlations over complete rows (1.0 present, 0.0 missing).

    ``scores`` must be 0 where not present. 0 where one of the two does not vary over those rows.

    >>> pairwise_correlation(np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 0.0]]), np.array([[1.0, 1.0], [1, 1], [1, 0]]))
    array([[1., 1.],
           [1., 1.]])
    """
    rows = np.maximum(present.T @ present, 1.0)
    total = scores.T @ present
    squares = (scores * scores).T @ present
    spread = squares - total * total / rows
    product = scores.T @ scores - total * total.T / rows
    varies = (spread > 1e-9 * squares) & (spread.T > 1e-9 * squares.T)
    scale = np.sqrt(np.where(varies, spread * spread.T, 1.0))
    correlation = np.where(varies, np.clip(product / scale, -1.0, 1.0), 0.0)
    np.fill_diagonal(correlation, 1.0)
    return correlation


def latent_correlation(correlation: FloatArray, coefficients: FloatArray) -> FloatArray:
    """Return the latent correlations, given those of the scores.

    If z and z' are standard normal with correlation r, functions of them with Hermite coefficients g and h have the
    covariance Σ g_k h_k r^k (Mehler's formula). It rises with r for scores that rise with z, so halving finds r.
    ``coefficients`` has one row per column. 0 for a column that does not vary.

    >>> coefficients = np.array([step_expansion(np.array([5, 5]))[1]] * 2)
    >>> latent_correlation(np.array([[1, 0.5], [0.5, 1]]), coefficients).round(3)  # sin(pi / 2 * 0.5) beside the ones
    array([[1.   , 0.707],
           [0.707, 1.   ]])
    """
    # Scores are means of z, so that their first coefficient is their variance; the sum of squares would be cut short.
    deviation = np.sqrt(np.maximum(coefficients[:, 0], 0.0))
    target = correlation * np.outer(deviation, deviation)
    low, high = np.full_like(target, -1.0), np.full_like(target, 1.0)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        value = np.zeros_like(target)
        for k in range(TERMS - 1, -1, -1):
            value = (value + np.outer(coefficients[:, k], coefficients[:, k])) * middle
        below = value < target
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    varies = np.outer(deviation > 0, deviation > 0)
    latent = np.where(varies & (correlation != 0), (low + high) / 2, 0.0)
    np.fill_diagonal(latent, 1.0)
    return latent


def positive_root(correlation: FloatArray) -> FloatArray:
    """Return a square root of a valid correlation matrix.

    Pairs that were estimated one by one need not fit together. Eigenvalues that are not positive are then raised to a
    small positive number and the diagonal is brought back to 1. The root does not depend on the signs and the order in
    which a library gives eigenvectors.

    >>> root = positive_root(np.array([[1.0, 0.5], [0.5, 1.0]]))
    >>> (root @ root.T).round(12)
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    values, vectors = np.linalg.eigh((correlation + correlation.T) / 2)
    root: FloatArray = (vectors * np.sqrt(np.maximum(values, _SMALLEST_EIGENVALUE))) @ vectors.T
    unit: FloatArray = root / np.sqrt((root * root).sum(axis=1, keepdims=True))
    return unit
