"""Who is behind each masked row, and is the attack that says so valid under the masking used?"""

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
    """Return how far attacks on a masked release get, and which of them are valid under the masking used.

    Parameters
    ----------
    original
        The people: any DataFrame, list of dicts or mapping of columns, a `Table`, or the path of a file.
    released
        What was released of them, in the same forms (then with ``truth``), or a `Release`, which knows its truth and
        perhaps how it was made. None where ``protect`` makes it.
    settings
        The settings below as one object; keywords change single ones. ``protect`` and ``attacks`` are objects, or how
        they are written (``"rank-swapping:p=10"``); a method declared for a release may also be written as sdcMicro or
        ARX do. ``truth`` may be an array: for each released row the original one, counted from 0, and -1 for none.
    rng
        A source of randomness instead of ``seed``.
    progress, notes
        Called with the name of a step and the share done; sentences to carry into the report.

    Examples
    --------
    >>> import polars as pl
    >>> people = pl.DataFrame({"age": range(20, 60), "income": [7 * k % 41 for k in range(40)]})
    >>> answer = reidentify(people, protect="rank-swapping:p=10", attacks=["intersection", "intersection:p=5"])
    >>> [attacked.is_valid for attacked in answer.findings.attacks]
    [True, False]
    """
    asked = ReidentifySettings.merge(settings, changes)
    rng, seed = randomness(rng, asked.seed)
    inputs = inputs_of(original, released, asked, rng=rng, progress=progress, notes=notes)
    found = run(inputs, rng=rng, progress=progress, pairs=asked.pairs, matchings=asked.matchings)
    return Result(found, VIEW, seed)


def ask(request: Request) -> Response:
    """Return the answer to a request."""
    settings = ReidentifySettings.of_request(request)
    original = reidentify_sample() if request.sample else settings.original
    answer = reidentify(original, settings.released, settings, progress=request.progress)
    return Response(answer=answer)
