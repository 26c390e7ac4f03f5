"""Singling out on one release: descriptions by single columns, by several, and by what named adversaries know."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from unveil.ask.audit.attacks.attack import AttackedRelease, AuditAttack
from unveil.ask.audit.findings import Finding, Scenario
from unveil.ask.audit.trials import finding_of, grouped, not_run, remarked
from unveil.ask.audit.words import percent_of
from unveil.errors import InputError
from unveil.guess.trials import Attempts, Trials

if TYPE_CHECKING:
    from unveil.data.table.release import Release

#: So many columns a description has unless fewer are known: more make nearly every record the only one of its kind.
SEVERAL = 3


def run(attacked: AttackedRelease) -> tuple[Finding, ...]:
    """Return how often a description that fits one released record fits exactly one person in the data."""
    from unveil.attack.table.singling_out import SinglingOut

    prepared, drawn, settings = attacked.prepared, attacked.drawn, attacked.settings
    findings = []
    # A description may use anything that is released.
    for scenario, size in _adversaries(prepared.known + prepared.sensitive, settings.scenarios):
        attack = SinglingOut(columns=scenario.first, size=size, guesses=settings.guesses)
        try:
            trials = attack.run(released=prepared.release.released, knowledge=drawn.whole, rng=attacked.rng)
        except InputError as nothing:
            findings.append(not_run(attacked.attack, remarked([str(nothing)]), scenario=scenario))
            continue
        findings.append(
            finding_of(
                attacked.attack,
                trials,
                scenario=scenario,
                remark=remarked(trials.notes),
                groups=grouped(_people(trials, prepared.release), drawn, None, None),
            )
        )
    return tuple(findings)


def _adversaries(columns: tuple[str, ...], named: tuple[Scenario, ...] | None) -> Iterator[tuple[Scenario, int]]:
    yield _all("one column", columns, "rare and extreme values of single columns"), 1
    several = min(SEVERAL, len(columns))
    if several > 1:
        reason = f"combinations of {several} columns, by lot"
        yield _all(f"{several} columns", columns, reason), several
    for scenario in named or ():
        held = scenario.first + scenario.second
        yield Scenario(name=scenario.name, first=held, reason=scenario.reason), min(SEVERAL, len(held))


def _all(name: str, columns: tuple[str, ...], reason: str) -> Scenario:
    return Scenario(name=name, first=columns, reason=reason, origin="all")


def _people(trials: Trials, release: "Release") -> Trials:
    """Return the same as tries on people: who of the data is isolated by at least one description."""

    def isolated(attempts: Attempts | None, rows: int) -> Attempts | None:
        if attempts is None or attempts.rows is None:
            return None
        chances = np.zeros(rows)
        chances[attempts.rows[attempts.rows >= 0]] = 1.0
        return Attempts.from_chances(chances, rows=np.arange(rows))

    attack = isolated(trials.attack, release.original.rows)
    if attack is None:
        return trials
    control = None
    if release.control is not None and release.control.rows == release.original.rows:
        # Among fewer people more of them are alone: tables of different sizes cannot be compared this way.
        control = isolated(trials.control, release.control.rows)
    return Trials(attack=attack, naive=attack, control=control, what="a description fits nobody else")


def _meaning(finding: Finding) -> str:
    share = percent_of(finding.risk.attack_rate, "descriptions that fit one released record")
    return f"{share} fit exactly one person in the data."


def _headline(finding: Finding, which: str) -> str:
    share = percent_of(finding.risk.attack_rate, "descriptions taken from it")
    return f"{which} lets anyone isolate people in the data: {share} fit exactly one person"


ATTACK = AuditAttack(
    name="singling_out",
    run=run,
    title="Singling out",
    question="Singling out: can a person be isolated?",
    lead=(
        "Somebody reads off the release a description that fits one record only, such as a rare value or a combination "
        "of values, and claims that exactly one person in the data fits it."
    ),
    about=(
        "Singling out: descriptions are made from the release alone and succeed where exactly one person of the "
        "original fits. Fewer rows are easier to single out from, so the excess compares both tables at the same "
        "number of rows, by exact hypergeometric chances. The interval is over descriptions: it says what further "
        "descriptions of this kind would reach on the same people."
    ),
    meaning=_meaning,
    headline=_headline,
    x_label="share of descriptions that fit exactly one person",
    caption="Descriptions made blindly, without looking for rare ones, show what is reached by chance.",
    answers="singling_out",
    tries_are_people=False,
)
