"""Decide how large the risk of each release is, and whether it is acceptable: one rule for every front end.

The level is the band of the worst effect that is significant; the decision compares limits of the effects with a
threshold. Significance alone never sets a level.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf, isnan, nan
from types import MappingProxyType
from typing import Literal

from unveil._figure import figure, figure_at
from unveil.metrics.verdict.effects import EffectSize, worst_effect

Level = Literal["none_found", "very_low", "low", "medium", "high", "inconclusive"]
DecisionWord = Literal["pass", "fail", "inconclusive", "none"]
EffectStatus = Literal["pass", "fail", "inconclusive"]
BaselineKind = Literal["control", "chance", "theoretical"]
ControlState = Literal["usable", "none", "other_people", "clustered", "overlap", "too_small"]

#: From the lowest to the highest; "inconclusive" has no place among them.
LEVELS: tuple[Level, ...] = ("none_found", "very_low", "low", "medium", "high")
#: The largest excess of each level. Anchors: cells of 20, EMA Policy 0070 and Health Canada (0.09), cells of 3.
_BANDS: tuple[tuple[float, Level], ...] = ((0.05, "very_low"), (0.09, "low"), (0.33, "medium"), (inf, "high"))
#: The largest adjusted p of a significant effect.
ALPHA = 0.045
#: An excess above this could be a high risk that was missed.
_MISSED = 0.33
#: With fewer people, nothing significant says nothing.
_FEWEST_PEOPLE, _FEWEST_CONTROL = 100, 60
#: The attacks of each risk; "max_risk" is a fact about single people and belongs to none.
RISKS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "singling out and re-identification": ("singling_out", "reidentification", "row_order", "copies"),
        "linkability": ("linkability",),
        "inference": ("inference", "attribute_disclosure", "memorization"),
        "membership": ("membership",),
    }
)
_OF_SECRETS = RISKS["inference"]
MAX_RISK = "max_risk"
#: The exit code of each decision.
EXITS: Mapping[DecisionWord, int] = MappingProxyType({"none": 0, "pass": 0, "fail": 3, "inconclusive": 5})


@dataclass(frozen=True, kw_only=True)
class AttackEffect:
    """What one attack adds to the risk of people because of the release: a risk difference with its limits.

    ``counted`` effects are facts about the release without sampling error, such as classes of a truthful release.
    """

    COUNTS = "statistic"

    attack: str = figure("The attack.")
    attacker: str = figure("Who attacks; empty where there is one attacker.", default="")
    sensitive: str = figure("The sensitive column that is inferred; null where none is.", blank=True, default="")
    attack_rate = figure_at("excess.attack_rate", "The attack success rate.")
    baseline = figure_at("excess.baseline", "The success rate without the release.")
    baseline_kind: BaselineKind = figure("Where the baseline comes from.", default="control")
    excess: EffectSize = figure("Attack success minus baseline, with its limits.")
    p_adjusted: float = figure("The p-value, adjusted for all tests of the audit.", default=nan)
    counted: bool = figure("Whether it is counted and has no sampling error.", default=False)
    why_not_tested = figure_at("excess.why_not_tested", "Why it was not tested; empty where it was.")

    @property
    def is_significant(self) -> bool:
        """Whether chance does not explain it, or it is counted and above zero."""
        return self.excess.is_tested and (self.excess.value > 0 if self.counted else self.p_adjusted <= ALPHA)


@dataclass(frozen=True, kw_only=True)
class GroupEffect:
    """The effect of an attack within a group of people."""

    COUNTS = "statistic"

    group: str = figure("The group.")
    people: int = figure("How many people in the data belong to it.", counts="people")
    attack: str = figure("The attack.")
    excess: EffectSize = figure("Attack success minus baseline within the group, with its limits.")
    p_adjusted: float = figure("The p-value, adjusted for all tests of the audit.")


@dataclass(frozen=True, kw_only=True)
class ExposedIndividuals:
    """The people whose own risk is high, whatever the mean is."""

    COUNTS = "people"

    unmistakable: int = figure("People whose unique record is released unchanged.", default=0)
    copies_seen: int = figure("People whose record is released unchanged.", default=0)
    copies_expected: float = figure("How many are expected by coincidence.", default=nan)
    rare_copies: int = figure("Copied records that coincidence rarely explains.", default=0)
    rare_copies_expected: float = figure("How many of those the control group suggests.", default=nan)
    rare_beyond_chance: bool = figure(
        "Whether rare copies exceed chance, and at most one in five is chance.", default=False
    )
    flagged: int = figure("People flagged as members at a false discovery rate of 5 %.", default=0)
    smallest_class: int | None = figure("The smallest equivalence class on the stated quasi-identifiers.", default=None)
    class_source: Literal["sample", "population"] = figure("Where classes were counted.", default="sample")
    #: Whether released rows agree with their people, so that classes are the risk itself.
    truthful: bool = False
    #: Whether the data are stated to be a sample of their population.
    is_sample: bool = False
    groups: tuple[GroupEffect, ...] = figure("Effects within groups of people.", default=())


@dataclass(frozen=True, kw_only=True)
class ReleaseEvidence:
    """Everything the decision on one release rests on."""

    name: str
    kind: Literal["masked", "synthetic"] | None
    effects: tuple[AttackEffect, ...]
    individuals: ExposedIndividuals = ExposedIndividuals()
    utility_loss: float = nan


@dataclass(frozen=True, kw_only=True)
class AuditEvidence:
    """Everything the decision on an audit rests on."""

    releases: tuple[ReleaseEvidence, ...]
    people: int
    control_people: int = 0
    control: ControlState = "none"
    #: The stated sensitive columns; empty where there are none, None where nothing was stated.
    sensitive: tuple[str, ...] | None = None
    quasi_identifiers_stated: bool = False
    not_run: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """The largest acceptable excess, for all held effects together and for single ones."""

    threshold: float | None = None
    #: By attack, ``max_risk`` or ``worst``; a limit overrides the threshold.
    limits: Mapping[str, float] = field(default_factory=dict)
    #: Who published the threshold; empty where the user chose it.
    source: str = ""
    #: Whether the source asks for equivalence classes on stated quasi-identifiers.
    needs_quasi_identifiers: bool = False

    def of(self, attack: str) -> float | None:
        """Return the threshold that an attack is held to; None where it is not held."""
        return self.limits.get(attack, self.limits.get("worst", self.threshold))

    @property
    def is_set(self) -> bool:
        """Whether anything is held."""
        return self.threshold is not None or bool(self.limits)


@dataclass(frozen=True, kw_only=True)
class RiskRow:
    """One of the four risks of a release with its worst attack."""

    COUNTS = "statistic"

    risk: str = figure("The risk.")
    level: Level | None = figure("Its level; null where it was not tested.")
    at_most: Level | None = figure("The level that is not ruled out, where nothing is significant.", default=None)
    effect: AttackEffect | None = figure("Its worst attack, with the limits of all attackers.", default=None)


@dataclass(frozen=True, kw_only=True)
class ReleaseDecision:
    """The level of one release, and whether it may go out."""

    COUNTS = "statistic"

    name: str = figure("The release.")
    level: Level = figure("How large the risk is.")
    at_least: bool = figure("Whether the level is a lower bound, as without a control group.", default=False)
    at_most: Level | None = figure("The level that is not ruled out, where nothing is significant.", default=None)
    decision: DecisionWord = figure("Whether it is acceptable; none where no threshold is set.")
    reason: str = figure("What decides.")
    worst_excess: AttackEffect | None = figure("The worst effect, with the limits of all attackers.", default=None)
    highest: float = figure("The largest upper limit of all held effects.", default=nan)
    utility_loss: float = figure("The utility loss, from 0 to 1.", default=nan)
    risks: tuple[RiskRow, ...] = figure("The four risks.", default=())


@dataclass(frozen=True, kw_only=True)
class AuditDecision:
    """The level and decision of an audit: the worst over its releases."""

    level: Level = figure("How large the risk is: that of the worst release.")
    decision: DecisionWord = figure("Whether it is acceptable: that of the worst release.")
    exit: int = figure("The exit code.", counts="nothing private")
    reason: str = figure("What decides.")
    partial: bool = figure("Whether attacks are missing.")
    not_run: tuple[str, ...] = figure("The attacks that were not run.")
    recommended: str | None = figure("The most useful release that passes; null where none does.")
    releases: tuple[ReleaseDecision, ...] = figure("The decision on each release.")


def band(excess: float) -> Level:
    """Return the level of an excess; bounds belong to the lower level.

    >>> band(0.05), band(0.051), band(0.34), band(0.0)
    ('very_low', 'low', 'high', 'none_found')
    """
    return "none_found" if not excess > 0 else next(level for bound, level in _BANDS if excess <= bound)


def level_of(effect: AttackEffect) -> Level | None:
    """Return the level of one effect: its band, at most one level above that of its lower limit.

    >>> wide = EffectSize(0.38, 0.07, 0.6)
    >>> level_of(AttackEffect(attack="linkability", excess=wide, p_adjusted=0.01))
    'medium'
    """
    if not effect.excess.is_tested:
        return None
    if not effect.is_significant:
        return "none_found" if effect.excess.high <= _MISSED else "inconclusive"
    excess = effect.excess
    if effect.counted:
        return band(excess.value)
    capped = min(LEVELS.index(band(excess.value)), LEVELS.index(band(excess.low)) + 1)
    lowest = LEVELS.index("low") if excess.value > 0.09 else LEVELS.index("very_low")
    return LEVELS[max(capped, lowest)]


def worst_attacker(effects: Sequence[AttackEffect]) -> AttackEffect | None:
    """Return the worst effect of an attack, with the largest limits over all its attackers.

    The attacker is the significant one with the largest excess; where none is significant, the one with the largest.
    """
    tested = [each for each in effects if each.excess.is_tested]
    if not tested:
        return None
    worst = max(tested, key=lambda each: (each.is_significant, each.excess.value))
    return replace(
        worst, excess=worst_effect([each.excess for each in tested], [each.is_significant for each in tested])
    )


def decide(evidence: AuditEvidence, thresholds: Thresholds | None = None) -> AuditDecision:
    """Return the level and the decision of an audit, by the one rule that every front end uses."""
    held = thresholds or Thresholds()
    releases = tuple(_decide_release(each, evidence, held) for each in evidence.releases)
    order: tuple[DecisionWord, ...] = ("fail", "inconclusive", "pass", "none")
    worst = min(releases, key=lambda each: (order.index(each.decision), -_height(each.level)))
    passing = [each for each in releases if each.decision == "pass"]
    lightest = min(passing, key=lambda each: each.utility_loss if not isnan(each.utility_loss) else inf, default=None)
    return AuditDecision(
        level=max(releases, key=lambda each: _height(each.level)).level,
        decision=worst.decision,
        exit=EXITS[worst.decision],
        reason=worst.reason,
        partial=bool(evidence.not_run),
        not_run=evidence.not_run,
        recommended=None if lightest is None else lightest.name,
        releases=releases,
    )


def _height(level: Level) -> float:
    return 0.5 if level == "inconclusive" else LEVELS.index(level)


def _decide_release(release: ReleaseEvidence, evidence: AuditEvidence, held: Thresholds) -> ReleaseDecision:
    rows = tuple(_row(risk, attacks, release.effects) for risk, attacks in RISKS.items())
    level, at_most = _release_level(rows, release, evidence)
    tested = [row.effect for row in rows if row.effect is not None]
    worst = max(tested, key=lambda each: (each.is_significant, each.excess.value), default=None)
    statuses = dict(_statuses(release, evidence, held))
    decision, reason = _decision(statuses, rows, release, evidence, held)
    highs = [each.excess.high for each in _held_effects(release, evidence, held)]
    return ReleaseDecision(
        name=release.name,
        level=level,
        at_least=evidence.control != "usable",
        at_most=at_most,
        decision=decision,
        reason=reason,
        worst_excess=worst,
        highest=max(highs, default=nan),
        utility_loss=release.utility_loss,
        risks=rows,
    )


def _row(risk: str, attacks: Sequence[str], effects: Sequence[AttackEffect]) -> RiskRow:
    """Return the worst attack of one risk; an inconclusive one counts where no other attack of it was conclusive."""
    worst = [made for attack in attacks if (made := worst_attacker([e for e in effects if e.attack == attack]))]
    levels = [(level_of(each), each) for each in worst]
    if not levels:
        return RiskRow(risk=risk, level=None)
    known = [(level, each) for level, each in levels if level is not None and level != "inconclusive"]
    level, effect = max(known or levels, key=lambda pair: (_height(pair[0] or "none_found"), pair[1].excess.high))
    at_most = band(max(each.excess.high for each in worst)) if level == "none_found" else None
    return RiskRow(risk=risk, level=level, at_most=at_most, effect=effect)


def _release_level(
    rows: Sequence[RiskRow], release: ReleaseEvidence, evidence: AuditEvidence
) -> tuple[Level, Level | None]:
    raised = [*_raised(release, evidence)]
    found = [row.level for row in rows if row.level not in (None, "none_found", "inconclusive")]
    significant: list[Level] = [level for level in (*found, *raised) if level is not None]
    if significant:
        return max(significant, key=_height), None
    few = evidence.people < _FEWEST_PEOPLE or evidence.control_people < _FEWEST_CONTROL
    is_open = any(row.level == "inconclusive" for row in rows) or all(row.level is None for row in rows)
    if few or is_open or evidence.control != "usable":
        return "inconclusive", None
    bounds = [row.at_most for row in rows if row.at_most is not None]
    return "none_found", max(bounds, key=_height, default=None)


def _raised(release: ReleaseEvidence, evidence: AuditEvidence) -> Iterator[Level]:
    """Yield the levels that exposed individuals raise a release to."""
    people = release.individuals
    if people.unmistakable or people.rare_beyond_chance or (people.flagged and _has_membership(release)):
        yield "medium"
    if evidence.quasi_identifiers_stated and people.truthful and not people.is_sample and people.smallest_class:
        k = people.smallest_class
        yield from (level for level, most in (("medium", 2), ("low", 10), ("very_low", 19)) if k <= most)  # type: ignore[misc]
    for group in people.groups:
        if group.p_adjusted <= ALPHA:
            yield LEVELS[max(LEVELS.index(band(group.excess.value)) - 1, 1)]


def _has_membership(release: ReleaseEvidence) -> bool:
    return any(each.attack == "membership" and each.is_significant for each in release.effects)


def _held_effects(release: ReleaseEvidence, evidence: AuditEvidence, held: Thresholds) -> list[AttackEffect]:
    """Return the effects that are held to a threshold, the worst attacker of each attack and sensitive column."""
    by_attack: dict[tuple[str, str], list[AttackEffect]] = {}
    for each in release.effects:
        is_single = each.attack in held.limits or "worst" in held.limits
        is_stated = each.attack not in _OF_SECRETS or each.sensitive in (evidence.sensitive or ())
        is_theirs = each.attack != "reidentification" or release.kind != "synthetic"
        if held.of(each.attack) is not None and is_theirs and (is_single or is_stated):
            by_attack.setdefault((each.attack, each.sensitive), []).append(each)
    return [made for effects in by_attack.values() if (made := worst_attacker(effects)) is not None]


def _statuses(
    release: ReleaseEvidence, evidence: AuditEvidence, held: Thresholds
) -> Iterator[tuple[str, tuple[EffectStatus, str]]]:
    """Yield the status of each held effect and of the people who are exposed, with the reason."""
    for each in _held_effects(release, evidence, held):
        threshold, excess = held.of(each.attack) or 0.0, each.excess
        status: EffectStatus = "pass" if excess.high <= threshold else "inconclusive"
        if excess.low > threshold and each.is_significant:
            status = "fail"
        yield f"{each.attack} {each.sensitive}".strip(), (status, f"{each.attack}: {_points(excess)}")
    people = release.individuals
    if held.threshold is not None:
        if people.unmistakable or people.rare_beyond_chance:
            yield "copies of individuals", ("fail", f"{people.copies_seen or people.unmistakable} records are copied")
        if people.flagged and _has_membership(release):
            yield "members", ("fail", f"{people.flagged} people are flagged as members")
        for group in people.groups:
            if group.p_adjusted <= ALPHA and group.excess.low > (held.of(group.attack) or inf):
                yield f"group {group.group}", ("fail", f"{group.attack} in one group: {_points(group.excess)}")
    limit = _class_limit(held)
    if limit is not None and people.smallest_class and evidence.quasi_identifiers_stated and release.kind == "masked":
        is_fact = people.class_source == "population" or (people.truthful and not people.is_sample)
        risk = 1 / people.smallest_class
        held_to: EffectStatus = "pass" if risk <= limit + 1e-12 else "fail" if is_fact else "inconclusive"
        yield MAX_RISK, (held_to, f"one person's risk is up to {risk:.3g}")


def _class_limit(held: Thresholds) -> float | None:
    """Return the largest risk of one person; those who write 0.09 mean classes of 11."""
    limit = held.limits.get(MAX_RISK, held.threshold)
    return 1 / 11 if limit == 0.09 else limit


def _points(excess: EffectSize) -> str:
    low, high = (f"{100 * each:.1f}" for each in (excess.low, excess.high))
    return f"excess {100 * excess.value:.1f} points (at least {low}, at most {high})"


def _decision(
    statuses: Mapping[str, tuple[EffectStatus, str]],
    rows: Sequence[RiskRow],
    release: ReleaseEvidence,
    evidence: AuditEvidence,
    held: Thresholds,
) -> tuple[DecisionWord, str]:
    if not held.is_set:
        return "none", "no threshold is set"
    failed = next((why for status, why in statuses.values() if status == "fail"), None)
    if failed is not None:
        return "fail", failed
    missing = next(_missing(rows, release, evidence, held), None) if held.threshold is not None else None
    opened = next((why for status, why in statuses.values() if status == "inconclusive"), None)
    if missing is not None or opened is not None or not statuses:
        return "inconclusive", missing or opened or "nothing that is held was tested"
    return "pass", "every held effect is at most the threshold"


def _missing(
    rows: Sequence[RiskRow], release: ReleaseEvidence, evidence: AuditEvidence, held: Thresholds
) -> Iterator[str]:
    """Yield what a pass lacks, the first reason first."""
    if evidence.control == "none":
        yield "there is no control group"
    elif evidence.control != "usable":
        yield "the control group is not usable"
    if release.kind is None:
        yield "state the release type: masked or synthetic"
    if evidence.sensitive is None:
        yield "state the sensitive columns"
    if held.needs_quasi_identifiers and release.kind == "masked" and not evidence.quasi_identifiers_stated:
        yield "state the quasi-identifiers"
    if evidence.not_run:
        yield f"attacks were not run: {', '.join(evidence.not_run)}"
    untested = [
        row.risk for row in rows if row.level is None and not (row.risk == "inference" and not evidence.sensitive)
    ]
    if untested:
        yield f"not tested: {', '.join(untested)}"
