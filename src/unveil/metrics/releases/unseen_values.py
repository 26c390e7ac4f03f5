"""Released values absent from the original: new labels, units, out of range."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from unveil._figure import figure
from unveil._kernels.types import FloatArray
from unveil.data.table.cells import NOBODY, SHOWN, Cells
from unveil.data.table.release import Release
from unveil.metrics.releases._common_columns import compared_columns

if TYPE_CHECKING:
    import polars as pl

#: How loudly a share must be said: not at all or with a count, next to the column's values, or above everything.
Severity = Literal["note", "warning", "headline"]

_WARNED = 0.05
_LOUD = 0.5
_SAME_SHARES = 0.05
_SAME_FACTOR = 0.02
#: By how much one unit is more than another: months, thousands, cents, weeks, days of a year, inches, pounds.
_FACTORS = (12.0, 1000.0, 100.0, 7.0, 365.25, 2.54, 0.4536)
_LEAST_LABELS = 2
_LEAST_QUARTILES = 2
_RANGED = ("number", "ordered", "date")


@dataclass(frozen=True, kw_only=True)
class UnseenValues:
    """Released rows with a value absent from the original, and the cause."""

    COUNTS = "statistic"

    column: str = figure("Name of the column.")
    kind: str = figure("Type of the column with unseen values.")
    rows: int = figure("Released rows with a value in this column.", counts="rows")
    unseen: int = figure(
        "Released rows whose value is absent from the original (categories, truth values), outside its range "
        "(numbers, dates and orders), or of another type. A range cell counts if none of its values is possible, "
        "and in the median as its middle. Cells that could be any are ignored.",
        counts="rows",
    )
    share: float = figure("Unseen values as a share of all released rows, from 0 to 1.")
    is_median_outside: bool = figure("Whether the released median lies outside the original's 1st to 99th percentile.")
    severity: Severity = figure(
        '"note" below 5%, "warning" below 50%, "headline" from 50%, if the median is outside, or with a factor.'
    )
    is_renamed: bool = figure(
        "Whether there are as many labels as in the original, and their sorted shares differ by less than 0.05: "
        "perhaps they were renamed one to one."
    )
    factor: float | None = figure(
        "Factor by which median and quartiles were multiplied, if it is a unit conversion; else null."
    )

    @property
    def is_ranged(self) -> bool:
        """Whether values outside the range are counted."""
        return self.kind in _RANGED


def unseen_values(release: Release, *, columns: Sequence[str] | None = None) -> tuple[UnseenValues, ...]:
    """Return the number of unseen values per column, and likely causes.

    No attack sees through recoded labels or another unit, so values with such a column are no evidence that the release
    is safe. Missing values and markers of no value are left aside.

    Parameters
    ----------
    release
        The release.
    columns
        The columns to look at; by default all that are neither identifiers nor ignored.

    Examples
    --------
    >>> import polars as pl
    >>> from unveil.data.table import Table
    >>> original = Table.from_frame(pl.DataFrame({"pay": [1000, 2000, 3000], "town": ["Ulm", "Ulm", "Bonn"]}))
    >>> released = Table.from_frame(pl.DataFrame({"pay": [12000, 24000, 36000], "town": ["A", "B", "A"]}))
    >>> for each in unseen_values(Release(original, released)):
    ...     print(each.column, each.share, each.severity, each.factor, each.is_renamed)
    pay 1.0 headline 12.0 False
    town 1.0 headline None True
    """
    return tuple(_unseen(release, name) for name in compared_columns(release, columns))


def _unseen(release: Release, name: str) -> UnseenValues:
    kind = release.original.column(name).kind
    original, released = (table.series(name).drop_nulls() for table in (release.original, release.released))
    outside, factor, renamed = False, None, False
    cells = (release.released.cells or {})[name] if release.released.coarse([name]) else None
    rows = released.len() if cells is None else int(np.isin(cells.state, (SHOWN, NOBODY))[cells.of_row].sum())
    odd = 0 if cells is None else int((cells.state == NOBODY)[cells.of_row].sum())
    if not original.len() or not rows:
        pass
    elif kind in _RANGED:
        before = _numbers(original)
        first, last = _ends(cells) if cells is not None else (_numbers(released),) * 2
        odd += int(((last < before.min()) | (first > before.max())).sum())
        after = np.where(np.isinf(first), last, np.where(np.isinf(last), first, first / 2 + last / 2))
        after = after if after.size else before
        low, high = np.quantile(before, [0.01, 0.99])
        outside = not low <= float(np.median(after)) <= high
        factor = _factor(before, after) if kind == "number" else None
    elif cells is None:
        own = original.unique()
        odd = int((~released.is_in(own.implode())).sum())
        renamed = odd == released.len() and _same_shares(original, released)
    odd += _unreadable(release, name) if cells is None else 0
    share = odd / release.released.rows
    loud = share >= _LOUD or outside or factor is not None
    severity: Severity = "headline" if loud else "warning" if share >= _WARNED else "note"
    return UnseenValues(
        column=name,
        kind=kind,
        rows=rows,
        unseen=odd,
        share=share,
        is_median_outside=outside,
        severity=severity,
        is_renamed=renamed,
        factor=factor,
    )


def _ends(cells: Cells) -> tuple[FloatArray, FloatArray]:
    """Return the least and greatest possible value per row."""
    shown = cells.of_row[(cells.state == SHOWN)[cells.of_row]]
    low, high = (end.cast(float).to_numpy() for end in (cells.ranges.low, cells.ranges.high))
    return np.where(np.isnan(low), -np.inf, low)[shown], np.where(np.isnan(high), np.inf, high)[shown]


def _unreadable(release: Release, name: str) -> int:
    """Return how many released cells are none of the original's kind."""
    markers = release.released.column(name).markers
    places = [place for place, marker in enumerate(markers, 1) if marker.kind_of_marker == "unreadable"]
    marked = release.released.marked.get(name)
    return int(marked.is_in(places).sum()) if marked is not None and places else 0


def _numbers(values: "pl.Series") -> FloatArray:
    import polars as pl

    return (values.to_physical() if values.dtype == pl.Enum else values).cast(pl.Float64).to_numpy()


def _same_shares(original: "pl.Series", released: "pl.Series") -> bool:
    one, other = (
        np.sort(part.value_counts(name="how often")["how often"].to_numpy()) / part.len()
        for part in (original, released)
    )
    if one.size != other.size or one.size < _LEAST_LABELS:
        return False
    return bool((np.abs(one - other) < _SAME_SHARES).all())


def _factor(before: FloatArray, after: FloatArray) -> float | None:
    """Return the unit factor of median and quartiles, if consistent."""
    one, other = (np.quantile(part, [0.25, 0.5, 0.75]) for part in (before, after))
    told = one != 0
    if ((other != 0) != told).any() or told.sum() < _LEAST_QUARTILES:
        return None
    ratio = other[told] / one[told]
    for factor in _FACTORS:
        for times in (factor, 1 / factor):
            if (np.abs(ratio / times - 1) <= _SAME_FACTOR).all():
                return times
    return None
