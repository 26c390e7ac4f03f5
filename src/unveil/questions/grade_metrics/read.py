"""Read studies to grade from folders."""

import os
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from unveil._specification import without_own_code
from unveil.attacks import graph_attack_from
from unveil.attacks.graph._settings import compared_at_a_time
from unveil.errors import InputError, UnveilError
from unveil.grades.factors import scope_of
from unveil.grades.grades import GradedValues
from unveil.grades.nodes import NodeSketches
from unveil.grades.replicated_metrics import ReplicatedMetrics, is_calibrated
from unveil.grades.suites import Suite
from unveil.questions.grade_metrics.findings import AttackFacts, GradedStudy
from unveil.report.progress import Progress
from unveil.report.text import labels, together
from unveil.studies import Results
from unveil.studies.store import manifest_of
from unveil.work.lock import running


class GradesInputs(NamedTuple):
    """Results of studies, user-defined suites, and names for reports."""

    results: tuple[Results, ...]
    values: ReplicatedMetrics
    nodes: NodeSketches | None
    calibrated: ReplicatedMetrics | None
    calibrated_nodes: NodeSketches | None
    suites: tuple[Suite, ...]
    studies: tuple[GradedStudy, ...]
    attacks: Mapping[str, AttackFacts]
    protections: Mapping[str, str]


def read(
    folders: Sequence[str | os.PathLike[str]], suites: Sequence[Suite | str], *, of: GradedValues, progress: Progress
) -> GradesInputs:
    """Return what the folders hold, checked; the arguments are those of `grade_metrics`."""
    if not folders:
        raise InputError("No study was given. Name the folder of at least one")
    own = tuple(Suite.parse(each) if isinstance(each, str) else each for each in suites)
    progress("reading results", 0.0)
    try:
        results = tuple(Results.read(folder) for folder in folders)
        values = ReplicatedMetrics.of(*results)
        nodes = None if of == "means" else NodeSketches.of(values, *results)
        twice = tuple(each for each in results if is_calibrated(each) and each.fine)
        calibrated = ReplicatedMetrics.of(*twice, calibrated=True) if twice else None
        calibrated_nodes = None
        if calibrated is not None and of != "means":
            calibrated_nodes = NodeSketches.of(calibrated, *twice, calibrated=True)
    except OSError as error:
        raise InputError(
            f"The results of a study cannot be read: {error.filename!r} ({error.strerror}). Check the "
            "permissions of its folder"
        ) from error
    if of == "nodes" and nodes is None:
        raise InputError(
            f"{_named(results)} kept no node values. Run the study again with node_values = true in its file, "
            "or grade means"
        )
    return GradesInputs(
        results=results,
        values=values,
        nodes=nodes,
        calibrated=calibrated,
        calibrated_nodes=calibrated_nodes,
        suites=own,
        studies=tuple(_graded(each) for each in results),
        attacks=_attacks(values),
        protections=labels(tuple(dict.fromkeys(case.protect for case in values.cases))),
    )


def _named(results: Sequence[Results]) -> str:
    names = together([repr(each.study.name) for each in results])
    return f"the study {names}" if len(results) == 1 else f"the studies {names}"


def _graded(results: Results) -> GradedStudy:
    manifest = manifest_of(results.folder)
    return GradedStudy(
        study=results.study,
        version=str(manifest["version"]),
        counts=results.counts,
        running=running(results.folder) is not None,
        digests=manifest["data"],
    )


def _attacks(values: ReplicatedMetrics) -> dict[str, AttackFacts]:
    """Return what reports have to know of each attack; of a user's own, its name."""
    called = labels(tuple(dict.fromkeys(case.attack for case in values.cases)))
    found = {}
    for text, name in called.items():
        try:
            with without_own_code():
                made: object = graph_attack_from(text)
        except UnveilError:  # on tables, a user's class, or settings that cannot be had here
            made = None
        found[text] = AttackFacts(called=name, scope=scope_of(text) or None, chunk=compared_at_a_time(made))
    return found
