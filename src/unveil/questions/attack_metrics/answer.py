"""Who is it? How much does the adversary know about each target, and how often is it right?"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from unveil._kernels.types import IntArray
from unveil.guesses import Candidates
from unveil.guesses.candidates import NOBODY
from unveil.metrics import MetricValue, all_metrics
from unveil.metrics.candidates.matches import matches
from unveil.questions.answer import Answer
from unveil.questions.attack_metrics.findings import CandidatesFindings, ReferenceValues, check_metrics
from unveil.questions.attack_metrics.read import read
from unveil.questions.attack_metrics.view import VIEW, brief
from unveil.questions.request import Request, Response
from unveil.report.progress import Progress, silent


def candidates(
    guess: Any,
    truth: Any = None,
    *,
    metrics: Sequence[str] = (),
    progress: Progress = silent,
    notes: Sequence[str] = (),
) -> Answer[CandidatesFindings]:
    """Return how much the adversary knows about each target, and how often it is right.

    Parameters
    ----------
    guess
        Candidates, or a dense or sparse matrix of probabilities with one row per target and one column per candidate.
    truth
        The true candidate of each target: one number per target (-1 for nobody), or a mapping from target name to
        candidate name (None for nobody). Without it, only what needs no truth is measured.
    metrics
        The names of the metrics to show; all unless given.
    progress
        Called with the name of a step and the share of it that is done.
    notes
        Sentences to carry into the report.

    Examples
    --------
    >>> answer = candidates([[0.9, 0.1], [0.5, 0.5]], truth=[0, 1])
    >>> answer.findings.matches.correct, round(answer.quantities["entropy"].value, 3)
    (1.5, 0.734)
    """
    check_metrics(metrics, has_truth=truth is not None)
    guess = guess if isinstance(guess, Candidates) else Candidates.from_matrix(guess)
    known = None if truth is None else guess.truth_from(truth)
    return Answer(_run(guess, known, metrics=metrics, progress=progress, notes=notes), VIEW)


def candidates_files(
    guess: str | Path,
    truth: str | Path | None = None,
    *,
    target: str = "target",
    candidate: str = "candidate",
    probability: str = "probability",
    normalise: bool = False,
    drop_unmatched: bool = False,
    metrics: Sequence[str] = (),
    progress: Progress = silent,
) -> Answer[CandidatesFindings]:
    """Return how much the adversary of the file ``guess`` knows, and by the file ``truth`` how often it is right.

    Parameters
    ----------
    guess
        CSV or Parquet with the columns ``target``, ``candidate`` and ``probability`` (renamed by the arguments of that
        name), one row for each candidate of a target.
    truth
        CSV or Parquet with ``target`` and ``candidate``; an empty candidate is a target that stands for nobody, and a
        target that is not in the guess was not attempted.
    normalise
        Divide the probabilities of each target by their sum; a target with nothing but 0 was not attempted.
    drop_unmatched
        Leave out targets of the guess that the truth does not name, instead of refusing.
    metrics, progress
        As in :func:`unveil.candidates`.
    """
    check_metrics(metrics, has_truth=truth is not None)
    inputs = read(
        guess,
        truth,
        target=target,
        candidate=candidate,
        probability=probability,
        normalise=normalise,
        drop_unmatched=drop_unmatched,
        progress=progress,
    )
    return Answer(_run(inputs.guess, inputs.truth, metrics=metrics, progress=progress, notes=inputs.notes), VIEW)


def ask(request: Request) -> Response:
    """Return the answer to what was asked through a door."""
    from unveil.data import samples

    answer = candidates_files(
        samples.path("candidates_guess.csv") if request.sample else request.required_path("guess"),
        samples.path("candidates_truth.csv") if request.sample else request.path("truth"),
        progress=request.progress,
        **request.pick("target", "candidate", "probability", "normalise", "drop_unmatched", "metrics"),
    )
    return Response(answer=answer, brief=lambda: list(brief(answer.findings)))


# Measure a guess, and compare it with the truth where that is known.


def _run(
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
