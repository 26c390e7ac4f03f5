"""Privacy metrics of an attack: uncertainty, and success against the truth."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unveil._kernels.types import IntArray
from unveil.guesses import Candidates
from unveil.guesses.candidates import NOBODY
from unveil.metrics import MetricValue, all_metrics
from unveil.metrics.candidates.matches import matches
from unveil.questions.attack_metrics.findings import CandidatesFindings, ReferenceValues, check_metrics
from unveil.questions.attack_metrics.read import read
from unveil.questions.attack_metrics.settings import CandidatesSettings
from unveil.questions.attack_metrics.view import VIEW
from unveil.questions.request import Request, Response
from unveil.questions.result import Result
from unveil.questions.settings import takes_settings
from unveil.report.progress import Progress, silent


@takes_settings(CandidatesSettings)
def attack_metrics(
    guess: Any,
    truth: Any = None,
    settings: CandidatesSettings | None = None,
    *,
    progress: Progress = silent,
    notes: Sequence[str] = (),
    **changes: Any,
) -> Result[CandidatesFindings]:
    """Compute privacy metrics from an attack's candidates and the truth.

    Parameters
    ----------
    guess
        Candidates; a dense or sparse matrix of probabilities with one row per target and one column per candidate; or
        the path of a CSV or Parquet file with one row for each candidate of a target.
    truth
        The true candidate of each target: one number per target (-1 for none), a mapping from target name to
        candidate name (None for none), or the path of a file with both columns, where an empty candidate means none.
        Without it, only metrics that need no truth are computed.
    settings
        All settings as one object; keywords replace single ones.
    progress
        Called with the name of a step and the share of work done.
    notes
        Notes for the report.

    Examples
    --------
    >>> answer = attack_metrics([[0.9, 0.1], [0.5, 0.5]], truth=[0, 1])
    >>> answer.findings.matches.correct, round(answer.quantities["entropy"].value, 3)
    (1.5, 0.734)
    """
    asked = CandidatesSettings.merge(settings, changes)
    check_metrics(asked.metrics, has_truth=truth is not None)
    if isinstance(guess, str | os.PathLike):
        guess, truth, read_notes = read(Path(guess), truth, asked, progress=progress)
        notes = (*notes, *read_notes)
    guess = guess if isinstance(guess, Candidates) else Candidates.from_matrix(guess)
    known = None if truth is None else guess.truth_from(truth)
    return Result(_run(guess, known, metrics=asked.metrics, progress=progress, notes=notes), VIEW, asked.seed)


def ask(request: Request) -> Response:
    """Answer a request of a front end."""
    from unveil.data import samples

    settings = CandidatesSettings.of_request(request)
    answer = attack_metrics(
        samples.path("candidates_guess.csv") if request.sample else settings.guess,
        samples.path("candidates_truth.csv") if request.sample else settings.truth,
        settings,
        progress=request.progress,
    )
    return Response(answer=answer)


# Measure a guess, and compare it with the truth where that is known.


def _run(
    guess: Candidates,
    truth: IntArray | None,
    *,
    metrics: Sequence[str],
    progress: Progress,
    notes: Sequence[str],
) -> CandidatesFindings:
    """Compute privacy metrics of a guess; see :func:`unveil.attack_metrics`."""
    progress("measuring", 0.0)
    measured = all_metrics(guess, truth)
    progress("measuring the baselines", 0.4)
    return CandidatesFindings(
        matches=matches(guess, truth),
        measured=measured,
        ends=ends_of(guess, truth),
        metrics=tuple(metrics),
        notes=tuple(notes),
    )


def ends_of(guess: Candidates, truth: IntArray | None) -> dict[str, ReferenceValues]:
    """Return each metric for random guessing and for perfect knowledge."""
    blind, sure = (_means(all_metrics(other, truth)) for other in (blind_of(guess), sure_of(guess, truth)))
    return {name: ReferenceValues(blind[name], sure[name]) for name in blind}


def _means(measured: Sequence[MetricValue]) -> dict[str, float]:
    return {each.metric.name: each.mean for each in measured}


def blind_of(guess: Candidates) -> Candidates:
    """Return a guess with equal probabilities for all candidates.

    >>> blind_of(Candidates.from_matrix([[0.75, 0.25]])).probability
    array([0.5, 0.5])
    """
    number = np.where(guess.attempted, guess.considered, 0)
    kept = np.repeat(guess.attempted, guess.considered)
    start = np.concatenate([[0], np.cumsum(number)])
    return Candidates(start, guess.candidate[kept], np.repeat(1 / np.maximum(number, 1), number))


def sure_of(guess: Candidates, truth: IntArray | None) -> Candidates:
    """Return a guess with probability 1 for the true candidate.

    Without a truth it is the first candidate of each target that was attempted: metrics that need none see no
    difference. A target without an original is not attempted.

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
