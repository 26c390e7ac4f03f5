"""The question of linking measured: inputs in, findings out. Parts run as tasks, on threads, processes, or Dask."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import nan
from typing import Any, NamedTuple

import numpy as np

from unveil._kernels.threads import threads
from unveil.attacks import LinkedProfiles, ProfileMatching
from unveil.data.histories import History, Lifetime
from unveil.errors import InputError
from unveil.guesses import Partition
from unveil.metrics.partitions.linked_records import linked_records
from unveil.metrics.releases.unicity import decay_exponent, points_of, unicity_of
from unveil.metrics.trials.risk import Rate
from unveil.metrics.verdict.effects import EffectSize
from unveil.metrics.verdict.exchanged_people import LinkStatistic, LinkTest, RightPairs, exchange_tests
from unveil.metrics.verdict.levels import ALPHA, LEVELS, Level, effect_level
from unveil.questions.link.findings import (
    LEARNED,
    LINKED,
    RECORDS_LINKED,
    WITHOUT_TRUTH,
    ColumnShare,
    GroupShare,
    HistoryFacts,
    LifetimeResult,
    LinkedPeople,
    LinkEffect,
    LinkFindings,
    LinkVerdict,
    NamedPerson,
    ProfileAttack,
    TwoPeriods,
    UnicityCell,
)
from unveil.questions.link.linked_people import (
    chance_linked,
    exposed,
    groups,
    linked_people,
    mean_rate,
    mostly_linked,
)
from unveil.questions.link.read import LinkInputs, identifiers_of
from unveil.questions.link.two_periods import attacked, learned, names_of, neighbors, testable, two_periods
from unveil.report.progress import Progress
from unveil.work.run import endings_raise, executor
from unveil.work.run import run as run_tasks
from unveil.work.task import SharedValue, Task
from unveil.work.threads import Threads

#: Unicity that falls by less with the time step has no exponent.
_NOTABLE_FALL = 0.1
#: Known records have no column with more cells missing.
_MOSTLY_MISSING = 0.2
#: Links are detectable if they are found in so large a share of cases.
_POWER = 0.8


class Part(NamedTuple):
    """One task: what is measured, and for which lifetime, column, or step."""

    kind: str
    name: str = ""
    step: str = ""

    @property
    def words(self) -> str:
        """What the task does, for progress."""
        words = {
            "main": "linking records",
            "lifetime": f"lifetime {self.name}",
            "only": f"column {self.name}",
            "without": f"without column {self.name}",
            "unicity": "unicity",
        }
        return words[self.kind]


@dataclass(frozen=True)
class MainResult:
    """What the analysis in full leaves."""

    two_periods: TwoPeriods | None
    linked_people: LinkedPeople
    tests: tuple[LinkTest, ...]
    groups: tuple[GroupShare, ...]
    exposed: tuple[NamedPerson, ...]


def run(inputs: LinkInputs, *, progress: Progress) -> LinkFindings:
    """Return whether records of the same person can be linked."""
    history = inputs.history(inputs.at)
    if inputs.settings.learned and not history.separate:
        raise InputError("Learning on other people needs periods. Remove learned, or state a lifetime or a period")
    parts = _parts(inputs, history)
    found = _computed(inputs, parts, progress)
    main: MainResult = found[parts[0]]
    measure = RECORDS_LINKED if main.two_periods is None or len(history.periods) > 2 else LINKED
    verdict = _verdict(main.two_periods, main.linked_people, main.tests, measure)
    cells = tuple(cell for part in parts if part.kind == "unicity" for cell in found[part])
    asked = inputs.settings
    roles = (asked.person, asked.time, asked.period, asked.pseudonym)
    return LinkFindings(
        verdict=verdict,
        history=HistoryFacts(
            people=history.people,
            records=int(history.person.size),
            pseudonyms=history.released.items,
            periods=len(history.periods),
            separate=history.separate,
            lifetime=inputs.at,
            compared=tuple(each.name for each in history.compared),
            identifiers=identifiers_of(history, roles),
            shuffled=asked.shuffle,
        ),
        two_periods=main.two_periods,
        linked_people=main.linked_people,
        lifetimes=_curve(inputs, history, main.linked_people, found),
        columns=tuple(
            ColumnShare(column=name, alone=found[Part("only", name)], all_but=found[Part("without", name)])
            for name in _ablated(history)
        ),
        column_measure=measure,
        unicity=cells,
        decay=_decay(cells),
        groups=main.groups,
        exposed=main.exposed,
        notes=(*inputs.notes, *history.notes, *_notes(inputs, history)),
        beta=float(asked.beta),
    )


def _parts(inputs: LinkInputs, history: History) -> list[Part]:
    """Return all tasks; the analysis in full comes first."""
    columns = [Part(kind, name) for name in _ablated(history) for kind in ("only", "without")]
    lifetimes = [Part("lifetime", each) for each in inputs.lifetimes if each != inputs.at]
    span = nan if history.time is None else float(history.time.max())
    possible = [step for step in inputs.steps.get("time", ("",)) if not step or _days(step) < span] or [""]
    times = [step for step in possible if not step or _days(step) >= _resolution(history)] or possible
    steps = _coarsened(inputs)[1]
    return [Part("main"), *lifetimes, *columns, *(Part("unicity", time, step) for time in times for step in steps)]


def _resolution(history: History) -> float:
    """Return the shortest time step that makes a difference: a day if times are dates."""
    return 0.0 if history.time is None or (history.time % 1).any() else 1.0


def _coarsened(inputs: LinkInputs) -> tuple[str, tuple[str, ...]]:
    """Return the column that unicity is generalized by, and its steps, the first as it is."""
    return next(((name, ("", *steps)) for name, steps in inputs.steps.items() if name != "time"), ("", ("",)))


def _days(step: str) -> float:
    return Lifetime.of(step).days


def _ablated(history: History) -> list[str]:
    names = [each.name for each in history.compared]
    return names if len(names) > 1 else []


def _notes(inputs: LinkInputs, history: History) -> list[str]:
    if history.separate or inputs.lifetimes == ():
        return []
    return ["Pseudonyms without periods: any two of them may belong to one person."]


# Tasks


def _computed(inputs: LinkInputs, parts: Sequence[Part], progress: Progress) -> dict[Part, Any]:
    """Return the result of each task; it does not depend on where tasks run."""
    found: dict[Part, Any] = {}
    asked = inputs.settings

    def settle(task: Task, error: BaseException | None, answer: Any) -> tuple[Task, ...]:
        if error is not None:
            raise error
        found[task.key] = answer
        progress(task.words, len(found) / len(parts))
        return ()

    lost = "the cluster lost parts of this answer. See that it runs, and ask the same again"
    elsewhere = asked.workers > 1 or asked.cluster is not None
    with endings_raise():
        if elsewhere:
            shared = SharedValue(inputs)
            tasks = [Task(each, _work, (shared, each), each.words) for each in parts]
            with executor(asked.workers if asked.cluster is None else 0, asked.cluster) as on:
                run_tasks(tasks, on=on, settle=settle, lost=lost)
        else:
            bench = LinkWorkbench(inputs)
            tasks = [Task(each, bench.compute, (each,), each.words) for each in parts]
            with _one_blas_thread(), threads(asked.threads or 0):
                run_tasks(tasks, on=Threads(None), settle=settle, lost=lost)
    return found


def _work(shared: SharedValue, part: Part) -> Any:
    """Compute one task in a worker, which keeps the inputs for the next one."""
    with _one_blas_thread(), threads(1):
        return _workbench(shared).compute(part)


@lru_cache(maxsize=1)
def _workbench(shared: SharedValue) -> "LinkWorkbench":
    return LinkWorkbench(shared.value)


def _one_blas_thread() -> Any:
    """Give matrix products one thread: their last digits would depend on the number of processors."""
    from threadpoolctl import threadpool_limits

    return threadpool_limits(limits=1, user_api="blas")


class LinkWorkbench:
    """Inputs with the history that is analyzed in full."""

    def __init__(self, inputs: LinkInputs) -> None:
        self.inputs = inputs
        self.history = inputs.history(inputs.at)

    def compute(self, part: Part) -> Any:
        """Return the result of one task."""
        rng = self.inputs.rng(" ".join(part))
        names = [each.name for each in self.history.compared]
        match part.kind:
            case "main":
                return self._main(rng)
            case "lifetime":
                return self._lifetime(part.name, rng)
            case "only":
                return self._success([part.name], rng)
            case "without":
                return self._success([name for name in names if name != part.name], rng)
            case _:
                return self._unicity(part, rng)

    def _main(self, rng: np.random.Generator) -> MainResult:
        history, asked = self.history, self.inputs.settings
        stratum = self.inputs.stratum(history)
        statistics: dict[str, LinkStatistic] = {}
        attacks: list[ProfileAttack] = []
        periods = neighbors(history)
        effects = 1 + (periods is not None) + asked.learned
        if periods is not None:
            method = ProfileMatching(periods=names_of(history, periods))
            attack, own = attacked(history, method, stratum, effects, rng)
            statistics |= own
            attacks.append(attack)
        if periods is not None and asked.learned:
            taught = learned(history, names_of(history, periods), stratum, effects, rng)
            attacks += taught.attacks
            statistics |= taught.statistics
            stratum = taught.half + (0 if stratum is None else 2 * stratum)
        guess = LinkedProfiles().run(released=history.released, rng=rng)
        statistics["pairs"] = RightPairs.of(guess)
        tests: tuple[LinkTest, ...] = ()
        if testable(history, periods):
            who, period = history.item_person, history.released.period
            tests = exchange_tests(statistics, who, period, stratum=stratum, draws=asked.draws, rng=rng)
        truth = Partition.from_labels(history.item_person)
        records = linked_records(guess, truth, weights=history.sizes)
        chance = chance_linked(history, guess, stratum, rng)
        return MainResult(
            two_periods=None if periods is None else two_periods(history, periods, attacks),
            linked_people=linked_people(guess, truth, records, chance, effects, self.inputs.policy),
            tests=tests,
            groups=groups(self.inputs, history, records),
            exposed=exposed(self.inputs, history, records),
        )

    def _lifetime(self, lifetime: str, rng: np.random.Generator) -> LifetimeResult:
        try:
            history = self.inputs.history(lifetime)
        except InputError as error:
            return _not_attacked(lifetime, str(error))
        guess = LinkedProfiles().run(released=history.released, rng=rng)
        records = linked_records(guess, Partition.from_labels(history.item_person), weights=history.sizes)
        return LifetimeResult(
            lifetime=lifetime,
            pseudonyms=history.released.items,
            linked_alone=records.linked_alone,
            records_linked=mean_rate(records.linked),
            own_share=mean_rate(records.share),
            mostly_linked=mostly_linked(records),
        )

    def _success(self, columns: Sequence[str], rng: np.random.Generator) -> float:
        """Return the success of the attack with some of the columns."""
        history = self.history
        released = history.released.only(columns)
        periods = neighbors(history)
        if periods is not None and len(history.periods) == 2:
            match = ProfileMatching().match(released, rng=rng)
            partners = history.partners()
            return float((match.partner == partners)[partners >= 0].mean())
        guess = LinkedProfiles().run(released=released, rng=rng)
        truth = Partition.from_labels(history.item_person)
        return linked_records(guess, truth, weights=history.sizes).records_linked

    def _unicity(self, part: Part, rng: np.random.Generator) -> list[UnicityCell]:
        history, (column, _) = self.history, _coarsened(self.inputs)
        steps = {name: "" for name in _known_columns(history) if not (part.name and name in ("hour", "weekday"))}
        if column:
            steps[column] = part.step
        if part.name:
            steps["time"] = part.name
        point = points_of(history, steps)
        seen = point >= 0
        if not seen.any():
            return []
        pairs = np.unique(np.stack([history.person[seen], point[seen]]), axis=1)
        most = int(np.bincount(pairs[0]).max())
        known = [each for each in self.inputs.points if each <= most]
        if not known:
            raise InputError(
                f"No person has {min(self.inputs.points)} different records; the most is {most}. Lower points"
            )
        cells = unicity_of(history.person, point, known, rng=rng)
        return [UnicityCell(time_step=part.name, column=column, step=part.step, unicity=each) for each in cells]


def _known_columns(history: History) -> list[str]:
    """Return the columns of a known record: those with values for nearly all records, without amounts."""
    values = [each for each in history.compared if each.codes is not None]
    filled = [each.name for each in values if each.codes is not None and (each.codes < 0).mean() <= _MOSTLY_MISSING]
    return filled or [each.name for each in history.compared if each.days is None]


def _not_attacked(lifetime: str, why: str) -> LifetimeResult:
    nothing = Rate(nan, nan, nan)
    return LifetimeResult(
        lifetime=lifetime,
        pseudonyms=0,
        linked_alone=nan,
        records_linked=nothing,
        own_share=nothing,
        mostly_linked=nan,
        why=why,
    )


def _curve(
    inputs: LinkInputs, history: History, main: LinkedPeople, results: dict[Part, Any]
) -> tuple[LifetimeResult, ...]:
    """Return the lifetimes in their order, the one analyzed in full among them."""
    full = LifetimeResult(
        lifetime=inputs.at,
        pseudonyms=history.released.items,
        linked_alone=main.linked_alone,
        records_linked=main.records_linked,
        own_share=main.own_share,
        mostly_linked=main.mostly_linked,
    )
    return tuple(full if each == inputs.at else results[Part("lifetime", each)] for each in inputs.lifetimes)


def _decay(cells: Sequence[UnicityCell]) -> float:
    """Return the exponent of the fall of unicity with the time step; NaN where it hardly falls."""
    timed = [cell for cell in cells if cell.time_step and not cell.step]
    falls = []
    for known in {cell.unicity.points_known for cell in timed}:
        own = [cell for cell in timed if cell.unicity.points_known == known]
        values, steps = [cell.unicity.unicity for cell in own], [_days(cell.time_step) for cell in own]
        falls.append((max(values) - min(values), -known, decay_exponent(values, [each / min(steps) for each in steps])))
    fall, _, exponent = max(falls, default=(0.0, 0, nan))
    return exponent if fall >= _NOTABLE_FALL else nan


# Verdict


def _verdict(
    two_periods: TwoPeriods | None, people: LinkedPeople, tests: tuple[LinkTest, ...], measure: str
) -> LinkVerdict:
    """Return the level of each effect and of the worst one."""
    p = {each.name: each.adjusted_p for each in tests}
    effects = []
    for attack in () if two_periods is None else two_periods.attacks[:2]:
        ending = ", learned" if attack.attacker == LEARNED else ""
        ps = p.get(f"links{ending}", nan), p.get(f"ranks{ending}", nan)
        effects.append(_effect(LINKED, attack.attacker, attack.linked, attack.excess, *ps))
    effects.append(_effect(RECORDS_LINKED, WITHOUT_TRUTH, people.records_linked, people.excess, p.get("pairs", nan)))
    order = sorted(effects, key=lambda each: (-_height(each.level), each.name != measure, -_value(each)))
    return LinkVerdict(
        level=order[0].level, effects=tuple(order), tests=tests, detectable=_detectable(two_periods, len(p))
    )


def _effect(name: str, attacker: str, success: Rate, excess: EffectSize, p: float, rank_p: float = nan) -> LinkEffect:
    significant, by_rank = p <= ALPHA, rank_p <= ALPHA
    level: Level = "inconclusive"
    if excess.is_tested and not np.isnan(p):
        level = effect_level(excess, is_significant=significant) or "inconclusive"
        if by_rank and not significant:
            level = "very_low"
    return LinkEffect(
        name=name,
        attacker=attacker,
        success=success,
        baseline=excess.baseline,
        excess=excess,
        adjusted_p=p,
        significant=bool(significant),
        rank_only=bool(by_rank and not significant),
        level=level,
    )


def _height(level: Level) -> float:
    return 0.5 if level == "inconclusive" else LEVELS.index(level)


def _value(effect: LinkEffect) -> float:
    return effect.excess.value if effect.excess.is_tested else -1.0


def _detectable(two_periods: TwoPeriods | None, tests: int) -> float:
    """Return the smallest share of people whose links are found in 8 of 10 cases, if all other links are by chance.

    Links by chance are taken to be Poisson distributed.
    """
    from scipy.stats import poisson

    if two_periods is None or not tests:
        return nan
    attack = two_periods.attacks[0]
    chance = attack.chance * attack.people
    critical = int(poisson.isf(ALPHA / tests, chance)) + 1
    for linked in range(critical + 1):
        if poisson.sf(critical - linked - 1, chance) >= _POWER:
            return min(linked / attack.people, 1.0)
    return nan
