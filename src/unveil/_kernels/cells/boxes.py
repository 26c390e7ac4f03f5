"""Rows of cells as boxes: equal ones are one box with copies, and each weighs the more the fewer people are inside."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.neighbours.index import MISSING, Codes, Grid, Integers, content_rank

Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]

#: The low end of a cell that could be any value, a missing one too; the ends where a cell has none.
ANY = int(MISSING) + 1
LOWEST, HIGHEST = int(MISSING) + 2, int(np.iinfo(np.int64).max)

# Two weights nearer than this are equal: their logarithms are sums that round differently.
_SAME_WEIGHT = 2.0**-30


class CellColumns(NamedTuple):
    """The different cells of columns, one column after the other, those of numbers first.

    Cell c of column j is number ``offset[j] + c``. A cell of numbers holds all from ``low`` to ``high``: both are
    ``MISSING`` for a missing value, ``low`` is ``ANY`` for one that could be any, and above ``high`` where no value
    fits. A cell of another column holds the codes ``member[start[i] : start[i + 1]]``, i counting from their first on.
    """

    of_row: Codes  # [columns, rows]: the cell of each row
    offset: Integers
    low: Integers
    high: Integers
    span: Integers  # of each column of numbers: whoever is so far outside is a mismatch
    start: Integers
    member: Codes
    codes: Integers  # how many codes each other column has
    share: Floats  # the share of people inside each cell
    is_any: Truths  # which cells could be any value

    @property
    def numbers(self) -> int:
        """How many columns are of numbers."""
        return self.span.size


class Boxes(NamedTuple):
    """Different rows of cells: how many rows each stands for, its cells, and the logarithm of its weight."""

    of_row: Codes
    copies: Integers
    cell: Codes  # [columns, boxes]
    log_weight: Floats
    has_any: Truths  # whether one of the cells could be any value

    def heavier_first(self) -> Integers:
        """Return a number for each box, 0 for the heaviest; equal weights have equal numbers.

        >>> cells = CellColumns(np.array([[0, 1, 1]], np.int32), np.array([0, 2]), *(np.zeros(2, int),) * 2,
        ...     np.ones(1, int), np.zeros(1, int), np.empty(0, np.int32), np.empty(0, int), np.array([0.5, 0.1]),
        ...     np.zeros(2, bool))
        >>> boxes_of(cells).heavier_first()
        array([1, 0])
        """
        return np.unique(np.rint(-self.log_weight / _SAME_WEIGHT), return_inverse=True)[1].astype(np.int64)


def boxes_of(cells: CellColumns, rows: Integers | slice = slice(None)) -> Boxes:
    """Return the boxes of all rows, or of some; their order is that of their content, not of the rows."""
    of_row = cells.of_row[:, rows]
    count = of_row.shape[1]
    rank = content_rank(Grid(np.empty((count, 0), np.int64), of_row.T, np.empty(0, np.int64), 1))
    copies = np.bincount(rank)
    example = np.empty(copies.size, np.int64)
    example[rank] = np.arange(count)
    cell = np.ascontiguousarray(of_row[:, example])
    number = cell + cells.offset[:-1, None]
    weight = -np.log(cells.share)[number].sum(axis=0)
    return Boxes(rank.astype(np.int32), copies, cell, weight, cells.is_any[number].any(axis=0))
