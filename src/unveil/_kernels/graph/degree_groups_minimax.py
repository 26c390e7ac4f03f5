"""Groups of similar degrees in which nobody has to be raised far."""

import numpy as np

from unveil._kernels._compile import compiled, loop
from unveil._kernels.types import IntArray

_PLAIN_STEPS = 20_000


def minimax_groups(degrees: IntArray, k: int) -> IntArray:
    """Return for each of the descending ``degrees`` the place of the first one of its group.

    All of a group will be raised to its first degree. Of all ways to cut the degrees into groups of at least ``k``,
    this one has the least largest rise, and among those with that one the least sum of rises. Groups have fewer than
    ``2 k`` members, because a larger one could be cut in two at no cost. There must be at least ``k`` degrees. Takes
    time in proportion to their number times ``k``.

    >>> minimax_groups(np.array([9, 9, 5, 5, 4]), 2)
    array([0, 0, 2, 2, 2])
    """
    steps = degrees.size * min(k, degrees.size)
    limit, cheapest = (_limit, _cheapest) if steps <= _PLAIN_STEPS else (compiled(_limit), compiled(_cheapest))
    return cheapest(degrees, k, limit(degrees, k))


@loop("i8[], i8")
def _limit(degrees: IntArray, k: int) -> int:
    """Return the least largest rise of any cut into groups of at least ``k``."""
    n = degrees.size
    above = degrees[0] + 1
    rise = np.full(n + 1, above)
    rise[0] = 0
    for end in range(k, n + 1):
        for size in range(k, min(2 * k, end + 1)):
            largest = max(rise[end - size], degrees[end - size] - degrees[end - 1])
            rise[end] = min(rise[end], largest)
    return int(rise[n])


@loop("i8[], i8, i8")
def _cheapest(degrees: IntArray, k: int, limit: int) -> IntArray:
    """Return the first place of each degree's group in the cut with the least sum of rises, none above ``limit``."""
    n = degrees.size
    below = np.zeros(n + 1, np.int64)
    for place in range(n):
        below[place + 1] = below[place] + degrees[place]
    impossible = n * (degrees[0] + 1)
    cost = np.full(n + 1, impossible)
    cost[0] = 0
    length = np.zeros(n + 1, np.int64)
    for end in range(k, n + 1):
        for size in range(k, min(2 * k, end + 1)):
            begin = end - size
            if degrees[begin] - degrees[end - 1] > limit or cost[begin] == impossible:
                continue
            total = cost[begin] + size * degrees[begin] - (below[end] - below[begin])
            if total < cost[end]:
                cost[end] = total
                length[end] = size
    first = np.empty(n, np.int64)
    end = n
    while end > 0:
        begin = end - length[end]
        for place in range(begin, end):
            first[place] = begin
        end = begin
    return first
