"""Degree of anonymity, from 0 (one matching left) to 1 (all).

At 1, all matchings are possible and equally likely.
"""

from math import hypot, lgamma, log, nan
from typing import Any

import numpy as np

from unveil._kernels.matching import LogPermanent, permanent
from unveil.guesses.matching import Matching
from unveil.guesses.matching_distribution import MatchingDistribution
from unveil.guesses.unequal_matching import UnequalMatching
from unveil.metrics._listing import metric
from unveil.metrics.matchings._balance import DoublyStochasticMatrix, balanced
from unveil.metrics.matchings._random_matchings import (
    LISTED,
    ROUNDING,
    EstimatedValue,
    RandomMatching,
    random_matching,
)

FACTS: dict[str, Any] = {"category": "cracks", "per": "release", "more_means": "more private", "bounds": (0, 1)}


@metric(source="Edman, Sivrikaya & Yener (2007) for 0/1 matrices; else entropy of matchings", **FACTS)
def degree_of_anonymity(guess: Matching | MatchingDistribution, *, rng: np.random.Generator) -> EstimatedValue:
    """Return the degree of anonymity of the matching, 0 to 1.

    Formula: ``-sum(p * log(p)) / log(n!)`` over the probabilities of all matchings. Where those that are possible are
    equally likely, as with a 0/1 matrix, that is ``log(permanent) / log(n!)``. 0 means that one matching is left, 1
    that all are equally likely. With a single item it is 0. It counts matchings and not how close they come to the
    truth, which is what expected cracks are for. It is never undefined.

    For a matrix it comes from the logarithm of the permanent and the chances of pairs, without a list of matchings.
    Where the permanent can only be sampled, ``kind`` is "sampled", and ``low`` and ``high`` are certain bounds; where
    not even that, it is "bracket": the value is the lower end, and the error the width.

    >>> guess = Matching([[0, 0, 1, 1, 1], [0, 0, 1, 1, 1], [0, 1, 1, 1, 1], [1, 1, 1, 1, 0], [1, 1, 1, 0, 0]])
    >>> round(degree_of_anonymity(guess, rng=np.random.default_rng(1)).value, 6)
    0.603734
    """
    if isinstance(guess, MatchingDistribution):
        return degree_of_listed(guess)
    if guess.is_feasibility:
        return degree_of_even(permanent(guess.edges, rng=rng), guess.n)
    found = random_matching(guess, np.arange(guess.n), rng=rng, sample_permanent=True)
    return degree(guess, found, balanced(guess))


def permanent_degree(guess: Matching) -> EstimatedValue:
    """Return the degree of anonymity from the permanent, 0 to 1.

    The matrix is doubly stochastic.

    Formula: ``log(permanent) / log(n! / n ** n)`` of the matrix, or of its doubly stochastic scaling where it is not.
    0 means that one matching is left, 1 that all are equally likely. With a single item it is 0.

    It is here for comparison. It contradicts the degree of a 0/1 matrix, although a flat matrix says the same as the
    0/1 matrix with its zeros: two numbers for one attack. :func:`degree_of_anonymity` gives both the same.

    >>> third, ninth = [[0, 0, 1 / 3, 1 / 3, 1 / 3]] * 2, [[1 / 3, 1 / 3, 1 / 9, 1 / 9, 1 / 9]] * 3
    >>> guess = Matching(third + ninth)
    >>> round(permanent_degree(guess).value, 4)
    0.9228
    >>> round(degree_of_anonymity(guess, rng=np.random.default_rng(1)).value, 4)
    0.7485
    """
    return degree_by_permanent(permanent(guess.edges), balanced(guess), guess.n)


def degree(
    guess: Matching | UnequalMatching, random_matching: RandomMatching, scaled: DoublyStochasticMatrix
) -> EstimatedValue:
    """Return the degree of anonymity of a matrix that was solved.

    Where items or pseudonyms are left alone, the padded matrix has each pairing several times, all equally likely.
    """
    number = random_matching.permanent
    square, repeats, most = (
        (guess.padded, guess.log_repeats, guess.log_all)
        if isinstance(guess, UnequalMatching)
        else (guess, 0.0, lgamma(guess.n + 1))
    )
    if square.is_feasibility or not most > 0:
        return degree_of_even(number, guess.n, repeats=repeats, at_most=most)
    # The mean of log p is that of the logarithms of weights, less the log-permanent: a factor of a row or a column
    # cancels, and with balanced weights there is least to cancel.
    logs = np.zeros(random_matching.edges.weight.size)
    logs[scaled.place] = np.log(np.maximum(scaled.edges.weight, np.finfo(np.float64).tiny))
    mean, error = float((random_matching.marginal * logs).sum()), random_matching.log_weight_error
    low, middle, high = (
        (end + scaled.log_factor - mean - repeats) / most for end in (number.low, number.log, number.high)
    )
    method = ", ".join(dict.fromkeys(f"{number.method}, {random_matching.methods['marginals']}".split(", ")))
    r_hat = random_matching.r_hat if error > 0 else nan
    if number.is_bracket:
        return _between(low - 3 * error / most, high + 3 * error / most, method, r_hat)
    if number.sampled:
        ends = _clipped(low - 3 * error / most), _clipped(high + 3 * error / most)
        return EstimatedValue(_clipped(middle), hypot(number.error, error) / most, method, r_hat, "sampled", *ends)
    if error > 0:
        return EstimatedValue(_clipped(low), error / most, method, r_hat, "sampled")
    return EstimatedValue(_clipped(low), number.error / most + ROUNDING * guess.n, method)


def degree_of_even(
    number: LogPermanent, n: int, *, repeats: float = 0.0, at_most: float | None = None
) -> EstimatedValue:
    """Return the degree of anonymity for equally likely possible matchings.

    ``repeats`` and ``at_most`` are the logarithms of how often the permanent counts each, and of how many there can be.
    """
    at_most = lgamma(n + 1) if at_most is None else at_most
    if not at_most > 0:
        return EstimatedValue(0.0, 0.0, "single")
    low, middle, high = ((end - repeats) / at_most for end in (number.low, number.log, number.high))
    if number.is_bracket:
        return _between(low, high, number.method)
    if number.sampled:
        ends = _clipped(low), _clipped(high)
        return EstimatedValue(_clipped(middle), number.error / at_most, number.method, nan, "sampled", *ends)
    return EstimatedValue(_clipped(middle), number.error / at_most + ROUNDING, number.method)


def degree_of_listed(guess: MatchingDistribution) -> EstimatedValue:
    """Return the degree of anonymity of listed matchings."""
    if guess.n == 1:
        return EstimatedValue(0.0, 0.0, "single")
    bits = -float((guess.probability * np.log(guess.probability)).sum())
    return EstimatedValue(_clipped(bits / lgamma(guess.n + 1)), ROUNDING * guess.n, LISTED)


def degree_by_permanent(number: LogPermanent, scaled: DoublyStochasticMatrix, n: int) -> EstimatedValue:
    """Return :func:`permanent_degree` from the log-permanent of the given matrix."""
    if n == 1:
        return EstimatedValue(0.0, 0.0, "single")
    least = lgamma(n + 1) - n * log(n)
    high, middle, low = ((end + scaled.log_factor) / least for end in (number.low, number.log, number.high))
    if number.is_bracket:
        return _between(low, high, number.method)
    if number.sampled:
        ends = _clipped(low), _clipped(high)
        return EstimatedValue(_clipped(middle), -number.error / least, number.method, nan, "sampled", *ends)
    return EstimatedValue(_clipped(middle), (number.error + n * scaled.error) / -least + ROUNDING, number.method)


def _between(low: float, high: float, method: str, r_hat: float = nan) -> EstimatedValue:
    return EstimatedValue(_clipped(low), _clipped(high) - _clipped(low), method, r_hat, "bracket")


def _clipped(value: float) -> float:
    return min(max(value, 0.0), 1.0) + 0.0  # which turns -0.0 into 0.0
