"""Whether every entry can have a token of its own, and which rows show that it cannot."""

from typing import TYPE_CHECKING

import numpy as np

from unveil._kernels.matching.edges import Edges, transposed
from unveil._kernels.matching.hall import maximum_matching, violating_set
from unveil._kernels.types import FloatArray, Int32Array, IntArray
from unveil.data.matrices.square_matrix import SquareMatrix
from unveil.errors import InputError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_BLOCK = 1 << 22
_FEW = 40
_SHOWN_ROWS = 10
# Looking from the columns too needs a sorted copy of all pairs, which takes long where there are more.
_MOST_TRANSPOSED = 5_000_000


def edges_of_matrix(matrix: SquareMatrix) -> Edges:
    """Return the positive entries of a checked matrix as the kernels take them, without sorting.

    >>> edges_of_matrix(np.array([[0.0, 2.0], [1.0, 0.5]])).column
    array([1, 0, 1], dtype=int32)
    """
    if not isinstance(matrix, np.ndarray):
        return Edges(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data)
    start = np.concatenate([[0], np.cumsum(np.count_nonzero(matrix, axis=1))]).astype(np.int64)
    column = np.empty(int(start[-1]), np.int32)
    step = max(1, _BLOCK // len(matrix))
    for first in range(0, len(matrix), step):
        last = min(first + step, len(matrix))
        column[start[first] : start[last]] = np.nonzero(matrix[first:last])[1]
    return Edges(start, column, matrix[matrix > 0])


def refuse_without_perfect_matching(matrix: SquareMatrix, *, what: str) -> None:
    """Raise the error for a matrix in which some rows have fewer columns than they are, if there are such rows."""
    dense = isinstance(matrix, np.ndarray)
    if dense and (len(matrix) <= 1 or matrix.min() > 0) and matrix.max() > 0:
        return
    if dense and len(matrix) > 1000 and (maximum_matching(_thinned(matrix)) >= 0).all():
        return
    edges = edges_of_matrix(matrix)
    matched = maximum_matching(edges)
    if (matched < 0).any():
        raise _unmatched(edges, matched, what)


def _thinned(matrix: FloatArray) -> Edges:
    """Return a few positive entries of each row, spread over it: mostly these already have a perfect matching."""
    n = len(matrix)
    kept, sizes = [], []
    for row in range(n):
        have = np.flatnonzero(matrix[row])
        if have.size > _FEW:
            # Each row begins elsewhere, else all rows would have the same few columns.
            have = have[((np.arange(_FEW) + row * 0.6180339887498949 % 1) * (have.size / _FEW)).astype(np.int64)]
        kept.append(have.astype(np.int32))
        sizes.append(have.size)
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    column = np.concatenate(kept)
    return Edges(start, column, np.ones(column.size))


def _unmatched(edges: Edges, matched: Int32Array, what: str) -> InputError:
    rows, columns = violating_set(edges, _few_left(edges, matched))
    message = (
        f"{what} must have a perfect matching, one token for each entry, but has none: {_numbered(rows, 'row')} "
        f"{'have' if rows.size > 1 else 'has'} positive entries in {_only(columns.size, 'column')}"
    )
    if edges.column.size <= _MOST_TRANSPOSED:
        across = transposed(edges)
        few_columns, few_rows = violating_set(across, _few_left(across, maximum_matching(across)))
        if few_columns.size < rows.size:  # the same lack, seen from the side on which it is easier to see
            message += (
                f", because {_numbered(few_columns, 'column')} {'have' if few_columns.size > 1 else 'has'} positive "
                f"entries in {_only(few_rows.size, 'row')}"
            )
    return InputError(f"{message}. Allow more pairs, or leave out entries and tokens that have no counterpart")


def _few_left(edges: Edges, matched: Int32Array) -> Int32Array:
    """Return the maximum matching with few rows left over, so that the search from each of them stays short.

    The other rows left over take columns left over; no search ever gets there, or the matching were not maximum.
    """
    left = np.flatnonzero(matched < 0)
    left = left[np.argsort(np.diff(edges.start)[left], kind="stable")]
    most = max(1, 200_000 // edges.n)
    free = np.setdiff1d(np.arange(edges.n), matched)
    filled = matched.copy()
    filled[left[most:]] = free[: max(0, left.size - most)]
    return filled


def _numbered(places: IntArray, word: str) -> str:
    some = ", ".join(str(place + 1) for place in places[:_SHOWN_ROWS]) + (", …" if places.size > _SHOWN_ROWS else "")
    if places.size == 1:
        return f"{word} {some} (counted from 1)"
    return f"{places.size} {word}s ({some}, counted from 1)"


def _only(count: int, word: str) -> str:
    return f"no {word}" if count == 0 else f"only {count} {word}{'s' * (count > 1)}"


def support_of(edges: Edges) -> "csr_array":
    """Return 1 where there is an edge, as a read-only sparse matrix."""
    from scipy.sparse import csr_array

    ones = np.ones(edges.column.size)
    support = csr_array((ones, edges.column.copy(), edges.start.astype(np.int32)), shape=(edges.n, edges.n))
    for array in (support.data, support.indices, support.indptr):
        array.flags.writeable = False
    return support
