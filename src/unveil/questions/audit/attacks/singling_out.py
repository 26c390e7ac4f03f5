"""Singling out: by predicates on single columns, several, or a scenario's."""

from collections.abc import Iterator
from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING

import numpy as np

from unveil.errors import InputError
from unveil.guesses.trials import Attempts, Trials
from unveil.metrics.trials.risk import Rate, Risk, clopper_pearson
from unveil.questions.audit.attack_results import (
    AttackResult,
    FigureEvidence,
    figure_of,
    grouped,
    not_run,
    remarked,
    withheld,
)
from unveil.questions.audit.attacks.attack import AttackedRelease, AuditAttack
from unveil.questions.audit.findings import UNDEFINED, AttackFinding, AttackScenario, SuccessRange
from unveil.report.suppressed_number import SuppressedNumber

if TYPE_CHECKING:
    from unveil.attacks.table.singling_out import PredicateMatches
    from unveil.metrics.trials.groups import RatesByGroup
    from unveil.metrics.verdict.singling_out import SinglingOutRate

#: So many columns a description has unless fewer are known: more make nearly every record the only one of its kind.
SEVERAL = 3


def run(attacked: AttackedRelease) -> tuple[AttackResult, ...]:
    """Return how often a predicate isolates exactly one person."""
    from unveil.attacks.table.singling_out import SinglingOut

    prepared, settings = attacked.prepared, attacked.settings
    found = []
    # A description may use anything that is released.
    for scenario, size in _adversaries(prepared.known + prepared.sensitive, settings.scenarios):
        attack = SinglingOut(columns=scenario.first, size=size, guesses=settings.predicates)
        try:
            fitted = attack.fitted(released=prepared.release.released, knowledge=attacked.drawn.whole, rng=attacked.rng)
        except InputError as nothing:
            # What to do about it is for whoever runs the attack alone.
            why = remarked([str(nothing).partition(". ")[0]])
            found.append(not_run(attacked.attack, why, scenario=scenario))
            continue
        found.append(tried_predicates(attacked, scenario, fitted))
    return tuple(found)


def tried_predicates(attacked: AttackedRelease, scenario: AttackScenario, fitted: "PredicateMatches") -> AttackResult:
    """Return predicates that isolate one person, their baseline, and their test."""
    from unveil.metrics.verdict.effects import singling_out_pair
    from unveil.metrics.verdict.family import singling_out_statistic
    from unveil.metrics.verdict.singling_out import singling_out

    people, pool = attacked.drawn.people, attacked.drawn.people.pool("everybody")
    measured = singling_out(pool, fitted.starts, fitted.rows, rng=attacked.rng)
    guesses = fitted.starts.size - 1
    hits = measured.attack.value * guesses
    finding = AttackFinding(
        attack=attacked.attack,
        targets=guesses,
        risk=Risk(
            attack_rate=measured.attack,
            naive_rate=clopper_pearson(fitted.naive.expected, fitted.naive.tries),
            control_rate=_strangers(measured),
            excess_over_control=measured.excess,
        ),
        links=SuccessRange(expected=hits, low=hits, high=hits),
        scenario=scenario,
        figures={"most_by_guessing": measured.most},
        remark=remarked(fitted.notes),
        groups=_groups(attacked, fitted),
    )
    finding = withheld(people, finding)
    evidence = FigureEvidence(
        figure=figure_of(finding, control_tries=guesses),
        statistic=singling_out_statistic(pool, fitted.starts, fitted.rows),
        pool="everybody",
        about=np.unique(pool.places[fitted.rows]).size,
        stands_overlap=False,
    )
    # Without a control group that can be used, the baseline is the highest one.
    usable = measured if people.compares else replace(measured, strangers=UNDEFINED)
    return AttackResult(finding=finding, evidence=(evidence,), effect=singling_out_pair(usable))


def _strangers(measured: "SinglingOutRate") -> Rate:
    """Return the baseline from the control group: a number, else bounds."""
    rate = measured.strangers
    if isnan(rate.value):
        return UNDEFINED
    if measured.shown:
        return rate
    return Rate(SuppressedNumber(rate.low, rate.high, at=rate.value), rate.low, rate.high)


def _adversaries(
    columns: tuple[str, ...], named: tuple[AttackScenario, ...] | None
) -> Iterator[tuple[AttackScenario, int]]:
    yield _all("one column", columns, "rare and extreme values of single columns"), 1
    several = min(SEVERAL, len(columns))
    if several > 1:
        reason = f"random combinations of {several} columns"
        yield _all(f"{several} columns", columns, reason), several
    for scenario in named or ():
        held = scenario.first + scenario.second
        yield AttackScenario(name=scenario.name, first=held, reason=scenario.reason), min(SEVERAL, len(held))


def _all(name: str, columns: tuple[str, ...], reason: str) -> AttackScenario:
    return AttackScenario(name=name, first=columns, reason=reason, origin="all")


def _groups(attacked: AttackedRelease, fitted: "PredicateMatches") -> "RatesByGroup | None":
    """Return the singling-out rates of subgroups."""
    original, everybody = attacked.prepared.release.original, attacked.drawn.people.everybody

    def isolated(first: int, people: int, rows: int) -> Attempts:
        # A person whom a description fits in several rows is one.
        guess = np.repeat(np.arange(fitted.starts.size - 1), np.diff(fitted.starts))
        pairs = np.unique(np.column_stack([guess, everybody.person[fitted.rows]]), axis=0)
        here = pairs[(pairs[:, 1] >= first) & (pairs[:, 1] < first + people)]
        alone = np.bincount(here[:, 0], minlength=fitted.starts.size)[here[:, 0]] == 1
        chances = np.zeros(people)
        chances[here[alone, 1] - first] = 1.0
        return Attempts.from_chances(chances, rows=everybody.first_row[first : first + people] - rows)

    attack = isolated(0, everybody.members, 0)
    # Among fewer people more of them are alone: tables of different sizes cannot be compared this way.
    same = everybody.others == everybody.members
    outside = isolated(everybody.members, everybody.others, original.rows) if same else None
    trials = Trials(attack=attack, naive=attack, control=outside, what="a predicate fits no one else")
    return grouped(trials, attacked.drawn, "everybody")


ATTACK = AuditAttack(
    name="singling_out",
    also_called=("isolation", "SinglingOutEvaluator"),
    run=run,
    title="Singling out",
    about=(
        "Singling out: 1,000 predicates are built from the release alone, on rare values of one column and on"
        " random combinations of columns. The attack succeeds when a predicate fits exactly one person. The "
        "baseline is the same count for as many people of the control group."
    ),
    asks="who",
    answers="singling_out",
    starts_first=True,
    tries_are_people=False,
)
