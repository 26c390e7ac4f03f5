"""Linkability of one release: the adversaries that were named, or random divisions of the columns and the worst one."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from unveil.ask.audit.attacks.attack import AttackedRelease, AuditAttack
from unveil.ask.audit.findings import Finding, Scenario, Search, Weight
from unveil.ask.audit.scenarios import RANDOM_SPLITS, SEARCHED_SPLITS, Split, affordable, random_splits, worst_split
from unveil.ask.audit.trials import finding_of, grouped, mean_of, ranked
from unveil.ask.audit.words import listed, percent_of
from unveil.errors import InputError
from unveil.guess.trials import Trials
from unveil.measure.trials.risk import risk

if TYPE_CHECKING:
    from unveil.ask.audit.people import Part
    from unveil.data.table.release import Knowledge

#: Of so many columns at most it is measured what the worst adversary loses without them.
MOST_WEIGHED = 40


def run(attacked: AttackedRelease) -> tuple[Finding, ...]:
    """Return the findings on the adversaries that were named, or on the worst one found and on the mean over many."""
    return _searched(attacked) if attacked.settings.scenarios is None else _named(attacked)


def _knowledge(attacked: AttackedRelease, part: "Part") -> "Knowledge":
    """Return the people to attack, with as many others; anonymeter draws them itself."""
    if attacked.settings.compatibility == "anonymeter" and part == "told":
        return attacked.drawn.whole
    return attacked.drawn.knowledge(part)


def _link(attacked: AttackedRelease, split: Split, knowledge: "Knowledge") -> Trials:
    """Return the trials of the attack on all of these people."""
    (first, second), settings, release = split, attacked.settings, attacked.prepared.release
    if settings.compatibility == "anonymeter":
        # Imported here: only those who ask for its emulation load it.
        from unveil.attack.anonymeter.linkability import AnonymeterLinkability

        emulated = AnonymeterLinkability(
            first=first,
            second=second,
            neighbours=settings.neighbours,
            targets=settings.targets if knowledge.records.rows == release.original.rows else None,
            seed=settings.compatibility_seed,
        )
        return emulated.run(released=release.released, knowledge=knowledge, rng=attacked.rng)
    from unveil.attack.table.linkability import Linkability

    attack = Linkability(first=first, second=second, neighbours=settings.neighbours, targets=None)
    return attack.run(released=release.released, knowledge=knowledge, rng=attacked.rng)


def _named(attacked: AttackedRelease) -> tuple[Finding, ...]:
    """Return the findings on the adversaries that were named, and what the worst of them owes to each column."""
    knowledge = _knowledge(attacked, "told")
    findings = []
    for number, scenario in enumerate(attacked.settled):
        attacked.progress(f"linking as {scenario.name}", number / len(attacked.settled))
        trials = _link(attacked, (scenario.first, scenario.second), knowledge)
        findings.append(_finding(attacked, scenario, trials, "told"))
    worst = max(range(len(findings)), key=lambda place: findings[place].worse.value)
    findings[worst] = _weighed(attacked, findings[worst], knowledge)
    return tuple(findings)


def _searched(attacked: AttackedRelease) -> tuple[Finding, ...]:
    """Return the mean over random splits and the worst split found, which is measured again on people it never saw."""
    columns, rng = attacked.prepared.known, attacked.rng
    if len(columns) < 2:
        raise InputError(
            f"linkability needs at least two columns that an adversary may know, but {len(columns)} "
            f"{'is' if len(columns) == 1 else 'are'} left. Leave fewer columns out, or choose other attacks (--attacks)"
        )
    seen = _knowledge(attacked, "search")
    trials: dict[Split, Trials] = {}
    few, more = (affordable(tries, len(columns)) for tries in (RANDOM_SPLITS, SEARCHED_SPLITS))

    def score(split: Split) -> float:
        trials[split] = _link(attacked, split, seen)
        attacked.progress("searching the worst adversary", min(len(trials) / (few + more), 1.0))
        return float(np.nan_to_num(ranked(risk(trials[split])).value, nan=-np.inf))

    splits = random_splits(columns, most=few, rng=rng)
    scored = {split: score(split) for split in splits}
    found = worst_split(columns, scored, score, most=more, rng=rng)
    fresh = _knowledge(attacked, "fresh")
    scenario = _worst_scenario(found.split, len(trials))
    winner = _finding(attacked, scenario, _link(attacked, found.split, fresh), "fresh")
    mean = mean_of([trials[split] for split in splits])
    seemed = risk(trials[found.split])
    search = Search(
        splits=len(trials),
        random_splits=len(splits),
        targets=seen.records.rows,
        seemed=ranked(seemed),
        figure="excess_over_control" if seemed.excess_over_control.defined else "attack_rate",
    )
    return (
        replace(_weighed(attacked, winner, fresh), search=search),
        _finding(attacked, _mean_scenario(len(splits), len(columns)), mean),
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


def _finding(attacked: AttackedRelease, scenario: Scenario, trials: Trials, part: "Part | None" = None) -> Finding:
    settings = attacked.settings
    # anonymeter draws its targets itself, so that positions are those of the whole table.
    whole = settings.compatibility == "anonymeter" and part == "told"
    groups = None if part is None else grouped(trials, attacked.drawn, *((None, None) if whole else (part, part)))
    return finding_of(attacked.attack, trials, scenario=scenario, neighbours=settings.neighbours, groups=groups)


def _weighed(attacked: AttackedRelease, worst: Finding, knowledge: "Knowledge") -> Finding:
    """Return the finding with what is left without each column, the most telling first; without a group only chance."""
    if worst.scenario is None:
        return worst
    groups = worst.scenario.first, worst.scenario.second
    weights = []
    names = groups[0] + groups[1]
    for name in names[: affordable(MOST_WEIGHED, len(names))]:
        first, second = (tuple(each for each in group if each != name) for group in groups)
        rates = risk(_link(attacked, (first, second), knowledge)) if first and second else None
        without = worst.risk.naive_rate if rates is None else rates.attack_rate
        weights.append(Weight(column=name, without=without, whole=worst.risk.attack_rate))
    return replace(worst, weights=tuple(sorted(weights, key=lambda weight: -weight.loss)))


def _meaning(finding: Finding) -> str:
    scenario = finding.scenario
    same = f"can tell for {percent_of(finding.risk.attack_rate, 'people')} that both are about the same person"
    if scenario is None or finding.is_mean:
        return (
            f"On average over divisions of the columns, whoever holds one part of them from each of two sources {same}."
        )
    return f"Whoever holds {listed(scenario.first)} from one source and {listed(scenario.second)} from another {same}."


def _headline(finding: Finding, which: str) -> str:
    who = finding.scenario
    held = "two parts of the columns from two sources"
    if who is not None and who.first:
        held = f"{listed(who.first)} from one source and {listed(who.second)} from another"
    share = percent_of(finding.risk.attack_rate, "people")
    return f"{which} lets anyone who holds {held} tell that both are about the same person for {share}"


ATTACK = AuditAttack(
    name="linkability",
    run=run,
    title="Linkability",
    question="Linkability: can facts from two sources be put together?",
    lead=(
        "Two sources each know something else about the same person. The release helps to put the two together when "
        "the records nearest to one half of what is known are also among those nearest to the other half."
    ),
    about=(
        "Linkability: for each target the k nearest released records are found by one group of columns and again by "
        "the other; the target is linked when the two share a record. Where records are equally near, the exact chance "
        "under random tie-breaking is used, so that columns that say nothing link nobody beyond chance."
    ),
    compatible=(
        "Linkability was run as anonymeter 1.1.0 runs it, for comparison with it: ties fall as its sort leaves them, "
        "so that the order of rows changes its figures, and columns that say nothing can seem to link everybody."
    ),
    adversary=(
        "A linkability adversary holds some columns of a person from one source and other columns from another, and "
        "uses the release to find out that both are about the same person."
    ),
    meaning=_meaning,
    headline=_headline,
    x_label="share of people whose facts are put together",
    searched_caption=(
        "The worst split is measured on people whom the search for it never saw. The mean is what an adversary who "
        "holds any columns reaches."
    ),
    answers="linkability",
    leads=True,
    two_sources=True,
)
