"""Ship goods from sources to sinks at the lowest cost: an assignment in which many rows and columns are alike."""

import numpy as np

from unveil._kernels._compile import compiled, loop
from unveil._kernels.types import BoolArray, FloatArray, IntArray

#: Up to this many costs plain Python is quick enough.
PLAIN_COSTS = 200


def transport(cost: FloatArray, supply: IntArray, demand: IntArray) -> IntArray:
    """Return how many units go from each source to each sink so that all are shipped and the total cost is lowest.

    It is the assignment of rows to columns in which row ``i`` is there ``supply[i]`` times and column ``j``
    ``demand[j]`` times, at the price of one in which each is there once.

    Parameters
    ----------
    cost
        What one unit costs, a row per source and a column per sink; any finite numbers.
    supply, demand
        How many units each source has, all of which must go, and how many each sink takes at most; the sinks together
        take at least as many as there are.

    Examples
    --------
    >>> transport(np.array([[1.0, 2.0], [1.0, 5.0]]), np.array([2, 1]), np.array([2, 2]))
    array([[1, 1],
           [1, 0]])
    """
    shipped = np.zeros(cost.shape, np.int64)
    plain = cost.size <= PLAIN_COSTS
    run = _ship if plain else compiled(_ship)
    run(np.ascontiguousarray(cost, np.float64), np.array(supply, np.int64), np.array(demand, np.int64), shipped)
    return shipped


@loop("f8[,], i8[], i8[], i8[,]")
def _ship(cost: FloatArray, supply: IntArray, demand: IntArray, shipped: IntArray) -> None:
    """Send along shortest paths, source by source, all that the way allows; ``supply`` and ``demand`` are used up.

    Prices of sources and sinks keep the cost of every way, less the prices at its ends, at 0 or more, and at 0 where
    something is shipped; a sink with room left has the price 0. Then nothing cheaper exists.
    """
    sources, sinks = cost.shape
    price, sink_price = np.zeros(sources), np.zeros(sinks)
    far, source_far = np.empty(sinks), np.empty(sources)
    before, source_before = np.empty(sinks, np.int64), np.empty(sources, np.int64)
    done, seen = np.empty(sinks, np.bool_), np.empty(sources, np.bool_)
    for source in range(sources):
        while supply[source] > 0:
            end = _search(
                source, cost, demand, shipped, price, sink_price, far, source_far, before, source_before, done, seen
            )
            for each in range(sources):
                if seen[each]:
                    price[each] += far[end] - source_far[each]
            for each in range(sinks):
                if done[each]:
                    sink_price[each] -= far[end] - far[each]
            amount = min(supply[source], demand[end])
            sink = end
            while before[sink] != source:
                sink, giver = source_before[before[sink]], before[sink]
                amount = min(amount, shipped[giver, sink])
            supply[source] -= amount
            demand[end] -= amount
            sink = end
            while True:
                giver = before[sink]
                shipped[giver, sink] += amount
                if giver == source:
                    break
                sink = source_before[giver]
                shipped[giver, sink] -= amount


def _search(
    source: int,
    cost: FloatArray,
    demand: IntArray,
    shipped: IntArray,
    price: FloatArray,
    sink_price: FloatArray,
    far: FloatArray,
    source_far: FloatArray,
    before: IntArray,
    source_before: IntArray,
    done: BoolArray,
    visited: BoolArray,
) -> int:
    """Return the sink with room left that is nearest to the source, by the costs less prices (Dijkstra).

    A full sink leads on to the sources that ship to it: they could ship elsewhere. ``before`` is the source from which
    each sink is reached, ``source_before`` the sink from which a source is.
    """
    sources, sinks = cost.shape
    far[:], done[:], visited[:] = np.inf, False, False
    queue = np.empty(sources, np.int64)
    queue[0], visited[source], source_far[source] = source, True, 0.0
    first, last = 0, 1
    while True:
        while first < last:
            giver = queue[first]
            first += 1
            base = source_far[giver] - price[giver]
            for sink in range(sinks):
                way = base + cost[giver, sink] - sink_price[sink]
                if not done[sink] and way < far[sink]:
                    far[sink] = way
                    before[sink] = giver
        sink = _nearest(far, done, demand)
        done[sink] = True
        if demand[sink] > 0:
            return sink
        for giver in range(sources):
            if not visited[giver] and shipped[giver, sink] > 0:
                visited[giver] = True
                source_far[giver] = far[sink]
                source_before[giver] = sink
                queue[last] = giver
                last += 1


def _nearest(far: FloatArray, done: BoolArray, demand: IntArray) -> int:
    """Return the nearest sink that is not done, one with room left if there is one as near."""
    best = -1
    for sink in range(far.size):
        if done[sink] or far[sink] == np.inf:
            continue
        nearer = best < 0 or far[sink] < far[best]
        if nearer or (far[sink] == far[best] and demand[sink] > 0 and demand[best] == 0):
            best = sink
    return best
