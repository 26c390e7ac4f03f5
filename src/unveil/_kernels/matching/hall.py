"""Maximum matchings, and the rows that show why there is no perfect one."""

import numpy as np

from unveil._kernels.matching.edges import Edges, edges_of
from unveil._kernels.partitions.transfer import _extend, _search
from unveil._kernels.types import Int32Array, IntArray


class NoPerfectMatchingError(ValueError):
    """``rows`` together have only ``columns``, one fewer than they are (Hall's theorem)."""

    def __init__(self, rows: IntArray, columns: IntArray) -> None:
        self.rows, self.columns = rows, columns
        some = ", ".join(str(row + 1) for row in rows[:10]) + (", …" if rows.size > 10 else "")
        super().__init__(
            f"the matrix has no perfect matching: {rows.size} rows (numbers {some}) have "
            f"positive values in only {columns.size} columns together. Allow them more columns, or leave some out"
        )


def maximum_matching(edges: Edges) -> Int32Array:
    """Return a maximum matching as columns of rows, -1 if unmatched.

    Hopcroft and Karp's method: at most about sqrt(n) rounds, whatever the order of rows and columns.

    >>> from unveil._kernels.matching.edges import as_edges
    >>> maximum_matching(as_edges(np.array([[1.0, 1.0], [1.0, 0.0]]))).tolist()
    [1, 0]
    """
    n = edges.n
    row_mate, column_mate = np.full(n, -1, np.int32), np.full(n, -1, np.int32)
    depth, reached = np.empty(n, np.int32), np.empty(n, np.bool_)
    while _search(edges.start, edges.column, row_mate, column_mate, depth, reached, n, n):
        _extend(edges.start, edges.column, row_mate, column_mate, depth, n)
    return row_mate


def perfect_matching(edges: Edges) -> Int32Array:
    """Return a perfect matching, or raise with a violating row set."""
    column = maximum_matching(edges)
    if (column < 0).any():
        raise NoPerfectMatchingError(*violating_set(edges, column))
    return column


def violating_set(edges: Edges, column: Int32Array) -> tuple[IntArray, IntArray]:
    """Return rows with fewer columns, from an imperfect maximum matching.

    These are the rows that alternating paths reach from a row left over; of all such rows, the one with the fewest.

    >>> from unveil._kernels.matching.edges import as_edges
    >>> lacking = as_edges(np.array([[1.0, 0, 0], [1.0, 0, 0], [1.0, 1.0, 1.0]]))
    >>> [part.tolist() for part in violating_set(lacking, maximum_matching(lacking))]
    [[0, 1], [0]]
    """
    owner = np.full(edges.n, -1, np.int64)
    matched = np.flatnonzero(column >= 0)
    owner[column[matched]] = matched
    best: tuple[IntArray, IntArray] | None = None
    for first in np.flatnonzero(column < 0)[:100]:
        seen, taken = np.zeros(edges.n, np.bool_), np.zeros(edges.n, np.bool_)
        seen[first] = True
        waiting = [int(first)]
        while waiting:
            row = waiting.pop()
            ahead = edges.column[edges.start[row] : edges.start[row + 1]]
            ahead = ahead[~taken[ahead]]
            taken[ahead] = True
            seen[owner[ahead]] = True
            waiting += owner[ahead].tolist()
        found = np.flatnonzero(seen), np.flatnonzero(taken)
        if best is None or found[0].size < best[0].size:
            best = found
    if best is None:
        raise ValueError("the matching is perfect: no set of rows lacks columns")
    return best


def random_matching(edges: Edges, rng: np.random.Generator) -> Int32Array:
    """Return a perfect matching after shuffling, independent of the truth.

    Every perfect matching of a full matrix is equally likely; of others none is favoured by its place in the matrix,
    but they are not equally likely.
    """
    n = edges.n
    row, column = rng.permutation(n), rng.permutation(n)
    if edges.weight.size == n * n:
        return row.astype(np.int32)
    shuffled = edges_of(row[edges.row], column[edges.column], edges.weight, n)
    back = np.argsort(column)
    return back[perfect_matching(shuffled)[row]].astype(np.int32)
