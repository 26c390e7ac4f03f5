"""Maximum-weight pairing of clusters of two partitions.

The pairing is found level by level, from the heaviest cell down (Kao, Lam, Sung and Ting, "A decomposition theorem for
maximum weight bipartite matchings", 2001). Every row and column has a price, 0 at first; a cell is tight when it weighs
as much as its row and column cost plus the level. At each level:

* Hopcroft and Karp's method pairs as many lines (rows and columns) as tight cells allow, and its last, failed search
  from the unpaired rows shows the lines that cover all tight cells: rows not reached and columns reached. By König's
  theorem they are as many as there are pairs, one of each pair.
* The level goes down by a step and the price of each covering line goes up by it, until a new cell is tight. Pairs stay
  tight, as exactly one of their lines got dearer, and no cell ever weighs more than its two prices plus the level.

At level 0 the prices of its lines pay for every cell, so no pairing weighs more than all prices together; the pairs
found weigh exactly that much, as lines with a price are paired and pairs are tight. So they are the heaviest.

Only cells at least as heavy as the level take part. Heaviest first, these are the first ``total weight / level`` at
most, with the first rows and columns, which keeps the work over all levels near linear in the items.
"""

import numpy as np
from numpy.typing import NDArray

from unveil._kernels._compile import PLAIN_UP_TO, kernel
from unveil._kernels.types import BoolArray, Int32Array, IntArray


def heaviest_cells(
    row: Int32Array, column: Int32Array, weight: NDArray[np.integer], rows: int, columns: int
) -> BoolArray:
    """Return the cells of a maximum-weight pairing of rows and columns.

    Cells are distinct and weigh at least 1.

    >>> cells = np.array([[0, 0, 3], [0, 1, 2], [1, 0, 2]], np.int32)
    >>> heaviest_cells(cells[:, 0], cells[:, 1], cells[:, 2], 2, 2)
    array([False,  True,  True])
    """
    if columns < rows:  # free rows are searched from again and again, so rows should be the fewer
        row, column, rows, columns = column, row, columns, rows
    if weight.size <= PLAIN_UP_TO:
        return _by_scipy(row, column, weight, rows, columns)
    first_row, first_column, first_weight, place = _heaviest_first(row, column, weight, rows, columns)
    chosen = np.zeros(weight.size, np.bool_)
    chosen[place[_by_levels(first_row, first_column, first_weight, rows, columns)]] = True
    return chosen


def _by_scipy(row: Int32Array, column: Int32Array, weight: NDArray[np.integer], rows: int, columns: int) -> BoolArray:
    """Return the pairing of a small table, by scipy."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching

    # A column of its own that costs nothing lets every row stay unpaired; costs are shifted, as scipy drops zeros.
    idle = np.arange(rows)
    free = int(weight.max()) + 1
    cost = np.concatenate([free - weight.astype(np.float64), np.full(rows, float(free))])
    place = (np.concatenate([row, idle]), np.concatenate([column, columns + idle]))
    table = csr_array((cost, place), shape=(rows, columns + rows))
    mate = np.full(rows, -1)
    paired = min_weight_full_bipartite_matching(table)
    mate[paired[0]] = paired[1]
    return np.asarray(mate[row] == column)


@kernel("i4[], i4[], i8[], i8, i8")
def _heaviest_first(
    row: Int32Array, column: Int32Array, weight: NDArray[np.integer], rows: int, columns: int
) -> tuple[Int32Array, Int32Array, Int32Array, Int32Array]:
    """Return cells by descending weight, with lines renumbered.

    They come as row, column, weight, and the place that the cell had.
    """
    most = 0
    for k in range(weight.size):
        most = max(most, weight[k])
    place = np.zeros(most + 2, np.int64)
    for k in range(weight.size):
        place[most - weight[k] + 1] += 1
    for step in range(most):
        place[step + 1] += place[step]
    cell = np.empty((4, weight.size), np.int32)
    for k in range(weight.size):
        at = place[most - weight[k]]
        place[most - weight[k]] += 1
        cell[0, at] = row[k]
        cell[1, at] = column[k]
        cell[2, at] = weight[k]
        cell[3, at] = k
    for line, lines in ((0, rows), (1, columns)):
        number = np.empty(lines, np.int32)
        for each in range(lines):
            number[each] = -1
        seen = 0
        for k in range(weight.size):
            old = cell[line, k]
            if number[old] < 0:
                number[old] = seen
                seen += 1
            cell[line, k] = number[old]
    return cell[0], cell[1], cell[2], cell[3]


def _by_levels(row: Int32Array, column: Int32Array, weight: Int32Array, rows: int, columns: int) -> BoolArray:
    """Return which cells are the heaviest; the cells are as ``_heaviest_first`` leaves them."""
    last = np.flatnonzero(np.diff(weight, append=0))  # the last cell of each weight that occurs
    weights = [*weight[last].tolist(), 0]
    last_row, last_column = (np.maximum.accumulate(line)[last] for line in (row, column))
    row_price, column_price = np.zeros(rows, np.int64), np.zeros(columns, np.int64)
    row_mate, column_mate = np.full(rows, -1, np.int32), np.full(columns, -1, np.int32)
    depth, reached = np.empty(rows, np.int32), np.empty(columns, np.bool_)
    level, lightest = weights[0], 0
    while level > 0:
        while weights[lightest + 1] >= level:
            lightest += 1
        cells, some_rows, some_columns = (int(x[lightest]) + 1 for x in (last, last_row, last_column))
        start, tight = _tight_cells(row, column, weight, row_price, column_price, level, cells, some_rows)
        while _search(start, tight, row_mate, column_mate, depth, reached, some_rows, some_columns):
            _extend(start, tight, row_mate, column_mate, depth, some_rows)
        heaviest = _heaviest_open(row, column, weight, row_price, column_price, depth, reached, cells)
        lower = max(heaviest, weights[lightest + 1])
        row_price[:some_rows][depth[:some_rows] < 0] += level - lower
        column_price[:some_columns][reached[:some_columns]] += level - lower
        level = lower
    return np.asarray(row_mate[row] == column)


@kernel("i4[], i4[], i4[], i8[], i8[], i8, i8, i8")
def _tight_cells(
    row: Int32Array,
    column: Int32Array,
    weight: Int32Array,
    row_price: IntArray,
    column_price: IntArray,
    level: int,
    cells: int,
    rows: int,
) -> tuple[IntArray, Int32Array]:
    """Return the tight cells by row, among the first cells."""
    start = np.zeros(rows + 1, np.int64)
    for k in range(cells):
        if weight[k] - row_price[row[k]] - column_price[column[k]] == level:
            start[row[k] + 1] += 1
    for r in range(rows):
        start[r + 1] += start[r]
    place = start[:-1].copy()
    tight = np.empty(start[rows], np.int32)
    for k in range(cells):
        if weight[k] - row_price[row[k]] - column_price[column[k]] == level:
            tight[place[row[k]]] = column[k]
            place[row[k]] += 1
    return start, tight


@kernel("i8[], i4[], i4[], i4[], i4[], b1[], i8, i8")
def _search(
    start: IntArray,
    tight: Int32Array,
    row_mate: Int32Array,
    column_mate: Int32Array,
    depth: Int32Array,
    reached: BoolArray,
    rows: int,
    columns: int,
) -> bool:
    """Return whether an augmenting path exists.

    Writes how many pairs away from an unpaired row each row is (-1: not reached) and which columns were reached, no
    further than the nearest unpaired column.
    """
    queue = np.empty(rows, np.int32)
    size = 0
    for c in range(columns):
        reached[c] = False
    for r in range(rows):
        depth[r] = -1
        if row_mate[r] < 0:
            depth[r] = 0
            queue[size] = r
            size += 1
    nearest = rows + 1
    head = 0
    while head < size and depth[queue[head]] < nearest:
        r = queue[head]
        head += 1
        for k in range(start[r], start[r + 1]):
            c = tight[k]
            if not reached[c]:
                reached[c] = True
                mate = column_mate[c]
                if mate < 0:
                    nearest = depth[r] + 1
                else:
                    depth[mate] = depth[r] + 1
                    queue[size] = mate
                    size += 1
    return bool(nearest <= rows)


@kernel("i8[], i4[], i4[], i4[], i4[], i8")
def _extend(
    start: IntArray, tight: Int32Array, row_mate: Int32Array, column_mate: Int32Array, depth: Int32Array, rows: int
) -> None:
    """Augment along disjoint shortest paths, updating mates in place."""
    later = start[:-1].copy()  # a row's cells are tried once in all, whichever way comes by
    way = np.empty(rows, np.int32)
    for first in range(rows):
        length = 0
        if row_mate[first] < 0:
            way[0] = first
            length = 1
        while length > 0:
            r = way[length - 1]
            k = later[r]
            if k == start[r + 1]:
                depth[r] = -1
                length -= 1
                continue
            later[r] += 1
            mate = column_mate[tight[k]]
            if mate < 0:
                for step in range(length):
                    c = tight[later[way[step]] - 1]
                    row_mate[way[step]] = c
                    column_mate[c] = way[step]
                    depth[way[step]] = -1
                length = 0
            elif depth[mate] == depth[r] + 1:
                way[length] = mate
                length += 1


@kernel("i4[], i4[], i4[], i8[], i8[], i4[], b1[], i8")
def _heaviest_open(
    row: Int32Array,
    column: Int32Array,
    weight: Int32Array,
    row_price: IntArray,
    column_price: IntArray,
    depth: Int32Array,
    reached: BoolArray,
    cells: int,
) -> int:
    """Return the next level that tightens a reachable cell."""
    most = 0
    for k in range(cells):
        if depth[row[k]] >= 0 and not reached[column[k]]:
            most = max(most, weight[k] - row_price[row[k]] - column_price[column[k]])
    return int(most)
