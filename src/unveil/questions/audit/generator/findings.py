"""Findings on a generator, and on its claimed ε."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan
from typing import Literal

from unveil._figure import derived, figure
from unveil.metrics.epsilon.bound import EpsilonBound
from unveil.metrics.epsilon.claim import Claim, contradicted
from unveil.questions.audit.generator.settings import CanaryKind

#: Where the coins come from that a bound rests on: people of two tables paired by lot, or canaries planted by coins.
CoinSource = Literal["two tables", "canaries"]
#: What all runs together may show that no figure tells.
Oddity = Literal["same table", "people never given"]


@dataclass(frozen=True, kw_only=True)
class RunSpread:
    """The values of single runs where the report shows their mean."""

    COUNTS = "statistic"

    attack: str = figure("The attack, as it is written in commands.")
    adversary: str = figure("The attacker, by its columns or score.", name="attacker")
    shown: Literal["normalized_excess", "attack_rate"] = figure(
        "The value: normalized excess, or attack success without held-out records.",
        name="value",
    )
    values: tuple[float, ...] = figure("The value of each run.")


@dataclass(frozen=True, kw_only=True)
class RunSiblings:
    """Runs as sibling releases, for the people they did not see."""

    COUNTS = "statistic"

    number: int = figure(
        "Number of runs without the person that calibrate each membership score.", counts="nothing private"
    )
    p: float = figure(
        "The p-value of the test with the run as unit: is each run nearer to its own people? Null with fewer than four "
        "runs.",
        default=nan,
    )
    smallest_p: float = figure(
        "The smallest p that this number of runs allows; null without a test.", default=nan, counts="nothing private"
    )
    auc: float = figure("AUC of the DCR score, people given against people held out: mean over runs.", default=nan)
    auc_calibrated: float = figure(
        "The same for the DCR score minus its mean over runs without the person.", default=nan
    )
    #: The row of each person whom the first run was given, with the z of the DCR score; empty in a redacted report.
    people_z: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True, kw_only=True)
class GeneratorSummary:
    """How a generator produced the audited releases."""

    COUNTS = "nothing private"

    release: str = figure("The name of the generator among the releases.")
    generator: str = figure("The generator as given. For internal use: a command may hold passwords and folders.")
    about: Mapping[str, str] = figure("Its environment and version, by name.")
    people: int = figure("Number of people; each run holds some of them out.")
    rows: int = figure("Number of their rows.")
    held_out: int = figure("Number of people held out in the first run.")
    folds: int = figure(
        "Number of parts into which people are divided; 1 where the same part is held out in every run."
    )
    runs: int = figure("Number of runs of the generator.")
    attacked: int = figure("Number of runs with all attacks; the rest serve canaries only.")
    seconds: tuple[float, ...] = figure("Wall time of each run, in seconds.")
    spread: tuple[RunSpread, ...] = figure("Results of single runs, by attack; empty for one run.", default=())
    lost: tuple[float, ...] = figure(
        "Utility loss of each run; empty where it was not measured.", name="utility_loss", default=()
    )
    oddities: tuple[Oddity, ...] = figure("Irregularities of the generator.", name="irregularities", default=())
    siblings: RunSiblings | None = figure(
        "Runs as sibling releases; null where the same people are held out in every run.", default=None
    )
    attacked_beside: int = figure("Number of attacked rows in existing releases.", name="attacked_existing", default=0)


@dataclass(frozen=True, kw_only=True)
class EpsilonFinding:
    """Empirical lower bound on ε, and the claim compared with it."""

    COUNTS = "nothing private"

    #: What the coins show; None where there were none, as without anybody whose membership was measured.
    bound: EpsilonBound | None = figure(inline=True)
    source: CoinSource = figure("The source of the bound: canaries, or people of the two tables.")
    canaries: CanaryKind | None = figure("The type of canaries; null without canaries.", default=None)
    #: The bound rests on it.
    by_lot: bool = figure("Whether people were assigned to the data at random.", name="randomized", default=True)
    claim: Claim | None = figure("The claimed ε; null without a claim.", default=None)

    @derived("Whether the claim is refuted; null without one.", name="refuted")
    def claim_contradicted(self) -> bool | None:
        """Whether the claim is refuted; None without a claim."""
        return None if self.claim is None else self.contradicted

    #: For the best adversary, where epsilon is twice as large as claimed.
    needed: int | None = figure(
        "Number of canaries or pairs needed to refute the claim; null where unknown.",
        name="guesses_needed",
        default=None,
    )
    #: Whether the numbers of guesses may be told.
    counts: bool = True

    @property
    def contradicted(self) -> bool:
        """Whether the claim cannot be true; it is never confirmed."""
        return self.claim is not None and self.bound is not None and contradicted(self.claim, self.bound)
