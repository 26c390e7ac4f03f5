"""Re-identification attacks on masked records, and their validity under the masking."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from unveil.questions.reidentify.findings import ReidentifyFindings
from unveil.questions.reidentify.read import inputs_of, reidentify_sample
from unveil.questions.reidentify.run import run
from unveil.questions.reidentify.settings import ReidentifySettings
from unveil.questions.reidentify.view import VIEW
from unveil.questions.request import Request, Response
from unveil.questions.result import Result, randomness
from unveil.questions.settings import takes_settings
from unveil.report.progress import Progress, silent


@takes_settings(ReidentifySettings)
def reidentify(
    original: Any,
    released: Any = None,
    settings: ReidentifySettings | None = None,
    *,
    rng: np.random.Generator | None = None,
    progress: Progress = silent,
    notes: Sequence[str] = (),
    **changes: Any,
) -> Result[ReidentifyFindings]:
    """Run re-identification attacks and check their validity under the masking.

    Parameters
    ----------
    original
        The people: any DataFrame, list of dicts or mapping of columns, a `Table`, or the path of a file.
    released
        The release, in the same forms (then with ``truth``), or a `Release`. None if ``method`` makes it.
    settings
        All settings as one object; keywords replace single ones. ``method`` and ``attacks`` are objects,
        or their notation (``"rank-swapping:p=10"``); a declared method may also use the notation of sdcMicro or ARX.
        ``truth`` may be an array with the original row of each released row, counted from 0, and -1 for none.
    rng
        Random generator, instead of ``seed``.
    progress, notes
        Called with the name of a step and the share of work done. Notes for the report.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": range(20, 60), "income": [7 * k % 41 for k in range(40)]})
    >>> answer = reidentify(people, method="rank-swapping:p=10", attacks=["intersection", "intersection:p=5"])
    >>> [attacked.is_valid for attacked in answer.findings.attacks]
    [True, False]
    """
    asked = ReidentifySettings.merge(settings, changes)
    rng, seed = randomness(rng, asked.seed)
    inputs = inputs_of(original, released, asked, rng=rng, progress=progress, notes=notes)
    found = run(inputs, rng=rng, progress=progress, pairs=asked.max_pairs, matchings=asked.samples)
    return Result(found, VIEW, seed)


def ask(request: Request) -> Response:
    """Answer a request of a front end."""
    settings = ReidentifySettings.of_request(request)
    original = reidentify_sample() if request.sample else settings.original
    answer = reidentify(original, settings.released, settings, progress=request.progress)
    return Response(answer=answer)
