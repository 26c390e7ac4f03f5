"""Which privacy metrics can be trusted: do they fall as adversaries grow, and do they tell cases apart?"""

import os
from contextlib import nullcontext
from typing import Any, cast

import numpy as np

from unveil.grades.grades import GradedValues
from unveil.questions.grade_metrics.findings import GradesFindings
from unveil.questions.grade_metrics.read import read
from unveil.questions.grade_metrics.run import run
from unveil.questions.grade_metrics.settings import GradesSettings
from unveil.questions.grade_metrics.view import VIEW
from unveil.questions.request import OutputFile, Request, Response
from unveil.questions.result import Result, randomness
from unveil.questions.settings import takes_settings
from unveil.report.progress import Progress, silent


@takes_settings(GradesSettings)
def grade_metrics(
    *folders: str | os.PathLike[str],
    settings: GradesSettings | None = None,
    rng: np.random.Generator | None = None,
    progress: Progress = silent,
    **changes: Any,
) -> Result[GradesFindings]:
    """Return which metrics of one or several studies can be trusted, and how far.

    Parameters
    ----------
    folders
        The folders of the studies, which are graded together; they may still be running.
    settings
        The settings below as one object; keywords change single ones. ``suites`` may hold `Suite` objects.
    rng
        A source of randomness instead of ``seed``, for the search for better suites.
    progress
        Called with the name of a step and the share of all work that is done.
    """
    asked = GradesSettings.merge(settings, changes)
    rng, seed = randomness(rng, asked.seed)
    of = cast("GradedValues", asked.of)
    inputs = read(folders, asked.suites, of=of, progress=progress)
    findings = run(
        **inputs._asdict(),
        details=asked.details,
        suite_needs=asked.suite_needs,
        of=of,
        case=asked.case,
        level=float(asked.significance),
        strict=asked.strict,
        rng=rng,
        progress=progress,
    )
    return Result(findings, VIEW, seed)


def ask(request: Request) -> Response:
    """Return the answer to a request."""
    from unveil.data.files.write import write_text
    from unveil.questions.grade_metrics.view import to_latex
    from unveil.studies.example import example_folders

    settings = GradesSettings.of_request(request)
    with example_folders(request.progress) if request.sample else nullcontext(settings.folder) as folders:
        answer = grade_metrics(*folders, settings=settings, progress=request.progress)
        return Response(
            answer=answer,
            outputs={
                "latex": OutputFile(
                    # For a paper; it tells of metrics, not of people.
                    write=lambda path, **_: write_text(path, to_latex(answer.findings), shared=True),
                    name="grades.tex",
                    said="The tables are in {}",
                )
            },
        )
