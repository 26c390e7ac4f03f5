"""Orbit copying: the graph in which every node of a cell has its copies, all joined as the node itself is.

Cell after cell is copied. A copy of a cell is joined inside as the cell is, and outside to whatever the cell is joined
to at that time, copies of other cells included. So of an edge between two cells, every copy of one end is joined to
every copy of the other, whichever cell was copied first; of an edge within a cell, each copy has its own. That is all,
and it needs no copying one by one.
"""

import numpy as np

from unveil._kernels._compile import kernel
from unveil._kernels.types import Int32Array, IntArray


def copied_size(one: Int32Array, other: Int32Array, cell: IntArray, times: IntArray) -> tuple[int, int]:
    """Return how many nodes and edges there will be if node ``i`` is there ``times[i]`` times, itself included.

    ``times`` is the same for all of a cell and below 2**31. The counts are exact, however large.

    >>> copied_size(np.array([0]), np.array([1]), np.array([0, 1]), np.array([3, 2]))
    (5, 6)
    >>> copied_size(np.array([0]), np.array([1]), np.array([0, 0]), np.array([3, 3]))
    (6, 3)
    """
    edges = times[one] * np.where(cell[one] == cell[other], 1, times[other])
    # The sum may need more than 64 bits, so the upper and lower halves are added up apart.
    return int(times.sum()), (int((edges >> 31).sum()) << 31) + int((edges & (2**31 - 1)).sum())


def copied_keys(one: Int32Array, other: Int32Array, cell: IntArray, times: IntArray) -> IntArray:
    """Return the keys of the edges, in no order, of the graph in which node ``i`` is there ``times[i]`` times.

    Nodes keep their numbers; after them come the copies of node 0, then those of node 1, and so on.

    >>> copied_keys(np.array([0]), np.array([1]), np.array([0, 1]), np.array([1, 3]))  # nodes 0, 1 and copies 2, 3
    array([1, 2, 3])
    """
    nodes, edges = copied_size(one, other, cell, times)
    keys = np.empty(edges, np.int64)
    before_copies = times.size + np.cumsum(times - 1) - times
    _write_keys(one, other, cell, times, before_copies, nodes, keys)
    return keys


@kernel("i4[], i4[], i8[], i8[], i8[], i8, i8[]")
def _write_keys(
    one: Int32Array,
    other: Int32Array,
    cell: IntArray,
    times: IntArray,
    before_copies: IntArray,
    nodes: int,
    keys: IntArray,
) -> None:
    written = 0
    for edge in range(one.size):
        source, target = np.int64(one[edge]), np.int64(other[edge])
        within = cell[source] == cell[target]
        for copy in range(times[source]):
            here = source if copy == 0 else before_copies[source] + copy
            for at in range(copy if within else 0, copy + 1 if within else times[target]):
                there = target if at == 0 else before_copies[target] + at
                keys[written] = min(here, there) * nodes + max(here, there)
                written += 1
