"""Sinkhorn's scaling: rows and columns multiplied by factors until every row and column sums to 1.

Factors leave every edge marginal as it is and multiply the permanent by their product, so all methods work on the
scaled matrix, where products neither overflow nor vanish, and add the logarithms back.
"""

from typing import NamedTuple

import numpy as np

from unveil._kernels.matching.edges import Edges
from unveil._kernels.types import FloatArray


class Scaling(NamedTuple):
    """``edges`` are the given ones times exp(log_row + log_column); ``error`` is the largest |column sum - 1|."""

    edges: Edges
    log_row: FloatArray
    log_column: FloatArray
    error: float
    rounds: int

    @property
    def log_factor(self) -> float:
        """Return what must be added to the log-permanent of the scaled matrix to get that of the given one."""
        return -float(self.log_row.sum() + self.log_column.sum())


def sinkhorn(edges: Edges, *, tolerance: float = 1e-12, rounds: int = 1000) -> Scaling:
    """Return the scaled edges; every edge must lie in some perfect matching, or the limit is never reached.

    Rows sum to 1 up to rounding. ``error`` says how far columns are from it after at most ``rounds`` rounds: matrices
    of very unequal entries converge slowly, and are still a scaling that keeps all ratios of matchings.

    >>> from unveil._kernels.matching.edges import as_edges
    >>> sinkhorn(as_edges(np.array([[1.0, 1.0], [1e-300, 0.5e-300]]))).edges.dense().round(3)
    array([[0.414, 0.586],
           [0.586, 0.414]])
    """
    logs = np.log(edges.weight)
    # Every row's largest entry becomes 1, so that exp() below sees no overflow.
    first = -np.maximum.reduceat(logs, edges.start[:-1])
    found = _linear(edges, np.exp(logs + first[edges.row]), tolerance, rounds)
    if found is None:
        return _by_logs(edges, logs, tolerance, rounds)
    row, column, error, used = found
    log_row, log_column = np.log(row) + first, np.log(column)
    weight = np.exp(logs + log_row[edges.row] + log_column[edges.column])
    return Scaling(edges.with_weight(weight), log_row, log_column, error, used)


def _linear(
    edges: Edges, weight: FloatArray, tolerance: float, rounds: int
) -> tuple[FloatArray, FloatArray, float, int] | None:
    """Return the factors of rows and columns, or None where they leave the range of floating-point numbers."""
    row_of, n = edges.row, edges.n
    column = np.ones(n)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore", under="ignore"):
        for used in range(rounds + 1):
            row = 1.0 / np.add.reduceat(weight * column[edges.column], edges.start[:-1])
            sums = np.bincount(edges.column, weight * row[row_of], n)
            error = float(np.abs(sums * column - 1.0).max())
            if not (np.isfinite(row).all() and (sums > 1e-280).all() and (row < 1e280).all() and sums.max() < 1e280):
                return None
            if error <= tolerance or used == rounds:
                break
            column = 1.0 / sums
    return row, column, error, used


def _by_logs(edges: Edges, logs: FloatArray, tolerance: float, rounds: int) -> Scaling:
    """Return the scaling found with logarithms alone, slower and without limits of range."""
    by_column = np.argsort(edges.column, kind="stable")
    column_start = np.concatenate([[0], np.cumsum(np.bincount(edges.column, minlength=edges.n))])[:-1]
    row_of = edges.row
    log_column = np.zeros(edges.n)
    for used in range(rounds + 1):
        log_row = -_log_sums(logs + log_column[edges.column], edges.start[:-1])
        sums = _log_sums((logs + log_row[row_of])[by_column], column_start)
        error = float(np.abs(np.expm1(np.minimum(sums + log_column, 700.0))).max())
        if error <= tolerance or used == rounds:
            break
        log_column = -sums
    with np.errstate(under="ignore"):
        weight = np.exp(logs + log_row[row_of] + log_column[edges.column])
    return Scaling(edges.with_weight(weight), log_row, log_column, error, used)


def _log_sums(logs: FloatArray, start: np.ndarray[tuple[int], np.dtype[np.int64]]) -> FloatArray:
    """Return the logarithm of the sum of exp(logs) of each part; no part is empty."""
    largest = np.maximum.reduceat(logs, start)
    sizes = np.diff(np.append(start, logs.size))
    with np.errstate(under="ignore"):
        return np.asarray(largest + np.log(np.add.reduceat(np.exp(logs - np.repeat(largest, sizes)), start)))
