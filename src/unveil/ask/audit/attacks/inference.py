"""Guessing a column of people from the others: of each sensitive column, or of the worst of all."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unveil.ask.audit.attacks.linkability import affordable
from unveil.ask.audit.findings import Finding, Scenario
from unveil.ask.audit.people import Drawn, Part
from unveil.ask.audit.trials import finding_of, grouped, mean_of, not_run, ranked, remarked
from unveil.attack.table.attribute_disclosure import AttributeDisclosure
from unveil.attack.table.inference import Guess, Inference
from unveil.data.table.release import Knowledge
from unveil.guess.trials import Trials
from unveil.measure.trials.risk import risk
from unveil.show.progress import Progress, silent

#: Where no column is said to be sensitive, so many are tried at most, fewer where there are very many.
MOST_SECRETS = 40


@dataclass(frozen=True, kw_only=True)
class Guesser:
    """Guesses columns of the people of one release, in one of two ways."""

    attack: str
    drawn: Drawn
    known: tuple[str, ...]
    sensitive: tuple[str, ...]
    #: Sensitive columns that the release does not hold.
    withheld: tuple[str, ...]
    tolerance: float
    rng: np.random.Generator
    model: Any = None

    def run(self, secret: str, known: tuple[str, ...], knowledge: Knowledge, guess: Guess = "lot") -> Trials:
        """Return the trials of guessing ``secret`` from the known columns."""
        attack: Any = AttributeDisclosure(secret=secret, known=known, tolerance=self.tolerance, targets=None)
        if self.attack == "inference":
            attack = Inference(
                secret=secret, known=known, tolerance=self.tolerance, targets=None, guess=guess, model=self.model
            )
        trials: Trials = attack.run(released=self.drawn.release.released, knowledge=knowledge, rng=self.rng)
        return trials

    def tries_likeliest(self, known: tuple[str, ...]) -> bool:
        """Return whether a second adversary is tried, who is better where rows that fit weigh differently."""
        return self.attack == "inference" and self.model is None and bool(self.drawn.release.released.coarse(known))

    def why_not(self, secret: str, knowledge: Knowledge) -> str:
        """Return why there is nothing to guess about these people, as a sentence, or nothing where there is."""
        for which, table in (
            ("data hold", self.drawn.release.original),
            ("release holds", self.drawn.release.released),
        ):
            if table.frame.get_column(secret).drop_nulls().n_unique() < 2:
                return f"The {which} no two different values of {secret!r}, so nothing can be learned about it."
        if knowledge.records.frame.get_column(secret).null_count() == knowledge.records.rows:
            return f"Nobody who was drawn has a value of {secret!r}, so nothing can be tried."
        return ""

    def finding(self, secret: str, scenario: Scenario, trials: Trials, part: Part) -> Finding:
        """Return what was found about this column."""
        return finding_of(
            self.attack,
            trials,
            scenario=scenario,
            secret=secret,
            remark=remarked(trials.notes),
            groups=grouped(trials, self.drawn, part, part),
        )


def guess_columns(
    guesser: Guesser, told: tuple[Scenario, ...] | None, *, progress: Progress = silent
) -> tuple[Finding, ...]:
    """Return how often each sensitive column is guessed right, or the worst column where none is sensitive."""
    findings = [
        not_run(guesser.attack, f"The release does not hold {secret!r}, so nothing can be read off it.", secret=secret)
        for secret in guesser.withheld
    ]
    if not guesser.sensitive:
        return tuple(findings) or _searched(guesser, progress)
    knowledge = guesser.drawn.knowledge("told")
    pairs = [(secret, who) for secret in guesser.sensitive for who in _adversaries(guesser, told)]
    for number, (secret, who) in enumerate(pairs):
        progress(f"guessing {secret}", number / len(pairs))
        if why := guesser.why_not(secret, knowledge):
            findings.append(not_run(guesser.attack, why, scenario=who, secret=secret))
            continue
        findings.append(guesser.finding(secret, who, guesser.run(secret, who.first, knowledge), "told"))
        if guesser.tries_likeliest(who.first):
            likeliest = replace(who, name=f"{who.name}, likeliest", reason=f"{who.reason} and says what is likeliest")
            trials = guesser.run(secret, who.first, knowledge, "class")
            findings.append(guesser.finding(secret, likeliest, trials, "told"))
    return tuple(findings)


def _adversaries(guesser: Guesser, told: tuple[Scenario, ...] | None) -> Iterator[Scenario]:
    if told is None:
        reason = "knows everything that is not sensitive"
        yield Scenario(name="all known columns", first=guesser.known, reason=reason, origin="all")
        return
    for scenario in told:
        # What is known is what was named, from whichever source.
        yield replace(scenario, first=scenario.first + scenario.second, second=())


def _searched(guesser: Guesser, progress: Progress) -> tuple[Finding, ...]:
    """Return the worst column found on one half of the people, measured on the other, and the mean over all columns."""
    if len(guesser.known) < 2:
        why = "There must be at least two columns to guess one from the other; one can be known here."
        return (not_run(guesser.attack, why),)
    seen = guesser.drawn.knowledge("search")
    trials: dict[str, Trials] = {}
    # In a very wide table only some columns can be tried: which ones is drawn by lot.
    most = min(affordable(MOST_SECRETS, len(guesser.known)), len(guesser.known))
    drawn = guesser.rng.choice(len(guesser.known), most, replace=False, shuffle=False)
    secrets = [guesser.known[place] for place in np.sort(drawn)]
    for number, secret in enumerate(secrets):
        progress("searching the column that is guessed best", number / len(secrets))
        if not guesser.why_not(secret, seen):
            trials[secret] = guesser.run(secret, _others(guesser.known, secret), seen)
    if not trials:
        return (not_run(guesser.attack, "No column has two different values that could be guessed."),)
    worst = max(trials, key=_score(trials))
    scenario = Scenario(
        name="worst column found",
        first=_others(guesser.known, worst),
        reason=f"was guessed best beyond others of {len(trials)} columns that were tried on other people",
        origin="worst",
    )
    fresh = guesser.drawn.knowledge("fresh")
    if why := guesser.why_not(worst, fresh):
        return (not_run(guesser.attack, why, scenario=scenario, secret=worst),)
    again = guesser.run(worst, scenario.first, fresh)
    mean = Scenario(
        name=f"mean of {len(trials)} columns", first=(), reason="any column from all others", origin="random"
    )
    return (
        guesser.finding(worst, scenario, again, "fresh"),
        finding_of(guesser.attack, mean_of(list(trials.values())), scenario=mean),
    )


def _score(trials: dict[str, Trials]) -> Callable[[str], float]:
    """Return how a column is ranked: by its excess, or without a control table by what it has beyond blind chance."""

    def score(secret: str) -> float:
        rates = risk(trials[secret])
        value = ranked(rates).value
        if not rates.excess_over_control.defined:
            value -= rates.naive_rate.value
        return float(np.nan_to_num(value, nan=-np.inf))

    return score


def _others(known: tuple[str, ...], secret: str) -> tuple[str, ...]:
    return tuple(name for name in known if name != secret)
