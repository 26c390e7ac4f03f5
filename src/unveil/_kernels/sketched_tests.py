"""Do large samples differ of which sums and means of blocks are left? Welch's test and the rank-sum test of neighbours.

A sketch of a sample is its count, its sum, the sum of its squares, and the means of runs of equal count of its sorted
values (blocks). Welch's test needs no more than the first three and is exact. The rank-sum test takes the values of a
block to lie evenly around its mean, as far as half the way to the nearer of its neighbours. That puts its z value off
by some 0.04 for 1,000 values, and 0.1 for 5,000, where ties end inside a block.
"""

import numpy as np

from unveil._kernels.two_samples import (
    _EXACT,
    _FACTS,
    _FIRST,
    _FREEDOM,
    _LEAD,
    _SECOND,
    _T,
    _TIES,
    SAME,
    NeighbourTests,
    _rank_sum_values,
    _welch_values,
)
from unveil._kernels.types import BoolArray, FloatArray, IntArray

#: Blocks are stored with seven digits: differences below this share of the largest are rounding.
SAME_BLOCK = 2.5e-7
#: Pairs whose blocks are sorted at once.
_AT_ONCE = 2048
#: Each block becomes so many values, unless a sample is so small that blocks are hardly more than its values. Without
#: them, two equal samples would look as far apart as the chance order of their 64 blocks.
_PARTS = 4
_FEWEST_TO_SPREAD = 256


def sketched_tests(
    count: IntArray, total: FloatArray, squares: FloatArray, blocks: FloatArray, weights: FloatArray
) -> NeighbourTests:
    """Return the tests of neighbouring levels at [row, pair], for sketches at [row, level].

    A level with fewer than two values is passed over, as `neighbour_tests` does. The rank-sum test is by the normal
    distribution, corrected for ties and for continuity.

    Parameters
    ----------
    count, total, squares
        How many values, their sum, and the sum of their squares, at [row, level].
    blocks, weights
        Means of runs of the sorted values, and how many values each stands for, at [row, level, block]; what has no
        weight is not looked at.

    Examples
    --------
    >>> values = np.array([[[1.0, 2, 3, 4], [5, 6, 7, 9]]])
    >>> found = sketched_tests(np.full((1, 2), 4), values.sum(2), (values**2).sum(2), values, np.ones(values.shape))
    >>> found.pairs, found.welch.round(4), found.rank_sum_sign
    (array([1]), array([[0.0085]]), array([[1]]))
    """
    rows, levels = count.shape
    facts = np.full((rows, max(levels - 1, 0), _FACTS), np.nan)
    pairs = np.zeros(rows, np.int64)
    before = np.full(rows, -1)
    for level in range(levels):
        enough = count[:, level] >= 2
        here = np.flatnonzero(enough & (before >= 0))
        for start in range(0, here.size, _AT_ONCE):
            some = here[start : start + _AT_ONCE]
            first, second = (some, before[some]), (some, np.full(some.size, level))
            fact = np.full((some.size, _FACTS), np.nan)
            _welch(fact, *((count[at], total[at], squares[at]) for at in (first, second)))
            _ranks(fact, *((blocks[at], weights[at]) for at in (first, second)))
            facts[some, pairs[some]] = fact
        pairs[here] += 1
        before[enough] = level
    there = np.arange(facts.shape[1]) < pairs[:, None]
    return NeighbourTests(pairs, *_welch_values(facts, there), *_rank_sum_values(facts, there))


def _welch(
    fact: FloatArray,
    first: tuple[IntArray, FloatArray, FloatArray],
    second: tuple[IntArray, FloatArray, FloatArray],
) -> None:
    """Fill in Welch's t (above 0 if the second sample is larger) and its degrees of freedom."""
    (one, one_error, one_still), (other, other_error, other_still) = _moments(*first), _moments(*second)
    n, m = first[0], second[0]
    near = SAME * np.sqrt(np.maximum(first[2] / n, second[2] / m))
    difference = np.where(np.abs(other - one) <= near, 0.0, other - one)
    error = one_error + other_error
    still = one_still & other_still
    some = np.where(still, 1.0, error)
    away = np.where(difference > 0, np.inf, -np.inf)
    t = np.where(still, away, difference / np.sqrt(some))
    fact[:, _T] = np.where(difference == 0, 0.0, t)
    parts = one_error**2 / (n - 1) + other_error**2 / (m - 1)
    fact[:, _FREEDOM] = np.where(still, 1.0, some**2 / np.where(still, 1.0, parts))


def _moments(count: IntArray, total: FloatArray, squares: FloatArray) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return the mean, the square of its standard error, and whether what is left of the spread is rounding."""
    mean = total / count
    # Each sum of n terms may be off by some rounding of its size.
    spread = squares - total * mean
    still = spread <= 1e-13 * squares * np.maximum(1.0, np.log2(count))
    spread = np.where(still, 0.0, spread)
    return mean, spread / (count - 1) / count, still


def _ranks(fact: FloatArray, first: tuple[FloatArray, FloatArray], second: tuple[FloatArray, FloatArray]) -> None:
    """Fill in the comparisons that the second sample wins less those that it loses, ties, and sizes."""
    (blocks, weights), (more_blocks, more_weights) = _spread(*first), _spread(*second)
    values = np.concatenate([blocks, more_blocks], axis=1)
    weight = np.zeros((2, *values.shape))
    weight[0, :, : blocks.shape[1]], weight[1, :, blocks.shape[1] :] = weights, more_weights
    there = weight.sum(axis=0) > 0
    values = np.where(there, values, np.inf)
    near = SAME_BLOCK * np.max(np.abs(values), axis=1, initial=0.0, where=there)[:, None]
    order = np.argsort(values, axis=1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=1)
    weight = np.take_along_axis(weight, np.broadcast_to(order, weight.shape), axis=2)
    # What has no weight stands last, as infinity, and joins any group without a change.
    apart = np.diff(np.where(np.isfinite(ordered), ordered, 0.0), axis=1) > near
    group = np.concatenate([np.zeros((len(values), 1), np.int64), np.cumsum(apart, axis=1)], axis=1)
    flat = (group + values.shape[1] * np.arange(len(values))[:, None]).ravel()
    one, other = (np.bincount(flat, each.ravel(), values.size).reshape(values.shape) for each in weight)
    below = np.cumsum(one, axis=1) - one
    above = one.sum(axis=1, keepdims=True) - below - one
    tied = one + other
    fact[:, _LEAD] = np.rint((other * (below - above)).sum(axis=1))
    fact[:, _TIES] = (tied**3 - tied).sum(axis=1)
    fact[:, _FIRST], fact[:, _SECOND] = one.sum(axis=1), other.sum(axis=1)
    fact[:, _EXACT] = np.nan


def _spread(blocks: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return several values around the mean of each block, and their weights; equal blocks stay equal."""
    values = np.where(weight > 0, blocks, np.inf).astype(np.float64)
    with np.errstate(invalid="ignore"):
        apart = np.diff(values, axis=1)
    # The last block has no neighbour on its right, and the first none on its left: the other one counts.
    inside = np.where(np.isfinite(apart), apart, np.inf)
    edge = np.full((len(values), 1), np.inf)
    room = np.minimum(np.concatenate([edge, inside], axis=1), np.concatenate([inside, edge], axis=1)) / 2
    large = weight.sum(axis=1, keepdims=True) >= _FEWEST_TO_SPREAD
    room = np.where(large & np.isfinite(room), room, 0.0)
    offsets = (2.0 * np.arange(_PARTS) + 1.0) / _PARTS - 1.0
    spread = values[:, :, None] + room[:, :, None] * offsets
    each = np.repeat(weight / _PARTS, _PARTS, axis=1)
    return spread.reshape(len(values), -1), each
