"""Similarity of the attacker's estimate and the truth."""

import numpy as np

from unveil._kernels.types import FloatArray
from unveil.guesses import Candidates
from unveil.guesses.candidates import Truth
from unveil.metrics._listing import metric
from unveil.metrics.candidates._truth import considered_count, considered_truth, defined_with_truth, truth_probability
from unveil.metrics.candidates.uncertainty import SOURCE


@metric(category="similarity", per="target", more_means="more private", bounds=(0, 4), source=SOURCE)
def normalized_variance(guess: Candidates, truth: Truth) -> FloatArray:
    """Return the variance of the error over that of the true match.

    Formula: ``Var(x - p) / Var(x) = c * (1 - 2 * p_t + sum(p ** 2)) / (c - 1)`` with x the true match as 0 and 1; a
    truth that was not considered is added with probability 0. 0 means certain and correct, 1 that all candidates are
    equally likely, ``2 * c / (c - 1)`` sure and wrong. With a single candidate it is 0 if that is the truth, else 1.
    NaN where not attempted or where the target has no true match.

    >>> normalized_variance(Candidates.from_matrix([[0.5, 0.5], [0.0, 1.0]]), [0, 0])
    array([1., 4.])
    """
    inside = considered_truth(guess, truth)
    listed = considered_count(guess)
    count = listed + ~inside
    squared = np.maximum(0.0, 1 - 2 * truth_probability(guess, truth) + guess.summary.squares)
    value = count * squared / np.maximum(count - 1, 1)
    return defined_with_truth(guess, truth, np.where(listed == 1, np.where(inside, 0.0, 1.0), value))
