"""How well an adversary tells people in the data from others, and whom that exposes, as data."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from unveil._kernels.types import FloatArray
    from unveil.metrics.epsilon.bound import EpsilonBound
    from unveil.metrics.trials.risk import Rate


@dataclass(frozen=True, kw_only=True)
class NamedShare:
    """The share of members who are named while a share ``wrongly`` of people who are not in the data is named too."""

    wrongly: float
    rate: "Rate"


@dataclass(frozen=True, kw_only=True)
class ScoreArea:
    """The area under the curve of one score alone, and what kind of likeness it sees."""

    name: str
    sees: str
    area: "Rate"
    #: How much it counts in the combination: its place, and what lies beyond two thresholds; none where it is alone.
    weights: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class UnusualPeople:
    """The same for people who are far from all others: ``share`` of those outside the data are as far."""

    share: float
    members: int
    others: int
    area: "Rate"
    named: NamedShare


@dataclass(frozen=True, kw_only=True, eq=False)
class Separation:
    """How well people in the data are told from others, measured on people from whom nothing was learned.

    Attributes
    ----------
    area
        The chance that a member scores higher than somebody who is not one; 0.5 tells nothing.
    named
        How many members are named at each share of others who are named wrongly.
    pointed_out
        How many of the members can be named so that at most 5 % of those named are not in the data, at even odds.
    members, others, learned_from, population
        How many people were measured, from how many of each kind it was learned, and how many show how people lie.
    scores
        What each score reaches alone; they explain and never accuse.
    unusual
        What is reached on those who are unlike all others.
    curve
        The shares of others and of members above each score, from the highest on; None where that is not shown.
    epsilon
        How large epsilon is at least if the two tables were divided by lot; None where that is not told.
    """

    area: "Rate"
    named: tuple[NamedShare, ...]
    pointed_out: float
    members: int
    others: int
    learned_from: tuple[int, int]
    population: int
    scores: tuple[ScoreArea, ...]
    unusual: tuple[UnusualPeople, ...]
    curve: "tuple[FloatArray, FloatArray] | None" = None
    epsilon: "EpsilonBound | None" = None


@dataclass(frozen=True, kw_only=True)
class ExposedPerson:
    """How exposed one person in the data is; for those who hold the original, and for nobody else.

    Attributes
    ----------
    row
        Where the person stands in the original, from 0 on.
    as_exposed, others
        How many people outside the data look as much like a member, of all who were measured.
    pointed_out
        Whether the person is among those who can be named with few errors.
    unusual
        The share of people outside the data who are less far from all others.
    released_row
        The released row that shares most of the person's rare values, from 0 on; -1 where nobody looked.
    columns
        The columns in which it does, the rarest value first.
    unheard
        The columns whose value is released somewhere though nobody of those who show the population has it.
    """

    row: int
    as_exposed: int
    others: int
    pointed_out: bool
    unusual: float
    released_row: int = -1
    columns: tuple[str, ...] = ()
    unheard: tuple[str, ...] = ()

    @property
    def p(self) -> float:
        """How often somebody who is not in the data would look so much like a member."""
        return (1 + self.as_exposed) / (1 + self.others)
