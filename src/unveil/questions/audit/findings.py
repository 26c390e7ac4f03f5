"""Findings of an audit: rates, baselines, tests, and disclosure measures."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import inf, isnan, nan
from types import MappingProxyType
from typing import Literal

from unveil._figure import NOTES, derived, figure
from unveil._kernels.types import FloatArray
from unveil.data.identifiers.direct import Flag
from unveil.data.table.markers import MarkerCount
from unveil.metrics.epsilon.bound import EpsilonBound
from unveil.metrics.releases.class_sizes import ClassSizes
from unveil.metrics.releases.closeness import DistanceHistogram
from unveil.metrics.releases.disclosure import Disclosure
from unveil.metrics.releases.unseen_values import UnseenValues
from unveil.metrics.releases.utility import Utility
from unveil.metrics.trials.groups import RatesByGroup
from unveil.metrics.trials.risk import ATTACK_RATE, CONTROL_RATE, EXCESS, Rate, Risk
from unveil.metrics.verdict.control import ControlCheck
from unveil.metrics.verdict.copies import CopiedGroup
from unveil.questions.audit.children.findings import PeopleTables
from unveil.questions.audit.decision.findings import AttackEffect, AuditDecision, GroupEffect, Thresholds
from unveil.questions.audit.generator.findings import EpsilonFinding, GeneratorSummary
from unveil.questions.audit.reference.findings import PopulationFinding, SiblingFinding
from unveil.report.profiles import COPIED


@dataclass(frozen=True, kw_only=True)
class TprAtFpr:
    """TPR at a fixed FPR."""

    COUNTS = "nothing private"
    JSON_DEFINITION = "named_rate"

    fpr: float = figure("The false-positive rate (FPR).")
    rate: Rate = figure(inline=True)


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreArea:
    """AUC of one membership score, with its ROC curve."""

    COUNTS = "statistic"

    name: str = figure("The name of the score.", name="score")
    sees: str = figure("The family of the score.", name="family")
    area: Rate = figure("The AUC of the score.", name="auc")
    weights: tuple[float, ...] = figure(
        "Its weights in the learned score: linear, and beyond two thresholds; empty for a fixed score.",
        default=(),
    )
    #: Its ROC curve, where it is drawn.
    curve: tuple[FloatArray, FloatArray] | None = None


@dataclass(frozen=True, kw_only=True)
class OutlierMembership:
    """Membership inference on outliers: the ``share`` least like the rest."""

    COUNTS = "people"

    share: float = figure("The share of people that are outliers.", counts="nothing private")
    members: int = figure("Number of members among them.")
    others: int = figure("Number of non-members among them.", name="non_members")
    area: Rate = figure("The AUC on outliers.", name="auc")
    tpr_at_fpr: TprAtFpr = figure("The TPR on outliers.")


@dataclass(frozen=True, kw_only=True, eq=False)
class Separation:
    """Membership inference: AUC, TPR, and flagged share on measured people."""

    COUNTS = "people"

    area: Rate = figure("The AUC: 0.5 is guessing, 1 is perfect.", name="auc")
    tpr_at_fpr: tuple[TprAtFpr, ...] = figure("The TPR at each FPR.")
    flagged: float = figure(
        "Number of members flagged at 5% FDR and even odds; non-members outside the measured set fix the cutoff.",
    )
    members: int = figure("Number of measured members.")
    others: int = figure("Number of measured non-members.", name="non_members")
    learned_from: tuple[int, int] = figure(
        "Number of members and of non-members in the training set.", name="trained_on"
    )
    population: int = figure("Number of people in the reference set, for scores that need one.", name="reference")
    epsilon: EpsilonBound | None = figure(
        "The empirical lower bound on ε, if people were assigned at random; null where unknown.",
        name="epsilon_lower_bound",
        default=None,
    )
    scores: tuple[ScoreArea, ...] = figure("The AUC of each score alone; descriptive, without a test.")
    outliers: tuple[OutlierMembership, ...] = figure("Membership inference on outliers.")
    #: The shares of others and of members above each score, from the highest on; None where that is not shown.
    curve: tuple[FloatArray, FloatArray] | None = None


@dataclass(frozen=True, kw_only=True)
class ExposedPerson:
    """Record-level risk of one person in the data, for internal use.

    Attributes
    ----------
    row
        The person's row in the original, from 0 on.
    as_exposed, others
        Number of measured non-members with a score at least as high, and of all measured non-members.
    flagged
        Whether the person is flagged at 5% FDR.
    outlier_percentile
        The share of non-members that are closer to the rest.
    released_row
        The released row that shares most of the person's rare values, from 0 on; -1 if not searched.
    columns
        The columns in which it does, the rarest value first.
    unheard
        The columns whose value is released, but is not in the reference set.
    weights
        The match weight of each of ``columns`` in bits.
    z
        The DCR score minus its mean over siblings that did not see the person, in standard deviations; NaN with fewer
        than three. People share the siblings, so it ranks people and is no test.
    """

    row: int
    as_exposed: int
    others: int
    flagged: bool
    outlier_percentile: float
    released_row: int = -1
    columns: tuple[str, ...] = ()
    unheard: tuple[str, ...] = ()
    weights: tuple[float, ...] = ()
    z: float = nan

    @property
    def p(self) -> float:
        """Share of non-members that score at least as high."""
        return (1 + self.as_exposed) / (1 + self.others)


#: Source of a scenario: the user, all known columns, one of many tested in turn, or their mean.
Origin = Literal["given", "all", "random", "mean", "tables"]

#: Source of the release type: the user, or rows that match people one to one.
TypeSource = Literal["stated", "detected"]

#: Changes of columns that lower the risk.
ChangeKind = Literal["coarser", "left out"]

NOT_CHECKED = ControlCheck(outcome="none", members=0, others=0)
UNDEFINED = Rate(nan, nan, nan)
#: Marks a finding that is withheld because data and control group differ without any release.
SEPARABLE = "separable_without_the_release"
#: Below this adjusted p the size counts, and no longer the significance.
BEYOND_DOUBT = 0.005
#: The rates of every attack in JSON, in the order of display.
RATES = ("attack_rate", "baseline", "control_rate", "normalized_excess")


@dataclass(frozen=True, kw_only=True)
class AttackScenario:
    """Knowledge of an attacker: columns of one or two sources."""

    name: str
    first: tuple[str, ...] = figure("Columns from the first source.")
    second: tuple[str, ...] = figure("Columns from the second source.", default=())
    reason: str = figure("The reason for this scenario.", default="")
    origin: Origin = figure(
        "Given by the user, all columns, random, a mean, or the columns of two tables.", default="given"
    )


@dataclass(frozen=True, kw_only=True)
class SuccessRange:
    """Expected successes with ties broken at random, with their bounds."""

    COUNTS = "people"

    expected: float = figure("Expected successes, with ties between equally near rows broken at random.", default=nan)
    low: float = figure("Fewest successes over all orders of ties.", default=nan)
    high: float = figure("Most successes over all orders of ties.", default=nan)


@dataclass(frozen=True, kw_only=True)
class ColumnImportance:
    """Importance of a column: attack success without it, on the same people."""

    column: str = figure("The column by its name.")
    without: Rate = figure("Attack success without the column.")
    #: Attack success with all columns of the attacker.
    whole: Rate

    @derived("Drop in attack success without the column.")
    def loss(self) -> float:
        """The drop in attack success without the column."""
        return self.whole.value - self.without.value


@dataclass(frozen=True, kw_only=True)
class AttackFinding:
    """One attack on one release by one attacker: rates and values."""

    COUNTS = "statistic"

    attack: str = figure("The attack, as it is written in commands.")

    @derived("The attacker, by name; null where the attack has none.", name="scenario")
    def scenario_name(self) -> str | None:
        """The name of the attacker."""
        return None if self.scenario is None else self.scenario.name

    scenario: AttackScenario | None = figure(
        "The columns of the attacker; null where the attack has none.", name="attacker", default=None
    )
    secret: str = figure("The inferred column; null for other attacks.", name="sensitive", blank=True, default="")
    targets: int = figure("Number of attempts of the attack.", counts="attempts")
    neighbours: int | None = figure(
        "Number of nearest rows that count; null for other attacks.",
        name="neighbors",
        default=None,
        counts="nothing private",
    )
    risk: Risk = figure(inline=True)
    p: float = figure(
        "The p-value; null without a test.",
        default=nan,
    )
    p_adjusted: float = figure(
        "The p-value, adjusted for all tests of the audit; null where `p` is.",
        default=nan,
    )
    proved: bool = figure(
        "Whether it is significant: by adjusted p, or above the theoretical baseline.",
        name="significant",
        default=False,
    )
    links: SuccessRange = figure("Successful attempts, with bounds.", name="successes", default=SuccessRange())
    figures: Mapping[str, float] = field(default_factory=dict)

    @derived("Further results of this attack, by name.", name="values")
    def further_figures(self) -> Mapping[str, float]:
        """The further results by name."""
        return {name: value for name, value in self.figures.items() if name != "not_run"}

    @derived(
        "Reliability of the rate or distance on published releases (releases), and of candidate metrics in tables "
        "(tables); null where it was not graded.",
        name="reliability",
    )
    def trust(self) -> Mapping[str, Mapping[str, str | None]] | None:
        """The reliability of each result."""
        from unveil.metrics import METRICS
        from unveil.questions.audit.attacks import ATTACKS
        from unveil.report.trust import trust_of

        rates = ATTACKS[self.attack].distances or ("attack_rate",)
        ordering = {name: trust_of(f"{self.attack}.{name}", ["releases"]) for name in rates}
        metrics = [METRICS[each] for each in self.figures if each in METRICS and METRICS[each].on == "Candidates"]
        grades = {
            **{name: grade for name, grade in ordering.items() if grade["releases"] is not None},
            **{metric.name: trust_of(metric.name, ["tables"]) for metric in metrics},
        }
        return grades or None

    groups: RatesByGroup | None = figure("Rates of subgroups; null where none were asked for.", default=None)
    separation: Separation | None = figure("Results of membership inference; null for other attacks.", default=None)

    #: Why the attack could not be run, or what limits its result; one sentence.
    remark: str = ""
    #: The importance of each column, where it was measured.
    weights: tuple[ColumnImportance, ...] = ()
    #: Distances of released and of control records, for a chart; None for other attacks.
    distances: DistanceHistogram | None = None
    #: Why it was not tested although there is a control group; empty where it was.
    why_not_judged: str = ""

    def rate(self, figure: str) -> Rate:
        """Return the rate of this name."""
        rate: Rate = getattr(self.risk, figure)
        return rate

    @property
    def worse(self) -> Rate:
        """The rate that ranks findings: normalized excess, else attack success."""
        return self.risk.excess_over_control if self.risk.excess_over_control.defined else self.risk.attack_rate

    @property
    def is_mean(self) -> bool:
        """Whether it is the mean over many attackers, for comparison only."""
        return self.scenario is not None and self.scenario.origin == "mean"

    @property
    def strength(self) -> tuple[bool, float, bool, float, float]:
        """Sort key of findings: significance, adjusted p, excess.

        Without any p, what can be compared comes first, and then how sure it is: a single attempt that succeeded is
        100%, but says less than 490 of 500, so that the lower end of the interval counts and not the rate.
        """
        worse, has_p = self.worse, not isnan(self.p_adjusted)
        return (
            self.proved,
            -max(self.p_adjusted, BEYOND_DOUBT) if has_p else -inf,
            self.risk.excess_over_control.defined,
            0.0 if has_p else worse.low,
            worse.value,
        )


@dataclass(frozen=True, kw_only=True)
class AuditedRelease:
    """All findings on one release."""

    COUNTS = "nothing private"
    JSON_DEFINITION = "release"

    name: str = figure("The release, by the name of its file.")
    rows: int = figure("Number of rows of the release.")
    kind: Literal["masked", "synthetic"] | None = figure("Masked or synthetic; null where not stated.", name="type")
    type_source: TypeSource | None = figure(
        "Whether the type is stated, or detected because rows match people one to one; null where it is not known.",
        default=None,
    )
    truthful: bool | None = figure(
        "Whether at least 99% of the rows of a masked release match compatible original rows one to one; null where "
        "it was not measured.",
        default=None,
    )
    #: The equivalence classes on the stated quasi-identifiers; None where none are stated or it is not masked.
    class_sizes: ClassSizes | None = None
    columns: tuple[str, ...]
    sha256: str | None = figure("The digest of the file; null where there is none or it is withheld.")
    findings: tuple[AttackFinding, ...] = figure("One entry for each attack.", name="attacks")

    @derived("Column importance: attack success without each column.", name="column_importance")
    def weights(self) -> tuple[ColumnImportance, ...]:
        """Column importance for the strongest attacker, most important first."""
        return tuple(weight for finding in self.findings for weight in finding.weights)

    disclosure: Disclosure | None = figure(
        "Disclosure measures, such as k-anonymity; null where not measured.", default=None
    )
    utility: Utility | None = figure("Utility of the release; null where it was not measured.", default=None)
    #: Per column, released values that do not occur in the original.
    unseen: tuple[UnseenValues, ...] = ()

    @derived("Columns whose released values do not occur in the original.", name="unseen")
    def unseen_columns(self) -> tuple[UnseenValues, ...]:
        """The columns with released values that do not occur in the original."""
        return tuple(each for each in self.unseen if each.unseen)

    #: Columns left out, with the original column of nearly the same name.
    near_names: tuple[tuple[str, str], ...] = ()
    #: Record-level risk, the most exposed first: for the internal report alone.
    exposed: tuple[ExposedPerson, ...] = ()

    def of(self, attack: str) -> tuple[AttackFinding, ...]:
        """Return the findings of one attack."""
        return tuple(finding for finding in self.findings if finding.attack == attack)

    def strongest(self, attack: str) -> AttackFinding | None:
        """Return the strongest finding of an attack, means excluded, or None."""
        found = [finding for finding in self.of(attack) if finding.worse.defined and not finding.is_mean]
        return max(found, key=lambda finding: finding.strength, default=None)


@dataclass(frozen=True, kw_only=True)
class ColumnFact:
    """One column of the original as the audit read it."""

    COUNTS = "rows"

    name: str = figure("The name of the column.")
    kind: str = figure("The type of the column.", name="type")
    role: str = figure("The role of the column: known, sensitive, identifier or ignored.")
    reason: str = figure("The reason for type and role.")
    missing: int = figure("Number of missing cells.")
    confidence: str

    @derived(
        "Confidence in the type: given, dictionary, or labels if stated, else certain, likely, or uncertain.",
        name="confidence",
    )
    def confidence_words(self) -> str:
        """The confidence in the type, as reports name it."""
        return {"told": "given", "sure": "certain", "unsure": "uncertain"}.get(self.confidence, self.confidence)

    markers: tuple[MarkerCount, ...] = figure("Markers of missing cells; none in a redacted report.", default=())

    @property
    def is_guessed(self) -> bool:
        """Whether attacks use it although its type is uncertain."""
        return self.confidence == "uncertain" and self.role in ("known", "sensitive")


@dataclass(frozen=True, kw_only=True)
class TableFlags:
    """The columns of one table that look like direct identifiers."""

    table: str
    flags: tuple[Flag, ...]


@dataclass(frozen=True, kw_only=True)
class FlaggedColumn:
    """A column of one table that looks like a direct identifier."""

    table: str = figure("The table with the column: original, control or a release.")
    flag: Flag = figure(inline=True)


@dataclass(frozen=True, kw_only=True)
class ControlTable:
    """The control group."""

    rows: int = figure("Number of rows of the control group.")
    sha256: str | None = figure("The digest of the file; null where there is none or it is withheld.")


@dataclass(frozen=True, kw_only=True)
class JudgedFigure:
    """One test of the audit: attack, attacker, attribute and subgroup."""

    COUNTS = "statistic"

    attack: str = figure("The attack, by its name in JSON.")
    tries: int = figure("Number of attempts on people in the data.", name="attempts", counts="attempts")
    control_tries: int = figure(
        "Number of attempts on the control group; 0 without any.",
        name="control_attempts",
        default=0,
        counts="attempts",
    )
    p: float = figure(
        "The p-value; null without a test.",
        default=nan,
    )
    p_adjusted: float = figure(
        "The p-value, adjusted for all tests of the audit; null without a test.",
        default=nan,
    )
    proved: bool = figure(
        "Whether it is significant: by adjusted p, or above the theoretical baseline.",
        name="significant",
        default=False,
    )
    adversary: str = figure(
        "The attacker or the statistic; null where the attack has only one.",
        name="attacker",
        blank=True,
        default="",
    )
    secret: str = figure("The inferred column; null for other attacks.", name="sensitive", blank=True, default="")
    group: str = figure("The subgroup, as a report names it; empty for all people.", blank=True, default="")
    why: str = figure("Why it was not tested; empty where it was.", blank=True, default="")
    attack_rate: Rate = figure(ATTACK_RATE, default=UNDEFINED)
    control_rate: Rate = figure(CONTROL_RATE, default=UNDEFINED)
    excess_over_control: Rate = figure(EXCESS, name="normalized_excess", default=UNDEFINED)
    #: Number of people of the subgroup; 0 for all people.
    people: int = figure(hidden=True, counts="people", default=0)
    #: The same of the control group.
    control_people: int = figure(hidden=True, counts="people", default=0)


@dataclass(frozen=True, kw_only=True)
class CopyFindings:
    """Exact copies in one release (see `unveil.metrics.verdict.copies.CopiedPeople`)."""

    COUNTS = "people"

    people: int = figure(hidden=True, counts="nothing private")
    people_unchanged: int = figure("Number of people with an exact copy in the release.", name="exact_copies")
    expected: float = figure("Number expected by chance, from the control group.")
    control_share: float = figure(
        "Share of the control group with an equal released row.", name="control_rate", counts="statistic"
    )
    unmistakable: int = figure(
        "Number of copies beyond chance.",
        limit=COPIED,
        limit_meaning="people with an exact copy beyond chance",
    )
    groups: tuple[CopiedGroup, ...] = figure("Subgroups with more copies.", default=())
    coincidences: float = figure(hidden=True, counts="statistic")
    coarsened: tuple[str, ...] = ()
    relabelled: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ReleaseVerdict:
    """Tests on one release: adjusted p-values, copies, and effects."""

    COUNTS = "statistic"

    name: str = figure("The release, by the name of its file.")
    p: float = figure("The smallest adjusted p of its tests.", default=nan)
    findings: tuple[JudgedFigure, ...] = figure("Every test with its p-value.", name="tests", default=())
    copies: CopyFindings | None = figure("Exact copies; null where not measured.", default=None)
    #: The effect size of each attacker, and of each attack within groups; the decision rests on these.
    effects: tuple[AttackEffect, ...] = ()
    group_effects: tuple[GroupEffect, ...] = ()

    @property
    def unmistakable(self) -> int:
        """The number of copies beyond chance."""
        return 0 if self.copies is None else self.copies.unmistakable

    @property
    def proved(self) -> tuple[JudgedFigure, ...]:
        """The significant tests, the strongest first."""
        found = [each for each in self.findings if each.proved]
        return tuple(sorted(found, key=lambda each: (each.p_adjusted, -float(each.excess_over_control.value))))


@dataclass(frozen=True, kw_only=True)
class AuditVerdict:
    """The tests behind the decision on an audit."""

    COUNTS = "nothing private"

    alpha: float = figure("The level: an effect is significant where its adjusted p is at most this.", default=0.045)
    figures: int = figure("The number of tests; 0 where there is none.", name="tests", default=0)
    draws: int = figure("The number of permutations.", name="permutations", default=0)
    fewest_copies_provable: int | None = figure(
        "The smallest number of exact copies that the audit detects; null where no number suffices.",
        name="min_detectable_copies",
        default=None,
    )
    control: ControlCheck = figure("The checks of the control group.", default=NOT_CHECKED)
    releases: tuple[ReleaseVerdict, ...] = figure("The tests on each release, in the order of the audit.", default=())

    @property
    def unmistakable(self) -> int:
        """The largest number of copies beyond chance over all releases."""
        return max((each.unmistakable for each in self.releases), default=0)


@dataclass(frozen=True, kw_only=True)
class SuggestedChange:
    """One change of a release: columns generalized or removed."""

    #: The name of the changed release.
    name: str
    #: The release that is changed.
    release: str
    columns: tuple[str, ...]
    how: ChangeKind
    #: Utility of the changed release, one value per cell; None where not measured.
    utility: Utility | None = None


@dataclass(frozen=True, kw_only=True)
class Suggestions:
    """Tested changes of the releases, audited together on the same people.

    ``attacks`` are repeated: the significant ones and those with a threshold. Without ``again`` no column could be
    changed.
    """

    attacks: tuple[str, ...] = ()
    changes: tuple[SuggestedChange, ...] = ()
    again: "Audit | None" = None


@dataclass(frozen=True, kw_only=True)
class Audit:
    """Findings of an audit: original, releases, tests, and decision."""

    COUNTS = "nothing private"
    GROUPS = MappingProxyType({"original": "The people whose privacy is at stake."})

    decision: AuditDecision = figure("How large the risk is, and whether it is acceptable.", default=AuditDecision())
    verdict: AuditVerdict = figure("The tests behind the decision.", name="tests", default_factory=AuditVerdict)
    rows: int = figure("Number of rows of the original data.", name="original.rows")

    @derived(
        "Number of people; fewer than rows where some have several rows.",
        name="original.people",
    )
    def people_or_rows(self) -> int:
        """The number of people in the original data."""
        return self.people or self.rows

    columns: tuple[ColumnFact, ...] = figure("One entry per column.", name="original.columns")
    sha256: str | None = figure(
        "The digest of the file; null where there is none or it is withheld.", name="original.sha256"
    )
    flags: tuple[TableFlags, ...] = ()

    @derived("Columns that look like direct identifiers.")
    def direct_identifiers(self) -> tuple[FlaggedColumn, ...]:
        """The columns of all tables that look like direct identifiers."""
        return tuple(FlaggedColumn(table=each.table, flag=flag) for each in self.flags for flag in each.flags)

    control_rows: int | None
    control_sha256: str | None

    @derived("The control group; null where there is none.")
    def control(self) -> ControlTable | None:
        """The control group."""
        if self.control_rows is None:
            return None
        return ControlTable(rows=self.control_rows, sha256=self.control_sha256)

    releases: tuple[AuditedRelease, ...] = figure("One entry for each release.")
    siblings: SiblingFinding | None = figure(
        "How close the release is to its people, compared with sibling releases.", optional=True, default=None
    )
    population: PopulationFinding | None = figure("The risk against a population file.", optional=True, default=None)
    tables: PeopleTables | None = figure(
        "The tables behind one row per person, where people have several rows.", optional=True, default=None
    )
    #: The same attacks on the unprotected original.
    before: AuditedRelease | None = figure(
        "The same attacks on the unprotected original; null where not asked for.", default=None
    )
    by: str | None = figure("The column of the subgroups; null without one.", name="group_by", default=None)
    minimum_cell: int = figure("The size of the smallest subgroup shown.", name="min_cell", default=11)
    #: The stated quasi-identifiers; none where all columns may be known.
    quasi_identifiers: tuple[str, ...] = ()
    #: Whether the data are stated to be a sample of their population.
    is_sample: bool = False

    notes: tuple[str, ...] = figure(NOTES, default=())
    attacks: tuple[str, ...]
    #: Number of people in the original data; 0 where not counted.
    people: int = 0
    #: Number of attacked people of the original data and of the control group.
    attacked: int = 0
    attacked_outside: int = 0
    #: Name of the digests of files; those of a redacted report use a key.
    digest_name: str = "SHA-256"
    #: Tested changes, where asked for.
    suggestions: Suggestions | None = None
    #: The thresholds of the decision.
    thresholds: Thresholds = field(default_factory=Thresholds)
    #: Releases for comparison only, such as the unprotected table.
    references: tuple[str, ...] = ()
    #: Whether the sensitive columns were stated, or that there are none.
    sensitive_stated: bool = False
    #: The generator that made the first release, where one was run, and the bound on ε.
    way: GeneratorSummary | None = None
    epsilon: EpsilonFinding | None = None

    @property
    def has_control(self) -> bool:
        """Whether there is a control group."""
        return self.control_rows is not None
