"""One verdict from all figures of an audit: who is proved to be given away, by which attack, in which release."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf, isnan

import numpy as np

from unveil.metrics.verdict.family import (
    LEVEL,
    FamilyJudgement,
    FigureJudgement,
    FigureToJudge,
    OwnDraws,
    Statistic,
    judge,
)
from unveil.metrics.verdict.limits import fewest_copies_provable
from unveil.metrics.verdict.pool import Pool
from unveil.questions.audit.attack_results import AttackResult, FigureEvidence
from unveil.questions.audit.attacks import ATTACKS
from unveil.questions.audit.findings import AttackFinding, AuditVerdict, JudgedFigure, Outcome, ReleaseVerdict
from unveil.questions.audit.people import PeopleSelection, TargetPool
from unveil.questions.audit.ranking import severity

#: Of the error that the verdict may have, figures that were learned have this share where there are some.
LEARNED_SHARE = 1 / 3
#: What the rate of a finding cannot exceed without the data, where there is such a number, among its figures.
MOST = "most_by_guessing"
_NOT_COMPARED = {
    "none": "there is no control",
    "other_people": "the control is of other people",
    "clustered": "rows of one table are too alike to be separate people",
    "too_small": "the control has too few people",
    "overlap": "people of the control are in the original too",
}


def judge_audit(
    people: TargetPool, tried: Mapping[str, Sequence[AttackResult]], *, rng: np.random.Generator
) -> tuple[AuditVerdict, dict[str, tuple[AttackFinding, ...]]]:
    """Return the verdict on all releases together, and the findings of each with what it says of them.

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
        outcome=_overall(releases),
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
    """A figure on its way into the family, under a name of its own."""

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
    """Return the figure with its p; one that no guess could reach is proved without a control."""
    figure = entry.evidence.figure
    judgement = judgements.get(entry.name)
    if judgement is None:
        few = entry.figure.why_not(None)
        why = few or _NOT_COMPARED[people.control.outcome]
        return replace(figure, why=why, proved=not few and beyond_any_guess(entry.finding))
    return replace(figure, p=judgement.p, p_adjusted=judgement.adjusted, proved=judgement.found, why=judgement.why)


def beyond_any_guess(finding: AttackFinding) -> bool:
    """Return whether the low end of the rate lies above what anything made without the data could reach."""
    return finding.risk.attack_rate.low > finding.figures.get(MOST, inf)


def _release(
    name: str, tried: Sequence[AttackResult], figures: Mapping[FigureEvidence, JudgedFigure], people: TargetPool
) -> ReleaseVerdict:
    own = tuple(figures[each] for one in tried for each in one.evidence)
    copies = next((one.copies for one in tried if one.copies is not None), None)
    found = ReleaseVerdict(
        name=name,
        outcome="nothing_found",
        p=min((each.p_adjusted for each in own if not isnan(each.p_adjusted)), default=float("nan")),
        findings=own,
        copies=copies,
    )
    return replace(found, outcome=_outcome(found, people))


def _outcome(release: ReleaseVerdict, people: TargetPool) -> Outcome:
    if release.proved:
        return "found"
    if release.unmistakable:
        return "copies"
    if people.control.outcome == "none":
        return "no_control"
    return "nothing_found" if people.control.outcome == "usable" else "control_unusable"


def _overall(releases: Sequence[ReleaseVerdict]) -> Outcome:
    seen = {each.outcome for each in releases}
    return next(each for each in ("found", "copies", *sorted(seen)) if each in seen)


def _findings(
    tried: Sequence[AttackResult], figures: Mapping[FigureEvidence, JudgedFigure]
) -> tuple[AttackFinding, ...]:
    """Return the findings with p; of adversaries tried one after the other the clearest of each attack comes first."""
    found = [_with_verdict(one, figures) for one in tried]
    made: list[AttackFinding] = []
    for attack in dict.fromkeys(each.attack for each in found):
        own = [each for each in found if each.attack == attack]
        tried_in_turn = [each for each in own if each.scenario is not None and each.scenario.origin == "tried"]
        if tried_in_turn:
            first = max(tried_in_turn, key=severity)
            own = [first, *(each for each in own if each is not first)]
        made += own
    return tuple(made)


def _with_verdict(one: AttackResult, figures: Mapping[FigureEvidence, JudgedFigure]) -> AttackFinding:
    shown = next((figures[each] for each in one.evidence if each.is_shown), None)
    if shown is None:
        return one.finding
    return replace(one.finding, p=shown.p, p_adjusted=shown.p_adjusted, proved=shown.proved, why_not_judged=shown.why)
