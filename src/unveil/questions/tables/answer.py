"""What can be worked out from the tables of counts that are published?"""

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
    truth: Any = None,
    settings: TablesSettings | None = None,
    *,
    repair: bool = False,
    names: Sequence[str] = (),
    rng: np.random.Generator | None = None,
    progress: Progress = silent,
    **changes: Any,
) -> Result[TablesFindings]:
    """Return which hidden counts can be worked out from published tables, and how narrow the others have become.

    Parameters
    ----------
    published
        A file or a frame of counts, or several of them: one row for each cell and a column called count, or the codes
        of one variable in the header.
    truth
        The records behind the tables, a file or a frame: every range is held against them.
    settings
        The settings below as one object; keywords change single ones. ``hidden`` may map a text to a range such as
        ``(1, 4)`` or None, ``totals`` a variable to its codes, and ``round`` be a `Rounding`.
    repair
        Whether to look for further counts to hide: ``answer.findings.repair``.
    names
        What the tables are called.
    rng
        A source of randomness instead of ``seed``.
    progress
        Called with the name of a step and the share of all work that is done.

    Examples
    --------
    >>> answer = tables({"ward": ["N", "S", "W", "Total"], "count": ["*", "17", "12", "31"]})
    >>> answer
    <Result: 1 of 1 suppressed cell can be recovered exactly.>
    >>> answer.quantities["small_worked_out"].value
    1.0
    """
    given = [published] if not isinstance(published, list | tuple) or is_one_table(published) else list(published)
    asked = TablesSettings.merge(settings, changes)
    if asked.profile:
        least = PROFILES[asked.profile]
        if asked.minimum not in (MINIMUM, least):
            raise InputError(
                f"profile {asked.profile} sets the minimum to {least}, but it is {asked.minimum}. Leave it out"
            )
        asked = replace(asked, minimum=least)
    rng, seed = randomness(rng, asked.seed)
    progress("reading", 0.0)
    inputs = read(given, asked, names=names)
    return Result(run(inputs, asked, truth, repair=repair, rng=rng, progress=progress), VIEW, seed)


def repaired_text(findings: TablesFindings) -> str:
    """Return the repaired tables as CSV."""
    return "" if findings.repair is None else findings.repair.frame.write_csv()


def ask(request: Request) -> Response:
    """Return the answer to what was asked through a door."""
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
        settings.truth,
        settings,
        repair=settings.repair is not None,
        names=names,
        progress=request.progress,
    )
    repair = answer.findings.repair
    broken, sentence = profile_outcome(answer.findings) if settings.profile else (False, "")
    return Response(
        answer=answer,
        outputs={
            "cells": OutputFile(
                write=lambda path, **_: write_text(path, neutral_csv(answer.to_polars())),
                name="cells.csv",
                said="The range of every hidden count is in {}, for internal use",
            ),
            "repair": OutputFile(
                write=lambda path, **_: write_text(path, repaired_text(answer.findings), shared=True),
                name="repaired.csv",
                said="The tables with more hidden are in {}",
                warning="" if repair is None else formula_warning(repair.frame),
            ),
            "shareable": OutputFile(
                write=lambda path, *, seed, **_: write_text(
                    path, answer.to_html(seed=seed, edition="shareable"), shared=True
                ),
                name="shareable.html",
                said="The report to pass on is in {}",
            ),
        },
        exceeded=(sentence,) if broken else (),
        undecided=(sentence,) if broken is None else (),
    )
