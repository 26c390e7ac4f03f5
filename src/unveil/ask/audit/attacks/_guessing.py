"""Guessing a column of people from the others: of each sensitive column, or of the worst of all."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from unveil.ask.audit.attacks.attack import AttackedRelease
from unveil.ask.audit.findings import Finding, Scenario
from unveil.ask.audit.scenarios import affordable
from unveil.ask.audit.trials import finding_of, grouped, mean_of, not_run, ranked, remarked
from unveil.ask.audit.words import listed
from unveil.guess.trials import Trials
from unveil.measure.trials.risk import risk

if TYPE_CHECKING:
    from unveil.ask.audit.people import Part
    from unveil.attack import Attacks
    from unveil.data.table.release import Knowledge

    AttackOn = Callable[[str, tuple[str, ...]], Attacks]

#: Where no column is said to be sensitive, so many are tried at most, fewer where there are very many.
MOST_SECRETS = 40


@dataclass(frozen=True, kw_only=True)
class _Guesser:
    """Guesses columns of the people of one release, by the attack that ``attack_on`` makes of secret and known."""

    attacked: AttackedRelease
    attack_on: "AttackOn"

    def run(self, secret: str, known: tuple[str, ...], knowledge: "Knowledge") -> Trials:
        """Return the trials of guessing ``secret`` from the known columns."""
        released = self.attacked.prepared.release.released
        attack = self.attack_on(secret, known)
        trials: Trials = attack.run(released=released, knowledge=knowledge, rng=self.attacked.rng)
        return trials

    def why_not(self, secret: str, knowledge: "Knowledge") -> str:
        """Return why there is nothing to guess about these people, as a sentence, or nothing where there is."""
        release = self.attacked.prepared.release
        for which, table in (("data hold", release.original), ("release holds", release.released)):
            if table.frame.get_column(secret).drop_nulls().n_unique() < 2:
                return f"The {which} no two different values of {secret!r}, so nothing can be learned about it."
        if knowledge.records.frame.get_column(secret).null_count() == knowledge.records.rows:
            return f"Nobody who was drawn has a value of {secret!r}, so nothing can be tried."
        return ""

    def finding(self, secret: str, scenario: Scenario, trials: Trials, part: "Part") -> Finding:
        """Return what was found about this column."""
        return finding_of(
            self.attacked.attack,
            trials,
            scenario=scenario,
            secret=secret,
            remark=remarked(trials.notes),
            groups=grouped(trials, self.attacked.drawn, part, part),
        )


def guess_columns(
    attacked: AttackedRelease, attack_on: "AttackOn", *, likeliest: "AttackOn | None" = None
) -> tuple[Finding, ...]:
    """Return how often each sensitive column is guessed right, or the worst column where none is sensitive.

    ``likeliest`` is a second adversary, who is tried where cells of the known columns stand for several values.
    """
    prepared, attack = attacked.prepared, attacked.attack
    guesser = _Guesser(attacked=attacked, attack_on=attack_on)
    findings = [
        not_run(attack, f"The release does not hold {secret!r}, so nothing can be read off it.", secret=secret)
        for secret in prepared.withheld
    ]
    if not prepared.sensitive:
        return tuple(findings) or _searched(guesser)
    knowledge = attacked.drawn.knowledge("told")
    pairs = [(secret, who) for secret in prepared.sensitive for who in _adversaries(attacked)]
    for number, (secret, who) in enumerate(pairs):
        attacked.progress(f"guessing {secret}", number / len(pairs))
        if why := guesser.why_not(secret, knowledge):
            findings.append(not_run(attack, why, scenario=who, secret=secret))
            continue
        findings.append(guesser.finding(secret, who, guesser.run(secret, who.first, knowledge), "told"))
        if likeliest is not None and prepared.release.released.coarse(who.first):
            trials = replace(guesser, attack_on=likeliest).run(secret, who.first, knowledge)
            second = replace(who, name=f"{who.name}, likeliest", reason=f"{who.reason} and says what is likeliest")
            findings.append(guesser.finding(secret, second, trials, "told"))
    return tuple(findings)


def _adversaries(attacked: AttackedRelease) -> Iterator[Scenario]:
    if attacked.settings.scenarios is None:
        reason = "knows everything that is not sensitive"
        yield Scenario(name="all known columns", first=attacked.prepared.known, reason=reason, origin="all")
        return
    for scenario in attacked.settings.scenarios:
        # What is known is what was named, from whichever source.
        yield replace(scenario, first=scenario.first + scenario.second, second=())


def _searched(guesser: _Guesser) -> tuple[Finding, ...]:
    """Return the worst column found on one half of the people, measured on the other, and the mean over all columns."""
    attacked, known = guesser.attacked, guesser.attacked.prepared.known
    if len(known) < 2:
        why = "There must be at least two columns to guess one from the other; one can be known here."
        return (not_run(attacked.attack, why),)
    seen = attacked.drawn.knowledge("search")
    trials: dict[str, Trials] = {}
    # In a very wide table only some columns can be tried: which ones is drawn by lot.
    most = min(affordable(MOST_SECRETS, len(known)), len(known))
    places = attacked.rng.choice(len(known), most, replace=False, shuffle=False)
    secrets = [known[place] for place in np.sort(places)]
    for number, secret in enumerate(secrets):
        attacked.progress("searching the column that is guessed best", number / len(secrets))
        if not guesser.why_not(secret, seen):
            trials[secret] = guesser.run(secret, _others(known, secret), seen)
    if not trials:
        return (not_run(attacked.attack, "No column has two different values that could be guessed."),)
    worst = max(trials, key=lambda secret: _score(trials[secret]))
    scenario = Scenario(
        name="worst column found",
        first=_others(known, worst),
        reason=f"was guessed best beyond others of {len(trials)} columns that were tried on other people",
        origin="worst",
    )
    fresh = attacked.drawn.knowledge("fresh")
    if why := guesser.why_not(worst, fresh):
        return (not_run(attacked.attack, why, scenario=scenario, secret=worst),)
    again = guesser.run(worst, scenario.first, fresh)
    mean = Scenario(
        name=f"mean of {len(trials)} columns", first=(), reason="any column from all others", origin="random"
    )
    return (
        guesser.finding(worst, scenario, again, "fresh"),
        finding_of(attacked.attack, mean_of(list(trials.values())), scenario=mean),
    )


def _score(trials: Trials) -> float:
    """Return how a column is ranked: by its excess, or without a control table by what it has beyond blind chance."""
    rates = risk(trials)
    value = ranked(rates).value
    if not rates.excess_over_control.defined:
        value -= rates.naive_rate.value
    return float(np.nan_to_num(value, nan=-np.inf))


def _others(known: tuple[str, ...], secret: str) -> tuple[str, ...]:
    return tuple(name for name in known if name != secret)


def held(finding: Finding) -> str:
    """Return what the adversary knows, as a sentence lists it."""
    who = finding.scenario
    return listed(who.first) if who is not None and who.first else "the other columns"
