"""Candidate pairs of large periods: items that share a rare value, or have near numbers."""

from typing import NamedTuple

import numpy as np

from unveil._kernels._compile import kernel
from unveil._kernels.types import BoolArray, FloatArray, Int32Array, IntArray
from unveil.attacks.link._profiles import Profiles, ValueColumn
from unveil.attacks.link.score import ScoreModel, TwoCovariance, postings

#: Periods with at most so many items are compared in full.
DENSE_ITEMS = 4_000
#: Values of at most so many items are rare; fewer where that would make too many pairs.
RARE, MOST_PAIRS = 400, 40_000_000
#: Nearest neighbors by numbers, where no value is rare.
_NEAREST = 60
#: Pairs this far below the best of both their items are no candidates.
_FAR = 25.0
#: Larger blocks (the geometric mean of their sides) are assigned one by one, by probability.
_LARGE_BLOCK = 1_500
_LEAST = 1e-4


class CandidatePairs(NamedTuple):
    """Pairs of items: those of row ``i`` are ``start[i]`` to ``start[i + 1] - 1``."""

    start: IntArray
    column: Int32Array

    @property
    def row(self) -> IntArray:
        """The row of each pair."""
        return np.repeat(np.arange(self.start.size - 1), np.diff(self.start))

    def kept(self, some: BoolArray) -> "CandidatePairs":
        """Return some of the pairs."""
        rows = np.bincount(self.row[some], minlength=self.start.size - 1)
        return CandidatePairs(np.concatenate([[0], np.cumsum(rows)]), self.column[some])


def candidate_pairs(ones: Profiles, others: Profiles, *, near: TwoCovariance | None = None) -> CandidatePairs:
    """Return the pairs that share a value that few items have.

    Where no value is rare, the pairs with the nearest numbers in the directions of ``near``.
    """
    used = [(one, other) for one, other in zip(ones.values, others.values, strict=True)]
    limit = RARE
    while limit > 0 and sum(_number_of_pairs(one, other, limit) for one, other in used) > MOST_PAIRS:
        limit //= 2
    found = [_sharing(one, other, limit) for one, other in used if _number_of_pairs(one, other, limit)]
    if not found and near is not None and near.ratio.size and ones.numbers:
        found = [_nearest(ones, others, near)]
    if not found:
        return CandidatePairs(np.zeros(ones.items + 1, np.int64), np.zeros(0, np.int32))
    return _union(found, others.items) if len(found) > 1 else found[0]


def scored_pairs(model: ScoreModel, ones: Profiles, others: Profiles) -> tuple[CandidatePairs, FloatArray]:
    """Return the candidate pairs that are near the best of their items, with scores."""
    pairs = candidate_pairs(ones, others, near=model.numbers[0] if model.numbers else None)
    scores = model.pair_scores(ones, others, pairs.row, pairs.column.astype(np.int64))
    best_row, best_column = np.full(ones.items, -np.inf), np.full(others.items, -np.inf)
    np.maximum.at(best_row, pairs.row, scores)
    np.maximum.at(best_column, pairs.column, scores)
    near = scores > np.maximum(best_row[pairs.row], best_column[pairs.column]) - _FAR
    return pairs.kept(near), scores[near]


def _rare(one: ValueColumn, other: ValueColumn, limit: int) -> tuple[IntArray, IntArray]:
    """Return how many items of each side have each value, 0 for values that are not rare."""
    sizes = [np.bincount(each.value, minlength=each.frequency.size) for each in (one, other)]
    common = (sizes[0] > limit) | (sizes[1] > limit)
    return np.where(common, 0, sizes[0]), np.where(common, 0, sizes[1])


def _number_of_pairs(one: ValueColumn, other: ValueColumn, limit: int) -> int:
    left, right = _rare(one, other, limit)
    return int((left * right).sum())


def _sharing(one: ValueColumn, other: ValueColumn, limit: int) -> CandidatePairs:
    """Return the pairs that share a rare value of a column."""
    start, item, _ = postings(other)
    left, right = _rare(one, other, limit)
    rare = (left > 0) & (right > 0)
    room = np.zeros(one.start.size, np.int64)
    stamp = np.full(other.start.size - 1, -1, np.int64)
    _list_pairs(one.start, one.value, start, item, rare, stamp, room, np.zeros(0, np.int32))
    place = np.concatenate([[0], np.cumsum(room[:-1])])
    column = np.zeros(int(place[-1]), np.int32)
    stamp[:] = -1
    _list_pairs(one.start, one.value, start, item, rare, stamp, place.copy(), column)
    return CandidatePairs(place, column)


@kernel("i8[], i4[], i8[], i8[], b1[], i8[], i8[], i4[]", cost=20)
def _list_pairs(
    start: IntArray,
    value: Int32Array,
    posting: IntArray,
    item: IntArray,
    rare: BoolArray,
    stamp: IntArray,
    place: IntArray,
    column: Int32Array,
) -> None:
    """Write the columns that share a rare value with each row, or count them where there is no room."""
    for row in range(start.size - 1):
        for k in range(start[row], start[row + 1]):
            if rare[value[k]]:
                for j in range(posting[value[k]], posting[value[k] + 1]):
                    if stamp[item[j]] != row:
                        stamp[item[j]] = row
                        if column.size > 0:
                            column[place[row]] = item[j]
                        place[row] += 1


def _nearest(ones: Profiles, others: Profiles, near: TwoCovariance) -> CandidatePairs:
    """Return each row's nearest neighbors by the first block of numbers."""
    from scipy.spatial import cKDTree

    scale = np.sqrt(near.ratio / (1 - near.ratio))
    x, y = (each.numbers[0].means @ near.transform * scale for each in (ones, others))
    count = min(_NEAREST, others.items)
    found = cKDTree(y).query(x, k=count)[1].reshape(ones.items, count)
    return CandidatePairs(np.arange(0, found.size + 1, count), np.sort(found, axis=1).ravel().astype(np.int32))


def _union(parts: list[CandidatePairs], columns: int) -> CandidatePairs:
    key = np.unique(np.concatenate([each.row * columns + each.column for each in parts]))
    start = np.searchsorted(key, np.arange(parts[0].start.size) * columns)
    return CandidatePairs(start, (key % columns).astype(np.int32))


def assigned_pairs(
    pairs: CandidatePairs, probability: FloatArray, columns: int, *, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Return a one-to-one assignment of candidate pairs with a high total ln P.

    Best within each connected block of likely pairs; greedy by probability in large blocks.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    best = np.zeros(pairs.start.size - 1)
    np.maximum.at(best, pairs.row, probability)
    # Where no pair is likely, the best of each row still is a guess.
    likely = (probability >= _LEAST) | ((probability == best[pairs.row]) & (probability > 0))
    row, column, chance = pairs.row[likely], pairs.column[likely].astype(np.int64), probability[likely]
    chance = chance * (1 + 1e-9 * rng.random(chance.size))
    rows = pairs.start.size - 1
    graph = coo_array((np.ones(row.size), (row, rows + column)), shape=(rows + columns, rows + columns))
    block = connected_components(graph, directed=False)[1][row]
    order = np.argsort(block, kind="stable")
    ends = np.concatenate([[0], np.flatnonzero(np.diff(block[order])) + 1, [row.size]])
    taken = [np.zeros(0, np.int64)]
    for first, last in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        some = order[first:last]
        if some.size <= 1:
            taken.append(some)
        else:
            taken.append(some[_best_of_block(row[some], column[some], chance[some])])
    place = np.sort(np.concatenate(taken))
    return row[place], column[place]


def _best_of_block(row: IntArray, column: IntArray, chance: FloatArray) -> IntArray:
    """Return the places of the assigned pairs of one block."""
    from scipy.optimize import linear_sum_assignment

    rows, row = np.unique(row, return_inverse=True)
    columns, column = np.unique(column, return_inverse=True)
    if rows.size * columns.size > _LARGE_BLOCK**2:
        return _greedy(row, column, chance)
    gain = np.zeros((rows.size, columns.size))
    place = np.full(gain.shape, -1, np.int64)
    gain[row, column], place[row, column] = np.log(chance / chance.min()) + 1e-6, np.arange(row.size)
    found = place[linear_sum_assignment(-gain)]
    return np.asarray(found[found >= 0], np.int64)


def _greedy(row: IntArray, column: IntArray, chance: FloatArray) -> IntArray:
    taken_rows, taken_columns = set[int](), set[int]()
    kept = []
    for place in np.argsort(-chance, kind="stable").tolist():
        one, other = int(row[place]), int(column[place])
        if one not in taken_rows and other not in taken_columns:
            taken_rows.add(one)
            taken_columns.add(other)
            kept.append(place)
    return np.array(kept, np.int64)
