"""Are two tables draws of the same people, and do they share some? What is compared, for each draw of labels.

Labels say who is a member: [draw, person], 1 or True for members. Every statistic is a whole number or a function of
whole numbers, so that neither the order of people nor the way of adding up changes its last digit: draws that tie do.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.neighbours.matrix import all_distances
from unveil._kernels.neighbours.nearest import IntegerGrid, nearest_distances, nearest_rows
from unveil._kernels.types import BoolArray, FloatArray, Int32Array, IntArray

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Labels = NDArray[np.bool_] | NDArray[np.uint8]

#: Features are whole multiples of 1 / SCALE.
SCALE = 2**16
#: How many cells of labels are worked on at a time.
_AT_A_TIME = 2**22


def rank_features(codes: Int32Array) -> tuple[IntArray, IntArray]:
    """Return the place of each value in their order, from -SCALE to SCALE, and its square, from 0 to SCALE.

    ``codes`` are in the order of the values; equal ones share the mean of their places. A missing value, 0, gets the
    mean of the others, as if nothing was to be seen of it.

    >>> place, square = rank_features(np.array([2, 1, 0, 3], np.int32))
    >>> place / SCALE, (square / SCALE).round(3)
    (array([ 0.        , -0.66667175,  0.        ,  0.66667175]), array([0.   , 0.444, 0.296, 0.444]))
    """
    count = np.bincount(codes, minlength=1)
    count[0] = 0
    known = max(1, int(count.sum()))
    place = (2 * (np.cumsum(count) - count) + count - known) / known
    square = place**2
    place[0], square[0] = 0.0, (square * count).sum() / known
    return tuple(np.rint(SCALE * each).astype(np.int64)[codes] for each in (place, square))  # type: ignore[return-value]


def differences(labels: Labels, features: IntArray) -> FloatArray:
    """Return the difference of the means of members and others, [draw, feature], in standard errors.

    The difference over the standard deviation of everybody over sqrt(1 / members + 1 / others); 0 for a feature that is
    the same for everybody. Entries are whole and below 2**53 in sum.

    >>> differences(np.array([[1, 1, 0, 0], [1, 0, 1, 0]], np.uint8), np.array([[0], [0], [2], [2]]))
    array([[-2.],
           [ 0.]])
    """
    members = int(np.count_nonzero(labels[0]))
    others = labels.shape[1] - members
    # Sorted, because the sum of floats depends on their order.
    deviation = np.sort(features, axis=0).std(axis=0)
    inside = labels.astype(np.float64) @ features.astype(np.float64)
    apart = inside / members - (features.sum(axis=0) - inside) / others
    found: FloatArray = apart / np.where(deviation > 0, deviation, 1.0) / np.sqrt(1 / members + 1 / others)
    return found


def shared_records(person: IntArray, record: IntArray, people: int) -> "csr_matrix":
    """Return who has which of the records that several people have, [person, record]; each pair is given once.

    >>> shared_records(np.array([0, 1, 2]), np.array([5, 7, 5]), 3).toarray()
    array([[1.],
           [0.],
           [1.]], dtype=float32)
    """
    from scipy.sparse import csr_matrix

    shared = np.bincount(record)[record] > 1
    found, column = np.unique(record[shared], return_inverse=True)
    ones = np.ones(column.size, np.float32)
    return csr_matrix((ones, (person[shared], column)), shape=(people, found.size))


def others_like_members(labels: Labels, shared: "csr_matrix") -> IntArray:
    """Return in each draw how many others have a record that a member has.

    >>> shared = shared_records(np.array([0, 1, 2]), np.array([5, 7, 5]), 3)
    >>> others_like_members(np.array([[1, 1, 0], [1, 0, 1]], np.uint8), shared)
    array([1, 0])
    """
    some = np.flatnonzero(np.diff(shared.indptr))
    mine: Any = shared[some]
    found = np.zeros(len(labels), np.int64)
    step = max(1, _AT_A_TIME // max(1, some.size))
    for start in range(0, len(labels), step):
        inside = labels[start : start + step, some].T.astype(np.float32)
        is_like = mine @ ((mine.T @ inside) > 0).astype(np.float32) > 0
        found[start : start + step] = np.count_nonzero(is_like & (inside == 0), axis=0)
    return found


def near_pairs(people: IntegerGrid) -> IntArray:
    """Return the pairs of people who are each other's nearest, at most half as far as the next of either: [pair, 2].

    Three who are equal are no pairs, because none of them has one nearest.

    >>> near_pairs(IntegerGrid(np.array([[10], [51], [50], [13]]), np.empty((4, 0), np.int32), np.array([1]), 50))
    array([[0, 3],
           [1, 2]])
    """
    # The nearest of all is the person, or an equal one.
    _, first, second = nearest_distances(people, people, 3).T
    lone = np.flatnonzero((first < second) & (2 * first <= second))
    if lone.size == 0:
        return np.empty((0, 2), np.int64)
    some = people._replace(numbers=people.numbers[lone], codes=people.codes[lone])
    start, row, _ = nearest_rows(people, some, 2)
    # Each has two, of which one is the person.
    nearest = np.full(len(people.numbers), -1)
    nearest[lone] = np.add.reduceat(row.astype(np.int64), start[:-1]) - lone
    is_pair = (nearest[nearest[lone]] == lone) & (lone < nearest[lone])
    return np.column_stack([lone[is_pair], nearest[lone][is_pair]])


def neighbors_at(
    people: IntegerGrid, some: IntArray, rank: int, *, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Return some people, each with the nearest other person, and each with the one at a rank: twice [pair, 2].

    The nearest has rank 1; there must be more than ``rank`` people. Ties are broken at random.

    >>> people = IntegerGrid(np.array([[10], [51], [50], [13]]), np.empty((4, 0), np.int32), np.array([1]), 50)
    >>> [pairs.tolist() for pairs in neighbors_at(people, np.array([0, 2]), 3, rng=np.random.default_rng(1))]
    [[[0, 3], [2, 1]], [[0, 1], [2, 0]]]
    """
    found = np.empty((some.size, 2), np.int64)
    step = max(1, _AT_A_TIME // max(1, len(people.numbers)))
    for start in range(0, some.size, step):
        own = some[start : start + step]
        far = all_distances(people, people._replace(numbers=people.numbers[own], codes=people.codes[own]))
        # Distances are whole: less than one more decides among equal ones alone.
        mixed = far + 0.5 * rng.random(far.shape)
        mixed[np.arange(own.size), own] = -1.0
        found[start : start + step] = np.argpartition(mixed, (1, rank), axis=1)[:, [1, rank]]
    return np.column_stack([some, found[:, 0]]), np.column_stack([some, found[:, 1]])


def pairs_apart(labels: Labels, pairs: IntArray) -> IntArray:
    """Return in each draw how many pairs have one member and one other.

    >>> pairs_apart(np.array([[1, 1, 0], [1, 0, 1]], np.uint8), np.array([[0, 1], [1, 2]]))
    array([1, 2])
    """
    apart: BoolArray = labels[:, pairs[:, 0]] != labels[:, pairs[:, 1]]
    return np.asarray(np.count_nonzero(apart, axis=1))
