"""What did a study find: how far do attacks get, as adversaries know more?"""

import os
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from unveil._specification import without_own_code
from unveil.attacks import ATTACKS
from unveil.data.files.source import shown
from unveil.errors import InputError, did_you_mean, shortened
from unveil.protections import PROTECTIONS
from unveil.questions.answer import Answer
from unveil.questions.study.findings import StudyFindings, usual_metrics
from unveil.questions.study.releases.run import run as run_releases
from unveil.questions.study.releases.view import VIEW as RELEASES_VIEW
from unveil.questions.study.releases.view import brief as brief_of_releases
from unveil.questions.study.run import run
from unveil.questions.study.view import VIEW, brief
from unveil.questions.told import AskedError, Reply, Told
from unveil.report.studies import far
from unveil.studies import Results, Study, run_study
from unveil.studies._parts import SCENARIOS
from unveil.studies._toml import AS_GIVEN, study_fields
from unveil.studies.audited import LINKED
from unveil.studies.example import example_folders

#: Asks for every metric of the study.
ALL = "all"


def study_report(folder: str | os.PathLike[str], *, metrics: Sequence[str] = ()) -> Answer[Any]:
    """Return what the study in a folder found so far.

    Parameters
    ----------
    folder
        Where its results are; it may still be running.
    metrics
        Which metrics to show, the first of them also drawn; "all" for every one of the study. By default overall
        success, success rate and entropy, as far as the study has them.

    Raises
    ------
    InputError
        If the folder holds no study, or the study no such metric.

    Notes
    -----
    Of a study of releases that were made already, everything is shown: which technique keeps most for the least risk,
    and which figures order releases. ``metrics`` is for other studies.
    """
    results = Results.read(folder)
    if results.study.kind == "release":
        _check_audited(results)
        return Answer(run_releases(results), RELEASES_VIEW)
    return Answer(run(results, _chosen(results, metrics)), VIEW)


def _check_audited(results: Results) -> None:
    """Refuse figures that are not those of audits, which alone the report of given releases knows to show."""
    if LINKED not in results.metrics:
        raise InputError(
            f"the report of a study of given releases shows audits, but this study asks {results.study.attacks[0]!r} "
            f"of them. Read its numbers from the Parquet files in {shown(results.folder)}"
        )


def _chosen(results: Results, wanted: Sequence[str]) -> tuple[str, ...]:
    if ALL in wanted:
        return tuple(dict.fromkeys([*(name for name in wanted if name != ALL), *results.metrics]))
    for name in wanted:
        if name not in results.metrics:
            hint = did_you_mean(name, results.metrics) or f" It has {', '.join(results.metrics)}."
            raise InputError(f"the study has no metric {name!r}.{hint} Correct it or leave it out")
    return tuple(dict.fromkeys(wanted)) or usual_metrics(results.metrics)


def ask(told: Told) -> Reply:
    """Return what a study found, asked through a door."""
    with example_folders(told.progress) if told.sample else nullcontext(told.values["folder"]) as folders:
        return _shown(study_report(folders[0], metrics=told.values["metrics"]), sample=told.sample)


def ask_run(told: Told) -> Reply:
    """Return what a study found, after it was run."""
    if told.sample:
        with example_folders(told.progress) as folders:
            return _shown(study_report(folders[0]), sample=True)
    file = told.must("file")
    _refuse_own_classes(study_fields(file))
    with without_own_code():  # a listed attack may name another one in its settings
        plan = Study.read(file)

    def move(done: int, total: int, left: float) -> None:
        told.progress(f"computing ({far(done, total, left)})", done / total)

    out = told.values["out"][0]
    run_study(plan, out, progress=move, **told.named("workers", "resume", "memory"))
    return _shown(study_report(out))


def _refuse_own_classes(fields: Mapping[str, Any]) -> None:
    """Refuse a study that names a class of its own, before it is loaded: a page runs no code that a file names."""
    listed = {
        *ATTACKS,
        *PROTECTIONS,
        *SCENARIOS,
        AS_GIVEN,
        *(name.casefold() for each in ATTACKS.values() for name in each.aka),
    }
    for written in (*fields["protections"], *fields["attacks"]):
        name = written.strip().partition(":")[0]
        if name not in listed and name.casefold() not in listed:
            raise AskedError(
                f"on this page a study may name listed protections and attacks only, but names {shortened(name)}. Run "
                "it with 'unveil study run', where own classes are allowed",
                "file",
            )


def _shown(answer: Answer[Any], *, sample: bool = False) -> Reply:
    if sample:  # its folder is gone when this is read
        name = Path(answer.findings.folder).name
        answer = replace(answer, findings=replace(answer.findings, folder=name, is_example=True))
    seed = {"seed": answer.findings.study.seed}
    said = brief if isinstance(answer.findings, StudyFindings) else brief_of_releases
    return Reply(answer=answer, brief=lambda: list(said(answer.findings)), on_page={"seed": None}, in_json=seed)
