"""Belief propagation: the Bethe estimate and bounds of a permanent.

The Bethe permanent is the largest value, over doubly stochastic matrices g on the same places, of
exp(sum g log(a / g) + (1 - g) log(1 - g)). It is at most the permanent (Gurvits), and the permanent is at most
sqrt(2)^n times it (Anari and Rezaei). g estimates the marginals: well on large dense blocks, badly on small or cyclic
ones (0.6 and 0.4 in a block of two: exact 0.692, here 1), so nothing but the bracket is ever reported as certain.
"""

from typing import NamedTuple

import numpy as np

from unveil._kernels._compile import compiled, loop
from unveil._kernels.matching.edges import Edges
from unveil._kernels.types import FloatArray, IntArray

#: Edges up to which plain Python is quicker than the compiler.
_PLAIN_EDGES = 500


class Bethe(NamedTuple):
    """Bethe bounds of the log-permanent, marginals, and last change."""

    low: float
    high: float
    marginal: FloatArray
    change: float
    rounds: int


def bethe(edges: Edges, *, tolerance: float = 1e-9, rounds: int = 2000) -> Bethe:
    """Return the Bethe bounds and marginals of a block of 2 or more.

    The lower end holds even where belief propagation has not settled; the upper end then is a little too low, by about
    n times ``change``.

    >>> from unveil._kernels.matching.edges import as_edges
    >>> found = bethe(as_edges(np.ones((8, 8))))
    >>> found.marginal[0].round(6), bool(found.low <= np.log(40320.0) <= found.high)
    (np.float64(0.125), True)
    """
    scaled = sinkhorn(edges, tolerance=1e-6, rounds=200)
    by_column = np.argsort(edges.column, kind="stable")
    column_start = np.concatenate([[0], np.cumsum(np.bincount(edges.column, minlength=edges.n))]).astype(np.int64)
    weight = np.maximum(scaled.edges.weight, np.finfo(np.float64).tiny)
    to_column, to_row = np.ones_like(weight), np.ones_like(weight)
    belief = np.full(weight.size, -1.0)
    exclusive = _exclusive if weight.size <= _PLAIN_EDGES else compiled(_exclusive)
    ones, in_order = np.ones_like(weight), np.arange(weight.size)
    used, change = 0, np.inf
    while used < rounds and change > tolerance:
        used += 1
        exclusive(weight, to_row, edges.start, in_order, to_column)
        to_column = weight / to_column
        exclusive(ones, to_column, column_start, by_column, to_row)
        to_row = 1.0 / to_row
        ratio = to_column * to_row
        new = ratio / (1.0 + ratio)
        change = float(np.abs(new - belief).max())
        belief = new
    low = _free_energy(edges, weight, belief) + scaled.log_factor
    return Bethe(low, low + edges.n * float(np.log(2.0)) / 2, belief, change, used)


@loop("f8[], f8[], i8[], i8[], f8[]")
def _exclusive(weight: FloatArray, message: FloatArray, start: IntArray, order: IntArray, result: FloatArray) -> None:
    """Write each edge's sum of weighted messages over its other edges.

    Sums of those before and those after: to take the edge away from the whole sum would leave nothing but rounding
    where it is nearly all of it.
    """
    least = 1e-300
    for line in range(start.size - 1):
        before = 0.0
        for k in range(start[line], start[line + 1]):
            e = order[k]
            result[e] = before
            before += weight[e] * message[e]
        after = 0.0
        for k in range(start[line + 1] - 1, start[line] - 1, -1):
            e = order[k]
            result[e] = min(max(result[e] + after, least), 1e300)
            after += weight[e] * message[e]


def _free_energy(edges: Edges, weight: FloatArray, belief: FloatArray) -> float:
    """Return the Bethe free energy of doubly stochastic beliefs."""
    exact = sinkhorn(edges.with_weight(np.maximum(belief, 1e-300)), tolerance=1e-13, rounds=500).edges.weight
    with np.errstate(divide="ignore", invalid="ignore"):
        own = np.where(exact > 0, exact * (np.log(weight) - np.log(exact)), 0.0)
        rest = np.where(exact < 1, (1.0 - exact) * np.log1p(-exact), 0.0)
    return float(own.sum() + rest.sum())


# Sinkhorn's scaling: rows and columns multiplied by factors until every row and column sums to 1.
#
# Factors leave every edge marginal as it is and multiply the permanent by their product, so all methods work on the
# scaled matrix, where products neither overflow nor vanish, and add the logarithms back.


class Scaling(NamedTuple):
    """Scaled edges, log factors, and largest column error."""

    edges: Edges
    log_row: FloatArray
    log_column: FloatArray
    error: float
    rounds: int

    @property
    def log_factor(self) -> float:
        """Return the log factor from the scaled to the given permanent."""
        return -float(self.log_row.sum() + self.log_column.sum())


def sinkhorn(edges: Edges, *, tolerance: float = 1e-12, rounds: int = 1000) -> Scaling:
    """Return Sinkhorn-scaled edges; every edge must be matchable.

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
    """Return row and column factors, or None out of range."""
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
    """Return the log-sum-exp of each non-empty part."""
    largest = np.maximum.reduceat(logs, start)
    sizes = np.diff(np.append(start, logs.size))
    with np.errstate(under="ignore"):
        return np.asarray(largest + np.log(np.add.reduceat(np.exp(logs - np.repeat(largest, sizes)), start)))
