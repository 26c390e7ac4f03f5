"""The doubly stochastic matrix equivalent to a given matrix.

Every matching keeps its relative probability. Newton's method solves the cases where rounds are slow.
"""

from typing import NamedTuple

import numpy as np

from unveil._kernels.matching import Edges, decompose, edges_of, sinkhorn
from unveil._kernels.types import FloatArray, IntArray
from unveil.guesses.matching import Matching

#: Largest difference of a column's sum from 1 that is left as it is.
TOLERANCE = 1e-11
_ROUNDS, _MORE_ROUNDS = 200, 2000
# What n rows within this many places of the diagonal may cost, n * width ** 2, and the edges of which to form products.
_MOST_WORK, _MOST_EDGES = 1e9, 2_000_000
_STEPS = 60


class DoublyStochasticMatrix(NamedTuple):
    """Positive elements of the doubly stochastic matrix, and its residual.

    ``place`` says where its edges stand among the given ones: edges in no perfect matching are left out. Weights are
    the given ones times a factor of the row and one of the column; ``log_factor`` is the sum of logarithms of all
    these. ``error`` is the largest difference of a column's sum from 1, ``given`` whether nothing had to be done.
    """

    edges: Edges
    place: IntArray
    log_factor: float
    error: float
    given: bool

    def on(self, edges: Edges) -> FloatArray:
        """Return the weight of each given edge; 0 for dropped edges."""
        weight = np.zeros(edges.weight.size)
        weight[self.place] = self.edges.weight
        return weight


def balanced(guess: Matching) -> DoublyStochasticMatrix:
    """Return the matrix itself where it is doubly stochastic, else its scaling.

    >>> balanced(Matching([[1, 1], [0, 3]])).edges.dense()
    array([[1., 0.],
           [0., 1.]])
    """
    edges = guess.edges
    if guess.is_doubly_stochastic:
        return DoublyStochasticMatrix(edges, np.arange(edges.weight.size), 0.0, 0.0, True)
    place = np.sort(np.concatenate([block.place for block in decompose(edges)]))
    used = edges_of(edges.row[place], edges.column[place], edges.weight[place], edges.n)
    scaled = sinkhorn(used, tolerance=TOLERANCE, rounds=_ROUNDS)
    if scaled.error > TOLERANCE:
        found = _by_newton(used, scaled.log_column)
        if found is not None:
            return found._replace(place=place)
        scaled = sinkhorn(used, tolerance=TOLERANCE, rounds=_MORE_ROUNDS)
    return DoublyStochasticMatrix(scaled.edges, place, -scaled.log_factor, scaled.error, False)


def _by_newton(edges: Edges, log_column: FloatArray) -> DoublyStochasticMatrix | None:
    """Return the scaling by Newton's method, or None if too large.

    It minimizes the sum over rows of ``log(sum(weight * exp(b)))`` less the sum of all b, the logarithms of the factors
    of columns; that is convex, and its slope is by how much the columns' sums exceed 1. Long thin matrices, in which a
    round of Sinkhorn's scaling moves little from one end to the other, take a few steps.
    """
    system = _system(edges)
    if system is None:
        return None
    order, width = system
    logs, b = np.log(edges.weight), log_column
    value, log_row, share = _normalized(edges, logs, b)
    for _ in range(_STEPS):
        sums = np.bincount(edges.column, share, edges.n).astype(np.float64)
        if np.abs(sums - 1).max() <= TOLERANCE:
            break
        step = _step(edges, share, sums, order, width)
        step *= min(1.0, 30.0 / max(float(np.abs(step).max()), 1e-300))
        while True:
            new_value, new_row, new_share = _normalized(edges, logs, b + step)
            if new_value <= value + 1e-12 * abs(value) + 1e-14 or np.abs(step).max() < 1e-14:
                break
            step = step / 2
        b, value, log_row, share = b + step, new_value, new_row, new_share
    error = float(np.abs(np.bincount(edges.column, share, edges.n) - 1).max())
    log_factor = float(log_row.sum() + b.sum())
    return DoublyStochasticMatrix(edges.with_weight(share), np.zeros(0, np.int64), log_factor, error, False)


def _normalized(edges: Edges, logs: FloatArray, b: FloatArray) -> tuple[float, FloatArray, FloatArray]:
    """Return the objective, log row factors, and row-normalized weights."""
    raised = logs + b[edges.column]
    largest = np.maximum.reduceat(raised, edges.start[:-1])
    with np.errstate(under="ignore"):
        weight = np.exp(raised - largest[edges.row])
        log_sum = largest + np.log(np.add.reduceat(weight, edges.start[:-1]))
        share = np.exp(raised - log_sum[edges.row])
    return float(log_sum.sum() - b.sum()), -log_sum, share


def _system(edges: Edges) -> tuple[IntArray, int] | None:
    """Return a column order with small bandwidth, and the bandwidth."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    n = edges.n
    if float((np.diff(edges.start) ** 2).sum()) > 4 * _MOST_EDGES or edges.weight.size > _MOST_EDGES:
        return None
    pattern = csr_array((np.ones(edges.column.size), edges.column, edges.start), shape=(n, n))
    shared = (pattern.T @ pattern).tocsr()
    order = reverse_cuthill_mckee(shared, symmetric_mode=True).astype(np.int64)
    number = np.argsort(order)
    one, other = shared.nonzero()
    width = int(np.abs(number[one] - number[other]).max())
    return (order, width) if n * float(width + 1) ** 2 <= _MOST_WORK else None


def _step(edges: Edges, share: FloatArray, sums: FloatArray, order: IntArray, width: int) -> FloatArray:
    """Return Newton's step for the columns, by banded Cholesky."""
    from scipy.linalg import solveh_banded
    from scipy.sparse import coo_array, csr_array

    n = edges.n
    number = np.argsort(order)
    matrix = csr_array((share, edges.column, edges.start), shape=(n, n))
    shared = coo_array(matrix.T @ matrix)
    one, other = number[shared.row], number[shared.col]
    below = one >= other
    band = np.zeros((width + 1, n))
    band[(one - other)[below], other[below]] = -shared.data[below]
    # Factors of a whole block may be shifted without effect; a little on the diagonal makes the answer one.
    band[0] += sums[order] * (1 + 1e-10) + 1e-12
    step = np.empty(n)
    step[order] = solveh_banded(band, (1 - sums)[order], lower=True)
    return step
