"""Near rows listed during the block search, to avoid a second one."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from unveil._kernels.neighbours.index import BlockedRows, IntegerGrid, SearchIndex, content_rank
from unveil._kernels.neighbours.matrix import pair_distances
from unveil._kernels.neighbours.search import ROOM, NearRows
from unveil._kernels.neighbours.sketch import DistanceSketch, block_by_block, empty_sketch, sketch_block
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


def near_pairs(rows: BlockedRows, targets: IntegerGrid, k: int) -> tuple[DistanceSketch, NearPairs | None]:
    """Return the targets' sketch and near rows, or None if full."""
    found: list[NearPairs] | None = []

    def part(some: slice, grids: Sequence[IntegerGrid], limit: IntArray) -> DistanceSketch:
        def listed(around: SearchIndex, distinct: IntArray, near: NearRows) -> None:
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


def _pairs(around: SearchIndex, distinct: IntArray, near: NearRows) -> NearPairs | None:
    """Return the near rows of all targets among distinct ones."""
    who = np.flatnonzero((around.target_of >= distinct[0]) & (around.target_of <= distinct[-1]))
    own = around.target_of[who] - distinct[0]
    of_target, entry = spread(near.start[own], np.diff(near.start)[own])
    row = near.row[entry]
    if around.copies[row].sum() > ROOM:
        return None
    begin = np.cumsum(around.copies) - around.copies
    of_entry, place = spread(begin[row], around.copies[row])
    return NearPairs(who[of_target[of_entry]], around.in_order[place], near.distance[entry][of_entry])


class NearKinds(NamedTuple):
    """Distinct rows near some targets: first row, distance, and copies.

    Those of target ``targets[t]`` are start[t] to start[t + 1] - 1; kinds of a target come in any order.
    """

    targets: IntArray
    start: IntArray
    row: IntArray
    distance: IntArray
    copies: IntArray


def near_kinds(rows: BlockedRows, targets: IntegerGrid, k: int) -> Iterator[NearKinds]:
    """Yield targets in parts, with rows within the k-th distance.

    >>> rows, targets = (IntegerGrid(np.array([[x] for x in ages]), np.empty((len(ages), 0), np.int32),
    ...     np.array([1]), 10) for ages in ([24, 31, 29, 31], [25, 30]))
    >>> near, = near_kinds(rows, targets, 1)
    >>> near.start, near.row, near.distance, near.copies
    (array([0, 1, 3]), array([0, 1, 2]), array([1, 1, 1]), array([1, 2, 1]))
    """
    todo = [np.arange(targets.size)]
    while todo:
        some = todo.pop()
        found = _kinds_around(rows, targets.block(some), k)
        if found is None:
            todo += [some[some.size // 2 :], some[: some.size // 2]]
        else:
            start = np.searchsorted(found[0], np.arange(some.size + 1))
            yield NearKinds(some, start, *found[1:])


def _kinds_around(rows: BlockedRows, targets: IntegerGrid, k: int) -> tuple[IntArray, ...] | None:
    """Return distinct near rows with distances and copies, or None.

    Of each block its kinds are listed, and those that are equal put together: a kind that is near to a target is so in
    all blocks that have it.
    """
    found: list[tuple[IntArray, ...]] | None = []
    room = ROOM if targets.size > 1 else np.inf

    def part(some: slice, grids: Sequence[IntegerGrid], limit: IntArray) -> DistanceSketch:
        def listed(around: SearchIndex, distinct: IntArray, near: NearRows) -> None:
            nonlocal found
            kinds = None if found is None else _kinds(grids[0], around, distinct, near, room)
            if found is None or kinds is None or sum(each[0].size for each in (*found, kinds)) > room:
                found = None
            else:
                target, row, distance, copies = kinds
                found.append((target, some.start + row, distance, copies))

        if found is None:
            return empty_sketch(targets.size, k)
        return sketch_block(grids[0], targets, k, limit, listed)

    whole = block_by_block(part, targets.size, k, rows)
    if found is None:
        return None
    target, row, distance, copies = (np.concatenate(each) for each in zip(*found, strict=True))
    is_near = distance <= whole.limit(k)[target]
    return _put_together(rows, *(each[is_near] for each in (target, row, distance, copies)))


def _kinds(
    rows: IntegerGrid, around: SearchIndex, distinct: IntArray, near: NearRows, room: float
) -> tuple[IntArray, IntArray, IntArray, IntArray] | None:
    """Return the distinct near rows of a block, by target.

    What is one row to the targets may be several kinds, by values that none of them has.
    """
    is_near = np.zeros(around.copies.size, bool)
    is_near[near.row] = True
    ones = np.flatnonzero(is_near)
    owner, place = spread((np.cumsum(around.copies) - around.copies)[ones], around.copies[ones])
    member = around.in_order[place]
    kind = content_rank(rows.block(member))
    first, copies = _first_rows(kind, member), np.bincount(kind)
    one_of = np.empty(copies.size, np.int64)
    one_of[kind] = owner
    by_one = np.argsort(one_of, kind="stable")
    many = np.zeros(around.copies.size, np.int64)
    many[ones] = np.bincount(one_of, minlength=ones.size)
    begin = np.cumsum(many) - many
    who = np.flatnonzero((around.target_of >= distinct[0]) & (around.target_of <= distinct[-1]))
    own = around.target_of[who] - distinct[0]
    of_target, entry = spread(near.start[own], np.diff(near.start)[own])
    if many[near.row[entry]].sum() > room:
        return None
    of_entry, at = spread(begin[near.row[entry]], many[near.row[entry]])
    found = by_one[at]
    return who[of_target[of_entry]], first[found], near.distance[entry][of_entry], copies[found]


def _first_rows(kind: IntArray, row: IntArray) -> IntArray:
    """Return the lowest row of each kind."""
    first = np.full(int(kind.max(initial=-1)) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, kind, row)
    return first


def _put_together(
    rows: BlockedRows, target: IntArray, row: IntArray, distance: IntArray, copies: IntArray
) -> tuple[IntArray, ...]:
    """Return the near rows of all blocks, merged by target."""
    different, place = np.unique(row, return_inverse=True)
    kind = content_rank(rows.block(different))
    first = _first_rows(kind, different)[kind[place]]
    order = np.lexsort((first, target))
    target, first = target[order], first[order]
    begin = np.flatnonzero((np.diff(target, prepend=-1) != 0) | (np.diff(first, prepend=-1) != 0))
    return target[begin], first[begin], distance[order][begin], np.add.reduceat(copies[order], begin)


def spread(start: IntArray, count: IntArray) -> tuple[IntArray, IntArray]:
    """Return owner and number of ``count`` places from each ``start``."""
    owner = np.repeat(np.arange(count.size), count)
    return owner, np.arange(owner.size) + (start - np.cumsum(count) + count)[owner]


def near_in_both(
    near: NearPairs, limit: IntArray, others: BlockedRows, targets: IntegerGrid, other_limit: IntArray
) -> IntArray:
    """Return the near rows shared in both column groups.

    Rows farther than ``limit`` do not count: they are near for a larger k.
    """
    near = near.where(near.distance <= limit[near.target])
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
