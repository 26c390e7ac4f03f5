"""Probability that two nearest-row sets overlap, with random ties.

With d the distance of the k-th nearest row, the rows nearer than d are sure to be among the k, and the rows at d share
the places that are left: that many of them are drawn, each set of them as likely as any other, and independently in the
two groups of columns.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from unveil._kernels._compile import kernel
from unveil._kernels.neighbours.index import SearchIndex
from unveil._kernels.neighbours.search import NearRows, Neighbourhood
from unveil._kernels.partitions.contingency import count_cells
from unveil._kernels.types import FloatArray, Int32Array, IntArray

#: The nearest numbers to "never" and "always" that say: not quite.
_HARDLY = float(np.finfo(np.float64).tiny)
_ALMOST = 1.0 - 2.0**-53


def chances_by_search(first: Neighbourhood, second: Neighbourhood, ks: Sequence[int]) -> FloatArray:
    """Return link probabilities for each k (row) and target."""
    second_targets = second.targets
    pair, pair_of = np.unique(first.target_of.astype(np.int64) * second_targets + second.target_of, return_inverse=True)
    return _of_pairs(first, second, *np.divmod(pair, second_targets), ks)[:, pair_of]


def _of_pairs(
    first: Neighbourhood, second: Neighbourhood, one: IntArray, other: IntArray, ks: Sequence[int]
) -> FloatArray:
    """Return link probabilities of target pairs, split if too large."""
    sets = []
    for around, targets in ((first, one), (second, other)):
        some, number = np.unique(targets, return_inverse=True)
        near = around.nearest_of_each(some, ks)
        if near is None:
            half = one.size // 2
            parts = (slice(None, half), slice(half, None))
            return np.hstack([_of_pairs(first, second, one[part], other[part], ks) for part in parts])
        sets.append((number, near))
    (one, every), (other, other_every) = sets
    cells = _shared_cells(first, second)
    chances = []
    for k, own, others in zip(ks, every, other_every, strict=True):
        (sure, tied), (other_sure, other_tied) = _rows_in(own, first.copies), _rows_in(others, second.copies)
        shared = _shared_rows(cells, one, other, own, others)
        chances.append(link_chance(shared, tied[one], k - sure[one], other_tied[other], k - other_sure[other]))
    return np.array(chances)


def shared_within(
    first: SearchIndex, second: SearchIndex, limits: IntArray, other_limits: IntArray, k: int
) -> IntArray:
    """Return the rows within both limits of each target.

    Targets must not be collapsed: those that are alike beside some rows may have other limits.
    """
    own, others = np.empty_like(limits), np.empty_like(other_limits)
    own[first.target_of], others[second.target_of] = limits, other_limits
    shared = np.empty((limits.size, 4), np.int64)
    cells = _shared_cells(first, second)
    todo = [np.arange(limits.size)]
    while todo:
        some = todo.pop()
        sets = []
        for around, limit in ((first, own), (second, others)):
            targets = np.sort(around.target_of[some]).astype(np.int64)
            sets.append((targets, around.nearest(targets, k, limit[targets])))
        (one, near), (other, other_near) = sets
        if near is None or other_near is None:
            todo += [some[: some.size // 2], some[some.size // 2 :]]
            continue
        places = np.searchsorted(one, first.target_of[some]), np.searchsorted(other, second.target_of[some])
        shared[some] = _shared_rows(cells, *places, near, other_near)
    return shared


def _rows_in(near: NearRows, copies: IntArray) -> tuple[IntArray, IntArray]:
    """Return the rows below and at the limit, per target."""
    sure = near.distance < np.repeat(near.limit, np.diff(near.start))
    return _sums(near.start, copies[near.row] * sure), _sums(near.start, copies[near.row] * ~sure)


def _sums(start: IntArray, values: IntArray) -> IntArray:
    total = np.concatenate([[0], np.cumsum(values)])
    return np.asarray(total[start[1:]] - total[start[:-1]])


class _SharedCells(NamedTuple):
    """Numbers of released rows by distinct rows in both column groups."""

    by_first: tuple[IntArray, Int32Array, IntArray]
    by_second: tuple[IntArray, Int32Array, IntArray]


def _shared_cells(first: Neighbourhood, second: Neighbourhood) -> _SharedCells:
    return _SharedCells(
        count_cells(first.row_of, second.row_of, first.copies, second.copies),
        count_cells(second.row_of, first.row_of, second.copies, first.copies),
    )


def _shared_rows(
    counted: _SharedCells, one: IntArray, other: IntArray, near: NearRows, other_near: NearRows
) -> IntArray:
    """Return the shared rows of pairs, by certain or tied.

    For each pair, the cells of the set that has fewer are looked up in the other set.
    """
    by_first, by_second = counted
    rows, other_rows = by_first[0].size - 1, by_second[0].size - 1
    cells = _sums(near.start, np.diff(by_first[0])[near.row])
    other_cells = _sums(other_near.start, np.diff(by_second[0])[other_near.row])
    swapped = cells[one] < other_cells[other]
    shared = np.empty((one.size, 4), np.int64)
    here = np.flatnonzero(~swapped)
    here = here[np.argsort(one[here])]
    found, mark = np.zeros((here.size, 4), np.int64), np.full(rows, -1, np.int64)
    _look_up(one[here], other[here], *near, *other_near, *by_second, mark, found)
    shared[here] = found
    there = np.flatnonzero(swapped)
    there = there[np.argsort(other[there])]
    found, mark = np.zeros((there.size, 4), np.int64), np.full(other_rows, -1, np.int64)
    _look_up(other[there], one[there], *other_near, *near, *by_first, mark, found)
    shared[there] = found[:, [0, 2, 1, 3]]
    return shared


@kernel("i8[], i8[], i8[], i4[], i8[], i8[], i8[], i4[], i8[], i8[], i8[], i4[], i8[], i8[], i8[,]")
def _look_up(
    one: IntArray,
    other: IntArray,
    start: IntArray,
    row: Int32Array,
    distance: IntArray,
    limit: IntArray,
    other_start: IntArray,
    other_row: Int32Array,
    other_distance: IntArray,
    other_limit: IntArray,
    cell_start: IntArray,
    cell_row: Int32Array,
    cell_count: IntArray,
    mark: IntArray,
    shared: IntArray,
) -> None:
    """Fill in the shared rows of pairs, via the other side's cells."""
    marked = -1
    for p in range(one.size):
        if one[p] != marked:
            marked = one[p]
            for e in range(start[marked], start[marked + 1]):
                mark[row[e]] = 2 * marked + (distance[e] == limit[marked])
        for e in range(other_start[other[p]], other_start[other[p] + 1]):
            tied = 2 * (other_distance[e] == other_limit[other[p]])
            for cell in range(cell_start[other_row[e]], cell_start[other_row[e] + 1]):
                seen = mark[cell_row[cell]]
                if seen >> 1 == marked:
                    shared[p, (seen & 1) + tied] += cell_count[cell]


def link_chance(
    shared: IntArray, tied: IntArray, drawn: IntArray, other_tied: IntArray, other_drawn: IntArray
) -> FloatArray:
    """Return the exact probability that two sets overlap.

    ``shared`` has one line per pair: rows sure in both, tied in the first and sure in the second, sure in the first and
    tied in the second, tied in both. ``drawn`` of the ``tied`` rows are drawn.

    >>> link_chance(np.array([[0, 0, 0, 2]]), *np.array([[2], [1], [2], [1]]))
    array([0.5])
    """
    chance = np.zeros(len(shared))
    weight = np.empty(drawn.max(initial=0) + 1)
    _meet(np.column_stack([shared[:, 0] > 0, shared[:, 1:], tied, drawn, other_tied, other_drawn]), weight, chance)
    return chance


@kernel("i8[,], f8[], f8[]")
def _meet(cases: IntArray, weight: FloatArray, chance: FloatArray) -> None:
    """Return overlap probabilities from shared, tied, and drawn counts.

    The first set misses the second's sure rows with chance C(tied - a, drawn) / C(tied, drawn). Then it holds j of the
    rows that are tied in both, with a hypergeometric chance, and the second misses these and the first's sure rows like
    the first did. Products, and ratios of neighbouring terms, keep the precision that factorials would lose.
    """
    for i in range(len(cases)):
        sure, a, b, both = cases[i, 0], cases[i, 1], cases[i, 2], cases[i, 3]
        tied, drawn, other_tied, other_drawn = cases[i, 4], cases[i, 5], cases[i, 6], cases[i, 7]
        free = tied - a - both
        least, most = max(0, drawn - free), min(both, drawn)
        left = other_tied - b - least
        if sure or free + both < drawn or left < other_drawn:
            chance[i] = 1.0
            continue
        if a == 0 and b == 0 and both == 0:
            continue
        missed = 1.0
        for j in range(min(a, drawn)):
            missed *= (tied - max(a, drawn) - j) / (tied - j)
        for j in range(min(b + least, other_drawn)):
            missed *= (other_tied - max(b + least, other_drawn) - j) / (other_tied - j)
        middle = min(max((drawn + 1) * (both + 1) // (free + both + 2), least), most)
        weight[middle] = 1.0
        for j in range(middle, most):
            weight[j + 1] = weight[j] * ((both - j) * (drawn - j)) / ((j + 1) * (free - drawn + j + 1))
        for j in range(middle, least, -1):
            weight[j - 1] = weight[j] * (j * (free - drawn + j)) / ((both - j + 1) * (drawn - j + 1))
        total, part, missing = 0.0, 0.0, 1.0
        for j in range(least, most + 1):
            total += weight[j]
            part += weight[j] * missing
            missing *= max(0, other_tied - b - j - other_drawn) / max(1, other_tied - b - j)
        chance[i] = min(max(1.0 - missed * (part / total), _HARDLY), _ALMOST)
