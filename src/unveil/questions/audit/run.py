"""Run all attacks and measures on releases, and test them together."""

from collections.abc import Iterable, Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np

from unveil._kernels.threads import available, threads
from unveil.data.table.release import Release
from unveil.errors import InputError
from unveil.metrics.releases.transitions import transition_distances
from unveil.questions.audit.attack_results import AttackResult
from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.children.findings import PeopleTables
from unveil.questions.audit.children.settings import ChildSource
from unveil.questions.audit.decision.judge import judge_audit
from unveil.questions.audit.findings import AttackFinding, Audit, AuditedRelease, ExposedPerson
from unveil.questions.audit.generator.combine import epsilon_from_tables
from unveil.questions.audit.inputs import PreparedAudit, PreparedRelease, prepare
from unveil.questions.audit.projection import forewarn, read_tables
from unveil.questions.audit.read import AuditFiles
from unveil.questions.audit.reference.calibration import with_z
from unveil.questions.audit.reference.findings import SiblingFinding
from unveil.questions.audit.reference.read import ReferenceTables
from unveil.questions.audit.runner import AuditJob, Runner
from unveil.questions.audit.settings import AuditSettings
from unveil.questions.audit.suggest import suggest as suggestions
from unveil.questions.audit.tasks import ITSELF, UNPROTECTED, AuditTask, bench_of, tasks_of
from unveil.report.progress import Progress, Say, silent

#: What the tasks of an audit gave.
Results = Mapping[AuditTask, Any]
#: Which share of an audit its parts take, as far as a bar shows it; judging takes the rest.
_COMPUTING = 0.9


def attack_release(prepared: PreparedAudit, *, progress: Progress) -> tuple[AttackResult, ...]:
    """Return each attack's result on the first release."""
    tasks = [each for each in tasks_of(prepared) if (each.step, each.release) == ("attack", 0)]
    return _tried(Runner().compute(prepared, tasks, progress=progress), 0)


def audit_release(
    prepared: PreparedAudit, findings: tuple[AttackFinding, ...], *, exposed: tuple[ExposedPerson, ...] = ()
) -> AuditedRelease:
    """Return all findings on the first release."""
    tasks = [each for each in tasks_of(prepared) if (each.step, each.release) == ("measure", 0)]
    results = Runner().compute(prepared, tasks, progress=silent)
    (weighed,) = _weighed(prepared, [findings], Runner())
    return _audited(prepared, 0, weighed, results, exposed)


def audit_original(prepared: PreparedAudit, *, progress: Progress = silent) -> AuditedRelease | None:
    """Return the three criteria on the original, as comparison."""
    tasks = [each for each in tasks_of(prepared) if each.release == ITSELF]
    return _before(prepared, Runner().compute(prepared, tasks, progress=progress))


def audit_releases(
    prepared: PreparedAudit, *, progress: Progress, notes: Sequence[str] = (), runner: Runner | None = None
) -> Audit:
    """Return the findings on all releases, tested together.

    No number depends on the ``runner``, which says where the parts are computed and what is kept of them; unless
    given, they are computed in this process and nothing is kept.
    """
    runner = runner or Runner()
    for place in range(len(prepared.releases)):
        _ = bench_of(prepared, place).settled  # what is wrong with an adversary is said before anything is attacked
    tasks = list(tasks_of(prepared))
    results = runner.compute(prepared, tasks, progress=lambda name, share: progress(name, _COMPUTING * share))
    progress("computing all tests", _COMPUTING)
    tried = [_tried(results, place) for place in range(len(prepared.releases))]
    names = [each.release.name for each in prepared.releases]
    verdict, found = judge_audit(
        prepared.people, dict(zip(names, tried, strict=True)), rng=np.random.default_rng([prepared.seed, 0])
    )
    weighed = _weighed(prepared, [found[name] for name in names], runner)
    releases = tuple(
        _audited(prepared, place, findings, results, tuple(person for one in tried[place] for person in one.exposed))
        for place, findings in enumerate(weighed)
    )
    before = _before(prepared, results)
    siblings: SiblingFinding | None = results.get(AuditTask("measure", 0, "siblings"))
    if siblings is not None:
        is_evidence = siblings.test != "none" and prepared.people.control.outcome != "usable"
        siblings = replace(siblings, is_evidence=is_evidence)
        releases = tuple(replace(each, exposed=with_z(each.exposed, siblings.people_z)) for each in releases)
    audit = prepared.found(releases, verdict=verdict, before=before, notes=tuple(notes), siblings=siblings)
    return replace(audit, tables=_with_transitions(prepared))


def _with_transitions(prepared: PreparedAudit) -> PeopleTables | None:
    """Return the tables behind one row per person, with the distances of their transitions."""
    if prepared.tables is None or "utility" not in prepared.parts:
        return prepared.tables
    children = {each.name: each for each in prepared.releases[0].release.children}
    tables = (replace(each, transitions=transition_distances(children[each.name])) for each in prepared.tables.tables)
    return replace(prepared.tables, tables=tuple(tables))


def _tried(results: Results, place: int) -> tuple[AttackResult, ...]:
    """Return the attack results of a release, in report order."""
    mine: Iterable[tuple[AttackResult, ...]] = (
        found for task, found in results.items() if (task.step, task.release) == ("attack", place)
    )
    return tuple(one for found in mine for one in found)


def _weighed(
    prepared: PreparedAudit, findings: Sequence[tuple[AttackFinding, ...]], runner: Runner
) -> list[tuple[AttackFinding, ...]]:
    """Return each release's findings, with column importance on the first."""
    wanted = {
        AuditTask("weigh", place, own[at].attack, at): own[at]
        for place, own in enumerate(findings)
        for at in bench_of(prepared, place).weighed_places(own)
    }
    made = runner.compute(prepared, wanted, progress=silent)
    return [
        tuple(made.get(AuditTask("weigh", place, each.attack, at), each) for at, each in enumerate(own))
        for place, own in enumerate(findings)
    ]


def _before(prepared: PreparedAudit, results: Results) -> AuditedRelease | None:
    """Return the untested rates of the original, as comparison."""
    if "before" not in prepared.parts:
        return None
    findings = tuple(each.finding for each in _tried(results, ITSELF))
    return replace(
        _audited(prepared, ITSELF, findings, results, ()),
        name=UNPROTECTED,
        rows=prepared.releases[0].release.original.rows,
        kind="masked",
        type_source=None,
        sha256=None,
    )


def _audited(
    prepared: PreparedAudit,
    place: int,
    findings: tuple[AttackFinding, ...],
    results: Results,
    exposed: tuple[ExposedPerson, ...],
) -> AuditedRelease:
    """Return all that was found about one release."""
    # The original itself is attacked in the place of the first release, in the columns that it has.
    release = prepared.releases[max(place, 0)]
    return AuditedRelease(
        name=release.release.name,
        rows=release.release.released.rows,
        kind=release.release.kind,
        type_source=release.type_source,
        truthful=results.get(AuditTask("measure", place, "truthful")),
        class_sizes=results.get(AuditTask("measure", place, "class_sizes")),
        columns=release.known,
        sha256=release.sha256,
        findings=findings,
        disclosure=results.get(AuditTask("measure", place, "disclosure")),
        utility=results.get(AuditTask("measure", place, "utility")),
        unseen=results[AuditTask("measure", place, "unseen")],
        near_names=release.near_names,
        exposed=exposed,
    )


def audit_tables(
    original: Any,
    released: Any,
    control: Any,
    reference: ReferenceTables,
    children: Sequence[ChildSource],
    runner: Runner,
    *,
    settings: AuditSettings,
    rng: np.random.Generator,
    progress: Progress,
    say: Say,
    notes: Sequence[str],
) -> tuple[Audit, tuple[PreparedRelease, ...]]:
    """Return the findings and prepared tables of tables or files."""
    order, start = None, deepcopy(rng)
    given = original, released, control, reference, tuple(children)
    if isinstance(original, AuditFiles):
        tables = read_tables(original, settings, progress=progress, say=say)
        order = AuditJob.of(original, tables, settings, start)
        given = tables.original, tables.released or None, tables.control, tables.reference, tables.children
    if given[1] is None and not given[4]:
        raise InputError("there must be a release to audit, or a generator that makes one. Pass one of them")
    progress("looking at the tables", 0.0)
    with threads(settings.threads or available()):
        prepared = prepare(*given, settings=settings, rng=rng)
    if settings.claim is not None and len(prepared.releases) > 1:
        raise InputError("epsilon is claimed of one release, but there are several. Audit each by itself")
    forewarn(prepared, settings, say=say, suggest=settings.suggest)
    runner.begin(prepared, order=order, resume=settings.resume)
    findings = audit_releases(prepared, progress=progress, notes=notes, runner=runner)
    if settings.claim is not None:
        findings = replace(findings, epsilon=epsilon_from_tables(findings, claim=settings.claim, by_lot=False))
    if not settings.suggest:
        return findings, prepared.releases

    def again(changed: Mapping[str, Release], settings: AuditSettings) -> Audit:
        # The same start gives the same people, and the same draws in each attack.
        anew = prepare(given[0], changed, prepared.control, settings=settings, rng=deepcopy(start))
        return audit_releases(
            anew, progress=lambda name, share: progress(f"{name} (what to change)", share), runner=runner
        )

    named = {name.partition(".")[0] for name in settings.suggest_for}
    held = frozenset(named | {each.name for each in ATTACKS.values() if each.effect in named})
    found = suggestions(findings, prepared, settings.suggest, held=held, audit_again=again)
    return replace(findings, suggestions=found), prepared.releases
