"""The truth in the form that candidate metrics need."""

import numpy as np
from numpy.typing import ArrayLike

from unveil._kernels.candidates import count_equal
from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.errors import InputError
from unveil.guesses.candidates import NOBODY, Candidates, Truth

# Where the truth was given no probability, surprise is infinite; it is capped at the surprise of this probability.
LEAST = 1e-12


def defined(guess: Candidates, values: ArrayLike) -> FloatArray:
    """Return the values with NaN for targets that have no probabilities."""
    return np.where(guess.believed, values, np.nan)


def defined_with_truth(guess: Candidates, truth: Truth, values: ArrayLike) -> FloatArray:
    """Return the values, NaN for targets without probabilities or match."""
    return np.where(guess.believed & (numbers(guess, truth) != NOBODY), values, np.nan)


def numbers(guess: Candidates, truth: Truth) -> IntArray:
    """Return the true candidate of each target, checked."""
    return guess.truth_from(truth)


def considered_truth(guess: Candidates, truth: Truth) -> BoolArray:
    """Return whether the true candidate is among those considered."""
    known = numbers(guess, truth)
    return (guess.entry_of(known) >= 0) | guess.is_other(known)


def considered_count(guess: Candidates) -> IntArray:
    """Return the number of candidates considered, listed or not."""
    return guess.considered + guess.others


def truth_probability(guess: Candidates, truth: Truth) -> FloatArray:
    """Return the probability of the true candidate; 0 if not considered."""
    known = numbers(guess, truth)
    return _probability_at(guess, guess.entry_of(known)) + np.where(guess.is_other(known), guess.each_other, 0.0)


def _probability_at(guess: Candidates, entry: IntArray) -> FloatArray:
    if guess.probability.size == 0:
        return np.zeros(entry.size)
    return np.where(entry >= 0, guess.probability[np.maximum(entry, 0)], 0.0)


def choice_probability(guess: Candidates) -> FloatArray:
    """Return the probability of the chosen or most likely candidate."""
    return guess.summary.largest if guess.chosen is None else _probability_at(guess, guess.entry_of(guess.chosen))


def tied_with_truth(guess: Candidates, truth: Truth) -> IntArray:
    """Return the number of candidates as probable as the true one."""
    value = truth_probability(guess, truth)
    return count_equal(guess.start, guess.probability, value) + np.where(guess.each_other == value, guess.others, 0)


def correct(guess: Candidates, truth: Truth) -> FloatArray:
    """Return whether each target's match is correct: 1, 0, or a probability.

    Ties among the most likely candidates give a probability.

    A target that was not attempted or has no true match is 0.
    """
    known = numbers(guess, truth)
    if guess.chosen is not None:
        right = (guess.chosen == known).astype(np.float64)
    else:
        likely = truth_probability(guess, truth)
        best = (likely > 0) & (likely == guess.summary.largest)
        right = np.where(best, 1 / np.maximum(guess.summary.ties, 1), 0.0)
    return np.where(guess.attempted & (known != NOBODY), right, 0.0)


def binary_entropy(share: ArrayLike) -> FloatArray:
    """Return the entropy of a binary event, in bits.

    >>> binary_entropy([0.0, 0.5, 1.0])
    array([0., 1., 0.])
    """
    p = np.asarray(share, np.float64)
    inner = np.where((p > 0) & (p < 1), p, 0.5)
    return np.where((p > 0) & (p < 1), -inner * np.log2(inner) - (1 - inner) * np.log2(1 - inner), 0.0)


def check_form(form: str) -> None:
    """Refuse a form of mutual information that is neither."""
    if form not in ("label", "prior"):
        raise InputError(f"Unknown form {form!r}. Use 'label' or 'prior'")
