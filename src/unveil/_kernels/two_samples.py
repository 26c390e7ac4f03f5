"""Welch's t-test and the rank-sum test of neighboring levels.

Values that differ by less than ``SAME`` times the largest of the two samples are taken to be the same: a mean of equal
numbers depends in its last digits on how many there were, and such a difference would be significant at once.
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from unveil._kernels._compile import PLAIN_UP_TO, compiled, loop
from unveil._kernels.types import BoolArray, FloatArray, IntArray

#: Two samples of together at most so many values are compared by the exact rank-sum test, ties or not: up to here all
#: splits are counted in some 0.1 ms where there are ties (and once per pair of sizes where there are none), without
#: rounding, and above the normal distribution differs from them by little.
EXACT_UP_TO = 40

#: Differences below this share of the largest absolute value are rounding.
SAME = 1e-12

#: How many values are sorted at a time, so that no second copy of them all is needed.
_BLOCK = 2**21

# What a loop leaves of each pair of samples.
_T, _FREEDOM, _LEAD, _TIES, _EXACT, _FIRST, _SECOND = range(7)
_FACTS = 7


class NeighbourTests(NamedTuple):
    """Tests of neighboring levels, at [sequence, pair].

    Attributes
    ----------
    pairs
        The number of pairs of each row, which fill its first columns; NaN and 0 follow.
    welch, rank_sum
        The two-sided p-value of each test: how often samples differ that much where nothing but chance divides them.
    welch_sign, rank_sum_sign
        1 where the second sample has the larger mean (Welch) or wins more comparisons than it loses (rank sum), -1
        where the first has, and 0 where none has.
    """

    pairs: IntArray
    welch: FloatArray
    welch_sign: IntArray
    rank_sum: FloatArray
    rank_sum_sign: IntArray


def neighbour_tests(values: FloatArray, *, fast: bool | None = None) -> NeighbourTests:
    """Return the tests at [row, pair], for values [row, level, replication].

    NaN values are left out, and a level with fewer than two values is passed over: its neighbours are then neighbours
    of one another. Infinite values leave Welch's test undecided (p = 1, sign 0), unless all values of each sample are
    the same. ``fast`` tells whether to compile; left out, the number of values decides.

    >>> found = neighbour_tests(np.array([[[1.0, 2, 3, 4], [5, 6, 7, 9], [5, 5, 5, np.nan], [np.nan] * 4]]))
    >>> found.pairs, found.rank_sum.round(4), found.rank_sum_sign
    (array([2]), array([[0.0286, 0.1429,    nan]]), array([[ 1, -1,  0]]))
    """
    rows, levels, replications = values.shape
    fast = values.size > PLAIN_UP_TO if fast is None else fast
    run = compiled(_compare) if fast else _compare
    facts = np.full((rows, max(levels - 1, 0), _FACTS), np.nan)
    pairs = np.zeros(rows, np.int64)
    step = max(1, _BLOCK // max(1, levels * replications))
    for start in range(0, rows, step):
        part = slice(start, start + step)
        # NaN come last.
        ordered = np.sort(values[part], axis=2)
        with np.errstate(over="ignore"):
            run(ordered, (~np.isnan(ordered)).sum(axis=2), facts[part], pairs[part])
    there = np.arange(facts.shape[1]) < pairs[:, None]
    return NeighbourTests(pairs, *_welch_values(facts, there), *_rank_sum_values(facts, there))


def _welch_values(facts: FloatArray, there: BoolArray) -> tuple[FloatArray, IntArray]:
    from scipy.special import stdtr

    t = facts[there, _T]
    p, sign = np.full(there.shape, np.nan), np.zeros(there.shape, np.int64)
    p[there] = 2 * stdtr(facts[there, _FREEDOM], -np.abs(t))
    sign[there] = np.sign(t)
    return p, sign


def _rank_sum_values(facts: FloatArray, there: BoolArray) -> tuple[FloatArray, IntArray]:
    from scipy.special import ndtr

    found = facts[there]
    lead, ties = found[:, _LEAD], found[:, _TIES]
    first, second = found[:, _FIRST], found[:, _SECOND]
    both = first + second
    variance = first * second / 12 * (both + 1 - ties / (both * (both - 1)))
    # Half the step between neighbouring values of U is taken off. Where all are tied there is no variance, and no lead.
    away = np.maximum(np.abs(lead) / 2 - 0.5, 0)
    some = lead != 0
    p = np.ones(lead.size)
    p[some] = 2 * ndtr(-away[some] / np.sqrt(variance[some]))
    p = np.where(np.isnan(found[:, _EXACT]), p, found[:, _EXACT])
    untied = np.flatnonzero((ties == 0) & (both <= EXACT_UP_TO))
    sizes = (first[untied] * (EXACT_UP_TO + 1) + second[untied]).astype(np.int64)
    for size in np.unique(sizes).tolist():
        which = untied[sizes == size]
        p[which] = untied_p(*divmod(size, EXACT_UP_TO + 1))[np.abs(lead[which]).astype(np.int64)]
    every, sign = np.full(there.shape, np.nan), np.zeros(there.shape, np.int64)
    every[there], sign[there] = p, np.sign(lead)
    return every, sign


@cache
def untied_p(first: int, second: int) -> FloatArray:
    """Return exact two-sided rank-sum p-values without ties, by sizes.

    At [d] stands that of samples of which one wins d comparisons more than the other.

    >>> untied_p(3, 3)[[9, 7, 5]]
    array([0.1, 0.2, 0.4])
    """
    both = first + second
    counts = _splits(np.arange(1 - both, both, 2), min(first, second))
    lead = np.abs(np.arange(counts.size) - first * second)
    at_least = np.cumsum(np.bincount(lead, counts)[::-1])[::-1]
    p: FloatArray = at_least / at_least[0]
    p.flags.writeable = False
    return p


# In plain Python, where p-values without ties are made, parts at once are what makes the splits fast.
@loop("f8[,,], i8[,], f8[,,], i8[]", uses=("a part at once",))
def _compare(ordered: FloatArray, count: IntArray, facts: FloatArray, pairs: IntArray) -> None:
    """Fill in the comparisons and pair counts of sorted levels."""
    for row in range(ordered.shape[0]):
        before = -1
        for level in range(ordered.shape[1]):
            if count[row, level] < 2:
                continue
            if before >= 0:
                first, second = ordered[row, before, : count[row, before]], ordered[row, level, : count[row, level]]
                fact = facts[row, pairs[row]]
                near = SAME * max(_magnitude(first), _magnitude(second))
                fact[_T], fact[_FREEDOM] = _welch(first, second, near)
                lead, ties, score = _merged(first, second, near)
                fact[_LEAD], fact[_TIES], fact[_FIRST], fact[_SECOND] = lead, ties, first.size, second.size
                if ties > 0 and score.size <= EXACT_UP_TO:
                    few = min(first.size, second.size)
                    fact[_EXACT] = _as_far(_splits(score, few), score[:few].sum(), abs(lead))
                pairs[row] += 1
            before = level


def _magnitude(sample: FloatArray) -> float:
    """Return the largest absolute value that is not infinite."""
    largest = 0.0
    for value in sample:
        if largest < abs(value) < np.inf:
            largest = abs(value)
    return largest


def _welch(first: FloatArray, second: FloatArray, near: float) -> tuple[float, float]:
    """Return Welch's t (positive: second larger) and df."""
    low, high = min(first[0], second[0]), max(first[-1], second[-1])
    # Equal infinite values must not be subtracted.
    one_same = first[0] == first[-1] or first[-1] - first[0] <= near
    other_same = second[0] == second[-1] or second[-1] - second[0] <= near
    if low == high or high - low <= near:
        return 0.0, 1.0
    if one_same and other_same:
        return (np.inf if second[0] > first[0] else -np.inf), 1.0
    if low == -np.inf or high == np.inf:
        return 0.0, 1.0
    # In units of the range, so that no square is too large or too small; halved where the range itself is too large.
    part = 1.0 if high - low < np.inf else 0.5
    scale = high * part - low * part
    one, one_error = _moments(first, part, low * part, scale)
    other, other_error = _moments(second, part, low * part, scale)
    if abs(other - one) * scale <= near * part:
        return 0.0, 1.0
    error = one_error + other_error
    freedom = error**2 / (one_error**2 / (first.size - 1) + other_error**2 / (second.size - 1))
    return (other - one) / np.sqrt(error), freedom


def _moments(sample: FloatArray, part: float, low: float, scale: float) -> tuple[float, float]:
    """Return the mean and squared standard error of shifted values."""
    total = 0.0
    for value in sample:
        total += (value * part - low) / scale
    mean = total / sample.size
    squares = 0.0
    for value in sample:
        squares += ((value * part - low) / scale - mean) ** 2
    return mean, squares / (sample.size - 1) / sample.size


def _merged(first: FloatArray, second: FloatArray, near: float) -> tuple[int, int, IntArray]:
    """Return what ranks tell of two sorted samples.

    The comparisons that the second wins less those that it loses (2 U - n m), the sum of t^3 - t over runs of t tied
    values, and twice the middle rank of every value, in increasing order, less its mean.
    """
    one, other, run = 0, 0, 0
    both = first.size + second.size
    score = np.empty(both, np.int64)
    lead, ties = -first.size * second.size, 0
    while run < both:
        start = one
        last = 0.0
        tied = 0
        while run + tied < both:
            is_one = other == second.size or (one < first.size and first[one] <= second[other])
            value = first[one] if is_one else second[other]
            if tied > 0 and value != last and not value - last <= near:
                break
            one, other = (one + 1, other) if is_one else (one, other + 1)
            last = value
            tied += 1
        of_first = one - start
        lead += (tied - of_first) * (2 * start + of_first)
        ties += tied**3 - tied
        for place in range(run, run + tied):
            score[place] = 2 * run + tied - both
        run += tied
    return lead, ties, score


def _splits(score: IntArray, few: int) -> FloatArray:
    """Return the number of choices of ``few`` scores per sum.

    The scores increase. Counts are whole numbers, exact for up to 56 scores.
    """
    size = score.size
    below = np.zeros(size + 1, np.int64)
    below[1:] = np.cumsum(score)
    counts = np.zeros((few + 1, below[size] - below[size - few] - below[few] + 1))
    counts[0, 0] = 1.0
    for seen in range(1, size + 1):
        for chosen in range(min(seen, few), max(1, few - size + seen) - 1, -1):
            # Sums of that many start from that of the lowest ones.
            shift = score[seen - 1] - score[chosen - 1]
            span = below[seen - 1] - below[seen - chosen] - below[chosen - 1] + 1
            counts[chosen, shift : shift + span] += counts[chosen - 1, :span]
    found: FloatArray = counts[few]
    return found


def _as_far(counts: FloatArray, lowest: int, lead: int) -> float:
    """Return the share of choices at least ``lead`` from 0."""
    below, above = -lead - lowest, lead - lowest
    far, every = 0.0, 0.0
    for place in range(counts.size):
        every += counts[place]
        if place <= below or place >= above:
            far += counts[place]
    return far / every
