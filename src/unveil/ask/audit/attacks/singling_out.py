"""Singling out on one release: descriptions by single columns, by several, and by what named adversaries know."""

from collections.abc import Iterator

import numpy as np

from unveil.ask.audit.findings import Finding, Scenario
from unveil.ask.audit.people import Drawn
from unveil.ask.audit.trials import finding_of, grouped, not_run, remarked
from unveil.attack.table.singling_out import SinglingOut
from unveil.errors import InputError
from unveil.guess.trials import Attempts, Trials

#: So many columns a description has unless fewer are known: more make nearly every record the only one of its kind.
SEVERAL = 3


def single_out(
    drawn: Drawn,
    columns: tuple[str, ...],
    told: tuple[Scenario, ...] | None,
    *,
    guesses: int,
    rng: np.random.Generator,
) -> tuple[Finding, ...]:
    """Return how often a description that fits one released record fits exactly one person in the data."""
    findings = []
    for scenario, size in _adversaries(columns, told):
        attack = SinglingOut(columns=scenario.first, size=size, guesses=guesses)
        try:
            trials = attack.run(released=drawn.release.released, knowledge=drawn.whole, rng=rng)
        except InputError as nothing:
            findings.append(not_run("singling_out", f"{_sentence(str(nothing))}", scenario=scenario))
            continue
        findings.append(
            finding_of(
                "singling_out",
                trials,
                scenario=scenario,
                remark=remarked(trials.notes),
                groups=grouped(_people(trials, drawn), drawn, None, None),
            )
        )
    return tuple(findings)


def _adversaries(columns: tuple[str, ...], told: tuple[Scenario, ...] | None) -> Iterator[tuple[Scenario, int]]:
    yield _all("one column", columns, "rare and extreme values of single columns"), 1
    several = min(SEVERAL, len(columns))
    if several > 1:
        reason = f"combinations of {several} columns, by lot"
        yield _all(f"{several} columns", columns, reason), several
    for scenario in told or ():
        named = scenario.first + scenario.second
        yield Scenario(name=scenario.name, first=named, reason=scenario.reason), min(SEVERAL, len(named))


def _all(name: str, columns: tuple[str, ...], reason: str) -> Scenario:
    return Scenario(name=name, first=columns, reason=reason, origin="all")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def _people(trials: Trials, drawn: Drawn) -> Trials:
    """Return the same as tries on people: who of the data is isolated by at least one description."""

    def isolated(attempts: Attempts | None, rows: int) -> Attempts | None:
        if attempts is None or attempts.rows is None:
            return None
        chances = np.zeros(rows)
        chances[attempts.rows[attempts.rows >= 0]] = 1.0
        return Attempts.from_chances(chances, rows=np.arange(rows))

    release = drawn.release
    attack = isolated(trials.attack, release.original.rows)
    if attack is None:
        return trials
    control = None
    if release.control is not None and release.control.rows == release.original.rows:
        # Among fewer people more of them are alone: tables of different sizes cannot be compared this way.
        control = isolated(trials.control, release.control.rows)
    return Trials(attack=attack, naive=attack, control=control, what="a description fits nobody else")
