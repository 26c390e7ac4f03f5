"""DCR scores: distance to released rows relative to non-members.

Distances are whole numbers. A distance of 0 counts as half a unit, the least difference being one.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from unveil._kernels._compile import kernel
from unveil._kernels.neighbours.index import LAST_MARKER, IntegerGrid
from unveil._kernels.neighbours.near_pairs import NearKinds
from unveil._kernels.types import BoolArray, FloatArray, Int32Array, IntArray

# Scores nearer than this are equal: rounding must not decide which of two equal people comes first.
_PLACES = 9
_LAST_MARKER = int(LAST_MARKER)


class RelativeNearness(NamedTuple):
    """Log distance ratio to the best row and a non-member, and influence."""

    relative: FloatArray
    influence: FloatArray


def log_ratio(apart: IntArray, near: IntArray) -> FloatArray:
    """Return the rounded log ratio of two distances.

    >>> log_ratio(np.array([3, 6, 0]), np.array([1, 2, 1])).round(4)
    array([ 1.0986,  1.0986, -0.6931])
    """
    ratio: FloatArray = np.maximum(2 * apart, 1) / np.maximum(2 * near, 1)
    return np.asarray(np.round(np.log(ratio), _PLACES), np.float64)


def nearness(
    size: int,
    parts: Iterable[NearKinds],
    outsider: Callable[[IntArray], IntArray],
    crowd: Callable[[IntArray], FloatArray],
    width: float,
) -> RelativeNearness:
    """Return the scores of N targets, computed in batches.

    ``outsider`` gives the distance of some kinds, by the row that stands for each, from the nearest person outside the
    data, ``crowd`` the logarithm of the sum of exp(-distance / width) over all of them. Each is asked once for a kind
    that is near anybody.
    """
    relative, influence = np.empty(size), np.empty(size)
    known, apart, thick = np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0)
    for near in parts:
        new = np.setdiff1d(near.row, known)
        if new.size:
            known, apart = np.append(known, new), np.append(apart, outsider(new))
            thick = np.append(thick, crowd(new))
            order = np.argsort(known)
            known, apart, thick = known[order], apart[order], thick[order]
        kind, start = np.searchsorted(known, near.row), near.start[:-1]
        relative[near.targets] = np.maximum.reduceat(log_ratio(apart[kind], near.distance), start)
        added = np.logaddexp(0.0, -near.distance / width - thick[kind]) * near.copies
        # In the order of their sizes, so that the sum hangs on nothing else.
        added = added[np.lexsort((added, np.repeat(near.targets, np.diff(near.start))))]
        influence[near.targets] = np.round(np.add.reduceat(added, start), _PLACES)
    return RelativeNearness(relative, influence)


def log_crowd(distance: IntArray, copies: IntArray | None, width: float) -> FloatArray:
    """Return log(Σ exp(-distance / width)) per row, with copies.

    >>> log_crowd(np.array([[0, 1], [5, 5]]), None, 1.0).round(4)  # log(1 + 1/e), log(2) - 5
    array([ 0.3133, -4.3069])
    """
    least = distance.min(axis=1)
    near = (least[:, None] - distance) / width
    np.exp(near, out=near)
    if copies is not None:
        near *= copies
    # Summed line by line: a product with a matrix rounds a line by where it stands.
    return np.asarray(np.log(near.sum(axis=1)) - least / width, np.float64)


def crowd_distances(crowd: IntegerGrid, rows: IntegerGrid) -> IntArray:
    """Return the distance of each row (line) from each of a crowd (column).

    >>> crowd, rows = (IntegerGrid(np.array([[x] for x in ages]), np.empty((len(ages), 0), np.int32),
    ...     np.array([2]), 10) for ages in ([24, 31], [25]))
    >>> crowd_distances(crowd, rows)
    array([[ 2, 12]])
    """
    distance = np.empty((len(rows.numbers), len(crowd.numbers)), np.int64)
    has_marker = np.asarray((crowd.numbers <= LAST_MARKER).any(axis=0))
    _measure(
        np.ascontiguousarray(crowd.numbers.T),
        np.ascontiguousarray(crowd.codes.T),
        has_marker,
        np.ascontiguousarray(rows.numbers),
        np.ascontiguousarray(rows.codes),
        crowd.step_cost,
        crowd.mismatch_cost,
        distance,
    )
    return distance


@kernel("i8[,], i4[,], b1[], i8[,], i4[,], i8[], i8, i8[,]", cost=2)
def _measure(
    numbers: IntArray,
    codes: Int32Array,
    has_marker: BoolArray,
    wanted: IntArray,
    wanted_codes: Int32Array,
    step: IntArray,
    mismatch: int,
    distance: IntArray,
) -> None:
    """Fill in all distances, a column of the crowd at a time."""
    size = distance.shape[1]
    differ = np.empty(size, np.int32)
    for row in range(len(distance)):
        line = distance[row]
        line[:] = 0
        differ[:] = 0
        for column in range(len(numbers)):
            others, value, cost = numbers[column], wanted[row, column], step[column]
            if value <= _LAST_MARKER:
                for at in range(size):
                    differ[at] += others[at] != value
            elif has_marker[column]:
                for at in range(size):
                    if others[at] <= _LAST_MARKER:
                        differ[at] += 1
                    else:
                        line[at] += abs(others[at] - value) * cost
            else:
                for at in range(size):
                    line[at] += abs(others[at] - value) * cost
        for column in range(len(codes)):
            names, code = codes[column], wanted_codes[row, column]
            for at in range(size):
                differ[at] += names[at] != code
        for at in range(size):
            line[at] += int(differ[at]) * mismatch
