"""Which privacy metrics can be trusted: do they fall as adversaries grow, and do they tell cases apart?"""

import os
from collections.abc import Sequence
from contextlib import nullcontext

import numpy as np

from unveil.grades.grades import GradedValues
from unveil.grades.suites import Suite
from unveil.questions.answer import Answer, randomness
from unveil.questions.grade_metrics.findings import GradesFindings
from unveil.questions.grade_metrics.read import read
from unveil.questions.grade_metrics.run import run
from unveil.questions.grade_metrics.view import VIEW, brief
from unveil.questions.request import OutputFile, Request, Response
from unveil.report.progress import Progress, silent


def grade_metrics(
    *folders: str | os.PathLike[str],
    details: Sequence[str] = (),
    suites: Sequence[Suite | str] = (),
    suite_needs: Sequence[str] = (),
    of: GradedValues = "both",
    case: str = "",
    level: float = 0.05,
    strict: bool = False,
    rng: np.random.Generator | None = None,
    progress: Progress = silent,
) -> Answer[GradesFindings]:
    """Return which metrics of one or several studies can be trusted, and how far.

    Parameters
    ----------
    folders
        The folders of the studies, which are graded together; they may still be running.
    details
        What to show level by level: a metric, or a metric, an ``@`` and words of a case, such as
        ``pearson_correlation@manufacturing,NS``. Three that tell something unless given.
    suites
        Suites of your own, or how they are written, such as ``mine:entropy=0.5,pearson_correlation=0.5``.
    suite_needs
        What suites must tell that are searched for: "chance", "level", "resources" or "aspects".
    of
        What is graded: "means" over targets, values of "nodes" (for metrics that have some), or "both": verdicts from
        means, and evenness and range of nodes beside those of means.
    case
        Words of a case, such as ``elections,hrg-dp,JLSB``, that is shown with all scores of a suite and its metrics.
    level
        A test is significant where its p value is below this.
    strict
        Whether a change in the wrong direction counts against a metric even where it is not significant.
    rng
        Where the search for better suites begins; unless given with seed 0, and the answer says so.
    progress
        Called with the name of a step and the share of all work that is done.

    Raises
    ------
    InputError
        If a folder holds no study or a study without results, if a detail, a case or a suite is none, or if values of
        nodes are asked for and no study kept them.
    """
    rng, seed = randomness(rng)
    inputs = read(folders, suites, of=of, progress=progress)
    findings = run(
        **inputs._asdict(),
        details=details,
        suite_needs=suite_needs,
        of=of,
        case=case,
        level=level,
        strict=strict,
        rng=rng,
        progress=progress,
    )
    return Answer(findings, VIEW, seed)


def ask(request: Request) -> Response:
    """Return the answer to what was asked through a door."""
    from unveil.data.files.write import write_text
    from unveil.questions.grade_metrics.view import to_latex
    from unveil.studies.example import example_folders

    values = request.values
    with example_folders(request.progress) if request.sample else nullcontext(values["folder"]) as folders:
        answer = grade_metrics(
            *folders,
            **request.pick("details", "suites", "suite_needs", "of", "case", "strict"),
            level=float(values["significance"]),
            rng=request.rng,
            progress=request.progress,
        )
        return Response(
            answer=answer,
            brief=lambda: list(brief(answer.findings, with_details=bool(values["details"]))),
            outputs={
                "latex": OutputFile(
                    # For a paper; it tells of metrics, not of people.
                    write=lambda path, **_: write_text(path, to_latex(answer.findings), shared=True),
                    name="grades.tex",
                    said="The tables are in {}",
                )
            },
        )
