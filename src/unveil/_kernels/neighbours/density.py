"""Row density around targets, and score ranks with random ties."""

from fractions import Fraction

import numpy as np

from unveil._kernels.neighbours.index import EVERY, BlockedRows, IntegerGrid
from unveil._kernels.neighbours.matrix import all_distances
from unveil._kernels.neighbours.nearest import is_small
from unveil._kernels.neighbours.search import Neighbourhood, nearest_in_parts
from unveil._kernels.neighbours.sketch import nearest_sketch
from unveil._kernels.types import FloatArray, IntArray


def rows_within(rows: BlockedRows, targets: IntegerGrid, k: int) -> tuple[IntArray, IntArray]:
    """Return each target's k-th nearest distance, and rows within it.

    There are at least k, and more where rows tie; k is at most the number of rows.

    >>> rows, targets = (IntegerGrid(np.array([[x] for x in ages]), np.empty((len(ages), 0), np.int32),
    ...     np.array([1]), 10) for ages in ([24, 31, 29], [25, 30]))
    >>> rows_within(rows, targets, 1)
    (array([1, 1]), array([1, 2]))
    """
    if is_small(rows, targets):
        distance = all_distances(rows.block(EVERY), targets)
        radius = np.partition(distance, k - 1, axis=1)[:, k - 1]
        return radius, np.count_nonzero(distance <= radius[:, None], axis=1)
    near = nearest_sketch(rows, targets, k)
    return near.limit(k), near.sure(k)[0] + near.tied(k)[0]


def within(around: Neighbourhood, k: int) -> tuple[IntArray, IntArray]:
    """Return `rows_within` for any neighborhood."""
    radius, count = (np.zeros(around.targets, np.int64) for _ in range(2))
    for some, near in nearest_in_parts(around, k):
        radius[some] = near.limit
        count[some] = np.add.reduceat(around.copies[near.row], near.start[:-1])
    return radius[around.target_of], count[around.target_of]


def chance_of_highest(scores: FloatArray, reference: FloatArray, share: Fraction) -> FloatArray:
    """Return the probability of each score in the top ``share``.

    For somebody who is as any of the reference that is ``share`` on average, exactly, however scores are distributed.

    >>> chance_of_highest(np.array([9.0, 2.0, 1.0]), np.array([3.0, 2.0, 1.0]), Fraction(1, 2))
    array([1. , 0.5, 0. ])
    """
    ascending = np.sort(reference)
    above = reference.size - np.searchsorted(ascending, scores, side="right")
    alike = 1 + reference.size - above - np.searchsorted(ascending, scores, side="left")
    # In whole numbers, so that what is certain comes out as exactly 0 or 1.
    places = share.numerator * (reference.size + 1) - share.denominator * above
    most = share.denominator * alike
    chance: FloatArray = np.clip(places, 0, most) / most
    return chance
