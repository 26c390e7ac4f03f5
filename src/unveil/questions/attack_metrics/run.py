"""The question about candidates measured: a guess and perhaps a truth in, findings out."""

from collections.abc import Sequence

import numpy as np

from unveil._kernels.types import IntArray
from unveil.guesses import Candidates
from unveil.guesses.candidates import NOBODY
from unveil.metrics import MetricValue, all_metrics
from unveil.metrics.candidates.matches import matches
from unveil.questions.attack_metrics.findings import CandidatesFindings, ReferenceValues
from unveil.report.progress import Progress


def run(
    guess: Candidates,
    truth: IntArray | None,
    *,
    metrics: Sequence[str],
    progress: Progress,
    notes: Sequence[str],
) -> CandidatesFindings:
    """Return how much the adversary knows, and how often it is right; see :func:`unveil.candidates`."""
    progress("measuring", 0.0)
    measured = all_metrics(guess, truth)
    progress("measuring what others would know", 0.4)
    return CandidatesFindings(
        matches=matches(guess, truth),
        measured=measured,
        ends=ends_of(guess, truth),
        metrics=tuple(metrics),
        notes=tuple(notes),
    )


def ends_of(guess: Candidates, truth: IntArray | None) -> dict[str, ReferenceValues]:
    """Return what each metric is for an adversary who picks blindly and for one who knows all, by its name."""
    blind, sure = (_means(all_metrics(other, truth)) for other in (blind_of(guess), sure_of(guess, truth)))
    return {name: ReferenceValues(blind[name], sure[name]) for name in blind}


def _means(measured: Sequence[MetricValue]) -> dict[str, float]:
    return {each.metric.name: each.mean for each in measured}


def blind_of(guess: Candidates) -> Candidates:
    """Return the guess of somebody to whom all candidates of an attempted target are alike.

    >>> blind_of(Candidates.from_matrix([[0.75, 0.25]])).probability
    array([0.5, 0.5])
    """
    number = np.where(guess.attempted, guess.considered, 0)
    kept = np.repeat(guess.attempted, guess.considered)
    start = np.concatenate([[0], np.cumsum(number)])
    return Candidates(start, guess.candidate[kept], np.repeat(1 / np.maximum(number, 1), number))


def sure_of(guess: Candidates, truth: IntArray | None) -> Candidates:
    """Return the guess of somebody who knows the true candidate of every target, and considers the same others.

    Without a truth it is the first candidate of each target that was attempted: metrics that need none see no
    difference. A target that stands for nobody is not attempted.

    >>> sure_of(Candidates.from_matrix([[0.75, 0.25], [1.0, 0.0]]), np.array([1, -1])).probability
    array([0., 1.])
    """
    first = np.minimum(guess.start[:-1], max(guess.candidate.size - 1, 0))
    right = np.where(guess.attempted, guess.candidate[first] if guess.candidate.size else 0, NOBODY)
    right = right.astype(np.int64) if truth is None else truth
    entry = guess.entry_of(right)
    # Whoever was not on the list stands alone on that of somebody who knows.
    listed = (right != NOBODY) & (entry >= 0)
    number = np.where(listed, guess.considered, (right != NOBODY).astype(np.int64))
    start = np.concatenate([[0], np.cumsum(number)])
    candidate = np.repeat(right, number)
    kept = np.repeat(listed, number)
    candidate[kept] = guess.candidate[np.repeat(listed, guess.considered)]
    return Candidates(start, candidate, (candidate == np.repeat(right, number)).astype(np.float64))
