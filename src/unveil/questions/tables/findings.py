"""What was found about published counts, as data."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from unveil._kernels.types import IntArray
from unveil.metrics.counts.count_disclosure import CountFigures

if TYPE_CHECKING:
    import polars as pl

#: What happened to the counts: they are hidden, rounded, changed at random, or told in several of these ways.
Treatment = Literal["hidden", "rounded", "changed"]
#: Who reads: whoever knows nothing, whoever knows that small counts are hidden, or only that zeros are shown.
ReadingName = Literal["any", "rule", "zeros"]


@dataclass(frozen=True, kw_only=True)
class ReadingFindings:
    """One way to read the symbols that stand for counts, and what follows then.

    Whoever knows the rule reads small counts; where the truth excludes that, larger ones are hidden too, and it is
    tried out what follows for whoever knows that zeros are shown. ``ranges`` says for each symbol how it is read, in
    words; ``excluded`` whether the truth shows it to be wrong.
    """

    name: ReadingName
    ranges: tuple[str, ...]
    figures: CountFigures
    excluded: bool = False


@dataclass(frozen=True, kw_only=True)
class TableFindings:
    """One table: what it has, what of it is worked out, and what it would give away alone (None: not settled)."""

    name: str
    form: str
    variables: tuple[str, ...]
    cells: int
    hidden: int
    worked_out: int
    small_worked_out: int
    alone: int | None


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

    first: int | None
    ranked: float
    by_margins: float


@dataclass(frozen=True, kw_only=True)
class RecordFindings:
    """Combinations of one code of every variable, and what tables say of them together.

    ``certain`` ones are in every population that fits, ``unique`` ones of these exactly once, ``absent`` ones in none;
    of ``undecided`` ones that was not settled. The ``first`` of all are ranked by how many of ``worlds`` populations
    have them; ``precision`` is empty without the truth.
    """

    possible: int
    certain: int
    unique: int
    absent: int
    undecided: int
    worlds: int
    first: tuple[RankedRecord, ...] = field(default=(), repr=False)
    precision: tuple[RecordPrecision, ...] = ()


@dataclass(frozen=True, kw_only=True)
class RoundingFindings:
    """What could be worked out if every count were rounded at random to a base instead."""

    base: int
    worked_out: int
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

    hidden_before: int
    hidden_after: int
    listed: int
    helpless: int
    short: int
    undecided: int
    keep: int
    tight: int
    after: CountFigures
    rounding: tuple[RoundingFindings, ...]
    frame: "pl.DataFrame" = field(repr=False)


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

    minimum: int
    values: int
    readings: tuple[ReadingFindings, ...]
    worst: int
    tables: tuple[TableFindings, ...]
    margins: int | None
    steps: tuple[StepFindings, ...] = field(repr=False)
    steps_of: int
    grid: GridFindings | None = field(repr=False)
    frame: "pl.DataFrame" = field(repr=False)
    treatment: Treatment
    is_whole: bool
    needed: int
    is_finished: bool
    linear: int
    whole: int
    work: int
    has_truth: bool
    symbols: tuple[str, ...]
    #: Counts from 1 to minimum - 1 that tables show as they are.
    shown_small: int = 0
    profile: str = ""
    #: Groups in which all have the same code, the smallest first, and how many there are.
    groups: tuple[GroupFindings, ...] = ()
    groups_of: int = 0
    records: RecordFindings | None = None
    #: People who are alone in a hidden count: how many there are, were tried out and gain, and the most that one gains.
    insiders: tuple[int, int, int, int] | None = None
    repair: RepairFindings | None = None
    notes: tuple[str, ...] = ()

    @property
    def figures(self) -> CountFigures:
        """The figures of the reading that gives most away."""
        return self.readings[self.worst].figures

    @property
    def other(self) -> ReadingFindings | None:
        """The other reading, where there is one that the truth does not exclude."""
        others = [each for at, each in enumerate(self.readings) if at != self.worst and not each.excluded]
        return others[0] if others else None
