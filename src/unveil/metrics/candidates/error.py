"""Error of the attacker's estimate."""

from typing import Any

import numpy as np

from unveil._kernels.calibration import BINS, calibration_error
from unveil._kernels.types import FloatArray
from unveil.errors import whole_number
from unveil.guesses import Candidates
from unveil.guesses.candidates import NOBODY, Truth
from unveil.metrics._listing import metric
from unveil.metrics.candidates._truth import (
    choice_probability,
    considered_count,
    considered_truth,
    correct,
    defined_with_truth,
    numbers,
    truth_probability,
)
from unveil.metrics.candidates.uncertainty import SOURCE

FACTS: dict[str, Any] = {"category": "error", "more_means": "more private", "bounds": (0, 1), "source": SOURCE}


@metric(per="target", **FACTS)
def absolute_error(guess: Candidates, truth: Truth) -> FloatArray:
    """Return the probability of the top-ranked minus the true candidate, 0 to 1.

    Formula: ``max(p) - p_t``. 0 means the truth is (among) the most likely, 1 sure and wrong. NaN where not attempted
    or where the target has no true match.

    >>> absolute_error(Candidates.from_matrix([[0.75, 0.25]]), [1])
    array([0.5])
    """
    return defined_with_truth(guess, truth, guess.summary.largest - truth_probability(guess, truth))


@metric(per="target", **FACTS)
def incorrectness(guess: Candidates, truth: Truth) -> FloatArray:
    """Return the probability of all wrong candidates, 0 to 1.

    Formula: ``1 - p_t``. 0 means certain and correct, 1 that the truth was given no probability or not considered. NaN
    where not attempted or where the target has no true match.

    >>> incorrectness(Candidates.from_matrix([[0.75, 0.25]]), [0])
    array([0.25])
    """
    return defined_with_truth(guess, truth, 1 - truth_probability(guess, truth))


@metric(per="target", **FACTS)
def mean_squared_error(guess: Candidates, truth: Truth) -> FloatArray:
    """Return the mean squared error of the estimate over candidates, 0 to 1.

    Formula: ``(1 - 2 * p_t + sum(p ** 2)) / c``; a truth that was not considered is added with probability 0. 0 means
    sure and right; 1 is the worst (two candidates, sure and wrong). NaN where not attempted or where the target has no
    true match.

    >>> mean_squared_error(Candidates.from_matrix([[0.5, 0.5]]), [0])
    array([0.25])
    """
    count = considered_count(guess) + ~considered_truth(guess, truth)
    squared = 1 - 2 * truth_probability(guess, truth) + guess.summary.squares
    return defined_with_truth(guess, truth, np.maximum(0.0, squared) / np.maximum(count, 1))


@metric(per="release", chance_of_success=True, **FACTS)
def incorrectly_classified(guess: Candidates, truth: Truth) -> float:
    """Return the share of all targets that were attempted and matched wrongly.

    Formula: ``#(attempted and wrong) / n`` over the n targets with a true match; a fraction, not a percentage. 0 means
    no wrong match, which an attacker also reaches who attempts nothing. NaN where no target has a true match.

    >>> incorrectly_classified(Candidates.from_matrix([[0.75, 0.25], [1.0, 0.0]]), [0, 1])
    0.5
    """
    somebody = numbers(guess, truth) != NOBODY
    if not somebody.any():
        return float("nan")
    wrong = np.where(guess.attempted & somebody, 1 - correct(guess, truth), 0.0)
    return float(wrong.sum() / somebody.sum())


@metric(per="release", **(FACTS | {"source": "Guo, Pleiss, Sun & Weinberger (2017), groups of equal size"}))
def expected_calibration_error(guess: Candidates, truth: Truth, *, bins: int = BINS) -> float:
    """Return the gap between confidence and accuracy, 0 to 1.

    Formula: ``sum(size * |mean(p_chosen) - share right|) / #attempted`` over groups of attempted targets: sorted by the
    probability of the choice, they are cut into ``bins`` groups (15) of about the same size. 0 means that probabilities
    are what they say, 1 that the attacker is sure and never right, or right about what it held impossible. Where it is
    large, no metric of the probabilities says how private a target is. With few targets chance alone makes it large.
    Targets of the same probability share their successes evenly; an attempt on a target without a true match is a
    failed one. NaN where no target was attempted.

    >>> expected_calibration_error(Candidates.from_matrix([[0.75, 0.25], [0.75, 0.25]]), [0, 1])
    0.25
    """
    whole_number(bins, "bins", at_least=1)
    tried = guess.attempted
    return calibration_error(choice_probability(guess)[tried], correct(guess, truth)[tried], bins)
