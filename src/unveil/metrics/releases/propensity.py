"""Propensity score: separability of original and released rows."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._figure import figure
from unveil._kernels.logistic import fit, mean_ranks, ordered_pairs, probability, score
from unveil._kernels.neighbours.nearest import IntegerGrid, content_rank
from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.data.table.release import Release
from unveil.errors import whole_number
from unveil.metrics._listing import metric
from unveil.metrics.releases._association import PairedColumn, compare

FACTS: dict[str, Any] = {"category": "utility", "per": "release", "more_means": "less useful", "bounds": (0, 1)}
SOURCE = "Woo et al. (2009); null distribution after Snoke et al. (2018)"
#: At most this many rows of each table are drawn for the model.
MOST_ROWS = 10_000

_LEAST_ROWS = 10
_FOLDS = 5
#: Equal rows that make up more than this part of a fold are dealt out to all folds.
_COMMON = 10
_RIDGE = 1.0
#: Mean squares of probabilities that are off by a few units in the twelfth digit, and less.
_ROUNDING = 1e-24
_MOST_FEATURES = 150
#: Categories of their own and powers of a number, from fine to coarse: the first that fits is taken.
_DETAILS = ((20, 3), (10, 3), (5, 2), (2, 1))
#: This many rows for each feature before products of two columns come in.
_ROWS_PER_FEATURE = 20

TOO_FEW = f"one of the tables has fewer than {_LEAST_ROWS} rows"
AS_SYNTHESIS = "The expected pMSE is that of rows resampled from the original distribution (same-data synthesis)."
AS_MASKING = (
    "The release is masked, so pMSE can be far below that of synthetic data, and the AUC below 0.5. "
    "Its rows are made from the original rows one by one. A ratio below 1 is not a merit here; only one well above 1 "
    "is informative."
)


@dataclass(frozen=True, kw_only=True)
class Propensity:
    """How well a logistic regression tells released rows from original ones."""

    COUNTS = "statistic"

    pmse: float = figure(
        "Mean of `(p - c)²` over all rows of both tables. Here p is the predicted probability that a row is released, "
        "and c the share of released rows. 0 means that no row can be classified."
    )
    expected: float = figure("Expected pMSE for a release drawn from the original distribution, in large samples.")
    deviation: float = figure("Standard deviation of pMSE in such releases.")
    ratio: float = figure("`pmse / expected`: around 1 where the release resembles a new sample of the original.")
    standardized: float = figure(
        "`(pmse - expected) / deviation`: around 0 where the release resembles a new sample of the original."
    )
    area: float = figure(
        "AUC of the model on unseen rows (five-fold cross-validation): the probability that a released row scores "
        "higher than an original row. 0.5 means no separation, 1 full separation. Values below 0.5 also mean no "
        "separation: a model without a row classifies its masked twin wrongly, the more so in small tables."
    )
    features: int = figure("Number of model terms besides the intercept.")
    products: int = figure("Number of column pairs with a product term.")
    columns: int = figure("Number of columns compared.")
    columns_used: int = figure("Number of columns in the model.")
    rows_original: int = figure("Number of original rows used.")
    rows_released: int = figure("Number of released rows used.")
    remark: str = figure("Meaning of the expected value, and sampling of rows or columns.")
    why: str = figure("Reason for missing values; else empty.", default="")


@metric(source=SOURCE, **FACTS)
def propensity_score(
    release: Release,
    *,
    rng: np.random.Generator,
    columns: Sequence[str] | None = None,
    most_rows: int = MOST_ROWS,
) -> Propensity:
    """Return the propensity score, compared with perfect synthesis.

    Formula: ``pMSE = mean((p - c)²)`` over all rows of both tables, where p is a row's probability of being released
    according to a logistic regression and c the share of released rows; and the area under the curve for rows that the
    model has not seen. The model has each category (the rarest together), each number by its rank up to the third
    power, whether a number is missing, and products of pairs of columns while these are few; its ridge is 1 on
    standardized terms. The expected pMSE is ``(k - 1)(1 - c)² c / N`` for a release whose rows are drawn again from the
    distribution of the original rows (same-data synthesis), k counting the model's parameters and N all rows; for two
    independent samples of the same people it would be ``(k - 1)(1 - c) c / N``. Terms that the ridge holds down count
    for less than one, and where only some of the original rows are used their own chance is added. 0 means that no row
    can be told. A masked release, whose rows are made from the original rows one by one, may have a pMSE far below the
    expected one and an area below 0.5, which is no merit. The area is 0.5 where rows cannot be distinguished and 1
    where every one can. NaN where a table has fewer than 10 rows; the ratio also where nothing varies.

    >>> import polars as pl
    >>> from unveil.data.table import Table
    >>> people = Table.from_frame(pl.DataFrame({"age": range(20, 60), "member": [True, False] * 20}))
    >>> same = propensity_score(Release(people, people), rng=np.random.default_rng(1))
    >>> round(same.pmse, 12), same.area
    (0.0, 0.5)
    """
    return propensity_of(compare(release, columns), release, rng=rng, most_rows=most_rows)


def propensity_of(
    columns: Sequence[PairedColumn], release: Release, *, rng: np.random.Generator, most_rows: int
) -> Propensity:
    """Return the same of columns that were read already."""
    whole_number(most_rows, "most_rows", at_least=_LEAST_ROWS, advice="Leave it out")
    rows = release.original.rows, release.released.rows
    drawn = [_drawn(count, most_rows, rng) for count in rows]
    used = drawn[0].size, drawn[1].size
    pooled = [np.concatenate([column.values(side, drawn[side]) for side in (0, 1)]) for column in columns]
    features, products, columns_used = _features(columns, pooled, rng)
    labels = np.arange(sum(used)) >= used[0]
    found = dict.fromkeys(("pmse", "expected", "deviation", "ratio", "standardized", "area"), nan)
    few = min(rows) < _LEAST_ROWS
    if not few:
        found = _told_apart(features, labels, _folds(pooled, labels, rng), rows[0])
    return Propensity(
        **found,
        features=features.shape[1],
        products=products,
        columns=len(columns),
        columns_used=columns_used,
        rows_original=used[0],
        rows_released=used[1],
        remark=_remark(release, used, (columns_used, len(columns))),
        why=TOO_FEW if few else "",
    )


def _drawn(rows: int, at_most: int, rng: np.random.Generator) -> IntArray:
    """Return a content-ordered random sample of rows."""
    return np.sort(rng.choice(rows, at_most, replace=False)) if rows > at_most else np.arange(rows)


def _remark(release: Release, used: tuple[int, int], columns: tuple[int, int]) -> str:
    said = [AS_MASKING if release.kind == "masked" else AS_SYNTHESIS]
    if used != (release.original.rows, release.released.rows):
        said.append(f"The model uses {used[0]:,} original and {used[1]:,} released rows, drawn at random.")
    if columns[0] < columns[1]:
        said.append(f"The model uses {columns[0]:,} of {columns[1]:,} columns, drawn at random.")
    return " ".join(said)


def _told_apart(features: FloatArray, labels: BoolArray, folds: IntArray, originals: int) -> dict[str, float]:
    rows, share = labels.size, float(labels.mean())
    whole = fit(features, labels, ridge=_RIDGE)
    pmse = float(((probability(features, whole) - share) ** 2).mean())
    # Of tables that cannot be distinguished only the rounding of this machine is left, which is no value of theirs.
    pmse = 0.0 if pmse < _ROUNDING else pmse
    # A term counts in full where the data speak louder than the ridge; a term that others repeat does not count.
    strength = np.clip(np.linalg.eigvalsh(features.T @ features), 0, None) * share * (1 - share)
    kept = (strength / (strength + _RIDGE)) ** 2
    drawn, released = rows - int(labels.sum()), int(labels.sum())
    # The original rows are given, not drawn, so their part of the variance is missing; (1 - c) where all are used.
    left = 1 - (1 / originals) / (1 / drawn + 1 / released)
    unit = left * share * (1 - share) / rows
    expected, deviation = unit * float(kept.sum()), unit * sqrt(2 * float((kept**2).sum()))
    wins = pairs = 0.0
    for fold in range(_FOLDS):
        held = folds == fold
        model = fit(features[~held], labels[~held], ridge=_RIDGE, start=whole, settled=1e-4)
        won, of = ordered_pairs(score(features[held], model), labels[held])
        wins, pairs = wins + won, pairs + of
    return {
        "pmse": pmse,
        "expected": expected,
        "deviation": deviation,
        "ratio": pmse / expected if expected > 0 else nan,
        "standardized": (pmse - expected) / deviation if deviation > 0 else nan,
        "area": wins / pairs if pairs else nan,
    }


def _folds(pooled: Sequence[NDArray[Any]], labels: BoolArray, rng: np.random.Generator) -> IntArray:
    """Return the part that each row belongs to.

    Equal rows of both tables stay together, so that a model cannot learn that a row which it misses in one table must
    be in the other. Only rows that are so common that no part could do without them are dealt out in turn, those of
    both tables from the same part on.
    """
    codes = np.column_stack([np.unique(values, return_inverse=True)[1] for values in pooled]).astype(np.int64)
    content = content_rank(
        IntegerGrid(codes, np.empty((labels.size, 0), np.int32), np.ones(codes.shape[1], np.int64), 1)
    )
    distinct = int(content.max()) + 1
    copies = [np.bincount(content[side], minlength=distinct) for side in (~labels, labels)]
    room = np.maximum(*copies)
    common = room > labels.size // (_FOLDS * _COMMON)
    order = rng.permutation(distinct)
    first = np.empty(distinct, np.int64)
    first[order] = np.cumsum(room[order]) - room[order]
    part = first[content]
    for side, count in zip((~labels, labels), copies, strict=True):
        part[side] += common[content[side]] * _turn(content[side], count)
    return part % _FOLDS


def _turn(content: IntArray, count: IntArray) -> IntArray:
    """Return each row's index among equal rows."""
    order = np.argsort(content, kind="stable")
    turn = np.empty(content.size, np.int64)
    turn[order] = np.arange(content.size) - (np.cumsum(count) - count)[content[order]]
    return turn


def _features(
    columns: Sequence[PairedColumn], pooled: Sequence[NDArray[Any]], rng: np.random.Generator
) -> tuple[FloatArray, int, int]:
    """Return standardized features, number of column products, and column names."""
    used = list(range(len(columns)))
    for levels, power in _DETAILS:
        terms = [_terms(columns[at], pooled[at], levels, power) for at in used]
        if sum(len(each) for each in terms) <= _MOST_FEATURES:
            break
    else:
        lot = rng.permutation(len(used))
        needed = np.cumsum([len(terms[at]) for at in lot])
        used = sorted(lot[needed <= _MOST_FEATURES].tolist())
        terms = [terms[at] for at in used]
    every = [term for each in terms for term in each]
    # The first power of a number, or all the categories, make the products; the cheapest pairs come first.
    bases = [each[:1] if columns[at].is_number else each for at, each in zip(used, terms, strict=True)]
    pairs = sorted(combinations(range(len(bases)), 2), key=lambda pair: len(bases[pair[0]]) * len(bases[pair[1]]))
    most = min(_MOST_FEATURES, pooled[0].size // _ROWS_PER_FEATURE)
    products = 0
    for one, other in pairs:
        cost = len(bases[one]) * len(bases[other])
        if cost and len(every) + cost <= most:
            every += [x * y for x in bases[one] for y in bases[other]]
            products += 1
    return _standard(every, pooled[0].size), products, len(used)


def _standard(terms: Sequence[FloatArray], rows: int) -> FloatArray:
    """Return the varying features, with mean 0 and variance 1."""
    table = np.column_stack(terms) if terms else np.empty((rows, 0))
    table -= table.mean(axis=0)
    spread = table.std(axis=0)
    varies = spread > 1e-9
    return np.ascontiguousarray(table[:, varies] / spread[varies])


def _terms(column: PairedColumn, values: NDArray[Any], levels: int, power: int) -> list[FloatArray]:
    """Return the centered features of a column.

    Categories leave out the commonest; numbers give powers of the rank.
    """
    if column.is_number:
        return _powers(values, power)
    counts = np.bincount(values)
    # Equally common ones in the order of their values, which does not depend on row order.
    common = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
    own = common[1:] if common.size <= levels + 1 else common[1:levels]
    terms = [(values == level).astype(np.float64) for level in own]
    if own.size < common.size - 1:
        terms.append(np.isin(values, common[levels:]).astype(np.float64))
    return [term - term.mean() for term in terms]


def _powers(values: FloatArray, power: int) -> list[FloatArray]:
    gone = np.isnan(values)
    known = values[~gone]
    terms: list[FloatArray] = []
    if known.size and np.ptp(known) > 0:
        place = np.zeros(values.size)
        place[~gone] = (2 * mean_ranks(known) - known.size - 1) / known.size
        # Legendre's polynomials: powers that do not repeat one another.
        shapes = (place, (3 * place**2 - 1) / 2, (5 * place**3 - 3 * place) / 2)
        terms += [np.where(gone, 0.0, shape) for shape in shapes[:power]]
    if 0 < known.size < values.size:
        terms.append(gone - gone.mean())
    return terms
