"""Linkability of one release: the adversaries that were named, or random divisions of the columns and the worst one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from unveil.ask.progress import Progress, silent
from unveil.ask.scenarios import RANDOM_SPLITS, SEARCHED_SPLITS, Split, random_splits, worst_split
from unveil.attack.table.anonymeter import AnonymeterLinkability
from unveil.attack.table.linkability import Linkability
from unveil.data.release import Knowledge, Release
from unveil.data.table import Table
from unveil.errors import InputError
from unveil.guess.trials import Attempts, Trials
from unveil.measure.risk import Rate, Risk, risk
from unveil.report.audit_findings import Finding, Links, Scenario, Search, Weight

Integers = NDArray[np.int64]
Compatibility = Literal["anonymeter"]
#: Of so many columns at most it is measured what the worst adversary loses without them.
MOST_WEIGHED = 40
#: An attack takes time for each column, so that a very wide table gets fewer tries: this many columns in all of them.
MOST_COLUMNS = 20_000
FEWEST_TRIES = 3


def affordable(tries: int, columns: int) -> int:
    """Return how many of so many tries a table of this many columns gets.

    >>> affordable(100, 15), affordable(100, 1000), affordable(100, 10_000)
    (100, 20, 3)
    """
    return max(min(tries, MOST_COLUMNS // max(columns, 1)), min(tries, FEWEST_TRIES))


@dataclass(frozen=True, kw_only=True)
class People:
    """Which rows are attacked, by position: those for named adversaries, and two halves that share nobody.

    ``search`` is where the worst split is looked for, ``fresh`` where the winner is measured.
    """

    told: Integers
    search: Integers
    fresh: Integers


def draw_people(table: Table, targets: int | None, *, rng: np.random.Generator) -> People:
    """Return whom to attack, drawn by what the rows hold and not by where they stand.

    Rows that are equal in all columns are interchangeable. Halves are of the same size where there are rows enough.

    >>> import polars as pl
    >>> people = draw_people(Table.from_frame(pl.DataFrame({"age": range(9)})), 3, rng=np.random.default_rng(1))
    >>> people.told.size, people.search.size, people.fresh.size
    (3, 3, 3)
    """
    content = table.frame.with_row_index("\x00row").sort(table.frame.columns)["\x00row"].to_numpy().astype(np.int64)
    drawn = content[rng.permutation(content.size)]
    most = content.size if targets is None else targets
    half = min(most, max(content.size // 2, 1))
    # Somebody must be measured even where there is only one person.
    fresh = drawn[:half]
    return People(told=drawn[:most], fresh=fresh, search=drawn[half : 2 * half] if content.size > 1 else fresh)


@dataclass(frozen=True, kw_only=True)
class Linked:
    """What linkability found on a release, and what the search for the worst adversary did."""

    findings: tuple[Finding, ...]
    weights: tuple[Weight, ...] = ()
    search: Search | None = None


@dataclass(frozen=True, kw_only=True)
class Linker:
    """Attacks one release with any two groups of columns."""

    release: Release
    people: People
    outsiders: People | None
    neighbours: int
    rng: np.random.Generator
    compatibility: Compatibility | None = None
    #: How many targets anonymeter draws by itself, and the seed of its own generator.
    targets: int | None = None
    seed: int | None = None

    def knowledge(self, part: Literal["told", "search", "fresh"]) -> Knowledge:
        """Return the people to attack, with as many others."""
        if self.compatibility == "anonymeter" and part == "told":
            return Knowledge(self.release.original, self.release.control)
        control = None
        if self.release.control is not None and self.outsiders is not None:
            control = self.release.control.take(getattr(self.outsiders, part))
        records = self.release.original.take(getattr(self.people, part))
        return Knowledge(records, control, scale=self.release.original.extremes())

    def run(self, split: Split, knowledge: Knowledge) -> Trials:
        """Return the trials of the attack on all of these people."""
        first, second = split
        if self.compatibility == "anonymeter":
            whole = knowledge.records.rows == self.release.original.rows
            attack = AnonymeterLinkability(
                first=first,
                second=second,
                neighbours=self.neighbours,
                targets=self.targets if whole else None,
                seed=self.seed,
            )
            return attack.run(released=self.release.released, knowledge=knowledge, rng=self.rng)
        plain = Linkability(first=first, second=second, neighbours=self.neighbours, targets=None)
        return plain.run(released=self.release.released, knowledge=knowledge, rng=self.rng)


def link_told(linker: Linker, scenarios: Sequence[Scenario], *, progress: Progress = silent) -> Linked:
    """Return the findings on the adversaries that were named, and what the worst of them owes to each column."""
    knowledge = linker.knowledge("told")
    findings = []
    for number, scenario in enumerate(scenarios):
        progress(f"linking as {scenario.name}", number / len(scenarios))
        findings.append(_finding(linker, scenario, linker.run((scenario.first, scenario.second), knowledge)))
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
    winner = _finding(linker, _worst_scenario(found.split, len(trials)), linker.run(found.split, fresh))
    mean = _finding(linker, _mean_scenario(len(splits), len(columns)), _mean([trials[split] for split in splits]))
    return Linked(
        findings=(winner, mean),
        weights=_weights(linker, winner, fresh),
        search=Search(
            splits=len(trials),
            random_splits=len(splits),
            targets=seen.records.rows,
            seemed=_ranked(trials[found.split]),
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
    value = _ranked(trials).value
    return float(np.nan_to_num(value, nan=-np.inf))


def _ranked(trials: Trials) -> Rate:
    """Return what a split is ranked by: its excess over control, or the rate itself where there is no excess."""
    rates = risk(trials)
    rate: Rate = getattr(rates, _ranking(rates))
    return rate


def _ranking(rates: Risk) -> Literal["attack_rate", "excess_over_control"]:
    return "excess_over_control" if rates.excess_over_control.defined else "attack_rate"


def _mean(trials: Sequence[Trials]) -> Trials:
    """Return the mean attempt over several attacks on the same people: as sure as one attack on them, not more."""

    def pooled(each: Callable[[Trials], Attempts | None]) -> Attempts | None:
        parts = [part for one in trials if (part := each(one)) is not None]
        if not parts:
            return None
        low, expected, high = (
            float(np.mean([getattr(part, name) for part in parts])) for name in ("low", "expected", "high")
        )
        return Attempts(tries=parts[0].tries, low=low, expected=min(max(expected, low), high), high=high)

    attack, naive = pooled(lambda one: one.attack), pooled(lambda one: one.naive)
    if attack is None or naive is None:  # there is always at least one attack
        raise ValueError("nothing to take the mean of")
    return Trials(attack=attack, naive=naive, control=pooled(lambda one: one.control), what=trials[0].what)


def _finding(linker: Linker, scenario: Scenario, trials: Trials) -> Finding:
    attack = trials.attack
    return Finding(
        attack="linkability",
        scenario=scenario,
        targets=attack.tries,
        neighbours=linker.neighbours,
        risk=risk(trials),
        links=Links(expected=attack.expected, low=attack.low, high=attack.high),
    )


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
