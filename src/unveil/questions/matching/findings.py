"""What was found about the cracks of a matching attack, as data."""

from dataclasses import dataclass, field
from typing import Literal

from unveil._kernels.types import FloatArray
from unveil.metrics.matchings.cracks import Cracks, EstimatedFigure
from unveil.metrics.matchings.permanents import Ambiguity

#: What an adversary holds: whole matchings, or pairs of an entry and a token, possible or not, with probabilities that
#: sum to 1 in each row and column, or with weights of any size.
KnowledgeKind = Literal["matchings", "possible pairs", "probabilities", "weights"]


@dataclass(frozen=True, kw_only=True)
class ReleaseAlone:
    """What the adversary reaches with one of several releases alone; no cracks where the truth was not told."""

    name: str
    expected_cracks: EstimatedFigure | None
    d: EstimatedFigure


@dataclass(frozen=True, kw_only=True, eq=False)
class AmbiguityFindings:
    """What an attack leaves open, where nobody said what is true.

    Attributes
    ----------
    ambiguity
        The figures.
    holds, possible, entries, notes, releases
        As in :class:`MatchingFindings`.
    """

    ambiguity: Ambiguity
    holds: KnowledgeKind
    possible: int
    entries: tuple[str, ...] = field(repr=False)
    notes: tuple[str, ...] = ()
    releases: tuple[ReleaseAlone, ...] = ()


@dataclass(frozen=True, kw_only=True, eq=False)
class MatchingFindings:
    """How many entries an adversary cracks.

    Attributes
    ----------
    cracks
        The figures, each with how it was found and how far it may be off.
    blind
        The probability of 0, 1, ..., n cracks for an adversary who knows nothing.
    holds, possible
        What the adversary holds, and how many matchings or pairs of it are possible.
    entries, tokens
        The names of rows and columns, numbers from 1 where the attack has none.
    notes
        What was left out or assumed on the way, and what to know of the figures.
    releases
        Where several releases were taken together, what each of them reaches alone.
    """

    cracks: Cracks
    blind: FloatArray = field(repr=False)
    holds: KnowledgeKind
    possible: int
    entries: tuple[str, ...] = field(repr=False)
    tokens: tuple[str, ...] = field(repr=False)
    notes: tuple[str, ...] = ()
    releases: tuple[ReleaseAlone, ...] = ()
