"""Whether an edge is there, asked inside a loop of rows that stay as they are, and by which key a set holds it."""

from unveil._kernels.types import Int32Array, IntArray


def place_in_row(start: IntArray, neighbour: Int32Array, node: int, other: int) -> int:
    """Return where ``other`` stands in ``neighbour`` within the row of ``node``, or -1 if they are not connected.

    >>> import numpy as np
    >>> place_in_row(np.array([0, 2, 3, 4]), np.array([1, 2, 0, 0], np.int32), 0, 2)
    1
    """
    low, high = start[node], start[node + 1]
    while low < high:
        middle = (low + high) // 2
        if neighbour[middle] < other:
            low = middle + 1
        else:
            high = middle
    if low < start[node + 1] and neighbour[low] == other:
        return int(low)
    return -1


def has_edge(start: IntArray, neighbour: Int32Array, one: int, other: int) -> bool:
    """Return whether two nodes are connected; the shorter of both rows is searched.

    >>> import numpy as np
    >>> has_edge(np.array([0, 2, 3, 4]), np.array([1, 2, 0, 0], np.int32), 1, 2)
    False
    """
    if start[one + 1] - start[one] > start[other + 1] - start[other]:
        one, other = other, one
    return place_in_row(start, neighbour, one, other) >= 0


def key_of(one: int, other: int, nodes: int) -> int:
    """Return the key of the edge between two nodes; `rows.edge_keys` does so for many.

    >>> key_of(2, 0, 3)
    2
    """
    if one < other:
        return one * nodes + other
    return other * nodes + one
