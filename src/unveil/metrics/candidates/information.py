"""Information metrics: the attacker's knowledge of the truth."""

from math import inf, log, log2
from typing import Any

import numpy as np

from unveil._kernels.types import FloatArray
from unveil.guesses import Candidates
from unveil.guesses.candidates import Truth
from unveil.metrics._listing import metric
from unveil.metrics.candidates._truth import (
    LEAST,
    binary_entropy,
    check_form,
    considered_count,
    considered_truth,
    correct,
    defined_with_truth,
    truth_probability,
)
from unveil.metrics.candidates.uncertainty import SOURCE, Form, conditional_entropy

FACTS: dict[str, Any] = {"category": "information gain or loss", "source": SOURCE}


@metric(per="release", more_means="less private", bounds=(0, inf), chance_of_success=True, **FACTS)
def amount_of_leaked_information(guess: Candidates, truth: Truth, *, at_least: float | None = None) -> float:
    """Return the number of targets matched correctly.

    Formula: ``sum(correct)``; with ``at_least``, the number of targets whose true candidate has that probability or
    more. 0 means none, the number of targets all. Where the most likely candidates tie and none was chosen, each counts
    by its chance. It is never undefined.

    >>> amount_of_leaked_information(Candidates.from_matrix([[0.9, 0.1], [0.5, 0.5]]), [0, 1])
    1.5
    """
    if at_least is None:
        return float(correct(guess, truth).sum())
    return float((defined_with_truth(guess, truth, truth_probability(guess, truth)) >= at_least).sum())


@metric(per="release", more_means="less private", bounds=(0, 1), affected_by_chunking=True, **FACTS)
def conditional_privacy_loss(guess: Candidates, truth: Truth, *, form: Form = "label") -> float:
    """Return the share of privacy that the estimate removes, over all targets.

    Formula: ``1 - 2 ** -I`` with I the mean of :func:`mutual_information`. 0 means nothing was learned; 1 is never
    reached. NaN where no target has mutual information.

    >>> round(conditional_privacy_loss(Candidates.from_matrix([[0.9, 0.1]]), [0]), 3)
    0.5
    """
    learned = _known(mutual_information(guess, truth, form=form))
    return float(1 - 2 ** -learned.mean()) if learned.size else float("nan")


@metric(
    per="target",
    more_means="more private",
    bounds=(0, -log2(LEAST)),
    printed_direction="less private",
    capped=True,
    **FACTS,
)
def information_surprisal(guess: Candidates, truth: Truth) -> FloatArray:
    """Return the surprisal of the true candidate, in bits.

    Formula: ``-log2(p_t)``, capped at 39.9 bits (a probability of 1e-12) where the truth was given none. 0 means the
    attacker was sure of the truth. More surprise is more private; the source prints the opposite for this metric, and
    the right direction for :func:`relative_entropy`, which is the same but for the unit. NaN where not attempted or
    where the target has no true match.

    >>> information_surprisal(Candidates.from_matrix([[0.25, 0.75]]), [0])
    array([2.])
    """
    bits = -np.log2(np.maximum(truth_probability(guess, truth), LEAST))
    return defined_with_truth(guess, truth, np.maximum(bits, 0.0))


@metric(per="release", more_means="less private", bounds=(0, inf), affected_by_chunking=True, **FACTS)
def loss_of_anonymity(guess: Candidates, truth: Truth, *, form: Form = "label") -> float:
    """Return the most that was learned about any target, in bits.

    Formula: the largest :func:`mutual_information`. 0 means nothing was learned about any person. NaN where no target
    has mutual information.

    >>> loss_of_anonymity(Candidates.from_matrix([[0.9, 0.1], [0.5, 0.5]]), [0, 0])
    1.0
    """
    learned = _known(mutual_information(guess, truth, form=form))
    return float(learned.max()) if learned.size else float("nan")


@metric(per="target", more_means="less private", bounds=(0, inf), affected_by_chunking=True, **FACTS)
def mutual_information(guess: Candidates, truth: Truth, *, form: Form = "label") -> FloatArray:
    """Return how much the estimate says about the true match, in bits.

    Formula: ``label`` form ``h(1 / c) - H(X|Y)`` with c candidates considered, ``prior`` form ``log2(c) - H``; see
    :func:`conditional_entropy`. 0 means nothing was learned, also where the truth was not considered (label form). In
    the label form a probability that no other candidate has tells all, even where the truth is ranked last: it is not
    monotonic. NaN where not attempted or where the target has no true match.

    >>> mutual_information(Candidates.from_matrix([[0.5, 0.5], [0.9, 0.1]]), [0, 0])
    array([0., 1.])
    """
    check_form(form)
    count = np.maximum(considered_count(guess), 1)
    left = conditional_entropy(guess, truth, form=form)
    if form == "prior":
        return np.maximum(0.0, np.log2(count) - left)
    learned = np.where(considered_truth(guess, truth), binary_entropy(1 / count), 0.0) - left
    return np.maximum(0.0, learned)


@metric(per="target", more_means="less private", bounds=(-1, 1), **FACTS)
def pearson_correlation(guess: Candidates, truth: Truth) -> FloatArray:
    """Return the correlation between estimate and true match, -1 to 1.

    Formula: ``(p_t - 1/c) / sqrt((sum(p ** 2) - 1/c) * (1 - 1/c))``. 1 means sure and right, 0 that all candidates are
    equally likely or that the truth was not considered, ``-1 / (c - 1)`` sure and wrong. With a single candidate it is
    1 if that is the truth, else 0. NaN where not attempted or where the target has no true match.

    >>> pearson_correlation(Candidates.from_matrix([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]), [0, 0])
    array([ 1. , -0.5])
    """
    count = np.maximum(considered_count(guess), 1)
    inside = considered_truth(guess, truth)
    alike = (guess.summary.ties == considered_count(guess)) | (guess.summary.spread == 0)
    spread = np.where(alike, 1.0, guess.summary.spread) * np.where(count > 1, 1 - 1 / count, 1.0)
    value = np.clip((truth_probability(guess, truth) - 1 / count) / np.sqrt(spread), -1.0, 1.0)
    value = np.where(alike, 0.0, value)
    return defined_with_truth(guess, truth, np.where(count == 1, 1.0, value) * inside)


@metric(per="target", more_means="more private", bounds=(0, -log(LEAST)), capped=True, **FACTS)
def relative_entropy(guess: Candidates, truth: Truth) -> FloatArray:
    """Return the divergence of the estimate from the true match, in nats.

    Formula: ``-ln(p_t)``, capped at 27.6 nats (a probability of 1e-12) where the truth was given none. 0 means sure and
    right. It is :func:`information_surprisal` in another unit. NaN where not attempted or where the target has no true
    match.

    >>> relative_entropy(Candidates.from_matrix([[1.0, 0.0]]), [0])
    array([0.])
    """
    return information_surprisal(guess, truth) * log(2)


def _known(values: FloatArray) -> FloatArray:
    return values[~np.isnan(values)]
