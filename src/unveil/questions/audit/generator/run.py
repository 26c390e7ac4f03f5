"""Run a generator, attack each release, and test all runs together."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import asdict, replace
from hashlib import sha256
from typing import Any

import numpy as np

from unveil._kernels.types import IntArray
from unveil.data.table import Table
from unveil.data.table.release import Release
from unveil.metrics.epsilon.bound import ADJACENCY
from unveil.metrics.epsilon.bound import Design as BoundDesign
from unveil.metrics.epsilon.claim import Claim
from unveil.metrics.epsilon.power import coins_needed, most_provable
from unveil.metrics.releases.utility import loss_summary
from unveil.metrics.trials.risk import clopper_pearson
from unveil.metrics.verdict.copies import FACTOR, fewest_copies_provable
from unveil.metrics.verdict.pooled_tables import number_people, pool_tables
from unveil.protections.generators import GeneratedRelease, SourceTable, about, generator_from
from unveil.questions.audit.decision.judge import judge_audit
from unveil.questions.audit.findings import Audit, ExposedPerson
from unveil.questions.audit.generator.combine import (
    AttackedRun,
    combined,
    epsilon_from_canaries,
    epsilon_from_tables,
    spread_of,
)
from unveil.questions.audit.generator.design import Design, GeneratorRun, draw_design
from unveil.questions.audit.generator.findings import GeneratorSummary, Oddity, RunSiblings
from unveil.questions.audit.generator.settings import WAY
from unveil.questions.audit.generator.siblings import run_siblings, with_siblings
from unveil.questions.audit.inputs import PreparedAudit, PreparedRelease, prepare, refuse_repeated, with_roles
from unveil.questions.audit.reference.calibration import with_z
from unveil.questions.audit.run import attack_release, audit_original, audit_release, audit_releases
from unveil.questions.audit.settings import AuditSettings
from unveil.questions.reading import TableReading
from unveil.report.progress import Progress, Say, unsaid
from unveil.report.text import count, duration
from unveil.studies.generator_runs import PlannedRun, make_runs
from unveil.work.run import Progress as RunProgress

#: Which share of an audit is making releases, as far as a bar shows it; what follows is said beforehand if it takes so
#: many seconds.
_MAKING, LONG = 0.1, 30.0
_OF_FIRST = (
    "Rates are means over all runs. Curves, utility, equivalence classes, and record-level risks are "
    "that of the first run."
)
#: How sure it must be that people come from elsewhere before that is said.
_SURE = 0.998


def audit_generator(
    given: SourceTable,
    existing: Any,
    *,
    settings: AuditSettings,
    rng: np.random.Generator,
    progress: Progress,
    say: Say = unsaid,
    notes: Sequence[str] = (),
) -> tuple[Audit, tuple[PreparedRelease, ...]]:
    """Audit a generator by releases of most people and held-out records.

    Parameters
    ----------
    given
        Everybody, as the audit reads them and as their owner has them.
    existing
        Releases of everybody that exist already, which are audited without a control; None where there are none.
    settings
        The settings of the audit: the generator, who is held out, what is planted, and the attacks.
    rng
        Where all randomness comes from.
    progress, say
        What is told how far it is, and what should be known before it goes on.
    notes
        Sentences to carry into the report.

    Returns
    -------
    tuple of an Audit and PreparedReleases
        All findings, and the tables of the first run and of the releases that exist already.
    """
    start = deepcopy(rng)
    # A protection of ours leaves identifiers out, and unusual rows are made of columns that are used.
    given = replace(given, table=with_roles(given.table, settings))
    refuse_repeated(given.table, identifiers=settings.identifiers, ignore=(settings.weight, settings.household))
    audit, first = _audit_way(given, settings, rng, progress, say)
    audit = replace(audit, notes=tuple(dict.fromkeys((*notes, *audit.notes))))
    if existing is None:
        return audit, (first,)
    kinds = settings.release_type
    if isinstance(kinds, Mapping):
        kinds = {name: kind for name, kind in kinds.items() if name != WAY}
    prepared = prepare(given.table, existing, None, settings=replace(settings, release_type=kinds), rng=start)
    alone = replace(prepared, parts=tuple(part for part in prepared.parts if part != "before"))
    found = audit_releases(alone, progress=lambda name, share: progress(f"{name} (what exists already)", share))
    return _beside(audit, found), (first, *prepared.releases)


def given_of(original: Any, reading: TableReading) -> SourceTable:
    """Return the generator's input people, raw and as the audit reads them."""
    if isinstance(original, SourceTable):
        return original
    if isinstance(original, Table):
        return SourceTable(original, original.frame)
    return SourceTable(reading.frame(original, "original"), original)


def _audit_way(
    given: SourceTable,
    settings: AuditSettings,
    rng: np.random.Generator,
    progress: Progress,
    say: Say,
) -> tuple[Audit, PreparedRelease]:
    """Return attack results of the generator, and its first run's tables."""
    seeds = rng.integers(2**63, size=4)
    table, claim, kind = given.table, settings.claim, settings.release_type
    design, everybody, pairs = _planned(given, settings, np.random.default_rng(int(seeds[0])))
    generator = generator_from(
        settings.generator,
        time_limit=settings.time_limit,
        memory_limit=settings.memory_limit,
        output_limit=settings.output_limit,
        env=settings.env,
        read=settings.reading.made,
        kind=kind.get(WAY) if isinstance(kind, Mapping) else kind,
    )
    settings = replace(settings, release_type=None)
    if settings.canaries is not None:
        say(canary_sentence(len(design.canaries), len(design.runs), pairs=design.canaries.shape[1] == 2, claim=claim))
    made = make_runs(
        generator,
        everybody,
        [PlannedRun(each.number + 1, each.seed, each.given) for each in design.runs],
        folder=settings.keep_runs,
        identity={
            "people": _digest(table),
            "seed": int(seeds[0]),
            # Not how many runs: more of them go on from those that are there.
            "hold_out": settings.holdout,
            "folds": None if design.folds == 1 else design.folds,
            "canaries": None if settings.canaries is None else asdict(settings.canaries),
            "adjacency": None if claim is None else claim.adjacency,
            "household": settings.household,
        },
        workers=settings.workers,
        cluster=settings.cluster,
        progress=_told(progress, say),
    )
    # Where canaries are planted the runs are there for the coins: one of them is attacked in every way.
    runs = design.runs if settings.canaries is None else design.runs[:1]
    generated = [each.released for each in made] if design.folds > 1 else []
    attacked = []
    for number, run in enumerate(runs):
        which = f" (run {number + 1} of {len(runs)})" if len(runs) > 1 else ""
        own = _within(progress, _MAKING + 0.8 * number / len(runs), 0.8 / len(runs), which)
        prepared = _prepared(table, made[number], run, design, settings, int(seeds[1]))
        prepared = with_siblings(prepared, generated, run, design)
        attacked.append(AttackedRun(run, prepared, attack_release(prepared, progress=own)))
    progress("computing all tests", 0.9)
    siblings = run_siblings(attacked[0].prepared, generated, table, design, rng=np.random.default_rng(int(seeds[3])))
    audit = _judged(attacked, design, table, siblings, seed=int(seeds[2]) >> 1)
    first = attacked[0]
    shown = [each for attack in audit.attacks if (each := audit.releases[0].strongest(attack)) is not None]
    way = GeneratorSummary(
        release=WAY,
        generator=generator.written,
        about={name: text for name, text in about(generator).items() if name != "generator"},
        people=design.people,
        rows=table.rows,
        held_out=first.prepared.people.control.others,
        folds=design.folds,
        runs=len(design.runs),
        attacked=len(attacked),
        seconds=tuple(each.seconds for each in made),
        spread=spread_of(attacked, shown),
        lost=_losses(attacked),
        oddities=_oddities(design.runs, made, first),
        siblings=siblings,
    )
    epsilon = epsilon_from_tables(audit, claim=claim, by_lot=True)
    if settings.canaries is not None:
        epsilon = epsilon_from_canaries(
            [each.released for each in made],
            first.prepared,
            design,
            everybody.table,
            kind=settings.canaries.kind,
            pairs=pairs,
            claim=claim,
            rng=np.random.default_rng(int(seeds[3])),
        )
    return replace(audit, way=way, epsilon=epsilon), first.prepared.releases[0]


def _judged(
    attacked: Sequence[AttackedRun], design: Design, table: Table, siblings: RunSiblings | None, *, seed: int
) -> Audit:
    """Return the findings over all runs, with the tests."""
    first = attacked[0]
    prepared = first.prepared
    verdict, found = judge_audit(
        prepared.people,
        {WAY: combined(attacked, design, seed=seed)},
        rng=np.random.default_rng([prepared.seed, 0]),
    )
    audited = audit_release(prepared, found[WAY], exposed=_exposed(first, siblings))
    before = audit_original(prepared)
    notes = (_OF_FIRST,) if len(attacked) > 1 else ()
    audit = replace(prepared.found((audited,), verdict=verdict, before=before, notes=notes), sha256=table.sha256)
    if design.folds == 1:
        return audit
    # Everybody was given to the generator, and everybody was held out.
    fold = design.people // design.folds
    return replace(
        audit,
        rows=table.rows,
        control_rows=table.rows,
        people=design.people,
        attacked=design.attacked.size,
        attacked_outside=design.attacked.size,
        verdict=replace(verdict, fewest_copies_provable=fewest_copies_provable(fold, design.people - fold)),
    )


def _beside(audit: Audit, existing: Audit) -> Audit:
    """Return the generator audit with existing releases, without held-out people."""
    names = {each.name for each in existing.releases}
    own, theirs = audit.verdict, existing.verdict
    return replace(
        audit,
        way=None if audit.way is None else replace(audit.way, attacked_beside=existing.attacked),
        releases=(*audit.releases, *existing.releases),
        verdict=replace(own, releases=(*own.releases, *theirs.releases)),
        flags=(*(each for each in existing.flags if each.table in names), *audit.flags),
        notes=tuple(dict.fromkeys((*audit.notes, *existing.notes))),
    )


def _planned(
    given: SourceTable, settings: AuditSettings, rng: np.random.Generator
) -> tuple[Design, SourceTable, tuple[tuple[str, str], ...] | None]:
    """Return the random design, the people with canaries, and canary rows.

    The last is for each unusual row the two columns in which it holds what nobody has together; None without any.
    """
    table, everybody, pairs = given.table, given, None
    adjacency = "add-remove" if settings.claim is None else settings.claim.adjacency
    told = [name for name in settings.identifiers[:1] if name in table.column_names]
    person = number_people(table.series(told[0]) if told else None, table.rows, "ids")
    if settings.canaries is not None and settings.canaries.kind == "unusual":
        from unveil.attacks.table.canaries import unusual_rows

        each = 2 if adjacency == "replace" else 1
        columns = tuple(column.name for column in table.columns if column.is_used)
        found = unusual_rows(table, each * settings.canaries.number, columns=columns, rng=rng)
        own = np.repeat(np.arange(table.rows)[:, None], len(table.columns), axis=1)
        everybody, pairs = given.composed(np.concatenate([own, found.rows])), found.pairs
    design = draw_design(
        everybody.table,
        settings,
        person=person,
        unit=_households(table, person, settings.household),
        adjacency=adjacency,
        targets=settings.targets,
        rng=rng,
    )
    return design, everybody, pairs


def _households(table: Table, person: IntArray, column: str | None) -> IntArray | None:
    """Return the household of each person, by the first of the person's rows; None without any."""
    if column is None:
        return None
    home = number_people(table.series(column), table.rows, "the household column")
    first: IntArray = home[np.unique(person, return_index=True)[1]]
    _, numbered = np.unique(first, return_inverse=True)
    return numbered.astype(np.int64)


def _prepared(
    table: Table, generated: GeneratedRelease, run: GeneratorRun, design: Design, settings: AuditSettings, seed: int
) -> PreparedAudit:
    """Return the audit of one run."""
    inside, outside = table.take(run.inside), replace(table.take(run.outside), name="control")
    truth = None
    if generated.truth is not None:
        # Of planted rows nobody asks.
        place = np.full(int(run.given.max(initial=0)) + 1, -1, np.int64)
        place[run.inside] = np.arange(run.inside.size)
        truth = place[run.given[generated.truth]]
    release = Release(inside, generated.released, kind=generated.kind, name=WAY, notes=generated.notes, truth=truth)
    by_lot = np.ones(run.inside.size + run.outside.size, np.bool_)
    if design.folds > 1:
        # The same people in all runs, whichever of them are held out.
        by_lot = np.isin(design.person[np.concatenate([run.inside, run.outside])], design.attacked)
        settings = replace(settings, targets=None if by_lot.all() else settings.targets)
    # The same start in all runs: the same people, and the same adversaries.
    return prepare(
        inside,
        {WAY: release},
        outside,
        settings=settings,
        rng=np.random.default_rng(seed),
        by_lot=by_lot,
    )


def _exposed(first: AttackedRun, siblings: RunSiblings | None) -> tuple[ExposedPerson, ...]:
    """Return people exposed by the first run, by row of all people."""
    exposed = [replace(person, row=int(first.run.inside[person.row])) for one in first.tried for person in one.exposed]
    return with_z(exposed, () if siblings is None else siblings.people_z)


def _losses(attacked: Sequence[AttackedRun]) -> tuple[float, ...]:
    """Return the utility loss of each run; empty for a single run."""
    if len(attacked) < 2 or "utility" not in attacked[0].prepared.parts:
        return ()
    found = []
    for each in attacked:
        release = each.prepared.releases[0]
        loss = loss_summary(release.release, rng=release.rng("utility"), columns_left_out=release.columns_left_out).loss
        found.append(float(loss))
    return tuple(found)


def _oddities(
    runs: Sequence[GeneratorRun], generated: Sequence[GeneratedRelease], first: AttackedRun
) -> tuple[Oddity, ...]:
    """Return warnings: releases independent of their input, or of held-out people."""
    found: list[Oddity] = []
    differs = len({each.given.tobytes() for each in runs}) > 1
    if differs and all(each.released.frame.equals(generated[0].released.frame) for each in generated):
        found.append("same table")
    if _knows_held_out(first.prepared.releases[0].release):
        found.append("people never given")
    return tuple(found)


def _knows_held_out(release: Release) -> bool:
    """Return whether the release copies held-out people beyond chance.

    Who never saw them hits them by coincidence, as somebody of the table does who happens to be their twin. As many
    times more are allowed for as where copies are counted.
    """
    pool = pool_tables(release)
    released = np.zeros(pool.records, bool)
    released[pool.released_record] = True
    copied = pool.of_people(released[pool.record])[pool.members :]
    twins = pool.of_people(pool.owners[pool.record] > 1)
    often = clopper_pearson(int(copied.sum()), copied.size, confidence=_SURE)
    by_chance = clopper_pearson(int(twins.sum()), twins.size, confidence=_SURE)
    return often.low > FACTOR * by_chance.high * max(1.0, pool.released_record.size / pool.people)


def _digest(table: Table) -> str:
    """Return the identity of the people for resuming: file or content hash."""
    return table.sha256 or sha256(table.frame.write_csv().encode()).hexdigest()


def _told(progress: Progress, say: Say) -> RunProgress:
    """Return the progress reporter of runs, with an early time estimate."""
    said = False

    def report(done: int, total: int, left: float) -> None:
        nonlocal said
        progress(f"run {done} of {total}", _MAKING * done / total)
        if not said and left > LONG:
            said = True
            say(f"{count(done)} of {count(total, 'run', 'runs')} done; about {duration(left)} left.")

    return report


def _within(progress: Progress, start: float, width: float, which: str) -> Progress:
    return lambda name, share: progress(f"{name}{which}", start + width * share)


def canary_sentence(canaries: int, runs: int, *, pairs: bool, claim: Claim | None) -> str:
    """Return the largest ε bound that these canaries allow.

    >>> canary_sentence(200, 4, pairs=False, claim=None)
    '200 canaries in 4 runs (800 decisions) can show a lower bound on ε of at most 4.5 (95% confidence).'
    """
    design: BoundDesign = "pairs" if pairs else "coins"
    coins, delta = canaries * runs, 0.0 if claim is None else claim.delta_against(ADJACENCY[design])
    most = most_provable(coins, design=design, delta=delta)
    said = (
        f"{count(canaries)} canaries in {count(runs, 'run', 'runs')} ({count(coins)} decisions) can show a lower bound "
        f"on ε of at most {most:.2g} (95% confidence)."
    )
    if claim is None:
        return said
    needed = coins_needed(claim.epsilon, 2 * claim.epsilon, design=design, delta=delta)
    if needed is None:
        return f"{said} No number of canaries would detect ε = {2 * claim.epsilon:g}."
    return (
        f"{said} To detect ε = {2 * claim.epsilon:g}, the best attacker needs about {count(needed)} decisions; an "
        "attacker who sees only the release needs several times as many."
    )
