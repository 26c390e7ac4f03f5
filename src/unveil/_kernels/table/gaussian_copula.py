"""The numbers of a Gaussian copula for columns with steps: scores, latent correlations, and a root to draw with."""

import numpy as np

from unveil._kernels.types import FloatArray, IntArray

# A step function needs endlessly many terms; beyond these a correlation of 0.9 has less than 1 % left of each.
TERMS = 48
_HALVINGS = 30
# Below this an eigenvalue counts as rounding: columns that are copies of one another stay so to six digits.
_SMALLEST_EIGENVALUE = 1e-6


def step_expansion(counts: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the score of each level of a column, and the Hermite coefficients of the scores as a function of z.

    The levels, in order, cut the standard normal distribution into bands with their shares of the rows. The score of a
    level is the mean of z in its band. ``coefficients[k - 1]`` belongs to the normalised Hermite polynomial of degree
    k.

    >>> scores, coefficients = step_expansion(np.array([5, 5]))
    >>> scores.round(4), coefficients[:3].round(4)
    (array([-0.7979,  0.7979]), array([ 0.6366,  0.    , -0.2599]))
    """
    from scipy.special import ndtri

    cuts = ndtri(np.cumsum(counts)[:-1] / counts.sum())
    density = np.exp(-0.5 * cuts * cuts) / np.sqrt(2 * np.pi)
    scores = -np.diff(density, prepend=0.0, append=0.0) / (counts / counts.sum())
    # The coefficient of a function with steps is a sum over its steps, which is the integral by parts.
    rise = np.diff(scores)
    coefficients = np.empty(TERMS)
    before, now = np.zeros_like(cuts), density
    for k in range(1, TERMS + 1):
        coefficients[k - 1] = float((rise * now).sum()) / np.sqrt(k)
        before, now = now, (cuts * now - np.sqrt(k - 1) * before) / np.sqrt(k)
    return scores, coefficients


def pairwise_correlation(scores: FloatArray, present: FloatArray) -> FloatArray:
    """Return the correlation of each pair of columns over the rows where both are present (1.0, else 0.0).

    ``scores`` must be 0 where not present. 0 where one of the two does not vary over those rows.

    >>> pairwise_correlation(np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 0.0]]), np.array([[1.0, 1.0], [1, 1], [1, 0]]))
    array([[1., 1.],
           [1., 1.]])
    """
    rows = np.maximum(present.T @ present, 1.0)
    total = scores.T @ present
    squares = (scores * scores).T @ present
    spread = squares - total * total / rows
    product = scores.T @ scores - total * total.T / rows
    varies = (spread > 1e-9 * squares) & (spread.T > 1e-9 * squares.T)
    scale = np.sqrt(np.where(varies, spread * spread.T, 1.0))
    correlation = np.where(varies, np.clip(product / scale, -1.0, 1.0), 0.0)
    np.fill_diagonal(correlation, 1.0)
    return correlation


def latent_correlation(correlation: FloatArray, coefficients: FloatArray) -> FloatArray:
    """Return the correlation of the normal variables behind each pair of columns, given that of their scores.

    If z and z' are standard normal with correlation r, functions of them with Hermite coefficients g and h have the
    covariance Σ g_k h_k r^k (Mehler's formula). It rises with r for scores that rise with z, so halving finds r.
    ``coefficients`` has one row per column. 0 for a column that does not vary.

    >>> coefficients = np.array([step_expansion(np.array([5, 5]))[1]] * 2)
    >>> latent_correlation(np.array([[1, 0.5], [0.5, 1]]), coefficients).round(3)  # sin(pi / 2 * 0.5) beside the ones
    array([[1.   , 0.707],
           [0.707, 1.   ]])
    """
    # Scores are means of z, so that their first coefficient is their variance; the sum of squares would be cut short.
    deviation = np.sqrt(np.maximum(coefficients[:, 0], 0.0))
    target = correlation * np.outer(deviation, deviation)
    low, high = np.full_like(target, -1.0), np.full_like(target, 1.0)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        value = np.zeros_like(target)
        for k in range(TERMS - 1, -1, -1):
            value = (value + np.outer(coefficients[:, k], coefficients[:, k])) * middle
        below = value < target
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    varies = np.outer(deviation > 0, deviation > 0)
    latent = np.where(varies & (correlation != 0), (low + high) / 2, 0.0)
    np.fill_diagonal(latent, 1.0)
    return latent


def positive_root(correlation: FloatArray) -> FloatArray:
    """Return a matrix whose product with its own transpose is a correlation matrix: the given one, if it is one.

    Pairs that were estimated one by one need not fit together. Eigenvalues that are not positive are then raised to a
    small positive number and the diagonal is brought back to 1. The root does not depend on the signs and the order in
    which a library gives eigenvectors.

    >>> root = positive_root(np.array([[1.0, 0.5], [0.5, 1.0]]))
    >>> (root @ root.T).round(12)
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    values, vectors = np.linalg.eigh((correlation + correlation.T) / 2)
    root: FloatArray = (vectors * np.sqrt(np.maximum(values, _SMALLEST_EIGENVALUE))) @ vectors.T
    unit: FloatArray = root / np.sqrt((root * root).sum(axis=1, keepdims=True))
    return unit
