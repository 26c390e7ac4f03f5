"""What was found about published counts, as data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

from unveil._figure import NOTES, derived, figure, figure_at, version_figure
from unveil._kernels.types import IntArray
from unveil.metrics.counts.count_disclosure import CountFigures

if TYPE_CHECKING:
    import polars as pl

#: What happened to the counts: they are hidden, rounded, changed at random, or told in several of these ways.
Treatment = Literal["hidden", "rounded", "changed"]
#: Who reads: whoever knows nothing, whoever knows that small counts are hidden, or only that zeros are shown.
ReadingName = Literal["any", "rule", "zeros"]


#: What the answer says nothing about.
UNTESTED = (
    "Other tables of the same people, published by you or by others: each can only narrow what is said here.",
    "What readers know of single people: somebody who is one of three knows that there are two others (--insider tries "
    "out those who are alone).",
    "Sampling weights: counts are taken as counts of records.",
    "Noise without a bound: it leaves no ranges, and needs another attack.",
)


@dataclass(frozen=True, kw_only=True)
class ReadingFindings:
    """One way to read the symbols that stand for counts, and what follows then.

    Whoever knows the rule reads small counts; where the truth excludes that, larger ones are hidden too, and it is
    tried out what follows for whoever knows that zeros are shown. ``ranges`` says for each symbol how it is read, in
    words; ``excluded`` whether the truth shows it to be wrong.
    """

    name: ReadingName = figure("The way of reading, by its name.")
    ranges: tuple[str, ...]
    figures: CountFigures
    excluded: bool = figure("Whether the truth rules it out.", default=False, name="excluded_by_truth")
    worked_out = figure_at("figures.worked_out", "How many of them can be worked out exactly.")
    small_worked_out = figure_at("figures.small", "How many counts below the minimum can be worked out.")
    narrow = figure_at("figures.narrow", "How many are known up to a few values.")


@dataclass(frozen=True, kw_only=True)
class TableFindings:
    """One table: what it has, what of it is worked out, and what it would give away alone (None: not settled)."""

    name: str = figure("The name of the file.", name="file")
    form: str = figure("How the table is laid out.")
    variables: tuple[str, ...] = figure("What its rows and columns are about.")
    cells: int = figure("How many cells there are.")
    hidden: int = figure("How many counts are hidden.")
    worked_out: int = figure("How many of them can be worked out exactly.")
    alone: int | None = figure("How many can be worked out from this table alone.", name="worked_out_alone")
    small_worked_out: int = figure("How many counts below the minimum can be worked out.")


@dataclass(frozen=True, kw_only=True)
class StepFindings:
    """How one count is worked out: the terms of its sum with sign, name, count, and whether each was hidden itself."""

    cell: str
    count: int
    kind: str
    terms: tuple[tuple[int, str, int, bool], ...] = ()
    is_listed: bool = True


@dataclass(frozen=True, kw_only=True, eq=False)
class GridFindings:
    """A table as a grid: the level of each cell (-1: none) and what is known of it."""

    table: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    row_label: str
    column_label: str
    level: IntArray = field(repr=False)
    low: IntArray = field(repr=False)
    high: IntArray = field(repr=False)
    left_out: int = 0


@dataclass(frozen=True, kw_only=True)
class GroupFindings:
    """A group in which all have the same code: what it is called, the code, and how many are in it (None: no end)."""

    group: str
    variable: str
    code: str
    low: int
    high: int | None


@dataclass(frozen=True, kw_only=True)
class RankedRecord:
    """A combination of one code of every variable that may exist: its name, and what is known of it.

    ``share`` is the share of the populations that were built in which somebody has it; ``low`` and ``high`` are how
    many people have it (None: no end).
    """

    record: str
    is_certain: bool
    share: float
    low: int
    high: int | None


@dataclass(frozen=True, kw_only=True)
class RecordPrecision:
    """The share of the first ranked records that exist (``first`` None: as many as exist), and of those by margins."""

    first: int | None = figure("How many of the first ranked records; null for as many as exist.")
    ranked: float = figure("The share of them that exist.")
    by_margins: float = figure("The share that exist where records are ranked by margins alone.")


@dataclass(frozen=True, kw_only=True)
class RecordFindings:
    """Combinations of one code of every variable, and what tables say of them together.

    ``certain`` ones are in every population that fits, ``unique`` ones of these exactly once, ``absent`` ones in none;
    of ``undecided`` ones that was not settled. The ``first`` of all are ranked by how many of ``worlds`` populations
    have them; ``precision`` is empty without the truth.
    """

    possible: int = figure("Combinations that a record may have.")
    certain: int = figure("Combinations that some record must have.")
    unique: int = figure("Combinations that exactly one record must have.")
    absent: int = figure("Combinations that no record has.")
    undecided: int = figure("Combinations that could not be settled.")
    worlds: int = figure("How many populations were built that fit the tables.")
    first: tuple[RankedRecord, ...] = field(default=(), repr=False)
    precision: tuple[RecordPrecision, ...] = figure(
        "How many of the first ranked records exist; empty without a truth.", default=()
    )


@dataclass(frozen=True, kw_only=True)
class RoundingFindings:
    """What could be worked out if every count were rounded at random to a base instead."""

    base: int = figure("The whole number to whose multiples counts are rounded.")
    worked_out: int = figure("Counts that could be worked out then.")
    undecided: int


@dataclass(frozen=True, kw_only=True, eq=False)
class RepairFindings:
    """What to hide so that no small count can be worked out, and what the attack finds then.

    Attributes
    ----------
    hidden_before, hidden_after, listed
        Counts that are hidden before and after, of all that tables list.
    helpless, short, undecided
        Small counts for which it is proven that no other count fits whatever is hidden, those for which some fit but
        fewer than were to be kept, and those that were not settled.
    keep, tight
        How many values were to be kept for each small count, and small counts with fewer by the attack afterwards.
    after
        The figures of the same attack on the repaired tables.
    rounding
        What rounding would leave instead, the smallest base first; empty for large tables.
    frame
        The repaired tables.
    """

    hidden_before: int = figure("How many counts were hidden before.")
    hidden_after: int = figure("How many counts are hidden afterwards.")
    listed: int = figure("How many were looked at.")
    helpless: int = figure("Hidden counts that no further hiding protects.", name="proven_helpless")
    short: int = figure("Small counts that keep fewer values than asked for, whatever is hidden.", name="proven_short")
    undecided: int = figure("Counts that could not be settled.", name="not_settled")
    keep: int = figure("How many values each small count was to keep.", name="values_to_keep")
    tight: int = figure("Small counts with fewer values than that afterwards.", name="small_with_fewer_values_after")
    after: CountFigures
    frame: "pl.DataFrame" = field(repr=False)
    worked_out_after = figure_at("after.worked_out", "Counts that can be worked out afterwards.")
    small_worked_out_after = figure_at("after.small", "Counts below the minimum that can be worked out afterwards.")
    narrow_after = figure_at("after.narrow", "How many hidden counts have a narrow range afterwards.")
    rounding: tuple[RoundingFindings, ...] = figure("What rounding would do instead.")


@dataclass(frozen=True, kw_only=True, eq=False)
class TablesFindings:
    """What can be worked out from published counts.

    Attributes
    ----------
    minimum, values
        Counts from 1 to minimum - 1 are small; a range of at most so many values is narrow.
    readings, worst
        The ways in which symbols are read, and the number of the one that gives most away.
    tables
        Each table by itself.
    margins
        How many of the hidden counts totals alone give away, None where that was not settled.
    steps, steps_of
        How counts are worked out, those that are easiest to follow first, and of how many.
    grid
        The table that gives most away.
    frame
        The range of every hidden count, and of every unlisted one that is worked out.
    treatment
        What happened to the counts.
    is_whole, needed
        Whether ranges are those over all populations, and how many cells that takes.
    is_finished, linear, whole, work
        Whether the solver had enough steps, how many programs it solved, and how many steps that took.
    has_truth
        Whether every range was held against the records.
    symbols
        The symbols that stand in place of counts.
    """

    GROUPS: ClassVar[Mapping[str, str]] = {
        "figures": "The figures of the worst reading.",
        "baselines": "What is known without any solver.",
        "proven": "How the ranges were shown.",
    }

    worst: int
    steps: tuple[StepFindings, ...] = field(repr=False)
    steps_of: int
    grid: GridFindings | None = field(repr=False)
    frame: "pl.DataFrame" = field(repr=False)
    needed: int
    is_finished: bool
    work: int
    symbols: tuple[str, ...]
    #: Groups in which all have the same code, the smallest first.
    groups: tuple[GroupFindings, ...] = ()
    #: People who are alone in a hidden count: how many there are, were tried out and gain, and the most that one gains.
    insiders: tuple[int, int, int, int] | None = None

    version = version_figure()
    minimum: int = figure("The least count that may be known.")
    values: int = figure("The most values of a range that counts as narrow.")
    treatment: Treatment = figure("How counts were protected, in words.")
    tables: tuple[TableFindings, ...] = figure("One entry for each table.")
    is_whole: bool = figure("Whether all ranges were found exactly.", name="exact")

    @derived("The reading that gives most away.")
    def reading(self) -> str:
        """The name of the reading that gives most away."""
        return self.readings[self.worst].name

    readings: tuple[ReadingFindings, ...] = figure("One entry for each way to read the tables.")
    hidden = figure_at("figures.hidden", "Counts that tables list without their figure.", name="figures.hidden")
    worked_out = figure_at("figures.worked_out", "Of them those with one value left.", name="figures.worked_out")
    recovered_rate = figure_at(
        "figures.recovered_rate",
        "The share of hidden counts that are worked out, from 0 to 1; null where none is hidden.",
        name="figures.recovered_rate",
    )
    small_worked_out = figure_at(
        "figures.small", "Of these those from 1 to minimum - 1.", name="figures.small_worked_out"
    )
    small_unlisted = figure_at(
        "figures.unlisted_small",
        "Counts below the minimum that no table lists and that can be worked out.",
        name="figures.small_unlisted",
    )
    shown_small: int = figure(
        "Counts below the minimum that are shown as they are.", default=0, name="figures.small_shown"
    )
    narrow = figure_at(
        "figures.narrow",
        "Hidden counts with two values left or a few more, but no more than were asked for.",
        name="figures.narrow",
    )
    known_small = figure_at(
        "figures.known_small",
        "Hidden counts, not worked out, that are known to lie from 1 to minimum - 1 although no symbol said so.",
        name="figures.known_small",
    )
    groups_of: int = figure("Groups of people who all have one code.", default=0, name="figures.groups_of_one_code")
    left = figure_at(
        "figures.left", "How much of what was hidden stays open; null without a truth.", name="figures.left"
    )
    blind = figure_at(
        "figures.blind", "How many counts blind guessing would get right; null without a truth.", name="baselines.blind"
    )
    margins: int | None = figure("How many follow from one total alone.", name="baselines.margins")
    ends = figure_at(
        "figures.ends", "How many ends of ranges there are: two for each hidden count.", name="proven.ends"
    )
    attained = figure_at("figures.proven", "Ends that tables with whole counts reach.", name="proven.attained")

    @derived("Ends that could not be settled within the work allowed.", name="proven.not_settled")
    def not_settled(self) -> int:
        """The number of counts of which it was not settled whether they can be worked out."""
        return self.figures.undecided + self.figures.unlisted_undecided

    linear: int = figure("Linear programs that were solved.", name="proven.linear_programs")
    whole: int = figure("Searches for whole counts.", name="proven.searches")
    records: RecordFindings | None = figure(
        "Records that must exist; null where they were not looked for.", default=None
    )
    repair: RepairFindings | None = figure("What else to hide; null where that was not asked for.", default=None)
    has_truth: bool = figure("Whether the records behind the tables were given.", name="truth")
    profile: str | None = figure("The published limits it was judged by; null where none were named.", default=None)

    @derived("What this answer says nothing about.")
    def not_tested(self) -> tuple[str, ...]:
        """The questions that the answer leaves open."""
        return UNTESTED

    notes: tuple[str, ...] = figure(NOTES, default=())

    @property
    def figures(self) -> CountFigures:
        """The figures of the reading that gives most away."""
        return self.readings[self.worst].figures

    @property
    def other(self) -> ReadingFindings | None:
        """The other reading, where there is one that the truth does not exclude."""
        others = [each for at, each in enumerate(self.readings) if at != self.worst and not each.excluded]
        return others[0] if others else None
