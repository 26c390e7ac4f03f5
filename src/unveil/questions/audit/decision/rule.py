"""The decision rule: risk level and acceptability of each release.

The level is the band of the worst effect that is significant; the decision compares limits of the effects with a
threshold. Significance alone never sets a level.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import inf, isnan, nan
from types import MappingProxyType
from typing import Any

from unveil.metrics.verdict.effects import shrunk_estimate, worst_effect
from unveil.metrics.verdict.levels import LEVELS, Level, band, effect_level
from unveil.questions.audit.decision.findings import (
    EFFECTS,
    MAX_RISK,
    NO_CONTROL,
    OF_SECRETS,
    RISKS,
    SIBLINGS,
    WORST,
    AttackEffect,
    AuditDecision,
    AuditEvidence,
    Cause,
    DecisionWord,
    GroupEffect,
    Lack,
    ReleaseDecision,
    ReleaseEvidence,
    RiskRow,
    StatedThreshold,
    Status,
    Thresholds,
)

#: With fewer people, nothing significant says nothing.
_FEWEST_PEOPLE, _FEWEST_CONTROL = 100, 60
#: The exit code of each decision.
EXITS: Mapping[DecisionWord, int] = MappingProxyType({"none": 0, "pass": 0, "fail": 3, "inconclusive": 5})
#: From the worst to the best.
_ORDER: tuple[DecisionWord, ...] = ("fail", "inconclusive", "pass", "none")


def level_of(effect: AttackEffect) -> Level | None:
    """Return an effect's level: at most one above its lower limit's.

    >>> from unveil.metrics.verdict.effects import EffectSize
    >>> wide = EffectSize(0.38, 0.07, 0.6)
    >>> level_of(AttackEffect(attack="linkability", excess=wide, p_adjusted=0.01))
    'medium'
    """
    return effect_level(effect.excess, is_significant=effect.is_significant, is_counted=effect.counted)


def worst_attacker(effects: Sequence[AttackEffect]) -> AttackEffect | None:
    """Return an attack's worst effect, with the largest limits over its attackers.

    The attacker is the significant one with the largest excess; where none is significant, the one with the largest.
    Attackers that block no pass count if they are significant. Where the choice of the worst biases its excess by more
    than a tenth, the excess is corrected, and so is the success rate.
    """
    tested = [each for each in effects if each.excess.is_tested and (each.blocks_pass or each.is_significant)]
    if not tested:
        return None
    worst = max(tested, key=lambda each: (each.is_significant, each.excess.value))
    excess = worst_effect([each.excess for each in tested], [each.is_significant for each in tested])
    high = max((each.excess.high for each in tested if each.blocks_pass), default=-inf)
    chosen = [each.excess for each in tested if each.is_significant]
    value = shrunk_estimate(chosen, correlation=worst.correlation)
    if worst.counted or not 0 < value < excess.value:
        return replace(worst, excess=replace(excess, high=max(high, worst.excess.high)))
    corrected = replace(
        excess,
        value=value,
        low=min(excess.low, value),
        high=max(high, worst.excess.high),
        attack_rate=excess.baseline + value,
    )
    return replace(worst, excess=corrected, uncorrected=worst.excess.value)


def decide(evidence: AuditEvidence, thresholds: Thresholds | None = None) -> AuditDecision:
    """Return the level and decision of an audit."""
    held = thresholds or Thresholds()
    releases = tuple(_decide_release(each, evidence, held) for each in evidence.releases)
    counting = [each for each in releases if not each.is_reference] or list(releases)
    worst = min(counting, key=lambda each: (_ORDER.index(each.decision), -height(each.level)))
    return AuditDecision(
        level=(highest := max(counting, key=lambda each: height(each.level))).level,
        at_most=highest.at_most,
        decision=worst.decision,
        exit=EXITS[worst.decision],
        people=evidence.people,
        control_people=evidence.control_people,
        control=evidence.control,
        basis=evidence.basis,
        siblings=evidence.siblings_number,
        threshold=StatedThreshold(value=held.threshold, source=held.source, limits=held.limits)
        if held.is_set
        else None,
        partial=bool(evidence.not_run),
        not_run=evidence.not_run,
        recommended=_recommended(counting, held),
        releases=releases,
    )


def height(level: Level | None) -> float:
    """Return the rank of a level; inconclusive is above none found."""
    return -1.0 if level is None else 0.5 if level == "inconclusive" else LEVELS.index(level)


def _recommended(releases: Sequence[ReleaseDecision], held: Thresholds) -> str | None:
    """Return the passing release with least utility loss, else the lowest-risk one."""
    if held.is_set:
        passing = [each for each in releases if each.decision == "pass"]
        best = min(passing, key=lambda each: inf if isnan(each.utility_loss) else each.utility_loss, default=None)
    else:
        bounded = [each for each in releases if not isnan(each.highest) and each.cause in ("", "effect")]
        best = min(bounded, key=lambda each: each.highest, default=None) if len(releases) > 1 else None
    return None if best is None else best.name


def _decide_release(release: ReleaseEvidence, evidence: AuditEvidence, held: Thresholds) -> ReleaseDecision:
    effects = tuple(_with_status(each, release, evidence, held) for each in release.effects)
    rows = tuple(_row(risk, attacks, effects, evidence) for risk, attacks in RISKS.items())
    found = max((row for row in rows if row.level is not None), key=row_rank, default=None)
    raised = _raised(release, evidence)
    level, at_most = _level(rows, raised, evidence)
    cause: Cause = "effect" if found is not None and found.effect is not None and found.effect.is_significant else ""
    if raised is not None and height(raised[0]) > height(found.level if cause and found is not None else None):
        cause = raised[1]
    made = ReleaseDecision(
        name=release.name,
        kind=release.kind,
        type_source=release.type_source,
        level=level,
        at_least=evidence.control != "usable" or release.is_example,
        at_most=at_most,
        decision="none",
        cause=cause,
        lacks=tuple(_lacks(rows, release, evidence, held)),
        worst=None if found is None else found.effect,
        highest=max((each.excess.high for each in _counting(effects, held)), default=nan),
        group=_worst_group(release) if cause == "group" else None,
        utility_loss=release.utility_loss,
        risks=rows,
        effects=effects,
        individuals=release.individuals,
        is_reference=release.is_reference,
    )
    return _decided(made, release, evidence, held) if held.is_set or evidence.refuted_claim else made


def row_rank(row: RiskRow) -> tuple[bool, float, float]:
    """Return the sort key of rows: significance, level, excess."""
    effect = row.effect
    return (
        (False, 0.0, 0.0)
        if effect is None
        else (effect.is_significant, height(row.level) if effect.is_significant else 0.0, _size(effect))
    )


def _counting(effects: Sequence[AttackEffect], held: Thresholds) -> list[AttackEffect]:
    """Return the effects whose upper limits bound the risk."""
    tested = [each for each in effects if each.excess.is_tested and (each.blocks_pass or each.is_significant)]
    return [each for each in tested if each.status is not None] if held.is_set else tested


def _with_status(
    effect: AttackEffect, release: ReleaseEvidence, evidence: AuditEvidence, held: Thresholds
) -> AttackEffect:
    """Return an effect with its level, threshold, and status."""
    effect = replace(effect, level=level_of(effect))
    name = effect.attack
    is_single = any(each in held.limits for each in (name, f"{name}.normalized", WORST))
    is_stated = name not in OF_SECRETS or effect.sensitive in (evidence.sensitive or ())
    is_theirs = name != "reidentification" or release.kind != "synthetic"
    normalized = held.limits.get(f"{name}.normalized")
    # A normalized excess is the excess over what the baseline leaves.
    left = 1 - effect.excess.baseline
    threshold = held.of(name) if normalized is None or isnan(left) else normalized * left
    if threshold is None or not (is_theirs and effect.excess.is_tested and (is_single or is_stated)):
        return effect
    excess = effect.excess
    counts = effect.blocks_pass or effect.is_significant
    status: Status = "pass" if excess.high <= threshold or not counts else "inconclusive"
    if excess.low > threshold and effect.is_significant:
        status = "fail"
    elif name == SIBLINGS:
        status = "inconclusive"  # siblings alone never pass a release
    return replace(
        effect,
        threshold=threshold,
        status=status,
        convention=bool(held.source) and name != "reidentification",
        people_needed=_people_needed(effect, threshold, release.effects) if status == "inconclusive" else None,
    )


def _people_needed(effect: AttackEffect, threshold: float, effects: Sequence[AttackEffect]) -> int | None:
    """Return the people per table at which 80% of leak-free releases pass."""
    from unveil.metrics.verdict.plan import people_to_pass

    baseline = effect.excess.baseline
    if effect.baseline_kind != "control" or effect.attack == "singling_out" or not (0 <= baseline <= 1 and threshold):
        return None
    attackers = sum(each.attack == effect.attack and each.blocks_pass and each.excess.is_tested for each in effects)
    variance = None if isnan(effect.variance) else effect.variance
    return people_to_pass(baseline, min(threshold, 1.0), attackers=max(attackers, 1), variance=variance)


def _row(risk: str, attacks: Sequence[str], effects: Sequence[AttackEffect], evidence: AuditEvidence) -> RiskRow:
    """Return the worst attack of one risk, conclusive ones first."""
    if attacks == OF_SECRETS and evidence.sensitive == ():
        return RiskRow(risk=risk, level=None, why_not_tested="not applicable: no column is sensitive")
    own = [each for each in effects if each.attack in attacks]
    worst = [made for attack in attacks if (made := worst_attacker([e for e in own if e.attack == attack]))]
    levels = [(level_of(each), each) for each in worst]
    if not levels:
        shown = max(
            (each for each in own if not isnan(each.excess.attack_rate)),
            key=lambda each: (each.attempts, each.excess.attack_rate),
            default=None,
        )
        why = _why_not(attacks, shown, evidence)
        return RiskRow(risk=risk, level=None, why_not_tested=why, effect=shown)
    known = [(level, each) for level, each in levels if level is not None and level != "inconclusive"]
    level, effect = max(known or levels, key=lambda pair: (height(pair[0]), pair[1].is_significant, _size(pair[1])))
    if not effect.is_significant:
        effect = max(worst, key=_size)
    at_most = band(max(each.excess.high for each in worst)) if level == "none_found" else None
    return RiskRow(risk=risk, level=level, at_most=at_most, effect=replace(effect, level=level))


def _size(effect: AttackEffect) -> float:
    """Return the sort key of effects: significant excess, else upper limit."""
    return effect.excess.value if effect.is_significant else effect.excess.high


def _why_not(attacks: Sequence[str], shown: AttackEffect | None, evidence: AuditEvidence) -> str:
    if all(each in evidence.not_run for each in attacks if each != SIBLINGS):
        return "not run"
    if shown is not None:
        return shown.excess.why_not_tested
    return "needs a control group" if evidence.control == "none" else "not tested"


def _level(
    rows: Sequence[RiskRow], raised: tuple[Level, Cause] | None, evidence: AuditEvidence
) -> tuple[Level, Level | None]:
    found = [row.level for row in rows if row.level not in (None, "none_found", "inconclusive")]
    significant = [level for level in (*found, *([] if raised is None else [raised[0]])) if level is not None]
    if significant:
        return max(significant, key=height), None
    few = evidence.people < _FEWEST_PEOPLE
    if evidence.control == "usable":
        few |= evidence.control_people < _FEWEST_CONTROL
    is_compared = evidence.control == "usable" or evidence.siblings_test_release
    is_open = any(row.level == "inconclusive" for row in rows) or all(row.level is None for row in rows)
    if few or is_open or not is_compared:
        return "inconclusive", None
    bounds = [row.at_most for row in rows if row.at_most is not None]
    return "none_found", max(bounds, key=height, default=None)


def _raised(release: ReleaseEvidence, evidence: AuditEvidence) -> tuple[Level, Cause] | None:
    """Return the level that exposed individuals set, and its cause."""
    people, found = release.individuals, list[tuple[Level, Cause]]()
    if people.copies_lead:
        found.append(("medium", "copies"))
    if people.flagged and _has_membership(release):
        found.append(("medium", "members"))
    k = people.smallest_class
    if evidence.quasi_identifiers_stated and people.truthful and not people.is_sample and k:
        bounds: tuple[tuple[Level, int], ...] = (("medium", 2), ("low", 10), ("very_low", 19))
        found += [(level, "class") for level, most in bounds if k <= most][:1]
    group = _worst_group(release)
    if group is not None:
        found.append((group.level, "group"))
    return max(found, key=lambda pair: height(pair[0]), default=None)


def _worst_group(release: ReleaseEvidence) -> GroupEffect | None:
    significant = [each for each in release.individuals.groups if each.is_significant and each.excess.value > 0]
    return max(significant, key=lambda each: (height(each.level), each.excess.value), default=None)


def _has_membership(release: ReleaseEvidence) -> bool:
    return any(each.attack == "membership" and each.is_significant for each in release.effects)


def _decided(
    made: ReleaseDecision, release: ReleaseEvidence, evidence: AuditEvidence, held: Thresholds
) -> ReleaseDecision:
    """Return the decision on a release, with its deciding effect."""
    untested = _untested_limit(made.effects, release, held)
    if held.threshold is None:
        # A limit on one effect needs a control group only where the effect could not be tested without one.
        is_of_siblings = any(each.attack == SIBLINGS and each.status for each in made.effects)
        needed = NO_CONTROL if untested or is_of_siblings else ()
        made = replace(made, lacks=tuple(each for each in made.lacks if each in needed))
    failing = _failing(made, release, evidence, held)
    if failing is not None:
        return replace(made, decision="fail", **failing)
    opened = [each for each in made.effects if each.status == "inconclusive"]
    widest = None if not opened else _whole(max(opened, key=lambda each: each.excess.high), made.effects)
    class_open = _class_status(release, evidence, held) == "inconclusive"
    other = next((name for name, status in release.values.items() if status == "inconclusive"), untested)
    is_tested = any(each.status for each in made.effects) or bool(release.values) or MAX_RISK in held.limits
    if made.lacks or widest is not None or class_open or other or not is_tested:
        found = replace(made, decision="inconclusive", worst=widest or made.worst, limit=other)
        return replace(found, cause="class") if class_open and widest is None and not other else found
    return replace(made, decision="pass")


def _whole(effect: AttackEffect, effects: Sequence[AttackEffect]) -> AttackEffect:
    """Return the worst attacker of the same attack."""
    worst = worst_attacker([each for each in effects if each.attack == effect.attack]) or effect
    return replace(worst, level=level_of(worst), threshold=effect.threshold, people_needed=effect.people_needed)


def _untested_limit(effects: Sequence[AttackEffect], release: ReleaseEvidence, held: Thresholds) -> str:
    """Return the name of a limit on an untested attack, or ""."""
    tested = {each.attack for each in effects if each.status is not None}
    untested = {each for each in EFFECTS if each != "reidentification" or release.kind != "synthetic"}
    untested -= tested | set(release.values)
    return next((name for name in held.limits if name.removesuffix(".normalized") in untested), "")


def _failing(
    made: ReleaseDecision, release: ReleaseEvidence, evidence: AuditEvidence, held: Thresholds
) -> dict[str, Any] | None:
    """Return the cause of a failure: largest failing effect, or individuals."""
    found: list[tuple[float, int, dict[str, Any]]] = []
    failed = [each for each in made.effects if each.status == "fail"]
    if failed:
        worst = _whole(max(failed, key=lambda each: each.excess.value), made.effects)
        level = height(worst.level)
        found.append((level, 1, {"cause": "effect", "worst": worst}))
    people = release.individuals
    if held.threshold is not None:
        if people.copies_lead:
            found.append((height("medium"), 0, {"cause": "copies"}))
        if people.flagged and _has_membership(release):
            found.append((height("medium"), 0, {"cause": "members"}))
        found += [
            (height(each.level), 0, {"cause": "group", "group": each})
            for each in people.groups
            if each.is_significant and each.excess.low > (inf if (t := held.of(each.attack)) is None else t)
        ]
    if _class_status(release, evidence, held) == "fail":
        found.append((height(_raised_by_class(made)), 0, {"cause": "class"}))
    exceeded = next((name for name, status in release.values.items() if status == "fail"), "")
    if exceeded:
        found.append((-0.5, 0, {"cause": "limit", "limit": exceeded}))
    if evidence.refuted_claim and not release.is_example:
        found.append((-1.0, 0, {"cause": "claim"}))
    return max(found, key=lambda each: each[:2])[2] if found else None


def _raised_by_class(made: ReleaseDecision) -> Level:
    return made.level if made.cause == "class" else "very_low"


def _class_status(release: ReleaseEvidence, evidence: AuditEvidence, held: Thresholds) -> Status | None:
    """Return whether the smallest class is large enough; None without threshold."""
    people, limit = release.individuals, held.of_class()
    if limit is None or not (people.smallest_class and evidence.quasi_identifiers_stated and release.kind == "masked"):
        return "inconclusive" if MAX_RISK in held.limits else None
    is_fact = people.class_source == "population" or (people.truthful and not people.is_sample)
    if 1 / people.smallest_class <= limit + 1e-12:
        return "pass"
    return "fail" if is_fact else "inconclusive"


def _lacks(
    rows: Sequence[RiskRow], release: ReleaseEvidence, evidence: AuditEvidence, held: Thresholds
) -> Iterator[Lack]:
    """Yield what a pass lacks, the first reason first."""
    if evidence.siblings:
        yield evidence.siblings
    if evidence.control == "none" or release.is_example:
        yield "control"
    elif evidence.control != "usable":
        yield "usable control"
    if release.kind is None:
        yield "type"
    if evidence.sensitive is None:
        yield "sensitive"
    if held.needs_quasi_identifiers and release.kind == "masked" and not evidence.quasi_identifiers_stated:
        yield "quasi-identifiers"
    if evidence.not_run:
        yield "not run"
    untested = [row for row in rows if row.level is None]
    if any(row.risk != "inference" or evidence.sensitive for row in untested):
        yield "not tested"
