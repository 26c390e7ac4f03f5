"""Matrices and long tables as sorted sparse rows."""

from collections.abc import Hashable, Iterable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.types import BoolArray, FloatArray, Int32Array, IntArray
from unveil.errors import InputError

Rows = tuple[IntArray, Int32Array, FloatArray]


def frozen(values: Any, dtype: Any, *, what: str) -> NDArray[Any]:
    """Return the values as a private, read-only array; None keeps the type.

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
        raise InputError(f"{what} must be {kind}, but some are not. Pass {kind} only") from None
    if array.ndim != 1:
        raise InputError(f"{what} must have one dimension, but has {array.ndim}. Pass a flat sequence")
    array.flags.writeable = False
    return array


def entries_of_matrix(matrix: Any, *, normalize: bool) -> Rows:
    """Return row starts, columns, and values of a dense or sparse matrix."""
    if hasattr(matrix, "tocsr"):
        sparse = matrix.tocsr(copy=True)
        sparse.sum_duplicates()  # also sorts the columns of each row
        rows = sparse.indptr.astype(np.int64), sparse.indices.astype(np.int32), sparse.data.astype(np.float64)
    else:
        try:
            dense = np.asarray(matrix, dtype=np.float64)
        except (TypeError, ValueError):
            raise InputError(
                "The rows of the matrix differ in length, or hold texts. Pass rows of equal length with numbers"
            ) from None
        if dense.ndim != 2:
            raise InputError(f"The matrix has {dense.ndim} dimensions. Pass a matrix with one row per target")
        targets, columns = dense.shape
        start = np.arange(targets + 1, dtype=np.int64) * columns
        rows = start, np.tile(np.arange(columns, dtype=np.int32), targets), dense.ravel()
    return divide_by_sums(*rows) if normalize else rows


def entries_of_table(
    target: Any, candidate: Any, probability: Any, *, normalize: bool
) -> tuple[IntArray, Int32Array, FloatArray, NDArray[Any], NDArray[Any]]:
    """Return starts, candidates, and values by target, with names."""
    row, targets = factorize(target, what="target")
    column, candidates = factorize(candidate, what="candidate")
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
                f"{repeated} rows repeat the target and candidate of an earlier row. Keep one row per pair"
            )
    start = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=targets.size))]).astype(np.int64)
    rows = divide_by_sums(start, column, values) if normalize else (start, column, values)
    return *rows, targets, candidates


def divide_by_sums(start: IntArray, column: Int32Array, value: FloatArray) -> Rows:
    """Return the rows divided by their sums; zero rows become empty."""
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


# Turn labels of any kind into numbers 0, 1, 2, … and the names behind them.


def factorize(labels: Any, *, what: str) -> tuple[Int32Array, NDArray[Any]]:
    """Return the number of each label and the label behind each number.

    Labels that can be sorted are numbered in sorted order, so that the numbers do not depend on the order of rows.
    ``what`` is the word for a label in the error message.

    >>> factorize(["b", "a", "b"], what="cluster")
    (array([1, 0, 1], dtype=int32), array(['a', 'b'], dtype=object))
    """
    if isinstance(labels, np.ndarray) and labels.ndim != 1:
        raise InputError(
            f"the {what} labels must be one-dimensional, but have {labels.ndim} dimensions. Pass one label per item"
        )
    if isinstance(labels, np.ndarray) and labels.dtype.kind in "iub":
        return _from_integers(labels)
    if isinstance(labels, np.ndarray) and labels.dtype.kind == "f":
        _refuse_missing(np.isnan(labels), what)
        names, codes = np.unique(labels, return_inverse=True)
        return codes.astype(np.int32), names
    series = _as_polars(labels)
    if series is not None:
        _refuse_missing(series.is_null().to_numpy(), what)
        if series.dtype.is_integer() or series.dtype.is_float():
            return factorize(series.to_numpy(), what=what)
        return _from_series(series)
    return _from_hashables(labels, what)


def _refuse_missing(missing: BoolArray, what: str) -> None:
    if missing.any():
        where = int(np.flatnonzero(missing)[0])
        raise InputError(
            f"{int(missing.sum())} {what} labels are missing, the first at position {where} (counted from 0). "
            "Fill them in, or leave out those rows"
        )


def _from_integers(labels: NDArray[Any]) -> tuple[Int32Array, NDArray[Any]]:
    if labels.size == 0:
        return np.empty(0, np.int32), labels.copy()
    low, high = int(labels.min()), int(labels.max())
    if high - low > 4 * labels.size:
        names, codes = np.unique(labels, return_inverse=True)
        return codes.astype(np.int32), names
    # Numbers close together need no sorting: mark which occur, and count the marks.
    wide = np.uint64 if labels.dtype.kind == "u" else np.int64
    shifted = labels.astype(wide, copy=False)
    shifted = (shifted - wide(low) if low else shifted).astype(np.int64, copy=False)
    seen = np.zeros(high - low + 1, dtype=bool)
    seen[shifted] = True
    if seen.all():  # they are numbers from 0 on already
        return shifted.astype(np.int32), (np.arange(seen.size).astype(wide) + wide(low)).astype(labels.dtype)
    rank = np.cumsum(seen, dtype=np.int32) - np.int32(1)
    return rank[shifted], (np.flatnonzero(seen).astype(wide) + wide(low)).astype(labels.dtype)


def _as_polars(labels: Any) -> Any:
    """Return a column or text array as a polars series, or None."""
    if isinstance(labels, np.ndarray) and labels.dtype.kind == "U":
        import polars as pl

        return pl.Series(labels)
    if isinstance(labels, (np.ndarray, list, tuple, range, str)):
        return None
    import narwhals as nw

    from unveil.data.table.native import typed_series

    series = nw.from_native(labels, series_only=True, pass_through=True)
    return typed_series(series) if isinstance(series, nw.Series) else None


def _from_series(series: Any) -> tuple[Int32Array, NDArray[Any]]:
    import polars as pl

    frame = series.rename("label").to_frame()
    names = frame.select(pl.col("label").unique().sort()).with_row_index("code")
    codes = frame.join(names, on="label", how="left", maintain_order="left")["code"]
    return codes.to_numpy().astype(np.int32), _object_array(names["label"].to_list())


def _object_array(values: list[Any]) -> NDArray[Any]:
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array


def _from_hashables(labels: Iterable[Hashable], what: str) -> tuple[Int32Array, NDArray[Any]]:
    values = list(labels)
    try:
        missing = np.fromiter((value is None or value != value for value in values), bool, len(values))
        names = list(dict.fromkeys(values))
    except TypeError as error:
        raise InputError(
            f"a {what} label must be hashable (text, a number, a tuple, …). Turn lists into tuples first"
        ) from error
    _refuse_missing(missing, what)
    with suppress(TypeError):  # labels of mixed kinds have no order; the order of first appearance will do
        names.sort()  # type: ignore[call-arg]
    number = {name: code for code, name in enumerate(names)}
    return np.fromiter((number[value] for value in values), np.int32, len(values)), _object_array(names)
