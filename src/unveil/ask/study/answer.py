"""What did a study find: how far do attacks get, as adversaries know more?"""

import os
from collections.abc import Sequence

from unveil.ask.answer import Answer
from unveil.ask.study.findings import StudyFindings, usual_metrics
from unveil.ask.study.run import run
from unveil.ask.study.view import VIEW
from unveil.errors import InputError, did_you_mean
from unveil.study import Results

#: Asks for every metric of the study.
ALL = "all"


def study_report(folder: str | os.PathLike[str], *, metrics: Sequence[str] = ()) -> Answer[StudyFindings]:
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
    """
    results = Results.read(folder)
    return Answer(run(results, _chosen(results, metrics)), VIEW)


def _chosen(results: Results, wanted: Sequence[str]) -> tuple[str, ...]:
    if ALL in wanted:
        return tuple(dict.fromkeys([*(name for name in wanted if name != ALL), *results.metrics]))
    for name in wanted:
        if name not in results.metrics:
            hint = did_you_mean(name, results.metrics) or f" It has {', '.join(results.metrics)}."
            raise InputError(f"the study has no metric {name!r}.{hint} Correct it or leave it out")
    return tuple(dict.fromkeys(wanted)) or usual_metrics(results.metrics)
