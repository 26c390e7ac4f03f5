"""Who swaps with whom in rank swapping."""

import numpy as np

from unveil._kernels._compile import compiled, kernel, loop
from unveil._kernels.types import FloatArray, IntArray


@kernel("f8[], i8")
def partners(draws: FloatArray, window: int) -> IntArray:
    """Return for each rank the rank it swaps with, or itself where it stays.

    From the lowest rank up, a rank that has not swapped yet swaps with one of those above it that have not swapped
    either and are at most ``window`` away, each equally likely; where there is none, it stays. ``draws`` holds one
    number from [0, 1) per rank. Takes time in proportion to the number of ranks, whatever the window.

    >>> partners(np.zeros(5), 2)
    array([2, 3, 0, 1, 4])
    """
    n = draws.size
    partner = np.arange(n)
    # The ranks above the present one that are free and near enough, and where each stands in that list, so that any
    # of them can be taken out in one step: the last one takes its place.
    free = np.empty(n, np.int64)
    place = np.full(n, -1)
    size = 0
    entered = 0
    for rank in range(n):
        while entered < n and entered <= rank + window:
            free[size] = entered
            place[entered] = size
            size += 1
            entered += 1
        if place[rank] < 0:
            continue
        size -= 1
        last = free[size]
        free[place[rank]] = last
        place[last] = place[rank]
        place[rank] = -1
        if size == 0:
            continue
        chosen = free[int(draws[rank] * size)]
        partner[rank] = chosen
        partner[chosen] = rank
        size -= 1
        last = free[size]
        free[place[chosen]] = last
        place[last] = place[chosen]
        place[chosen] = -1
    return partner


def weighted_partners(draws: FloatArray, weight: FloatArray, *, often: bool = False) -> IntArray:
    """Return for each rank the rank it swaps with, where those ``d`` ranks above are chosen by ``weight[d - 1]``.

    As `partners`, but a free rank above is chosen with a probability in proportion to its weight; beyond the last
    weight there is none. Takes time in proportion to the number of ranks and to that of weights; it is compiled where
    that is much, or it is asked ``often``.

    >>> weighted_partners(np.zeros(5), np.array([0.0, 1.0]))
    array([2, 3, 0, 1, 4])
    """
    is_long = draws.size * min(draws.size, weight.size) > _PLAIN_STEPS
    run = compiled(_weighted_partners) if often or is_long else _weighted_partners
    return run(draws, weight)


_PLAIN_STEPS = 300_000


@loop("f8[], f8[]")
def _weighted_partners(draws: FloatArray, weight: FloatArray) -> IntArray:
    n = draws.size
    partner = np.arange(n)
    taken = np.zeros(n, np.bool_)
    for rank in range(n):
        if taken[rank]:
            continue
        end = min(n, rank + weight.size + 1)
        total = 0.0
        for other in range(rank + 1, end):
            if not taken[other]:
                total += weight[other - rank - 1]
        left = draws[rank] * total
        chosen = -1
        for other in range(rank + 1, end):
            share = weight[other - rank - 1]
            if not taken[other] and share > 0:
                # The last one is taken where rounding leaves a rest.
                chosen = other
                left -= share
                if left < 0:
                    break
        if chosen >= 0:
            partner[rank], partner[chosen] = chosen, rank
            taken[chosen] = True
    return partner


@kernel("f8[], i8[]")
def bucket_partners(draws: FloatArray, bucket: IntArray) -> IntArray:
    """Return for each rank the rank it swaps with, where buckets are chosen before ranks.

    ``bucket`` rises from 0 with the ranks. From the lowest rank up, a rank that has not swapped yet chooses its own
    bucket or one above, among those that have a free rank above it: each has half the weight of the one before. There
    it swaps with one of the free ranks, each equally likely; where there is none, it stays. ``draws`` holds two numbers
    from [0, 1) per rank, one after the other.

    >>> bucket_partners(np.zeros(8), np.array([0, 0, 1, 1]))
    array([1, 0, 3, 2])
    """
    n = bucket.size
    partner = np.arange(n)
    count = bucket[-1] + 1
    # The free ranks of each bucket stand at its own ranks, and where each stands, so that any is taken out in one step.
    begin = np.zeros(count, np.int64)
    size = np.zeros(count, np.int64)
    for rank in range(n - 1, -1, -1):
        begin[bucket[rank]] = rank
        size[bucket[rank]] += 1
    free = np.arange(n)
    place = np.arange(n)
    for rank in range(n):
        own = bucket[rank]
        if place[rank] < 0:
            continue
        size[own] -= 1
        last = free[begin[own] + size[own]]
        free[place[rank]] = last
        place[last] = place[rank]
        place[rank] = -1
        total = 0.0
        for other in range(own, count):
            if size[other] > 0:
                total += 0.5 ** (other - own)
        if total == 0.0:
            continue
        left = draws[2 * rank] * total
        into = own
        for other in range(own, count):
            if size[other] > 0:
                into = other
                left -= 0.5 ** (other - own)
                if left < 0:
                    break
        chosen = free[begin[into] + int(draws[2 * rank + 1] * size[into])]
        partner[rank] = chosen
        partner[chosen] = rank
        size[into] -= 1
        last = free[begin[into] + size[into]]
        free[place[chosen]] = last
        place[last] = place[chosen]
        place[chosen] = -1
    return partner
