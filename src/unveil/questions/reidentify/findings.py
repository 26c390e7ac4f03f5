"""What was found when a masked release was attacked: the figures of each attack, and whether it is valid."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan, nan
from typing import ClassVar, Literal

from unveil._figure import NOTES, derived, figure, figure_at, version_figure
from unveil.metrics.beliefs.compatibility import share_between
from unveil.metrics.trials.risk import Rate

Level = Literal["record", "file"]
ATTACK = "The attack, as it is written in commands."
AT_RECORD, AT_FILE = "At the record level.", "At the file level."
SHARE = (
    "The share of valid guesses at the {} level; null where the true probability is not known, or where undecided "
    "guesses leave the share open."
)


@dataclass(frozen=True)
class ValidityBounds:
    """The bounds of the share of valid guesses."""

    JSON_DEFINITION: ClassVar[str] = "bounds"

    low: float = figure("The least share: no undecided guess is valid. Null where no guess has a verdict.")
    high: float = figure("The greatest share: every undecided guess is valid. Null where no guess has a verdict.")


@dataclass(frozen=True, kw_only=True)
class ValidityCounts:
    """How many guesses of an attack are compatible with the true probability at one level.

    ``why`` says why there is no verdict, or why some records have none; it is empty where all have one.
    """

    JSON_DEFINITION: ClassVar[str] = "validity"

    level: Level
    valid: int = 0
    invalid: int = 0
    why: str = ""

    @derived("How many guesses are shown to be valid.", name="valid")
    def known_valid(self) -> int | None:
        """The number of valid guesses; None without verdicts, which is not 0."""
        return self.valid if self.decided else None

    @derived("How many guesses are shown not to be valid.", name="invalid")
    def known_invalid(self) -> int | None:
        """The number of invalid guesses; None without verdicts."""
        return self.invalid if self.decided else None

    not_shown: int = figure("Of the undecided, how many the error of a sampled truth leaves open.", default=0)
    undecided: int = figure("How many guesses could be shown neither valid nor invalid.", default=0)

    @property
    def decided(self) -> int:
        """How many guesses have a verdict."""
        return self.valid + self.invalid

    @property
    def share(self) -> float:
        """The share of valid guesses; NaN where undecided guesses leave it open."""
        return self.between.low if self.decided and not self.undecided else nan

    @property
    def between(self) -> ValidityBounds:
        """The least and the greatest share of valid guesses, whatever the undecided ones are; NaN without verdicts."""
        return ValidityBounds(*share_between(self.valid, self.invalid, self.undecided))


@dataclass(frozen=True, kw_only=True)
class KnowledgeStep:
    """What an attack achieves once the attacker knows a number of columns."""

    known: int = figure("How many columns the adversary knows.")
    column: str = figure("The last of them; null where nothing is known.", blank=True)
    nonspecificity: float = figure(
        "The mean over records of what the sets leave open that are believed in, in nats; 0 for a guess that is a "
        "probability."
    )
    entropy: float = figure("The mean over records of the entropy of the bets, in nats; 0 where one person is bet on.")
    hit_rate: Rate = figure(
        "The share of the records whose right person is the best bet, expected where several bets are as good."
    )
    nobody: int = figure("Records for which nobody is left then.", name="leaves_nobody", default=0)
    why: str = figure(
        "Why the attack could not be run with these columns; null where it could.", blank=True, default=""
    )


@dataclass(frozen=True, kw_only=True)
class AttackOutcome:
    """What one attack achieved, and whether its guesses are valid.

    ``steps`` begin with nothing known and end with all columns. ``confusion`` and ``typical_confusion`` are NaN where
    nothing was attempted.
    """

    GROUPS: ClassVar[Mapping[str, str]] = {
        "valid": "Whether guesses are compatible with the true probability.",
        "valid.between": "The share of valid guesses lies between these bounds, whatever the undecided guesses are.",
        "valid.counts": "The counts behind the shares.",
        "valid.why": "Why there is no value, or no verdict; null where there is one.",
        "nonspecificity": "How much is left open, in nats.",
        "confusion": "How many people share the best bet.",
    }

    attack: str = figure(ATTACK)
    summary: str
    leaves: Literal["Beliefs", "Candidates"] = figure("The kind of guess.")
    targets: int = figure("How many were attacked.")
    attempted: int = figure("On how many of them the attack gave an answer.")
    nobody: int = figure("Records for which nobody is left.", name="leaves_nobody")
    record_share = figure_at("record_level.share", SHARE.format("record"), name="valid.record_level")
    file_share = figure_at("file_level.share", SHARE.format("file"), name="valid.file_level")
    record_bounds = figure_at("record_level.between", AT_RECORD, name="valid.between.record_level")
    file_bounds = figure_at("file_level.between", AT_FILE, name="valid.between.file_level")
    record_level: ValidityCounts = figure(AT_RECORD, name="valid.counts.record_level")
    file_level: ValidityCounts = figure(AT_FILE, name="valid.counts.file_level")
    record_why = figure_at("record_level.why", AT_RECORD, name="valid.why.record_level", blank=True)
    file_why = figure_at("file_level.why", AT_FILE, name="valid.why.file_level", blank=True)

    @derived("How often the best bet is right.")
    def hit_rate(self) -> Rate:
        """The hit rate with all columns known."""
        return self.steps[-1].hit_rate

    @derived(
        "Nonspecificity before anything is known, in nats: the logarithm of the number of people.",
        name="nonspecificity.before",
    )
    def nonspecificity_before(self) -> float:
        """The nonspecificity with nothing known."""
        return self.steps[0].nonspecificity

    @derived("Nonspecificity with all columns known, in nats, the mean over records.", name="nonspecificity.after")
    def nonspecificity_after(self) -> float:
        """The nonspecificity with all columns known."""
        return self.steps[-1].nonspecificity

    steps: tuple[KnowledgeStep, ...] = figure(
        "The same as one column after another becomes known.", name="nonspecificity.steps"
    )
    confusion: float = figure("The least over all records.", name="confusion.least")
    typical_confusion: float = figure("The median over records.", name="confusion.median")
    witness: str = figure("What shows that a guess is not valid; null where nothing does.", blank=True)

    @property
    def refuted(self) -> int:
        """How many guesses are not valid at the level of one record; one that leaves nobody never is."""
        return max(self.record_level.invalid, self.nobody)

    @property
    def is_valid(self) -> bool | None:
        """Whether every guess is valid at the level of one record; None where that cannot be said."""
        if self.refuted:
            return False
        if isnan(self.record_level.share) or self.record_level.undecided:
            return None
        return True


@dataclass(frozen=True, kw_only=True)
class Clash:
    """Two attacks that cannot both be valid, whatever is true, for some of the records that both guess about."""

    first: str
    second: str

    @derived("The two attacks that exclude one another.")
    def attacks(self) -> tuple[str, str]:
        """Both attacks."""
        return self.first, self.second

    records: int = figure("On how many records they do.", counts="rows")
    of: int = figure("How many records both were tried on.", counts="rows")


@dataclass(frozen=True)
class NotRun:
    """An attack that could not be run, and why."""

    attack: str = figure(ATTACK)
    why: str = figure("Why it was not run.")


@dataclass(frozen=True, kw_only=True)
class ReidentifyFindings:
    """A release under attack; ``somebody`` is the number of released rows that come from an original one.

    Where sentences are ``against`` the declared masking, no verdict rests on it.
    """

    GROUPS: ClassVar[Mapping[str, str]] = {"utility": "What the release is still good for."}

    somebody: int
    records: int = figure("How many records are released.", counts="rows")
    originals: int = figure("How many records the original has.", name="original_records", counts="rows")
    protect: str | None = figure("The protection as it is written in commands; null where the release was given.")
    declared: bool = figure("Whether the way of masking was declared and not carried out here.", default=False)
    against: tuple[str, ...] = figure(
        "Why the declared way cannot have made the release.", name="cannot_have_made_it", default=()
    )
    refuting: int = figure(
        "How many released records cannot have come from the declared masking; 0 where only all of them together "
        "refute it.",
        name="refuting_records",
        default=0,
    )
    not_run: tuple[NotRun, ...] = figure(
        "Attacks that could not be run because the declared masking did not make the release.", default=()
    )
    known: tuple[str, ...] = figure("The columns that the adversary knows.")
    order: str = figure("In which order columns become known.")

    @derived("How likely blind chance is right.", name="blind_chance")
    def blind(self) -> float:
        """The chance of picking the right person at random."""
        return 1 / self.originals

    confusion: float = figure("The least number of people who look equally good for a record.")
    loss: float = figure("What the masking cost: 0 nothing, 1 everything.", name="utility.loss", default=nan)
    keeps_order: bool = figure("Whether released rows are in the order of the original.")
    attacks: tuple[AttackOutcome, ...] = figure("One entry for each attack.")
    clashes: tuple[Clash, ...] = figure(
        "Pairs of attacks whose guesses exclude one another.", name="cannot_both_be_valid"
    )
    notes: tuple[str, ...] = figure(NOTES, default=())

    version = version_figure()

    @derived(
        hidden=True,
        limit="hit_rate",
        limit_meaning="the share of released records whose right person is the best bet of the attack that hits most "
        "often (expected, where bets tie). Fails above VALUE",
    )
    def highest_hit_rate(self) -> float:
        """The hit rate of the attack that hits most often."""
        return max((each.hit_rate.value for each in self.attacks if each.hit_rate.defined), default=nan)

    @derived(
        hidden=True,
        limit="hit_rate.high",
        limit_meaning="the upper end of the 95 % interval of the hit rate, the highest over the attacks. Exceeded "
        "when greater than VALUE",
    )
    def highest_upper_end(self) -> float:
        """The highest upper end of a hit rate."""
        return max((each.hit_rate.high for each in self.attacks if each.hit_rate.defined), default=nan)

    @property
    def worst(self) -> AttackOutcome:
        """The attack that hits most often; of those that hit alike, one that may be valid."""
        return max(self.attacks, key=lambda each: (_known(each.hit_rate.value), each.is_valid is not False))


def _known(value: float) -> float:
    return -1.0 if isnan(value) else value
