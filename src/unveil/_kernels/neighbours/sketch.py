"""Mergeable integer sketches of the targets' nearest rows, by block.

Of a block a target keeps the distances with fewer than k rows strictly nearer, each with the number of rows at it. The
sketch of two blocks follows from their sketches: a distance with fewer than k nearer rows in both together has fewer in
either, so both kept it and all nearer ones, with all of their rows. So it does not matter how rows are divided.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from unveil._kernels.neighbours.index import BlockedRows, IntegerGrid, SearchIndex, prepare
from unveil._kernels.neighbours.search import FAR, NearRows, nearest_in_parts
from unveil._kernels.types import IntArray

#: So many rows are prepared and searched at a time; no number depends on it.
BLOCK_ROWS = 2**20


class DistanceSketch(NamedTuple):
    """Nearest distances [target, k], ``FAR`` if fewer, and rows at each."""

    distance: IntArray
    rows: IntArray
    #: How many of these rows would be a right guess; 0 where nobody asks.
    right: IntArray

    def limit(self, k: int) -> IntArray:
        """Return the distance of the k-th nearest row, or the last."""
        return self.distance[np.arange(len(self.distance)), self._last(k)]

    def sure(self, k: int) -> tuple[IntArray, IntArray]:
        """Return the rows below the limit, and the correct ones."""
        before = np.arange(self.rows.shape[1]) < self._last(k)[:, None]
        return (self.rows * before).sum(axis=1), (self.right * before).sum(axis=1)

    def tied(self, k: int) -> tuple[IntArray, IntArray]:
        """Return the rows at the limit, and the correct ones."""
        each, last = np.arange(len(self.distance)), self._last(k)
        return self.rows[each, last], self.right[each, last]

    def _last(self, k: int) -> IntArray:
        held = np.count_nonzero(self.rows, axis=1) - 1
        nearer = np.count_nonzero(np.cumsum(self.rows, axis=1) < k, axis=1)
        return np.asarray(np.minimum(nearer, np.maximum(held, 0)))


def empty_sketch(targets: int, k: int) -> DistanceSketch:
    """Return what no row at all tells."""
    return DistanceSketch(np.full((targets, k), FAR), *np.zeros((2, targets, k), np.int64))


def sketch_of(near: NearRows, rows: IntArray, right: IntArray, k: int) -> DistanceSketch:
    """Return the sketch of near rows, each with N copies.

    >>> near = NearRows(np.array([0, 3]), np.array([7, 8, 9], np.int32), np.array([4, 1, 4]), np.array([4]))
    >>> sketch = sketch_of(near, np.array([1, 1, 2]), np.array([0, 1, 2]), 2)
    >>> sketch.distance, sketch.rows, sketch.right
    (array([[1, 4]]), array([[1, 3]]), array([[1, 2]]))
    """
    made = empty_sketch(near.start.size - 1, k)
    owner = np.repeat(np.arange(near.start.size - 1), np.diff(near.start))
    order = np.lexsort((near.distance, owner))
    owner, distance = owner[order], near.distance[order]
    if not owner.size:
        return made
    is_first = np.ones(owner.size, bool)
    is_first[1:] = (np.diff(owner) != 0) | (np.diff(distance) != 0)
    first = np.flatnonzero(is_first)
    place = np.arange(first.size) - np.searchsorted(owner[first], owner[first])
    made.distance[owner[first], place] = distance[first]
    made.rows[owner[first], place] = np.add.reduceat(rows[order], first)
    made.right[owner[first], place] = np.add.reduceat(right[order], first)
    return made


def merged(one: DistanceSketch, other: DistanceSketch) -> DistanceSketch:
    """Return the sketch of the rows of both.

    >>> one = DistanceSketch(np.array([[1, 4]]), np.array([[1, 3]]), np.array([[1, 2]]))
    >>> both = merged(one, DistanceSketch(np.array([[1, FAR]]), np.array([[1, 0]]), np.array([[0, 0]])))
    >>> both.distance.tolist() == [[1, FAR]], both.rows, both.right
    (True, array([[2, 0]]), array([[1, 0]]))
    """
    k = one.distance.shape[1]
    distance, rows, right = (np.concatenate(pair, axis=1) for pair in zip(one, other, strict=True))
    order = np.argsort(distance, axis=1, kind="stable")
    distance, rows, right = (np.take_along_axis(each, order, axis=1) for each in (distance, rows, right))
    # Equal distances stand next to one another: the first takes the rows of both.
    equal = distance[:, 1:] == distance[:, :-1]
    for tally in (rows, right):
        tally[:, :-1] += tally[:, 1:] * equal
        tally[:, 1:][equal] = 0
    nearer = np.cumsum(rows, axis=1) - rows
    keep = (rows > 0) & (nearer < k)
    place = np.cumsum(keep, axis=1) - 1
    target, column = np.nonzero(keep)
    made = empty_sketch(len(distance), k)
    for tally, into in zip((distance, rows, right), made, strict=True):
        into[target, place[target, column]] = tally[target, column]
    return made


def row_blocks(size: int) -> list[slice]:
    """Return the row ranges of blocks for N rows."""
    return [slice(first, first + BLOCK_ROWS) for first in range(0, max(size, 1), BLOCK_ROWS)]


def blocks_of(*same: BlockedRows) -> Iterator[tuple[slice, tuple[IntegerGrid, ...]]]:
    """Yield each block's rows in all column groups."""
    for some in row_blocks(same[0].size):
        yield some, tuple(rows.block(some) for rows in same)


def sketch_block(
    rows: IntegerGrid,
    targets: IntegerGrid,
    k: int,
    limit: IntArray,
    listed: Callable[[SearchIndex, IntArray, NearRows], None] | None = None,
) -> DistanceSketch:
    """Return one block's sketch within each target's limit.

    ``listed`` is told the near rows of some distinct targets, part by part.
    """
    around = prepare(rows, targets)
    made = empty_sketch(around.targets, k)
    for some, near in nearest_in_parts(around, k, around.common_limit(limit)):
        put(made, some, sketch_of(near, around.copies[near.row], np.zeros(near.row.size, np.int64), k))
        if listed is not None:
            listed(around, some, near)
    return DistanceSketch(*(tally[around.target_of] for tally in made))


def put(whole: DistanceSketch, some: IntArray | slice, part: DistanceSketch) -> None:
    """Put the sketch of some targets in its place."""
    for into, tally in zip(whole, part, strict=True):
        into[some] = tally


def nearest_sketch(rows: BlockedRows, targets: IntegerGrid, k: int) -> DistanceSketch:
    """Return the sketch of the targets, of all rows."""
    return block_by_block(lambda _, grids, limit: sketch_block(grids[0], targets, k, limit), targets.size, k, rows)


def block_by_block(
    part: Callable[[slice, tuple[IntegerGrid, ...], IntArray], DistanceSketch], targets: int, k: int, *same: BlockedRows
) -> DistanceSketch:
    """Return the sketch of all rows from what ``part`` tells of each block.

    It is told how far rows may be at most: what the blocks before have, the further ones need not be searched for. No
    number hangs on it.
    """
    whole = empty_sketch(targets, k)
    for some, grids in blocks_of(*same):
        reached = whole.rows.sum(axis=1) >= k
        whole = merged(whole, part(some, grids, np.where(reached, whole.limit(k), FAR)))
    return whole
