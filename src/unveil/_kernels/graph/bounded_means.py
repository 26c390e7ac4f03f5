"""Clusters of numbers around means, all of nearly the same size."""

from typing import NamedTuple

import numpy as np

from unveil._kernels._compile import PLAIN_UP_TO, compiled, loop
from unveil._kernels.types import FloatArray, IntArray


class Clusters(NamedTuple):
    """Where clusters of sorted numbers begin (one more entry for the end), and how they were found."""

    bounds: IntArray
    rounds: int
    is_stable: bool


def bounded_means(
    values: IntArray, centres: FloatArray, size: int, most_rounds: int, *, even: bool = False
) -> Clusters:
    """Return the clusters of ascending ``values`` around means that start at the ascending ``centres``.

    Every cluster has at least ``size`` members, and with ``even`` at most one more. In each round values are assigned
    so that the sum of their squared distances to the centres is least, and centres move to the mean of their cluster.
    Neither can raise that sum, so the clusters become stable. Because numbers are in a line, clusters are stretches of
    it. A round takes time in proportion to the number of values.

    >>> bounded_means(np.array([1, 1, 2, 8, 9]), np.array([1.0, 2.0]), 2, 50)
    Clusters(bounds=array([0, 3, 5]), rounds=2, is_stable=True)
    """
    below = np.concatenate([[0], np.cumsum(values)])
    assign = assigned if values.size <= PLAIN_UP_TO else compiled(assigned)
    bounds = assign(below, centres, size, even)
    for done in range(1, most_rounds + 1):
        moved = assign(below, np.diff(below[bounds]) / np.diff(bounds), size, even)
        if (moved == bounds).all():
            return Clusters(bounds, done, True)
        bounds = moved
    return Clusters(bounds, most_rounds, False)


@loop("i8[], f8[], i8, b1")
def assigned(below: IntArray, centres: FloatArray, size: int, even: bool) -> IntArray:
    """Return where the cluster of each centre begins (and the last one ends) in the cheapest assignment.

    ``below[i]`` is the sum of the first ``i`` values. Every cluster gets at least ``size`` of them; how the ``spare``
    ones that are left over are shared out is found by going through the centres and, for each, through how many of
    them went to it and those before. With ``even`` no cluster gets more than one of them; there must not be more
    than clusters then.

    >>> assigned(np.array([0, 1, 2, 4, 12, 21]), np.array([1.0, 9.0]), 2, False)
    array([0, 3, 5])
    >>> assigned(np.array([0, 1, 2, 3, 4, 12, 21]), np.array([1.0, 9.0]), 2, False)
    array([0, 4, 6])
    >>> assigned(np.array([0, 1, 2, 3, 4, 12, 21]), np.array([1.0, 9.0]), 3, True)
    array([0, 3, 6])
    """
    count = centres.size
    spare = below.size - 1 - count * size
    cost = np.zeros(spare + 1)
    chosen = np.zeros((count, spare + 1), np.int64)
    for cluster in range(count):
        centre = centres[cluster]
        # The squared distances of values b..e-1 are a term of e less the same of b, but for their own squares,
        # which are the same in every assignment.
        best, best_before, last = np.inf, 0, np.inf
        for used in range(spare + 1):
            begin = cluster * size + used
            total = cost[used] - centre * (begin * centre - 2 * below[begin])
            if cluster == 0 and used > 0:  # the first cluster begins at the first value
                total = np.inf
            if even:
                # All but the one that this cluster may take went to those before it.
                best, best_before, last = last, used - 1, total
            if total < best:
                best, best_before = total, used
            end = begin + size
            cost[used] = best + centre * (end * centre - 2 * below[end])
            chosen[cluster, used] = best_before
    bounds = np.empty(count + 1, np.int64)
    used = spare
    for cluster in range(count, 0, -1):
        bounds[cluster] = cluster * size + used
        used = chosen[cluster - 1, used]
    bounds[0] = 0
    return bounds
