"""Integer maximum flow between two sides of masses."""

from typing import NamedTuple

import numpy as np

from unveil._kernels._compile import kernel
from unveil._kernels.types import BoolArray, FloatArray, IntArray

#: Masses count in steps of this part of 1: a flow of whole numbers ends, and what is saturated is so exactly.
STEPS = 2**52


class Flow(NamedTuple):
    """Maximum flow: amount per edge, deficit, and sending rows."""

    carried: FloatArray
    missing: float
    reached: BoolArray


def largest_flow(start: IntArray, column: IntArray, supply: FloatArray, demand: FloatArray) -> Flow:
    """Return the maximum flow from row supplies to column demands (CSR).

    ``reached`` rows together supply more than the columns they have edges to demand, by what is ``missing``.

    >>> largest_flow(np.array([0, 1, 2]), np.array([0, 0]), np.array([0.5, 0.5]), np.array([0.75, 0.25])).missing
    0.25
    """
    order = np.argsort(column, kind="stable")
    column_start = np.concatenate([[0], np.cumsum(np.bincount(column, minlength=demand.size))])
    left = np.rint(supply * STEPS).astype(np.int64)
    wanted = np.rint(demand * STEPS).astype(np.int64)
    row_of = np.repeat(np.arange(supply.size), np.diff(start))
    carried = np.zeros(column.size, np.int64)
    while True:
        row_level, column_level, found = _levels(start, column, row_of, column_start, order, left, wanted, carried)
        if not found:
            return Flow(carried / STEPS, float(left.sum()) / STEPS, row_level >= 0)
        _augment(start, column, row_of, column_start, order, left, wanted, carried, row_level, column_level)


@kernel("i8[], i8[], i8[], i8[], i8[], i8[], i8[], i8[]")
def _levels(
    start: IntArray,
    column: IntArray,
    row_of: IntArray,
    column_start: IntArray,
    order: IntArray,
    left: IntArray,
    wanted: IntArray,
    carried: IntArray,
) -> tuple[IntArray, IntArray, bool]:
    """Return search levels from rows with supply, and whether paths exist."""
    row_level, column_level = np.full(left.size, -1), np.full(wanted.size, -1)
    queue = np.empty(left.size, np.int64)
    tail = 0
    for r in range(left.size):
        if left[r] > 0:
            row_level[r] = 0
            queue[tail] = r
            tail += 1
    head, found = 0, False
    while head < tail:
        r = queue[head]
        head += 1
        for e in range(start[r], start[r + 1]):
            c = column[e]
            if column_level[c] >= 0:
                continue
            column_level[c] = row_level[r] + 1
            found = found or wanted[c] > 0
            for k in range(column_start[c], column_start[c + 1]):
                other = row_of[order[k]]
                if carried[order[k]] > 0 and row_level[other] < 0:
                    row_level[other] = column_level[c] + 1
                    queue[tail] = other
                    tail += 1
    return row_level, column_level, found


@kernel("i8[], i8[], i8[], i8[], i8[], i8[], i8[], i8[], i8[], i8[]")
def _augment(
    start: IntArray,
    column: IntArray,
    row_of: IntArray,
    column_start: IntArray,
    order: IntArray,
    left: IntArray,
    wanted: IntArray,
    carried: IntArray,
    row_level: IntArray,
    column_level: IntArray,
) -> None:
    """Augment along level paths: one phase of Dinic's algorithm, in place.

    Every path uses up a supply, a demand or an edge. A dead end is never entered again: the next edge to try, of each
    row and back from each column, only moves on.
    """
    path_row, path_column = np.empty(left.size + 1, np.int64), np.empty(left.size + 1, np.int64)
    path_edge, path_back = np.empty(left.size + 1, np.int64), np.empty(left.size + 1, np.int64)
    next_edge, next_back = start[:-1].copy(), column_start[:-1].copy()
    for root in range(left.size):
        depth, at_row = 0, True
        path_row[0] = root
        while left[root] > 0 and row_level[root] == 0:
            if at_row:
                r = path_row[depth]
                while next_edge[r] < start[r + 1] and column_level[column[next_edge[r]]] != row_level[r] + 1:
                    next_edge[r] += 1
                if next_edge[r] < start[r + 1]:
                    path_edge[depth] = next_edge[r]
                    path_column[depth] = column[next_edge[r]]
                elif depth == 0:
                    break
                else:
                    depth -= 1
                    next_back[path_column[depth]] += 1
                at_row = False
                continue
            c = path_column[depth]
            at_row = True
            if wanted[c] > 0:
                amount = min(left[root], wanted[c])
                for k in range(depth):
                    amount = min(amount, carried[path_back[k]])
                for k in range(depth):
                    carried[path_edge[k]] += amount
                    carried[path_back[k]] -= amount
                carried[path_edge[depth]] += amount
                left[root] -= amount
                wanted[c] -= amount
                depth = 0
                continue
            while next_back[c] < column_start[c + 1]:
                e = order[next_back[c]]
                if carried[e] > 0 and row_level[row_of[e]] == column_level[c] + 1:
                    break
                next_back[c] += 1
            if next_back[c] < column_start[c + 1]:
                path_back[depth] = order[next_back[c]]
                depth += 1
                path_row[depth] = row_of[path_back[depth - 1]]
            else:
                next_edge[path_row[depth]] += 1
