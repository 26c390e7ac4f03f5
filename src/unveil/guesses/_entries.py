"""Matrices and long tables as sorted sparse rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.types import FloatArray, Int32Array, IntArray
from unveil.errors import InputError
from unveil.guesses._factorise import factorise

Rows = tuple[IntArray, Int32Array, FloatArray]


def frozen(values: Any, dtype: Any, *, what: str) -> NDArray[Any]:
    """Return the values as a read-only array of this type that nobody else can change; None keeps the type.

    >>> frozen([1, 2], np.int32, what="start")
    array([1, 2], dtype=int32)
    """
    try:
        array = np.asarray(values)
        wanted = array.dtype if dtype is None else np.dtype(dtype)
        exact = wanted.kind != "i" or array.dtype == wanted or not array.size
        if not exact and (array.dtype.kind not in "iu" or (array.astype(wanted) != array).any()):
            raise TypeError
        array = array.astype(wanted, copy=array.flags.writeable)
    except (TypeError, ValueError):
        kind = "whole numbers" if np.dtype(dtype).kind == "i" else "numbers"
        raise InputError(f"{what} must be made of {kind}, but some are not. Correct them") from None
    if array.ndim != 1:
        raise InputError(f"{what} must have one dimension, but has {array.ndim}. Pass a flat sequence")
    array.flags.writeable = False
    return array


def entries_of_matrix(matrix: Any, *, normalise: bool) -> Rows:
    """Return start, column and value of the rows of a dense or scipy sparse matrix."""
    if hasattr(matrix, "tocsr"):
        sparse = matrix.tocsr(copy=True)
        sparse.sum_duplicates()  # also sorts the columns of each row
        rows = sparse.indptr.astype(np.int64), sparse.indices.astype(np.int32), sparse.data.astype(np.float64)
    else:
        try:
            dense = np.asarray(matrix, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(
                "a matrix must have rows of equal length, all numbers. Correct those that differ"
            ) from None
        if dense.ndim != 2:
            raise InputError(f"a matrix must have 2 dimensions, but has {dense.ndim}. Pass one row per target")
        targets, columns = dense.shape
        start = np.arange(targets + 1, dtype=np.int64) * columns
        rows = start, np.tile(np.arange(columns, dtype=np.int32), targets), dense.ravel()
    return divide_by_sums(*rows) if normalise else rows


def entries_of_table(
    target: Any, candidate: Any, probability: Any, *, normalise: bool
) -> tuple[IntArray, Int32Array, FloatArray, NDArray[Any], NDArray[Any]]:
    """Return start, candidate number and value sorted by target and candidate, and the names of both."""
    row, targets = factorise(target, what="target")
    column, candidates = factorise(candidate, what="candidate")
    values = frozen(probability, np.float64, what="probability")
    if not row.size == column.size == values.size:
        raise InputError(
            f"the table has {row.size} targets, {column.size} candidates and {values.size} probabilities. "
            "Pass one of each per row"
        )
    key = row.astype(np.int64) * candidates.size + column
    step = np.diff(key)
    if (step <= 0).any():
        order = np.argsort(key, kind="stable")
        key, column, values = key[order], column[order], values[order]
        repeated = int((np.diff(key) == 0).sum())
        if repeated:
            raise InputError(
                f"a target can have each candidate once, but {repeated} rows repeat an earlier one. Keep one of each"
            )
    start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=targets.size))]).astype(np.int64)
    rows = divide_by_sums(start, column, values) if normalise else (start, column, values)
    return *rows, targets, candidates


def divide_by_sums(start: IntArray, column: Int32Array, value: FloatArray) -> Rows:
    """Return the rows divided by their sums; a row that sums to 0 loses its entries, because it says nothing."""
    if (value < 0).any() or not np.isfinite(value).all():
        raise InputError("scores must be finite and at least 0 to be divided by their sum. Shift or replace them first")
    size = np.diff(start)
    sums = np.zeros(size.size)
    filled = size > 0
    with np.errstate(over="ignore"):
        sums[filled] = np.add.reduceat(value, start[:-1][filled]) if filled.any() else 0.0
    if not np.isfinite(sums).all():
        raise InputError("scores must have a finite sum to be divided by it. Divide all by the largest first")
    per_entry = np.repeat(sums, size)
    keep = per_entry > 0
    start = np.concatenate([[0], np.cumsum(np.where(sums > 0, size, 0))]).astype(np.int64)
    return start, column[keep], value[keep] / per_entry[keep]
