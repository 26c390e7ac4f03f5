"""Utility of a release: columns, pairs of columns, and whole rows.

Every value is a distance from the original: 0 means that nothing was lost. A release is not safer for being less
useful, nor useful for being near in these values: what it is to be used for decides.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import isclose, isnan, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._figure import figure
from unveil._kernels.threads import in_threads
from unveil._kernels.types import FloatArray, IntArray
from unveil.data.table import Kind
from unveil.data.table.release import Release
from unveil.errors import InputError
from unveil.metrics._listing import metric
from unveil.metrics.releases._association import (
    PairedColumn,
    compare,
    correlation,
    correlation_ratio,
    cramers_v,
    rank_correlation,
)
from unveil.metrics.releases.distributions import MOST_COLUMNS, ColumnDistribution, distribution_of
from unveil.metrics.releases.propensity import FACTS, MOST_ROWS, Propensity, propensity_of

#: At most this many pairs of columns are looked at; beyond that they are drawn at random.
MOST_PAIRS = 1000


@dataclass(frozen=True, kw_only=True)
class ColumnDistance:
    """Distance between an original and a released column."""

    COUNTS = "statistic"

    name: str = figure("Name of the column.")
    kind: Kind = figure("Type of the compared column.")
    distance: float = figure(
        "Distance from 0 (the same distribution) to 1. For a category, truth value or text it is the total "
        "variation. For a number, date or ordered levels it is the Kolmogorov-Smirnov distance or the change of the "
        "missing share, whichever is larger."
    )
    total_variation: float = figure(
        "Half the sum of the differences of all values' shares, with missing as one value; null for numbers.",
        default=nan,
    )
    kolmogorov_smirnov: float = figure(
        "Largest difference of the shares of values up to some value, without missing ones; null for categories.",
        default=nan,
    )
    wasserstein: float = figure(
        "Mean distance that values must move to become the original ones, in ranges of the original; above 1 "
        "where the release reaches far beyond it. Ordered levels count one step each. null for categories.",
        default=nan,
    )
    mean_change: float = figure(
        "Change of the mean, in standard deviations of the original; null for categories, and where the original "
        "is constant but the release is not.",
        default=nan,
    )
    deviation_change: float = figure(
        "Change of the standard deviation, in standard deviations of the original; null where `mean_change` is.",
        default=nan,
    )
    missing_original: float = figure("Share of missing values in the original, from 0 to 1.")
    missing_released: float = figure("Share of missing values in the release, from 0 to 1.")
    #: 1 means that every cell could be any person's. The original was put into the released cells first.
    width: float = figure(
        "For range cells: the mean share of people inside such a cell.",
        default=nan,
        optional=True,
    )


@dataclass(frozen=True, kw_only=True)
class PairDistance:
    """Association of two columns, before and after."""

    COUNTS = "statistic"

    first: str = figure("One column of the pair.")
    second: str = figure("The other column of the pair.")
    measure: str = figure(
        '"Pearson" for two numbers (-1 to 1), "Cramér\'s V" for two categories (0 to 1, with Bergsma\'s '
        'correction), "correlation ratio" for one of each (0 to 1, with Kelley\'s correction).'
    )
    original: float = figure(
        "Association in the original; null where a column is constant or has a different value in every row."
    )
    released: float = figure(
        "Association in the release; null where a column is constant or has a different value in every row."
    )
    association_change: float = figure(
        "Absolute difference, with an undefined association counting as 0; null where both are undefined."
    )
    rank_original: float = figure(
        "Spearman's correlation in the original, from -1 to 1; null unless both are numbers.", default=nan
    )
    rank_released: float = figure(
        "Spearman's correlation in the release, from -1 to 1; null unless both are numbers.", default=nan
    )
    rank_change: float = figure(
        "The absolute difference of the two; null unless both columns are numbers.", default=nan
    )


@dataclass(frozen=True, kw_only=True)
class Utility:
    """All utility losses of a release, with an overall value."""

    COUNTS = "statistic"

    loss: float = figure(
        "Utility loss: mean of the next three without undefined ones. 0 is unchanged, 1 is nothing preserved.",
        limit="utility.loss",
        limit_meaning="utility loss of the release, from 0 (unchanged) to 1 (nothing preserved)",
    )
    column_loss: float = figure("Mean distance of the columns; a missing column counts as 1.")
    association_loss: float = figure(
        "Mean association change of the pairs, each at most 1; null where no pair has an association."
    )
    discrimination: float = figure(
        "`2 * area - 1` of the propensity score, at least 0: the separability of release and original."
    )
    columns: tuple[ColumnDistance, ...] = figure("Loss of each column, behind `column_loss`.")
    pairs: tuple[PairDistance, ...] = figure("Loss of each pair of columns, behind `association_loss`.")
    pairs_total: int = figure("Number of column pairs; `pairs` is a random sample if it has fewer.")
    columns_left_out: int = figure("Number of original columns left out of the release, as given.")
    propensity: Propensity = figure("Propensity score of release against original, behind `discrimination`.")
    rows_original: int = figure("Number of original rows.")
    rows_released: int = figure("Number of released rows.")
    rows_kept: float = figure("Released rows over original rows; above 1 where rows were added.")
    missing_original: float = figure("Share of missing cells in the original, from 0 to 1.")
    missing_released: float = figure("Share of missing cells in the release, from 0 to 1.")
    cells_suppressed: float = figure("Increase of that share; below 0 where gaps were filled.")
    #: Both distributions of the columns that changed most, those first.
    distributions: tuple[ColumnDistribution, ...] = ()


@metric(source="Kolmogorov (1933); Villani (2009), chapter 6", **FACTS)
def column_distances(release: Release, *, columns: Sequence[str] | None = None) -> tuple[ColumnDistance, ...]:
    """Return the distance of each column: distribution, mean, spread, and missing values.

    Formula: for categories, truth values and texts ``1/2 Σ |share in original - share in release|`` over all values, a
    missing one included; for numbers, dates and ordered levels ``max |F - G|`` of the two distribution functions, or
    the change of the missing share, whichever is more. 0 means the same distribution, 1 that no value is in both (or
    that one lies wholly below the other). Where released cells stand for several values, the original's values are put
    into these cells before, and the ``width`` of the column says what that lost: the mean share of people inside a
    cell. It says nothing about which row has which value, nor about what columns have to do with one another. Even a
    perfect synthesis differs a little by chance, more so in columns with many categories. NaN for single values that a
    column does not have, never for its distance.

    >>> import polars as pl
    >>> from unveil.data.table import Table
    >>> original, released = (Table.from_frame(pl.DataFrame({"age": ages, "town": towns}))
    ...     for ages, towns in (([20, 30, 40, 60], ["Ulm", "Ulm", "Bonn", None]), ([24, 34, 44, 64], ["Ulm"] * 4)))
    >>> for column in column_distances(Release(original, released)):
    ...     print(column.name, column.distance, round(column.wasserstein, 3), round(column.mean_change, 3))
    age 0.25 0.1 0.27
    town 0.5 nan nan
    """
    return tuple(_column_distance(column, release) for column in compare(release, columns))


@metric(source="Pearson (1895); Spearman (1904); Bergsma (2013); Kelley (1935)", **FACTS)
def pair_distances(
    release: Release,
    *,
    columns: Sequence[str] | None = None,
    most_pairs: int = MOST_PAIRS,
    rng: np.random.Generator | None = None,
) -> tuple[PairDistance, ...]:
    """Return the association of each column pair, original and released.

    Formula: ``|association in original - association in release|``, the association being Pearson's correlation of two
    numbers, Cramér's V with Bergsma's correction of two categories, and the correlation ratio with Kelley's correction
    of a number and a category. 0 means that the association is kept; up to 1 it was lost or made up, up to 2 it turned
    round. A row counts where both numbers are known; a missing category is a category. Above ``most_pairs`` pairs this
    many are drawn at random, and ``rng`` is needed. NaN where the association is undefined in both tables; where it is
    in one, it counts as none.

    >>> import polars as pl
    >>> from unveil.data.table import Table
    >>> original, released = (Table.from_frame(pl.DataFrame({"age": [20, 30, 40, 50], "pay": pay}))
    ...     for pay in ([1, 2, 3, 4], [3, 1, 4, 2]))
    >>> (pair,) = pair_distances(Release(original, released))
    >>> pair.measure, pair.original, round(pair.association_change, 12)
    ('Pearson', 1.0, 1.0)
    """
    return tuple(_pair_distance(*pair) for pair in _pairs(compare(release, columns), most_pairs, rng))


@metric(source="mean of the above", **FACTS)
def loss_summary(
    release: Release,
    *,
    rng: np.random.Generator,
    columns: Sequence[str] | None = None,
    most_pairs: int = MOST_PAIRS,
    most_rows: int = MOST_ROWS,
    columns_left_out: int = 0,
) -> Utility:
    """Return all utility losses and an overall value, 0 to 1.

    Formula: ``mean(mean column distance, mean association change, max(0, 2 area - 1))``, from :func:`column_distances`,
    :func:`pair_distances` (each change at most 1) and :func:`propensity_score`; a part that is undefined is left out. 0
    means that nothing was lost, 1 that nothing is left. It is for comparing releases of one original, not for judging
    one. Fewer rows are no loss by themselves: they are counted next to it. Columns that the release lacks are no longer
    in a :class:`Release`; say with ``columns_left_out`` how many those were, and each counts as a column distance of 1.
    NaN for single parts only.

    >>> import polars as pl
    >>> from unveil.data.table import Table
    >>> people = Table.from_frame(pl.DataFrame({"age": range(20, 60), "member": [True, False] * 20}))
    >>> loss_summary(Release(people, people), rng=np.random.default_rng(1)).loss
    0.0
    """
    if columns_left_out < 0:
        raise InputError(f"columns_left_out is {columns_left_out}; it must be 0 or more. Count them again")
    read = compare(release, columns)
    far = tuple(in_threads(lambda column: _column_distance(column, release), read))
    pairs = tuple(in_threads(lambda pair: _pair_distance(*pair), list(_pairs(read, most_pairs, rng))))
    propensity = propensity_of(read, release, rng=rng, most_rows=most_rows)
    column_loss = float(np.mean([*(column.distance for column in far), *(1.0 for _ in range(columns_left_out))]))
    association_loss = _mean_known([min(pair.association_change, 1.0) for pair in pairs])
    discrimination = nan if isnan(propensity.area) else max(0.0, 2 * propensity.area - 1)
    missing = [float(np.mean([column.missing[side] for column in read])) for side in (0, 1)]
    return Utility(
        loss=_mean_known([column_loss, association_loss, discrimination]),
        column_loss=column_loss,
        association_loss=association_loss,
        discrimination=discrimination,
        columns=far,
        pairs=pairs,
        pairs_total=len(read) * (len(read) - 1) // 2,
        columns_left_out=columns_left_out,
        propensity=propensity,
        rows_original=release.original.rows,
        rows_released=release.released.rows,
        rows_kept=release.released.rows / release.original.rows,
        missing_original=missing[0],
        missing_released=missing[1],
        cells_suppressed=missing[1] - missing[0],
        distributions=tuple(
            distribution_of(read[place], release, far[place].distance)
            for place in sorted(range(len(far)), key=lambda place: -far[place].distance)[:MOST_COLUMNS]
        ),
    )


def _mean_known(values: Sequence[float]) -> float:
    known = [value for value in values if not isnan(value)]
    return float(np.mean(known)) if known else nan


def _column_distance(column: PairedColumn, release: Release) -> ColumnDistance:
    found = _plain_distance(column)
    if not release.released.coarse([column.name]):
        return found
    cells = (release.released.cells or {})[column.name]
    # Summed cell by cell, so that the order of the rows does not matter to the last digit.
    rows = np.bincount(cells.of_row, minlength=cells.share.size)
    return replace(found, width=float(rows @ cells.share) / cells.of_row.size)


def _plain_distance(column: PairedColumn) -> ColumnDistance:
    gaps = {"missing_original": column.missing[0], "missing_released": column.missing[1]}
    if column.levels is None:
        shares = [count / count.sum() for count in column.counts]
        total = float(np.abs(shares[0] - shares[1]).sum()) / 2
        return ColumnDistance(name=column.name, kind=column.kind, distance=total, total_variation=total, **gaps)
    figures = _number_distances(column.levels[1:], *(count[1:] for count in column.counts))
    apart = abs(column.missing[0] - column.missing[1])
    most = apart if isnan(figures["kolmogorov_smirnov"]) else max(apart, figures["kolmogorov_smirnov"])
    return ColumnDistance(name=column.name, kind=column.kind, distance=most, **figures, **gaps)


def _number_distances(levels: FloatArray, here: IntArray, there: IntArray) -> dict[str, float]:
    """Return the distances of sorted numbers; NaN if one table is empty."""
    if not here.any() or not there.any():
        return dict.fromkeys(("kolmogorov_smirnov", "wasserstein", "mean_change", "deviation_change"), nan)
    apart = np.abs(np.cumsum(here) / here.sum() - np.cumsum(there) / there.sum())
    # Summed number by number in their order, as many at a time as there are rows.
    moved = np.diff(np.repeat(levels, here + there))
    moved *= np.repeat(apart, here + there)[:-1]
    original, released = np.repeat(levels, here), np.repeat(levels, there)
    spread = float(original.std()) if original[0] < original[-1] else 0.0
    return {
        "kolmogorov_smirnov": float(apart.max()),
        # Numbers come in ranges of the original, so this is divided already; without a range there is no unit.
        "wasserstein": _in_units(float(moved.sum()), 1.0 if spread else 0.0),
        "mean_change": _in_units(_moved(float(original.mean()), float(released.mean())), spread),
        "deviation_change": _in_units((float(released.std()) if released[0] < released[-1] else 0.0) - spread, spread),
    }


def _moved(before: float, after: float) -> float:
    """Return the difference of two means, 0 where only their rounding differs."""
    return 0.0 if isclose(before, after, rel_tol=1e-12, abs_tol=1e-12) else after - before


def _in_units(change: float, unit: float) -> float:
    """Return the change in units; NaN without a unit."""
    if unit:
        return change / unit
    return nan if change else 0.0


def _pairs(
    columns: Sequence[PairedColumn], at_most: int, rng: np.random.Generator | None
) -> Iterator[tuple[PairedColumn, PairedColumn]]:
    """Yield all column pairs, or a random sample."""
    total = len(columns) * (len(columns) - 1) // 2
    if at_most < 0 or (total > at_most and rng is None):
        raise InputError(
            f"most_pairs is {at_most:,} for {total:,} pairs of columns; sampling needs rng and a number of 0 or more. "
            "Pass rng, or a larger number"
        )
    every = combinations(columns, 2)
    if total <= at_most or rng is None:
        yield from every
        return
    kept = set(rng.choice(total, at_most, replace=False).tolist())
    yield from (pair for place, pair in enumerate(every) if place in kept)


def _pair_distance(one: PairedColumn, other: PairedColumn) -> PairDistance:
    if one.is_number and other.is_number:
        ranked = _change(*(_rank_correlation(one, other, side) for side in (0, 1)))
        before, after = (_known(one, other, side) for side in (0, 1))
        ranks = dict(zip(("rank_original", "rank_released", "rank_change"), ranked, strict=True))
        return _pair(one, other, "Pearson", _both(correlation, before, after), **ranks)
    if not one.is_number and not other.is_number:
        categories = [(one.codes[side], other.codes[side]) for side in (0, 1)]
        return _pair(one, other, "Cramér's V", _both(cramers_v, *categories))
    number, group = (one, other) if one.is_number else (other, one)
    before, after = (_known(number, group, side) for side in (0, 1))
    return _pair(one, other, "correlation ratio", _both(correlation_ratio, before, after))


def _rank_correlation(one: PairedColumn, other: PairedColumn, side: int) -> float:
    if one.counts[side][0] or other.counts[side][0]:
        return rank_correlation(*_known(one, other, side))
    return correlation(one.ranks(side), other.ranks(side))


def _pair(
    one: PairedColumn, other: PairedColumn, measure: str, distances: tuple[float, float, float], **ranks: float
) -> PairDistance:
    original, released, change = distances
    return PairDistance(
        first=one.name,
        second=other.name,
        measure=measure,
        original=original,
        released=released,
        association_change=change,
        **ranks,
    )


def _known(number: PairedColumn, other: PairedColumn, side: int) -> tuple[FloatArray, NDArray[Any]]:
    """Return the rows with both values known."""
    gapped = [each for each in (number, other) if each.is_number and each.counts[side][0]]
    if not gapped:
        return number.values(side), other.values(side)
    known = np.flatnonzero(np.all([each.codes[side] > 0 for each in gapped], axis=0))
    return number.values(side, known), other.values(side, known)


def _both(
    measure: Callable[[Any, Any], float],
    before: tuple[NDArray[Any], NDArray[Any]],
    after: tuple[NDArray[Any], NDArray[Any]],
) -> tuple[float, float, float]:
    """Return the association before, after, and its change."""
    return _change(measure(*before), measure(*after))


def _change(original: float, released: float) -> tuple[float, float, float]:
    if isnan(original) and isnan(released):
        return original, released, nan
    return original, released, abs((0.0 if isnan(original) else original) - (0.0 if isnan(released) else released))
