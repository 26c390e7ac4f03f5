"""How near released rows are to original ones, beside rows of people who are not in the data.

A released row near an original one is no proof of anything: people of the same kind are near one another anyhow. What
counts is whether released rows are nearer than control rows are. That can raise an alarm; it never gives an
all-clear, because a release can leak without being near.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, nan
from typing import Any

import numpy as np

from unveil._kernels.neighbours.density import rows_within
from unveil._kernels.neighbours.nearest import Grid, content_rank, nearest_distances
from unveil._kernels.types import FloatArray, IntArray
from unveil.data.table import Table
from unveil.data.table.encode import Encoded, encode
from unveil.data.table.release import Release
from unveil.errors import InputError
from unveil.measure._listing import metric
from unveil.measure.releases._compared import compared_columns
from unveil.measure.trials.risk import CONFIDENCE, NO_CONTROL, Rate, clopper_pearson, excess

LOW = 0.05
FACTS: dict[str, Any] = {"category": "closeness", "per": "release"}
SOURCE = "Zhao et al. (2021), CTAB-GAN"


@dataclass(frozen=True, kw_only=True)
class Copies:
    """Released rows that equal an original row, beside control rows that do.

    Attributes
    ----------
    rows
        The number of released rows.
    copied
        How many of them equal at least one original row in all compared columns.
    copied_unique
        How many equal exactly one original row, and so point at one person.
    share, control_share
        ``copied / rows``, and the same of control rows: what rows of people who are not in the data come to by
        coincidence. Undefined without a control table.
    expected
        ``control_share * rows``, the copies to expect by coincidence; NaN without a control table.
    excess
        The share beyond that, ``(share - control_share) / (1 - control_share)``.
    """

    rows: int
    copied: int
    copied_unique: int
    share: Rate
    control_share: Rate
    expected: float
    excess: Rate


@dataclass(frozen=True, kw_only=True)
class Nearness:
    """Values of so many rows: the 5 % quantile and the median over those that have one (linear between neighbours).

    Attributes
    ----------
    rows, undefined
        How many rows were looked at, and how many of them have no value.
    low, median
        The 5 % quantile and the median; NaN where no row has a value.
    low_interval, median_interval
        Two of the values between which the figure lies with 95 % confidence for all rows that the same source could
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
class Closeness:
    """Released rows beside control rows, both against the original; ``control`` is None without a control table."""

    released: Nearness
    control: Nearness | None


@metric(more_means="less private", bounds=(0, 1), source="folklore", **FACTS)
def exact_copies(release: Release, *, columns: Sequence[str] | None = None) -> Copies:
    """Return how many released rows equal an original row, beside how many control rows do.

    Formula: ``#{released rows equal to an original row} / #{released rows}``, over all columns that are not
    identifiers and not ignored, or over ``columns``; a missing value equals a missing one. 0 means that no row was
    copied, 1 that every row was. Copies are expected where columns are few or coarse: the same share of the control
    rows says how many. NaN for what needs a control table where there is none.

    >>> import polars as pl
    >>> original, released, control = (Table.from_frame(pl.DataFrame({"age": ages}), name="ages")
    ...     for ages in ([30, 31, 31, 32], [30, 31, 35], [30, 40, 41, 42]))
    >>> copies = exact_copies(Release(original, released, control))
    >>> copies.copied, copies.copied_unique, copies.expected
    (2, 1, 0.75)
    """
    import polars as pl

    # Under plain numbers as names, because some names have a meaning for polars.
    names = {str(place): name for place, name in enumerate(compared_columns(release, columns))}
    tables = (release.original, release.released, *_control(release))
    cells = [pl.DataFrame({key: table.frame.get_column(name) for key, name in names.items()}) for table in tables]
    stacked = pl.concat(
        [frame.with_columns(pl.lit(place).alias(_TABLE)) for place, frame in enumerate(cells)],
        how="vertical_relaxed",
    )
    count = [(pl.col(_TABLE) == place).sum().alias(f"{_TABLE}{place}") for place in range(len(tables))]
    groups = stacked.group_by(list(names)).agg(count).select(pl.exclude(list(names))).to_numpy().astype(np.int64)
    owned = groups[groups[:, 0] > 0]
    rows, copied = release.released.rows, int(owned[:, 1].sum())
    share = clopper_pearson(copied, rows)
    outside = Rate(nan, nan, nan, NO_CONTROL)
    if release.control is not None:
        outside = clopper_pearson(int(owned[:, 2].sum()), release.control.rows)
    return Copies(
        rows=rows,
        copied=copied,
        copied_unique=int(owned[owned[:, 0] == 1, 1].sum()),
        share=share,
        control_share=outside,
        expected=outside.value * rows,
        excess=excess(share, outside),
    )


#: A column beside those of the data, which have numbers for names.
_TABLE = "table"


@metric(more_means="more private", bounds=(0, inf), source=SOURCE, **FACTS)
def distance_to_closest(
    release: Release,
    *,
    columns: Sequence[str] | None = None,
    targets: int | None = None,
    rng: np.random.Generator | None = None,
) -> Closeness:
    """Return how far released rows are from their nearest original row, beside how far control rows are.

    Formula: the median and the 5 % quantile of ``min(distance to an original row)``, where the distance is the mean
    over the columns of 1 for a different category and of the difference over the range for a number. 0 means a copy,
    1 a row that differs fully in every column; beyond 1 are control rows outside the range of the data. Released rows
    that are nearer than control rows are nearer than people of the same kind are to one another. Intervals hold with
    95 % confidence whatever the distribution; rows are the sample, and the original is taken as it is. NaN for the
    interval of the median with fewer than 6 rows, and for that of the quantile with fewer than 72. ``targets`` draws so
    many rows of each table by lot, by what they hold and not by their position; ``rng`` is needed then.

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
    """Return how much nearer released rows are to their nearest original row than to the second, beside control rows.

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
        raise InputError(
            f"targets must be at least 1 and come with rng, but is {targets}. Pass rng, or None for all rows"
        )
    names = compared_columns(release, columns)
    original, *others = encode([release.original, release.released, *_control(release)], names)
    near = []
    for other in others:
        rows = _drawn(other, targets, rng)
        grids = _grid(original), _grid(other, rows)
        if ratio:
            values = _ratio(nearest_distances(*grids, 2))
        else:
            # Counting what ties for the nearest place is quicker than sorting it.
            values = rows_within(*grids, 1)[0] / (original.mismatch_cost * len(names))
        near.append(_nearness(values))
    return Closeness(released=near[0], control=near[1] if len(near) > 1 else None)


def _ratio(found: IntArray) -> FloatArray:
    """Return nearest over second nearest, NaN where there is no second or both are 0."""
    first, second = found.T.astype(np.float64)
    return np.where(second > 0, first, nan) / np.where(second > 0, second, 1)


def _nearness(values: FloatArray) -> Nearness:
    known = values[~np.isnan(values)]
    low, median = np.quantile(known, [LOW, 0.5]).tolist() if known.size else (nan, nan)
    return Nearness(
        rows=values.size,
        low=low,
        median=median,
        undefined=values.size - known.size,
        low_interval=quantile_interval(known, LOW),
        median_interval=quantile_interval(known, 0.5),
    )


def _control(release: Release) -> tuple[Table, ...]:
    return () if release.control is None else (release.control,)


def _drawn(table: Encoded, targets: int | None, rng: np.random.Generator | None) -> IntArray | slice:
    """Return which rows to look at, drawn from the rows sorted by content so that their order plays no part."""
    if targets is None or rng is None or targets >= len(table.numbers):
        return slice(None)
    order = np.argsort(content_rank(_grid(table)), kind="stable")
    return order[rng.choice(order.size, targets, replace=False)]


def _grid(table: Encoded, rows: IntArray | slice = slice(None)) -> Grid:
    return Grid(table.numbers[rows], table.codes[rows], table.step_cost, table.mismatch_cost)


def quantile_interval(values: FloatArray, share: float, *, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return two of the values between which the quantile of all that could have been drawn lies with confidence.

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
    """Return the places, counted from 0, of the limits among so many sorted values; None where there is no such place.

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
