"""All pairs of nodes that have more witnesses than any other pair with either of them, mapped at one moment."""

import numpy as np

from unveil._kernels._compile import compiled, loop
from unveil._kernels.graph.witnesses import GraphSide, clear_row, count_row, is_small
from unveil._kernels.types import IntArray


def map_mutual_best(here: GraphSide, there: GraphSide, least_degree: int, threshold: int, now: int) -> int:
    """Map every node and its best candidate that are each other's best, and return how many there were.

    Parameters
    ----------
    here, there
        Both graphs; those mapped change.
    least_degree
        Only nodes with at least so many neighbours in their graph are compared.
    threshold
        How many witnesses a pair needs; it always needs one.
    now
        The moment at which all these pairs are mapped: none bears witness for another.
    """
    run = _map_mutual_best if is_small(here, there) else compiled(_map_mutual_best)
    return int(run(here, there, least_degree, threshold, now))


@loop(
    "GraphSide(const i8[], const i4[], i8[], i8[], i8[], i8[], i8[]), "
    "GraphSide(const i8[], const i4[], i8[], i8[], i8[], i8[], i8[]), i8, i8, i8",
)
def _map_mutual_best(here: GraphSide, there: GraphSide, least_degree: int, threshold: int, now: int) -> int:
    row_best, column_best, column_most = _bests(here, there, least_degree, now)
    mapped = 0
    for other in range(column_best.size):
        node = column_best[other]
        if node < 0 or row_best[node] != other or column_most[other] < threshold:
            continue
        here.partner[node], there.partner[other] = other, node
        here.used[node] = here.taken[node] = now
        there.used[other] = there.taken[other] = now
        mapped += 1
    return mapped


def _bests(here: GraphSide, there: GraphSide, least_degree: int, now: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return each node's best candidate, that of each node of the other graph, and the witnesses of the latter.

    Between candidates with as many witnesses the lot decides; -1 where nobody has any.
    """
    nodes, others = here.start.size - 1, there.start.size - 1
    count, found = np.zeros(others, np.int64), np.empty(others, np.int64)
    row_best = np.full(nodes, -1, np.int64)
    column_best, column_most = np.full(others, -1, np.int64), np.zeros(others, np.int64)
    for node in range(nodes):
        if here.taken[node] < now or here.degree[node] < least_degree:
            continue
        size = count_row(here, there, node, now, count, found)
        best, most = -1, 0
        for place in range(size):
            other = found[place]
            seen = count[other]
            if there.degree[other] < least_degree:
                continue
            if seen > most or (seen == most and there.lot[other] > there.lot[best]):
                best, most = other, seen
            rival = column_best[other]
            if seen > column_most[other] or (seen == column_most[other] and here.lot[node] > here.lot[rival]):
                column_best[other], column_most[other] = node, seen
        row_best[node] = best
        clear_row(count, found, size)
    return row_best, column_best, column_most
