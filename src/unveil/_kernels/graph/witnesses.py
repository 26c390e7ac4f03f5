"""Witnesses of a node pair: matched pairs of their neighbors.

The matrix of witnesses of all nodes of one graph and all of the other is never kept: it may have billions of cells. A
row of it is counted when it is looked at, which takes as many steps as filling it would have taken. Because every node
carries the moment at which it was mapped, a row can also be counted as it was at any moment before.
"""

from typing import NamedTuple

import numpy as np

from unveil._kernels._compile import compiled, loop
from unveil._kernels.merge_sort import sort_part
from unveil._kernels.types import FloatArray, Int32Array, IntArray

#: The moment of what did not happen.
NEVER = np.iinfo(np.int64).max
#: The moment of what was so before the attack began, and the first moment of the attack.
BEFORE, FIRST = 0, 1

# Up to so many steps a plain loop takes less time than it takes to load the compiler.
_PLAIN_STEPS = 30_000
# Sorting so small a part of a row is cheaper than walking along it.
_SORT_BELOW = 1 / 16


class GraphSide(NamedTuple):
    """One graph and the mutable state of its nodes.

    ``partner`` is the node of the other graph, -1 without; ``used`` the moment after which the pair bears witness,
    ``taken`` the moment after which the node can no longer be chosen. In ties the node with the highest ``lot`` wins.
    """

    start: IntArray
    neighbour: Int32Array
    degree: IntArray
    lot: IntArray
    partner: IntArray
    used: IntArray
    taken: IntArray


class CandidateRows(NamedTuple):
    """Candidates of each node with scores, in ragged rows."""

    start: IntArray
    candidate: Int32Array
    score: FloatArray


def side_of(start: IntArray, neighbour: Int32Array, partner: IntArray, lot: IntArray) -> GraphSide:
    """Return a graph with the nodes that are matched initially."""
    moment = np.where(partner >= 0, BEFORE, NEVER)
    return GraphSide(start, neighbour, np.diff(start), lot, partner.copy(), moment, moment.copy())


def is_small(one: GraphSide, other: GraphSide) -> bool:
    """Return whether even a plain loop looks at all rows in no time."""
    return bool((one.degree**2).sum() + (other.degree**2).sum() <= _PLAIN_STEPS)


def count_row(here: GraphSide, there: GraphSide, node: int, now: int, count: IntArray, reached: IntArray) -> int:
    """Return the number of candidates that share a witness with a node.

    Their numbers are at the front of ``reached``, in no order, and ``count`` holds the witnesses of each. It must be
    zero before; ``clear_row`` makes it so again.
    """
    size = 0
    for place in range(here.start[node], here.start[node + 1]):
        near = here.neighbour[place]
        if here.used[near] >= now:
            continue
        partner = here.partner[near]
        for spot in range(there.start[partner], there.start[partner + 1]):
            other = there.neighbour[spot]
            if there.taken[other] >= now:
                if count[other] == 0:
                    reached[size] = other
                    size += 1
                count[other] += 1
    return size


def clear_row(count: IntArray, reached: IntArray, size: int) -> None:
    """Make the counts zero again."""
    for place in range(size):
        count[reached[place]] = 0


def rows_when_decided(
    here: GraphSide, there: GraphSide, decided: IntArray, *, weight: FloatArray, grade: IntArray, at_least: IntArray
) -> CandidateRows:
    """Return each node's candidates when decided, scored by witnesses.

    Parameters
    ----------
    here, there
        Both graphs after the attack.
    decided
        The moment for each node; ``NEVER`` for those that were not: they have no candidates.
    weight
        A factor for each node of the other graph.
    grade, least
        Only nodes of the other graph with a grade of at least that number were looked at.

    Returns
    -------
    Rows
        Candidates with a witness, ascending. Where none has one, all that could be chosen, with score 1.
    """
    fill = _fill_rows if is_small(here, there) else compiled(_fill_rows)
    start = np.zeros(here.start.size, np.int64)
    nothing = np.empty(0, np.int32), np.empty(0)
    # The first pass counts, so that the second can fill arrays of the right size: they may take most of the memory.
    fill(here, there, decided, weight, grade, at_least, start, *nothing, False)
    np.cumsum(start, out=start)
    candidate, score = np.empty(start[-1], np.int32), np.empty(start[-1])
    fill(here, there, decided, weight, grade, at_least, start, candidate, score, True)
    return CandidateRows(start, candidate, score)


@loop(
    "GraphSide(const i8[], const i4[], i8[], i8[], i8[], i8[], i8[]), "
    "GraphSide(const i8[], const i4[], i8[], i8[], i8[], i8[], i8[]), i8[], f8[], i8[], i8[], i8[], i4[], f8[], b1",
)
def _fill_rows(
    here: GraphSide,
    there: GraphSide,
    decided: IntArray,
    weight: FloatArray,
    grade: IntArray,
    at_least: IntArray,
    start: IntArray,
    candidate: Int32Array,
    score: FloatArray,
    fill: bool,
) -> None:
    """Fill the rows, or count the candidates per node."""
    others = there.start.size - 1
    count, found, spare = np.zeros(others, np.int64), np.empty(others, np.int64), np.empty(others, np.int64)
    for node in range(here.start.size - 1):
        now = decided[node]
        if now == NEVER:
            continue
        size = count_row(here, there, node, now, count, found)
        size = _keep_grade(there, now, grade, at_least[node], count, found, size)
        if fill:
            _sort_found(count, found, spare, size)
            for place in range(size):
                other = found[place]
                candidate[start[node] + place] = other
                score[start[node] + place] = max(count[other], 1) * weight[other]
        else:
            start[node + 1] = size
        clear_row(count, found, size)


def _keep_grade(
    there: GraphSide, now: int, grade: IntArray, at_least: int, count: IntArray, reached: IntArray, size: int
) -> int:
    """Keep candidates of the grade, if any, and return their number."""
    kept = 0
    for place in range(size):
        other = reached[place]
        if grade[other] >= at_least:
            reached[kept] = other
            kept += 1
        else:
            count[other] = 0
    if kept == 0:
        for other in range(count.size):
            if there.taken[other] >= now and grade[other] >= at_least:
                reached[kept] = other
                kept += 1
    return kept


def _sort_found(count: IntArray, reached: IntArray, spare: IntArray, size: int) -> None:
    """Put those found in ascending order."""
    if size < _SORT_BELOW * count.size:
        sort_part(reached, spare, 0, size)
        return
    filled = 0
    for other in range(count.size):
        if count[other] > 0:
            reached[filled] = other
            filled += 1
