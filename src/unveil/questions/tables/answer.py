"""Audit of published tables: which suppressed cells can be recovered?"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from unveil.data.table.native import is_one_table
from unveil.errors import InputError
from unveil.questions.request import OutputFile, Request, Response
from unveil.questions.result import Result, randomness
from unveil.questions.settings import takes_settings
from unveil.questions.tables.findings import TablesFindings
from unveil.questions.tables.read import read
from unveil.questions.tables.run import run
from unveil.questions.tables.settings import MINIMUM, PROFILES, TablesSettings
from unveil.questions.tables.view import VIEW, profile_outcome
from unveil.report.progress import Progress, silent


@takes_settings(TablesSettings)
def tables(
    published: Any,
    microdata: Any = None,
    settings: TablesSettings | None = None,
    *,
    suppress: bool = False,
    names: Sequence[str] = (),
    rng: np.random.Generator | None = None,
    progress: Progress = silent,
    **changes: Any,
) -> Result[TablesFindings]:
    """Find the suppressed cells of published tables that can be recovered.

    Parameters
    ----------
    published
        One or several files or frames of counts: one row per cell with a column ``count``, or the codes of one
        variable in the header.
    microdata
        The microdata behind the tables, a file or a frame, to verify every interval.
    settings
        All settings as one object; keywords replace single ones. ``suppressed`` may map a text to a range such as
        ``(1, 4)`` or None, ``totals`` a variable to its codes, and ``rounding`` be a `Rounding`.
    suppress
        Whether to compute secondary suppression, ``result.findings.repair``.
    names
        Names of the tables.
    rng
        Random generator, instead of ``seed``.
    progress
        Called with the name of a step and the share of work done.

    Examples
    --------
    >>> answer = tables({"ward": ["N", "S", "W", "Total"], "count": ["*", "17", "12", "31"]})
    >>> answer
    <Result: 1 of 1 suppressed cell can be recovered exactly.>
    >>> answer.quantities["small_cells_recovered"].value
    1.0
    """
    given = [published] if not isinstance(published, list | tuple) or is_one_table(published) else list(published)
    asked = TablesSettings.merge(settings, changes)
    if asked.profile:
        least = PROFILES[asked.profile]
        if asked.min_cell not in (MINIMUM, least):
            raise InputError(
                f"Profile {asked.profile} sets the minimum to {least}, but {asked.min_cell} was given. Leave "
                "out the minimum"
            )
        asked = replace(asked, min_cell=least)
    rng, seed = randomness(rng, asked.seed)
    progress("reading", 0.0)
    inputs = read(given, asked, names=names)
    return Result(run(inputs, asked, microdata, suppress=suppress, rng=rng, progress=progress), VIEW, seed)


def repaired_text(findings: TablesFindings) -> str:
    """Return the tables with secondary suppression as CSV."""
    return "" if findings.repair is None else findings.repair.frame.write_csv()


def ask(request: Request) -> Response:
    """Answer a request of a front end."""
    from unveil.data import samples
    from unveil.data.files._spreadsheet import formula_warning, neutral_csv
    from unveil.data.files.write import write_text

    settings = TablesSettings.of_request(request)
    if request.sample:
        paths = [samples.path("tables_wards.csv"), samples.path("tables_minors.csv")]
        names = ["wards.csv", "minors.csv"]
    else:
        paths = list(settings.tables)
        names = [request.names.get(path, path.name) for path in paths]
    answer = tables(
        paths,
        settings.microdata,
        settings,
        suppress=settings.suppress is not None,
        names=names,
        progress=request.progress,
    )
    repair = answer.findings.repair
    broken, sentence = profile_outcome(answer.findings) if settings.profile else (False, "")
    return Response(
        answer=answer,
        outputs={
            "intervals": OutputFile(
                write=lambda path, **_: write_text(path, neutral_csv(answer.to_polars())),
                name="cells.csv",
                said="The feasibility interval of every suppressed cell is in {}, for internal use",
            ),
            "suppress": OutputFile(
                write=lambda path, **_: write_text(path, repaired_text(answer.findings), shared=True),
                name="suppressed.csv",
                said="The tables with secondary suppression are in {}",
                warning="" if repair is None else formula_warning(repair.frame),
            ),
            "redacted": OutputFile(
                write=lambda path, *, seed, **_: write_text(
                    path, answer.to_html(seed=seed, redacted=True), shared=True
                ),
                name="redacted.html",
                said="The redacted report is in {}",
            ),
        },
        exceeded=(sentence,) if broken else (),
        undecided=(sentence,) if broken is None else (),
    )
