"""Results of attacks: finding, tests, effect rates, copies, and exposed people."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from unveil._kernels.types import BoolArray, FloatArray
from unveil.data.files.column_store import arrays_on_disk
from unveil.guesses.trials import Attempts, Trials, mean_of_rows
from unveil.metrics.trials.groups import RatesByGroup, group_rates
from unveil.metrics.trials.risk import Rate, Risk, clopper_pearson, excess, risk
from unveil.metrics.verdict.effects import RatePair
from unveil.metrics.verdict.family import Statistic
from unveil.questions.audit.findings import (
    UNDEFINED,
    AttackFinding,
    CopyFindings,
    ExposedPerson,
    JudgedFigure,
    SuccessRange,
)
from unveil.questions.audit.people import PeopleSelection, TargetPool, TargetSample, per_person

NOTHING = Risk(attack_rate=UNDEFINED, naive_rate=UNDEFINED, control_rate=UNDEFINED, excess_over_control=UNDEFINED)
_WITHHELD = {
    "other_people": "the control group is from another population, so an excess cannot be estimated",
    "clustered": "rows of one table are too similar to be separate people, so an excess cannot be estimated",
    "too_small": "the control group is too small to estimate an excess",
}


#: Why an effect is not tested that needs a control group.
NO_CONTROL_GROUP = "needs a control group"


@dataclass(frozen=True, kw_only=True, eq=False)
class FigureEvidence:
    """One test of a release, before its p-value is computed.

    Attributes
    ----------
    figure
        What it is about, without p.
    statistic
        Scores of the rows of its pool, or how it is drawn again.
    pool
        The people it is about.
    about
        About how many different people guesses are; left out where each try is about another person.
    is_shown
        Whether its p stands beside the finding; of several figures of a finding one is shown.
    stands_overlap
        Whether it can still be judged where people stand in both tables. They are equal and one of each pair is a
        member, always: whatever counts those who are alone finds more of them than in draws.
    one_row_each
        Whether it is wrong where people have several rows that nobody told apart, even without a control.
    whole
        For a group, the figure of everybody: its tries decide whether there are enough, because the groups themselves
        were chosen for having enough people.
    effect
        The rates of its own effect, where it has one: for a group, or for a wider neighborhood of the attacker.
    """

    figure: JudgedFigure
    statistic: Statistic
    pool: PeopleSelection = "attacked"
    about: int | None = None
    is_shown: bool = True
    stands_overlap: bool = True
    one_row_each: bool = False
    whole: JudgedFigure | None = None
    effect: RatePair | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class AttackResult:
    """The result of one attack: finding, tests, rates, copies, and exposed people."""

    finding: AttackFinding
    evidence: tuple[FigureEvidence, ...] = ()
    copies: CopyFindings | None = None
    exposed: tuple[ExposedPerson, ...] = ()
    effect: RatePair | None = None


def tried(drawn: TargetSample, finding: AttackFinding, trials: Trials) -> AttackResult:
    """Return a finding with its test: attack success per person, else 0."""
    made = AttackResult(finding=withheld(drawn.people, finding))
    if trials.control is None:
        return replace(made, effect=pair_of(per_person(trials, drawn.people)))
    scores = np.zeros(drawn.people.inside.size + drawn.people.outside.size)
    for attempts, first in ((trials.attack, 0), (trials.control, drawn.people.inside.size)):
        if attempts.rows is not None and attempts.chances is not None:
            scores[first + attempts.rows] = attempts.chances
    own = per_person(trials, drawn.people)
    figure = figure_of(made.finding, control_tries=0 if own.control is None else own.control.tries)
    return replace(made, evidence=(FigureEvidence(figure=figure, statistic=scores),), effect=pair_of(own))


def pair_of(trials: Trials) -> RatePair:
    """Return the rates of an attack's effect; untested without a control group."""
    if trials.control is not None:
        return RatePair.of(trials.attack, trials.control)
    return replace(RatePair.of(trials.attack, 0.0), baseline=math.nan, why_not_tested=NO_CONTROL_GROUP)


def figure_of(finding: AttackFinding, *, control_tries: int = 0) -> JudgedFigure:
    """Return the test of a finding, with its rates."""
    return JudgedFigure(
        attack=finding.attack,
        adversary="" if finding.scenario is None else finding.scenario.name,
        secret=finding.secret,
        tries=finding.targets,
        control_tries=control_tries,
        attack_rate=finding.risk.attack_rate,
        control_rate=finding.risk.control_rate,
        excess_over_control=finding.risk.excess_over_control,
    )


def without_rates(figure: JudgedFigure) -> JudgedFigure:
    """Return a test of values that are no share of people."""
    return replace(figure, attack_rate=UNDEFINED, control_rate=UNDEFINED, excess_over_control=UNDEFINED)


def by_groups(people: TargetPool, evidence: FigureEvidence, *, by_value: bool = True) -> tuple[FigureEvidence, ...]:
    """Return the test within each subgroup; empty without ``by_value``."""
    if not by_value or not isinstance(evidence.statistic, np.ndarray):
        return ()
    rows, is_member = people.rows(evidence.pool), people.is_member(evidence.pool)
    person = people.everybody.person[rows]
    made = []
    for group in people.groups:
        here = group.people[person]
        parts = [mean_of_rows(evidence.statistic[here & side], person[here & side]) for side in (is_member, ~is_member)]
        rates = [_mean(part) for part in parts]
        figure = replace(
            evidence.figure,
            tries=parts[0].size,
            control_tries=parts[1].size,
            group=_called(group.column, group.value, group.rarest),
            people=group.members,
            control_people=group.others,
            attack_rate=rates[0],
            control_rate=rates[1],
            excess_over_control=excess(rates[0], rates[1]) if rates[0].defined else UNDEFINED,
        )
        scores = arrays_on_disk(evidence.statistic * here, people.everybody.release.original.store)
        # A group without people on one side has no effect to measure.
        effect = RatePair.of(*map(Attempts.from_chances, parts), fewest=1) if all(each.size for each in parts) else None
        made.append(
            replace(evidence, figure=figure, statistic=scores, is_shown=False, whole=evidence.figure, effect=effect)
        )
    return tuple(made)


def _mean(scores: FloatArray | BoolArray) -> Rate:
    # The sum of floats depends on their order, and exactly rounded it does not.
    return clopper_pearson(math.fsum(scores.tolist()), scores.size) if scores.size else UNDEFINED


def _called(column: str | None, value: str | None, rarest: float) -> str:
    if column is None:
        return f"the rarest {100 * rarest:g}%"
    return f"{column}: {'missing' if value is None else value}"


def withheld(people: TargetPool, finding: AttackFinding) -> AttackFinding:
    """Return the finding without results of an unusable control group."""
    why = _WITHHELD.get(people.control.outcome)
    if why is None or not finding.risk.control_rate.defined:
        return finding
    return replace(finding, risk=replace(finding.risk, excess_over_control=Rate(math.nan, math.nan, math.nan, why)))


def finding_of(attack: str, trials: Trials, **more: Any) -> AttackFinding:
    """Return the finding of an attack with these trials and further fields."""
    attempts = trials.attack
    return AttackFinding(
        attack=attack,
        targets=attempts.tries,
        risk=risk(trials),
        links=SuccessRange(expected=attempts.expected, low=attempts.low, high=attempts.high),
        **more,
    )


def not_run(attack: str, why: str, **more: Any) -> AttackResult:
    """Return the finding of an attack that was not run, with the reason."""
    figures = {"not_run": math.nan}
    return AttackResult(
        finding=AttackFinding(attack=attack, targets=0, risk=NOTHING, remark=why, figures=figures, **more)
    )


def remarked(notes: Sequence[str]) -> str:
    """Return what an attack noted as sentences.

    >>> remarked(["fewer were there", "all were tried"])
    'Fewer were there. All were tried.'
    """
    return " ".join(f"{note[:1].upper()}{note[1:].rstrip('.')}." for note in notes)


def grouped(trials: Trials, drawn: TargetSample, which: PeopleSelection = "attacked") -> RatesByGroup | None:
    """Return the rates of subgroups; None where they do not apply."""
    if drawn.groups is None or trials.attack.rows is None:
        return None
    trials, people = per_person(trials, drawn.people, which), drawn.people
    inside, outside = drawn.groups
    if which != "everybody":
        rows, members = people.rows(which), drawn.release.original.rows
        inside, outside = (
            tuple(inside[row] for row in rows[rows < members]),
            None if outside is None else tuple(outside[row - members] for row in rows[rows >= members]),
        )
    return group_rates(
        trials,
        inside,
        outside if people.compares else None,
        everybody=[drawn.groups[0][row] for row in people.everybody.first_row[: people.everybody.members]],
        minimum=drawn.minimum_cell,
        looks=drawn.looks,
    )


def mean_of(trials: Sequence[Trials]) -> Trials:
    """Return the mean attempt over several attacks on the same people."""

    def pooled(each: Callable[[Trials], Attempts | None]) -> Attempts | None:
        parts = [part for one in trials if (part := each(one)) is not None]
        if not parts:
            return None
        # Attacks that leave people out are weighed alike, as tries of the smallest of them.
        tries = min(part.tries for part in parts)
        low, expected, high = (
            float(np.mean([getattr(part, name) / part.tries for part in parts])) * tries
            for name in ("low", "expected", "high")
        )
        high = min(high, tries)
        return Attempts(tries=tries, low=min(low, high), expected=min(max(expected, low), high), high=high)

    attack, naive = pooled(lambda one: one.attack), pooled(lambda one: one.naive)
    if attack is None or naive is None:  # there is always at least one attack
        raise ValueError("nothing to take the mean of")
    return Trials(attack=attack, naive=naive, control=pooled(lambda one: one.control), what=trials[0].what)
