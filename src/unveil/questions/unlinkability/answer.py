"""Unlinkability of subjects' items in an attacker's partition."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from unveil.questions.request import Request, Response
from unveil.questions.result import Result, randomness
from unveil.questions.settings import takes_settings
from unveil.questions.unlinkability.findings import PartitionFindings
from unveil.questions.unlinkability.read import inputs_of
from unveil.questions.unlinkability.run import run
from unveil.questions.unlinkability.settings import PartitionSettings
from unveil.questions.unlinkability.view import VIEW
from unveil.report.progress import Progress, silent


@takes_settings(PartitionSettings)
def unlinkability(
    guess: Any,
    truth: Any,
    settings: PartitionSettings | None = None,
    *,
    rng: np.random.Generator | None = None,
    progress: Progress = silent,
    notes: Sequence[str] = (),
    **changes: Any,
) -> Result[PartitionFindings]:
    """Measure how well subjects' items stay unlinked in a guess.

    Parameters
    ----------
    guess, truth
        Partitions of the same items, or labels, one per item; the guess may be a view. Or files with the columns
        ``item`` and ``cluster``; several guesses as a list of paths, or as a mapping from path to probability.
    settings
        All settings as one object; keywords replace single ones. ``alpha``, ``beta`` and
        ``contamination_desirable`` may have one value per subject, ``weights`` and ``merge_rates`` may be mappings, and
        ``prior`` a partition or a view.
    rng
        Random generator, instead of ``seed``.
    progress
        Called with the name of a step and the share of work done.
    notes
        Notes for the report.

    Examples
    --------
    >>> answer = unlinkability(guess=["x", "x", "y", "y"], truth=["Alice", "Alice", "Bob", "Alice"])
    >>> answer.quantities["breached_share"].value, answer.seed
    (0.5, 0)
    """
    asked = PartitionSettings.merge(settings, changes)
    progress("reading", 0.0)
    inputs = inputs_of(guess, truth, asked)
    rng, seed = randomness(rng, asked.seed)
    found = run(*inputs[:3], rng=rng, progress=progress, notes=(*notes, *inputs.notes))
    return Result(found, VIEW, seed)


def ask(request: Request) -> Response:
    """Answer a request of a front end."""
    from unveil.data import samples

    settings = PartitionSettings.of_request(request)
    if request.sample:
        truth = samples.path("partition_truth.csv")
        guess: Any = samples.path(f"partition_guess_{settings.adversary}.csv")
    else:
        truth, guess = settings.truth, _with_chances(settings.guesses, settings.probabilities)
    prior = _with_chances(settings.prior, settings.prior_probabilities)
    answer = unlinkability(guess, truth, settings, prior=prior, progress=request.progress)
    return Response(answer=answer, on_page={"top": settings.top})


def _with_chances(files: Sequence[Any], chances: Sequence[Any]) -> list[Any]:
    """Return each file with its probability, or with none where none was given."""
    return list(zip(files, (*chances, *[None] * len(files)), strict=False))
