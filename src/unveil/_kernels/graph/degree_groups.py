"""Degree sequences in which each degree occurs at least k times."""

import numpy as np

from unveil._kernels._compile import compiled, loop
from unveil._kernels.table.microaggregation import best_groups
from unveil._kernels.types import BoolArray, IntArray

_PLAIN_STEPS = 20_000


def smallest_class(degrees: IntArray) -> int:
    """Return the smallest number of nodes that share a degree; 0 without nodes.

    >>> smallest_class(np.array([2, 2, 1, 1, 1]))
    2
    """
    return int(np.unique(degrees, return_counts=True)[1].min()) if degrees.size else 0


def raised_degrees(degrees: IntArray, k: int, *, even: bool = False) -> IntArray:
    """Return k-anonymous degrees, never lowered, with minimal increase.

    The given ones must fall. Neighbours in that order make groups of k to 2k - 1, each of which gets its largest
    degree; the best groups are found in time proportional to n times k (Liu and Terzi, 2008, Section 4). There must
    be at least k degrees, all below their number. With ``even``, the sum is the least even one: as no graph has
    degrees with an odd sum, groups may then get one more than their largest degree.

    >>> raised_degrees(np.array([2, 1, 1, 1, 1]), 2)
    array([2, 2, 1, 1, 1])
    >>> raised_degrees(np.array([2, 1, 1, 1, 1]), 2, even=True)
    array([2, 2, 2, 1, 1])
    """
    run = compiled(_raised) if degrees.size * k > _PLAIN_STEPS else _raised
    return run(degrees, k, even)


@loop("i8[], i8, b1")
def _raised(degrees: IntArray, k: int, even: bool) -> IntArray:
    n = degrees.size
    total = np.zeros(n + 1, np.int64)
    for place in range(n):
        total[place + 1] = total[place] + degrees[place]
    # The least sum of the degrees before a cut, if that is even (0) or odd (1), and how it came about.
    unknown = np.iinfo(np.int64).max // 2
    least = np.full((n + 1, 2), unknown)
    least[0, 0] = 0
    begin = np.zeros((n + 1, 2), np.int64)
    given = np.zeros((n + 1, 2), np.int64)
    for end in range(k, n + 1):
        for cut in range(max(0, end - 2 * k + 1), end - k + 1):
            for more in range(2 if even and degrees[cut] < n - 1 else 1):
                group = (degrees[cut] + more) * (end - cut)
                for before in range(2):
                    after = (before + group) % 2
                    if least[cut, before] + group < least[end, after]:
                        least[end, after] = least[cut, before] + group
                        begin[end, after] = cut
                        given[end, after] = degrees[cut] + more
    parity = 0 if even or least[n, 0] < least[n, 1] else 1
    found = np.empty(n, np.int64)
    end = n
    while end > 0:
        cut = begin[end, parity]
        for place in range(cut, end):
            found[place] = given[end, parity]
        parity = (parity + given[end, parity] * (end - cut)) % 2
        end = cut
    return found


def nearest_degrees(degrees: IntArray, k: int) -> IntArray | None:
    """Return near k-anonymous degrees with an even sum, or None.

    Groups of at least k have the least squares within them (optimal microaggregation), and each group gets its mean,
    rounded down or up: see `even_rounding`. There must be at least k degrees, with an even sum.

    >>> nearest_degrees(np.array([1, 1, 1, 2, 3, 4]), 3)
    array([1, 1, 1, 3, 3, 3])
    >>> nearest_degrees(np.array([3, 3, 3, 1, 2]), 2) is None
    True
    """
    group = best_groups(degrees.astype(np.float64), k)
    size = np.bincount(group)
    total = np.zeros(size.size, np.int64)
    np.add.at(total, group, degrees)
    up = even_rounding(size, total % size)
    return None if up is None else (total // size + up)[group]


def even_rounding(size: IntArray, rest: IntArray) -> BoolArray | None:
    """Return the groups that round up for an even sum.

    Group ``g`` has ``size[g]`` nodes, and their sum leaves ``rest[g]`` when divided by that. Rounded down it loses
    that much, rounded up it gains ``size[g] - rest[g]``, and with no rest there is nothing to round. Of the choices
    whose sum of changes is even (else no graph has such degrees) and nearest to 0, one with the least squares is taken.
    None if every sum is odd. The choice is exact: the most of ``rest`` for each sum of sizes, group after group.

    >>> even_rounding(np.array([5, 5, 3]), np.array([1, 4, 0]))
    array([False,  True, False])
    """
    open_groups = np.flatnonzero(rest)
    lost = int(rest.sum())
    largest = int(size.max(initial=0))
    # No sum beyond is needed: two groups taken away from it would leave it nearer, and as even.
    limit = min(int(size[open_groups].sum()), lost + 2 * largest)
    most = np.full(limit + 1, -1, np.int64)
    most[0] = 0
    taken = []
    for group in open_groups:
        step = int(size[group])
        below = most[: max(limit + 1 - step, 0)]
        better = np.zeros(limit + 1, np.bool_)
        better[step:] = (below >= 0) & (below + rest[group] > most[step:])
        most[better] = most[np.flatnonzero(better) - step] + rest[group]
        taken.append(np.packbits(better))
    sums = np.flatnonzero((most >= 0) & ((lost - np.arange(limit + 1)) % 2 == 0))
    if sums.size == 0:
        return None
    # To round up instead of down adds size - 2 * rest to the squares of a group.
    left = int(sums[np.lexsort((sums - 2 * most[sums], np.abs(lost - sums)))[0]])
    up = np.zeros(size.size, np.bool_)
    for group, bits in zip(open_groups[::-1], taken[::-1], strict=True):
        if bits[left // 8] >> (7 - left % 8) & 1:
            up[group] = True
            left -= int(size[group])
    return up


def is_graphic(degrees: IntArray) -> bool:
    """Return whether some simple graph has these degrees (Erdős and Gallai, 1960).

    >>> is_graphic(np.array([2, 2, 2])), is_graphic(np.array([3, 3, 1, 1]))
    (True, False)
    """
    n = degrees.size
    falling = np.sort(degrees)[::-1]
    if n == 0:
        return True
    if falling[-1] < 0 or falling[0] >= n or falling.sum() % 2:
        return False
    total = np.concatenate([[0], np.cumsum(falling)])
    first = np.arange(1, n + 1)
    # How many nodes have at least that many edges: of these, all beyond the first can give each of the first one.
    large = np.maximum(np.searchsorted(-falling, -first, side="right"), first)
    most = first * (first - 1) + first * (large - first) + total[n] - total[large]
    return bool((total[1:] <= most).all())
