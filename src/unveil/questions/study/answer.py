"""Results of a study: attack success by attacker strength."""

import os
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from unveil._specification import without_own_code
from unveil.data.files.source import shown
from unveil.errors import InputError, did_you_mean
from unveil.questions.request import Request, Response
from unveil.questions.result import Result
from unveil.questions.settings import takes_settings
from unveil.questions.study.findings import usual_metrics
from unveil.questions.study.releases.run import run as run_releases
from unveil.questions.study.releases.view import VIEW as RELEASES_VIEW
from unveil.questions.study.run import run
from unveil.questions.study.settings import StudyRunSettings, StudySettings
from unveil.questions.study.view import VIEW
from unveil.report.progress import Progress, silent
from unveil.report.text import far
from unveil.studies import Results, Study, run_study
from unveil.studies.audit_columns import LINKED
from unveil.studies.example import example_folders

#: Asks for every metric of the study.
ALL = "all"


@takes_settings(StudySettings)
def study_report(folder: str | os.PathLike[str], settings: StudySettings | None = None, **changes: Any) -> Result[Any]:
    """Report the results of a study so far.

    A study of existing releases compares techniques by risk and utility; ``metrics`` is for all other studies.

    Parameters
    ----------
    folder
        Folder of its results; the study may still be running.
    settings
        All settings as one object; keywords replace single ones.
    """
    metrics = StudySettings.merge(settings, changes).metrics
    results = Results.read(folder)
    if results.study.kind == "release":
        _check_audited(results)
        return Result(run_releases(results), RELEASES_VIEW)
    return Result(run(results, _chosen(results, metrics)), VIEW)


def _check_audited(results: Results) -> None:
    """Reject results that are not those of audits."""
    if LINKED not in results.metrics:
        raise InputError(
            f"The report needs audits of the releases, but this study ran {results.study.attacks[0]!r}. Read its "
            f"numbers with unveil.studies.Results.read({shown(results.folder)}).frame"
        )


def _chosen(results: Results, names: Sequence[str]) -> tuple[str, ...]:
    if ALL in names:
        return tuple(dict.fromkeys([*(name for name in names if name != ALL), *results.metrics]))
    for name in names:
        if name not in results.metrics:
            hint = did_you_mean(name, results.metrics) or f" It has {', '.join(results.metrics)}."
            raise InputError(f"Unknown metric {name!r}.{hint} Leave it out, or name another")
    return tuple(dict.fromkeys(names)) or usual_metrics(results.metrics)


@takes_settings(StudyRunSettings)
def study_run(
    file: str | os.PathLike[str] | Study,
    out: str | os.PathLike[str],
    settings: StudyRunSettings | None = None,
    *,
    progress: Progress = silent,
    **changes: Any,
) -> Result[Any]:
    """Run a study into a folder, and report its results.

    Parameters
    ----------
    file
        The study: a TOML file, or a `Study`.
    out
        Folder for the results: a new one, or one of a study to resume.
    settings
        All settings as one object; keywords replace single ones.
    progress
        Called with the name of a step and the share of work done.
    """
    asked = StudyRunSettings.merge(settings, changes)
    plan = file if isinstance(file, Study) else Study.read(file)

    def move(done: int, total: int, left: float) -> None:
        progress(f"computing ({far(done, total, left)})", done / total)

    run_study(plan, out, progress=move, **asked.run)
    return study_report(out)


def ask(request: Request) -> Response:
    """Answer a request."""
    settings = StudySettings.of_request(request)
    with example_folders(request.progress) if request.sample else nullcontext(settings.folder) as folders:
        return _shown(study_report(folders[0], settings), sample=request.sample)


def ask_run(request: Request) -> Response:
    """Return what a study found, after it was run."""
    if request.sample:
        with example_folders(request.progress) as folders:
            return _shown(study_report(folders[0]), sample=True)
    settings = StudyRunSettings.of_request(request)
    with without_own_code():  # a page runs no code that a file names
        plan = Study.read(settings.file)
    return _shown(study_run(plan, settings.out[0], settings, progress=request.progress))


def _shown(answer: Result[Any], *, sample: bool = False) -> Response:
    if sample:  # its folder is gone when this is read
        name = Path(answer.findings.folder).name
        answer = replace(answer, findings=replace(answer.findings, folder=name, is_example=True))
    seed = {"seed": answer.findings.study.seed}
    return Response(answer=answer, on_page={"seed": None}, in_json=seed)
