"""Test whether codes are ordered: other columns change along them."""

from collections.abc import Sequence
from itertools import permutations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl

    from unveil.data.table.coded_columns import CellFrame

Floats = NDArray[np.float64]

_MOST_ROWS = 20_000
_MOST_FEATURES = 60
_MOST_WORDS = 6
_LEAST_F = 4.0
#: How many orders are drawn by lot; they are always the same ones.
ORDERS = 200
# Orders that are each other's reverse are equally good, but for rounding.
_ROUNDING = 1e-12


class CodeOrderTest(NamedTuple):
    """Result of the order test: how well other columns agree with the codes.

    ``share`` is the part of what the codes tell about other columns that a straight line along the codes explains,
    from 0 to 1, NaN where they tell nothing; ``as_good`` is how many of the 200 orders drawn by lot explain as much,
    and ``best`` whether no order does better, which is tried out for three codes only.
    """

    codes: int
    share: float
    as_good: int
    best: bool

    @property
    def is_ordered(self) -> bool:
        """True if the codes count as ordered."""
        if self.codes == 3:
            return self.share >= 0.8 and self.best
        chance = self.as_good / ORDERS
        clear = self.codes >= 4 and self.share >= 0.5 and chance <= 0.1
        return clear or (self.codes >= 5 and self.share >= 0.2 and chance <= 0.02)


def order_test(codes: "pl.Series", features: Floats) -> CodeOrderTest:
    """Return how well other columns agree with the order of these codes.

    Parameters
    ----------
    codes
        The codes as numbers, null where there is none; at least three different ones.
    features
        The other columns as numbers, one row per code; NaN where there is none. See `features_of`.

    Examples
    --------
    >>> import polars as pl
    >>> school = pl.Series([1, 2, 3, 4] * 50)
    >>> pay = np.array([10.0, 21.0, 29.0, 41.0] * 50) + np.arange(200) % 7
    >>> found = order_test(school, pay[:, None])
    >>> round(found.share, 2), found.is_ordered
    (0.99, True)
    """
    there = codes.is_not_null().to_numpy()
    level = codes.rank("dense").fill_null(1).to_numpy().astype(np.int64)[there] - 1
    size = int(level.max(initial=-1)) + 1
    sums = _sums(level, features[there], size)
    shares = _shares(_orders(size), sums.only(_telling(sums)))
    own, others = shares[0], shares[1:]
    better = others > own + _ROUNDING
    return CodeOrderTest(
        codes=size,
        share=float(own),
        as_good=int((others[:ORDERS] >= own - _ROUNDING).sum()),
        best=size == 3 and not better.any(),
    )


def _orders(size: int) -> Floats:
    """Return code orders, one per row: their own, then random or all."""
    rng = np.random.default_rng(0)
    own = np.arange(size, dtype=np.float64)
    drawn = [rng.permutation(own) for _ in range(ORDERS)]
    return np.array([own, *drawn, *(permutations(own) if size == 3 else ())])


class _Sums(NamedTuple):
    """Counts, sums, and sums of squares of features by code.

    Features are ranks, so that all of these are exact, in whatever order the rows come.
    """

    weight: Floats
    total: Floats
    squares: Floats

    def only(self, kept: NDArray[np.int64]) -> "_Sums":
        return _Sums(self.weight[:, kept], self.total[:, kept], self.squares[kept])

    def variations(self) -> tuple[Floats, Floats]:
        """Return the total and between-code sums of squares of each feature."""
        rows, everything = self.weight.sum(axis=0), self.total.sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            around = everything**2 / rows
            means = np.where(self.weight > 0, self.total**2 / self.weight, 0.0).sum(axis=0)
        return self.squares - around, means - around


def _sums(level: NDArray[np.int64], features: Floats, size: int) -> _Sums:
    order = np.argsort(level, kind="stable")
    start = np.searchsorted(level[order], np.arange(size))
    there = ~np.isnan(features[order])
    filled = np.where(there, features[order], 0.0)
    weight = np.add.reduceat(there.astype(np.float64), start, axis=0)
    return _Sums(weight, np.add.reduceat(filled, start, axis=0), (filled**2).sum(axis=0))


def _telling(sums: _Sums) -> NDArray[np.int64]:
    """Return the features that differ between codes, strongest first."""
    all_of_it, between = sums.variations()
    rows, present = sums.weight.sum(axis=0), (sums.weight > 0).sum(axis=0)
    within = all_of_it - between
    with np.errstate(invalid="ignore", divide="ignore"):
        f = np.where(within > 0, (between / (present - 1)) / (within / (rows - present)), np.inf)
    f = np.where((between > 0) & (present > 1) & (rows > present), f, 0.0)
    best = np.argsort(-f, kind="stable")[:_MOST_FEATURES]
    return np.asarray(best[f[best] > _LEAST_F])


def _shares(orders: Floats, sums: _Sums) -> Floats:
    """Return the share of between-code variation explained linearly, by order."""
    if not sums.weight.size:
        return np.full(len(orders), np.nan)
    all_of_it, between = sums.variations()
    rows = sums.weight.sum(axis=0)
    place = orders @ sums.weight / rows
    spread = orders**2 @ sums.weight - rows * place**2
    along = orders @ sums.total - place * sums.total.sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        explained = np.where(spread > 0, along**2 / spread, 0.0) / all_of_it
    return np.asarray(explained.sum(axis=1) / (between / all_of_it).sum())


def features_of(columns: Sequence["pl.Series"]) -> list[Floats]:
    """Return each column as numeric features, NaN for missing.

    A number, a date or an order is its rank among the values, a word is 0 or 1 for each of the six most frequent ones.

    >>> import polars as pl
    >>> features_of([pl.Series([30, None, 50]), pl.Series(["a", "b", "a"])])[1].tolist()
    [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]]
    """
    return [_feature(column) for column in columns]


def _feature(column: "pl.Series") -> Floats:
    import polars as pl

    if column.dtype == pl.Enum:
        column = column.to_physical()
    if column.dtype != pl.String:
        rank = column.cast(pl.Int8) if column.dtype == pl.Boolean else column.rank()
        return rank.cast(pl.Float64).fill_null(float("nan")).to_numpy()[:, None]
    counts = column.drop_nulls().value_counts(name="how often")
    frequent = counts.sort(["how often", counts.columns[0]], descending=[True, False])[counts.columns[0]]
    made = [(column == word).cast(pl.Float64).fill_null(float("nan")) for word in frequent.head(_MOST_WORDS)]
    return np.column_stack(made) if made else np.empty((column.len(), 0))


def rows_for_test(frame: "CellFrame") -> "NDArray[np.int64] | None":
    """Return up to 20,000 rows for the test, chosen by content.

    Rows with the same cells count as one another, so that which of them is taken does not matter.
    """
    if frame.height <= _MOST_ROWS:
        return None
    hashes = frame.hash_rows(seed=0).to_numpy()
    return np.sort(np.argpartition(hashes, _MOST_ROWS)[:_MOST_ROWS])
