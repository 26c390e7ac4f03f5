"""What an audit found, as data: who attacked which release how, how often it succeeded, and beside what."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import nan
from types import MappingProxyType
from typing import Literal

from unveil._figure import NOTES, derived, figure
from unveil.data.identifiers.direct import Flag
from unveil.data.table.markers import MarkerCount
from unveil.metrics.releases.class_sizes import ClassSizes
from unveil.metrics.releases.disclosure import Disclosure
from unveil.metrics.releases.unseen_values import UnseenValues
from unveil.metrics.releases.utility import Utility
from unveil.metrics.trials.groups import RatesByGroup
from unveil.metrics.trials.risk import ATTACK_RATE, CONTROL_RATE, EXCESS, Rate, Risk
from unveil.metrics.verdict.control import ControlCheck
from unveil.metrics.verdict.copies import CopiedGroup
from unveil.questions.audit.decision_findings import AttackEffect, AuditDecision, GroupEffect, Thresholds
from unveil.questions.audit.generator.findings import EpsilonFinding, GeneratorSummary
from unveil.questions.audit.separation import ExposedPerson, Separation
from unveil.report.profiles import COPIED

#: Where a scenario comes from: the user, all that can be known, one of many that are tried in turn, or their mean.
Origin = Literal["told", "all", "tried", "mean"]

#: Who says of which type a release is: the user, or its rows, which match people one to one.
TypeSource = Literal["stated", "detected"]

#: What can be done to columns so that a release says less.
ChangeKind = Literal["coarser", "left out"]

NOT_CHECKED = ControlCheck(outcome="none", members=0, others=0)
UNDEFINED = Rate(nan, nan, nan)
#: The figure of a finding that was withheld because the two tables can be told apart whatever was released.
TOLD_APART = "told_apart_without_the_release"
#: The figures of every attack, in the order in which they are shown.
FIGURES = ("attack_rate", "naive_rate", "control_rate", "excess_over_control")


@dataclass(frozen=True, kw_only=True)
class AttackScenario:
    """What the attacker knows: columns from one source, columns from another, and why that is likely."""

    name: str
    first: tuple[str, ...] = figure("The columns that one party knows.")
    second: tuple[str, ...] = figure("The columns that the other party knows.", default=())
    reason: str = figure("Why so, in words.", default="")
    origin: Origin = figure("Whether it was told or drawn by lot.", default="told")


@dataclass(frozen=True, kw_only=True)
class SuccessRange:
    """How many hits: expected when ties are broken by lot, and the fewest and most that any order of ties gives."""

    COUNTS = "people"

    expected: float = figure(
        "How many hits to expect where ties between equally near rows are broken by lot.", default=nan
    )
    low: float = figure("How many hits are certain however ties fall.", default=nan)
    high: float = figure("How many hits are possible if all ties fall well.", default=nan)


@dataclass(frozen=True, kw_only=True)
class ColumnImportance:
    """How much one column helps the adversary shown first: the rate without it, measured on the same people."""

    column: str = figure("The column that this is about.")
    without: Rate = figure("The rate without it.")
    #: The rate with all columns of that adversary.
    whole: Rate

    @derived("How much lower that is.")
    def loss(self) -> float:
        """How much the adversary loses when the column is taken away."""
        return self.whole.value - self.without.value


@dataclass(frozen=True, kw_only=True)
class AttackFinding:
    """One attack on one release by one attacker: the four rates and further figures by name."""

    COUNTS = "statistic"

    attack: str = figure("The attack, as it is written in commands.")

    @derived("Who the adversary is, by name; null where the attack has none.", name="scenario")
    def scenario_name(self) -> str | None:
        """The name of the adversary."""
        return None if self.scenario is None else self.scenario.name

    scenario: AttackScenario | None = figure(
        "What the adversary knows; null where the attack has no such division.", name="adversary", default=None
    )
    secret: str = figure("The column that is guessed; null where none is.", blank=True, default="")
    targets: int = figure("How many people, or guesses, were tried.", counts="attempts")
    neighbours: int | None = figure(
        "How many nearest rows count; null where none do.", default=None, counts="nothing private"
    )
    risk: Risk = figure(inline=True)
    p: float = figure(
        "How often luck alone gives a figure as clear as this one, from 0 to 1; null where it was not judged, or "
        "where the control is not usable.",
        default=nan,
    )
    p_adjusted: float = figure(
        "How often luck alone gives a figure as clear as this anywhere in the audit, from 0 to 1; null where `p` is.",
        default=nan,
    )
    proved: bool = figure(
        "Whether it is proved: the adjusted p is small enough, or nobody could reach the rate without the data.",
        default=False,
    )
    links: SuccessRange = figure("How many of the people who were tried are hit.", default=SuccessRange())
    figures: Mapping[str, float] = field(default_factory=dict)

    @derived("Further figures of this attack, by name.", name="figures")
    def further_figures(self) -> Mapping[str, float]:
        """The figures by name, without how many people the attack was not run on."""
        return {name: value for name, value in self.figures.items() if name != "not_run"}

    @derived(
        "How the rate or the distances of the attack were graded on releases that others made (releases), and those "
        "figures in tables that are metrics of candidates (tables); null where nothing was graded."
    )
    def trust(self) -> Mapping[str, Mapping[str, str | None]] | None:
        """The grades of the figures."""
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

    groups: RatesByGroup | None = figure("The rates of groups of people; null where none were asked for.", default=None)
    separation: Separation | None = figure(
        "How far members are told from others; null for other attacks.", default=None
    )

    #: Why the attack could not be run, or what limits what it says; one sentence.
    remark: str = ""
    #: What the adversary owes to each column, where the attack looks at that.
    weights: tuple[ColumnImportance, ...] = ()
    #: Why it was not judged although there was a control, such as too few tries; nothing where it was.
    why_not_judged: str = ""

    def rate(self, figure: str) -> Rate:
        """Return the rate of this name."""
        rate: Rate = getattr(self.risk, figure)
        return rate

    @property
    def worse(self) -> Rate:
        """What the finding is ranked by: the excess over control, or without one the attack's own rate."""
        return self.risk.excess_over_control if self.risk.excess_over_control.defined else self.risk.attack_rate

    @property
    def is_mean(self) -> bool:
        """Whether it is the mean over many adversaries, which is there to be compared with and is nobody's."""
        return self.scenario is not None and self.scenario.origin == "mean"


@dataclass(frozen=True, kw_only=True)
class AuditedRelease:
    """One release and everything found about it."""

    COUNTS = "nothing private"
    JSON_DEFINITION = "release"

    name: str = figure("The release, by the name of its file.")
    rows: int = figure("How many rows there are.")
    kind: Literal["masked", "synthetic"] | None = figure("Whether it is masked or synthetic; null where nobody said.")
    type_source: TypeSource | None = figure(
        "Whether the type is stated, or detected because rows match people one to one; null where it is not known.",
        default=None,
    )
    truthful: bool | None = figure(
        "Whether at least 99 % of the rows of a masked release match compatible original rows one to one, each its own "
        "where that is known; null where it was not measured.",
        default=None,
    )
    #: The equivalence classes on the stated quasi-identifiers; None where none are stated or it is not masked.
    class_sizes: ClassSizes | None = None
    columns: tuple[str, ...]
    sha256: str | None = figure("The digest of the file; null where there is no file or it is not told.")
    findings: tuple[AttackFinding, ...] = figure("One entry for each attack.", name="attacks")

    @derived("How much is lost to the adversary without each column.", name="columns_that_matter")
    def weights(self) -> tuple[ColumnImportance, ...]:
        """How much each column helps the worst adversary, the most telling column first."""
        return tuple(weight for finding in self.findings for weight in finding.weights)

    disclosure: Disclosure | None = figure("How many look alike; null where it was not measured.", default=None)
    utility: Utility | None = figure(
        "What the release is still good for; null where it was not measured.", default=None
    )
    #: For each column how many released values the original never takes.
    unseen: tuple[UnseenValues, ...] = ()

    @derived("Columns whose released values do not occur in the original.", name="unseen")
    def unseen_columns(self) -> tuple[UnseenValues, ...]:
        """The columns with released values that the original never takes."""
        return tuple(each for each in self.unseen if each.unseen)

    #: Columns that were left out, with the one of the original that each is nearly called.
    near_names: tuple[tuple[str, str], ...] = ()
    #: How exposed people are, the most exposed first: for the internal edition alone.
    exposed: tuple[ExposedPerson, ...] = ()

    def of(self, attack: str) -> tuple[AttackFinding, ...]:
        """Return the findings of one attack."""
        return tuple(finding for finding in self.findings if finding.attack == attack)


@dataclass(frozen=True, kw_only=True)
class ColumnFact:
    """One column of the original as the audit took it."""

    COUNTS = "rows"

    name: str = figure("The name of the column.")
    kind: str = figure("The kind as which the column is read.")
    role: str = figure("What the column is to the adversary: known, sensitive, identifier or ignored.")
    reason: str = figure("Why so, in words.")
    missing: int = figure("How many cells stand for no value.")
    confidence: str = figure(
        "How sure it is that the column is read as meant: told, dictionary or labels where somebody said so, else "
        "sure, likely or unsure."
    )
    markers: tuple[MarkerCount, ...] = figure(
        "Cells that stand for no value; none where the report may leave the house.", default=()
    )

    @property
    def is_guessed(self) -> bool:
        """Whether attacks use it although nothing tells for sure what it holds."""
        return self.confidence == "unsure" and self.role in ("known", "sensitive")


@dataclass(frozen=True, kw_only=True)
class TableFlags:
    """The columns of one table that look like direct identifiers."""

    table: str
    flags: tuple[Flag, ...]


@dataclass(frozen=True, kw_only=True)
class FlaggedColumn:
    """A column of one table that looks like a direct identifier."""

    table: str = figure("The table that has the column: the original, the control or a release.")
    flag: Flag = figure(inline=True)


@dataclass(frozen=True, kw_only=True)
class ControlTable:
    """The table of people who are not in the data."""

    rows: int = figure("How many rows there are.")
    sha256: str | None = figure("The digest of the file; null where there is no file or it is not told.")


@dataclass(frozen=True, kw_only=True)
class JudgedFigure:
    """One figure of the family that the verdict rests on, with what it is about."""

    COUNTS = "statistic"

    attack: str = figure("The attack, by its name in JSON.")
    tries: int = figure("How many tries on people in the data the figure rests on.", counts="attempts")
    control_tries: int = figure(
        "How many tries on people who are not in the data it is compared with; 0 where nobody of the control can be "
        "tried.",
        default=0,
        counts="attempts",
    )
    p: float = figure(
        "How often luck alone gives a figure as clear as this one, from 0 to 1; null where it was not judged.",
        default=nan,
    )
    p_adjusted: float = figure(
        "How often luck alone gives a figure as clear as this anywhere in the audit, from 0 to 1; null where it was "
        "not judged.",
        default=nan,
    )
    proved: bool = figure(
        "Whether the adjusted p is at most the level, or nobody could reach the rate without the data.", default=False
    )
    adversary: str = figure(
        "Who tries it, or which figure of the attack this is; null where there is no such division.",
        blank=True,
        default="",
    )
    secret: str = figure("The column that is guessed; null where none is.", blank=True, default="")
    group: str = figure(
        "The people it is about, as a report calls them; empty where it is about everybody.", blank=True, default=""
    )
    why: str = figure("Why it was not judged; nothing where it was.", blank=True, default="")
    attack_rate: Rate = figure(ATTACK_RATE, default=UNDEFINED)
    control_rate: Rate = figure(CONTROL_RATE, default=UNDEFINED)
    excess_over_control: Rate = figure(EXCESS, default=UNDEFINED)
    #: How many people in the data the group has; 0 where it is about everybody.
    people: int = figure(hidden=True, counts="people", default=0)
    #: The same of the control group.
    control_people: int = figure(hidden=True, counts="people", default=0)


@dataclass(frozen=True, kw_only=True)
class CopyFindings:
    """People whose records stand verbatim in one release (see `unveil.metrics.verdict.copies.CopiedPeople`)."""

    COUNTS = "people"

    people: int = figure(hidden=True, counts="nothing private")
    people_unchanged: int = figure("How many people have their row in the release unchanged.")
    expected: float = figure("How many of them would be expected by coincidence, judged by the control.")
    control_share: float = figure(
        "The share of people outside the data whose row is there too.", name="control_rate", counts="statistic"
    )
    unmistakable: int = figure(
        "How many copies cannot be coincidence.",
        limit=COPIED,
        limit_meaning="people who stand in the release word for word, beyond coincidence",
    )
    groups: tuple[CopiedGroup, ...] = figure("Groups in which copies are more frequent.", default=())
    coincidences: float = figure(hidden=True, counts="statistic")
    coarsened: tuple[str, ...] = ()
    relabelled: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ReleaseVerdict:
    """The tests on one release: the smallest adjusted p, every test, copies, and the effects."""

    COUNTS = "statistic"

    name: str = figure("The release, by the name of its file.")
    p: float = figure("The smallest adjusted p of its tests.", default=nan)
    findings: tuple[JudgedFigure, ...] = figure("Every test with its p-value.", name="tests", default=())
    copies: CopyFindings | None = figure(
        "People whose row was released unchanged; null where that was not looked for.", default=None
    )
    #: The effect size of each attacker, and of each attack within groups; the decision rests on these.
    effects: tuple[AttackEffect, ...] = ()
    group_effects: tuple[GroupEffect, ...] = ()

    @property
    def unmistakable(self) -> int:
        """How many people are copied beyond doubt."""
        return 0 if self.copies is None else self.copies.unmistakable

    @property
    def proved(self) -> tuple[JudgedFigure, ...]:
        """The figures that are proved, the clearest first."""
        found = [each for each in self.findings if each.proved]
        return tuple(sorted(found, key=lambda each: (each.p_adjusted, -float(each.excess_over_control.value))))


@dataclass(frozen=True, kw_only=True)
class AuditVerdict:
    """The tests behind the decision on an audit."""

    COUNTS = "nothing private"

    alpha: float = figure("The level: an effect is significant where its adjusted p is at most this.", default=0.045)
    figures: int = figure("The number of tests; 0 where there is none.", name="tests", default=0)
    draws: int = figure("The number of permutations of who is in the data.", name="permutations", default=0)
    fewest_copies_provable: int | None = figure(
        "The smallest number of copied people that counting could detect; null without a control group, and where no "
        "number is enough.",
        name="min_detectable_copies",
        default=None,
    )
    control: ControlCheck = figure("The checks of the control group.", default=NOT_CHECKED)
    releases: tuple[ReleaseVerdict, ...] = figure("The tests on each release, in the order of the audit.", default=())

    @property
    def unmistakable(self) -> int:
        """How many people are copied beyond doubt, by the release that has most."""
        return max((each.unmistakable for each in self.releases), default=0)


@dataclass(frozen=True, kw_only=True)
class SuggestedChange:
    """One change of a release: some columns made coarser or dropped."""

    #: What the changed release is called in the audit of all of them.
    name: str
    #: The release that is changed.
    release: str
    columns: tuple[str, ...]
    how: ChangeKind
    #: What the changed release has lost for whoever takes one value from each cell; None where that was not measured.
    utility: Utility | None = None


@dataclass(frozen=True, kw_only=True)
class Suggestions:
    """Changes of the releases, and what they come to: one audit of all changed releases together, on the same people.

    ``attacks`` are those repeated: what was proved or is held to a limit. Without any there was nothing to lower, and
    without ``again`` nothing could be changed.
    """

    attacks: tuple[str, ...] = ()
    changes: tuple[SuggestedChange, ...] = ()
    again: "Audit | None" = None


@dataclass(frozen=True, kw_only=True)
class Audit:
    """The whole of it: the original, the releases, and what was said on the way."""

    COUNTS = "nothing private"
    GROUPS = MappingProxyType({"original": "The people whose privacy is at stake."})

    decision: AuditDecision = figure("How large the risk is, and whether it is acceptable.", default=AuditDecision())
    verdict: AuditVerdict = figure("The tests behind the decision.", name="tests", default_factory=AuditVerdict)
    rows: int = figure("How many rows there are.", name="original.rows")

    @derived(
        "How many people the rows belong to: fewer than rows where --id says that some have several.",
        name="original.people",
    )
    def people_or_rows(self) -> int:
        """How many people the original is about."""
        return self.people or self.rows

    columns: tuple[ColumnFact, ...] = figure("One entry for each column that is used.", name="original.columns")
    sha256: str | None = figure(
        "The digest of the file; null where there is no file or it is not told.", name="original.sha256"
    )
    flags: tuple[TableFlags, ...] = ()

    @derived("Columns that look as if they identified people.")
    def direct_identifiers(self) -> tuple[FlaggedColumn, ...]:
        """The columns of all tables that look like direct identifiers."""
        return tuple(FlaggedColumn(table=each.table, flag=flag) for each in self.flags for flag in each.flags)

    control_rows: int | None
    control_sha256: str | None

    @derived("The people who are not in the data; null where there are none.")
    def control(self) -> ControlTable | None:
        """The table of people who are not in the data."""
        if self.control_rows is None:
            return None
        return ControlTable(rows=self.control_rows, sha256=self.control_sha256)

    releases: tuple[AuditedRelease, ...] = figure("One entry for each release.")
    #: The three questions asked of the original itself, as if it were released.
    before: AuditedRelease | None = figure(
        "The same attacks on the original itself; null where that was not asked for.", default=None
    )
    by: str | None = figure("The column whose groups get rates of their own; null where none is named.", default=None)
    minimum_cell: int = figure("Groups of fewer people are never shown.", default=11)
    #: The quasi-identifiers that were stated; none where all columns may be known.
    quasi_identifiers: tuple[str, ...] = ()
    #: Whether the data are stated to be a sample of their population.
    is_sample: bool = False

    notes: tuple[str, ...] = figure(NOTES, default=())
    attacks: tuple[str, ...]
    #: How many people the rows of the original belong to; 0 where nobody was counted.
    people: int = 0
    #: How many people of the original and of the control table were attacked.
    attacked: int = 0
    attacked_outside: int = 0
    #: What the digests of files are called; those that others may see depend on a key.
    digest_name: str = "SHA-256"
    #: What to change, where that was asked for.
    suggestions: Suggestions | None = None
    #: What the decision holds the releases to.
    thresholds: Thresholds = field(default_factory=Thresholds)
    #: Releases that are there to be compared with, such as the table before its protection.
    references: tuple[str, ...] = ()
    #: Whether it was stated which columns are sensitive, or that none is.
    sensitive_stated: bool = False
    #: How the first of the releases was made, where a generator was run for the audit, and what is shown of epsilon.
    way: GeneratorSummary | None = None
    epsilon: EpsilonFinding | None = None

    @property
    def has_control(self) -> bool:
        """Whether there is a table of people who are not in the data."""
        return self.control_rows is not None
