"""Independent tasks of an audit: attacks and measures of each release."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from threading import Lock
from typing import Any, Literal, NamedTuple

import numpy as np

from unveil.data.files.column_store import arrays_on_disk
from unveil.data.table.release import Release
from unveil.metrics.releases._classes import equivalence_classes
from unveil.metrics.releases.class_sizes import ClassSizes, class_sizes
from unveil.metrics.releases.disclosure import Disclosure, disclosure
from unveil.metrics.releases.truthful import TRUTHFUL, truthful_share
from unveil.metrics.releases.unseen_values import UnseenValues, unseen_values
from unveil.metrics.releases.utility import Utility, loss_summary
from unveil.questions.audit.attack_results import AttackResult, FigureEvidence
from unveil.questions.audit.attacks import ATTACKS, AttackedRelease, AuditAttack
from unveil.questions.audit.findings import AttackFinding, AttackScenario
from unveil.questions.audit.inputs import (
    MOST_MATCHED,
    PreparedAudit,
    PreparedRelease,
    compared_with_people,
)
from unveil.questions.audit.people import TargetSample
from unveil.questions.audit.reference.findings import SiblingFinding
from unveil.questions.audit.reference.siblings import SiblingCase, sibling_finding
from unveil.questions.audit.scenarios import settle, table_scenarios, without
from unveil.questions.audit.settings import AuditSettings
from unveil.report.progress import Progress, silent

#: So many people of each table are attacked in the original itself, for the figures before.
ATTACKED_BEFORE = 500
#: What the original is called where it stands for a release.
UNPROTECTED = "unprotected original"


@dataclass(frozen=True)
class ReleaseTasks:
    """One release of a prepared audit, and what its attacks share.

    Each attack draws its own randomness, so that it does not matter which others are run, in what order and where.
    """

    prepared: PreparedAudit
    release: PreparedRelease

    def attack(self, name: str, *, progress: Progress = silent) -> tuple[AttackResult, ...]:
        """Return what one attack achieved."""
        attack = ATTACKS[name]
        if attack.needs_children and not self.release.release.children:
            return ()
        settings, settled = self._settings_for(attack)
        attacked = self._attacked(name, name, settled=settled, progress=progress)
        attacked = replace(attacked, settings=settings)
        return tuple(_with_small_groups(attack, attacked, attack.run(attacked)))

    def weigh(self, finding: AttackFinding) -> AttackFinding:
        """Return the finding of an attack, with column importance."""
        weigh = ATTACKS[finding.attack].weigh
        if weigh is None:
            return finding
        attacked = self._attacked(finding.attack, f"{finding.attack} weights", settled=(), progress=silent)
        return weigh(attacked, finding)

    def weighed_places(self, findings: Sequence[AttackFinding]) -> list[int]:
        """Return the places of findings that get column importance."""
        places = []
        for name in self.prepared.attacks:
            own = [
                place
                for place, each in enumerate(findings)
                if each.attack == name and each.worse.defined and not each.is_mean
            ]
            if ATTACKS[name].weigh is not None and own:
                places.append(max(own, key=lambda place: findings[place].strength))
        return places

    def utility(self) -> Utility | None:
        """Return what the release is worth, where that was asked for."""
        if "utility" not in self.prepared.parts:
            return None
        release = self.release
        return loss_summary(release.release, rng=release.rng("utility"), columns_left_out=release.columns_left_out)

    def disclosure(self) -> Disclosure | None:
        """Return the equivalence classes, if k-anonymity was requested."""
        if "disclosure" not in self.prepared.parts:
            return None
        settings, release = self.prepared.settings, self.release
        found = disclosure(
            release.release if release.alone is None else release.alone,
            columns=release.known,
            sensitive=release.sensitive,
            weights=settings.weight,
            household=settings.household,
            population_size=settings.population_size,
            minimum_cell=settings.min_cell,
        )
        if release.release.kind != "synthetic":
            original = equivalence_classes(release.release.original, columns=found.columns)
            found = replace(found, original_below={k: original.share_below(k) for k in found.below})
        # It holds numbers for each row, and is there to the end.
        return arrays_on_disk(found, release.release.original.store)

    def unseen(self) -> tuple[UnseenValues, ...]:
        """Return the released values that the original does not have."""
        return unseen_values(self.release.release)

    def truthful(self) -> bool | None:
        """Return whether released rows match people one to one, or None."""
        release = self.release
        if release.type_source == "detected" and release.truth is None:
            return True
        tables, columns = release.release, compared_with_people(release.release)
        if tables.original.rows * len(columns) > MOST_MATCHED:
            return None
        return truthful_share(tables.original, tables.released, columns, release.truth) >= TRUTHFUL

    def class_sizes(self) -> ClassSizes:
        """Return how many people share the stated quasi-identifiers."""
        people, release = self.prepared.people, self.release
        person = people.everybody.person[: release.release.original.rows] if people.has_several_rows else None
        return class_sizes(release.release, release.known, person=person, truth=release.truth)

    def siblings(self) -> SiblingFinding:
        """Return how close the release is to its people, compared with its siblings."""
        prepared, people = self.prepared, self.prepared.people
        is_usable = people.control.outcome == "usable"
        return sibling_finding(
            SiblingCase(
                release=self.release.release,
                original=prepared.original,
                control=prepared.control if is_usable else None,
                reference=prepared.reference,
                rows=people.inside,
                control_rows=people.outside if is_usable else np.empty(0, np.int64),
                identifier=prepared.settings.person_key,
                of_other_people=prepared.control_of_siblings and people.control.outcome == "other_people",
                rng=self.release.rng("siblings"),
            )
        )

    @cached_property
    def settled(self) -> tuple[AttackScenario, ...]:
        """The given scenarios, with their second groups of columns."""
        prepared, release = self.prepared, self.release
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

    def _settings_for(self, attack: AuditAttack) -> tuple[AuditSettings, tuple[AttackScenario, ...]]:
        """Return the settings and scenarios of an attack; by default one that links sources links the tables too."""
        settings, release = self.prepared.settings, self.release
        children = [each.name for each in release.release.children]
        if settings.scenarios is not None or not attack.two_sources or not children:
            return settings, self.settled
        scenarios = table_scenarios(children, release.known, rng=release.rng("splits"))
        return (replace(settings, scenarios=scenarios), scenarios) if scenarios else (settings, self.settled)

    @cached_property
    def _drawn(self) -> TargetSample:
        prepared, release = self.prepared, self.release
        per_person = sum(ATTACKS[name].per_person for name in prepared.attacks)
        return TargetSample(
            release=release.release,
            people=prepared.people,
            groups=prepared.groups,
            minimum_cell=prepared.settings.min_cell,
            looks=len(prepared.releases) * per_person or 1,
            ids=release.ids,
        )

    def _attacked(
        self, attack: str, randomness: str, *, settled: tuple[AttackScenario, ...], progress: Progress
    ) -> AttackedRelease:
        return AttackedRelease(
            attack=attack,
            prepared=self.release,
            drawn=self._drawn,
            targets=self.prepared.targets,
            settings=self.prepared.settings,
            settled=settled,
            rng=self.release.rng(randomness),
            progress=progress,
        )


def parts_before(prepared: PreparedAudit) -> tuple[str, ...]:
    """Return the attacks and measures on the original: three criteria."""
    attacks = [name for name in prepared.attacks if ATTACKS[name].answers is not None]
    return (*attacks, *(part for part in prepared.parts if part == "disclosure"))


def original_itself(prepared: PreparedAudit) -> ReleaseTasks:
    """Return the original as a release, for comparison."""
    first = prepared.releases[0]
    original = first.release.original
    release = Release(
        original, replace(original, name=UNPROTECTED), first.release.control, kind="masked", name=UNPROTECTED
    )
    whole = prepared.original
    alone = Release(whole, replace(whole, name=UNPROTECTED), kind="masked", name=UNPROTECTED)
    settings = prepared.settings
    neighbors = None if settings.neighbors is None else min(settings.neighbors, original.rows)
    # It shows how bad it was, and is not judged: that takes fewer people, who come in an order by lot.
    people = prepared.people
    few = replace(people, inside=people.inside[:ATTACKED_BEFORE], outside=people.outside[:ATTACKED_BEFORE], parts=None)
    bare = replace(
        prepared,
        parts=parts_before(prepared),
        settings=replace(settings, neighbors=neighbors),
        people=few,
    )
    return ReleaseTasks(bare, replace(first, release=release, alone=alone, truth=np.arange(original.rows), sha256=None))


def _with_small_groups(
    attack: AuditAttack, attacked: AttackedRelease, results: Sequence[AttackResult]
) -> Sequence[AttackResult]:
    """Return the attack result, with rates of small subgroups."""
    small = attacked.drawn.people.of_small_groups()
    if small is None or not any(_of_drawn_group(each) for one in results for each in one.evidence):
        return results
    drawn = replace(attacked.drawn, people=small, groups=None)
    again = attack.run(replace(attacked, drawn=drawn, rng=attacked.prepared.rng(attack.name), progress=silent))
    # Their figure is one of everybody, of whom all others score 0.
    own = {
        _about(each): replace(each, statistic=small.over_everybody(each.statistic), pool="everybody")
        for one in again
        for each in one.evidence
        if _of_drawn_group(each) and isinstance(each.statistic, np.ndarray)
    }
    return [replace(one, evidence=tuple(own.get(_about(each), each) for each in one.evidence)) for one in results]


def _of_drawn_group(evidence: FigureEvidence) -> bool:
    return bool(evidence.figure.group) and evidence.pool == "attacked"


def _about(evidence: FigureEvidence) -> tuple[str, ...]:
    figure = evidence.figure
    return figure.adversary, figure.secret, figure.group


#: The place of the original itself among the releases, where it is attacked as if it were one.
ITSELF = -1
Measure = Literal["utility", "disclosure", "unseen", "truthful", "class_sizes", "siblings"]
#: Measures that hold many numbers for each row.
_LARGE_MEASURES = ("utility",)
_MEASURING: dict[Measure, str] = {
    "utility": "measuring utility",
    "disclosure": "computing disclosure measures",
    "unseen": "checking released values against the original",
    "truthful": "matching released rows with people",
    "class_sizes": "counting equivalence classes",
    "siblings": "comparing the release with its siblings",
}


class AuditTask(NamedTuple):
    """One part of an audit: attack, measure, or column importance.

    ``release`` is the place of the release, ``part`` the attack or the measure, and ``finding`` the place of the
    finding that is weighed among those of the release.
    """

    step: Literal["attack", "measure", "weigh"]
    release: int
    part: str
    finding: int = 0

    @property
    def order(self) -> int:
        """Which tasks start first: those that threads share little of, then those that take long."""
        attack = ATTACKS[self.part] if self.step == "attack" else None
        return 2 if attack is None else 0 if attack.starts_first else 1 if attack.learns else 2

    @property
    def takes_memory(self) -> bool:
        """Whether the task runs alone where memory is short."""
        return self.part in _LARGE_MEASURES if self.step == "measure" else ATTACKS[self.part].takes_memory

    @property
    def name(self) -> str:
        """The task's name in files."""
        which = "original" if self.release == ITSELF else f"release-{self.release + 1}"
        return f"{which}-{self.step}-{self.part}"

    def words(self, prepared: PreparedAudit) -> str:
        """Return the progress text of the task."""
        if self.step == "measure":
            doing = next(words for measure, words in _MEASURING.items() if measure == self.part)
        else:
            doing = f"running {ATTACKS[self.part].title.lower()}"
        return f"{doing}{self.where(prepared)}"

    def where(self, prepared: PreparedAudit) -> str:
        """Return on what it is done; nothing where there is one release."""
        if self.release == ITSELF:
            return f" on the {UNPROTECTED}"
        several = len(prepared.releases) > 1
        return f" on {prepared.releases[self.release].release.name}" if several else ""


def tasks_of(prepared: PreparedAudit) -> Iterator[AuditTask]:
    """Yield the initial tasks by release, the original last."""
    parts = dict.fromkeys(range(len(prepared.releases)), prepared.parts)
    parts |= {ITSELF: parts_before(prepared)} if "before" in prepared.parts else {}
    for place, own in parts.items():
        yield from (AuditTask("attack", place, part) for part in own if part in ATTACKS)
        yield from (
            AuditTask("measure", place, each) for each in _MEASURING if each in (*own, *_always(prepared, place))
        )


def _always(prepared: PreparedAudit, place: int) -> tuple[Measure, ...]:
    """Return the measures that every decision needs."""
    siblings: tuple[Measure, ...] = ("siblings",) if prepared.reference.siblings and place != ITSELF else ()
    if place == ITSELF or prepared.releases[place].release.kind != "masked":
        return ("unseen", *siblings)
    return ("unseen", "truthful", *(("class_sizes",) if prepared.settings.quasi_identifiers else ()), *siblings)


def bench_of(prepared: PreparedAudit, place: int) -> ReleaseTasks:
    """Return the release at this position, or the original."""
    return original_itself(prepared) if place == ITSELF else ReleaseTasks(prepared, prepared.releases[place])


class Workbench:
    """A prepared audit in one process; caches two releases at a time."""

    def __init__(self, prepared: PreparedAudit) -> None:
        self.prepared = prepared
        self._benches: dict[int, ReleaseTasks] = {}
        self._lock = Lock()

    def compute(self, task: AuditTask, finding: AttackFinding | None = None, *, progress: Progress = silent) -> Any:
        """Return the task's result."""
        bench = self._bench(task.release)
        if finding is not None:
            return bench.weigh(finding)
        if task.step == "attack":
            return bench.attack(task.part, progress=progress)
        return getattr(bench, task.part)()

    def _bench(self, place: int) -> ReleaseTasks:
        # While the last tasks of one release are computed the first ones of the next may have begun.
        with self._lock:
            if place not in self._benches:
                others = list(self._benches)
                for old in others if self.prepared.original.store is not None else others[:-1]:
                    del self._benches[old]  # before the next one takes memory
                self._benches[place] = bench_of(self.prepared, place)
            return self._benches[place]
