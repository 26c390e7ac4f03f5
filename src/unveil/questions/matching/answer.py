"""Matching attacks: expected number of resolved pseudonyms, with its accuracy."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unveil.questions.matching.ambiguity_view import AMBIGUITY_VIEW
from unveil.questions.matching.read import read
from unveil.questions.matching.run import run, run_without_truth
from unveil.questions.matching.settings import MatchingSettings
from unveil.questions.matching.view import VIEW
from unveil.questions.request import Request, Response
from unveil.questions.result import Result, randomness
from unveil.questions.settings import takes_settings
from unveil.report.progress import Progress, silent


@takes_settings(MatchingSettings)
def matching(
    guess: Any = None,
    truth: Any = None,
    settings: MatchingSettings | None = None,
    *,
    rng: np.random.Generator | None = None,
    progress: Progress = silent,
    notes: Sequence[str] = (),
    **changes: Any,
) -> Result[Any]:
    """Estimate how many pseudonyms an attacker resolves.

    Parameters
    ----------
    guess
        The attacker's knowledge: a matching or an unequal one, a distribution over matchings, or a matrix of weights
        (or its file) with one row per item and one column per pseudonym. None if ``frequency_ranges``, ``matchings`` or
        ``dataflow`` is given.
    truth
        The true pseudonym of each item, as numbers (-1 for none), as names, or as a file with the columns ``item`` and
        ``pseudonym``. Without it the result is the number of matchings left, and bounds on the resolved pseudonyms.
    settings
        All settings as one object; keywords replace single ones. ``equivalent`` may also be a sequence or a mapping,
        ``sets`` a mapping from name to items, and ``also`` may hold attacks, or pairs of a name and an attack.
    rng
        Random generator, instead of ``seed``.
    progress
        Called with the name of a step and the share of work done.
    notes
        Notes for the report.

    Examples
    --------
    >>> answer = matching([[1, 1, 0], [1, 1, 1], [0, 1, 1]], [0, 1, 2])
    >>> round(answer.findings.cracks.expected_cracks.value, 3), round(answer.quantities["d"].value, 3)
    (1.667, 0.613)
    >>> matching([[1, 1, 0], [1, 1, 1], [0, 1, 1]]).findings.ambiguity.permanent
    3
    """
    asked = MatchingSettings.merge(settings, changes)
    inputs = read(guess, truth, asked, progress=progress)
    rng, seed = randomness(rng, asked.seed)
    shared: dict[str, Any] = {
        "precision": asked.rel_error,
        "rng": rng,
        "progress": progress,
        "notes": (*notes, *inputs.notes),
        "releases": inputs.releases,
    }
    if inputs.truth is None:
        return Result(run_without_truth(inputs.guess, **shared), AMBIGUITY_VIEW, seed)
    return Result(run(inputs.guess, inputs.truth, groups=inputs.groups, sets=inputs.sets, **shared), VIEW, seed)


def ask(request: Request) -> Response:
    """Answer a request of a front end."""
    from unveil.data import samples

    settings = MatchingSettings.of_request(request)
    if request.sample:
        settings = replace(
            settings,
            also=(),
            frequency_ranges=samples.path("matching_ranges.csv"),
            transactions=samples.path("matching_transactions.csv"),
            truth=samples.path("matching_truth.csv"),
        )
    answer = matching(settings.matrix, settings.truth, settings, progress=request.progress)
    return Response(answer=answer, on_page={"top": settings.top})
