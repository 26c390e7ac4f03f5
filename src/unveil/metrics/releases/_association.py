"""Columns of original and release as codes, and their association."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import nan, sqrt
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.logistic import mean_ranks
from unveil._kernels.neighbours.index import EVERY, sorted_rows
from unveil._kernels.table.pairs import code_counts, looked_up, narrow_codes, pair_counts, pair_keys
from unveil._kernels.threads import in_threads, worth
from unveil._kernels.types import CodeArray, FloatArray, IntArray
from unveil.data.files.column_store import arrays_on_disk
from unveil.data.table import Kind
from unveil.data.table.cells import ABSENT, SHOWN, SUPPRESSED, Cells, OrderedCells
from unveil.data.table.coded_columns import are_close, places, places_of_close
from unveil.data.table.release import Release
from unveil.metrics.releases._common_columns import compared_columns

if TYPE_CHECKING:
    import polars as pl


NUMBER_KINDS = ("number", "ordered", "date")
#: Beyond this many ranges of the original a released value counts as just so far: its square must still be a number.
_FARTHEST = 1e100


@dataclass(frozen=True, eq=False)
class PairedColumn:
    """One column of both tables; rows are sorted by content.

    ``codes`` are the original's and the released one's, in the order of the values, which both tables share; 0 is a
    missing value. ``levels`` are the numbers that they stand for: in ranges of the original from its least value on,
    NaN for a missing one; None where there are none.
    """

    name: str
    kind: Kind
    codes: tuple[CodeArray, CodeArray]
    missing: tuple[float, float]
    levels: FloatArray | None = None

    @property
    def is_number(self) -> bool:
        """Whether the values have an order and distances."""
        return self.kind in NUMBER_KINDS

    @cached_property
    def counts(self) -> tuple[IntArray, IntArray]:
        """Number of original and released rows per code."""
        size = 1 + int(max(codes.max(initial=0) for codes in self.codes))
        first, second = (code_counts(codes, size) for codes in self.codes)
        return first, second

    def values(self, side: int, rows: IntArray | slice = EVERY) -> NDArray[Any]:
        """Return numbers, NaN where missing, or codes of one of the tables."""
        codes = self.codes[side][rows]
        return codes if self.levels is None else looked_up(self.levels, codes)

    def ranks(self, side: int) -> FloatArray:
        """Return the rank of each number, averaged over ties, from 1."""
        count = self.counts[side][1:]
        middle = np.cumsum(count) - (count - 1) / 2
        return looked_up(np.concatenate([[nan], middle]), self.codes[side])


def compare(release: Release, columns: Sequence[str] | None) -> tuple[PairedColumn, ...]:
    """Return the columns of both tables, with rows sorted by content."""
    names = compared_columns(release, columns)
    tables, store = (release.original, release.released), release.original.store

    def coded(name: str) -> PairedColumn:
        original, released = in_same_cells(release, name)
        kind = release.original.column(name).kind
        levels = None
        if kind in NUMBER_KINDS:
            codes, levels = _numbers(original, released, kind)
        else:
            codes = _codes(original, released)
        codes = arrays_on_disk(codes, store)
        return PairedColumn(
            name=name,
            kind=kind,
            codes=(codes[: original.len()], codes[original.len() :]),
            missing=(original.null_count() / original.len(), released.null_count() / released.len()),
            levels=levels,
        )

    found = in_threads(coded, names, threads=worth(release.original.rows))
    orders = [sorted_rows((each.codes[side] for each in found), tables[side].rows).order for side in (0, 1)]

    def in_order(each: PairedColumn) -> PairedColumn:
        first, second = (arrays_on_disk(one[order], store) for one, order in zip(each.codes, orders, strict=True))
        return replace(each, codes=(first, second))

    return tuple(map(in_order, found))


def in_same_cells(release: Release, name: str) -> tuple["pl.Series", "pl.Series"]:
    """Return a column of both tables, original values in released cells.

    A cell of a column with an order is the mean of the people inside it, any other a category of its own; one that was
    suppressed is missing. A value is put into the narrowest cell that holds it, and stays as it is if none does.
    """
    if not release.released.coarse([name]):
        return release.original.series(name), release.released.series(name)
    cells = (release.released.cells or {})[name]
    place = cells.places(release.original.held(name))
    shown, single = _means(cells, place) if isinstance(cells.holds, OrderedCells) else _words(cells)
    put = np.append(cells.narrowest(), -1)[np.maximum(place, -1)]
    # After the cells come the values themselves, and then what is missing.
    every = shown.clone().append(single).append(shown.clear(1))
    own = np.where(place < 0, every.len() - 1, np.where(put < 0, cells.state.size + place, put))
    return every.gather(own), shown.gather(cells.of_row)


def _means(cells: Cells, place: IntArray) -> tuple["pl.Series", "pl.Series"]:
    """Return the mean of people per cell, and the values themselves."""
    import polars as pl

    values = cells.values.to_physical().cast(pl.Float64)
    number, size = values.to_numpy(), len(cells.values)
    people = np.bincount(place[place >= 0], minlength=size)
    count, total = (np.concatenate([[0], np.cumsum(each)]) for each in (people, people * number))
    first, end = cells.ranges.first, np.maximum(cells.ranges.last + 1, cells.ranges.first)
    many = count[end] - count[first]
    low, high = (each.cast(pl.Float64).to_numpy() for each in (cells.ranges.low, cells.ranges.high))
    middle = np.where(np.isnan(low), high, np.where(np.isnan(high), low, low / 2 + high / 2))
    mean = np.where(many > 0, (total[end] - total[first]) / np.maximum(many, 1), middle)
    mean = np.where(cells.single, low, mean)
    mean[cells.state != SHOWN] = nan
    return pl.Series(mean, nan_to_null=True), values


def _words(cells: Cells) -> tuple["pl.Series", "pl.Series"]:
    """Return a label per cell, missing if unreadable, and per value."""
    import polars as pl

    gone = np.isin(cells.state, (SUPPRESSED, ABSENT)).tolist()
    shown = [None if lost else f"cell {number}" for number, lost in enumerate(gone)]
    values = [f"value {number}" for number in range(len(cells.values))]
    return pl.Series(shown, dtype=pl.String), pl.Series(values, dtype=pl.String)


def _codes(original: "pl.Series", released: "pl.Series") -> CodeArray:
    """Return both columns stacked, as ordered codes; 0 if missing."""
    import polars as pl

    parts = [part.cast(pl.Int8) if part.dtype == pl.Boolean else part for part in (original, released)]
    return narrow_codes(places(pl.concat(parts)))


def _numbers(original: "pl.Series", released: "pl.Series", kind: Kind) -> tuple[CodeArray, FloatArray]:
    """Return both columns stacked as codes from 1, and the code values.

    They are in ranges of the original from its least value on; unscaled where it has no range.
    """
    import polars as pl

    parts = [original, released]
    if isinstance(original.dtype, pl.Enum):
        parts = [part.to_physical().cast(pl.Int64) for part in parts]
    elif kind == "date":
        parts = [part.cast(pl.Int64) for part in parts]
    elif kind == "ordered":
        # Only the order of the levels means something, so steps from one to the next are alike.
        ranks = pl.concat([part.cast(pl.Float64) for part in parts]).rank("dense").cast(pl.Int64)
        parts = [ranks[: original.len()], ranks[original.len() :]]
    codes: CodeArray
    if parts[0].dtype == parts[1].dtype and are_close(stacked := pl.concat(parts)):
        # Each different number is put on the scale once.
        codes, words = places_of_close(stacked)
        every, own = pl.Series(words, dtype=pl.Int64), code_counts(codes[: original.len()], len(words) + 1)[1:] > 0
        levels, place = np.unique(_in_ranges([every.filter(own), every])[1], return_inverse=True)
        if levels.size < place.size:
            codes = looked_up(np.concatenate([[0], 1 + place]), codes)
    else:
        levels, codes = np.unique(np.concatenate(_in_ranges(parts)), return_inverse=True)
        has_gaps = levels.size > 0 and bool(np.isnan(levels[-1]))
        codes = np.where(codes == levels.size - 1, 0, 1 + codes) if has_gaps else 1 + codes
        levels = levels[: levels.size - has_gaps]
    return narrow_codes(codes), np.concatenate([[nan], levels])


def _in_ranges(parts: Sequence["pl.Series"]) -> tuple[FloatArray, FloatArray]:
    """Return the range numbers of original and release."""
    import polars as pl

    if all(part.dtype.is_integer() for part in parts):
        # Whole numbers are shifted before they become floats, which would round long ones.
        low = next((int(part.min()) for part in parts if part.null_count() < part.len()), 0)  # type: ignore[arg-type]
        origin = pl.Series([low], dtype=pl.Int128)
        parts = [part.cast(pl.Int128) - origin for part in parts]
    first, second = (part.cast(pl.Float64).to_numpy() for part in parts)
    return _scaled(first, second)


def _scaled(original: FloatArray, released: FloatArray) -> tuple[FloatArray, FloatArray]:
    known = original[~np.isnan(original)]
    ranges = known.size > 0 and bool(known.min() < known.max())
    wide = known if ranges else np.concatenate([known, released[~np.isnan(released)]])
    # By a power of two, which rounds nothing: the difference of two of the largest floats would be infinite.
    power = -int(np.frexp(np.abs(wide).max(initial=0.0))[1])
    with np.errstate(over="ignore"):
        first, second = np.ldexp(original, power), np.ldexp(released, power)
        low, high = (np.nanmin(first), np.nanmax(first)) if known.size else (0.0, 0.0)
        unit = high - low if ranges else 1.0
        return (first - low) / unit, np.clip((second - low) / unit, -_FARTHEST, _FARTHEST)


def correlation(x: FloatArray, y: FloatArray) -> float:
    """Return Pearson's correlation, NaN where one of the two does not vary.

    >>> correlation(np.array([1.0, 2.0, 3.0]), np.array([2.0, 4.0, 6.0]))
    1.0
    """
    if x.size < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return nan
    # Divided by their reach first, so that squares of small or large numbers stay numbers.
    x, y = _divided(x), _divided(y)
    return min(max(float(x @ y) / sqrt(float(x @ x) * float(y @ y)), -1.0), 1.0)


def _divided(numbers: FloatArray) -> FloatArray:
    """Return the distance of each number from the mean, in pooled ranges."""
    apart: FloatArray = numbers - numbers.mean()
    apart /= np.ptp(numbers)
    return apart


def rank_correlation(x: FloatArray, y: FloatArray) -> float:
    """Return Spearman's correlation with mean ranks; NaN for a constant.

    >>> round(rank_correlation(np.array([1.0, 2.0, 30.0]), np.array([2.0, 4.0, 5.0])), 12)
    1.0
    """
    return correlation(mean_ranks(x), mean_ranks(y))


def cramers_v(a: CodeArray, b: CodeArray) -> float:
    """Return Cramér's V with Bergsma's correction, or NaN.

    It is NaN where one of the two does not vary or never repeats.

    >>> cramers_v(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 0]))
    1.0
    """
    rows = a.size
    size_a, size_b = code_counts(a), code_counts(b)
    levels_a, levels_b = np.count_nonzero(size_a), np.count_nonzero(size_b)
    # The corrected numbers of levels minus 1; 0 where every row has its own level.
    room = min((k - 1) * (rows - k) / max(rows - 1, 1) for k in (levels_a, levels_b))
    if room <= 0:
        return nan
    cell_a, cell_b, cell = _cells(a, b, size_b.size)
    phi = float((cell / size_a[cell_a] * (cell / size_b[cell_b])).sum()) - 1
    corrected = phi - (levels_a - 1) * (levels_b - 1) / (rows - 1)
    return sqrt(min(max(corrected, 0.0) / room, 1.0))


def _cells(a: CodeArray, b: CodeArray, width: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return the pairs of codes that occur, and how often each does."""
    size = int(a.max()) + 1
    if size * width <= 4 * a.size + 1024:
        counts = pair_counts(a, b, size, width)
        seen = np.flatnonzero(counts)
        counts = counts[seen]
    else:
        seen, counts = np.unique(pair_keys(a, b, width), return_counts=True)
    return seen // width, seen % width, counts


def correlation_ratio(x: FloatArray, group: CodeArray) -> float:
    """Return the correlation ratio with Kelley's correction.

    The correction takes away what as many groups explain by chance. NaN where the number does not vary, there is one
    group only, or every row is a group of its own.

    >>> correlation_ratio(np.array([1.0, 1.0, 5.0, 5.0]), np.array([0, 0, 1, 1]))
    1.0
    """
    sizes = code_counts(group)
    groups = np.count_nonzero(sizes)
    if x.size <= groups or groups < 2 or np.ptp(x) == 0:
        return nan
    x = (x - x.mean()) / np.ptp(x)
    sums = np.bincount(group, weights=x)[sizes > 0]
    between = float((sums * sums / sizes[sizes > 0]).sum()) / float(x @ x)
    return sqrt(min(max(1 - (1 - between) * (x.size - 1) / (x.size - groups), 0.0), 1.0))
