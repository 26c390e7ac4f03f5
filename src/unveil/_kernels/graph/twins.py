"""Twins of a graph: nodes with the same neighbours, each other left aside."""

import numpy as np

from unveil._kernels.types import BoolArray, Int32Array, IntArray


def twin_counts(start: IntArray, neighbour: Int32Array, counted: BoolArray) -> IntArray:
    """Return how many counted nodes have the same neighbours as each node, itself included; 0 for nodes not counted.

    Two nodes are twins if they have the same neighbours, or would if each were its own neighbour. No node has twins of
    both kinds. Sets of neighbours are compared by sums of 64 bits, one drawn for each node: that two different sets
    have the same sum is as likely as not only among billions of nodes.

    >>> twin_counts(np.array([0, 2, 3, 4]), np.array([1, 2, 0, 0], np.int32), np.ones(3, bool))
    array([1, 2, 2])
    """
    own = _mixed(np.arange(start.size - 1, dtype=np.uint64))
    running = np.zeros(neighbour.size + 1, np.uint64)
    np.cumsum(own[neighbour], out=running[1:])
    apart = running[start[1:]] - running[start[:-1]]
    counts = np.zeros(start.size - 1, np.int64)
    for sums in (apart, apart + own):
        _, place, size = np.unique(sums[counted], return_inverse=True, return_counts=True)
        counts[counted] = np.maximum(counts[counted], size[place])
    return counts


def _mixed(numbers: "np.ndarray[tuple[int], np.dtype[np.uint64]]") -> "np.ndarray[tuple[int], np.dtype[np.uint64]]":
    """Return 64 bits for each number that look as if drawn (the steps of SplitMix64)."""
    mixed = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
