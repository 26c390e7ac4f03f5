"""The evidence of a decision, the decision, and their parts as findings."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import nan
from types import MappingProxyType
from typing import Literal

from unveil._figure import figure, figure_at
from unveil.metrics.verdict.effects import EffectSize
from unveil.metrics.verdict.levels import ALPHA, LEVELS, Level, band

DecisionWord = Literal["pass", "fail", "inconclusive", "none"]
Status = Literal["pass", "fail", "inconclusive"]
BaselineKind = Literal["control", "chance", "theoretical", "siblings"]
#: What the tests compare with: the control group, sibling releases, held-out people of a generator, or own draws.
DecisionBasis = Literal["control", "siblings", "generator", "own_draws"]
ControlState = Literal["usable", "none", "other_people", "clustered", "overlap", "too_small"]
#: What sets the level or fails a release: an effect on everybody, exposed individuals, or a claim that is refuted.
Cause = Literal["", "effect", "copies", "members", "class", "group", "limit", "claim"]
#: What a pass lacks.
Lack = Literal[
    "siblings differ", "siblings overlap", "control", "usable control", "type", "sensitive", "quasi-identifiers",
    "not run", "not tested",
]  # fmt: skip

#: The attacks of each risk; "max_risk" is a fact about single people and belongs to none.
RISKS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "singling out and re-identification": ("singling_out", "reidentification", "row_order", "copies"),
        "linkability": ("linkability",),
        "inference": ("inference", "attribute_disclosure", "memorization"),
        "membership": ("membership", "siblings"),
    }
)
OF_SECRETS = RISKS["inference"]
MAX_RISK, WORST = "max_risk", "worst"
#: Nearness to the release compared with sibling releases; it can fail a release, and never passes one.
SIBLINGS = "siblings"
#: What a pass lacks where nothing can be compared with people outside the data.
NO_CONTROL: tuple[Lack, ...] = ("siblings differ", "siblings overlap", "control", "usable control")
#: The effects that a limit can be set for.
EFFECTS: tuple[str, ...] = tuple(attack for attacks in RISKS.values() for attack in attacks)


@dataclass(frozen=True, kw_only=True)
class AttackEffect:
    """Excess risk of one attack, as a risk difference with its limits.

    ``counted`` effects are facts about the release without sampling error, such as classes of a truthful release.
    An effect without ``blocks_pass`` counts only where it is significant.
    """

    COUNTS = "statistic"

    attack: str = figure("The attack, by the name of its limit.")
    attacker: str = figure("The attacker; null where the attack has one.", blank=True, default="")
    sensitive: str = figure("The inferred sensitive column; null for other attacks.", blank=True, default="")
    attack_rate = figure_at("excess.attack_rate", "Attack success on people in the data.")
    baseline = figure_at("excess.baseline", "The success rate without the release.")
    baseline_kind: BaselineKind = figure("Where the baseline comes from.", default="control")
    attempts: int = figure("The number of attempts on people in the data.", counts="attempts", default=0)
    control_attempts: int = figure(
        "The number of attempts on the control group; 0 for another baseline.", counts="attempts", default=0
    )
    excess: EffectSize = figure("Attack success minus baseline, with its limits.")
    uncorrected: float = figure(
        "The excess before it was corrected for the choice of the worst attacker; null where it was not.", default=nan
    )
    normalized_excess = figure_at("excess.normalized_excess", "The excess as a share of what the baseline leaves.")
    p_adjusted: float = figure("The p-value, adjusted for all tests of the audit.", default=nan)
    by: str = figure("The test with the smallest p-value.", blank=True, default="")
    auc: float = figure("The area under the ROC curve, for membership.", default=nan)
    counted: bool = figure("Whether it is counted and has no sampling error.", default=False)
    blocks_pass: bool = figure(
        "Whether a pass needs its upper limit below the threshold also where it is not significant.", default=True
    )
    why_not_tested = figure_at("excess.why_not_tested", "Why it was not tested; empty where it was.")
    #: Set by the decision.
    level: Level | None = figure("Its level; null where it was not tested.", default=None)
    threshold: float | None = figure("The threshold that it is held to; null where it is not held.", default=None)
    convention: bool = figure("Whether the source of the threshold speaks of other risks.", default=False)
    status: Status | None = figure("Pass, fail or inconclusive; null where it is not held.", default=None)
    people_needed: int | None = figure(
        "The people needed in each table so that a leak-free release passes; null where it is not open.",
        default=None,
        counts="nothing private",
    )
    #: The variance of the chance of a person of the control group, where it is known.
    variance: float = nan
    #: The mean correlation between the effects of the attackers of this attack.
    correlation: float = 0.0

    @property
    def is_significant(self) -> bool:
        """Whether the effect is significant, or counted and above zero."""
        if self.counted or self.baseline_kind == "theoretical":
            # A rate is compared with the theoretical baseline only where its lower limit exceeds it.
            return self.excess.is_tested and self.excess.value > 0
        return self.excess.is_tested and self.p_adjusted <= ALPHA


@dataclass(frozen=True, kw_only=True)
class GroupEffect:
    """The effect of an attack within a group of people."""

    COUNTS = "statistic"

    group: str = figure("The group, by its column and value.")
    people: int = figure("How many people in the data belong to it.", counts="people")
    control_people: int = figure("How many people of the control group belong to it.", counts="people", default=0)
    attack: str = figure("The attack, by the name of its limit.")
    excess: EffectSize = figure("Attack success minus baseline within the group, with its limits.")
    p_adjusted: float = figure("The p-value, adjusted for all tests of the audit.")

    @property
    def is_significant(self) -> bool:
        """Whether chance does not explain it."""
        return self.p_adjusted <= ALPHA

    @property
    def level(self) -> Level:
        """The band of its effect, less one level."""
        return LEVELS[max(LEVELS.index(band(self.excess.value)) - 1, 1)]


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
    flagged: int = figure("People flagged as members at a false discovery rate of 5%.", default=0)
    smallest_class: int | None = figure("The smallest equivalence class on the stated quasi-identifiers.", default=None)
    people_in_classes_below: Mapping[int, int] = figure(
        "How many people are in classes of fewer than 3, 11 and 20 people.", default_factory=dict
    )
    class_source: Literal["sample", "population"] = figure("Where classes were counted.", default="sample")
    #: Whether released rows agree with their people, so that classes are the risk itself.
    truthful: bool = False
    #: Whether the data are stated to be a sample of their population.
    is_sample: bool = False
    groups: tuple[GroupEffect, ...] = figure("Effects within groups of people.", default=())

    @property
    def copies_lead(self) -> bool:
        """Whether copies by themselves raise a release."""
        return bool(self.unmistakable) or self.rare_beyond_chance


@dataclass(frozen=True, kw_only=True)
class ReleaseEvidence:
    """Everything the decision on one release rests on."""

    name: str
    kind: Literal["masked", "synthetic"] | None
    type_source: Literal["stated", "detected"] | None = None
    effects: tuple[AttackEffect, ...]
    individuals: ExposedIndividuals = ExposedIndividuals()
    utility_loss: float = nan
    #: Limits on other values, such as the utility loss: name and status.
    values: Mapping[str, Status] = field(default_factory=dict)
    #: Whether it only stands next to the releases of a generator, which have the control group.
    is_example: bool = False
    #: The unprotected table, which is no candidate.
    is_reference: bool = False


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
    basis: DecisionBasis | None = None
    #: How many siblings the tests compare with; 0 where they are not evidence.
    siblings_number: int = 0
    #: Why siblings that were given are not used; empty where they are, or none were given.
    siblings: Literal["", "siblings differ", "siblings overlap"] = ""
    #: Whether siblings tested this release, and not the way of making releases.
    siblings_test_release: bool = False
    #: Whether an epsilon that was claimed is refuted.
    refuted_claim: bool = False


@dataclass(frozen=True, kw_only=True)
class Thresholds:
    """Largest acceptable excess: one threshold, and limits on single effects."""

    COUNTS = "nothing private"

    threshold: float | None = None
    #: By attack, ``max_risk`` or ``worst``, and for ``.normalized`` excesses; a limit overrides the threshold.
    limits: Mapping[str, float] = field(default_factory=dict)
    #: The published threshold, by name, and who published it; empty where the user chose it.
    profile: str = ""
    source: str = ""
    #: The largest risk of one person that the source allows.
    max_risk: float | None = None
    #: Whether the source asks for equivalence classes on stated quasi-identifiers.
    needs_quasi_identifiers: bool = False

    def of(self, attack: str) -> float | None:
        """Return the threshold of an attack; None without one."""
        return self.limits.get(attack, self.limits.get(WORST, self.threshold))

    def of_class(self) -> float | None:
        """Return the largest acceptable risk of one person."""
        if MAX_RISK in self.limits or self.max_risk is None:
            limit = self.limits.get(MAX_RISK, self.threshold)
            return 1 / 11 if limit == 0.09 else limit
        return self.max_risk

    @property
    def is_set(self) -> bool:
        """Whether anything is held."""
        return self.threshold is not None or bool(self.limits)


@dataclass(frozen=True, kw_only=True)
class RiskRow:
    """One of the four risks of a release with its worst attack."""

    COUNTS = "statistic"

    risk: str = figure("The risk, by its name.")
    level: Level | None = figure("Its level; null where it was not tested.")
    at_most: Level | None = figure("The level that is not ruled out, where nothing is significant.", default=None)
    effect: AttackEffect | None = figure(
        "Its worst attack, with the largest limits of all its attackers; where nothing was tested, the one with most "
        "attempts.",
        name="worst",
        default=None,
    )
    why_not_tested: str = figure("Why it was not tested; empty where it was.", default="")


@dataclass(frozen=True, kw_only=True)
class ReleaseDecision:
    """The level of one release, and whether it is acceptable."""

    COUNTS = "statistic"

    name: str = figure("The release, by its name.")
    kind: Literal["masked", "synthetic"] | None = figure("Masked or synthetic; null where unknown.", name="type")
    type_source: Literal["stated", "detected"] | None = figure("Whether the type was stated or detected.", default=None)
    level: Level = figure("How large the risk is.")
    at_least: bool = figure("Whether the level is a lower bound, as without a control group.", default=False)
    at_most: Level | None = figure("The level that is not ruled out, where nothing is significant.", default=None)
    decision: DecisionWord = figure("Whether it is acceptable; none where no threshold is set.")
    cause: Cause = figure("What sets the level, or what fails it.", blank=True, default="")
    lacks: tuple[Lack, ...] = figure("What a pass lacks.", default=())
    worst: AttackEffect | None = figure(
        "The effect that sets the level or the decision.", name="worst_excess", default=None
    )
    highest: float = figure("The largest upper limit of all effects that a pass needs.", default=nan)
    group: GroupEffect | None = figure("The group that sets the level.", optional=True, default=None)
    limit: str = figure("The other limit that is not kept.", optional=True, default="")
    utility_loss: float = figure("The utility loss, from 0 to 1.", default=nan)
    risks: tuple[RiskRow, ...] = figure("The four risks of the release.", default=())
    effects: tuple[AttackEffect, ...] = figure("The effect of each attacker.", default=())
    individuals: ExposedIndividuals = figure(
        "The people whose own risk is high.", default_factory=ExposedIndividuals, counts="people"
    )
    is_reference: bool = figure("Whether it is the unprotected table, to compare with.", default=False)


@dataclass(frozen=True, kw_only=True)
class StatedThreshold:
    """The threshold of a decision, and where it comes from."""

    COUNTS = "nothing private"

    value: float | None = figure("The largest acceptable excess; null with limits on single effects only.")
    source: str = figure("Who published it; null where the user chose it.", blank=True)
    limits: Mapping[str, float] = figure("Limits on single effects, which override it.")


@dataclass(frozen=True, kw_only=True)
class AuditDecision:
    """The level and decision of an audit: the worst over its releases."""

    COUNTS = "nothing private"

    level: Level = figure("How large the risk is: that of the worst release.", default="inconclusive")
    at_most: Level | None = figure("The level that is not ruled out, where nothing is significant.", default=None)
    decision: DecisionWord = figure("Whether it is acceptable: that of the worst release.", default="none")
    exit: int = figure("The exit code of the command line.", default=0)
    headline: str = figure("The result in one sentence.", default="")
    subline: str = figure("The numbers behind it.", default="")
    next: tuple[str, ...] = figure("What to do next.", default=())
    people: int = figure("The number of people in the data.", counts="people", default=0)
    control_people: int = figure("The number of people in the control group.", counts="people", default=0)
    control: ControlState = figure("Whether there is a control group that can be used.", default="none")
    basis: DecisionBasis | None = figure(
        "What tests compare with: control, siblings, generator (held-out people) or own_draws (of the attacker alone); "
        "null without a test.",
        default=None,
    )
    #: How many siblings it compares with.
    siblings: int = 0
    threshold: StatedThreshold | None = figure("The threshold; null without one.", default=None)
    partial: bool = figure("Whether attacks are missing.", default=False)
    not_run: tuple[str, ...] = figure("The attacks that were not run.", default=())
    recommended: str | None = figure(
        "The most useful release that passes; without a threshold the one with the lowest upper limit.", default=None
    )
    releases: tuple[ReleaseDecision, ...] = figure("The decision on each release.", default=())
