"""Probability of a correct guess from a random nearest row.

Secrets come as ranks: those of the released rows as the place of their value among all released values, and for each
target the range of places that would be right. So counting what is right is counting whole numbers in sorted order.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.neighbours.index import BlockedRows, IntegerGrid, SearchIndex, prepare
from unveil._kernels.neighbours.matrix import all_distances
from unveil._kernels.neighbours.search import NearRows, nearest_in_parts
from unveil._kernels.neighbours.sketch import DistanceSketch, block_by_block, empty_sketch, put, sketch_of
from unveil._kernels.types import FloatArray, Int32Array, IntArray

#: Up to this many distances all are computed: quicker than the search, and nobody waits for a compiler.
ALL_UP_TO = 2**18
#: How many pairs of a target and a distinct released row are looked at in one go, to bound memory.
PAIRS_AT_ONCE = 2**20


class SecretGroups(NamedTuple):
    """Sensitive values by group of released rows, sorted, as one list."""

    key: IntArray
    width: int

    def within(self, group: IntArray, low: IntArray, high: IntArray) -> IntArray:
        """Return the rows of a group with a rank in [low, high)."""
        # What is right may lie above all ranks of these rows, and would be looked for in the next group.
        first, end = (group * self.width + np.minimum(each, self.width) for each in (low, high))
        return np.searchsorted(self.key, end) - np.searchsorted(self.key, first)


def in_cells(group: NDArray[np.integer[Any]], rank: IntArray) -> SecretGroups:
    """Return sensitive values by group; -1 is missing and uncounted.

    >>> cells = in_cells(np.array([0, 0, 1]), np.array([0, 1, 1]))
    >>> cells.within(np.array([0, 1, 0]), np.array([0, 0, 3]), np.array([2, 1, 9]))
    array([2, 0, 0])
    """
    there = rank >= 0
    width = int(rank.max(initial=-1)) + 2
    return SecretGroups(np.sort(group[there].astype(np.int64) * width + rank[there]), width)


def right_chances(
    released: BlockedRows, rank: IntArray, targets: IntegerGrid, low: IntArray, high: IntArray, k: int
) -> FloatArray:
    """Return the probability that a nearest row's sensitive value is correct.

    Rows that tie for the last of the k places are drawn by lot too. 0.0 and 1.0 are certain.

    Parameters
    ----------
    released, targets
        The rows in the columns that are compared.
    rank
        The place of each released row's secret among the released values, -1 where it is missing.
    low, high
        For each target, which ranks are right: from ``low`` up to, but not, ``high``.
    k
        From 1 to the number of released rows.

    >>> def grid(*values):
    ...     return IntegerGrid(np.array(values)[:, None], np.empty((len(values), 0), np.int32), np.array([1]), 10)
    >>> right_chances(grid(24, 31, 29), np.array([0, 0, 1]), grid(30, 25), np.array([1, 0]), np.array([2, 1]), 1)
    array([0.5, 1. ])
    """

    def part(some: slice, grids: tuple[IntegerGrid, ...], limit: IntArray) -> DistanceSketch:
        return _sketch_block(grids[0], rank[some], targets, low, high, k, limit)

    near = block_by_block(part, targets.size, k, released)
    (sure, sure_right), (tied, tied_right) = near.sure(k), near.tied(k)
    return np.asarray((sure_right * tied + (k - sure) * tied_right) / (k * tied))


def _sketch_block(
    released: IntegerGrid, rank: IntArray, targets: IntegerGrid, low: IntArray, high: IntArray, k: int, limit: IntArray
) -> DistanceSketch:
    """Return one block's nearest rows per target, and correct ones."""
    prepared = prepare(released, targets)
    cells = in_cells(prepared.row_of, rank)
    # Targets that look alike and have secrets for which the same guesses are right have the same chance. A block need
    # not hold the highest ranks.
    low, high = np.minimum(low, cells.width), np.minimum(high, cells.width)
    end = cells.width + 1
    pair, pair_of = np.unique((prepared.target_of * np.int64(end) + low) * end + high, return_inverse=True)
    rest, high = np.divmod(pair, end)
    target, low = np.divmod(rest, end)
    made = empty_sketch(pair.size, k)
    for some, near in _nearest(prepared, released, targets, k, limit):
        first, last = np.searchsorted(target, [some[0], some[-1] + 1])
        size = np.diff(near.start)[target[first:last] - some[0]]
        for part in parts_of(size, first):
            put(made, part, _tallied(near, target[part] - some[0], low[part], high[part], cells, prepared.copies, k))
    return DistanceSketch(*(tally[pair_of] for tally in made))


def _nearest(
    prepared: SearchIndex, released: IntegerGrid, targets: IntegerGrid, k: int, limit: IntArray
) -> Iterator[tuple[IntArray, NearRows]]:
    """Yield distinct targets, in ascending parts without gaps, with their near distinct rows."""
    rows, distinct = prepared.copies.size, prepared.tuple_of.size
    if rows * distinct > ALL_UP_TO:
        yield from nearest_in_parts(prepared, k, prepared.common_limit(limit))
        return
    of_each = [
        grid._replace(numbers=grid.numbers[at], codes=grid.codes[at])
        for grid, at in (
            (released, _one_of_each(prepared.row_of, rows)),
            (targets, _one_of_each(prepared.target_of, distinct)),
        )
    ]
    distance = all_distances(*of_each)
    order = np.argsort(distance, axis=1, kind="stable")
    # All rows are near where they are fewer than k.
    enough = np.minimum(np.count_nonzero(np.cumsum(prepared.copies[order], axis=1) < k, axis=1), rows - 1)
    each = np.arange(distinct)
    limit = distance[each, order[each, enough]]
    target, row = np.nonzero(distance <= limit[:, None])
    start = np.searchsorted(target, np.arange(distinct + 1))
    yield each, NearRows(start, row.astype(np.int32), distance[target, row], limit)


def _one_of_each(number: Int32Array, size: int) -> IntArray:
    place = np.empty(size, np.int64)
    place[number] = np.arange(number.size)
    return place


def parts_of(size: IntArray, first: int) -> Iterator[slice]:
    """Yield slices of pairs that fit in memory."""
    total = np.concatenate([[0], np.cumsum(size)])
    begin = 0
    while begin < size.size:
        end = max(begin + 1, int(np.searchsorted(total, total[begin] + PAIRS_AT_ONCE, side="right")) - 1)
        yield slice(first + begin, first + end)
        begin = end


def _tallied(
    near: NearRows, target: IntArray, low: IntArray, high: IntArray, cells: SecretGroups, copies: IntArray, k: int
) -> DistanceSketch:
    """Return the sketch of near rows for each target, a place in ``near``, with its range of correct values."""
    size = np.diff(near.start)[target]
    owner = np.repeat(np.arange(target.size), size)
    entry = np.arange(owner.size) + (near.start[target] - np.cumsum(size) + size)[owner]
    row = near.row[entry].astype(np.int64)
    start = np.concatenate([[0], np.cumsum(size)])
    own = NearRows(start, near.row[entry], near.distance[entry], near.limit[target])
    return sketch_of(own, copies[row], cells.within(row, low[owner], high[owner]), k)
