"""Distributions of a column in the original and in the release, in few bins, for a chart."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from unveil._kernels.types import FloatArray, IntArray
from unveil.data.table import Kind
from unveil.data.table.cells import Cells
from unveil.data.table.release import Release
from unveil.metrics.releases._association import PairedColumn, in_same_cells

if TYPE_CHECKING:
    pass

#: The most bins of a number, the part of all values that is clipped at each end, and the most categories with a bar.
BINS, CLIPPED, CATEGORIES = 20, 0.01, 8
#: The most columns that are kept, and the most different categories of which texts are looked up.
MOST_COLUMNS, _MOST_TEXTS = 24, 100_000


@dataclass(frozen=True, kw_only=True)
class ColumnDistribution:
    """Numbers of original and of released records in the bins or categories of a column.

    Attributes
    ----------
    name, kind
        The column, and the type that it is read as.
    distance
        How far the two distributions are apart, from 0 to 1.
    original, released
        The number of records in each bin, or with each category; of categories the last number is that of all others.
    labels
        The categories, the most frequent first; for a number the ends of its axis. Empty texts where none is known.
    """

    COUNTS = "statistic"

    name: str
    kind: Kind
    distance: float
    original: tuple[int, ...]
    released: tuple[int, ...]
    #: The number of original and of released records, with those that lack a value.
    rows: tuple[int, int]
    is_number: bool
    labels: tuple[str, ...] = ()
    #: Whether numbers are multiples of the smallest one that may be shown.
    is_rounded: bool = False

    def merged(self, minimum: int) -> "ColumnDistribution":
        """Return the distribution with rare categories of both tables merged.

        >>> few = ColumnDistribution(name="town", kind="category", distance=0.0, rows=(53, 53), is_number=False,
        ...                          original=(50, 2, 1), released=(50, 3, 0), labels=("Ulm", "Bonn"))
        >>> few.merged(5).original, few.merged(5).labels
        ((50, 3), ('Ulm',))
        """
        if self.is_number:
            return self
        *pairs, others = zip(self.original, self.released, strict=True)
        kept = [place for place, pair in enumerate(pairs) if max(pair) >= minimum]
        sides = [
            (*(pairs[place][side] for place in kept), others[side] + sum(each[side] for each in pairs)
             - sum(pairs[place][side] for place in kept))
            for side in (0, 1)
        ]  # fmt: skip
        return replace(self, original=sides[0], released=sides[1], labels=tuple(self.labels[place] for place in kept))


def distribution_of(column: PairedColumn, release: Release, distance: float) -> ColumnDistribution:
    """Return the distribution of a column in both tables.

    Numbers are put into at most 20 bins of one width between the 1% and 99% quantiles of both tables; values beyond
    are in the outermost bins. The eight most frequent categories are kept, and the others together.
    """
    original, released = column.counts
    if column.levels is None:
        counts, labels = _categories(column, release)
    else:
        counts, ends = _bins(column.levels[1:], original[1:], released[1:])
        labels = _end_texts(release, column.name, ends)
    return ColumnDistribution(
        name=column.name,
        kind=column.kind,
        distance=distance,
        original=tuple(counts[0].tolist()),
        released=tuple(counts[1].tolist()),
        rows=(release.original.rows, release.released.rows),
        is_number=column.levels is not None,
        labels=labels,
    )


def _bins(
    levels: FloatArray, original: IntArray, released: IntArray
) -> tuple[tuple[IntArray, IntArray], tuple[float, float]]:
    """Return numbers of values by bin, and where the first bin begins and the last one ends."""
    seen = np.flatnonzero(original + released)
    if not seen.size:
        return (np.zeros(1, np.int64), np.zeros(1, np.int64)), (np.nan, np.nan)
    levels, original, released = levels[seen], original[seen], released[seen]
    # Each table counts alike, however many rows it has.
    share = original / max(original.sum(), 1) + released / max(released.sum(), 1)
    below = np.cumsum(share) / share.sum()
    low, high = levels[np.minimum(np.searchsorted(below, (CLIPPED, 1 - CLIPPED)), levels.size - 1)].tolist()
    inside = levels[(levels >= low) & (levels <= high)]
    if inside.size <= BINS:
        place = np.clip(np.searchsorted(inside, levels, "right") - 1, 0, inside.size - 1)
        number = inside.size
    else:
        width, number = _width(inside)
        place = np.clip(np.floor((levels - low) / width + 1e-9).astype(np.int64), 0, number - 1)
        high = low + width * number
    counts = (np.bincount(place, weights=each, minlength=number).astype(np.int64) for each in (original, released))
    return (next(counts), next(counts)), (float(low), float(high))


def _width(levels: FloatArray) -> tuple[float, int]:
    """Return the width of bins and their number; bins of whole numbers hold equally many of these."""
    span, step = float(levels[-1] - levels[0]), float(np.diff(levels).min())
    width = span / BINS
    if span / step < _FINEST:
        width = float(np.ceil((span + step) / BINS / step - 1e-6)) * step
        span += step
    return width, max(int(np.ceil(span / width - 1e-6)), 1)


#: The text of a missing value.
MISSING = "missing"
#: The most values that the text of a cell names.
_MOST_NAMED = 4
#: A column with more steps than that between its ends is taken for one without steps.
_FINEST = 2000


def _end_texts(release: Release, name: str, ends: tuple[float, float]) -> tuple[str, str]:
    """Return the ends of an axis, which are in ranges of the original, as rounded numbers or dates."""
    import polars as pl

    series = release.original.series(name)
    if (not series.dtype.is_numeric() and not series.dtype.is_temporal()) or np.isnan(ends).any():
        return "", ""
    numbers = series.to_physical().cast(pl.Float64)
    low, high = (float(each) for each in (numbers.min() or 0.0, numbers.max() or 0.0))  # type: ignore[arg-type]
    values = [low + end * ((high - low) or 1.0) for end in ends]
    if series.dtype.is_numeric():
        return _rounded(values[0]), _rounded(values[1])
    dates = pl.Series(values).cast(pl.Int64).cast(series.to_physical().dtype).cast(series.dtype)
    first, last = (str(each)[:7] for each in dates.to_list())
    return first, last


def _rounded(value: float) -> str:
    return f"{float(f'{value:.2g}'):g}" if abs(value) < 1e6 else f"{value:.1e}"


def _categories(column: PairedColumn, release: Release) -> tuple[tuple[IntArray, IntArray], tuple[str, ...]]:
    """Return category numbers by frequency, the rest merged, and their texts."""
    original, released = column.counts
    share = original / max(original.sum(), 1) + released / max(released.sum(), 1)
    order = np.argsort(-share, kind="stable")
    order = order[share[order] > 0]
    kept, rest = order[:CATEGORIES], order[CATEGORIES:]
    texts = _texts(column, release)
    counts = tuple(np.append(each[kept], each[rest].sum()) for each in (original, released))
    return (counts[0], counts[1]), tuple(texts.get(int(code), "") for code in kept)


def _texts(column: PairedColumn, release: Release) -> dict[int, str]:
    """Return the text of each code; that of a missing value alone where there are very many."""
    import polars as pl

    missing, name = {0: MISSING}, column.name
    if column.counts[0].size > _MOST_TEXTS:
        return missing
    parts: list[pl.Series] = [
        each.cast(pl.Int8).replace_strict({0: "no", 1: "yes"}, return_dtype=pl.String)
        if each.dtype == pl.Boolean
        else each
        for each in in_same_cells(release, name)
    ]
    values = pl.concat([each.drop_nulls().unique() for each in parts]).unique().sort().to_list()
    if len(values) != column.counts[0].size - 1:
        return missing
    if release.released.coarse([name]):
        values = [_cell_text((release.released.cells or {})[name], word) for word in values]
    return missing | {code: str(value) for code, value in enumerate(values, start=1)}


def _cell_text(cells: Cells, word: str) -> str:
    """Return the values inside a cell that is called by its number."""
    which, number = word.split(" ")
    places = [int(number)]
    if which == "cell":
        start = cells.sets.start
        places = cells.sets.member[start[places[0]] : start[places[0] + 1]].tolist()
    text = ", ".join(str(cells.values[place]) for place in places[:_MOST_NAMED])
    return f"{text}…" if len(places) > _MOST_NAMED else text
