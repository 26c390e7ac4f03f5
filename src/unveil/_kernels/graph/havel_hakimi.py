"""A simple graph whose nodes have given numbers of neighbours, or as nearly so as any simple graph can."""

import numpy as np

from unveil._kernels._compile import PLAIN_UP_TO, compiled, loop
from unveil._kernels.types import IntArray


def graph_with_degrees(degrees: IntArray) -> tuple[IntArray, IntArray]:
    """Return both ends of the edges of a simple graph in which node i has ``degrees[i]`` neighbours.

    The node that lacks most is joined to those that lack most after it, over and over (Havel and Hakimi): this finds a
    graph whenever there is one. Where there is none, as with an odd sum, some nodes get fewer neighbours.

    Parameters
    ----------
    degrees
        Whole numbers from 0, non-increasing; one above the number of other nodes counts as that number.

    Examples
    --------
    >>> graph_with_degrees(np.array([2, 1, 1]))
    (array([0, 0]), array([1, 2]))
    >>> graph_with_degrees(np.array([3, 1, 0]))
    (array([0]), array([1]))
    """
    lacking = np.minimum(degrees, max(degrees.size - 1, 0)).astype(np.int64)
    room = int(lacking.sum())
    one, other = np.empty(room, np.int64), np.empty(room, np.int64)
    run = _join if room <= PLAIN_UP_TO else compiled(_join)
    edges = run(lacking, one, other)
    return one[:edges], other[:edges]


def _first_at_most(lacking: IntArray, begin: int, limit: int) -> int:
    """Return the first place from ``begin`` on whose value is at most ``limit``; values are non-increasing."""
    low, high = begin, lacking.size
    while low < high:
        middle = (low + high) // 2
        if lacking[middle] > limit:
            low = middle + 1
        else:
            high = middle
    return low


@loop("i8[], i8[], i8[]")
def _join(lacking: IntArray, one: IntArray, other: IntArray) -> int:
    """Write the edges into two arrays and return how many there are; ``lacking`` is used up."""
    edges = 0
    for node in range(lacking.size):
        candidates = _first_at_most(lacking, node + 1, 0) - node - 1
        wanted = min(lacking[node], candidates)
        if wanted == 0:
            continue
        # Of those that lack as much as the last one joined, the last ones are joined: then what is lacking stays
        # non-increasing.
        least = lacking[node + wanted]
        alike = _first_at_most(lacking, node + 1, least)
        behind = _first_at_most(lacking, node + 1, least - 1)
        shift = behind - (node + 1 + wanted)
        for place in range(node + 1, node + 1 + wanted):
            partner = place if place < alike else place + shift
            one[edges] = node
            other[edges] = partner
            lacking[partner] -= 1
            edges += 1
    return edges
