"""The contingency table of guess and truth: the one table that every measure of a partition starts from."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary, ref

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.partitions.contingency import count_cells
from unveil._kernels.types import Int32Array, IntArray
from unveil.guess import Partition


@dataclass(frozen=True, eq=False)
class Contingency:
    """How many items each subject (row) has in each of the adversary's clusters (column); cells with items only.

    The cells of a row stand side by side, columns ascending; those of row ``r`` are
    ``row_start[r]`` to ``row_start[r + 1] - 1``.
    """

    row_start: IntArray
    column: Int32Array
    count: IntArray
    row_total: IntArray
    column_total: IntArray

    @property
    def n(self) -> int:
        """The number of items."""
        return int(self.row_total.sum())

    @cached_property
    def row(self) -> Int32Array:
        """The row of each cell."""
        return np.repeat(np.arange(self.row_total.size, dtype=np.int32), np.diff(self.row_start))

    def find(self, row: NDArray[Any], column: NDArray[Any]) -> IntArray:
        """Return the cell of each pair, or -1 where the subject has no item in that cluster."""
        columns = self.column_total.size
        keys = self.row.astype(np.int64) * columns + self.column
        wanted = np.asarray(row, np.int64) * columns + column
        place = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
        return np.where(keys[place] == wanted, place, -1)


# Partitions never change, so a table counted for one measure serves the next; it goes when the guess goes.
_COUNTED: WeakKeyDictionary[Partition, tuple[ref[Partition], Contingency]] = WeakKeyDictionary()


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
    start, column, count = count_cells(truth.codes, guess.codes, truth.sizes, guess.sizes)
    table = Contingency(start, column, count.astype(np.int64), truth.sizes, guess.sizes)
    _COUNTED[guess] = (ref(truth), table)
    return table
