"""Combine the attacks on single runs into results on the generator."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil._kernels.verdict.labels import BLOCK, labels, member_sums
from unveil.metrics.epsilon.bound import EpsilonBound
from unveil.metrics.epsilon.claim import Claim
from unveil.metrics.epsilon.coins import bound_of_coins, bound_of_pairs
from unveil.metrics.epsilon.power import coins_needed
from unveil.metrics.trials.risk import Rate, Risk, clopper_pearson, excess
from unveil.metrics.verdict.copies import LEVEL
from unveil.metrics.verdict.effects import RatePair
from unveil.metrics.verdict.family import DRAWN_UP_TO, FittedGuesses, OwnDraws, Statistic
from unveil.metrics.verdict.pool import Pool
from unveil.questions.audit.attack_results import AttackResult, FigureEvidence
from unveil.questions.audit.findings import AttackFinding, CopyFindings, JudgedFigure, SuccessRange
from unveil.questions.audit.generator.design import Design, GeneratorRun
from unveil.questions.audit.generator.findings import EpsilonFinding, RunSpread
from unveil.questions.audit.inputs import PreparedAudit
from unveil.questions.audit.people import PeopleSelection
from unveil.report.suppressed_number import SuppressedNumber

if TYPE_CHECKING:
    from unveil.data.table import Table
    from unveil.questions.audit.findings import Audit
    from unveil.questions.audit.generator.settings import CanaryKind


#: What tells figures of one run apart.
Key = tuple[str, ...]
#: From a number of draws: blocks of them, each with one array [draw, place] per run that is True for members.
#: The first block is the observed one.
DrawRuns = Callable[[int], Iterator[Sequence[BoolArray]]]
#: The result of one run: scores by place, whose sum over members counts, or guesses that fit places.
RunStatistic = FloatArray | FittedGuesses
#: Labels that a block of draws has at most.
_LABELS = 2**24


@dataclass(frozen=True, eq=False)
class AttackedRun:
    """A run of the generator: its audit and attack results."""

    run: GeneratorRun
    prepared: PreparedAudit
    tried: tuple[AttackResult, ...]


class RunCounts(NamedTuple):
    """Number of runs with each person given, and with each held out, on average."""

    inside: float
    outside: float


def combined(attacked: Sequence[AttackedRun], design: Design, *, seed: int) -> tuple[AttackResult, ...]:
    """Return each attack's result over all runs: mean rates, joint tests.

    Where the same people are held out in all runs, a person's score is the mean over runs. With folds everybody is
    held out once in each round, and a figure is the sum over runs of what it is on the people of the run; drawn anew is
    who is in which fold of each round. What is not there in every run (as a secret that has one value in some release)
    is left out.
    """
    first = attacked[0]
    judge = _Runs(attacked) if design.folds == 1 else _Folds(attacked, design, seed)
    rounds = len(attacked) / design.folds
    times = RunCounts(rounds * max(design.folds - 1, 1), rounds)
    made = []
    for one in first.tried:
        same = [found for each in attacked if (found := _same(one, each.tried)) is not None]
        if len(same) == len(attacked):
            made.append(_mean_of(same, judge, times))
    return tuple(made)


def spread_of(attacked: Sequence[AttackedRun], shown: Sequence[AttackFinding]) -> tuple[RunSpread, ...]:
    """Return what single runs gave of the findings that a report shows."""
    made = []
    for finding in shown:
        every = [found.finding for each in attacked if (found := _same_as(_key(finding), each.tried)) is not None]
        rates = [each.worse for each in every]
        if (
            len(attacked) < 2
            or len(rates) < len(attacked)
            or any(isinstance(each.value, SuppressedNumber) for each in rates)
        ):
            continue
        compares = all(each.risk.excess_over_control.defined for each in every)
        made.append(
            RunSpread(
                attack=finding.attack,
                adversary="" if finding.scenario is None else finding.scenario.name,
                shown="normalized_excess" if compares else "attack_rate",
                values=tuple(float(each.value) for each in rates),
            )
        )
    return tuple(made)


def _same(one: AttackResult, tried: Sequence[AttackResult]) -> AttackResult | None:
    return _same_as(_key(one.finding), tried)


def _same_as(key: Key, tried: Sequence[AttackResult]) -> AttackResult | None:
    return next((each for each in tried if _key(each.finding) == key), None)


def _key(finding: AttackFinding) -> Key:
    return finding.attack, "" if finding.scenario is None else finding.scenario.name, finding.secret


def _figure_key(evidence: FigureEvidence) -> Key:
    figure = evidence.figure
    return figure.attack, figure.adversary, figure.secret, figure.group


def _mean_of(same: Sequence[AttackResult], judge: "_Runs | _Folds", times: RunCounts) -> AttackResult:
    """Return the mean result of one attacker over runs."""
    finding = same[0].finding
    risks = [each.finding.risk for each in same]
    risk = _mean_risk(risks, times)
    evidence = []
    for one in same[0].evidence:
        every = [each for tried in same for each in tried.evidence if _figure_key(each) == _figure_key(one)]
        statistic = judge.statistic(every) if len(every) == len(same) else None
        if statistic is not None:
            figure = _mean_figure([each.figure for each in every], times)
            effect = mean_pair([each.effect for each in every], times)
            evidence.append(replace(one, figure=figure, statistic=statistic, effect=effect))
    names = [name for name in finding.figures if all(name in each.finding.figures for each in same)]
    return replace(
        same[0],
        finding=replace(
            finding,
            targets=risk.attack_rate.tries or finding.targets,
            risk=risk,
            links=SuccessRange(
                **{
                    each.name: float(np.mean([getattr(one.finding.links, each.name) for one in same]))
                    for each in fields(SuccessRange)
                }
            ),
            # Those of groups are rates of one run.
            groups=finding.groups if len(same) == 1 else None,
            figures={name: float(np.mean([one.finding.figures[name] for one in same])) for name in names},
        ),
        evidence=tuple(evidence),
        effect=mean_pair([each.effect for each in same], times),
        copies=_most_copied([each.copies for each in same if each.copies is not None]),
    )


def _most_copied(copies: Sequence[CopyFindings]) -> CopyFindings | None:
    """Return the copies of the run with most of them, Bonferroni-corrected.

    What a harmless release has at most is for one release: among several, as many times as much.
    """
    if not copies:
        return None
    worst = max(copies, key=lambda each: (each.unmistakable, each.people_unchanged))
    if len(copies) > 1 and worst.coincidences * len(copies) > LEVEL:
        return replace(worst, unmistakable=0, coincidences=0.0, groups=())
    return replace(worst, coincidences=worst.coincidences * len(copies))


def _mean_figure(figures: Sequence[JudgedFigure], times: RunCounts) -> JudgedFigure:
    attack = mean_rate([each.attack_rate for each in figures], times.inside)
    control = mean_rate([each.control_rate for each in figures], times.outside)
    return replace(
        figures[0],
        people=round(float(np.mean([each.people for each in figures]))),
        tries=round(sum(each.tries for each in figures) / times.inside),
        control_tries=round(sum(each.control_tries for each in figures) / times.outside),
        attack_rate=attack,
        control_rate=control,
        excess_over_control=_mean_excess([each.excess_over_control for each in figures], figures[0], attack, control),
    )


def _mean_risk(risks: Sequence[Risk], times: RunCounts) -> Risk:
    attack, naive = (
        mean_rate([getattr(each, name) for each in risks], times.inside) for name in ("attack_rate", "naive_rate")
    )
    control = mean_rate([each.control_rate for each in risks], times.outside)
    return Risk(
        attack_rate=attack,
        naive_rate=naive,
        control_rate=control,
        excess_over_control=_mean_excess([each.excess_over_control for each in risks], risks[0], attack, control),
    )


def _mean_excess(every: Sequence[Rate], first: Risk | JudgedFigure, attack: Rate, control: Rate) -> Rate:
    """Return the excess of mean rates, or the mean excess."""
    if attack.worth and control.worth and every[0] == excess(first.attack_rate, first.control_rate):
        return excess(attack, control)
    return mean_rate(every, len(every))


def mean_rate(rates: Sequence[Rate], times: float) -> Rate:
    """Return the mean of a rate over runs, with its CI.

    ``times`` is how often the same people were tried: tries on somebody in several runs are worth those of one.

    >>> rate = mean_rate([clopper_pearson(1, 10), clopper_pearson(3, 10)], times=2)
    >>> rate.value, rate == clopper_pearson(2, 10)
    (0.2, True)
    """
    first = rates[0]
    if not all(each.defined for each in rates):
        return next(each for each in rates if not each.defined)
    if any(isinstance(each.value, SuppressedNumber) for each in rates):
        return first
    if all(each.worth for each in rates):
        tries, worth = sum(each.tries for each in rates), sum(each.worth for each in rates) / times
        hits = sum(each.value * each.tries for each in rates)
        share = clopper_pearson(hits / tries * worth, worth)
        return replace(share, tries=round(tries / times))
    value, low, high = (float(np.mean([getattr(each, end) for each in rates])) for end in ("value", "low", "high"))
    return Rate(value, low, high)


def mean_pair(pairs: Sequence[RatePair | None], times: RunCounts) -> RatePair | None:
    """Return the mean rates of an effect, with people as attempts.

    None unless all runs have the effect; not tested unless all runs test it.

    >>> run = RatePair(attack_rate=0.4, attack_attempts=80, baseline=0.1, baseline_attempts=20, people=80)
    >>> same, folds = RunCounts(inside=5, outside=5), RunCounts(inside=4, outside=1)
    >>> [round(mean_pair([run] * 5, times).attack_attempts) for times in (same, folds)]
    [80, 100]
    """
    every = [each for each in pairs if each is not None]
    if not every or len(every) < len(pairs):
        return None
    bounds = np.array([each.bounds for each in every if each.bounds is not None])
    return replace(
        every[0],
        attack_rate=float(np.mean([each.attack_rate for each in every])),
        attack_attempts=sum(each.attack_attempts for each in every) / times.inside,
        baseline=float(np.mean([each.baseline for each in every])),
        baseline_attempts=sum(each.baseline_attempts for each in every) / times.outside,
        bounds=(float(bounds[:, 0].mean()), float(bounds[:, 1].mean())) if bounds.size else None,
        people=round(sum(each.people for each in every) / times.inside),
        control_people=round(sum(each.control_people for each in every) / times.outside),
        why_not_tested=next((each.why_not_tested for each in every if each.why_not_tested), ""),
    )


class _Runs:
    """Tests of one held-out sample: mean scores, tested as one release."""

    def __init__(self, attacked: Sequence[AttackedRun]) -> None:
        self._runs = len(attacked)

    def statistic(self, every: Sequence[FigureEvidence]) -> Statistic | None:
        """Return the tests over all runs."""
        parts = [each.statistic for each in every]
        if self._runs == 1:
            return parts[0]
        if all(isinstance(each, np.ndarray) for each in parts):
            mean: FloatArray = np.mean(np.array(parts), axis=0)
            return mean
        if all(isinstance(each, FittedGuesses) for each in parts):
            return _joined([each for each in parts if isinstance(each, FittedGuesses)])
        return _summed([each for each in parts if isinstance(each, OwnDraws)])


class _Folds:
    """Tests of cross-validation folds: permutations reassign people to folds."""

    def __init__(self, attacked: Sequence[AttackedRun], design: Design, seed: int) -> None:
        self._attacked, self._design = attacked, design
        # Of very many people only those count who are attacked.
        self._everybody = design.people <= DRAWN_UP_TO
        self._people = np.arange(design.people) if self._everybody else np.sort(design.attacked)
        is_attacked = np.isin(self._people, design.attacked)
        unit = design.unit[self._people]
        strata = [stratum for side in (is_attacked, ~is_attacked) for stratum in units_by_size(unit, side)]
        held_out = [(each.run.round, each.run.fold) for each in attacked]
        self._folds = JointDraws(draw_folds(design.fold[:, self._people], held_out, strata, seed))
        people = [each.prepared.people for each in attacked]
        self._measured = (
            JointDraws(draw_pools([each.pool("measured") for each in people], seed + 1))
            if all(each.parts is not None for each in people)
            else None
        )

    def statistic(self, every: Sequence[FigureEvidence]) -> OwnDraws | None:
        """Return each test statistic summed over runs."""
        parts = [each.statistic for each in every]
        own = [each for each in parts if isinstance(each, OwnDraws)]
        if own:
            return _summed(own) if len(own) == len(parts) else None
        which = every[0].pool
        if which == "measured":
            return None if self._measured is None else self._measured.add(self._in_places(parts))
        if not self._everybody and not isinstance(parts[0], np.ndarray):
            return None
        runs = zip(self._attacked, parts, strict=True)
        return self._folds.add([self._of_people(run, part, which) for run, part in runs])

    def _in_places(self, parts: Sequence[Statistic]) -> list[RunStatistic]:
        pools = [each.prepared.people.pool("measured") for each in self._attacked]
        return [pool.scores(part) for pool, part in zip(pools, parts, strict=True) if isinstance(part, np.ndarray)]

    def _of_people(self, one: AttackedRun, part: Statistic, which: PeopleSelection) -> RunStatistic:
        """Return a run's scores or predicates per person, in place of rows."""
        people = one.prepared.people
        rows = np.concatenate([one.run.inside, one.run.outside])[people.rows(which)]
        person = self._design.person[rows]
        if isinstance(part, FittedGuesses):
            pool = people.pool(which)
            of_place = np.empty(pool.people, np.int64)
            of_place[pool.places] = person
            return FittedGuesses(part.starts, of_place[part.places])
        if not isinstance(part, np.ndarray):
            raise TypeError("permuted statistics are summed, not scored")
        number = np.bincount(person, minlength=self._design.people)
        scores: FloatArray = np.bincount(person, weights=part, minlength=self._design.people) / np.maximum(number, 1)
        return scores[self._people]


def _joined(guesses: Sequence[FittedGuesses]) -> FittedGuesses:
    """Return the predicates of all runs together, their counts summed."""
    sizes = [np.diff(each.starts) for each in guesses]
    starts: IntArray = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64)
    return FittedGuesses(starts, np.concatenate([each.places for each in guesses]))


def _summed(draws: Sequence[OwnDraws]) -> OwnDraws:
    return OwnDraws(lambda number, rng: np.sum([each.draw(number, rng) for each in draws], axis=0))


@dataclass(eq=False)
class JointDraws:
    """Test statistics summed over runs, with shared permutations, computed lazily."""

    draw: DrawRuns
    figures: list[Sequence[RunStatistic]] = field(default_factory=list)
    _found: dict[int, FloatArray] = field(default_factory=dict)

    def add(self, runs: Sequence[RunStatistic]) -> OwnDraws:
        """Return the sum of these test statistics."""
        self.figures.append(runs)
        return OwnDraws(partial(self._drawn, len(self.figures) - 1))

    def _drawn(self, figure: int, number: int, _rng: np.random.Generator) -> FloatArray:
        # The passed generator is not used: all figures must have the same draws.
        if number not in self._found:
            self._found[number] = self._all(number)
        return self._found[number][:, figure]

    def _all(self, number: int) -> FloatArray:
        found, row = np.zeros((number + 1, len(self.figures))), 0
        for block in self.draw(number):
            rows = slice(row, row + len(block[0]))
            for run, drawn in enumerate(block):
                scored, scores = [], []
                for at, each in enumerate(self.figures):
                    statistic = each[run]
                    if isinstance(statistic, FittedGuesses):
                        found[rows, at] += statistic(drawn)
                    else:
                        scored.append(at)
                        scores.append(statistic)
                if scored:
                    found[rows, scored] += member_sums(drawn, np.column_stack(scores))
            row = rows.stop
        return found


def units_by_size(unit: IntArray, chosen: BoolArray) -> list[IntArray]:
    """Return the chosen people of units of each size, at [unit, person].

    Units of one size are exchangeable: a large household is more likely in the larger part.

    >>> [each.tolist() for each in units_by_size(np.array([5, 3, 5, 7]), np.array([True] * 4))]
    [[[1], [3]], [[0, 2]]]
    """
    people = np.flatnonzero(chosen)
    order = people[np.argsort(unit[people], kind="stable")]
    sizes = np.unique(unit[order], return_counts=True)[1]
    of_person = np.repeat(sizes, sizes)
    return [order[of_person == size].reshape(-1, size) for size in np.unique(sizes).tolist()]


def draw_folds(fold: IntArray, held_out: Sequence[tuple[int, int]], strata: Sequence[IntArray], seed: int) -> DrawRuns:
    """Return random assignments of people to the folds of each round, within strata.

    Parameters
    ----------
    fold
        The fold of each person in each round, at [round, person].
    held_out
        The round of each run, and the fold that is held out of it.
    strata
        The people of each stratum, at [unit, person]; its units have one fold each, drawn apart from others.
    seed
        Where draws start.
    """

    def blocks(number: int) -> Iterator[Sequence[BoolArray]]:
        yield [fold[which][None] != each for which, each in held_out]
        size = max(1, min(BLOCK, _LABELS // max(fold.size, 1)))
        for block, first in enumerate(range(0, number, size)):
            rng, many = np.random.default_rng([seed, block]), min(size, number - first)
            drawn = np.tile(fold.astype(np.int16)[:, None], (1, many, 1))
            for each in drawn:
                for people in strata:
                    each[:, people] = rng.permuted(each[:, people[:, 0]], axis=1)[:, :, None]
            in_fold = {(which, each): drawn[which] != each for which, each in set(held_out)}
            yield [in_fold[each] for each in held_out]

    return blocks


def draw_pools(pools: Sequence[Pool], seed: int) -> DrawRuns:
    """Return random memberships of each run, independent between runs.

    Somebody who is held out in one run is given to the generator in another, so that where people are as easy in all
    runs the sum varies less than these draws do: p is rather too large.
    """

    def blocks(number: int) -> Iterator[Sequence[BoolArray]]:
        yield [pool.labels[None] for pool in pools]
        largest = max(pool.people for pool in pools)
        size = max(1, min(BLOCK, _LABELS // max(largest, 1)))
        for block, first in enumerate(range(0, number, size)):
            many = min(size, number - first)
            yield [
                np.concatenate([make() for make in labels(pool.members, pool.others, many, own)])
                for pool, own in ((pool, np.random.default_rng([seed, block, run])) for run, pool in enumerate(pools))
            ]

    return blocks


#: Fewer canaries than these are compared with those of other runs: the smallest share that is tried is one of 32.
FEW_CANARIES = 32


def epsilon_from_canaries(
    releases: "Sequence[Table]",
    first: PreparedAudit,
    design: Design,
    table: "Table",
    *,
    kind: "CanaryKind",
    pairs: Sequence[tuple[str, str]] | None,
    claim: Claim | None,
    rng: np.random.Generator,
) -> EpsilonFinding:
    """Return the ε bound of all canaries of all runs.

    Parameters
    ----------
    releases
        What was made in each run.
    first
        The audit of the first run; who is held out is the same in all.
    design
        Whom the generator was given, by which coins.
    table
        Everybody, with rows that are only there to be planted at the end.
    kind, pairs
        What the canaries are, and of unusual ones the columns in which each is.
    claim
        What is said of epsilon.
    rng
        Breaks ties.
    """
    scores = [_scores(each, first, design, table, pairs, rng) for each in releases]
    coins = [each.coins for each in design.runs]
    if len(design.canaries) < FEW_CANARIES:
        # So few cannot be ranked within a run, as where one person is left out or not in each of many runs.
        scores, coins = [np.concatenate(scores)], [np.concatenate(coins)]
    runs = list(zip(scores, coins, strict=True))
    if design.canaries.shape[1] == 2:
        delta = 0.0 if claim is None else claim.delta_against("replace")
        bound = bound_of_pairs([(score[:, 0], score[:, 1], coin) for score, coin in runs], rng=rng, delta=delta)
    else:
        delta = 0.0 if claim is None else claim.delta_against("add-remove")
        bound = bound_of_coins([(score[:, 0], coin) for score, coin in runs], rng=rng, delta=delta)
    bound = replace(bound, runs=len(design.runs))
    return EpsilonFinding(bound=bound, source="canaries", claim=claim, canaries=kind, needed=_needed(claim, bound))


def _scores(
    released: "Table",
    first: PreparedAudit,
    design: Design,
    table: "Table",
    pairs: Sequence[tuple[str, str]] | None,
    rng: np.random.Generator,
) -> FloatArray:
    """Return the membership score of each canary in one run."""
    from unveil.attacks.table.canaries import LEAST_TEACHERS, score_canaries

    prepared, parts = first.releases[0], first.people.parts
    inside, outside = prepared.release.original, prepared.release.control
    if outside is None:
        raise ValueError("each run holds people out")
    population, teachers = outside, None
    if parts is not None:
        population = outside.take(parts.population)
        members, others = (np.concatenate([parts.learning[side], parts.measured[side]]) for side in (0, 1))
        many = min(members.size, others.size)
        if pairs is None and many >= LEAST_TEACHERS:
            teachers = inside.take(members[:many]), outside.take(others[:many])
    found = score_canaries(
        released=released,
        canaries=table.take(design.canaries.ravel()).select(inside.column_names),
        population=population,
        columns=prepared.known + prepared.sensitive,
        rng=rng,
        pairs=pairs,
        teachers=teachers,
    )
    return found.reshape(design.canaries.shape)


def epsilon_from_tables(audit: "Audit", *, claim: Claim | None, by_lot: bool) -> EpsilonFinding | None:
    """Return the ε bound from random pairs of measured people.

    Where nobody was it says so of a claim, and is None without one.
    """
    every = (finding.separation for release in audit.releases for finding in release.findings)
    bound = next((each.epsilon for each in every if each is not None and each.epsilon is not None), None)
    if bound is None and claim is None:
        return None
    return EpsilonFinding(bound=bound, source="two tables", claim=claim, by_lot=by_lot, needed=_needed(claim, bound))


def _needed(claim: Claim | None, bound: EpsilonBound | None) -> int | None:
    """Return the number of canaries that would refute a claim."""
    if claim is None or bound is None:
        return None
    if bound.adjacency == "replace":
        # What is claimed of adding or removing is twice as much for replacing.
        claimed = claim.epsilon * (2 if claim.adjacency == "add-remove" else 1)
        return coins_needed(claimed, 2 * claimed, design="pairs", delta=bound.delta)
    return coins_needed(claim.epsilon, 2 * claim.epsilon, design="coins", delta=bound.delta)
