"""Matrices of the thesis (Figs 2.2, 2.4, 3.3, 3.4, 3.5) and generators; M0 is the stated truth x, y, z, u, v."""

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.matching import Edges, edges_of

TRUTH = [2, 3, 4, 0, 1]
HOSPITAL = [[0, 0, 1, 1, 1], [0, 0, 1, 1, 1], [0, 1, 1, 1, 1], [1, 1, 1, 1, 0], [1, 1, 1, 0, 0]]
FIGURE_2_4_B = [[0, 0, 1, 1, 1], [0, 1, 0, 1, 1], [0, 1, 0, 0, 1], [1, 0, 1, 0, 0], [1, 1, 0, 0, 0]]
FIGURE_2_4_C = [[1, 1, 1, 1, 0], [1, 0, 0, 1, 0], [1, 0, 0, 0, 1], [1, 1, 1, 1, 1], [1, 1, 0, 0, 0]]
FLAT = [[Fraction(0)] * 2 + [Fraction(1, 3)] * 3] * 2 + [[Fraction(1, 3)] * 2 + [Fraction(1, 9)] * 3] * 3
SUPPORT = [[0, 0, 1, 1, 1]] * 2 + [[1] * 5] * 3
#: Q of Fig. 3.4(b) with the erratum: [Tuberculosis, y] is 1/50 and not 1/20.
UNEVEN = [
    [Fraction(0), Fraction(0), Fraction(57, 100), Fraction(2, 5), Fraction(3, 100)],
    [Fraction(0), Fraction(0), Fraction(3, 10), Fraction(23, 100), Fraction(47, 100)],
    [Fraction(17, 50), Fraction(29, 100), Fraction(3, 100), Fraction(3, 10), Fraction(1, 25)],
    [Fraction(29, 100), Fraction(13, 25), Fraction(2, 25), Fraction(1, 20), Fraction(3, 50)],
    [Fraction(37, 100), Fraction(19, 100), Fraction(1, 50), Fraction(1, 50), Fraction(2, 5)],
]
GRAPH_3_5 = [[1, 0, 1, 1, 0], [0, 1, 0, 1, 0], [0, 0, 1, 0, 1], [0, 1, 0, 1, 0], [1, 0, 1, 0, 1]]


def as_floats(matrix: object) -> NDArray[np.float64]:
    return np.array(matrix, dtype=object).astype(np.float64)


def intervals(n: int, reach: int, rng: np.random.Generator, *, shuffled: bool = False) -> Edges:
    """Return an interval graph with the diagonal in it: each row up to ``reach`` columns to either side."""
    low = np.maximum(np.arange(n) - rng.integers(0, reach + 1, n), 0)
    high = np.minimum(np.arange(n) + rng.integers(0, reach + 1, n), n - 1)
    row = np.repeat(np.arange(n), high - low + 1)
    column = np.concatenate([np.arange(a, b + 1) for a, b in zip(low, high, strict=True)])
    if shuffled:
        row, column = rng.permutation(n)[row], rng.permutation(n)[column]
    return edges_of(row, column, np.ones(row.size), n)


def sparse(n: int, density: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return a random matrix that has a perfect matching somewhere."""
    matrix = (rng.random((n, n)) < density) * rng.random((n, n))
    matrix[np.arange(n), rng.permutation(n)] += 0.5
    return np.asarray(matrix, np.float64)
