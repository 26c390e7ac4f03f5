"""What was found about the cracks of a matching attack, as data."""

from dataclasses import dataclass, field
from typing import Literal

from unveil._kernels.types import FloatArray
from unveil.measure.matchings.cracks import Cracks

#: What an adversary holds: whole matchings, or pairs of an entry and a token, possible or not, with probabilities that
#: sum to 1 in each row and column, or with weights of any size.
Holds = Literal["matchings", "possible pairs", "probabilities", "weights"]


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
    """

    cracks: Cracks
    blind: FloatArray = field(repr=False)
    holds: Holds
    possible: int
    entries: tuple[str, ...] = field(repr=False)
    tokens: tuple[str, ...] = field(repr=False)
    notes: tuple[str, ...] = ()
