"""How well an adversary tells people in the data from others, and whom that exposes, as data."""

from dataclasses import dataclass

from unveil._figure import figure
from unveil._kernels.types import FloatArray
from unveil.metrics.epsilon.bound import EpsilonBound
from unveil.metrics.trials.risk import Rate


@dataclass(frozen=True, kw_only=True)
class NamedShare:
    """The share of members who are named while a share ``wrongly`` of people who are not in the data is named too."""

    COUNTS = "nothing private"
    JSON_DEFINITION = "named_rate"

    wrongly: float = figure("How many of the others are named wrongly.")
    rate: Rate = figure(inline=True)


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreArea:
    """The area under the curve of one score alone, and what kind of likeness it sees."""

    COUNTS = "statistic"

    name: str = figure("The name of the score.", name="score")
    sees: str = figure("What it looks at.")
    area: Rate = figure("The area under its curve.")
    weights: tuple[float, ...] = figure(
        "How much it counts in the combination: its place, and what lies beyond two thresholds; none where it is "
        "alone.",
        default=(),
    )
    #: Its ROC curve, where it is drawn.
    curve: tuple[FloatArray, FloatArray] | None = None


@dataclass(frozen=True, kw_only=True)
class UnusualPeople:
    """The same for people who are far from all others: ``share`` of those outside the data are as far."""

    COUNTS = "people"

    share: float = figure("The share of people that counts as unusual.", counts="nothing private")
    members: int = figure("How many of them are members.")
    others: int = figure("How many are not.")
    area: Rate = figure("The area under the curve for them.")
    named: NamedShare = figure("The share of them that is named.")


@dataclass(frozen=True, kw_only=True, eq=False)
class Separation:
    """How well people in the data are told from others, measured on people from whom nothing was learned."""

    COUNTS = "people"

    area: Rate = figure("The chance that a member scores higher than somebody who is not one; 0.5 tells nothing.")
    named: tuple[NamedShare, ...] = figure("How many members are named at each share of others who are named wrongly.")
    pointed_out: float = figure(
        "How many of the members can be named so that at most 5 % of those named are not in the data, at even odds; "
        "by the scores of control people who are not measured."
    )
    members: int = figure("How many people in the data were measured.")
    others: int = figure("How many people who are not in the data were measured.")
    learned_from: tuple[int, int] = figure(
        "From how many people in the data, and how many others, the combination of scores was learned."
    )
    population: int = figure("How many further people show how people lie, for scores that need that.")
    epsilon: EpsilonBound | None = figure(
        "How large epsilon is at least, if the two tables were divided by lot; missing where that is not told.",
        default=None,
    )
    scores: tuple[ScoreArea, ...] = figure("What each score reaches alone; they explain and never accuse.")
    unusual: tuple[UnusualPeople, ...] = figure("What is reached on those who are unlike all others.")
    #: The shares of others and of members above each score, from the highest on; None where that is not shown.
    curve: tuple[FloatArray, FloatArray] | None = None


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
