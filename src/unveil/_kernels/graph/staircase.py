"""The whole degrees that fit two noisy views of the same degrees best: a staircase seen from two sides."""

import numpy as np
from numpy.typing import NDArray

from unveil._kernels._compile import PLAIN_UP_TO, compiled, loop
from unveil._kernels.types import FloatArray, IntArray

#: More steps than this would need more than 128 MB of memory.
MOST_STEPS = 2**30


def fitted_degrees(above: FloatArray, sequence: FloatArray, most_steps: int = MOST_STEPS) -> tuple[IntArray, bool]:
    """Return the non-increasing whole numbers nearest to both views, and whether they are surely the nearest.

    They minimise the sum of ``|sequence[j] - degree of node j|`` plus the sum of ``|above[i] - nodes with more than i
    neighbours|``: the cheapest way down a grid, from the top left to the bottom right.

    Parameters
    ----------
    above
        For each i from 0 to n - 2 about how many nodes have more than i neighbours.
    sequence
        For each of n nodes about how many neighbours it has, the largest first.
    most_steps
        How many points of the grid may be looked at; where more would be needed, only those in the middle are.

    Examples
    --------
    >>> fitted_degrees(np.array([3.2, 0.9]), np.array([2.1, 0.8, 1.3]))
    (array([2, 1, 1]), True)
    """
    lowest, highest = _band(above, sequence)
    steps = _steps(lowest, highest, above.size)
    exact = steps <= most_steps
    if not exact:
        lowest, highest = _narrowed(lowest, highest, most_steps)
        steps = _steps(lowest, highest, above.size)
    run = _cheapest_way if steps <= PLAIN_UP_TO else compiled(_cheapest_way)
    packed = np.zeros(steps // 8 + 1, np.uint8)
    return run(above, sequence, lowest, highest, packed), exact


def _band(above: FloatArray, sequence: FloatArray) -> tuple[IntArray, IntArray]:
    """Return between which heights each step of a cheapest staircase lies.

    One unit more of height y at node x changes the cost of the sequence by -1 while y + 1 <= sequence[x] and by +1 as
    soon as y >= sequence[x]; the same goes for the other view. Where a point and everything right of it and above it
    can only add cost in both views, a cheapest staircase leaves it out; where everything left of it and below it can
    only save cost in both, it goes over it.
    """
    nodes = sequence.size
    tops = np.maximum.accumulate(above[::-1])[::-1]
    bottoms = np.minimum.accumulate(above)
    column = np.arange(nodes)
    # Both are non-increasing, so that the points they allow above a node are counted by a search from the end.
    wide = above.size - np.searchsorted(tops[::-1], column, side="right")
    narrow = above.size - np.searchsorted(bottoms[::-1], column + 1, side="left")
    highest = np.maximum(np.ceil(np.maximum.accumulate(sequence[::-1])[::-1]), wide)
    lowest = np.minimum(np.floor(np.minimum.accumulate(sequence)), narrow)
    return (
        np.clip(lowest, 0, above.size).astype(np.int64),
        np.clip(highest, 0, above.size).astype(np.int64),
    )


def _steps(lowest: IntArray, highest: IntArray, tallest: int) -> int:
    """Return the number of points of the grid in a band."""
    tops = np.concatenate([[tallest], highest])
    bottoms = np.concatenate([lowest, [0]])
    return int((tops - bottoms + 1).sum())


def _narrowed(lowest: IntArray, highest: IntArray, most_steps: int) -> tuple[IntArray, IntArray]:
    """Return a band around the middle of another that has about as many points as allowed."""
    middle = (lowest + highest) // 2
    half = max(1, most_steps // (4 * lowest.size))
    return np.maximum(lowest, middle - half), np.minimum(highest, middle + half)


@loop("f8[], f8[], i8[], i8[], u1[]")
def _cheapest_way(
    above: FloatArray, sequence: FloatArray, lowest: IntArray, highest: IntArray, packed: NDArray[np.uint8]
) -> IntArray:
    """Return the heights at which the cheapest way down the band steps to the right, one per node."""
    nodes = sequence.size
    tallest = above.size
    cost = np.full(tallest + 1, np.inf)
    cost[tallest] = 0.0
    place = 0
    for column in range(nodes + 1):
        top = tallest if column == 0 else highest[column - 1]
        bottom = 0 if column == nodes else lowest[column]
        for height in range(top, bottom - 1, -1):
            level = np.inf
            if column == 0:
                level = cost[height]
            elif height >= lowest[column - 1]:
                level = cost[height] + abs(sequence[column - 1] - height)
            if height < top:
                down = cost[height + 1] + abs(above[height] - column)
                if down < level:
                    level = down
                    packed[place >> 3] |= np.uint8(1 << (place & 7))
            cost[height] = level
            place += 1
    return _way_back(packed, lowest, highest, place)


def _way_back(packed: NDArray[np.uint8], lowest: IntArray, highest: IntArray, steps: int) -> IntArray:
    """Return the heights of the way that the marks lead back along, from the last point."""
    nodes = lowest.size
    heights = np.zeros(nodes, np.int64)
    height = 0
    place = steps - 1
    for column in range(nodes, 0, -1):
        while packed[place >> 3] >> (place & 7) & 1:
            height += 1
            place -= 1
        heights[column - 1] = height
        # Points of a column are numbered from its top down, and columns one after the other.
        place -= highest[column - 1] - lowest[column - 1] + 1
    return heights
