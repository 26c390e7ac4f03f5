"""Which rows are near, listed while blocks of rows are searched, so that they need not be searched a second time."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from unveil._kernels.neighbours.index import Grid, Prepared, Rows
from unveil._kernels.neighbours.matrix import pair_distances
from unveil._kernels.neighbours.search import ROOM, Near
from unveil._kernels.neighbours.sketch import Sketch, block_by_block, sketch_block
from unveil._kernels.types import BoolArray, IntArray

#: So many pairs are compared in one go.
_AT_ONCE = 2**18


class NearPairs(NamedTuple):
    """Pairs of a target and a near row, and how far it is."""

    target: IntArray
    row: IntArray
    distance: IntArray

    def where(self, some: BoolArray | slice) -> "NearPairs":
        """Return some of the pairs."""
        return NearPairs(*(each[some] for each in self))


def near_pairs(rows: Rows, targets: Grid, k: int) -> tuple[Sketch, NearPairs | None]:
    """Return the sketch of the targets, of all rows, and their near rows; None where there is no room to list them."""
    found: list[NearPairs] | None = []

    def part(some: slice, grids: Sequence[Grid], limit: IntArray) -> Sketch:
        def listed(around: Prepared, distinct: IntArray, near: Near) -> None:
            nonlocal found
            pairs = None if found is None else _pairs(around, distinct, near)
            if found is None or pairs is None or sum(each.row.size for each in (*found, pairs)) > ROOM:
                found = None
            else:
                found.append(pairs._replace(row=some.start + pairs.row))

        return sketch_block(grids[0], targets, k, limit, listed)

    whole = block_by_block(part, targets.size, k, rows)
    if found is None:
        return whole, None
    pairs = NearPairs(*(np.concatenate(each) for each in zip(*found, strict=True)))
    return whole, pairs.where(pairs.distance <= whole.limit(k)[pairs.target])


def _pairs(around: Prepared, distinct: IntArray, near: Near) -> NearPairs | None:
    """Return the near rows of all targets that are one of these distinct ones, which are next to one another."""
    who = np.flatnonzero((around.target_of >= distinct[0]) & (around.target_of <= distinct[-1]))
    own = around.target_of[who] - distinct[0]
    of_target, entry = spread(near.start[own], np.diff(near.start)[own])
    row = near.row[entry]
    if around.copies[row].sum() > ROOM:
        return None
    begin = np.cumsum(around.copies) - around.copies
    of_entry, place = spread(begin[row], around.copies[row])
    return NearPairs(who[of_target[of_entry]], around.in_order[place], near.distance[entry][of_entry])


def spread(start: IntArray, count: IntArray) -> tuple[IntArray, IntArray]:
    """Return for each of the ``count`` places from each ``start`` whose it is, and which."""
    owner = np.repeat(np.arange(count.size), count)
    return owner, np.arange(owner.size) + (start - np.cumsum(count) + count)[owner]


def near_in_both(near: NearPairs, limit: IntArray, others: Rows, targets: Grid, other_limit: IntArray) -> IntArray:
    """Return how many of each target's near rows are near in other columns too, as `link_chance` takes them."""
    shared = np.zeros((targets.size, 4), np.int64)
    for at in range(0, near.row.size, _AT_ONCE):
        some = near.where(slice(at, at + _AT_ONCE))
        who = some.target
        own = targets._replace(numbers=targets.numbers[who], codes=targets.codes[who])
        apart = pair_distances(others.block(some.row), own)
        is_near = apart <= other_limit[who]
        tied = (some.distance == limit[who]) + 2 * (apart == other_limit[who])
        np.add.at(shared, (who[is_near], tied[is_near]), 1)
    return shared
