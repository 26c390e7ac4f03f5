"""Rows within boxes of levels, without full comparison."""

from typing import NamedTuple

import numpy as np

from unveil._kernels._compile import compiled, loop
from unveil._kernels.merge_sort import sort_part
from unveil._kernels.types import Int32Array, IntArray

#: Up to this many pairs of a row and a box all are compared: quicker than the search, and nobody waits for a compiler.
ALL_UP_TO = 2**20
# So many rows of nearly the same level in the first column stand together, in the order of the second.
_BLOCK = 512


class Windows(NamedTuple):
    """Box per target: smallest and largest level per column, inclusive."""

    first: Int32Array
    last: Int32Array


def ranking(released: IntArray, original: IntArray, *, missing: int) -> IntArray:
    """Return the ascending values for ranks, from the longer column.

    >>> ranking(np.array([3, 1]), np.array([2, 9, 1]), missing=9)
    array([1, 3])
    """
    one, other = released[released != missing], original[original != missing]
    return np.sort(one if one.size >= other.size else other)


def windows_by_rank(
    released: IntArray, original: IntArray, reach: int, *, missing: int
) -> tuple[Int32Array, Int32Array, Int32Array]:
    """Return original levels, and each released row's ``reach`` window.

    Values are compared by their ranks in the column that has more of them, equal ones having any of their ranks: two
    values are within reach if some rank of one and some rank of the other are at most that far apart. So equal values
    always are. A value that this column does not hold stands between two ranks, one away from each. ``missing`` is a
    value that is within reach of itself only.

    >>> windows_by_rank(np.array([10, 20, 30, 40]), np.array([40, 10, 20, 25]), 1, missing=-1)
    (array([4, 0, 1, 2], dtype=int32), array([0, 0, 1, 3], dtype=int32), array([1, 3, 4, 4], dtype=int32))
    """
    ranked = ranking(released, original, missing=missing)
    present = (part[part != missing] for part in (released, original))
    values = np.unique(np.concatenate(list(present)))
    least, greatest = np.searchsorted(ranked, values), np.searchsorted(ranked, values, side="right") - 1
    nowhere = values.size
    at = np.searchsorted(values, released)
    here = released != missing
    first, last = np.full(released.size, nowhere, np.int32), np.full(released.size, nowhere, np.int32)
    # Ranks rise with values, so those within reach lie side by side.
    first[here] = np.searchsorted(greatest, least[at[here]] - reach)
    last[here] = np.searchsorted(least, greatest[at[here]] + reach, side="right") - 1
    level = np.where(original == missing, nowhere, np.searchsorted(values, original)).astype(np.int32)
    return level, first, last


def rows_in_boxes(levels: Int32Array, boxes: Windows, *, at_most: int) -> tuple[IntArray, Int32Array]:
    """Return the rows in each box, ascending, with box starts.

    ``levels`` has one line per row and one column per attribute, all at least 0. Where there are more than ``at_most``
    in all, the search ends: no row is returned, and the last start is above ``at_most``. Time grows with the rows that
    lie in the two columns' windows that shut out the most, memory with the answer.

    >>> levels = np.array([[0, 0], [1, 3], [2, 2]], np.int32)
    >>> rows_in_boxes(levels, Windows(np.array([[0, 1]], np.int32), np.array([[2, 3]], np.int32)), at_most=10)
    (array([0, 2]), array([1, 2], dtype=int32))
    """
    if len(levels) * len(boxes.first) <= ALL_UP_TO:
        return _by_comparing(levels, boxes, at_most)
    return _by_search(levels, boxes, at_most)


def _by_comparing(levels: Int32Array, boxes: Windows, at_most: int) -> tuple[IntArray, Int32Array]:
    inside = np.ones((len(boxes.first), len(levels)), bool)
    for column in range(levels.shape[1]):
        level = levels[:, column]
        inside &= (level >= boxes.first[:, column, None]) & (level <= boxes.last[:, column, None])
    start = np.concatenate([[0], np.cumsum(inside.sum(axis=1))]).astype(np.int64)
    rows = np.nonzero(inside)[1] if start[-1] <= at_most else np.empty(0)
    return start, rows.astype(np.int32)


def _by_search(levels: Int32Array, boxes: Windows, at_most: int) -> tuple[IntArray, Int32Array]:
    order = np.argsort([_mean_share(levels[:, c], boxes.first[:, c], boxes.last[:, c]) for c in range(levels.shape[1])])
    # With one column it is also the second.
    order = np.concatenate([order, order[:1]]) if order.size == 1 else order
    levels, first, last = (np.ascontiguousarray(array[:, order]) for array in (levels, boxes.first, boxes.last))
    by_first = np.argsort(levels[:, 0], kind="stable")
    ranked = levels[by_first, 0]
    low, high = np.searchsorted(ranked, first[:, 0]), np.searchsorted(ranked, last[:, 0], side="right")
    block = np.arange(len(levels)) // _BLOCK
    arranged = by_first[np.lexsort((levels[by_first, 1], block))]
    numbers = arranged.astype(np.int32)
    arranged_levels = np.ascontiguousarray(levels[arranged])
    found: tuple[IntArray, Int32Array] = compiled(_scan)(
        arranged_levels, first, last, low, high, numbers, _BLOCK, at_most
    )
    return found


def _mean_share(level: Int32Array, first: Int32Array, last: Int32Array) -> float:
    """Return how many rows the windows of one column hold on average."""
    ranked = np.sort(level)
    return float((np.searchsorted(ranked, last, side="right") - np.searchsorted(ranked, first)).mean())


@loop("i4[,], i4[,], i4[,], i8[], i8[], i4[], i8, i8")
def _scan(
    levels: Int32Array,
    first: Int32Array,
    last: Int32Array,
    low: IntArray,
    high: IntArray,
    number: Int32Array,
    block: int,
    at_most: int,
) -> tuple[IntArray, Int32Array]:
    """Return the rows in each box, by blocks of the second column."""
    n, columns = levels.shape
    start = np.zeros(len(first) + 1, np.int64)
    rows, spare = np.empty(max(1024, len(first)), np.int32), np.empty(max(1024, len(first)), np.int32)
    found = 0
    for box in range(len(first)):
        for begin in range(low[box] // block * block, high[box], block):
            end = min(begin + block, n)
            left, right = begin, end
            while left < right:
                middle = (left + right) // 2
                if levels[middle, 1] < first[box, 1]:
                    left = middle + 1
                else:
                    right = middle
            # Room for the whole block, so that the loop below need not ask.
            if rows.size < found + block:
                larger = np.empty(2 * rows.size + block, np.int32)
                for place in range(found):
                    larger[place] = rows[place]
                rows, spare = larger, np.empty(larger.size, np.int32)
            while left < end and levels[left, 1] <= last[box, 1]:
                inside = True
                for column in range(columns):
                    if levels[left, column] < first[box, column] or levels[left, column] > last[box, column]:
                        inside = False
                        break
                if inside:
                    rows[found] = number[left]
                    found += 1
                left += 1
            if found > at_most:
                for later in range(box + 1, start.size):
                    start[later] = found
                return start, rows[:0]
        sort_part(rows, spare, start[box], found)
        start[box + 1] = found
    return start, rows[:found]
