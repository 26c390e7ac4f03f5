"""Reliability of privacy metrics: monotonicity in attacker strength, evenness, shared range."""

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
    """Grade the reliability of metrics in one or several studies.

    Parameters
    ----------
    folders
        The folders of the studies, which are graded together; they may still be running.
    settings
        All settings as one object; keywords replace single ones. ``suites`` may hold `Suite` objects.
    rng
        Random generator, instead of ``seed``, for the search of suites.
    progress
        Called with the name of a step and the share of work done.
    """
    asked = GradesSettings.merge(settings, changes)
    rng, seed = randomness(rng, asked.seed)
    of = cast("GradedValues", asked.unit)
    inputs = read(folders, asked.suites, of=of, progress=progress)
    findings = run(
        **inputs._asdict(),
        details=asked.details,
        suite_needs=asked.criteria,
        of=of,
        case=asked.case,
        interactions=asked.interactions,
        level=float(asked.significance),
        strict=asked.strict,
        rng=rng,
        progress=progress,
    )
    return Result(findings, VIEW, seed)


def ask(request: Request) -> Response:
    """Answer a request of a front end."""
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
