"""Sparse linear constraints: least ≤ Σ coefficient · cell ≤ most."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from unveil._kernels.types import BoolArray, IntArray

#: Stands for "no upper end"; every number of people is far below, so that sums of a million ends stay exact.
NO_END = 1 << 42
#: Counts above this are refused: floats of the solver would no longer tell neighbours apart.
LARGEST_COUNT = 1 << 40
#: Stands for a side of a row without an end: beyond every weighted sum of counts.
OPEN = 1 << 62


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Sparse rows; ``start[r]`` to ``start[r + 1]`` belong to row ``r``."""

    start: IntArray
    cell: IntArray
    coefficient: IntArray
    least: IntArray
    most: IntArray
    cells: int

    @property
    def number(self) -> int:
        """Number of rows."""
        return self.start.size - 1

    @cached_property
    def has_least(self) -> BoolArray:
        """Mask of rows with a lower end, adjusted by known cells."""
        return np.asarray(self.least > -(OPEN >> 1), np.bool_)

    @cached_property
    def has_most(self) -> BoolArray:
        """Mask of rows with an upper end."""
        return np.asarray(self.most < OPEN >> 1, np.bool_)

    @cached_property
    def of_entry(self) -> IntArray:
        """The row of each entry."""
        return np.repeat(np.arange(self.number), np.diff(self.start))

    @cached_property
    def by_cell(self) -> tuple[IntArray, IntArray, IntArray]:
        """Elements sorted by cell, cell starts, and used cells."""
        order = np.argsort(self.cell, kind="stable")
        sorted_cells = self.cell[order]
        first = np.flatnonzero(np.diff(sorted_cells, prepend=-1))
        return order, first, sorted_cells[first]

    @cached_property
    def matrix(self) -> Any:
        """The coefficients as a sparse matrix of floats, as the solver takes them."""
        from scipy.sparse import csr_array

        shape = (self.number, self.cells)
        return csr_array((self.coefficient.astype(np.float64), self.cell, self.start), shape=shape)

    def sums(self, values: IntArray) -> IntArray:
        """Return the sum of each row, in whole numbers."""
        return _per_row(self.coefficient * values[self.cell], self.start)

    def hold(self, values: IntArray) -> bool:
        """Return whether values satisfy every row."""
        sums = self.sums(values)
        return bool(((sums >= self.least) & (sums <= self.most)).all())


def rows_of(entries: Sequence[tuple[IntArray, IntArray]], cells: int) -> SparseRows:
    """Return zero-sum rows from equal-length blocks of cells and coefficients.

    >>> made = rows_of([(np.array([[0, 1, 2]]), np.array([1, -1, -1]))], 3)
    >>> made.hold(np.array([5, 2, 3])), made.hold(np.array([5, 2, 2]))
    (True, False)
    """
    lengths = [np.full(cell.shape[0], cell.shape[1], np.int64) for cell, _ in entries]
    start = np.concatenate([[0], np.cumsum(np.concatenate([np.zeros(0, np.int64), *lengths]))]).astype(np.int64)
    cell = np.concatenate([np.zeros(0, np.int64), *(each.ravel() for each, _ in entries)]).astype(np.int64)
    signs = [np.broadcast_to(sign, each.shape).ravel() for each, sign in entries]
    sign = np.concatenate([np.zeros(0, np.int64), *signs]).astype(np.int64)
    zero = np.zeros(start.size - 1, np.int64)
    return SparseRows(start, cell, sign, zero, zero, cells)


def with_more(rows: SparseRows, more: Sequence[tuple[Sequence[int], Sequence[int], int, int]]) -> SparseRows:
    """Return the rows with more appended.

    A side without an end is told as OPEN or -OPEN.

    >>> made = with_more(rows_of([], 2), [((0, 1), (100, -7), 0, OPEN)])
    >>> made.hold(np.array([1, 14])), made.hold(np.array([1, 15]))
    (True, False)
    """
    if not more:
        return rows
    lengths = np.array([len(cells) for cells, *_ in more], np.int64)
    return SparseRows(
        np.concatenate([rows.start, rows.start[-1] + np.cumsum(lengths)]),
        np.concatenate([rows.cell, *(np.asarray(cells, np.int64) for cells, *_ in more)]),
        np.concatenate([rows.coefficient, *(np.asarray(signs, np.int64) for _, signs, *_ in more)]),
        np.concatenate([rows.least, np.array([least for *_, least, _ in more], np.int64)]),
        np.concatenate([rows.most, np.array([most for *_, most in more], np.int64)]),
        rows.cells,
    )


def open_part(rows: SparseRows, low: IntArray, high: IntArray) -> SparseRows:
    """Return the rows of open cells, with fixed cells moved to the ends.

    Cells keep their numbers. Rows without an open cell are left out; their sums are the caller's to check.
    """
    keep = (low < high)[rows.cell]
    fixed = _per_row(np.where(keep, 0, rows.coefficient * low[rows.cell]), rows.start)
    number = _per_row(keep.astype(np.int64), rows.start)
    used = number > 0
    start = np.concatenate([[0], np.cumsum(number[used])]).astype(np.int64)
    least, most = (rows.least - fixed)[used], (rows.most - fixed)[used]
    return SparseRows(start, rows.cell[keep], rows.coefficient[keep], least, most, rows.cells)


def without_twins(rows: SparseRows) -> SparseRows:
    """Return the rows with duplicates merged to their tightest ends."""
    found: dict[bytes, int] = {}
    first: list[int] = []
    least, most = rows.least.copy(), rows.most.copy()
    for row in range(rows.number):
        span = slice(rows.start[row], rows.start[row + 1])
        order = np.argsort(rows.cell[span])
        key = rows.cell[span][order].tobytes() + rows.coefficient[span][order].tobytes()
        twin = found.setdefault(key, row)
        if twin == row:
            first.append(row)
        else:
            least[twin] = max(least[twin], least[row])
            most[twin] = min(most[twin], most[row])
    kept = np.zeros(rows.number, np.bool_)
    kept[first] = True
    return chosen(SparseRows(rows.start, rows.cell, rows.coefficient, least, most, rows.cells), kept)


def chosen(rows: SparseRows, kept: BoolArray) -> SparseRows:
    """Return some of the rows."""
    entries = kept[rows.of_entry]
    start = np.concatenate([[0], np.cumsum(np.diff(rows.start)[kept])]).astype(np.int64)
    return SparseRows(
        start, rows.cell[entries], rows.coefficient[entries], rows.least[kept], rows.most[kept], rows.cells
    )


def renumbered(rows: SparseRows, cells: IntArray) -> SparseRows:
    """Return the rows of a subset of cells, renumbered."""
    place = np.full(rows.cells, -1, np.int64)
    place[cells] = np.arange(cells.size)
    return SparseRows(rows.start, place[rows.cell], rows.coefficient, rows.least, rows.most, int(cells.size))


def _per_row(entries: IntArray, start: IntArray) -> IntArray:
    total = np.concatenate([[0], np.cumsum(entries)])
    return np.asarray(total[start[1:]] - total[start[:-1]], np.int64)
