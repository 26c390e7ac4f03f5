"""Results of an audit of published tables."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

from unveil._figure import NOTES, derived, figure, figure_at, version_figure
from unveil._kernels.types import IntArray
from unveil.metrics.counts.count_disclosure import CellDisclosure

if TYPE_CHECKING:
    import polars as pl

#: Protection of the counts.
Treatment = Literal["suppressed", "rounded", "changed"]
#: Knowledge of the reader: none, that small counts are suppressed, or that zeros are shown.
ReadingName = Literal["any", "rule", "zeros"]


#: Limitations of every result.
LIMITATIONS = (
    "Further tables of the same people can only shorten the intervals.",
    "Respondents have more knowledge than readers: one of three knows of the two remaining people.",
    "Sampling weights are not supported: counts are taken as counts of records.",
    "Noise without a bound leaves no intervals and needs another attack.",
)


@dataclass(frozen=True, kw_only=True)
class ReadingFindings:
    """One way to read the symbols that stand for counts, and what follows then.

    A reader who knows the rule reads a symbol as a small count. If the microdata exclude that, larger counts are
    suppressed too, and a third reading knows that zeros are shown. ``ranges`` holds the meaning of each symbol.
    """

    name: ReadingName = figure("Name of the reading.")
    ranges: tuple[str, ...]
    figures: CellDisclosure
    excluded: bool = figure("Whether the microdata rule it out.", default=False, name="excluded_by_truth")
    recovered = figure_at("figures.recovered", "Number of suppressed cells recovered exactly.")
    small_cells_recovered = figure_at("figures.small", "Number of small cells recovered.")
    approximate = figure_at("figures.approximate", "Number of suppressed cells known up to a few values.")


@dataclass(frozen=True, kw_only=True)
class TableFindings:
    """Results of one table, alone and together with all tables."""

    name: str = figure("Name of the file.", name="file")
    form: str = figure("Layout of the table.")
    variables: tuple[str, ...] = figure("Variables of its rows and columns.")
    cells: int = figure("Number of cells.")
    suppressed: int = figure("Number of suppressed cells.")
    recovered: int = figure("Number of suppressed cells recovered exactly.")
    alone: int | None = figure("Number recovered from this table alone; null if not settled.", name="recovered_alone")
    small_cells_recovered: int = figure("Number of small cells recovered.")


@dataclass(frozen=True, kw_only=True)
class StepFindings:
    """Derivation of one cell: the signed terms of its sum."""

    cell: str
    count: int
    kind: str
    terms: tuple[tuple[int, str, int, bool], ...] = ()
    is_listed: bool = True


@dataclass(frozen=True, kw_only=True, eq=False)
class GridFindings:
    """A table as a grid: each cell's level (-1: none) and bounds."""

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
    """A group whose people all have the same code."""

    group: str
    variable: str
    code: str
    low: int
    high: int | None


@dataclass(frozen=True, kw_only=True)
class RankedRecord:
    """A combination of one code of every variable that may exist.

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
    """Precision of the top records, compared with a ranking by margins."""

    first: int | None = figure("Number of first-ranked records; null for as many as exist.")
    ranked: float = figure("Share of them that exist.")
    by_margins: float = figure("The same share if margins alone rank the records.")


@dataclass(frozen=True, kw_only=True)
class RecordFindings:
    """Combinations of one code of every variable, and what tables say of them together.

    ``certain`` ones are in every population that fits, ``unique`` ones of these exactly once, ``absent`` ones in none;
    of ``undecided`` ones that was not settled. The ``first`` of all are ranked by how many of ``worlds`` populations
    have them; ``precision`` is empty without the truth.
    """

    possible: int = figure("Number of possible combinations of codes.")
    certain: int = figure("Combinations that at least one record must have.")
    unique: int = figure("Combinations that exactly one record must have.")
    absent: int = figure("Combinations that no record has.")
    undecided: int = figure("Combinations that could not be settled.", name="not_settled")
    worlds: int = figure("Number of consistent populations that were built.")
    first: tuple[RankedRecord, ...] = field(default=(), repr=False)
    precision: tuple[RecordPrecision, ...] = figure(
        "Precision of the first-ranked records; empty without microdata.", default=()
    )


@dataclass(frozen=True, kw_only=True)
class RoundingFindings:
    """Number of cells recovered if all counts were rounded at random."""

    base: int = figure("Base of the rounding.")
    recovered: int = figure("Number of cells recovered after this rounding.")
    undecided: int


@dataclass(frozen=True, kw_only=True, eq=False)
class SuppressionFindings:
    """Secondary suppression, and the result of the same attack afterwards.

    Attributes
    ----------
    suppressed_before, suppressed_after, listed
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

    suppressed_before: int = figure("Number of suppressed cells before.")
    suppressed_after: int = figure("Number of suppressed cells afterwards.")
    listed: int = figure("Number of listed cells.")
    helpless: int = figure("Small cells that no secondary suppression protects.", name="unprotectable")
    short: int = figure("Small cells that keep fewer values than requested, whatever is suppressed.", name="short")
    undecided: int = figure("Cells that could not be settled.", name="not_settled")
    keep: int = figure("Number of possible values requested for each small cell.", name="values_to_keep")
    tight: int = figure("Small cells with fewer possible values afterwards.", name="small_with_fewer_values_after")
    after: CellDisclosure
    frame: "pl.DataFrame" = field(repr=False)
    recovered_after = figure_at("after.recovered", "Number of cells recovered afterwards.")
    small_cells_recovered_after = figure_at("after.small", "Number of small cells recovered afterwards.")
    approximate_after = figure_at("after.approximate", "Suppressed cells with approximate disclosure afterwards.")
    rounding: tuple[RoundingFindings, ...] = figure("Results of rounding instead.")


@dataclass(frozen=True, kw_only=True, eq=False)
class TablesFindings:
    """Disclosure of suppressed cells by published tables.

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
        "results": "Results under the worst reading.",
        "baselines": "Baselines without a solver.",
        "proven": "Evidence for the ends of intervals.",
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
    singletons: tuple[int, int, int, int] | None = None

    version = version_figure()
    minimum: int = figure("Smallest count that may be known.", name="min_cell")
    values: int = figure("Largest interval that counts as approximate disclosure, in values.", name="narrow")
    treatment: Treatment = figure("Protection of the counts.")
    tables: tuple[TableFindings, ...] = figure("One entry per table.")
    is_whole: bool = figure("Whether all intervals are exact.", name="exact")

    @derived("The worst reading: the one with the most disclosure.")
    def reading(self) -> str:
        """Name of the reading with the most disclosure."""
        return self.readings[self.worst].name

    readings: tuple[ReadingFindings, ...] = figure("One entry per reading of the symbols.")
    suppressed = figure_at("figures.suppressed", "Number of suppressed cells.", name="results.suppressed")
    recovered = figure_at(
        "figures.recovered", "Number of suppressed cells with one possible value.", name="results.recovered"
    )
    recovered_rate = figure_at(
        "figures.recovered_rate",
        "Share of suppressed cells recovered, from 0 to 1; null if none is suppressed.",
        name="results.recovered_rate",
    )
    small_cells_recovered = figure_at(
        "figures.small",
        "Small cells recovered, from 1 to minimum − 1, listed or not.",
        name="results.small_cells_recovered",
    )
    small_by_differencing = figure_at(
        "figures.small_by_differencing",
        "Small cells that no table contains and that follow by differencing.",
        name="results.small_by_differencing",
    )
    small_cells_shown: int = figure(
        "Number of small cells published as they are.", default=0, name="results.small_cells_shown"
    )
    approximate = figure_at(
        "figures.approximate",
        "Suppressed cells with two possible values or a few more (approximate disclosure).",
        name="results.approximate",
    )
    known_small = figure_at(
        "figures.known_small",
        "Suppressed cells, not recovered, known to lie from 1 to minimum − 1 although no symbol states it.",
        name="results.known_small",
    )
    single_code_groups: int = figure(
        "Number of groups whose people all have the same code.", default=0, name="results.single_code_groups"
    )
    remaining_uncertainty = figure_at(
        "figures.remaining_uncertainty",
        "Mean remaining uncertainty of suppressed cells, from 0 to 1; null without microdata.",
        name="results.remaining_uncertainty",
    )
    guessing = figure_at(
        "figures.guessing",
        "Expected number of suppressed cells that a random guess gets correct; null without microdata.",
        name="baselines.guessing",
    )
    margins: int | None = figure("Number of cells that follow from one total alone.", name="baselines.margins")
    ends = figure_at("figures.ends", "Number of interval ends: two per suppressed cell.", name="proven.ends")
    attained = figure_at("figures.proven", "Ends that a consistent population attains.", name="proven.attained")

    @derived("Cells that could not be settled within the solver steps.", name="proven.not_settled")
    def not_settled(self) -> int:
        """Number of cells not settled as recovered or not."""
        return self.figures.undecided + self.figures.unlisted_undecided

    linear: int = figure("Number of linear programs solved.", name="proven.linear_programs")
    whole: int = figure("Number of integer searches.", name="proven.searches")
    records: RecordFindings | None = figure(
        "Reconstructed records; null if not requested.", default=None, name="reconstruction"
    )
    repair: SuppressionFindings | None = figure(
        "Secondary suppression; null if not requested.", default=None, name="suppression"
    )
    has_truth: bool = figure("Whether the microdata were given.", name="truth")
    profile: str | None = figure("Published threshold in use; null if none.", default=None)

    @derived("Limitations of the result.")
    def limitations(self) -> tuple[str, ...]:
        """The questions that the answer leaves open."""
        return LIMITATIONS

    notes: tuple[str, ...] = figure(NOTES, default=())

    @property
    def figures(self) -> CellDisclosure:
        """Results of the reading with the most disclosure."""
        return self.readings[self.worst].figures

    @property
    def other(self) -> ReadingFindings | None:
        """The other reading, where there is one that the truth does not exclude."""
        others = [each for at, each in enumerate(self.readings) if at != self.worst and not each.excluded]
        return others[0] if others else None
