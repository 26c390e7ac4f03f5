"""Findings on a generator, and on its claimed ε."""

from collections.abc import Mapping
from dataclasses import dataclass
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
    adversary: str = figure("Who the adversary is.")
    shown: Literal["excess_over_control", "attack_rate"] = figure(
        "What is shown: the excess over people who were held out, or the attack's own rate where there is none.",
        name="figure",
    )
    values: tuple[float, ...] = figure("The figure of each run.")


@dataclass(frozen=True, kw_only=True)
class GeneratorSummary:
    """How a generator produced the audited releases."""

    COUNTS = "nothing private"

    release: str = figure("What the report calls the way among the releases.")
    generator: str = figure(
        "The generator as it was written: for internal use, since a command may hold passwords and folders."
    )
    about: Mapping[str, str] = figure("What is known of its environment and version, by name.")
    people: int = figure("How many people there are; in each run some of them were held out.")
    rows: int = figure("How many rows they have.")
    held_out: int = figure("How many people were held out in the first run.")
    folds: int = figure(
        "In how many parts everybody was divided, each held out in turn; 1 where one part was held out, and the "
        "others never."
    )
    runs: int = figure("How many runs of the generator there were in all.")
    attacked: int = figure("How many of the runs were attacked in every way; all, unless they are there for canaries.")
    seconds: tuple[float, ...] = figure("How long each run of the generator took, in seconds of wall time.")
    spread: tuple[RunSpread, ...] = figure("What single runs gave, by attack; none where there was one.", default=())
    lost: tuple[float, ...] = figure(
        "The share of usefulness that the release of each run has lost; none where that was not measured.", default=()
    )
    oddities: tuple[Oddity, ...] = figure("What is strange about the generator.", default=())
    attacked_beside: int = figure(
        "How many rows of everybody were attacked in releases beside it that exist already.", default=0
    )


@dataclass(frozen=True, kw_only=True)
class EpsilonFinding:
    """Empirical lower bound on ε, and the claim compared with it."""

    COUNTS = "nothing private"

    #: What the coins show; None where there were none, as without anybody whose membership was measured.
    bound: EpsilonBound | None = figure(inline=True)
    source: CoinSource = figure("What bounds it: canaries, or people in and outside the data.")
    canaries: CanaryKind | None = figure("The rows that were planted; empty where none were.", default=None)
    #: The bound rests on it.
    by_lot: bool = figure("Whether a lot decided who is in the data.", default=True)
    claim: Claim | None = figure("The epsilon that is claimed; null where none is.", default=None)

    @derived("Whether the claim is contradicted; null without one.", name="contradicted")
    def claim_contradicted(self) -> bool | None:
        """Whether the claim is refuted; None without a claim."""
        return None if self.claim is None else self.contradicted

    #: For the best adversary, where epsilon is twice as large as claimed.
    needed: int | None = figure(
        "How many coins would be needed to contradict the claim; null where that is not known.",
        name="coins_needed",
        default=None,
    )
    #: Whether the numbers of guesses may be told.
    counts: bool = True

    @property
    def contradicted(self) -> bool:
        """Whether the claim cannot be true; it is never confirmed."""
        return self.claim is not None and self.bound is not None and contradicted(self.claim, self.bound)
