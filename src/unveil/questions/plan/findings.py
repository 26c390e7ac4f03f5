"""What an audit of a given size can show, as data."""

from dataclasses import dataclass

from unveil._figure import figure

_PEOPLE = "How many people in the data are attacked."
_CONTROL = "How many people are in the control group."
_CHANCE = "The probability that a leak-free release passes: every upper limit is at most the threshold."
_FOUND = "The smallest excess risk found in 8 of 10 audits; null if there is none."


@dataclass(frozen=True, kw_only=True)
class PassChance:
    """The chance to pass in an audit of one size."""

    people: int = figure(_PEOPLE)
    control: int = figure(_CONTROL)
    pass_chance: float = figure(_CHANCE)


@dataclass(frozen=True, kw_only=True)
class PlannedSize(PassChance):
    """What an audit of one size can show."""

    smallest_found: float = figure(_FOUND)


@dataclass(frozen=True, kw_only=True)
class PlanFindings:
    """What the planned audit can show, and audits of other sizes."""

    people: int = figure(_PEOPLE)
    control: int = figure(_CONTROL)
    threshold: float = figure("Largest acceptable excess risk.")
    attackers: int = figure("Number of attackers compared with the threshold.")
    baseline: float = figure("Success rate on the control group.")
    correlation: float = figure("Correlation between the results of two attackers.")
    pass_chance: float = figure(
        _CHANCE,
        limit="plan.pass_chance",
        limit_meaning="the probability that a leak-free release passes",
        worse="less",
    )
    smallest_found: float = figure(
        _FOUND,
        limit="plan.smallest_found",
        limit_meaning="the smallest excess risk found in 8 of 10 audits",
        breached=True,
    )
    people_needed: int = figure("Number of people that each table needs for an 80% chance to pass.")
    sizes: tuple[PlannedSize, ...] = figure("The same for half, one, two, and four times the people.")
    curve: tuple[PassChance, ...] = figure("Chance to pass for the sizes in the chart.")
