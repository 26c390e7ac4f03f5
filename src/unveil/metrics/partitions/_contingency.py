"""The contingency table of guess and truth, shared by all partition metrics."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary, ref

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.partitions.contingency import count_cells
from unveil._kernels.types import Int32Array, IntArray
from unveil.guesses import Partition


@dataclass(frozen=True, eq=False)
class Contingency:
    """Number of each subject's items (row) per attacker's cluster (column).

    The cells of a row stand side by side, columns ascending; those of row ``r`` are
    ``row_start[r]`` to ``row_start[r + 1] - 1``.
    """

    row_start: IntArray
    column: Int32Array
    count: IntArray
    row_total: IntArray
    column_total: IntArray
    #: Of how many guesses it is: their tables stand below one another, each with columns of its own.
    guesses: int = 1

    @property
    def n(self) -> int:
        """The number of items."""
        return int(self.row_total.sum()) // self.guesses

    @property
    def cell_start(self) -> IntArray:
        """Where the cells of each guess start."""
        return self.row_start[:: self.row_total.size // self.guesses]

    @cached_property
    def row(self) -> Int32Array:
        """The row of each cell."""
        return np.repeat(np.arange(self.row_total.size, dtype=np.int32), np.diff(self.row_start))

    def find(self, row: NDArray[Any], column: NDArray[Any]) -> IntArray:
        """Return the cell of each pair, or -1 if it is empty."""
        columns = self.column_total.size
        keys = self.row.astype(np.int64) * columns + self.column
        wanted = np.asarray(row, np.int64) * columns + column
        place = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
        return np.where(keys[place] == wanted, place, -1)


# Partitions never change, so a table counted for one measure serves the next; it goes when the guess goes.
_COUNTED: WeakKeyDictionary[Partition, tuple[ref[Partition], Contingency]] = WeakKeyDictionary()

#: How many items are counted at once: guesses of few items share one table, so that a loop runs over all of them.
ITEMS_AT_ONCE = 1 << 22


def contingency(guess: Partition, truth: Partition) -> Contingency:
    """Return the contingency table of two partitions of the same items.

    >>> table = contingency(Partition.from_labels("xxy"), Partition.from_labels("abb"))
    >>> table.row_start, table.column, table.count
    (array([0, 1, 3]), array([0, 0, 1], dtype=int32), array([1, 1, 1]))
    """
    guess = guess.aligned_to(truth)
    known = _COUNTED.get(guess)
    if known is not None and known[0]() is truth:
        return known[1]
    table = _count(truth.codes, guess.codes, truth.sizes, guess.sizes, 1)
    _COUNTED[guess] = (ref(truth), table)
    return table


def stacks(guesses: Sequence[Partition]) -> Iterator[tuple[Partition, ...]]:
    """Yield groups of guesses that fit one table."""
    each = max(1, ITEMS_AT_ONCE // guesses[0].n)
    for first in range(0, len(guesses), each):
        yield tuple(guesses[first : first + each])


def stacked_codes(guesses: Sequence[Partition], truth: Partition) -> tuple[Int32Array, Int32Array]:
    """Return the row and column of each item in the stacked table."""
    if len(guesses) == 1:
        return truth.codes, guesses[0].codes
    before = np.cumsum([0, *(guess.cluster_count for guess in guesses[:-1])])
    rows = np.arange(len(guesses))[:, None] * truth.cluster_count + truth.codes
    columns = np.concatenate([guess.codes + first for guess, first in zip(guesses, before, strict=True)])
    codes = rows.ravel().astype(np.int32), columns.astype(np.int32)
    for each in codes:
        each.flags.writeable = False  # as those of one partition, so that loops are compiled for one kind of array
    return codes


def stacked_contingency(guesses: Sequence[Partition], truth: Partition) -> Contingency:
    """Return stacked tables: row ``p * subjects + r`` is subject r in guess p.

    >>> truth = Partition.from_labels("abb")
    >>> table = stacked_contingency([Partition.from_labels("xxy"), Partition.from_labels("xyy")], truth)
    >>> table.row_start, table.column, table.n
    (array([0, 1, 3, 4, 5]), array([0, 0, 1, 2, 3], dtype=int32), 3)
    """
    if len(guesses) == 1:
        return contingency(guesses[0], truth)
    aligned = [guess.aligned_to(truth) for guess in guesses]
    row_size = np.tile(truth.sizes, len(aligned))
    column_size = np.concatenate([guess.sizes for guess in aligned])
    return _count(*stacked_codes(aligned, truth), row_size, column_size, len(aligned))


def _count(row: Int32Array, column: Int32Array, row_size: IntArray, column_size: IntArray, guesses: int) -> Contingency:
    start, cell_column, count = count_cells(row, column, row_size, column_size)
    return Contingency(start, cell_column, count, row_size, column_size, guesses)
