"""Ridge logistic regression, and how well scores separate two groups."""

import numpy as np

from unveil._kernels.types import BoolArray, FloatArray

_MOST_STEPS = 60
_MOST_HALVINGS = 30
_ROUNDING = 1e-13
# Scores nearer than this are equal: rounding must not decide which of two equal rows comes first.
_SCORE_PLACES = 9


def fit(
    features: FloatArray, labels: BoolArray, *, ridge: float, start: FloatArray | None = None, settled: float = 1e-8
) -> FloatArray:
    """Return the ridge logistic coefficients, intercept first.

    Newton steps maximise the log-likelihood minus ``ridge / 2`` times the squared coefficients, the intercept not
    counted. With a ridge above 0 there is exactly one such point, even where the features separate the labels. Where
    all labels are alike the intercept has no finite value, and all coefficients are 0. It ends with a step below
    ``settled``; each step about squares how far the next one goes.

    >>> fit(np.array([[-1.0], [1.0], [-1.0], [1.0]]), np.array([False, True, True, False]), ridge=1.0).round(6) + 0.0
    array([0., 0.])
    """
    count = labels.mean() if labels.size else 0.0
    found = np.zeros(features.shape[1] + 1)
    if not 0 < count < 1:
        return found
    found[0] = np.log(count / (1 - count))
    if start is not None:
        found = start.copy()
    penalty = np.full(found.size, ridge)
    penalty[0] = 0.0
    signs = np.where(labels, 1.0, -1.0)
    best = _cost(features, signs, found, penalty)
    for _ in range(_MOST_STEPS):
        step = _newton(features, labels, found, penalty)
        for _ in range(_MOST_HALVINGS):
            cost = _cost(features, signs, found - step, penalty)
            if cost <= best + _ROUNDING * abs(best):
                break
            step /= 2
        else:
            break  # no shorter step helps: this is as near as rounding lets us come
        found, best = found - step, cost
        if float(np.abs(step).max()) < settled:
            break
    return found


def score(features: FloatArray, coefficients: FloatArray) -> FloatArray:
    """Return the linear score of each row, rounded so that equals tie.

    >>> score(np.array([[1.0], [2.0]]), np.array([9.0, 0.5]))
    array([0.5, 1. ])
    """
    return np.round(features @ coefficients[1:], _SCORE_PLACES)


def probability(features: FloatArray, coefficients: FloatArray) -> FloatArray:
    """Return the probability of the label for each row.

    >>> probability(np.array([[0.0]]), np.array([0.0, 1.0]))
    array([0.5])
    """
    return _logistic(features @ coefficients[1:] + coefficients[0])


def ordered_pairs(scores: FloatArray, labels: BoolArray) -> tuple[float, float]:
    """Return the concordant pairs, and all pairs of two labels.

    Two that score alike count half. The first over the second is the area under the curve.

    >>> ordered_pairs(np.array([0.1, 0.9, 0.9]), np.array([False, True, False]))
    (1.5, 2.0)
    """
    positive = float(labels.sum())
    pairs = positive * (labels.size - positive)
    if not pairs:
        return 0.0, 0.0
    return float(mean_ranks(scores)[labels].sum()) - positive * (positive + 1) / 2, pairs


def mean_ranks(values: FloatArray) -> FloatArray:
    """Return the mid-ranks of values, from 1.

    >>> mean_ranks(np.array([5.0, 3.0, 5.0]))
    array([2.5, 1. , 2.5])
    """
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: FloatArray = (np.cumsum(counts) - (counts - 1) / 2)[place]
    return ranks


def _newton(features: FloatArray, labels: BoolArray, coefficients: FloatArray, penalty: FloatArray) -> FloatArray:
    expected = probability(features, coefficients)
    away = expected - labels
    weight = expected * (1 - expected)
    slope = np.concatenate([[away.sum()], away @ features]) + penalty * coefficients
    bend = np.empty((coefficients.size, coefficients.size))
    bend[0, 0] = weight.sum()
    bend[0, 1:] = bend[1:, 0] = weight @ features
    # The root on both sides makes it the product of a matrix with itself, which takes half the work.
    rooted = features * np.sqrt(weight)[:, None]
    bend[1:, 1:] = rooted.T @ rooted
    # Where all is certain there is nothing left to divide by; this much changes no digit elsewhere.
    bend[np.diag_indices_from(bend)] += penalty + 1e-12 * labels.size
    return np.asarray(np.linalg.solve(bend, slope), np.float64)


def _cost(features: FloatArray, signs: FloatArray, coefficients: FloatArray, penalty: FloatArray) -> float:
    margin = signs * (features @ coefficients[1:] + coefficients[0])
    return float(np.logaddexp(0.0, -margin).sum() + (penalty * coefficients * coefficients).sum() / 2)


def _logistic(x: FloatArray) -> FloatArray:
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0, small) / (1.0 + small)
