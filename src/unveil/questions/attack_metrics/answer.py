"""Who is it? How much does the adversary know about each target, and how often is it right?"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from unveil.guesses import Candidates
from unveil.questions.answer import Answer
from unveil.questions.attack_metrics.findings import CandidatesFindings, check_metrics
from unveil.questions.attack_metrics.read import read
from unveil.questions.attack_metrics.run import run
from unveil.questions.attack_metrics.settings import CandidatesSettings
from unveil.questions.attack_metrics.view import VIEW, brief
from unveil.questions.request import Request, Response
from unveil.questions.settings import takes_settings
from unveil.report.progress import Progress, silent


@takes_settings(CandidatesSettings)
def candidates(
    guess: Any,
    truth: Any = None,
    settings: CandidatesSettings | None = None,
    *,
    progress: Progress = silent,
    notes: Sequence[str] = (),
    **changes: Any,
) -> Answer[CandidatesFindings]:
    """Return how much the adversary knows about each target, and how often it is right.

    Parameters
    ----------
    guess
        Candidates; a dense or sparse matrix of probabilities with one row per target and one column per candidate; or
        the path of a CSV or Parquet file with one row for each candidate of a target.
    truth
        The true candidate of each target: one number per target (-1 for nobody), a mapping from target name to
        candidate name (None for nobody), or the path of a file with the columns of targets and candidates, where an
        empty candidate stands for nobody. Without it, only what needs no truth is measured.
    settings
        The settings below as one object; keywords change single ones.
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
    asked = CandidatesSettings.of(settings, changes)
    check_metrics(asked.metrics, has_truth=truth is not None)
    if isinstance(guess, str | os.PathLike):
        guess, truth, read_notes = read(Path(guess), truth, asked, progress=progress)
        notes = (*notes, *read_notes)
    guess = guess if isinstance(guess, Candidates) else Candidates.from_matrix(guess)
    known = None if truth is None else guess.truth_from(truth)
    return Answer(run(guess, known, metrics=asked.metrics, progress=progress, notes=notes), VIEW)


def ask(request: Request) -> Response:
    """Return the answer to a request."""
    from unveil.data import samples

    answer = candidates(
        samples.path("candidates_guess.csv") if request.sample else request.required_path("guess"),
        samples.path("candidates_truth.csv") if request.sample else request.path("truth"),
        CandidatesSettings.pick(request.values),
        progress=request.progress,
    )
    return Response(answer=answer, brief=lambda: list(brief(answer.findings)))
