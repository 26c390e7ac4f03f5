"""Row-order leakage: row i of the release belongs to row i.

Then the rows were not shuffled.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from unveil._kernels.cells.boxes import CellColumns
from unveil._kernels.cells.nearest_boxes import item_distances
from unveil._kernels.cells.neighbours import people_around
from unveil._kernels.neighbours.index import IntegerGrid
from unveil._kernels.neighbours.matrix import pair_distances
from unveil._kernels.neighbours.sketch import nearest_sketch
from unveil._kernels.types import BoolArray, Int32Array, IntArray
from unveil.attacks._listing import attack
from unveil.attacks.table.record_linkage import Neighbours, check_settings, compared, neighbours_of
from unveil.data.table import Table
from unveil.data.table.encode import LAST_MARKER, EncodedTable
from unveil.data.table.release import Knowledge
from unveil.errors import InputError
from unveil.guesses.trials import Attempts, Trials

PERMUTATIONS = 999
# This many positions tell whether rows are nearer than by chance; more would only take longer.
_TESTED = 5_000
# This many pairs at most are looked for at a time: however many rows tie, the memory this takes is bounded.
_PAIRS = 20_000_000


@dataclass(frozen=True, kw_only=True, eq=False)
class RowOrderTest:
    """Distance of rows at the same position, compared with randomly paired rows.

    Attributes
    ----------
    rows
        How many positions were compared: those of the targets, of which 5,000 are drawn if there are more.
    distance
        The mean distance of the two rows at the same position, in columns: 1 is a different category, or a number as
        far away as the column is wide.
    by_chance
        The mean distance of all pairs, which is what pairing at random gives on average.
    p_value
        The share of pairings at random, the one of the tables among them, in which rows are at most as far apart: small
        when the order of rows was kept. It is at least 1 / (permutations + 1).
    permutations
        How many pairings were drawn.
    """

    rows: int
    distance: float
    by_chance: float
    p_value: float
    permutations: int


@attack(source="folklore: a masked file that was never shuffled", uses_row_order=True)
@dataclass(frozen=True, kw_only=True)
class RowOrder:
    """Assume that released rows keep the order of the original.

    A hit is a released row that stands at its own place: fewer than ``neighbours`` original rows are nearer to it than
    the one at the same position. Rows that are as near take no hit away, so that a copy in the same order hits
    everywhere. The naive rate is that of an order at random, exactly: the share of original rows that would be a hit.
    There is no control, because people outside the data have no position in it. Both tables must have the same number
    of rows. Tables that are both sorted by the same column stand out too: their order gives away that much.

    Parameters
    ----------
    columns
        The columns to compare; None for all that both tables have and the attacker knows.
    neighbours
        How many of the nearest original rows count, with all that are as near as the last; at most all rows.
    targets
        How many rows are looked at, drawn at random; None for all.

    Examples
    --------
    >>> import polars as pl
    >>> original = Table.from_frame(pl.DataFrame({"age": [25, 30, 28]}), name="original")
    >>> released = Table.from_frame(pl.DataFrame({"age": [24, 33, 29]}), name="released")
    >>> trials = RowOrder().run(released=released, knowledge=Knowledge(original), rng=np.random.default_rng(1))
    >>> trials.attack.chances, trials.naive.expected
    (array([1., 1., 1.]), 1.33...)
    """

    columns: tuple[str, ...] | None = None
    neighbours: int = 1
    targets: int | None = 500

    def __post_init__(self) -> None:
        check_settings(self.columns, self.neighbours, self.targets)

    def run(self, *, released: Table, knowledge: Knowledge, rng: np.random.Generator) -> Trials:
        """Return rows whose own position is nearest; ``rng`` draws rows."""
        original, masked, rows = self._drawn(released, knowledge, rng)
        size, k = original.size, self.neighbours
        if masked.cells is None:
            hits, near = _hits_by_value(original, masked, rows, k)
        else:
            pieces = np.array_split(rows, -(-rows.size * size // _PAIRS))
            found = [_hits(neighbours_of(original, masked, k, rows=piece), piece) for piece in pieces]
            hits, near = (np.concatenate(side) for side in zip(*found, strict=True))
        return Trials(
            attack=Attempts.from_chances(hits, rows=rows),
            naive=Attempts.from_chances(near / size, rows=rows),
            control=None,
            what="no original row is nearer than the one at the same position",
            notes=(_sentence(*_paired(original, masked, rows, rng)),),
        )

    def test(
        self, *, released: Table, knowledge: Knowledge, rng: np.random.Generator, permutations: int = PERMUTATIONS
    ) -> RowOrderTest:
        """Return a permutation test of distances between equal positions.

        >>> import polars as pl
        >>> ages = Table.from_frame(pl.DataFrame({"age": range(20, 50)}), roles={"age": "known"})
        >>> kept = RowOrder().test(released=ages, knowledge=Knowledge(ages), rng=np.random.default_rng(1))
        >>> kept.distance, kept.p_value
        (0.0, 0.001)
        """
        check_settings(None, permutations, None)
        original, masked, rows = self._drawn(released, knowledge, rng)
        return _test(original, masked, rows, permutations=permutations, rng=rng)

    def _drawn(
        self, released: Table, knowledge: Knowledge, rng: np.random.Generator
    ) -> tuple[EncodedTable, EncodedTable, IntArray]:
        size = knowledge.records.rows
        if released.rows != size:
            raise InputError(
                "row order needs tables of the same length, but the "
                f"{released.name} has {released.rows} rows and the {knowledge.records.name} {size}. "
                "Leave this attack out"
            )
        original, masked = compared(knowledge.records, released, self.columns)
        if self.targets is None or self.targets >= size:
            return original, masked, np.arange(size)
        return original, masked, np.sort(rng.choice(size, self.targets, replace=False))


def _hits(neighbours: Neighbours, own: IntArray) -> tuple[BoolArray, IntArray]:
    """Return whether each row's own position is nearest, and the ties."""
    count = np.diff(neighbours.start)
    target = np.repeat(np.arange(own.size), count)
    hits = np.zeros(own.size, bool)
    hits[target[neighbours.row == own[target]]] = True
    return hits, count


def _hits_by_value(original: EncodedTable, masked: EncodedTable, rows: IntArray, k: int) -> tuple[BoolArray, IntArray]:
    """Return `_hits` for single values, by distance of the own row."""
    near, own = nearest_sketch(original, masked.grid(rows), k), original.grid(rows)
    return pair_distances(own, masked.grid(rows)) <= near.limit(k), near.sure(k)[0] + near.tied(k)[0]


def _paired(
    original: EncodedTable, masked: EncodedTable, rows: IntArray, rng: np.random.Generator
) -> "tuple[IntArray, _RowPairs | _CoarsePairs]":
    """Return the positions that are compared, and the rows at them."""
    if rows.size > _TESTED:
        rows = np.sort(rng.choice(rows, _TESTED, replace=False))
    own_rows = original.grid(rows)
    if masked.cells is None:
        return np.arange(rows.size), _RowPairs(own_rows, masked.grid(rows))
    return np.arange(rows.size), _CoarsePairs(own_rows, masked.cells, rows)


def _test(
    original: EncodedTable, masked: EncodedTable, rows: IntArray, *, permutations: int, rng: np.random.Generator
) -> RowOrderTest:
    places, pairs = _paired(original, masked, rows, rng)
    own = pairs.apart(places)
    # Sums of the same distances in another order may differ by their rounding, which must not count as nearer.
    limit = own * (1 + 1e-9)
    nearer = sum(pairs.apart(rng.permutation(places)) <= limit for _ in range(permutations))
    return RowOrderTest(
        rows=places.size,
        distance=own,
        by_chance=pairs.by_chance(),
        p_value=(1 + nearer) / (1 + permutations),
        permutations=permutations,
    )


class _RowPairs(NamedTuple):
    """Original and released rows at the same positions, compared in single values."""

    original: IntegerGrid
    masked: IntegerGrid

    def apart(self, order: IntArray) -> float:
        """Return the mean distance in this row order, in columns."""
        original, masked = self
        total = float((original.codes[order] != masked.codes).sum())
        for place, step in enumerate(_steps(original)):
            x, y = original.numbers[order, place], masked.numbers[:, place]
            gone = (x <= LAST_MARKER) | (y <= LAST_MARKER)
            total += float((gone & (x != y)).sum()) + step * float(np.abs(np.where(gone, 0, x - y)).sum())
        return total / order.size

    def by_chance(self) -> float:
        """Return the mean distance of all pairs, from sorted columns."""
        original, masked = self
        total, every = 0.0, original.size**2
        for x, y in zip(original.codes.T, masked.codes.T, strict=True):
            total += 1 - _equal_pairs(x, y) / every
        for place, step in enumerate(_steps(original)):
            x, y = original.numbers[:, place], masked.numbers[:, place]
            unlike = every - _equal_pairs(x[x <= LAST_MARKER], y[y <= LAST_MARKER])
            x, y = x[x > LAST_MARKER].astype(np.float64), np.sort(y[y > LAST_MARKER]).astype(np.float64)
            unlike -= x.size * y.size
            below = np.searchsorted(y, x)
            sums = np.concatenate([[0.0], np.cumsum(y)])
            far = float((x * (2 * below - y.size) - 2 * sums[below] + sums[-1]).sum())
            total += (unlike + step * far) / every
        return total


class _CoarsePairs:
    """Row pairs with range cells; distance 0 if compatible."""

    def __init__(self, original: IntegerGrid, cells: CellColumns, rows: IntArray) -> None:
        around = people_around(cells, original, rows)
        self._columns = []
        for column in range(len(cells.of_row)):
            sides = (
                (around.comparison.targets.item[column], around.target_of),
                (around.comparison.rows.item[column], around.row_of),
            )
            (mine, line), (theirs, place) = (np.unique(item[of], return_inverse=True) for item, of in sides)
            far = item_distances(around.comparison, column, mine, theirs) / original.mismatch_cost
            self._columns.append((far, line, place))

    def apart(self, order: IntArray) -> float:
        """Return the mean distance in this row order, in columns."""
        return sum(float(far[line, place[order]].sum()) for far, line, place in self._columns) / order.size

    def by_chance(self) -> float:
        """Return the mean distance of all pairs."""
        return sum(
            float(np.bincount(line) @ far @ np.bincount(place)) / line.size**2 for far, line, place in self._columns
        )


def _equal_pairs(x: IntArray | Int32Array, y: IntArray | Int32Array) -> int:
    """Return how many pairs of an entry of each are equal."""
    values, counts = np.unique(x, return_counts=True)
    others, more = np.unique(y, return_counts=True)
    _, one, other = np.intersect1d(values, others, assume_unique=True, return_indices=True)
    return int(counts[one] @ more[other])


def _steps(table: IntegerGrid) -> list[float]:
    """Return the grid unit of each number column."""
    return [step / table.mismatch_cost for step in table.step_cost.tolist()]


def _sentence(places: IntArray, pairs: "_RowPairs | _CoarsePairs") -> str:
    return (
        f"rows at the same position are {pairs.apart(places):.3g} columns apart on average, rows paired at random "
        f"{pairs.by_chance():.3g}"
    )
