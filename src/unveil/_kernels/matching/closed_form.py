"""Closed forms for blocks with equally likely matchings."""

from math import lgamma

import numpy as np

from unveil._kernels.matching.edges import Edges, edge_at
from unveil._kernels.types import FloatArray, IntArray


def is_even(edges: Edges, *, tolerance: float = 1e-12) -> bool:
    """Return whether a full matrix is a product of row and column factors.

    >>> from unveil._kernels.matching.edges import as_edges
    >>> is_even(as_edges(np.outer([1.0, 2.0, 3.0], [1.0, 1.0, 5.0]))), is_even(as_edges(np.eye(2) + 1))
    (True, False)
    """
    n = edges.n
    if edges.weight.size != n * n:
        return False
    logs = np.log(edges.weight).reshape(n, n)
    return bool(np.abs(logs - logs[:, :1] - logs[:1] + logs[0, 0]).max() <= tolerance)


def log_permanent_of_even(edges: Edges) -> float:
    """Return log(n!) plus the logarithm of any one matching's weight."""
    n = edges.n
    return lgamma(n + 1) + float(np.log(edges.weight[edge_at(edges, np.arange(n))]).sum())


def cracks_of_pairings(n: int, m: int, pairs: int, true_pairs: int) -> FloatArray:
    """Return the crack distribution of N equally likely pairings.

    As for :func:`cracks_of_even`, with B_k = C(true pairs, k) times the chance that k given pairs are among those made.

    >>> cracks_of_pairings(3, 2, 2, 2).round(4)
    array([0.5   , 0.3333, 0.1667, 0.    ])
    """
    if n == m == pairs:
        return cracks_of_even(n, np.where(np.arange(n) < true_pairs, np.arange(n), -1))
    most = min(true_pairs, pairs)
    terms = min(most, 60)
    ways = [(true_pairs, 1), (pairs, 1), (n, -1), (m, -1)]
    logs = [sum(sign * (lgamma(a + 1) - lgamma(a - k + 1)) for a, sign in ways) for k in range(terms + 1)]
    together = np.exp(logs)
    factorial = np.cumprod(np.concatenate([[1.0], np.arange(1.0, terms + 1)]))
    chance = np.zeros(n + 1)
    for c in range(min(most, 30) + 1):
        rest = np.arange(terms - c + 1)
        chance[c] = max(0.0, ((-1.0) ** rest * together[c:] / factorial[rest]).sum() / factorial[c])
    return np.asarray(chance / chance.sum())


def cracks_of_even(n: int, truth: IntArray) -> FloatArray:
    """Return the crack distribution of a random permutation; truth -1 cannot crack.

    With m rows that can be, the chance of exactly c is the sum over k >= c of (-1)^(k - c) C(k, c) B_k, where B_k =
    C(m, k) (n - k)! / n! is the expected number of k cracked rows together. Terms fall like 1/k!, so little cancels.

    >>> cracks_of_even(3, np.array([0, 1, 2])).round(4)
    array([0.3333, 0.5   , 0.    , 0.1667])
    """
    m = int((truth >= 0).sum())
    terms = min(m, 60)
    # k! times B_k, which is near 1.
    together = np.exp([lgamma(m + 1) - lgamma(m - k + 1) + lgamma(n - k + 1) - lgamma(n + 1) for k in range(terms + 1)])
    factorial = np.cumprod(np.concatenate([[1.0], np.arange(1.0, terms + 1)]))
    chance = np.zeros(n + 1)
    for c in range(min(m, 30) + 1):  # more than 30 have a chance below 1e-34
        rest = np.arange(terms - c + 1)
        chance[c] = ((-1.0) ** rest * together[c:] / factorial[rest]).sum() / factorial[c]
    if m == n <= terms:
        chance[n - 1] = 0.0  # the last row has no other column left
    return np.asarray(chance / chance.sum())
