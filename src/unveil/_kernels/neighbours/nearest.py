"""Nearest released rows by exact integer distances, with all ties."""

from collections.abc import Sequence

import numpy as np

from unveil._kernels.neighbours import sketch
from unveil._kernels.neighbours.index import (
    EVERY,
    LAST_MARKER,
    MISSING,
    BlockedRows,
    IntegerGrid,
    content_rank,
    prepare,
)
from unveil._kernels.neighbours.link_chances import chances_by_search, link_chance, shared_within
from unveil._kernels.neighbours.matrix import all_distances, chances_by_matrix
from unveil._kernels.neighbours.near_pairs import near_in_both, near_pairs, spread
from unveil._kernels.neighbours.search import Neighbourhood, nearest_in_parts
from unveil._kernels.neighbours.sketch import nearest_sketch
from unveil._kernels.types import FloatArray, Int32Array, IntArray

__all__ = [
    "LAST_MARKER",
    "MISSING",
    "IntegerGrid",
    "content_rank",
    "link_chance",
    "link_chances",
    "nearest_distances",
    "nearest_rows",
]

#: Up to this many distances all are computed: quicker than the search, and nobody waits for a compiler.
ALL_UP_TO = 2**20


def is_small(rows: BlockedRows, targets: IntegerGrid) -> bool:
    """Return whether all distances are computed."""
    return rows.size * targets.size <= ALL_UP_TO


def nearest_distances(released: BlockedRows, targets: IntegerGrid, k: int) -> IntArray:
    """Return the k smallest distances per target, -1 if fewer rows.

    >>> released, targets = (IntegerGrid(np.array([[x] for x in ages]), np.empty((len(ages), 0), np.int32),
    ...     np.array([1]), 10) for ages in ([24, 31, 29], [25, 30]))
    >>> nearest_distances(released, targets, 2)
    array([[1, 4],
           [1, 1]])
    """
    if is_small(released, targets):
        distance = np.sort(all_distances(released.block(EVERY), targets), axis=1)[:, :k]
        short = k - distance.shape[1]
        return np.pad(distance, ((0, 0), (0, short)), constant_values=-1)
    near = nearest_sketch(released, targets, k)
    last = np.cumsum(near.rows, axis=1)
    # The j-th nearest row is at the first distance up to which there are more than j rows.
    place = (last[:, :, None] <= np.arange(k)).sum(axis=1)
    distance = np.take_along_axis(near.distance, np.minimum(place, k - 1), axis=1)
    return np.where(np.arange(k) < last[:, -1:], distance, -1)


def distances_around(around: Neighbourhood, k: int) -> IntArray:
    """Return `nearest_distances` for any neighborhood."""
    smallest: IntArray = np.full((around.targets, k), -1, np.int64)
    for some, near in nearest_in_parts(around, k):
        owner = np.repeat(np.arange(some.size), np.diff(near.start))
        order = np.lexsort((near.distance, owner))
        entry = np.repeat(order, np.minimum(around.copies[near.row[order]], k))
        place = np.arange(entry.size) - np.searchsorted(owner[entry], np.arange(some.size))[owner[entry]]
        entry, place = entry[place < k], place[place < k]
        smallest[some[owner[entry]], place] = near.distance[entry]
    return smallest[around.target_of]


def nearest_rows(released: IntegerGrid, targets: IntegerGrid, k: int) -> tuple[IntArray, Int32Array, IntArray]:
    """Return rows within the k-th distance per target, with distances.

    All rows that tie with the k-th are there, so a target may have more than k; rows come by distance, then by number.

    >>> released, targets = (IntegerGrid(np.array([[x] for x in ages]), np.empty((len(ages), 0), np.int32),
    ...     np.array([1]), 10) for ages in ([24, 31, 29], [25, 30]))
    >>> nearest_rows(released, targets, 1)
    (array([0, 1, 3]), array([0, 1, 2], dtype=int32), array([1, 1, 1]))
    """
    if is_small(released, targets):
        return _rows_by_matrix(all_distances(released, targets), k)
    return rows_around(prepare(released, targets), k)


def _rows_by_matrix(distance: IntArray, k: int) -> tuple[IntArray, Int32Array, IntArray]:
    limit = np.sort(distance, axis=1)[:, :k].max(axis=1, initial=-1)
    target, row = np.nonzero(distance <= limit[:, None])
    return _in_order(target, row, distance[target, row], len(distance))


def rows_around(around: Neighbourhood, k: int) -> tuple[IntArray, Int32Array, IntArray]:
    """Return what `nearest_rows` does, by search."""
    copies_start = np.concatenate([[0], np.cumsum(around.copies)])
    released_row = np.argsort(around.row_of, kind="stable")
    parts = []
    for some, near in nearest_in_parts(around, k):
        entry, row = spread(copies_start[near.row], around.copies[near.row])
        owner = np.repeat(some, np.diff(near.start))[entry]
        parts.append((owner, released_row[row], near.distance[entry]))
    target, row, distance = (np.concatenate(column) for column in zip(*parts, strict=True))
    start, near_row, distance = _in_order(target, row, distance, around.targets)
    # Targets that are equal have the same rows.
    count = np.diff(start)[around.target_of]
    _, entry = spread(start[around.target_of], count)
    return np.concatenate([[0], np.cumsum(count)]), near_row[entry], distance[entry]


def _in_order(target: IntArray, row: IntArray, distance: IntArray, size: int) -> tuple[IntArray, Int32Array, IntArray]:
    order = np.lexsort((row, distance, target))
    start = np.searchsorted(target[order], np.arange(size + 1))
    return start, row[order].astype(np.int32), distance[order]


def link_chances(
    first: BlockedRows,
    second: BlockedRows,
    first_targets: IntegerGrid,
    second_targets: IntegerGrid,
    neighbours: Sequence[int],
) -> FloatArray:
    """Return the probability that two k-nearest sets share a row.

    Each k of ``neighbours`` has a row; one search serves all of them.

    ``first`` and ``second`` are the same released rows in two groups of columns, likewise the targets. Rows that tie
    for the last of the k places are drawn by lot, independently in the two groups. 0.0 and 1.0 are certain: no way of
    breaking ties gives, or misses, a shared row. Where k is more than there are rows, it is all of them.

    >>> def grid(*values):
    ...     return IntegerGrid(np.array(values)[:, None], np.empty((len(values), 0), np.int32), np.array([1]), 10)
    >>> link_chances(grid(24, 31, 29), grid(52, 62, 53), grid(25, 30, 28), grid(50, 60, 55), [1])
    array([[1. , 0.5, 1. ]])
    """
    ks = [min(k, first.size) for k in neighbours]
    if first.size < 1:
        return np.zeros((len(ks), first_targets.size))
    if is_small(first, first_targets):
        return chances_by_matrix(first.block(EVERY), second.block(EVERY), first_targets, second_targets, ks)
    if first.size <= sketch.BLOCK_ROWS:
        one, two = prepare(first.block(EVERY), first_targets), prepare(second.block(EVERY), second_targets)
        return chances_by_search(one, two, ks)
    return _chances_by_blocks(first, second, first_targets, second_targets, ks)


def _chances_by_blocks(
    first: BlockedRows,
    second: BlockedRows,
    first_targets: IntegerGrid,
    second_targets: IntegerGrid,
    ks: Sequence[int],
) -> FloatArray:
    """Return link probabilities from limits and rows within both."""
    near, pairs = near_pairs(first, first_targets, max(ks))
    other, other_pairs = near_pairs(second, second_targets, max(ks))
    limits = [(near.limit(k), other.limit(k)) for k in ks]
    shared = np.zeros((len(ks), first_targets.size, 4), np.int64)
    if pairs is not None:
        for both, (limit, other_limit) in zip(shared, limits, strict=True):
            both += near_in_both(pairs, limit, second, second_targets, other_limit)
    elif other_pairs is not None:
        for both, (limit, other_limit) in zip(shared, limits, strict=True):
            both += near_in_both(other_pairs, other_limit, first, first_targets, limit)[:, [0, 2, 1, 3]]
    else:  # too many rows tie in either group of columns
        for _, (own, others) in sketch.blocks_of(first, second):
            one, two = prepare(own, first_targets, collapse=False), prepare(others, second_targets, collapse=False)
            for both, k, own_limits in zip(shared, ks, limits, strict=True):
                both += shared_within(one, two, *own_limits, k)
    chances = [
        link_chance(both, near.tied(k)[0], k - near.sure(k)[0], other.tied(k)[0], k - other.sure(k)[0])
        for both, k in zip(shared, ks, strict=True)
    ]
    return np.array(chances)
