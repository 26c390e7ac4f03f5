"""Validate a matrix of nonnegative numbers, square by default."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Union

import numpy as np

from unveil._kernels.types import FloatArray
from unveil.errors import InputError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Names = tuple[str, ...]
#: A dense array, or rows of a sparse matrix with ascending columns and no stored zeros.
SquareMatrix = Union[FloatArray, "csr_array"]

#: A dense matrix with more rows than this takes more than 800 MB, and its copies several times as much.
MOST_DENSE_ROWS = 10_000
#: A sparse matrix with more values than a dense one may have takes even more memory.
MOST_ENTRIES = MOST_DENSE_ROWS**2


#: Names of rows and columns in files of earlier versions.
OLD_KEYS: Mapping[str, str] = MappingProxyType({"entries": "items", "tokens": "pseudonyms"})


class MatrixFile(NamedTuple):
    """Matrix of a file, with optional row (item) and column (pseudonym) names."""

    matrix: SquareMatrix
    items: Names | None = None
    pseudonyms: Names | None = None


def square_matrix(matrix: Any, *, what: str = "the matrix", square: bool = True) -> SquareMatrix:
    """Return a read-only float matrix: square, finite, and nonnegative.

    With ``square=False`` it may have more rows than columns, or fewer.

    Whatever scipy calls sparse stays sparse (values stored twice are added, stored zeros are left out), anything else
    becomes dense. ``what`` begins the sentence of an error; rows and columns are counted from 1 there.

    >>> square_matrix([[1, 0], [0.5, 2]])
    array([[1. , 0. ],
           [0.5, 2. ]])
    """
    if hasattr(matrix, "tocsr"):
        refuse_shape(matrix.shape, what=what, stored=matrix.nnz, square=square)
        return _sparse(matrix, what)
    dense = _numbers(matrix, what, square)
    # Both are false for NaN, so that one pass each is enough where all is well.
    if not (dense.min() >= 0 and dense.max() < np.inf):
        wrong = np.argwhere(~((dense >= 0) & np.isfinite(dense)))
        row, column = (int(place) for place in wrong[0])
        raise _wrong_entry(what, row, column, float(dense[row, column]), len(wrong))
    dense.flags.writeable = False
    return dense


def refuse_shape(shape: tuple[int, ...], *, what: str, stored: int | None = None, square: bool = True) -> None:
    """Raise the error for a non-square, empty, or too large shape."""
    if 0 in shape:
        raise InputError(f"{what} must have at least one row and column, but is empty. Pass one row per item")
    if len(shape) != 2 or (square and shape[0] != shape[1]):
        seen = " x ".join(str(length) for length in shape) or "a single number"
        raise InputError(
            f"{what} must {'be square' if square else 'have rows and columns'}, one row per item and one column per "
            f"pseudonym, but is {seen}. Add missing ones, or leave out those without a counterpart"
            f"{'; UnequalMatching takes more of one than of the other' if square and len(shape) == 2 else ''}"
        )
    if stored is None and max(shape) > MOST_DENSE_ROWS:
        raise InputError(
            f"{what} must have at most {MOST_DENSE_ROWS:,} rows where every value is stored, but has {max(shape):,}. "
            "Pass a sparse matrix of scipy, or write it as Matrix Market or with scipy.sparse.save_npz"
        )
    if stored is not None and stored > MOST_ENTRIES:
        raise InputError(
            f"{what} must store at most {MOST_ENTRIES:,} values, but stores {stored:,}. "
            "Split the data into parts that cannot be mistaken for one another"
        )


def _numbers(matrix: Any, what: str, square: bool) -> FloatArray:
    wrong = InputError(
        f"{what} must have rows of equal length, made of real numbers. Correct the rows or cells that differ"
    )
    try:
        array = np.asarray(matrix)
    except (TypeError, ValueError):
        raise wrong from None
    refuse_shape(array.shape, what=what, square=square)  # before memory is taken for a copy
    if array.dtype.kind not in "biufO":
        raise wrong
    try:
        return np.ascontiguousarray(array.astype(np.float64, copy=array.flags.writeable))
    except (TypeError, ValueError, OverflowError):
        raise wrong from None


def _sparse(matrix: Any, what: str) -> "csr_array":
    from scipy.sparse import csr_array

    if np.dtype(matrix.dtype).kind not in "biuf":
        raise InputError(f"{what} must be made of real numbers, but has another type. Convert it first")
    rows = csr_array(matrix, dtype=np.float64, copy=True)
    try:
        rows.check_format(full_check=True)
    except ValueError:
        raise InputError(
            f"{what} stores values outside its rows and columns. Build the sparse matrix again from its rows, columns "
            "and values"
        ) from None
    rows.sum_duplicates()
    wrong = np.flatnonzero(~((rows.data >= 0) & np.isfinite(rows.data)))
    if wrong.size:
        row = int(np.searchsorted(rows.indptr, wrong[0], side="right")) - 1
        raise _wrong_entry(what, row, int(rows.indices[wrong[0]]), float(rows.data[wrong[0]]), wrong.size)
    rows.eliminate_zeros()
    for array in (rows.data, rows.indices, rows.indptr):
        array.flags.writeable = False
    return rows


def _wrong_entry(what: str, row: int, column: int, value: float, count: int) -> InputError:
    seen = "is negative" if value < 0 and np.isfinite(value) else "is missing or infinite"
    return InputError(
        f"{what} must hold finite numbers of at least 0, but the one in row {row + 1}, column {column + 1} (counted "
        f"from 1, without names) {seen}; such cells: {count}. Change them; 0 says that a pseudonym cannot be that item"
    )
