"""Membership of people in the data, by two scores and by what was learned; it never gives an all-clear."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from unveil.guesses.trials import Attempts, Trials, mean_of_rows
from unveil.metrics.verdict.effects import cross_fitted_membership
from unveil.questions.audit.attack_results import (
    AttackResult,
    FigureEvidence,
    by_groups,
    finding_of,
    grouped,
    not_run,
    tried,
    without_rates,
)
from unveil.questions.audit.attacks._learned_membership import learned
from unveil.questions.audit.attacks.attack import AttackedRelease, AuditAttack
from unveil.questions.audit.findings import AttackScenario, Separation
from unveil.questions.audit.people import per_person
from unveil.questions.audit.words import percent_of
from unveil.report.suppressed_number import SuppressedNumber

if TYPE_CHECKING:
    from unveil._kernels.types import FloatArray

#: The share of everybody who are called members; the first is what the report shows.
SHOWN = 0.05
_METHODS = {
    "distance": ("calls those members to whom the release comes closest", (0.01, 0.2)),
    "density": ("calls those members to whom the release comes closer than people like them do", (0.01,)),
}


def run(attacked: AttackedRelease) -> tuple[AttackResult, ...]:
    """Return how often people in the data are called members, beside people outside who are."""
    from unveil.attacks.table.membership import pool_scores

    prepared, people = attacked.prepared, attacked.drawn.people
    if prepared.release.control is None:
        why = "Left out: membership compares with people who are not in the data, and there is no control table."
        return (not_run(attacked.attack, why),)
    columns = prepared.known + prepared.sensitive
    scores = pool_scores(
        released=prepared.release.released,
        knowledge=attacked.drawn.knowledge(),
        columns=columns,
        person=people.person("attacked"),
    )
    return (
        *(
            _tried(
                attacked, AttackScenario(name=f"by {method}", first=columns, reason=reason, origin="all"), shares, score
            )
            for (method, (reason, shares)), score in zip(_METHODS.items(), scores, strict=True)
        ),
        *learned(attacked),
    )


def _tried(
    attacked: AttackedRelease, who: AttackScenario, shares: tuple[float, ...], score: "FloatArray"
) -> AttackResult:
    """Return what one score finds: the share that is shown, other shares, and by density also the mean rank."""
    from unveil.attacks.table.membership import highest, ranks

    drawn, inside = attacked.drawn, attacked.drawn.people.inside.size

    def called(share: float) -> Trials:
        chances = highest(score, share)
        sides = [Attempts.from_chances(side, rows=np.arange(side.size)) for side in np.split(chances, [inside])]
        naive = Attempts.from_chances(np.full(inside, share))
        return Trials(attack=sides[0], naive=naive, control=sides[1], what="it is called a member")

    def found(share: float, name: str) -> AttackResult:
        trials = called(share)
        own, groups = per_person(trials, drawn.people), grouped(trials, drawn)
        finding = finding_of(attacked.attack, own, scenario=replace(who, name=name), groups=groups)
        return tried(drawn, finding, trials)

    def beside(share: float) -> FigureEvidence:
        evidence = found(share, f"{who.name}, {100 * share:g}% called").evidence[0]
        return replace(evidence, is_shown=False)

    person, sides = drawn.people.person("attacked"), np.split(score, [inside])
    if person is not None:
        sides = [mean_of_rows(own, whose) for own, whose in zip(sides, np.split(person, [inside]), strict=True)]
    shown = replace(found(SHOWN, who.name), effect=cross_fitted_membership(*sides))
    evidence = [*shown.evidence, *map(beside, shares)]
    if who.name == "by density":
        if drawn.people.by is not None:
            evidence += by_groups(drawn.people, shown.evidence[0])
        # A mean rank is no share of people.
        about = replace(without_rates(shown.evidence[0].figure), adversary=f"{who.name}, mean rank")
        evidence.append(replace(shown.evidence[0], figure=about, statistic=ranks(score), is_shown=False))
    return replace(shown, evidence=tuple(evidence))


def _surest(separation: Separation) -> str:
    """Return what the adversary reaches who must hardly err; nothing where too few people could show it."""
    sure = [
        each for each in separation.named if each.rate.defined and not isinstance(each.rate.value, SuppressedNumber)
    ]
    if not sure:
        return ""
    least = min(sure, key=lambda each: each.wrongly)
    whom = percent_of(least.rate, "people in the data")
    return f"The adversary names {whom} while naming {100 * least.wrongly:g}% of others wrongly. "


ATTACK = AuditAttack(
    name="membership",
    also_called=("mia", "membership inference", "membership disclosure"),
    run=run,
    title="Membership inference",
    about=(
        "Membership inference: scores are the distance to the closest released record (DCR), the same "
        "compared with the distance to the nearest other person (density ratio), and a score learned from a "
        "third of the people, who are not measured. The effect is TPR − FPR at 5% nominal FPR; other people "
        "set the cutoff."
    ),
    asks="member",
    needs_control=True,
    learns=True,
    takes_memory=True,
)
