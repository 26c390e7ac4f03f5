"""Linkability of one release: by attack scenarios, or by random column splits."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from unveil._kernels.threads import in_threads
from unveil.errors import InputError
from unveil.guesses.trials import Trials
from unveil.metrics.trials.risk import Rate, attack_rate
from unveil.questions.audit.attack_results import AttackResult, finding_of, grouped, mean_of, tried, withheld
from unveil.questions.audit.attacks.attack import AttackedRelease, AuditAttack
from unveil.questions.audit.findings import AttackFinding, AttackScenario, ColumnImportance
from unveil.questions.audit.people import per_person
from unveil.questions.audit.scenarios import RANDOM_SPLITS, Split, affordable, random_splits

if TYPE_CHECKING:
    from unveil.data.table.release import Knowledge

#: Of so many columns at most it is measured what an adversary loses without them, and on so many people.
MOST_WEIGHED = 40
WEIGHED_ON = 500


def run(attacked: AttackedRelease) -> tuple[AttackResult, ...]:
    """Return findings on attack scenarios, or on column splits and their mean."""
    is_named = attacked.settings.scenarios is not None
    every = attacked.settled if is_named else _divisions(attacked)
    knowledge = attacked.drawn.knowledge()

    def link(numbered: tuple[int, AttackScenario]) -> tuple[Trials, ...]:
        number, scenario = numbered
        attacked.progress(f"linking as {scenario.name}", number / len(every))
        return _link(attacked, (scenario.first, scenario.second), knowledge, _neighbours(attacked))

    trials = in_threads(link, enumerate(every))
    found = [_tried(attacked, *both) for both in zip(every, trials, strict=True)]
    if not is_named:
        own = mean_of([per_person(each[0], attacked.drawn.people) for each in trials])
        mean = _finding(
            attacked, _mean_scenario(len(every), len(attacked.prepared.known)), own, _neighbours(attacked)[0]
        )
        found.append(AttackResult(finding=withheld(attacked.drawn.people, mean)))
    return tuple(found)


def _tried(attacked: AttackedRelease, scenario: AttackScenario, trials: Sequence[Trials]) -> AttackResult:
    """Return the finding at the first number of nearest rows."""
    drawn = attacked.drawn
    made: list[AttackResult] = []
    for k, each in zip(_neighbours(attacked), trials, strict=True):
        who = replace(scenario, name=f"{scenario.name}, {k} neighbors") if made else scenario
        groups = None if made else grouped(each, drawn)
        finding = _finding(attacked, who, per_person(each, drawn.people), k, groups=groups)
        made.append(tried(drawn, finding, each))
    wider = [
        replace(evidence, is_shown=False, effect=replace(one.effect, blocks_pass=False))
        for one in made[1:]
        for evidence in one.evidence
        if one.effect is not None
    ]
    return replace(made[0], evidence=(*made[0].evidence, *wider))


def _neighbours(attacked: AttackedRelease) -> tuple[int, ...]:
    return attacked.settings.neighbours_in(attacked.prepared.release.released.rows)


def _link(
    attacked: AttackedRelease, split: Split, knowledge: "Knowledge", neighbours: Sequence[int]
) -> tuple[Trials, ...]:
    """Return the trials of the attack for each number of nearest rows."""
    from unveil.attacks.table.linkability import Linkability

    attack = Linkability(first=split[0], second=split[1], targets=None)
    released = attacked.prepared.release.released
    return attack.run_at(neighbours, released=released, knowledge=knowledge, rng=attacked.rng)


def _divisions(attacked: AttackedRelease) -> tuple[AttackScenario, ...]:
    """Return random column splits; all of them where there are few."""
    columns = attacked.prepared.known
    shared = attacked.prepared.release.original.column_names
    if len(shared) == 1:
        check = (
            "Check that both come from the same data set, or choose" if attacked.prepared.columns_left_out else "Choose"
        )
        raise InputError(
            f"The files share only one column ({shared[0]!r}), and linkability needs two. {check} other attacks"
        )
    if len(columns) < 2:
        raise InputError(
            f"Linkability needs two columns that an attacker may know. Of {len(shared)} shared columns only "
            f"{columns[0]!r} remains; the rest are identifiers, sensitive, or ignored. Leave fewer columns out, or "
            "choose other attacks"
        )
    splits = random_splits(columns, at_most=affordable(RANDOM_SPLITS, len(columns)), rng=attacked.rng)
    return tuple(
        AttackScenario(
            name=f"column split {number}",
            first=first,
            second=second,
            reason=f"one of {len(splits)} column splits, drawn before the attack",
            origin="random",
        )
        for number, (first, second) in enumerate(splits, start=1)
    )


def _mean_scenario(splits: int, columns: int) -> AttackScenario:
    every = splits == 2 ** (columns - 1) - 1
    return AttackScenario(
        name=f"mean of all {splits} splits" if every else f"mean of {splits} random splits",
        first=(),
        reason="average over attackers with random columns",
        origin="mean",
    )


def _finding(
    attacked: AttackedRelease, scenario: AttackScenario, trials: Trials, neighbours: int, **more: object
) -> AttackFinding:
    return finding_of(attacked.attack, trials, scenario=scenario, neighbours=neighbours, **more)


def weigh(attacked: AttackedRelease, finding: AttackFinding) -> AttackFinding:
    """Return the finding with column importance, most important column first."""
    if finding.scenario is None:
        return finding
    groups = finding.scenario.first, finding.scenario.second
    knowledge = replace(attacked.drawn.knowledge(WEIGHED_ON), control=None)
    names = groups[0] + groups[1]

    def without(name: str) -> Rate:
        first, second = (tuple(each for each in group if each != name) for group in groups)
        if not first or not second:
            return finding.risk.naive_rate
        (trials,) = _link(attacked, (first, second), knowledge, _neighbours(attacked)[:1])
        return attack_rate(per_person(trials, attacked.drawn.people))

    # Without a column that is not there nothing is lost.
    tried_without = ("", *names[: affordable(MOST_WEIGHED, len(names))])
    whole, *rates = in_threads(without, tried_without)
    weights = [
        ColumnImportance(column=name, without=rate, whole=whole)
        for name, rate in zip(tried_without[1:], rates, strict=True)
    ]
    return replace(finding, weights=tuple(sorted(weights, key=lambda weight: -weight.loss)))


ATTACK = AuditAttack(
    name="linkability",
    also_called=("LinkabilityEvaluator", "linkage of two sources"),
    run=run,
    weigh=weigh,
    title="Linkability",
    about=(
        "Linkability: the attacker looks up the nearest released records by one group of columns and again by"
        " the other. A person is linked if both lists share a record. Ties count with their exact chance. One"
        " neighbor decides; three are tested too. Column splits are random unless scenarios are given."
    ),
    asks="together",
    answers="linkability",
    two_sources=True,
)
