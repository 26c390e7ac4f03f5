"""Linkability of one release: the adversaries that were named, or random divisions of the columns and the worst one."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from unveil.ask.audit.findings import Finding, Scenario, Search, Weight
from unveil.ask.audit.people import Drawn, Part
from unveil.ask.audit.scenarios import RANDOM_SPLITS, SEARCHED_SPLITS, Split, random_splits, worst_split
from unveil.ask.audit.settings import Compatibility
from unveil.ask.audit.trials import finding_of, grouped, mean_of, ranked
from unveil.attack.anonymeter.linkability import AnonymeterLinkability
from unveil.attack.table.linkability import Linkability
from unveil.data.table.release import Knowledge
from unveil.errors import InputError
from unveil.guess.trials import Trials
from unveil.measure.trials.risk import Risk, risk
from unveil.show.progress import Progress, silent

#: Of so many columns at most it is measured what the worst adversary loses without them.
MOST_WEIGHED = 40
#: An attack takes time for each column, so that a very wide table gets fewer tries: this many columns in all of them.
MOST_COLUMNS = 5_000
FEWEST_TRIES = 3


def affordable(tries: int, columns: int) -> int:
    """Return how many of so many tries a table of this many columns gets.

    >>> affordable(100, 15), affordable(100, 500), affordable(100, 10_000)
    (100, 10, 3)
    """
    return max(min(tries, MOST_COLUMNS // max(columns, 1)), min(tries, FEWEST_TRIES))


@dataclass(frozen=True, kw_only=True)
class Linked:
    """What linkability found on a release, and what the search for the worst adversary did."""

    findings: tuple[Finding, ...]
    weights: tuple[Weight, ...] = ()
    search: Search | None = None


@dataclass(frozen=True, kw_only=True)
class Linker:
    """Attacks one release with any two groups of columns."""

    drawn: Drawn
    neighbours: int
    rng: np.random.Generator
    compatibility: Compatibility | None = None
    #: How many targets anonymeter draws by itself, and the seed of its own generator.
    targets: int | None = None
    seed: int | None = None

    def knowledge(self, part: Part) -> Knowledge:
        """Return the people to attack, with as many others; anonymeter draws them itself."""
        if self.compatibility == "anonymeter" and part == "told":
            return self.drawn.whole
        return self.drawn.knowledge(part)

    def run(self, split: Split, knowledge: Knowledge) -> Trials:
        """Return the trials of the attack on all of these people."""
        first, second = split
        if self.compatibility == "anonymeter":
            whole = knowledge.records.rows == self.drawn.release.original.rows
            attack = AnonymeterLinkability(
                first=first,
                second=second,
                neighbours=self.neighbours,
                targets=self.targets if whole else None,
                seed=self.seed,
            )
            return attack.run(released=self.drawn.release.released, knowledge=knowledge, rng=self.rng)
        plain = Linkability(first=first, second=second, neighbours=self.neighbours, targets=None)
        return plain.run(released=self.drawn.release.released, knowledge=knowledge, rng=self.rng)


def link_told(linker: Linker, scenarios: Sequence[Scenario], *, progress: Progress = silent) -> Linked:
    """Return the findings on the adversaries that were named, and what the worst of them owes to each column."""
    knowledge = linker.knowledge("told")
    findings = []
    for number, scenario in enumerate(scenarios):
        progress(f"linking as {scenario.name}", number / len(scenarios))
        findings.append(_finding(linker, scenario, linker.run((scenario.first, scenario.second), knowledge), "told"))
    worst = max(findings, key=lambda finding: finding.worse.value)
    return Linked(findings=tuple(findings), weights=_weights(linker, worst, knowledge))


def link_searched(linker: Linker, columns: Sequence[str], *, progress: Progress = silent) -> Linked:
    """Return the mean over random splits and the worst split found, which is measured again on people it never saw."""
    if len(columns) < 2:
        raise InputError(
            f"linkability needs at least two columns that an adversary may know, but {len(columns)} "
            f"{'is' if len(columns) == 1 else 'are'} left. Leave fewer columns out, or choose other attacks (--attacks)"
        )
    seen = linker.knowledge("search")
    trials: dict[Split, Trials] = {}
    few, more = (affordable(tries, len(columns)) for tries in (RANDOM_SPLITS, SEARCHED_SPLITS))

    def score(split: Split) -> float:
        trials[split] = linker.run(split, seen)
        progress("searching the worst adversary", min(len(trials) / (few + more), 1.0))
        return _score(trials[split])

    splits = random_splits(columns, most=few, rng=linker.rng)
    scored = {split: score(split) for split in splits}
    found = worst_split(columns, scored, score, most=more, rng=linker.rng)
    fresh = linker.knowledge("fresh")
    winner = _finding(linker, _worst_scenario(found.split, len(trials)), linker.run(found.split, fresh), "fresh")
    mean = _finding(linker, _mean_scenario(len(splits), len(columns)), mean_of([trials[split] for split in splits]))
    return Linked(
        findings=(winner, mean),
        weights=_weights(linker, winner, fresh),
        search=Search(
            splits=len(trials),
            random_splits=len(splits),
            targets=seen.records.rows,
            seemed=ranked(risk(trials[found.split])),
            figure=_ranking(risk(trials[found.split])),
        ),
    )


def _worst_scenario(split: Split, tried: int) -> Scenario:
    return Scenario(
        name="worst split found",
        first=split[0],
        second=split[1],
        reason=f"reached most of {tried} divisions of the columns that were tried on other people",
        origin="worst",
    )


def _mean_scenario(splits: int, columns: int) -> Scenario:
    every = splits == 2 ** (columns - 1) - 1
    return Scenario(
        name=f"mean of all {splits} splits" if every else f"mean of {splits} random splits",
        first=(),
        reason="what an adversary reaches who holds any columns, on average",
        origin="random",
    )


def _score(trials: Trials) -> float:
    value = ranked(risk(trials)).value
    return float(np.nan_to_num(value, nan=-np.inf))


def _ranking(rates: Risk) -> Literal["attack_rate", "excess_over_control"]:
    return "excess_over_control" if rates.excess_over_control.defined else "attack_rate"


def _finding(linker: Linker, scenario: Scenario, trials: Trials, part: Part | None = None) -> Finding:
    # anonymeter draws its targets itself, so that positions are those of the whole table.
    whole = linker.compatibility == "anonymeter" and part == "told"
    groups = None if part is None else grouped(trials, linker.drawn, *((None, None) if whole else (part, part)))
    return finding_of("linkability", trials, scenario=scenario, neighbours=linker.neighbours, groups=groups)


def _weights(linker: Linker, worst: Finding, knowledge: Knowledge) -> tuple[Weight, ...]:
    """Return what is left without each column, the most telling first; without a whole group only chance is left."""
    if worst.scenario is None:
        return ()
    groups = worst.scenario.first, worst.scenario.second
    weights = []
    names = groups[0] + groups[1]
    for name in names[: affordable(MOST_WEIGHED, len(names))]:
        first, second = (tuple(each for each in group if each != name) for group in groups)
        rates = risk(linker.run((first, second), knowledge)) if first and second else None
        without = worst.risk.naive_rate if rates is None else rates.attack_rate
        weights.append(Weight(column=name, without=without, whole=worst.risk.attack_rate))
    return tuple(sorted(weights, key=lambda weight: -weight.loss))
