"""What was found about linking records of the same person, as data."""

from dataclasses import dataclass, field
from math import nan

from unveil._figure import NOTES, derived, figure
from unveil.metrics.releases.unicity import Unicity
from unveil.metrics.trials.risk import Rate
from unveil.metrics.verdict.effects import EffectSize
from unveil.metrics.verdict.exchanged_people import LinkTest
from unveil.metrics.verdict.levels import Level
from unveil.report.limits import Quantity

#: The names of limits: people linked between two periods, and records linked over all of them.
LINKED, RECORDS_LINKED = "linked", "records_linked"
#: Where an attacker's weights come from.
WITHOUT_TRUTH, LEARNED = "without truth", "learned on other people"
LIMITS = {
    LINKED: "people linked between two periods beyond chance; 0 is none, 1 all",
    RECORDS_LINKED: "records linked beyond chance: share of a person's records linked to one of them; 0 is none, 1 all",
}


@dataclass(frozen=True, kw_only=True)
class HistoryFacts:
    """The records that were attacked."""

    people: int = figure("Number of people.", counts="people")
    records: int = figure("Number of records.", counts="rows")
    pseudonyms: int = figure("Number of pseudonyms.", counts="rows")
    periods: int = figure("Number of periods; 1 where pseudonyms have no periods.", counts="nothing private")
    separate: bool = figure("Whether a person has one pseudonym per period, which the attacker knows.")
    lifetime: str = figure("Lifetime of pseudonyms that is analyzed in full; null without one.", blank=True)
    compared: tuple[str, ...] = figure("Columns that the attacker compares.")
    identifiers: tuple[str, ...] = figure("Columns that identify each person; left out unless they are kept.")
    shuffled: bool = figure("Whether people were exchanged at random first, as a check.")


@dataclass(frozen=True, kw_only=True)
class ProfileAttack:
    """One attacker who links the pseudonyms of two periods."""

    attacker: str = figure("Where the attacker's weights come from: without truth, or learned on other people.")
    people: int = figure("Number of people with records in both periods who are attacked.", counts="people")
    first_guess: Rate = figure("Share of people whose best candidate is correct.")
    linked: Rate = figure("Share of people whose two pseudonyms the one-to-one assignment links.")
    chance: float = figure("The same when people are exchanged at random.", counts="statistic")
    excess: EffectSize = figure("People linked beyond chance.")
    claimed: float = figure("Mean probability that the attacker states for its links.", counts="statistic")
    came_true: float = figure("Share of these links that are correct.", counts="statistic")


@dataclass(frozen=True, kw_only=True)
class TwoPeriods:
    """Linking the pseudonyms of two neighboring periods."""

    earlier: str = figure("The earlier period.")
    later: str = figure("The later period.")
    attacks: tuple[ProfileAttack, ...] = figure(
        "The attackers: without truth on everyone, then, if asked for, learned and without truth on the same people."
    )


@dataclass(frozen=True, kw_only=True)
class LinkedPeople:
    """Linking all records of each person."""

    linked_alone: float = figure(
        "Records linked by the pseudonym alone: expected share of a person's records under the pseudonym of one.",
        counts="statistic",
    )
    records_linked: Rate = figure(
        "Records linked: expected share of a person's records in the attacker's profile of one of them."
    )
    own_share: Rate = figure("Own share: expected share of that profile that belongs to the person.")
    chance: float = figure("Records linked when people are exchanged at random.", counts="statistic")
    excess: EffectSize = figure("Records linked beyond the pseudonym alone and beyond chance.")
    profiles: int = figure("Number of profiles that the attacker makes.", counts="rows")
    breached_share: float = figure(
        "Share of people with at least β of their pseudonyms in one profile.", counts="statistic"
    )
    mostly_linked: float = figure("Share of people with at least 80% of their records linked.", counts="statistic")
    miss: float = figure("Miss errors per person: own pseudonyms outside the profile.", counts="statistic")
    include: float = figure("Include errors per person: foreign pseudonyms in the profile.", counts="statistic")
    risk_slope: float = figure("Risk slope of the average person; null where it is breached.", counts="statistic")
    linked_after: tuple[float, ...] = figure(
        "Linked share of a person's pseudonyms after 0, 1 and 2 merges of profiles.", counts="statistic"
    )
    gini: float = figure("Gini index of the records linked over people; 0 is the same for all.", counts="statistic")


@dataclass(frozen=True, kw_only=True)
class LifetimeResult:
    """Linking all records under pseudonyms of one lifetime."""

    lifetime: str = figure("Lifetime of pseudonyms.")
    pseudonyms: int = figure("Number of pseudonyms.", counts="rows")
    linked_alone: float = figure("Records linked by the pseudonym alone.", counts="statistic")
    records_linked: Rate = figure("Records linked by the attacker.")
    own_share: Rate = figure("Own share of the attacker's profiles.")
    mostly_linked: float = figure("Share of people with at least 80% of their records linked.", counts="statistic")
    why: str = figure("Reason why this lifetime was not attacked; null where it was.", blank=True, default="")


@dataclass(frozen=True, kw_only=True)
class ColumnShare:
    """What one column adds to linking."""

    column: str = figure("Name of the compared column.")
    alone: float = figure("Attack success with this column alone.", counts="statistic")
    all_but: float = figure("Attack success with all other columns.", counts="statistic")


@dataclass(frozen=True, kw_only=True)
class UnicityCell:
    """Unicity after one generalization of time and of a column."""

    time_step: str = figure("Time step; null where time is not known to the attacker.", blank=True)
    column: str = figure("The generalized column; null where columns stay as they are.", blank=True)
    step: str = figure("Its generalization; null where it stays as it is.", blank=True)
    unicity: Unicity = figure(inline=True)


@dataclass(frozen=True, kw_only=True)
class GroupShare:
    """Records linked in one group of people."""

    group_by: str = figure("What makes the group: a column, or the number of records.")
    group: str = figure("Name of the group, or its range of numbers of records.")
    people: int = figure("Number of people.", counts="people")
    records_linked: Rate = figure("Mean of the records linked over the people of the group.")
    linked_alone: float = figure("Records linked by the pseudonym alone.", counts="statistic")


@dataclass(frozen=True, kw_only=True)
class NamedPerson:
    """One of the most exposed people."""

    person: str = figure("The person, as the table has it.")
    records: int = figure("Number of records.", counts="rows")
    records_linked: float = figure("Expected share of the person's records that one of them gives.")
    own_share: float = figure("Expected share of that profile that belongs to the person.")


@dataclass(frozen=True, kw_only=True)
class LinkEffect:
    """One effect with its level."""

    name: str = figure("The name of its limit: linked or records_linked.")
    attacker: str = figure("Where the attacker's weights come from: without truth, or learned on other people.")
    success: Rate = figure("Share of people, or of a person's records, that the attacker links.")
    baseline: float = figure("Success by chance, or by the pseudonym alone where that is larger.", counts="statistic")
    excess: EffectSize = figure("Success beyond the baseline.")
    adjusted_p: float = figure("Adjusted p of the exact permutation test; null where it was not tested.")
    significant: bool = figure("Whether the number of links is significant.")
    rank_only: bool = figure("Whether only the ranks of true partners are significant, not the number of links.")
    level: Level = figure("The level of this effect.")


@dataclass(frozen=True, kw_only=True)
class LinkVerdict:
    """The level of the release, and the tests behind it."""

    level: Level = figure("The level of the worst effect.")
    effects: tuple[LinkEffect, ...] = figure("The effects, the worst first.")
    tests: tuple[LinkTest, ...] = figure("The exact permutation tests.")
    detectable: float = figure(
        "Smallest share of people linked between two periods that is found in 8 of 10 cases.", counts="statistic"
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class LinkFindings:
    """Whether records of the same person can be linked."""

    verdict: LinkVerdict = figure("The level of the release, and the tests behind it.")
    history: HistoryFacts = figure("The records that were attacked.")
    two_periods: TwoPeriods | None = figure("Linking two neighboring periods; null without periods.")
    linked_people: LinkedPeople = figure("Linking all records of each person.")
    lifetimes: tuple[LifetimeResult, ...] = figure(
        "The same by lifetime of pseudonyms, from the shortest to the longest."
    )
    columns: tuple[ColumnShare, ...] = figure("What each column adds; empty where one column is compared.")
    column_measure: str = figure("The effect that the columns are compared by: linked or records_linked.")
    unicity: tuple[UnicityCell, ...] = figure("Unicity by number of known records and by generalization.")
    decay: float = figure(
        "Exponent of the fall of unicity with the time step, for the number of known records where it falls most.",
        counts="statistic",
    )
    groups: tuple[GroupShare, ...] = figure("Records linked by group of people.")
    exposed: tuple[NamedPerson, ...] = figure("The most exposed people, if they were asked for.")
    notes: tuple[str, ...] = figure(NOTES, default=())
    #: The share of records that counts as a breach.
    beta: float = field(default=0.8)

    @derived(hidden=True, limit=LINKED, limit_meaning=LIMITS[LINKED], counts="statistic")
    def linked(self) -> float:
        """The people linked beyond chance, in the worst case."""
        return _worst(self.verdict, LINKED).value

    @derived(hidden=True, limit=RECORDS_LINKED, limit_meaning=LIMITS[RECORDS_LINKED], counts="statistic")
    def records_linked(self) -> float:
        """The records linked beyond chance."""
        return _worst(self.verdict, RECORDS_LINKED).value

    @property
    def worst(self) -> LinkEffect:
        """The effect that sets the level."""
        return self.verdict.effects[0]


def quantities(findings: LinkFindings) -> dict[str, Quantity]:
    """Return the effects that accept a limit: both limits of the excess decide.

    A limit fails where the lower end exceeds it and the effect is significant, and passes where the upper end does not.
    """
    made = {}
    for name, meaning in LIMITS.items():
        excess = _worst(findings.verdict, name)
        made[name] = Quantity(
            name=name, value=excess.low, high=excess.high, meaning=meaning, exceeded_when_undefined=False
        )
    return made


def _worst(verdict: LinkVerdict, name: str) -> EffectSize:
    """Return the ends of one effect over its attackers; an effect that is not significant is at least 0."""
    effects = [each for each in verdict.effects if each.name == name and each.excess.is_tested]
    if not effects:
        return EffectSize(nan, nan, nan)
    low = max(each.excess.low if each.significant else min(each.excess.low, 0.0) for each in effects)
    value = max(each.excess.value for each in effects)
    return EffectSize(value, low, max(each.excess.high for each in effects))
