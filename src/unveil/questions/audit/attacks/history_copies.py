"""Exact copies of whole histories: all child rows of a person are released unchanged."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from unveil.guesses.trials import Attempts, Trials
from unveil.metrics.verdict.effects import RatePair
from unveil.questions.audit.attack_results import AttackResult, FigureEvidence, figure_of, finding_of, withheld
from unveil.questions.audit.attacks.attack import AttackedRelease, AuditAttack
from unveil.questions.audit.attacks.history_membership import everybody_of
from unveil.questions.audit.findings import UNDEFINED, AttackScenario
from unveil.questions.audit.people import per_person

if TYPE_CHECKING:
    from unveil._kernels.types import BoolArray
    from unveil.attacks.people.rows import PersonRows

#: The test of rare histories among those of the attack.
RARE = "rare histories"


def run(attacked: AttackedRelease) -> tuple[AttackResult, ...]:
    """Return the share of people whose whole history is released, by child table."""
    return tuple(_tried(attacked, rows) for rows in everybody_of(attacked))


def _tried(attacked: AttackedRelease, rows: "PersonRows") -> AttackResult:
    from unveil.attacks.people.exact import copied_histories

    found, people = copied_histories(rows), attacked.drawn.people
    columns = tuple(column.name for column in rows.columns)
    reason = "finds all rows of a person and no further ones"
    scenario = AttackScenario(name=f"{rows.name}, whole history", first=columns, reason=reason, origin="all")
    trials = _trials(attacked, found.copied)
    members = people.everybody.release.original.rows
    figures = {"rare_histories": float(found.rare[:members].sum())}
    finding = finding_of(attacked.attack, trials, scenario=scenario, figures=figures)
    finding = withheld(people, replace(finding, risk=replace(finding.risk, naive_rate=UNDEFINED)))
    if trials.control is None:
        return AttackResult(finding=finding)
    evidence = []
    for name, hits in ((scenario.name, found.copied), (f"{rows.name}, {RARE}", found.rare)):
        own = _trials(attacked, hits)
        about = finding_of(attacked.attack, own, scenario=replace(scenario, name=name))
        figure = figure_of(about, control_tries=0 if own.control is None else own.control.tries)
        shown = hits is found.copied
        evidence.append(FigureEvidence(figure=figure, statistic=hits, pool="everybody", is_shown=shown))
    return AttackResult(finding=finding, evidence=tuple(evidence), effect=RatePair.of(trials.attack, trials.control))


def _trials(attacked: AttackedRelease, hits: "BoolArray") -> Trials:
    """Return one attempt for each person of the original and of the control table."""
    people = attacked.drawn.people
    sides = np.split(hits * 1.0, [people.everybody.release.original.rows])
    inside, *outside = (Attempts.from_chances(each, rows=np.arange(each.size)) for each in sides if each.size)
    control = outside[0] if outside else None
    trials = Trials(attack=inside, naive=inside, control=control, what="the whole history is released")
    return per_person(trials, people, "everybody")


ATTACK = AuditAttack(
    name="history_copies",
    effect_name="copies",
    also_called=("copied histories",),
    run=run,
    title="Exact copies of histories",
    about=(
        "Exact copies of histories: people whose rows in a child table are, all together, those of a released person. "
        "A history is rare if a tree of columns (Chow and Liu) makes three of its rows too improbable, with a factor "
        "of 10."
    ),
    asks="copied",
    has_chance=False,
    per_person=False,
    needs_children=True,
    takes_memory=True,
)
