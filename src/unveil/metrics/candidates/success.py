"""Attack success: precision and recall."""

from math import inf
from typing import Any

from unveil.errors import share
from unveil.guesses import Candidates
from unveil.guesses.candidates import NOBODY, Truth
from unveil.metrics._listing import metric
from unveil.metrics.candidates._truth import correct, numbers, truth_probability
from unveil.metrics.candidates.uncertainty import SOURCE

FACTS: dict[str, Any] = {"category": "success", "per": "release", "source": SOURCE, "chance_of_success": True}


@metric(more_means="less private", bounds=(0, 1), **FACTS)
def adversary_success_rate(guess: Candidates, truth: Truth) -> float:
    """Return the precision: the share of attempted targets matched correctly.

    Formula: ``sum(correct) / #attempted``. 0 means every attempt failed, 1 that none did. It is high for an attacker
    who attempts little and is right about that; see :func:`adversary_overall_success`. An attempt on a target without a
    true match is a failed one. It is never undefined: who attempts nothing succeeds in nothing, which is 0.

    >>> adversary_success_rate(Candidates.from_matrix([[1, 0], [0, 0]], normalize=True), [0, 1])
    1.0
    """
    attempts = int(guess.attempted.sum())
    return float(correct(guess, truth).sum() / attempts) if attempts else 0.0


@metric(more_means="less private", bounds=(0, 1), **FACTS)
def adversary_overall_success(guess: Candidates, truth: Truth) -> float:
    """Return the recall: the share of all targets matched correctly.

    Formula: ``sum(correct) / n`` over the n targets with a true match. 0 means none, 1 all. NaN where no target has a
    true match.

    >>> adversary_overall_success(Candidates.from_matrix([[1, 0], [0, 0]], normalize=True), [0, 1])
    0.5
    """
    somebody = int((numbers(guess, truth) != NOBODY).sum())
    return float(correct(guess, truth).sum() / somebody) if somebody else float("nan")


@metric(more_means="more private", bounds=(0, inf), **FACTS)
def hiding_property(guess: Candidates, *, threshold: float = 0.5, unattempted_hidden: bool = True) -> float:
    """Return the number of targets without a likely enough candidate.

    Formula: ``#{max p < threshold}``; a target that was not attempted counts as hidden, unless ``unattempted_hidden``
    is False. 0 means no target is hidden, the number of targets all. It is never undefined.

    >>> hiding_property(Candidates.from_matrix([[0.4, 0.3, 0.3], [0.9, 0.1, 0.0]]))
    1.0
    """
    share(threshold, "threshold")
    unsure = guess.attempted & (guess.summary.largest < threshold)
    return float((unsure | ~guess.attempted if unattempted_hidden else unsure).sum())


@metric(more_means="more private", bounds=(0, inf), **FACTS)
def user_specified_innocence(
    guess: Candidates, truth: Truth, *, threshold: float = 0.5, unattempted_innocent: bool = True
) -> float:
    """Return the number of targets whose true candidate is not likely enough.

    Formula: ``#{p_t < threshold}`` over the targets with a true match; one that was not attempted counts as innocent,
    unless ``unattempted_innocent`` is False. 0 means no target is innocent, the number of targets all. It is never
    undefined. (The source says it needs no ground truth; its formula does.)

    >>> user_specified_innocence(Candidates.from_matrix([[0.4, 0.6], [0.9, 0.1]]), [0, 0])
    1.0
    """
    share(threshold, "threshold")
    unlikely = guess.attempted & (truth_probability(guess, truth) < threshold)
    innocent = unlikely | ~guess.attempted if unattempted_innocent else unlikely
    return float((innocent & (numbers(guess, truth) != NOBODY)).sum())
