"""Sparse contingency table of two partitions."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._kernels._compile import kernel
from unveil._kernels.types import FloatArray, Int32Array, IntArray


def count_cells(
    row: Int32Array, column: Int32Array, row_size: IntArray, column_size: IntArray
) -> tuple[IntArray, Int32Array, IntArray]:
    """Return row starts, columns, and counts of non-empty cells."""
    # Large arrays are made by numpy, which asks for large pages: a loop would wait for thousands of small ones.
    room = np.empty((3, row.size), np.int32)
    start = _count_in_room(row, column, row_size, column_size, room)
    cell_column, count = np.empty(start[-1], np.int32), np.empty(start[-1], np.int64)
    _without_gaps(start, row_size, room, cell_column, count)
    return start, cell_column, count


@kernel("const i4[], const i4[], i8[], i8[], i4[,]", "i4[], i4[], i8[], i8[], i4[,]")
def _count_in_room(
    row: Int32Array, column: Int32Array, row_size: IntArray, column_size: IntArray, room: Int32Array
) -> IntArray:
    """Return row starts, writing cells with gaps into ``room``.

    Items are put in column order by counting; going through the columns in that order meets the cells of every row
    in ascending order, so that a cell is either the last one of its row or a new one. Linear in items and labels.
    """
    n, rows = row.size, row_size.size
    place = np.empty(column_size.size, np.int64)
    before = 0
    for c in range(column_size.size):
        place[c] = before
        before += column_size[c]
    cell_column, cell_count, row_by_column = room[0], room[1], room[2]
    for i in range(n):
        at = place[column[i]]
        row_by_column[at] = row[i]
        place[column[i]] = at + 1

    # The column of each row's last cell beside where that cell is, as both are looked at for every item.
    last = np.empty((rows, 2), np.int64)
    before = 0
    for r in range(rows):
        last[r, 0], last[r, 1] = -1, before - 1
        before += row_size[r]
    position = 0
    for c in range(column_size.size):
        for _ in range(column_size[c]):
            r = row_by_column[position]
            position += 1
            if last[r, 0] == c:
                cell_count[last[r, 1]] += 1
            else:
                at = last[r, 1] + 1
                last[r, 0], last[r, 1] = c, at
                cell_column[at] = c
                cell_count[at] = 1

    start = np.empty(rows + 1, np.int64)
    before, cells = 0, 0
    for r in range(rows):
        start[r] = cells
        cells += last[r, 1] + 1 - before
        before += row_size[r]
    start[rows] = cells
    return start


@kernel("i8[], i8[], i4[,], i4[], i8[]")
def _without_gaps(
    start: IntArray, row_size: IntArray, room: Int32Array, cell_column: Int32Array, count: IntArray
) -> None:
    """Write the cells without gaps."""
    before = 0
    for r in range(row_size.size):
        for k in range(start[r], start[r + 1]):
            cell_column[k] = room[0, before + k - start[r]]
            count[k] = room[1, before + k - start[r]]
        before += row_size[r]


@kernel("i8[], i4[], i8[], i8[], i8[], i8")
def overlap_sums(
    start: IntArray,
    column: Int32Array,
    count: IntArray,
    row_total: IntArray,
    column_total: IntArray,
    guesses: int,
) -> FloatArray:
    """Return three overlap sums per guess from one pass.

    They are: ``log2(row / cell) + log2(column / cell)``, the bits lost both ways; ``cell / column`` and ``cell / row``,
    the shares of the item's column and row that it meets in its cell. No term of the first is below 0, and it is
    exactly 0 for identical labellings, which a difference of entropies would not be.
    """
    row_bits, column_bits = np.log2(row_total), np.log2(column_total)
    rows = row_total.size // guesses
    sums = np.zeros((3, guesses))
    for guess in range(guesses):
        lost, of_column, of_row = 0.0, 0.0, 0.0
        for r in range(guess * rows, (guess + 1) * rows):
            for k in range(start[r], start[r + 1]):
                cell, whole = count[k], column_total[column[k]]
                if cell < row_total[r] or cell < whole:
                    bits = row_bits[r] + column_bits[column[k]]
                    # Most cells hold one item, whose logarithm need not be taken.
                    lost += cell * (bits - 2 * np.log2(cell)) if cell > 1 else bits
                of_column += cell * (cell / whole)
                of_row += cell * (cell / row_total[r])
        sums[0, guess], sums[1, guess], sums[2, guess] = lost, of_column, of_row
    return sums


def foreign_items(column: Int32Array, count: IntArray, column_total: IntArray) -> IntArray:
    """Return the include errors of each cell's column."""
    foreign = np.empty(count.size, np.int64)
    _take_own(column, count, column_total, foreign)
    return foreign


@kernel("i4[], i8[], i8[], i8[]")
def _take_own(column: Int32Array, count: IntArray, column_total: IntArray, foreign: IntArray) -> None:
    for k in range(count.size):
        foreign[k] = column_total[column[k]] - count[k]


def sum_at(place: NDArray[Any], values: IntArray, size: int) -> IntArray:
    """Return integer sums by position, 0 to ``size - 1``.

    >>> sum_at(np.array([0, 2, 0]), np.array([1, 5, 2]), 3)
    array([3, 0, 5])
    """
    total = np.zeros(size, np.int64)
    np.add.at(total, place, values)
    return total


@kernel("i4[], i8[], i8")
def column_crowds(column: Int32Array, count: IntArray, columns: int) -> tuple[IntArray, FloatArray]:
    """Return each column's cells, and its sum of ``c * log2(c)``."""
    cells = np.zeros(columns, np.int64)
    bits = np.zeros(columns, np.float64)
    for k in range(column.size):
        cells[column[k]] += 1
        if count[k] > 1:
            bits[column[k]] += count[k] * np.log2(count[k])
    return cells, bits
