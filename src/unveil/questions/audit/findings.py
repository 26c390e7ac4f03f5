"""What an audit found, as data: who attacked which release how, how often it succeeded, and beside what."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import nan
from typing import TYPE_CHECKING, Literal

from unveil.metrics.trials.risk import Rate, Risk
from unveil.metrics.verdict.control import ControlCheck

if TYPE_CHECKING:
    from unveil.data.identifiers.direct import Flag
    from unveil.data.table import MarkerCount
    from unveil.metrics.releases.disclosure import Disclosure
    from unveil.metrics.releases.unseen_values import UnseenValues
    from unveil.metrics.releases.utility import Utility
    from unveil.metrics.trials.groups import RatesByGroup
    from unveil.metrics.verdict.copies import CopiedGroup
    from unveil.questions.audit.generator.findings import EpsilonFinding, GeneratorSummary
    from unveil.questions.audit.separation import ExposedPerson, Separation

#: Where a scenario comes from: the user, all that can be known, one of many that are tried in turn, or their mean.
Origin = Literal["told", "all", "tried", "mean"]

#: What can be done to columns so that a release says less.
ChangeKind = Literal["coarser", "left out"]

#: What an audit says in the end.
Outcome = Literal["found", "copies", "nothing_found", "control_unusable", "no_control"]

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
    first: tuple[str, ...]
    #: Empty means: all other known columns.
    second: tuple[str, ...] = ()
    reason: str = ""
    origin: Origin = "told"


@dataclass(frozen=True, kw_only=True)
class SuccessRange:
    """How many hits: expected when ties are broken by lot, and the fewest and most that any order of ties gives."""

    expected: float = nan
    low: float = nan
    high: float = nan


@dataclass(frozen=True, kw_only=True)
class ColumnImportance:
    """How much one column helps the adversary shown first: the rate without it, measured on the same people."""

    column: str
    without: Rate
    #: The rate with all columns of that adversary.
    whole: Rate

    @property
    def loss(self) -> float:
        """How much the adversary loses when the column is taken away."""
        return self.whole.value - self.without.value


@dataclass(frozen=True, kw_only=True)
class AttackFinding:
    """One attack on one release by one attacker: the four rates and further figures by name."""

    attack: str
    targets: int
    risk: Risk
    scenario: AttackScenario | None = None
    #: The column that was guessed, where the attack guesses one.
    secret: str = ""
    neighbours: int | None = None
    links: SuccessRange = SuccessRange()
    figures: Mapping[str, float] = field(default_factory=dict)
    groups: "RatesByGroup | None" = None
    #: Why the attack could not be run, or what limits what it says; one sentence.
    remark: str = ""
    #: What the adversary owes to each column, where the attack looks at that.
    weights: tuple[ColumnImportance, ...] = ()
    #: How well members are told from others, where the attack gives people scores.
    separation: "Separation | None" = None
    #: How often luck gives a figure as clear as this: this one, and any of the audit. NaN where it was not judged, or
    #: where the control is not usable.
    p: float = nan
    p_adjusted: float = nan
    #: Whether it is proved: the adjusted p is small enough, or nobody could reach the rate without the data.
    proved: bool = False
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

    name: str
    rows: int
    kind: Literal["masked", "synthetic"] | None
    columns: tuple[str, ...]
    sha256: str | None
    findings: tuple[AttackFinding, ...]
    disclosure: "Disclosure | None" = None
    utility: "Utility | None" = None
    #: For each column how many released values the original never takes.
    unseen: "tuple[UnseenValues, ...]" = ()
    #: Columns that were left out, with the one of the original that each is nearly called.
    near_names: tuple[tuple[str, str], ...] = ()
    #: How exposed people are, the most exposed first: for the internal edition alone.
    exposed: "tuple[ExposedPerson, ...]" = ()

    def of(self, attack: str) -> tuple[AttackFinding, ...]:
        """Return the findings of one attack."""
        return tuple(finding for finding in self.findings if finding.attack == attack)

    @property
    def weights(self) -> tuple[ColumnImportance, ...]:
        """How much each column helps the worst adversary, the most telling column first."""
        return tuple(weight for finding in self.findings for weight in finding.weights)


@dataclass(frozen=True, kw_only=True)
class ColumnFact:
    """One column of the original as the audit took it."""

    name: str
    kind: str
    role: str
    reason: str
    missing: int
    #: How far the kind can be trusted, as in `unveil.data.table.Column`.
    confidence: str
    #: Cells that stand for no value; none where the report may leave the house.
    markers: "tuple[MarkerCount, ...]" = ()

    @property
    def is_guessed(self) -> bool:
        """Whether attacks use it although nothing tells for sure what it holds."""
        return self.confidence == "unsure" and self.role in ("known", "sensitive")


@dataclass(frozen=True, kw_only=True)
class TableFlags:
    """The columns of one table that look like direct identifiers."""

    table: str
    flags: "tuple[Flag, ...]"


@dataclass(frozen=True, kw_only=True)
class JudgedFigure:
    """One figure of the family that the verdict rests on, with what it is about.

    Attributes
    ----------
    attack, adversary, secret
        The attack, who tries it or which figure of it this is, and the column that is guessed; empty where there is no
        such thing.
    group
        The people it is about, as a report calls them; empty where it is about everybody.
    people
        How many people in the data that group has; 0 where it is about everybody.
    tries, control_tries
        How many tries it rests on; 0 where nobody of the control can be tried.
    attack_rate, control_rate, excess_over_control
        The rates beside which p stands.
    p, p_adjusted
        How often luck gives a figure as clear as this: this one, and any of the audit. NaN where it was not judged.
    proved
        Whether the adjusted p is at most the level, or nobody could reach the rate without the data.
    why
        Why it was not judged; nothing where it was.
    """

    attack: str
    adversary: str = ""
    secret: str = ""
    group: str = ""
    people: int = 0
    tries: int
    control_tries: int = 0
    attack_rate: Rate = UNDEFINED
    control_rate: Rate = UNDEFINED
    excess_over_control: Rate = UNDEFINED
    p: float = nan
    p_adjusted: float = nan
    proved: bool = False
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class CopyFindings:
    """People whose records stand verbatim in one release (see `unveil.metrics.verdict.copies.CopiedPeople`)."""

    people: int
    people_unchanged: int
    control_share: float
    expected: float
    unmistakable: int
    coincidences: float
    groups: "tuple[CopiedGroup, ...]" = ()
    coarsened: tuple[str, ...] = ()
    relabelled: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ReleaseVerdict:
    """What is said of one release: its outcome, the least adjusted p, the figures that were judged, and copies."""

    name: str
    outcome: Outcome
    p: float = nan
    findings: tuple[JudgedFigure, ...] = ()
    copies: CopyFindings | None = None

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
    """The verdict of an audit.

    Attributes
    ----------
    outcome
        "found" where a figure is proved; "copies" where none is and yet somebody is copied beyond doubt;
        "nothing_found"; "control_unusable" and "no_control", where nobody could compare.
    alpha
        What adjusted p are held against.
    figures, draws
        How many figures were judged together, and by how many draws; 0 where none was.
    fewest_copies_provable
        How few copied people counting could prove with this control; None without one, and where no number is enough.
    control
        What the checks of the control gave.
    releases
        What is said of each release, in the order of the audit.
    """

    outcome: Outcome = "no_control"
    alpha: float = 0.045
    figures: int = 0
    draws: int = 0
    fewest_copies_provable: int | None = None
    control: ControlCheck = NOT_CHECKED
    releases: tuple[ReleaseVerdict, ...] = ()

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
    utility: "Utility | None" = None


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

    rows: int
    columns: tuple[ColumnFact, ...]
    sha256: str | None
    control_rows: int | None
    control_sha256: str | None
    releases: tuple[AuditedRelease, ...]
    attacks: tuple[str, ...]
    verdict: AuditVerdict = field(default_factory=AuditVerdict)
    #: The three questions asked of the original itself, as if it were released.
    before: AuditedRelease | None = None
    flags: tuple[TableFlags, ...] = ()
    #: The column whose groups are shown, and how many people a group must have to be shown.
    by: str | None = None
    minimum_cell: int = 11
    #: How many people the rows of the original belong to; 0 where nobody was counted.
    people: int = 0
    #: How many people of the original and of the control table were attacked.
    attacked: int = 0
    attacked_outside: int = 0
    #: What the digests of files are called; those that others may see depend on a key.
    digest_name: str = "SHA-256"
    notes: tuple[str, ...] = ()
    #: What to change, where that was asked for.
    suggestions: Suggestions | None = None
    #: How the first of the releases was made, where a generator was run for the audit, and what is shown of epsilon.
    way: "GeneratorSummary | None" = None
    epsilon: "EpsilonFinding | None" = None

    @property
    def has_control(self) -> bool:
        """Whether there is a table of people who are not in the data."""
        return self.control_rows is not None
