"""What two nodes inherit from neighbours that are already mapped on one another: the mean of their scores."""

from typing import NamedTuple

import numpy as np

from unveil._kernels._compile import compiled, loop
from unveil._kernels.types import FloatArray, Int32Array, IntArray

#: Up to this many looks at an end of an edge plain Python is quick enough.
PLAIN_STEPS = 20_000


class AdjacencyRows(NamedTuple):
    """A graph: the neighbours of node ``i`` are ``neighbour[start[i]:start[i + 1]]``."""

    start: IntArray
    neighbour: Int32Array


def inherited(
    one: AdjacencyRows, other: AdjacencyRows, rows: IntArray, columns: IntArray, partner: IntArray, score: FloatArray
) -> FloatArray:
    """Return for each node of one graph (row) and of the other (column) the mean score of their mapped neighbours.

    Parameters
    ----------
    one, other
        The two graphs.
    rows, columns
        The nodes to compare; each column once.
    partner, score
        For each node of ``one`` the node of ``other`` that it is mapped on, -1 for none, and the score of that pair, at
        least 0. No two nodes have the same partner.

    Returns
    -------
    Floats
        The mean of the scores of all pairs of mapped nodes of which one is a neighbour of the row, its partner one of
        the column; 0 where there are none.

    Examples
    --------
    >>> path = AdjacencyRows(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32))
    >>> inherited(path, path, np.arange(3), np.arange(3), np.array([-1, 1, -1]), np.array([0, 0.5, 0]))
    array([[0.5, 0. , 0.5],
           [0. , 0. , 0. ],
           [0.5, 0. , 0.5]])
    """
    nodes = other.start.size - 1
    place, mark = np.full(nodes, -1, np.int64), np.full(nodes, -1.0)
    place[columns] = np.arange(columns.size)
    total, count = np.zeros((rows.size, columns.size)), np.zeros((rows.size, columns.size))
    looks = (rows.size + 1) * int((other.start[columns + 1] - other.start[columns]).sum())
    run = _inherit if looks + one.neighbour.size <= PLAIN_STEPS else compiled(_inherit)
    run(*one, *other, rows, columns, partner, score, place, mark, total, count)
    return np.divide(total, count, out=total, where=count > 0)


@loop("const i8[], const i4[], const i8[], const i4[], i8[], i8[], i8[], f8[], i8[], f8[], f8[,], f8[,]")
def _inherit(
    start: IntArray,
    neighbour: Int32Array,
    other_start: IntArray,
    other_neighbour: Int32Array,
    rows: IntArray,
    columns: IntArray,
    partner: IntArray,
    score: FloatArray,
    place: IntArray,
    mark: FloatArray,
    total: FloatArray,
    count: FloatArray,
) -> None:
    """Add up the scores, and count them.

    ``place`` says where a node is among the columns, -1 for nowhere; ``mark`` holds -1 throughout. For each row the
    shorter of two ways is gone: on from the partners of its neighbours to columns, or back from all columns.
    """
    back = 0
    for node in columns:
        back += other_start[node + 1] - other_start[node]
    for row in range(rows.size):
        mates = neighbour[start[rows[row]] : start[rows[row] + 1]]
        on = 0
        for mate in mates:
            if partner[mate] >= 0:
                on += other_start[partner[mate] + 1] - other_start[partner[mate]]
        if on <= back:
            for mate in mates:
                if partner[mate] >= 0:
                    for entry in range(other_start[partner[mate]], other_start[partner[mate] + 1]):
                        column = place[other_neighbour[entry]]
                        if column >= 0:
                            total[row, column] += score[mate]
                            count[row, column] += 1
        else:
            for mate in mates:
                if partner[mate] >= 0:
                    mark[partner[mate]] = score[mate]
            for column in range(columns.size):
                for entry in range(other_start[columns[column]], other_start[columns[column] + 1]):
                    if mark[other_neighbour[entry]] >= 0:
                        total[row, column] += mark[other_neighbour[entry]]
                        count[row, column] += 1
            for mate in mates:
                if partner[mate] >= 0:
                    mark[partner[mate]] = -1.0
