"""All attacks and measures on one release, in the order of the report."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from unveil._kernels.threads import available, threads
from unveil.ask.audit.attacks import ATTACKS, AttackedRelease, AuditAttack
from unveil.ask.audit.clearest import severity
from unveil.ask.audit.findings import Audit, AuditedRelease, Finding, Scenario
from unveil.ask.audit.inputs import PreparedAudit, PreparedRelease
from unveil.ask.audit.judge import judge_audit
from unveil.ask.audit.people import DrawnPeople
from unveil.ask.audit.scenarios import settle, without
from unveil.ask.audit.separation import ExposedPerson
from unveil.ask.audit.trials import Evidence, Tried
from unveil.data.table.release import Release
from unveil.measure.releases.disclosure import Disclosure, disclosure
from unveil.measure.releases.unseen import unseen_values
from unveil.measure.releases.utility import loss_summary
from unveil.show.progress import Progress, silent

#: So many people of each table are attacked in the original itself, for the figures before.
ATTACKED_BEFORE = 500


def attack_release(prepared: PreparedAudit, release: PreparedRelease, *, progress: Progress) -> tuple[Tried, ...]:
    """Return what each attack achieved on one release, as they are asked for one after the other."""
    settings, attacks = prepared.settings, [ATTACKS[name] for name in prepared.attacks]
    drawn = _drawn(prepared, release)
    # Whatever is wrong with an adversary is said before anything is attacked.
    settled = _settled(prepared, release)
    found: list[Tried] = []
    for place, attack in enumerate(attacks):
        step = _within(progress, place, len(prepared.parts))
        step(f"trying {attack.title.lower()}", 0.0)
        attacked = AttackedRelease(
            attack=attack.name,
            prepared=release,
            drawn=drawn,
            targets=prepared.targets,
            settings=settings,
            settled=settled,
            rng=release.rng(attack.name),
            progress=step,
        )
        with threads(settings.threads or available()):
            found += _with_small_groups(attack, attacked, attack.run(attacked))
    return tuple(found)


def _with_small_groups(attack: AuditAttack, attacked: AttackedRelease, found: Sequence[Tried]) -> Sequence[Tried]:
    """Return what was tried, with the figures of small groups from an attack on all of their people."""
    small = attacked.drawn.people.of_small_groups()
    if small is None or not any(_of_drawn_group(each) for one in found for each in one.evidence):
        return found
    drawn = replace(attacked.drawn, people=small, groups=None)
    again = attack.run(replace(attacked, drawn=drawn, rng=attacked.prepared.rng(attack.name), progress=silent))
    # Their figure is one of everybody, of whom all others score 0.
    own = {
        _about(each): replace(each, statistic=small.over_everybody(each.statistic), pool="everybody")
        for one in again
        for each in one.evidence
        if _of_drawn_group(each) and isinstance(each.statistic, np.ndarray)
    }
    return [replace(one, evidence=tuple(own.get(_about(each), each) for each in one.evidence)) for one in found]


def _of_drawn_group(evidence: Evidence) -> bool:
    return bool(evidence.figure.group) and evidence.pool == "attacked"


def _about(evidence: Evidence) -> tuple[str, ...]:
    figure = evidence.figure
    return figure.adversary, figure.secret, figure.group


def audit_release(
    prepared: PreparedAudit,
    release: PreparedRelease,
    findings: tuple[Finding, ...],
    *,
    exposed: tuple[ExposedPerson, ...] = (),
    weighs: bool = True,
    progress: Progress,
) -> AuditedRelease:
    """Return everything found about one release that was attacked with these findings.

    Where it ``weighs``, the finding that an attack is known by says what it owes to each column.
    """
    parts = prepared.parts
    progress("measuring what the release is worth", 0.95)
    utility = None
    if "utility" in parts:
        left_out = release.columns_left_out
        utility = loss_summary(release.release, rng=release.rng("utility"), columns_left_out=left_out)
    return AuditedRelease(
        name=release.release.name,
        rows=release.release.released.rows,
        kind=release.release.kind,
        columns=release.known,
        sha256=release.sha256,
        findings=_weighed(prepared, release, findings) if weighs else findings,
        disclosure=_disclosure(prepared, release) if "disclosure" in parts else None,
        utility=utility,
        unseen=unseen_values(release.release),
        near_names=release.near_names,
        exposed=exposed,
    )


def audit_releases(prepared: PreparedAudit, *, progress: Progress, notes: Sequence[str] = ()) -> Audit:
    """Return what was found: all releases are attacked, and judged together."""
    several = len(prepared.releases) > 1
    steps = len(prepared.releases) + ("before" in prepared.parts)

    def step(number: int, which: str) -> Progress:
        return lambda name, share: progress(f"{name}{which}", (number + share) / steps)

    attacked = [
        (each, step(number, f" on {each.release.name}" if several else ""))
        for number, each in enumerate(prepared.releases)
    ]
    tried = {each.release.name: attack_release(prepared, each, progress=own) for each, own in attacked}
    progress("judging all figures together", (steps - 1) / steps)
    verdict, found = judge_audit(prepared.people, tried, rng=np.random.default_rng([prepared.seed, 0]))
    releases = tuple(
        audit_release(
            prepared,
            each,
            found[each.release.name],
            exposed=tuple(person for one in tried[each.release.name] for person in one.exposed),
            progress=silent,
        )
        for each in prepared.releases
    )
    before = audit_original(prepared, progress=step(steps - 1, " on the original itself"))
    return prepared.found(releases, verdict=verdict, before=before, notes=tuple(notes))


def audit_original(prepared: PreparedAudit, *, progress: Progress) -> AuditedRelease | None:
    """Return what the three questions give where the original itself is the release: the figures before."""
    if "before" not in prepared.parts:
        return None
    first = prepared.releases[0]
    original = first.release.original
    itself = "the original itself"
    release = Release(original, replace(original, name=itself), first.release.control, kind="masked", name=itself)
    whole = prepared.original
    alone = Release(whole, replace(whole, name=itself), kind="masked", name=itself)
    attacks = [name for name in prepared.attacks if ATTACKS[name].answers is not None]
    settings = prepared.settings
    bare = replace(
        prepared,
        parts=(*attacks, *(part for part in prepared.parts if part == "disclosure")),
        settings=replace(settings, compatibility=None, neighbours=min(settings.neighbours, original.rows)),
    )
    # It shows how bad it was, and is not judged: that takes fewer people, who come in an order by lot.
    people = prepared.people
    few = replace(people, inside=people.inside[:ATTACKED_BEFORE], outside=people.outside[:ATTACKED_BEFORE], parts=None)
    bare = replace(bare, people=few)
    itself_prepared = replace(first, release=release, alone=alone, truth=np.arange(original.rows), sha256=None)
    found = tuple(each.finding for each in attack_release(bare, itself_prepared, progress=progress))
    return audit_release(bare, itself_prepared, found, weighs=False, progress=progress)


def _drawn(prepared: PreparedAudit, release: PreparedRelease) -> DrawnPeople:
    per_person = sum(ATTACKS[name].per_person for name in prepared.attacks)
    return DrawnPeople(
        release=release.release,
        people=prepared.people,
        groups=prepared.groups,
        minimum_cell=prepared.settings.minimum_cell,
        looks=len(prepared.releases) * per_person or 1,
        ids=release.ids,
    )


def _settled(prepared: PreparedAudit, release: PreparedRelease) -> tuple[Scenario, ...]:
    """Return the adversaries that were named, with their second groups of columns spelt out."""
    lacking = prepared.settings.lacking.get(release.release.name, ())
    usable = (without(scenario, lacking) for scenario in prepared.settings.scenarios or ())
    return tuple(
        settle(
            scenario,
            release.known,
            columns=release.release.original.column_names,
            left_out=release.left_out,
            links=any(ATTACKS[name].two_sources for name in prepared.attacks),
        )
        for scenario in usable
        if scenario is not None
    )


def _weighed(prepared: PreparedAudit, release: PreparedRelease, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Return the findings; the one shown first of an attack that looks at columns says what they are worth."""
    made = list(findings)
    for name in prepared.attacks:
        weigh = ATTACKS[name].weigh
        own = [each for each in findings if each.attack == name and each.worse.defined and not each.is_mean]
        if weigh is None or not own:
            continue
        first = max(own, key=severity)
        attacked = AttackedRelease(
            attack=name,
            prepared=release,
            drawn=_drawn(prepared, release),
            targets=prepared.targets,
            settings=prepared.settings,
            settled=(),
            rng=release.rng(f"{name} weights"),
            progress=silent,
        )
        with threads(prepared.settings.threads or available()):
            made[findings.index(first)] = weigh(attacked, first)
    return tuple(made)


def _within(progress: Progress, place: int, parts: int) -> Progress:
    return lambda name, share: progress(name, (place + share) / parts)


def _disclosure(prepared: PreparedAudit, release: PreparedRelease) -> Disclosure:
    settings = prepared.settings
    return disclosure(
        release.release if release.alone is None else release.alone,
        columns=release.known,
        sensitive=release.sensitive,
        weights=settings.weight,
        household=settings.household,
        population_size=settings.population_size,
        minimum_cell=settings.minimum_cell,
    )
