"""Nearest rows from a full distance matrix, for small tables."""

from collections.abc import Sequence

import numpy as np

from unveil._kernels.neighbours.index import LAST_MARKER, IntegerGrid
from unveil._kernels.neighbours.link_chances import link_chance
from unveil._kernels.types import BoolArray, FloatArray, Int32Array, IntArray

#: How many distances are computed at a time, so that they stay near the processor.
_AT_A_TIME = 2**15


def all_distances(released: IntegerGrid, targets: IntegerGrid) -> IntArray:
    """Return the distance of each target (row) from each released row (column)."""
    distance = np.zeros((len(targets.numbers), len(released.numbers)), np.int64)
    released = released._replace(numbers=np.asfortranarray(released.numbers), codes=np.asfortranarray(released.codes))
    step = max(1, _AT_A_TIME // max(1, len(released.numbers)))
    for start in range(0, len(distance), step):
        some = slice(start, start + step)
        _add_distances(distance[some], released, targets.numbers[some], targets.codes[some])
    return distance


def _add_distances(distance: IntArray, released: IntegerGrid, numbers: IntArray, codes: Int32Array) -> None:
    different = np.zeros(distance.shape, np.int32)
    for j, step in enumerate(released.step_cost):
        old, new = released.numbers[:, j], numbers[:, j, None]
        gone, unknown = old <= LAST_MARKER, new <= LAST_MARKER
        if gone.any() or unknown.any():
            apart = np.abs(np.where(gone, 0, old) - np.where(unknown, 0, new)) * step
            distance += np.where(gone | unknown, 0, apart)
            different += (gone | unknown) & (old != new)
        else:
            distance += np.abs(old - new) * step
    for j in range(codes.shape[1]):
        different += released.codes[:, j] != codes[:, j, None]
    distance += different * np.int64(released.mismatch_cost)


def pair_distances(rows: IntegerGrid, targets: IntegerGrid) -> IntArray:
    """Return the distance of each row from the target at the same place.

    >>> rows, targets = (IntegerGrid(np.array([[x] for x in ages]), np.empty((len(ages), 0), np.int32),
    ...     np.array([2]), 10) for ages in ([24, 31], [25, 30]))
    >>> pair_distances(rows, targets)
    array([2, 2])
    """
    gone = (rows.numbers <= LAST_MARKER) | (targets.numbers <= LAST_MARKER)
    apart = np.abs(np.where(gone, 0, rows.numbers) - np.where(gone, 0, targets.numbers)) @ rows.step_cost
    different = (gone & (rows.numbers != targets.numbers)).sum(axis=1) + (rows.codes != targets.codes).sum(axis=1)
    return np.asarray(apart + different * np.int64(rows.mismatch_cost))


def chances_by_matrix(
    first: IntegerGrid, second: IntegerGrid, first_targets: IntegerGrid, second_targets: IntegerGrid, ks: Sequence[int]
) -> FloatArray:
    """Return link probabilities for each k (row) and target."""
    distance, other_distance = all_distances(first, first_targets), all_distances(second, second_targets)
    return np.array([_chances_at(distance, other_distance, k) for k in ks])


def _chances_at(distance: IntArray, other_distance: IntArray, k: int) -> FloatArray:
    (sure, tied), (other_sure, other_tied) = (_sure_and_tied(each, k) for each in (distance, other_distance))
    pairs = (sure & other_sure, tied & other_sure, sure & other_tied, tied & other_tied)
    shared = np.column_stack([np.count_nonzero(pair, axis=1) for pair in pairs])
    counts = (tied, sure, other_tied, other_sure)
    ties, surely, other_ties, other_surely = (np.count_nonzero(each, axis=1) for each in counts)
    return link_chance(shared, ties, k - surely, other_ties, k - other_surely)


def _sure_and_tied(distance: IntArray, k: int) -> tuple[BoolArray, BoolArray]:
    limit = np.partition(distance, k - 1, axis=1)[:, k - 1, None]
    return distance < limit, distance == limit
