"""A window on two lists of nodes from which the pair with the most witnesses leaves, again and again."""

from typing import NamedTuple

import numpy as np

from unveil._kernels._compile import compiled, loop
from unveil._kernels.graph.witnesses import FIRST, NEVER, GraphSide, clear_row, count_row, is_small
from unveil._kernels.types import Int32Array, IntArray

#: The bytes that one cell of the window takes.
CELL_BYTES = 4
_NOBODY = -1


class Window(NamedTuple):
    """The nodes in the rows and columns of the window (-1 for an empty one), and the witnesses of each pair.

    ``best`` is the highest number of witnesses in each row and ``column`` where that is; it means nothing where the
    best is 0, because then all columns are alike.
    """

    seen: Int32Array
    node: IntArray
    other: IntArray
    row_of: IntArray
    column_of: IntArray
    best: IntArray
    column: IntArray


def map_best_of_window(
    here: GraphSide, there: GraphSide, order: IntArray, order_there: IntArray, width: int, threshold: int
) -> IntArray:
    """Let the best pair leave the window until one side of it is empty; return when each other node came in.

    The window shows the first ``width`` nodes of both lists that have not left yet. The pair in it with the most
    witnesses leaves, the lot deciding between equals; it is mapped if it has at least ``threshold`` witnesses, and else
    both are given up. Each departure takes one moment; ``NEVER`` is when nodes come in that do not.
    """
    rows, columns = min(width, order.size), min(width, order_there.size)
    window = Window(
        np.zeros((rows, columns), np.int32),
        np.full(rows, _NOBODY, np.int64),
        np.full(columns, _NOBODY, np.int64),
        np.full(here.start.size - 1, _NOBODY, np.int64),
        np.full(there.start.size - 1, _NOBODY, np.int64),
        np.zeros(rows, np.int64),
        np.zeros(rows, np.int64),
    )
    run = _run if is_small(here, there) else compiled(_run)
    entered: IntArray = run(here, there, order, order_there, threshold, window)
    return entered


@loop(
    "GraphSide(const i8[], const i4[], i8[], i8[], i8[], i8[], i8[]), "
    "GraphSide(const i8[], const i4[], i8[], i8[], i8[], i8[], i8[]), "
    "i8[], i8[], i8, Window(i4[,], i8[], i8[], i8[], i8[], i8[], i8[])",
)
def _run(
    here: GraphSide, there: GraphSide, order: IntArray, order_there: IntArray, threshold: int, window: Window
) -> IntArray:
    nodes, others = here.start.size - 1, there.start.size - 1
    count, found = np.zeros(others, np.int64), np.empty(others, np.int64)
    count_back, found_back = np.zeros(nodes, np.int64), np.empty(nodes, np.int64)
    entered = np.empty(others, np.int64)
    for other in range(others):
        entered[other] = NEVER
    rows, columns = window.node.size, window.other.size
    now = FIRST
    for column in range(columns):
        entered[order_there[column]] = now
        _enter_column(here, there, window, column, order_there[column], now, count_back, found_back)
    for row in range(rows):
        _enter_row(here, there, window, row, order[row], now, count, found)
    while True:
        row, column = _best_pair(here, there, window)
        if row < 0 or column < 0:
            return entered
        enough = window.seen[row, column] >= threshold
        if not enough and rows == order.size and columns == order_there.size:
            # Nobody comes in and nobody gets another witness: those left would all be given up.
            return entered
        _leave(here, there, window, row, column, now, enough)
        now += 1
        if columns < order_there.size:
            entered[order_there[columns]] = now
            _enter_column(here, there, window, column, order_there[columns], now, count_back, found_back)
            columns += 1
        if rows < order.size:
            _enter_row(here, there, window, row, order[rows], now, count, found)
            rows += 1


def _enter_row(
    here: GraphSide, there: GraphSide, window: Window, row: int, node: int, now: int, count: IntArray, reached: IntArray
) -> None:
    window.node[row], window.row_of[node] = node, row
    for column in range(window.other.size):
        window.seen[row, column] = 0
    size = count_row(here, there, node, now, count, reached)
    for place in range(size):
        column = window.column_of[reached[place]]
        if column >= 0:
            window.seen[row, column] = count[reached[place]]
    clear_row(count, reached, size)
    _rank(there, window, row)


def _enter_column(
    here: GraphSide,
    there: GraphSide,
    window: Window,
    column: int,
    other: int,
    now: int,
    count: IntArray,
    reached: IntArray,
) -> None:
    window.other[column], window.column_of[other] = other, column
    for row in range(window.node.size):
        window.seen[row, column] = 0
    size = count_row(there, here, other, now, count, reached)
    for place in range(size):
        row = window.row_of[reached[place]]
        if row >= 0:
            window.seen[row, column] = count[reached[place]]
            _compare(there, window, row, column)
    clear_row(count, reached, size)


def _compare(there: GraphSide, window: Window, row: int, column: int) -> None:
    """Take a cell into account that has at least one witness and may be the best of its row."""
    seen, best = window.seen[row, column], window.best[row]
    lot, rival = there.lot[window.other[column]], there.lot[window.other[window.column[row]]]
    if seen > best or (seen == best and lot > rival):
        window.best[row], window.column[row] = seen, column


def _rank(there: GraphSide, window: Window, row: int) -> None:
    """Find the best cell of a row anew."""
    window.best[row] = 0
    for column in range(window.other.size):
        if window.other[column] >= 0 and window.seen[row, column] > 0:
            _compare(there, window, row, column)


def _best_pair(here: GraphSide, there: GraphSide, window: Window) -> tuple[int, int]:
    """Return the row and column of the pair with the most witnesses, -1 for a side that is empty."""
    top = -1
    for row in range(window.node.size):
        if window.node[row] < 0:
            continue
        ahead = 1 if top < 0 else window.best[row] - window.best[top]
        if ahead > 0 or (ahead == 0 and here.lot[window.node[row]] > here.lot[window.node[top]]):
            top = row
    if top >= 0 and window.best[top] > 0:
        return top, int(window.column[top])
    first = -1
    for column in range(window.other.size):
        if window.other[column] < 0:
            continue
        if first < 0 or there.lot[window.other[column]] > there.lot[window.other[first]]:
            first = column
    return top, first


def _leave(here: GraphSide, there: GraphSide, window: Window, row: int, column: int, now: int, mapped: bool) -> None:
    node, other = window.node[row], window.other[column]
    window.node[row] = window.row_of[node] = window.other[column] = window.column_of[other] = _NOBODY
    here.taken[node] = there.taken[other] = now
    for rest in range(window.node.size):
        if window.node[rest] >= 0 and window.best[rest] > 0 and window.column[rest] == column:
            _rank(there, window, rest)
    if not mapped:
        return
    here.partner[node], there.partner[other] = other, node
    here.used[node] = there.used[other] = now
    for place in range(here.start[node], here.start[node + 1]):
        rest = window.row_of[here.neighbour[place]]
        if rest < 0:
            continue
        for spot in range(there.start[other], there.start[other + 1]):
            near = window.column_of[there.neighbour[spot]]
            if near >= 0:
                window.seen[rest, near] += 1
                _compare(there, window, rest, near)
