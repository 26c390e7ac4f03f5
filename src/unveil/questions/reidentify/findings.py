"""What was found when a masked release was attacked: the figures of each attack, and whether it is valid."""

from dataclasses import dataclass
from math import isnan, nan
from typing import Literal, NamedTuple

from unveil.metrics.beliefs.compatibility import share_between
from unveil.metrics.trials.risk import Rate

Level = Literal["record", "file"]


@dataclass(frozen=True, kw_only=True)
class ValidityCounts:
    """How many guesses of an attack are compatible with the true probability at one level.

    ``why`` says why there is no verdict, or why some records have none; it is empty where all have one.
    """

    level: Level
    valid: int = 0
    invalid: int = 0
    undecided: int = 0
    #: Of the undecided, those that the error bars of a sampled truth leave open.
    not_shown: int = 0
    why: str = ""

    @property
    def decided(self) -> int:
        """How many guesses have a verdict."""
        return self.valid + self.invalid

    @property
    def share(self) -> float:
        """The share of valid guesses; NaN where undecided guesses leave it open."""
        return self.between[0] if self.decided and not self.undecided else nan

    @property
    def between(self) -> tuple[float, float]:
        """The least and the greatest share of valid guesses, whatever the undecided ones are; NaN without verdicts."""
        return share_between(self.valid, self.invalid, self.undecided)


@dataclass(frozen=True, kw_only=True)
class KnowledgeStep:
    """What an attack achieves once the attacker knows a number of columns.

    Attributes
    ----------
    known
        How many columns the adversary knows.
    column
        The last of them; empty where nothing is known.
    hit_rate
        The share of the records whose right person is the best bet, expected where several bets are as good.
    nonspecificity, entropy
        The mean over the records, in nats, of what is left open: of the sets that are believed in (0 for a guess that
        is a probability), and of the bets.
    nobody
        Records for which the attack leaves nobody possible, which proves it wrong.
    why
        Why the attack could not be run with these columns; empty where it could.
    """

    known: int
    column: str
    hit_rate: Rate
    nonspecificity: float
    entropy: float
    nobody: int = 0
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class AttackOutcome:
    """What one attack achieved, and whether its guesses are valid.

    ``steps`` begin with nothing known and end with all columns. ``witness`` is a sentence on the worst claim that
    cannot be true, empty where none was found. ``confusion`` is the least number of people who look equally good, over
    the records, and ``typical_confusion`` the median; NaN where nothing was attempted.
    """

    attack: str
    summary: str
    leaves: Literal["Beliefs", "Candidates"]
    targets: int
    attempted: int
    nobody: int
    record_level: ValidityCounts
    file_level: ValidityCounts
    steps: tuple[KnowledgeStep, ...]
    confusion: float
    typical_confusion: float
    witness: str

    @property
    def hit_rate(self) -> Rate:
        """The hit rate with all columns known."""
        return self.steps[-1].hit_rate

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
    """Two attacks that cannot both be valid, whatever is true: for so many of the records that both guess about."""

    first: str
    second: str
    records: int
    of: int


class NotRun(NamedTuple):
    """An attack that could not be run, and why."""

    attack: str
    why: str


@dataclass(frozen=True, kw_only=True)
class ReidentifyFindings:
    """A release under attack.

    Attributes
    ----------
    records, originals
        The number of released rows and of original ones.
    somebody
        How many released rows come from an original one.
    protect
        How the release was made, as it is written; None for a release made elsewhere by a method that is not known.
    declared, against, refuting
        Whether that was declared for a release made elsewhere, sentences that show that it was not made so, and how
        many released records show it: then no verdict rests on it.
    not_run
        Attacks that could not be run because the method declared did not make the file.
    known, order
        The columns that the adversary knows, in the order in which they are learnt, and a sentence on that order.
    keeps_order
        Whether the released rows are in the order of the original ones, which tells whose each of them is.
    confusion
        The least number of people who look equally good, over records and attacks.
    loss
        What the release lost of what the original says, from 0 (nothing) to 1; NaN where it was not measured.
    notes
        What was left out or assumed on the way, and what to know of the verdicts.
    """

    records: int
    originals: int
    somebody: int
    protect: str | None
    known: tuple[str, ...]
    order: str
    attacks: tuple[AttackOutcome, ...]
    clashes: tuple[Clash, ...]
    keeps_order: bool
    confusion: float
    loss: float = nan
    declared: bool = False
    against: tuple[str, ...] = ()
    refuting: int = 0
    not_run: tuple[NotRun, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def blind(self) -> float:
        """The chance of picking the right person by lot."""
        return 1 / self.originals

    @property
    def worst(self) -> AttackOutcome:
        """The attack that hits most often; of those that hit alike, one that may be valid."""
        return max(self.attacks, key=lambda each: (_known(each.hit_rate.value), each.is_valid is not False))


def _known(value: float) -> float:
    return -1.0 if isnan(value) else value
