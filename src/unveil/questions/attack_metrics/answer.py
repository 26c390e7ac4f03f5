"""Who is it? How much does the adversary know about each target, and how often is it right?"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unveil.guesses import Candidates
from unveil.questions.answer import Answer
from unveil.questions.attack_metrics.findings import CandidatesFindings, check_metrics
from unveil.questions.attack_metrics.read import read
from unveil.questions.attack_metrics.run import run
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
    return Answer(run(guess, known, metrics=metrics, progress=progress, notes=notes), VIEW)


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
    return Answer(run(inputs.guess, inputs.truth, metrics=metrics, progress=progress, notes=inputs.notes), VIEW)


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
