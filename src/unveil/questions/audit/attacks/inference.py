"""Attribute inference: by the nearest released record, or by a model."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from unveil._kernels.threads import in_threads
from unveil.guesses.trials import Trials
from unveil.questions.audit.attack_results import (
    AttackResult,
    by_groups,
    finding_of,
    grouped,
    mean_of,
    not_run,
    remarked,
    tried,
    withheld,
)
from unveil.questions.audit.attacks.attack import AttackedRelease, AuditAttack
from unveil.questions.audit.findings import AttackScenario
from unveil.questions.audit.people import per_person
from unveil.questions.audit.scenarios import affordable

if TYPE_CHECKING:
    from unveil.attacks import TableAttack
    from unveil.data.table.release import Knowledge

    AttackOn = Callable[[str, tuple[str, ...]], TableAttack]


#: Where no column is said to be sensitive, so many are tried at most, fewer where there are very many.
MOST_SECRETS = 40


@dataclass(frozen=True, kw_only=True)
class _Guesser:
    """Attribute inference on one release, by the attack of ``attack_on``."""

    attacked: AttackedRelease
    attack_on: "AttackOn"
    by_groups: bool

    def run(self, secret: str, known: tuple[str, ...], knowledge: "Knowledge") -> Trials:
        """Return the trials of inferring ``secret`` from the quasi-identifiers."""
        released = self.attacked.prepared.release.released
        attack = self.attack_on(secret, known)
        trials: Trials = attack.run(released=released, knowledge=knowledge, rng=self.attacked.rng)
        return trials

    def why_not(self, secret: str, knowledge: "Knowledge") -> str:
        """Return why nothing can be inferred about these people, or ""."""
        release = self.attacked.prepared.release
        for which, table in (("data hold", release.original), ("release holds", release.released)):
            if table.values(secret).n_unique() < 2:
                return f"The {which} no two different values of {secret!r}, so nothing can be learned about it."
        if knowledge.records.series(secret).null_count() == knowledge.records.rows:
            return f"No sampled person has a value of {secret!r}, so there is nothing to infer."
        return ""

    def tried(self, secret: str, scenario: AttackScenario, trials: Trials) -> AttackResult:
        """Return what was found about this column."""
        drawn, attack = self.attacked.drawn, self.attacked.attack
        remark, groups = remarked(trials.notes), grouped(trials, drawn)
        own = per_person(trials, drawn.people)
        found = finding_of(attack, own, scenario=scenario, secret=secret, remark=remark, groups=groups)
        made = tried(drawn, found, trials)
        if not self.by_groups or drawn.people.by is None:
            return made
        return replace(made, evidence=tuple(g for e in made.evidence for g in (e, *by_groups(drawn.people, e))))


def guess_columns(
    attacked: AttackedRelease,
    attack_on: "AttackOn",
    *,
    likeliest: "AttackOn | None" = None,
    by_groups: bool = False,
) -> tuple[AttackResult, ...]:
    """Return attribute inference of each sensitive column, or of each column.

    ``likeliest`` is a second adversary, who is tried where cells of the known columns stand for several values. With
    ``by_groups`` the groups that were asked for have figures of their own.
    """
    prepared, attack = attacked.prepared, attacked.attack
    guesser = _Guesser(attacked=attacked, attack_on=attack_on, by_groups=by_groups)
    found = [
        not_run(attack, f"The release has no column {secret!r}, so there is nothing to infer.", secret=secret)
        for secret in prepared.withheld
    ]
    if not prepared.sensitive:
        return tuple(found) or _every_column(guesser)
    knowledge = attacked.drawn.knowledge()
    pairs = [(secret, who) for secret in prepared.sensitive for who in _adversaries(attacked)]
    for number, (secret, who) in enumerate(pairs):
        attacked.progress(f"inferring {secret}", number / len(pairs))
        if why := guesser.why_not(secret, knowledge):
            found.append(not_run(attack, why, scenario=who, secret=secret))
            continue
        found.append(guesser.tried(secret, who, guesser.run(secret, who.first, knowledge)))
        if likeliest is not None and prepared.release.released.coarse(who.first):
            trials = replace(guesser, attack_on=likeliest).run(secret, who.first, knowledge)
            second = replace(who, name=f"{who.name}, most likely", reason=f"{who.reason}; infers the mode")
            found.append(guesser.tried(secret, second, trials))
    return tuple(found)


def _adversaries(attacked: AttackedRelease) -> Iterator[AttackScenario]:
    if attacked.settings.scenarios is None:
        reason = "knows everything that is not sensitive"
        yield AttackScenario(name="all quasi-identifiers", first=attacked.prepared.known, reason=reason, origin="all")
        return
    for scenario in attacked.settings.scenarios:
        # What is known is what was named, from whichever source.
        yield replace(scenario, first=scenario.first + scenario.second, second=())


def _every_column(guesser: _Guesser) -> tuple[AttackResult, ...]:
    """Return the inference of each column from the rest, and their mean."""
    attacked, known = guesser.attacked, guesser.attacked.prepared.known
    if len(known) < 2:
        why = "There must be at least two columns to guess one from the other; one can be known here."
        return (not_run(attacked.attack, why),)
    knowledge = attacked.drawn.knowledge()
    # In a very wide table only some columns can be tried: which ones is drawn by lot.
    most = min(affordable(MOST_SECRETS, len(known)), len(known))
    secrets = [known[place] for place in np.sort(attacked.rng.choice(len(known), most, replace=False, shuffle=False))]

    def guess(numbered: tuple[int, str]) -> Trials | None:
        number, secret = numbered
        attacked.progress(f"inferring {secret}", number / len(secrets))
        if guesser.why_not(secret, knowledge):
            return None
        return guesser.run(secret, _others(known, secret), knowledge)

    guessed = in_threads(guess, enumerate(secrets))
    trials = {secret: each for secret, each in zip(secrets, guessed, strict=True) if each is not None}
    if not trials:
        return (not_run(attacked.attack, "No column has two different values that could be guessed."),)
    mean = AttackScenario(
        name=f"mean of {len(trials)} columns", first=(), reason="each column from the rest", origin="mean"
    )
    own = mean_of([per_person(each, attacked.drawn.people) for each in trials.values()])
    found = finding_of(attacked.attack, own, scenario=mean)
    return (
        *(guesser.tried(secret, _from_others(known, secret), each) for secret, each in trials.items()),
        AttackResult(finding=withheld(attacked.drawn.people, found)),
    )


def _from_others(known: tuple[str, ...], secret: str) -> AttackScenario:
    reason = "knows everything but this column; no column was said to be sensitive"
    return AttackScenario(name="all other columns", first=_others(known, secret), reason=reason, origin="random")


def _others(known: tuple[str, ...], secret: str) -> tuple[str, ...]:
    return tuple(name for name in known if name != secret)


def run(attacked: AttackedRelease) -> tuple[AttackResult, ...]:
    """Return how often each sensitive column, or each column, is guessed right."""
    from unveil.attacks.table.inference import Inference

    made = partial(Inference, tolerance=attacked.settings.tolerance, targets=None, model=attacked.settings.model)
    return guess_columns(
        attacked,
        lambda secret, known: made(secret=secret, known=known),
        # Where rows that fit weigh differently, whoever says what is likeliest is better than one who draws lots.
        likeliest=None
        if attacked.settings.model is not None
        else lambda secret, known: made(secret=secret, known=known, guess="class"),
        by_groups=True,
    )


ATTACK = AuditAttack(
    name="inference",
    also_called=("attribute inference", "aia", "InferenceEvaluator"),
    run=run,
    title="Attribute inference",
    about=(
        "Attribute inference: the attacker predicts the sensitive value from the nearest released records. "
        "Numbers count as correct within 5% of the range."
    ),
    asks="secret",
    answers="inference",
    guesses_sensitive=True,
    takes_memory=True,
)
