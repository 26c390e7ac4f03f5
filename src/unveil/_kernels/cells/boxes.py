"""Rows of cells as weighted distinct boxes."""

from typing import NamedTuple

import numpy as np

from unveil._kernels.neighbours.index import LAST_MARKER, IntegerGrid, content_rank
from unveil._kernels.types import BoolArray, FloatArray, Int32Array, IntArray

#: The low end of a cell that could be any value, a missing one too; the ends where a cell has none.
ANY = int(LAST_MARKER) + 1
LOWEST, HIGHEST = int(LAST_MARKER) + 2, int(np.iinfo(np.int64).max)

# Two weights nearer than this are equal: their logarithms are sums that round differently.
_SAME_WEIGHT = 2.0**-30


class CellColumns(NamedTuple):
    """Distinct cells of columns, number columns first.

    Cell c of column j is number ``offset[j] + c``. A cell of numbers holds all from ``low`` to ``high``: both are the
    same marker, from ``MISSING`` to ``LAST_MARKER``, for no value, ``low`` is ``ANY`` for one that could be any, and
    above ``high`` where no value fits. A cell of another column holds the codes ``member[start[i] : start[i + 1]]``, i
    counting from their first on.
    """

    of_row: Int32Array  # [columns, rows]: the cell of each row
    offset: IntArray
    low: IntArray
    high: IntArray
    span: IntArray  # of each column of numbers: whoever is so far outside is a mismatch
    start: IntArray
    member: Int32Array
    codes: IntArray  # how many codes each other column has
    share: FloatArray  # the share of people inside each cell
    is_any: BoolArray  # which cells could be any value

    @property
    def numbers(self) -> int:
        """Number of number columns."""
        return self.span.size


class CellBoxes(NamedTuple):
    """Distinct rows of cells: copies, cells, and log weight."""

    of_row: Int32Array
    copies: IntArray
    cell: Int32Array  # [columns, boxes]
    log_weight: FloatArray
    has_any: BoolArray  # whether one of the cells could be any value

    def heavier_first(self) -> IntArray:
        """Return each box's weight rank, 0 for the heaviest; ties share.

        >>> cells = CellColumns(np.array([[0, 1, 1]], np.int32), np.array([0, 2]), *(np.zeros(2, int),) * 2,
        ...     np.ones(1, int), np.zeros(1, int), np.empty(0, np.int32), np.empty(0, int), np.array([0.5, 0.1]),
        ...     np.zeros(2, bool))
        >>> boxes_of(cells).heavier_first()
        array([1, 0])
        """
        return np.unique(np.rint(-self.log_weight / _SAME_WEIGHT), return_inverse=True)[1].astype(np.int64)


def boxes_of(cells: CellColumns, rows: IntArray | slice = slice(None)) -> CellBoxes:
    """Return the boxes of all or some rows, in content order."""
    of_row = cells.of_row[:, rows]
    count = of_row.shape[1]
    rank = content_rank(IntegerGrid(np.empty((count, 0), np.int64), of_row.T, np.empty(0, np.int64), 1))
    copies = np.bincount(rank)
    example = np.empty(copies.size, np.int64)
    example[rank] = np.arange(count)
    cell = np.ascontiguousarray(of_row[:, example])
    number = cell + cells.offset[:-1, None]
    weight = -np.log(cells.share)[number].sum(axis=0)
    return CellBoxes(rank.astype(np.int32), copies, cell, weight, cells.is_any[number].any(axis=0))
