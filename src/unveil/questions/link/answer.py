"""Can records of the same person be linked, across rows, tables, releases and time?"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from unveil.questions.link.findings import LINKED, RECORDS_LINKED, LinkFindings
from unveil.questions.link.read import read
from unveil.questions.link.run import run
from unveil.questions.link.settings import LinkSettings
from unveil.questions.link.view import VIEW
from unveil.questions.request import Request, Response
from unveil.questions.result import Result, randomness
from unveil.questions.settings import takes_settings
from unveil.report.progress import Progress, silent

#: Where the parts of an answer draw their seeds from.
_ENTROPY = 2**32


@takes_settings(LinkSettings)
def link(
    *tables: Any,
    settings: LinkSettings | None = None,
    names: Sequence[str] = (),
    rng: np.random.Generator | None = None,
    progress: Progress = silent,
    **changes: Any,
) -> Result[LinkFindings]:
    """Return whether records of the same person can be linked under the pseudonyms of a release.

    Parameters
    ----------
    tables
        A table with several records per person, or several tables of the same people, each a period of its own: paths,
        frames of any library, or :class:`unveil.data.table.Table`.
    settings
        The settings below as one object; keywords change single ones. ``person`` is needed, and for one table
        ``lifetime``, ``period`` or ``pseudonym``.
    names
        What the tables are called.
    rng
        A source of randomness instead of ``seed``.
    progress
        Called with the name of a step and the share of all work that is done.

    Examples
    --------
    >>> days = [day for _ in range(24) for day in (1, 2, 9, 10)]
    >>> visits = {"card": [f"c{n // 4}" for n in range(96)], "day": days, "stop": [f"s{n // 4}" for n in range(96)]}
    >>> answer = link(visits, person="card", time="day", lifetime="7d", keep_identifiers=True)
    >>> answer.level, answer.findings.linked_people.records_linked.value
    ('high', 1.0)
    """
    asked = LinkSettings.merge(settings, changes)
    rng, seed = randomness(rng, asked.seed)
    progress("reading", 0.0)
    inputs = read(tables, asked, names=names, entropy=int(rng.integers(_ENTROPY)))
    return Result(run(inputs, progress=progress), VIEW, seed).with_limits(_held(asked, {}))


def _held(settings: LinkSettings, limits: Mapping[str, float]) -> dict[str, float]:
    """Return the limits with the threshold, which holds for both effects unless they have limits of their own."""
    if settings.threshold is None:
        return dict(limits)
    return {LINKED: settings.threshold, RECORDS_LINKED: settings.threshold, **limits}


def ask(request: Request) -> Response:
    """Return the answer to a request."""
    from unveil.data import samples

    settings = LinkSettings.of_request(request)
    paths = [samples.path("visits.csv")] if request.sample else list(settings.tables)
    names = [request.names.get(path, path.name) for path in paths]
    answer = link(*paths, settings=settings, names=names, progress=request.progress)
    limits = _held(settings, dict(request.values["limits"]))
    return Response(answer=answer.with_limits(limits), holds_limits=True)
