"""Calibration: logistic and isotonic fits, and calibration error."""

from typing import NamedTuple

import numpy as np

from unveil._kernels import logistic
from unveil._kernels.types import BoolArray, FloatArray, IntArray

#: Stated chances are compared with what came true in so many groups of about the same size.
BINS = 15
#: With fewer labels, or where all are alike, nothing but the share that was right can be learned.
FEWEST_LABELS = 10
# A monotone curve of any shape needs more labels than a straight line: from here on it counts half, and from there on
# alone, because a straight line fits worse than so many labels can tell.
_LABELS_FOR_ISOTONIC, _LABELS_FOR_ISOTONIC_ALONE = 200, 2_000
_RIDGE = 1.0


class Calibrator(NamedTuple):
    """Model of the probability that a choice is correct; see :func:`fit`.

    ``coefficients`` (the intercept first) are of standardized features, none where all choices have the same chance
    ``share``. ``levels`` and ``chances`` are the monotone curve over the logistic chance, none with few labels, and
    ``weight`` is what the curve counts beside that chance. Chances stay ``margin`` away from 0 and 1.
    """

    share: float
    margin: float
    centre: FloatArray
    scale: FloatArray
    coefficients: FloatArray
    levels: FloatArray
    chances: FloatArray
    weight: float = 0.5


def fit(features: FloatArray, labels: BoolArray) -> Calibrator:
    """Fit a calibrator to choices of known correctness.

    A logistic regression with ridge 1 on standardized features; from 200 labels on, the mean of it and of an isotonic
    fit to it, and from 2,000 on the latter alone. With fewer than 10 labels, or where all are alike, every choice has
    the chance ``(right + 1/2) / (n + 1)``.

    >>> fit(np.zeros((3, 1)), np.array([True, True, False])).share
    0.625
    """
    number, right = labels.size, int(labels.sum())
    none = np.empty(0)
    share, margin = (right + 0.5) / (number + 1), 0.5 / max(number, 1)
    if number < FEWEST_LABELS or right in (0, number):
        return Calibrator(share, margin, none, none, none, none, none)
    centre, scale = features.mean(axis=0), features.std(axis=0)
    scale = np.where(scale > 1e-12 * np.maximum(1.0, np.abs(centre)), scale, np.inf)
    standard = (features - centre) / scale
    coefficients = logistic.fit(standard, labels, ridge=_RIDGE)
    levels = chances = none
    if number >= _LABELS_FOR_ISOTONIC:
        levels, chances = isotonic(logistic.probability(standard, coefficients), labels.astype(np.float64))
    weight = 1.0 if number >= _LABELS_FOR_ISOTONIC_ALONE else 0.5
    return Calibrator(share, margin, centre, scale, coefficients, levels, chances, weight)


def chance(learned: Calibrator, features: FloatArray) -> FloatArray:
    """Return the probability that each choice is correct.

    >>> chance(fit(np.zeros((3, 1)), np.array([True, True, False])), np.zeros((2, 1)))
    array([0.625, 0.625])
    """
    if learned.coefficients.size == 0:
        return np.full(len(features), learned.share)
    found = logistic.probability((features - learned.centre) / learned.scale, learned.coefficients)
    if learned.levels.size:
        found += learned.weight * (np.interp(found, learned.levels, learned.chances) - found)
    return np.clip(found, learned.margin, 1 - learned.margin)


def isotonic(scores: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return ascending distinct scores and their isotonic least-squares fit.

    Rows of the same score get the same value: their mean counts as often as there are rows.

    >>> isotonic(np.array([3.0, 1.0, 2.0, 2.0]), np.array([0.0, 0.0, 1.0, 0.0]))
    (array([1., 2., 3.]), array([0.        , 0.33333333, 0.33333333]))
    """
    from scipy.optimize import isotonic_regression

    levels, place, weight = np.unique(scores, return_inverse=True, return_counts=True)
    mean = np.bincount(place, weights=values) / weight
    return levels, np.asarray(isotonic_regression(mean, weights=weight).x, np.float64)


def calibration_error(stated: FloatArray, right: FloatArray, bins: int = BINS) -> float:
    """Return the calibration error over groups of about equal size.

    ``stated`` is cut, from the least to the largest, into ``bins`` groups (as many as there are values, if fewer) whose
    sizes differ by at most one, the larger ones first; each gap counts by its size. Rows of the same chance share what
    came true of them evenly, so that their order decides nothing. NaN without rows.

    >>> calibration_error(np.array([0.5, 0.5, 1.0, 1.0]), np.array([1.0, 0.0, 1.0, 0.0]), bins=2)
    0.25
    """
    groups = reliability(stated, right, bins)
    size = groups.size.sum()
    return float((np.abs(groups.stated - groups.right) * groups.size).sum() / size) if size else float("nan")


def error_by_chance(stated: FloatArray, *, rng: np.random.Generator, bins: int = BINS, draws: int = 50) -> float:
    """Return the expected calibration error of perfectly calibrated probabilities.

    Groups of a few rows differ from their chances by lot: an error below this says nothing against the chances. NaN
    without rows.

    >>> error_by_chance(np.array([0.0, 1.0, 1.0]), rng=np.random.default_rng(1))
    0.0
    """
    if stated.size == 0:
        return float("nan")
    drawn = (
        calibration_error(stated, (rng.random(stated.size) < stated).astype(np.float64), bins) for _ in range(draws)
    )
    return float(np.mean(list(drawn)))


class Reliability(NamedTuple):
    """Reliability groups: mean probability, observed share, and size."""

    stated: FloatArray
    right: FloatArray
    size: IntArray


def reliability(stated: FloatArray, right: FloatArray, bins: int = BINS) -> Reliability:
    """Return the groups that :func:`calibration_error` compares.

    >>> reliability(np.array([0.5, 0.5, 1.0]), np.array([1.0, 0.0, 1.0]), bins=2).right
    array([0.5, 1. ])
    """
    if stated.size == 0:
        return Reliability(np.empty(0), np.empty(0), np.empty(0, np.int64))
    levels, place, count = np.unique(stated, return_inverse=True, return_counts=True)
    shared = np.repeat(np.bincount(place, weights=right) / count, count)
    parts = min(bins, stated.size)
    size = np.full(parts, stated.size // parts)
    size[: stated.size % parts] += 1
    first = np.cumsum(size) - size
    means = [np.add.reduceat(values, first) / size for values in (np.repeat(levels, count), shared)]
    return Reliability(means[0], means[1], size)
