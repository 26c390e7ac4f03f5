"""Closeness of released to original records, compared with the control group.

A released row near an original one is no proof of anything: people of the same kind are near one another anyhow. What
counts is whether released rows are nearer than control rows are. That can raise an alarm; it never gives an
all-clear, because a release can leak without being near.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, inf, nan
from typing import Any

import numpy as np

from unveil._kernels.cells.neighbours import compatible_people, people_around
from unveil._kernels.neighbours.density import rows_within, within
from unveil._kernels.neighbours.nearest import distances_around, nearest_distances
from unveil._kernels.types import FloatArray, IntArray
from unveil.data.table import Table, with_markers
from unveil.data.table.encode import EncodedTable, encode
from unveil.data.table.release import Release
from unveil.errors import InputError
from unveil.metrics._listing import metric
from unveil.metrics.releases._common_columns import compared_columns
from unveil.metrics.trials.membership import area_under_curve
from unveil.metrics.trials.risk import CONFIDENCE, NO_CONTROL, Rate, clopper_pearson, excess

LOW = 0.05
NO_EXACT_ROW = "every released row has range cells"
_BLUNT = 0.2
#: Bins of a histogram, and the share of rows beyond its last edge.
BINS, _BEYOND = 30, 0.01
FACTS: dict[str, Any] = {"category": "closeness", "per": "release"}
SOURCE = "Zhao et al. (2021), CTAB-GAN"


@dataclass(frozen=True, kw_only=True)
class CopyRates:
    """Exact copies among released records, compared with control records.

    Attributes
    ----------
    rows
        The number of released rows without cells that stand for several values: no other row can be a copy.
    copied
        How many of them equal at least one original row in all compared columns.
    copied_unique
        How many equal exactly one original row, and so point at one person.
    share, control_share
        ``copied / rows``, and the same of control rows: what rows of control people come to by coincidence. Undefined
        without a control table.
    expected
        ``control_share * rows``, the copies to expect by coincidence; NaN without a control table.
    excess
        The share beyond that, ``(share - control_share) / (1 - control_share)``.
    fit_one, control_fit_one
        Where released cells stand for several values: the share of released rows with which exactly one person of the
        original is compatible, and exactly one of the control. None where all cells are single values.
    """

    rows: int
    copied: int
    copied_unique: int
    share: Rate
    control_share: Rate
    expected: float
    excess: Rate
    fit_one: Rate | None = None
    control_fit_one: Rate | None = None


@dataclass(frozen=True, kw_only=True)
class DistanceQuantiles:
    """The 5% quantile and the median, with linear interpolation.

    Attributes
    ----------
    rows, undefined
        How many rows were looked at, and how many of them have no value.
    low, median
        The 5 % quantile and the median; NaN where no row has a value.
    low_interval, median_interval
        Two of the values between which the value lies with 95 % confidence for all rows that the same source could
        give, whatever their distribution. The rows are the sample: the original is taken as it is, and another run of
        what made the release may be another source. NaN with fewer than 72 values for ``low`` and 6 for ``median``.
    """

    rows: int
    low: float
    median: float
    undefined: int = 0
    low_interval: tuple[float, float] = (nan, nan)
    median_interval: tuple[float, float] = (nan, nan)


@dataclass(frozen=True, kw_only=True)
class DistanceHistogram:
    """Numbers of released and of control rows by their value, in bins of one width from 0 to ``high``.

    Rows with the value 0 are counted apart, those beyond ``high`` in the last bin. ``nearer`` is the share of pairs of
    a released and a control row in which the released one has the lower value, ties counting half.
    """

    COUNTS = "statistic"

    high: float
    released: tuple[int, ...]
    released_zero: int
    control: tuple[int, ...] = ()
    control_zero: int = 0
    #: The number of released and of control rows, with those without a value.
    rows: tuple[int, int] = (0, 0)
    nearer: Rate | None = None
    #: Whether numbers are multiples of the smallest one that may be shown.
    is_rounded: bool = False


@dataclass(frozen=True, kw_only=True)
class Closeness:
    """Closeness of released and control records to the original data.

    ``control`` is None without a control table.

    ``blunt`` says that more than a fifth of the released cells are no single values: those are near to very many.
    ``histogram`` is None where no row has a value.
    """

    released: DistanceQuantiles
    control: DistanceQuantiles | None
    blunt: bool = False
    histogram: DistanceHistogram | None = None


@metric(more_means="less private", bounds=(0, 1), source="folklore", **FACTS)
def exact_copies(release: Release, *, columns: Sequence[str] | None = None) -> CopyRates:
    """Return the exact copies among released and control records.

    Formula: ``#{released rows equal to an original row} / #{released rows}``, over all columns that are not
    identifiers and not ignored, or over ``columns``; a missing value equals a missing one. 0 means that no row was
    copied, 1 that every row was. Copies are expected where columns are few or coarse: the same share of the control
    rows says how many. A row with a cell that stands for several values is no copy; ``fit_one`` says how many rows
    leave one person only. NaN for what needs a control table where there is none.

    >>> import polars as pl
    >>> original, released, control = (Table.from_frame(pl.DataFrame({"age": ages}), name="ages")
    ...     for ages in ([30, 31, 31, 32], [30, 31, 35], [30, 40, 41, 42]))
    >>> copies = exact_copies(Release(original, released, control))
    >>> copies.copied, copies.copied_unique, copies.expected
    (2, 1, 0.75)
    """
    import polars as pl

    compared = compared_columns(release, columns)
    tables = (release.original, exact_rows(release.released, compared), *_control(release))
    cells = with_markers(tables, compared)
    stacked = pl.concat(
        [frame.with_columns(pl.lit(place).alias(_TABLE)) for place, frame in enumerate(cells)],
        how="vertical_relaxed",  # whole numbers in one table may be real ones in the other
    )
    count = [(pl.col(_TABLE) == place).sum().alias(f"{_TABLE}{place}") for place in range(len(tables))]
    keys = cells[0].columns
    groups = stacked.group_by(keys).agg(count).select(pl.exclude(keys)).to_numpy().astype(np.int64)
    owned = groups[groups[:, 0] > 0]
    rows, copied = tables[1].rows, int(owned[:, 1].sum())
    share = clopper_pearson(copied, rows) if rows else Rate(nan, nan, nan, NO_EXACT_ROW)
    outside = Rate(nan, nan, nan, NO_CONTROL if rows else NO_EXACT_ROW)
    if release.control is not None and rows:
        outside = clopper_pearson(int(owned[:, 2].sum()), release.control.rows)
    return CopyRates(
        rows=rows,
        copied=copied,
        copied_unique=int(owned[owned[:, 0] == 1, 1].sum()),
        share=share,
        control_share=outside,
        expected=outside.value * rows,
        excess=excess(share, outside),
        **rows_that_fit_one(release, compared),
    )


def exact_rows(released: Table, names: Sequence[str]) -> Table:
    """Return the released rows in which no cell stands for several values."""
    coarse = released.coarse(names)
    if not coarse or released.cells is None:
        return released
    single = np.all([released.cells[name].single[released.cells[name].of_row] for name in coarse], axis=0)
    return released.select(names).single_values().take(np.flatnonzero(single))


def rows_that_fit_one(release: Release, names: Sequence[str]) -> dict[str, Rate]:
    """Return released rows compatible with one person only.

    It counts people of the original and of the control; nothing if all rows are exact.
    """
    original, released, *control = encode([release.original, release.released, *_control(release)], names)
    if released.cells is None:
        return {}
    shares = [
        clopper_pearson(int((compatible_people(released.cells, people.grid()) == 1).sum()), release.released.rows)
        for people in (original, *control)
    ]
    return {"fit_one": shares[0], "control_fit_one": shares[1] if control else Rate(nan, nan, nan, NO_CONTROL)}


#: A column next to those of the data, which have numbers for names.
_TABLE = "table"


@metric(more_means="more private", bounds=(0, inf), source=SOURCE, **FACTS)
def distance_to_closest(
    release: Release,
    *,
    columns: Sequence[str] | None = None,
    targets: int | None = None,
    rng: np.random.Generator | None = None,
) -> Closeness:
    """Return the DCR of released and of control records.

    Formula: the median and the 5 % quantile of ``min(distance to an original row)``, where the distance is the mean
    over the columns of 1 for a different category and of the difference over the range for a number. 0 means a copy, 1
    a row that differs fully in every column; beyond 1 are control rows outside the range of the data. Released rows
    that are nearer than control rows are nearer than people of the same kind are to one another. Intervals hold with 95
    % confidence whatever the distribution; rows are the sample, and the original is taken as it is. NaN for the
    interval of the median with fewer than 6 rows, and for that of the quantile with fewer than 72. ``targets`` draws
    this many rows of each table at random, by what they hold and not by their position; ``rng`` is needed then.

    >>> import polars as pl
    >>> original, released, control = (Table.from_frame(pl.DataFrame({"age": ages}), name="ages")
    ...     for ages in ([20, 30, 40], [20, 30, 35], [24, 25, 26]))
    >>> closeness = distance_to_closest(Release(original, released, control))
    >>> closeness.released.median, closeness.control.median
    (0.0, 0.2)
    """
    return _closeness(release, columns, targets, rng, ratio=False)


@metric(more_means="more private", bounds=(0, 1), source=SOURCE, **FACTS)
def nearest_distance_ratio(
    release: Release,
    *,
    columns: Sequence[str] | None = None,
    targets: int | None = None,
    rng: np.random.Generator | None = None,
) -> Closeness:
    """Return the NNDR of released and of control records.

    Formula: the median and the 5 % quantile of ``nearest distance / second nearest distance``, the distance being that
    of :func:`distance_to_closest`. 0 means that the row equals one original row and no other, 1 that two are equally
    near. Released rows with smaller ratios than control rows stand by one original row more than people of the same
    kind do. Intervals are those of :func:`distance_to_closest`: rows are the sample. NaN where both distances are 0,
    because the row then equals several original rows (such rows are counted as ``undefined``), and where there is only
    one original row. NaN for the interval of the median with fewer than 6 such ratios, and for that of the quantile
    with fewer than 72.

    >>> import polars as pl
    >>> original, released = (Table.from_frame(pl.DataFrame({"age": ages}), name="ages") for ages in ([20, 30], [21]))
    >>> round(nearest_distance_ratio(Release(original, released)).released.median, 4)
    0.1111
    """
    return _closeness(release, columns, targets, rng, ratio=True)


def _closeness(
    release: Release,
    columns: Sequence[str] | None,
    targets: int | None,
    rng: np.random.Generator | None,
    *,
    ratio: bool,
) -> Closeness:
    if targets is not None and (targets < 1 or rng is None):
        raise InputError(f"targets is {targets}; it must be at least 1 and needs rng. Pass rng, or None for all rows")
    names = compared_columns(release, columns)
    original, *others = encode([release.original, release.released, *_control(release)], names)
    sides = []
    for other in others:
        rows = _drawn(other, targets, rng)
        if ratio:
            values = _ratio(_two_distances(original, other, rows))
        else:
            values = _distance(original, other, rows) / (original.mismatch_cost * len(names))
        sides.append(values)
    near = [_nearness(values) for values in sides]
    coarse = [(release.released.cells or {})[name].open_share for name in release.released.coarse(names)]
    blunt = sum(coarse) > _BLUNT * len(names)
    return Closeness(
        released=near[0],
        control=near[1] if len(near) > 1 else None,
        blunt=blunt,
        histogram=_histogram(*sides),
    )


def _histogram(*sides: FloatArray) -> DistanceHistogram | None:
    """Return numbers of rows by value up to the 99 % quantile of both, which is moved up to a whole hundredth."""
    released, outside = (values[~np.isnan(values)] for values in (*sides, np.empty(0))[:2])
    if not released.size:
        return None
    edge = float(np.quantile(np.concatenate([released, outside]), 1 - _BEYOND))
    high = max(ceil(edge * 100 - 1e-9), 1) / 100

    def count(values: FloatArray) -> tuple[int, ...]:
        bins = np.minimum((values[values > 0] / high * BINS).astype(np.int64), BINS - 1)
        return tuple(np.bincount(bins, minlength=BINS).tolist()) if values.size else ()

    return DistanceHistogram(
        high=high,
        released=count(released),
        released_zero=int(np.count_nonzero(released == 0)),
        control=count(outside),
        control_zero=int(np.count_nonzero(outside == 0)),
        rows=(sides[0].size, sides[1].size if len(sides) > 1 else 0),
        nearer=area_under_curve(-released, -outside) if outside.size else None,
    )


def _two_distances(original: EncodedTable, other: EncodedTable, rows: IntArray | slice) -> IntArray:
    if other.cells is not None:
        return distances_around(people_around(other.cells, original.grid(), rows), 2)
    return nearest_distances(original, other.grid(rows), 2)


def _distance(original: EncodedTable, other: EncodedTable, rows: IntArray | slice) -> IntArray:
    # Counting what ties for the nearest place is quicker than sorting it.
    if other.cells is not None:
        return within(people_around(other.cells, original.grid(), rows), 1)[0]
    return rows_within(original, other.grid(rows), 1)[0]


def _ratio(nearest: IntArray) -> FloatArray:
    """Return nearest over second-nearest distance; NaN if undefined."""
    first, second = nearest.T.astype(np.float64)
    return np.where(second > 0, first, nan) / np.where(second > 0, second, 1)


def _nearness(values: FloatArray) -> DistanceQuantiles:
    known = values[~np.isnan(values)]
    low, median = np.quantile(known, [LOW, 0.5]).tolist() if known.size else (nan, nan)
    return DistanceQuantiles(
        rows=values.size,
        low=low,
        median=median,
        undefined=values.size - known.size,
        low_interval=quantile_interval(known, LOW),
        median_interval=quantile_interval(known, 0.5),
    )


def _control(release: Release) -> tuple[Table, ...]:
    return () if release.control is None else (release.control,)


def _drawn(table: EncodedTable, targets: int | None, rng: np.random.Generator | None) -> IntArray | slice:
    """Return a content-ordered random sample of rows."""
    if targets is None or rng is None or targets >= len(table.numbers):
        return slice(None)
    order = table.by_content()
    return order[rng.choice(order.size, targets, replace=False)]


def quantile_interval(values: FloatArray, share: float, *, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return a distribution-free CI of a quantile.

    How many of n independent values lie below the quantile is binomial with the ``share`` as its chance, whatever the
    distribution, so that limits on that number are places in the sorted values. Each side is missed with at most half
    of ``1 - confidence``; with ties the interval misses less often still. Both are NaN where so few values cannot say,
    at 95 % for fewer than 6 values for a median and for fewer than 72 for the 5 % quantile.

    >>> quantile_interval(np.arange(100.0), 0.5)
    (39.0, 60.0)
    """
    places = interval_places(values.size, share, confidence)
    if places is None:
        return nan, nan
    low, high = np.partition(values, places)[list(places)].tolist()
    return low, high


def interval_places(size: int, share: float, confidence: float) -> tuple[int, int] | None:
    """Return the positions of the CI limits among sorted values, or None.

    >>> interval_places(6, 0.5, 0.95), interval_places(5, 0.5, 0.95)
    ((0, 5), None)
    """
    from scipy.special import bdtr, bdtrc

    miss = (1 - confidence) / 2
    number = np.arange(size)
    # The value at place i lies above the quantile if at most i values are below that, and below it if more than i are.
    low = int(np.count_nonzero(bdtr(number, size, share) <= miss)) - 1
    high = size - int(np.count_nonzero(bdtrc(number, size, share) <= miss))
    return (low, high) if low >= 0 and high < size else None
