"""Results of attacks on a masked release: success and validity."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isnan, nan
from typing import ClassVar, Literal

from unveil._figure import NOTES, derived, figure, figure_at, version_figure
from unveil.metrics.beliefs.compatibility import share_between
from unveil.metrics.trials.risk import Rate

Level = Literal["record", "file"]
ATTACK = "Attack, as written in commands."
AT_RECORD, AT_FILE = "At the record level.", "At the file level."
SHARE = (
    "Share of valid guesses at the {} level; null if the true probability is unknown, or if open guesses leave it open."
)


@dataclass(frozen=True)
class ValidityBounds:
    """The bounds of the share of valid guesses."""

    JSON_DEFINITION: ClassVar[str] = "bounds"

    low: float = figure("Smallest share: no open guess is valid. Null if no guess has a verdict.")
    high: float = figure("Largest share: every open guess is valid. Null if no guess has a verdict.")


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

    @derived("Number of guesses shown to be valid.", name="valid")
    def known_valid(self) -> int | None:
        """The number of valid guesses; None without verdicts, which is not 0."""
        return self.valid if self.decided else None

    @derived("Number of guesses shown to be invalid.", name="invalid")
    def known_invalid(self) -> int | None:
        """The number of invalid guesses; None without verdicts."""
        return self.invalid if self.decided else None

    not_shown: int = figure("Number of guesses left open by the error of a sampled truth.", default=0)
    undecided: int = figure("Number of guesses shown neither valid nor invalid.", default=0)

    @property
    def decided(self) -> int:
        """How many guesses have a verdict."""
        return self.valid + self.invalid

    @property
    def share(self) -> float:
        """Share of valid guesses; NaN if open guesses leave it open."""
        return self.between.low if self.decided and not self.undecided else nan

    @property
    def between(self) -> ValidityBounds:
        """Smallest and largest share of valid guesses; NaN without verdicts."""
        return ValidityBounds(*share_between(self.valid, self.invalid, self.undecided))


@dataclass(frozen=True, kw_only=True)
class KnowledgeStep:
    """What an attack achieves once the attacker knows a number of columns."""

    known: int = figure("Number of columns that the attacker knows.")
    column: str = figure("The last of these columns; null if none is known.", blank=True)
    nonspecificity: float = figure("Nonspecificity of the belief, mean over records, in nats; 0 for a probability.")
    entropy: float = figure("Entropy of the pignistic probabilities, mean over records, in nats; 0 for one candidate.")
    attack_rate: Rate = figure(
        "Expected share of records whose true person is the top-ranked candidate, ties at random."
    )
    nobody: int = figure("Number of records without a candidate left.", name="without_candidate", default=0)
    why: str = figure("Reason why the attack could not run with these columns; null if it ran.", blank=True, default="")


@dataclass(frozen=True, kw_only=True)
class AttackOutcome:
    """What one attack achieved, and whether its guesses are valid.

    ``steps`` begin with nothing known and end with all columns. ``confusion`` and ``typical_confusion`` are NaN where
    nothing was attempted.
    """

    GROUPS: ClassVar[Mapping[str, str]] = {
        "valid": "Whether guesses are compatible with the true probability.",
        "valid.between": "Bounds of the share of valid guesses, whatever the open guesses are.",
        "valid.counts": "The counts behind the shares.",
        "valid.why": "Reason for a missing value or verdict; null if there is none.",
        "nonspecificity": "How much is left open, in nats.",
        "confusion": "Number of people who tie for the top-ranked candidate.",
    }

    attack: str = figure(ATTACK)
    summary: str
    leaves: Literal["Beliefs", "Candidates"] = figure("Type of guess.")
    targets: int = figure("Number of attacked records.")
    attempted: int = figure("Number of records that the attack answered.")
    nobody: int = figure("Number of records without a candidate.", name="without_candidate")
    record_share = figure_at("record_level.share", SHARE.format("record"), name="valid.record_level")
    file_share = figure_at("file_level.share", SHARE.format("file"), name="valid.file_level")
    record_bounds = figure_at("record_level.between", AT_RECORD, name="valid.between.record_level")
    file_bounds = figure_at("file_level.between", AT_FILE, name="valid.between.file_level")
    record_level: ValidityCounts = figure(AT_RECORD, name="valid.counts.record_level")
    file_level: ValidityCounts = figure(AT_FILE, name="valid.counts.file_level")
    record_why = figure_at("record_level.why", AT_RECORD, name="valid.why.record_level", blank=True)
    file_why = figure_at("file_level.why", AT_FILE, name="valid.why.file_level", blank=True)

    @derived("Attack success: share of records whose top-ranked candidate is correct.")
    def attack_rate(self) -> Rate:
        """Attack success with all quasi-identifiers."""
        return self.steps[-1].attack_rate

    @derived(
        "Nonspecificity before the attack, in nats: the logarithm of the number of people.",
        name="nonspecificity.before",
    )
    def nonspecificity_before(self) -> float:
        """The nonspecificity with nothing known."""
        return self.steps[0].nonspecificity

    @derived("Nonspecificity with all quasi-identifiers, in nats, mean over records.", name="nonspecificity.after")
    def nonspecificity_after(self) -> float:
        """The nonspecificity with all columns known."""
        return self.steps[-1].nonspecificity

    steps: tuple[KnowledgeStep, ...] = figure(
        "The same results as columns become known one after another.", name="nonspecificity.steps"
    )
    confusion: float = figure("Smallest value over all records.", name="confusion.least")
    typical_confusion: float = figure("Median over records.", name="confusion.median")
    witness: str = figure("Evidence that a guess is invalid; null if there is none.", blank=True)

    @property
    def refuted(self) -> int:
        """Number of guesses that are invalid at the record level."""
        return max(self.record_level.invalid, self.nobody)

    @property
    def is_valid(self) -> bool | None:
        """Whether every guess is valid at the record level; None if unknown."""
        if self.refuted:
            return False
        if isnan(self.record_level.share) or self.record_level.undecided:
            return None
        return True


@dataclass(frozen=True, kw_only=True)
class Clash:
    """Two attacks that cannot both be valid for some record."""

    first: str
    second: str

    @derived("The two conflicting attacks.")
    def attacks(self) -> tuple[str, str]:
        """Both attacks."""
        return self.first, self.second

    records: int = figure("Number of conflicting records.", counts="rows")
    of: int = figure("Number of records that both attacks answered.", counts="rows")


@dataclass(frozen=True)
class NotRun:
    """An attack that could not be run, and why."""

    attack: str = figure(ATTACK)
    why: str = figure("Reason why it did not run.")


@dataclass(frozen=True, kw_only=True)
class ReidentifyFindings:
    """A release under attack; ``somebody`` counts rows with an original.

    Where sentences are ``against`` the declared masking, no verdict rests on it.
    """

    GROUPS: ClassVar[Mapping[str, str]] = {"utility": "Utility of the release."}

    somebody: int
    records: int = figure("Number of released records.", counts="rows")
    originals: int = figure("Number of original records.", name="original_records", counts="rows")
    protect: str | None = figure("Protection, as written in commands; null if the release was given.")
    declared: bool = figure("Whether the masking was declared and not applied here.", default=False)
    against: tuple[str, ...] = figure(
        "Reason why the declared masking cannot have made the release.", name="cannot_have_made_it", default=()
    )
    refuting: int = figure(
        "Number of released records that the declared masking cannot have made; 0 if only all of them "
        "together refute it.",
        name="refuting_records",
        default=0,
    )
    not_run: tuple[NotRun, ...] = figure(
        "Attacks not run because the declared masking did not make the release.", default=()
    )
    known: tuple[str, ...] = figure("Quasi-identifiers: the columns that the attacker knows.")
    order: str = figure("Order in which columns become known.")

    @derived("Probability that a random guess is correct.", name="baseline")
    def blind(self) -> float:
        """The chance of picking the right person at random."""
        return 1 / self.originals

    confusion: float = figure("Smallest number of people with the same top rank for a record.")
    loss: float = figure("Utility loss: 0 nothing, 1 everything.", name="utility.loss", default=nan)
    keeps_order: bool = figure("Whether released rows are in the order of the original.")
    attacks: tuple[AttackOutcome, ...] = figure("One entry per attack.")
    clashes: tuple[Clash, ...] = figure(
        "Pairs of attacks whose guesses exclude each other.", name="cannot_both_be_valid"
    )
    notes: tuple[str, ...] = figure(NOTES, default=())

    version = version_figure()

    @derived(
        hidden=True,
        limit="attack_rate",
        limit_meaning="expected share of records whose true person is the top-ranked candidate, for the best "
        "attack. Fails above VALUE",
    )
    def highest_hit_rate(self) -> float:
        """Attack success of the most successful attack."""
        return max((each.attack_rate.value for each in self.attacks if each.attack_rate.defined), default=nan)

    @derived(
        hidden=True,
        limit="attack_rate.high",
        limit_meaning="upper end of the 95% CI of the attack success, the highest over the attacks. Fails above VALUE",
    )
    def highest_upper_end(self) -> float:
        """The highest upper end of an attack success."""
        return max((each.attack_rate.high for each in self.attacks if each.attack_rate.defined), default=nan)

    @property
    def worst(self) -> AttackOutcome:
        """The most successful attack; ties prefer one that may be valid."""
        return max(self.attacks, key=lambda each: (_known(each.attack_rate.value), each.is_valid is not False))


def _known(value: float) -> float:
    return -1.0 if isnan(value) else value
