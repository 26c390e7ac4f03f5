"""Who swaps with whom in rank swapping."""

import numpy as np
from numpy.typing import NDArray

from unveil._kernels._compile import kernel


@kernel
def partners(draws: NDArray[np.float64], window: int) -> NDArray[np.int64]:
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
