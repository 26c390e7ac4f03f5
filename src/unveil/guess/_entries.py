"""Matrices and long tables as sorted sparse rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil.errors import InputError
from unveil.guess._factorise import factorise

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Rows = tuple[Integers, NDArray[np.int32], Floats]


def entries_of_matrix(matrix: Any, *, normalise: bool) -> Rows:
    """Return start, column and value of the rows of a dense or scipy sparse matrix."""
    if hasattr(matrix, "tocsr"):
        sparse = matrix.tocsr(copy=True)
        sparse.sum_duplicates()  # also sorts the columns of each row
        rows = sparse.indptr.astype(np.int64), sparse.indices.astype(np.int32), sparse.data.astype(np.float64)
    else:
        dense = np.asarray(matrix, dtype=np.float64)
        if dense.ndim != 2:
            raise InputError(f"a matrix must have 2 dimensions, but has {dense.ndim}. Pass one row per target")
        targets, columns = dense.shape
        start = np.arange(targets + 1, dtype=np.int64) * columns
        rows = start, np.tile(np.arange(columns, dtype=np.int32), targets), dense.ravel()
    return divide_by_sums(*rows) if normalise else rows


def entries_of_table(
    target: Any, candidate: Any, probability: Any, *, normalise: bool
) -> tuple[Integers, NDArray[np.int32], Floats, NDArray[Any], NDArray[Any]]:
    """Return start, candidate number and value sorted by target and candidate, and the names of both."""
    row, targets = factorise(target, what="target")
    column, candidates = factorise(candidate, what="candidate")
    values = np.asarray(probability, dtype=np.float64)
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


def divide_by_sums(start: Integers, column: NDArray[np.int32], value: Floats) -> Rows:
    """Return the rows divided by their sums; a row that sums to 0 loses its entries, because it says nothing."""
    size = np.diff(start)
    sums = np.zeros(size.size)
    filled = size > 0
    sums[filled] = np.add.reduceat(value, start[:-1][filled]) if filled.any() else 0.0
    if (value < 0).any() or not np.isfinite(value).all():
        raise InputError("scores must be finite and at least 0 to be divided by their sum. Shift or replace them first")
    per_entry = np.repeat(sums, size)
    keep = per_entry > 0
    start = np.concatenate([[0], np.cumsum(np.where(sums > 0, size, 0))]).astype(np.int64)
    return start, column[keep], value[keep] / per_entry[keep]
