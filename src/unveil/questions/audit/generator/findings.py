"""What was found out about a way of making releases, and about a claim of epsilon, as data."""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from unveil.metrics.epsilon.bound import EpsilonBound
from unveil.metrics.epsilon.claim import Claim, contradicted

if TYPE_CHECKING:
    from unveil.questions.audit.findings import Audit
    from unveil.questions.audit.generator.settings import CanaryKind

#: Where the coins come from that a bound rests on: people of two tables paired by lot, or canaries planted by coins.
CoinSource = Literal["two tables", "canaries"]
#: What all runs together may show that no figure tells.
Oddity = Literal["same table", "people never given"]


@dataclass(frozen=True, kw_only=True)
class RunSpread:
    """The values of single runs where the report shows their mean."""

    attack: str
    adversary: str
    #: What is shown: the excess over people who were held out, or the attack's own rate where there is none.
    figure: Literal["excess_over_control", "attack_rate"]
    values: tuple[float, ...]


@dataclass(frozen=True, kw_only=True)
class GeneratorSummary:
    """How a generator produced the audited releases.

    Attributes
    ----------
    release
        What the report calls the way among the releases.
    generator
        The generator as it was written, with the words of a command; the shareable edition does not have those.
    about
        What is known of its environment and version, by name.
    people, rows
        How many people there are, and rows of theirs; in each run some of them were held out.
    held_out, folds, runs
        How many people were held out in the first run; in how many parts everybody was divided, each held out in turn
        (1 where one part was held out, and the others never); and how many runs there were in all.
    attacked
        How many of the runs were attacked in every way; all, unless they are there for canaries.
    seconds
        How long each run of the generator took.
    spread
        What single runs gave, by attack; none where there was one.
    lost
        The share of usefulness that the release of each run has lost; none where that was not measured.
    oddities
        What is strange about the generator.
    attacked_beside
        How many rows of everybody were attacked in releases beside it that exist already.
    """

    release: str
    generator: str
    about: tuple[tuple[str, str], ...]
    people: int
    rows: int
    held_out: int
    folds: int
    runs: int
    attacked: int
    seconds: tuple[float, ...]
    spread: tuple[RunSpread, ...] = ()
    lost: tuple[float, ...] = ()
    oddities: tuple[Oddity, ...] = ()
    attacked_beside: int = 0


@dataclass(frozen=True, kw_only=True)
class EpsilonFinding:
    """A lower bound of epsilon, and the claim that it was held against.

    Attributes
    ----------
    bound
        What the coins show; None where there were none, as without anybody whose membership was measured.
    source
        Where they come from.
    claim
        What was claimed; None where nothing was.
    canaries
        Which rows were planted; None where none were.
    by_lot
        Whether it is known that the two tables were divided by lot, on which the bound rests.
    needed
        How many coins the best adversary would need to contradict the claim where epsilon is twice as large; None
        where nothing was claimed, or no number is enough.
    counts
        Whether the numbers of guesses may be told.
    """

    bound: EpsilonBound | None
    source: CoinSource
    claim: Claim | None = None
    canaries: "CanaryKind | None" = None
    by_lot: bool = True
    needed: int | None = None
    counts: bool = True

    @property
    def contradicted(self) -> bool:
        """Whether the claim cannot be true; it is never confirmed."""
        return self.claim is not None and self.bound is not None and contradicted(self.claim, self.bound)


def way_json(audit: "Audit") -> dict[str, Any]:
    """Return what JSON has on the way of making releases and on epsilon, where either was asked for."""
    found, way = audit.epsilon, audit.way
    told: dict[str, Any] = {}
    if way is not None:
        told["way"] = {**asdict(way), "about": dict(way.about), "spread": [asdict(each) for each in way.spread]}
    if found is not None:
        told["epsilon"] = {
            **({} if found.bound is None else asdict(found.bound)),
            "source": found.source,
            "canaries": found.canaries,
            "by_lot": found.by_lot,
            "claim": None if found.claim is None else asdict(found.claim),
            "contradicted": found.contradicted if found.claim is not None else None,
            "coins_needed": found.needed,
        }
    return told
