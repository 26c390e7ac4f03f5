"""Tests of an audit: adjusted p-values and effect sizes of all releases."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isnan, nan
from typing import cast

import numpy as np

from unveil._kernels.types import FloatArray
from unveil.guesses.trials import mean_of_rows
from unveil.metrics.verdict.copies import fewest_copies_provable
from unveil.metrics.verdict.effects import EffectSize, RatePair, household_effect, mean_correlation
from unveil.metrics.verdict.family import (
    LEVEL,
    FamilyJudgement,
    FigureJudgement,
    FigureToJudge,
    OwnDraws,
    Statistic,
    judge,
)
from unveil.metrics.verdict.pool import Pool
from unveil.questions.audit.attack_results import AttackResult, FigureEvidence
from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.decision.findings import AttackEffect, BaselineKind, GroupEffect
from unveil.questions.audit.findings import AttackFinding, AuditVerdict, JudgedFigure, ReleaseVerdict
from unveil.questions.audit.people import PeopleSelection, TargetPool

#: Of the error that the verdict may have, figures that were learned have this share where there are some.
LEARNED_SHARE = 1 / 3
#: What the rate of a finding cannot exceed without the data, where there is such a number, among its figures.
MOST = "most_by_guessing"
#: The AUC of a membership finding, among its figures.
AUC = "auc"
_NOT_COMPARED = {
    "none": "there is no control",
    "other_people": "the control group is from another population",
    "clustered": "rows of one table are too similar to be separate people",
    "too_small": "the control group is too small",
    "overlap": "people of the control are in the original too",
}


def judge_audit(
    people: TargetPool, tried: Mapping[str, Sequence[AttackResult]], *, rng: np.random.Generator
) -> tuple[AuditVerdict, dict[str, tuple[AttackFinding, ...]]]:
    """Return the tests of all releases, and their findings with p-values.

    Every figure of every release is judged by the same draws of who is in the data, so that they are one family, or
    two where cheap attacks look at everybody and the others at some; what was learned from some people and measured on
    others is one more. Where the control is not usable only figures that need none are judged.

    Parameters
    ----------
    people
        Who was attacked, and whether the control is usable.
    tried
        What was tried on each release, by its name.
    rng
        Where draws come from.
    """
    every = [(each, one) for found in tried.values() for one in found for each in one.evidence]
    entries = [_Entry.of(str(number), people, *each) for number, each in enumerate(every)]
    family = _judged(people, [each for each in entries if each.is_judged], rng)
    said = {each.name: each for each in family.judgements}
    figures = {entry.evidence: _with_p(entry, people, said) for entry in entries}
    releases = tuple(_release(name, found, figures, people) for name, found in tried.items())
    verdict = AuditVerdict(
        alpha=LEVEL,
        figures=family.judged,
        draws=family.draws,
        fewest_copies_provable=fewest_copies_provable(people.everybody.members, people.everybody.others)
        if people.compares
        else None,
        control=people.control,
        releases=releases,
    )
    return verdict, {name: _findings(found, figures) for name, found in tried.items()}


@dataclass(frozen=True, kw_only=True, eq=False)
class _Entry:
    """A test in the family, under a unique name."""

    name: str
    evidence: FigureEvidence
    finding: AttackFinding
    figure: FigureToJudge
    is_judged: bool

    @classmethod
    def of(cls, name: str, people: TargetPool, evidence: FigureEvidence, tried: AttackResult) -> "_Entry":
        figure = FigureToJudge(
            name=name,
            statistic=_as_judged(people, evidence),
            tries=(evidence.whole or evidence.figure).tries,
            control_tries=(evidence.whole or evidence.figure).control_tries,
            about=evidence.about,
            pool=_pool(people, evidence),
        )
        outcome = people.control.outcome
        needs_none = isinstance(evidence.statistic, OwnDraws) and not (
            evidence.one_row_each and people.control.is_clustered
        )
        return cls(
            name=name,
            evidence=evidence,
            finding=tried.finding,
            figure=figure,
            is_judged=needs_none or outcome == "usable" or (outcome == "overlap" and evidence.stands_overlap),
        )


def _pool(people: TargetPool, evidence: FigureEvidence) -> PeopleSelection:
    return "everybody" if people.all_attacked and evidence.pool == "attacked" else evidence.pool


def _as_judged(people: TargetPool, evidence: FigureEvidence) -> Statistic:
    """Return the statistic in the order of the rows of its pool.

    Those attacked stand in an order by lot. Where they are everybody, all figures share one pool, and a person must
    stand at the same place in each of them: the draws could not tell else which figures rise together.
    """
    scores = evidence.statistic
    if not isinstance(scores, np.ndarray) or _pool(people, evidence) == evidence.pool:
        return scores
    return people.over_everybody(scores)


def _judged(people: TargetPool, entries: Sequence[_Entry], rng: np.random.Generator) -> FamilyJudgement:
    used = dict.fromkeys(_pool(people, each.evidence) for each in entries)
    pools: dict[str, Pool | None] = {name: people.pool(name) if people.compares else None for name in used}
    return judge([each.figure for each in entries], pools, rng=rng, shares=_shares(people, entries, list(pools)))


def _shares(people: TargetPool, entries: Sequence[_Entry], pools: Sequence[str]) -> dict[str, float]:
    """Return the share of the error that each pool has.

    What is learned has its own even where nothing of it could be judged: who is in the data must not decide it.
    """
    others = [name for name in pools if name != "measured"]
    learns = people.parts is not None and any(ATTACKS[each.finding.attack].learns for each in entries)
    learned = LEARNED_SHARE if learns and others else float(not others)
    return {name: learned if name == "measured" else (1 - learned) / len(others) for name in pools}


def _with_p(entry: _Entry, people: TargetPool, judgements: Mapping[str, FigureJudgement]) -> JudgedFigure:
    """Return the test with its p-value; significant above a theoretical baseline."""
    figure = entry.evidence.figure
    judgement = judgements.get(entry.name)
    if judgement is None:
        few = entry.figure.why_not(None)
        why = few or _NOT_COMPARED[people.control.outcome]
        return replace(figure, why=why, proved=not few and beyond_any_guess(entry.finding))
    return replace(figure, p=judgement.p, p_adjusted=judgement.adjusted, proved=judgement.found, why=judgement.why)


def beyond_any_guess(finding: AttackFinding) -> bool:
    """Return whether the lower limit exceeds the theoretical baseline."""
    return finding.risk.attack_rate.low > finding.figures.get(MOST, inf)


def _release(
    name: str, tried: Sequence[AttackResult], figures: Mapping[FigureEvidence, JudgedFigure], people: TargetPool
) -> ReleaseVerdict:
    own = tuple(figures[each] for one in tried for each in one.evidence)
    copies = next((one.copies for one in tried if one.copies is not None), None)
    return ReleaseVerdict(
        name=name,
        p=min((each.p_adjusted for each in own if not isnan(each.p_adjusted)), default=float("nan")),
        findings=own,
        copies=copies,
        effects=tuple(_effects(tried, figures, people)),
        group_effects=tuple(_group_effects(tried, figures, people)),
    )


def _effects(
    tried: Sequence[AttackResult], figures: Mapping[FigureEvidence, JudgedFigure], people: TargetPool
) -> Iterator[AttackEffect]:
    """Yield each attacker's effect size, with its smallest p-value."""
    every = [(one.finding, *each) for one in tried for each in _effects_of(one)]
    correlations = dict(_correlations(tried, people))
    # These share the error of lower limits.
    tested = sum(not pair.why_not_tested and (people.compares or not pair.control_people) for _, _, pair, _ in every)
    for finding, attacker, pair, evidence in every:
        tests = [figures[each] for each in evidence]
        clearest = min(
            (each for each in tests if not isnan(each.p_adjusted)), key=lambda each: each.p_adjusted, default=None
        )
        kind: BaselineKind = "chance"
        if pair.control_people or pair.bounds is not None:
            kind = "control"
        elif pair.is_theoretical:
            kind = "theoretical"
        yield AttackEffect(
            attack=ATTACKS[finding.attack].effect,
            attacker=attacker,
            sensitive=finding.secret,
            baseline_kind=kind,
            attempts=pair.people,
            control_attempts=pair.control_people,
            excess=_effect(_clustered(pair, evidence, people), people, max(tested, 1)),
            p_adjusted=nan if clearest is None else clearest.p_adjusted,
            by="" if clearest is None else clearest.adversary,
            auc=finding.figures.get(AUC, nan) if finding.separation is None else finding.separation.area.value,
            blocks_pass=pair.blocks_pass,
            variance=pair.variance,
            correlation=correlations.get(finding.attack, 0.0),
        )


def _effects_of(one: AttackResult) -> Iterator[tuple[str, RatePair, list[FigureEvidence]]]:
    """Yield name, rates, and tests of each number of nearest rows."""
    plain = [each for each in one.evidence if each.whole is None]
    if one.effect is not None:
        name = "" if one.finding.scenario is None else one.finding.scenario.name
        yield name, one.effect, [each for each in plain if each.effect is None]
    yield from ((each.figure.adversary, each.effect, [each]) for each in plain if each.effect is not None)


def _correlations(tried: Sequence[AttackResult], people: TargetPool) -> Iterator[tuple[str, float]]:
    """Yield the mean correlation between attackers, for each attack."""
    columns: dict[tuple[str, str], list[FloatArray]] = {}
    for one in tried:
        for _, _, evidence in _effects_of(one):
            scores = evidence[0].statistic if evidence else None
            if isinstance(scores, np.ndarray):
                columns.setdefault((one.finding.attack, evidence[0].pool), []).append(scores.astype(np.float64))
    for (attack, pool), several in columns.items():
        member = people.is_member(cast("PeopleSelection", pool))
        if len(several) > 1 and min(member.sum(), (~member).sum()) > 1:
            every = np.column_stack(several)
            yield attack, mean_correlation(every[member], every[~member])


def _group_effects(
    tried: Sequence[AttackResult], figures: Mapping[FigureEvidence, JudgedFigure], people: TargetPool
) -> Iterator[GroupEffect]:
    """Yield each subgroup's effect size, at simultaneous lower limits."""
    groups = [(each, each.effect) for one in tried for each in one.evidence if each.whole and each.effect]
    for each, pair in groups:
        figure = figures[each]
        yield GroupEffect(
            group=figure.group,
            people=figure.people,
            control_people=pair.control_people,
            attack=ATTACKS[figure.attack].effect,
            excess=_effect(pair, people, len(groups)),
            p_adjusted=figure.p_adjusted,
        )


def _clustered(pair: RatePair, evidence: Sequence[FigureEvidence], people: TargetPool) -> RatePair:
    """Return the rates at the effective sample size of households."""
    household = people.everybody.household
    scores = evidence[0].statistic if evidence else None
    if household is None or not isinstance(scores, np.ndarray):
        return pair
    pool = evidence[0].pool
    person, member = people.everybody.person[people.rows(pool)], people.is_member(pool)
    inside, outside = (
        household_effect(mean_of_rows(scores[side], person[side]), household[np.unique(person[side])])
        for side in (member, ~member)
    )
    return replace(
        pair, attack_attempts=pair.attack_attempts / inside, baseline_attempts=pair.baseline_attempts / outside
    )


def _effect(pair: RatePair, people: TargetPool, effects: int) -> EffectSize:
    """Return the effect, or the reason why none was tested."""
    if pair.control_people and not people.compares and not pair.why_not_tested:
        pair = replace(pair, why_not_tested=_NOT_COMPARED[people.control.outcome])
    return pair.effect(effects)


def _findings(
    tried: Sequence[AttackResult], figures: Mapping[FigureEvidence, JudgedFigure]
) -> tuple[AttackFinding, ...]:
    """Return the findings with p-values, the strongest of each attack first."""
    found = [_with_verdict(one, figures) for one in tried]
    made: list[AttackFinding] = []
    for attack in dict.fromkeys(each.attack for each in found):
        own = [each for each in found if each.attack == attack]
        tried_in_turn = [each for each in own if each.scenario is not None and each.scenario.origin == "random"]
        if tried_in_turn:
            first = max(tried_in_turn, key=lambda each: each.strength)
            own = [first, *(each for each in own if each is not first)]
        made += own
    return tuple(made)


def _with_verdict(one: AttackResult, figures: Mapping[FigureEvidence, JudgedFigure]) -> AttackFinding:
    shown = next((figures[each] for each in one.evidence if each.is_shown), None)
    if shown is None:
        return one.finding
    return replace(one.finding, p=shown.p, p_adjusted=shown.p_adjusted, proved=shown.proved, why_not_judged=shown.why)
