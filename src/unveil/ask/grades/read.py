"""The question about metrics asked of folders with studies: their values, and what a report has to know of them."""

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from unveil.ask.grades.findings import AttackFacts, GradedStudy
from unveil.attack import graph_attack_from
from unveil.attack.graph._settings import compared_at_a_time
from unveil.errors import InputError, UnveilError
from unveil.grade.data_facts import scope_of
from unveil.grade.replicated import Replicated
from unveil.grade.suites import Suite
from unveil.show.progress import Progress
from unveil.show.studies import labels
from unveil.study import Results
from unveil.study.lock import running
from unveil.study.store import manifest_of


class GradesInputs(NamedTuple):
    """The results of studies and their values, suites of the user's own, and how attacks and protections are called."""

    results: tuple[Results, ...]
    values: Replicated
    suites: tuple[Suite, ...]
    studies: tuple[GradedStudy, ...]
    attacks: Mapping[str, AttackFacts]
    protections: Mapping[str, str]


def read(
    folders: Sequence[str | os.PathLike[str]], suites: Sequence[Suite | str], *, progress: Progress
) -> GradesInputs:
    """Return what the folders hold, checked; the arguments are those of `grade_metrics`."""
    if not folders:
        raise InputError("there must be at least one study to grade, but no folder is named. Name that of a study")
    own = tuple(Suite.parse(each) if isinstance(each, str) else each for each in suites)
    progress("reading results", 0.0)
    try:
        results = tuple(Results.read(folder) for folder in folders)
        values = Replicated.of(*results)
    except OSError as error:
        raise InputError(
            f"the results of a study must be readable, but {error.filename!r} is not ({error.strerror}). Give yourself "
            "the right to read its folder"
        ) from error
    return GradesInputs(
        results=results,
        values=values,
        suites=own,
        studies=tuple(_graded(each) for each in results),
        attacks=_attacks(values),
        protections=labels(tuple(dict.fromkeys(case.protect for case in values.cases))),
    )


def _graded(results: Results) -> GradedStudy:
    manifest = manifest_of(results.folder)
    return GradedStudy(
        study=results.study,
        version=str(manifest["version"]),
        counts=results.counts,
        running=running(results.folder) is not None,
        digests=manifest["data"],
    )


def _attacks(values: Replicated) -> dict[str, AttackFacts]:
    """Return what reports have to know of each attack; of a user's own, its name."""
    called = labels(tuple(dict.fromkeys(case.attack for case in values.cases)))
    found = {}
    for text, name in called.items():
        try:
            made: object = graph_attack_from(text)
        except UnveilError:  # on tables, or a class or settings that cannot be had here
            made = None
        found[text] = AttackFacts(called=name, scope=scope_of(text) or None, chunk=compared_at_a_time(made))
    return found
