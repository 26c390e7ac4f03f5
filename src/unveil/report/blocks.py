"""Content of a page as data, independent of its layout.

Every report is a :class:`Page`; :mod:`unveil.report.page` turns it into HTML, :mod:`unveil.report.draw.lines` turns its
charts into matplotlib, and :mod:`unveil.report.terminal` prints its numbers and tables. None of them computes.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan
from typing import Any, Literal

import numpy as np

from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil._version import __version__
from unveil.errors import InputError
from unveil.report.blocks_spread import BoxRows, DistributionPanels, HeatMap, Triangles, Waterfalls
from unveil.report.scale import Kind

#: How a headline or a number should strike the reader; always said in words too.
Tone = Literal["good", "warning", "bad", "neutral"]
#: How a line looks: each has its own colour, its own dashes and its own marks, so that no two differ by colour alone.
Style = Literal["first", "second", "third", "fourth", "fifth", "first-reference", "second-reference"]


Side = Literal["left", "right"]
#: The levels of risk, from the lowest; "inconclusive" stands apart.
RISK_LEVELS = ("none_found", "very_low", "low", "medium", "high")
#: Whom a page is for; an internal one says so and must not be passed on.
Edition = Literal["", "internal", "shareable"]


class Count(str):
    """A number of people as text; the redacted edition bounds small ones.

    ``pattern`` is the text with ``{}`` in place of the number. Made by :func:`unveil.report.editions.people`. A text
    that is put together from one is a plain text and no longer hidden: let the pattern hold the whole sentence.
    """

    __slots__ = ("pattern", "people")
    people: int
    pattern: str

    def __new__(cls, text: str, *, people: int, pattern: str = "{}") -> "Count":
        """Return the text, plain in every edition but the redacted one."""
        made = super().__new__(cls, text)
        made.people = people
        made.pattern = pattern
        return made


class PrivateText(str):
    """Internal text such as a path, with its redacted form.

    >>> file = PrivateText("/data/people.csv", shared="people.csv")
    >>> file, file.shared
    ('/data/people.csv', 'people.csv')
    """

    __slots__ = ("shared",)
    shared: str

    def __new__(cls, text: str, *, shared: str) -> "PrivateText":
        """Return the text, plain in every edition but the redacted one."""
        made = super().__new__(cls, text)
        made.shared = shared
        return made


@dataclass(frozen=True, kw_only=True)
class Number:
    """One value with a sentence on its meaning."""

    label: str
    value: str
    meaning: str
    #: The same figure for somebody who only guesses, where that was computed, and who that is.
    reference: str = ""
    reference_of: str = "random guessing"
    tone: Tone = "neutral"


@dataclass(frozen=True, kw_only=True, eq=False)
class Series:
    """A line, row of bars, or points of a chart; NaN is a gap.

    Points belong to a chart with ``rows``: ``y`` is the number of the row from the top, ``x`` the value, ``low`` and
    ``high`` are the ends of its interval (as long as ``x``); a NaN in ``x`` leaves the row without this point. In a
    chart without ``rows`` a point stands at (x, y) beside the name of its series, or its own of ``labels``, and the
    interval is that of ``y``, as it is in a line.
    """

    name: str
    x: FloatArray
    y: FloatArray
    style: Style
    #: Bars stand on [x, x + width]; a band fills what is between `low` and `high`.
    kind: Literal["line", "bars", "points", "band"] = "line"
    width: float = 0.0
    low: FloatArray | None = None
    high: FloatArray | None = None
    #: Text next to each point in place of the name of the series; in a chart with rows, of intervals without a point.
    labels: tuple[str, ...] = ()
    #: Bars that are drawn hatched, because they stand for less than their height; none unless given.
    hatched: BoolArray | None = None


@dataclass(frozen=True, kw_only=True)
class Vector:
    """An arrow from the origin to (x, y)."""

    name: str
    x: float
    y: float
    style: Style


@dataclass(frozen=True, kw_only=True)
class Threshold:
    """A line across the chart at one value, with its name."""

    name: str
    value: float
    across: Literal["x", "y"] = "y"


@dataclass(frozen=True, kw_only=True, eq=False)
class Chart:
    """A chart: lines, arrows, thresholds, and a caption."""

    title: str
    x_label: str
    y_label: str
    series: tuple[Series, ...]
    vectors: tuple[Vector, ...] = ()
    caption: str = ""
    x_range: tuple[float, float] = (0.0, 1.0)
    y_range: tuple[float, float] = (0.0, 1.0)
    x_kind: Kind = "number"
    y_kind: Kind = "share"
    thresholds: tuple[Threshold, ...] = ()
    #: Small charts that follow one another stand side by side on a page.
    small: bool = False
    #: What the rows are called, from the top, in a chart of points; the picture is as high as they need.
    rows: tuple[str, ...] = ()
    #: What stands below the axis in place of numbers: each text with its place.
    x_names: tuple[tuple[float, str], ...] = ()
    #: Whether bars below 0 are as long as those above: the axis then has no signs.
    mirrored: bool = False
    #: What hatched bars mean.
    hatched: str = ""


def sides(letters: str) -> tuple[Side, ...]:
    """Return the alignment of columns from one letter each.

    >>> sides("lr")
    ('left', 'right')
    """
    return tuple("left" if letter == "l" else "right" for letter in letters)


@dataclass(frozen=True, kw_only=True)
class TableBlock:
    """Rows of text; a page truncates long tables visibly."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    #: One per column.
    align: tuple[Side, ...]
    note: str = ""
    #: Whether cells hold sentences of our own, which are wrapped and not shortened.
    prose: bool = False
    #: The columns that fit into 80 characters of a terminal, by position; all unless given.
    terminal_columns: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Slider:
    """A slider over fixed values, with their texts."""

    name: str
    label: str
    meaning: str
    texts: tuple[str, ...]
    start: int


@dataclass(frozen=True, kw_only=True)
class Chooser:
    """A list of choices, with their texts."""

    name: str
    label: str
    meaning: str
    texts: tuple[str, ...]
    start: int


@dataclass(frozen=True, kw_only=True)
class SliderOutput:
    """A value that the sliders change; ``value`` is its start."""

    name: str
    label: str
    value: str


@dataclass(frozen=True, kw_only=True, eq=False)
class Playground:
    """An interactive part: controls, values, chart, and precomputed data.

    Without JavaScript, and in print, the chart and the figures of the start stay visible, and what moves them does not.
    """

    sliders: tuple[Slider, ...]
    outputs: tuple[SliderOutput, ...]
    #: The sentence that a screen reader reads out after each change; at the start, for these settings.
    sentence: str
    chart: Chart
    data: Mapping[str, Any]
    #: The name of the script among the assets, without its ending.
    script: str
    note: str = ""
    choosers: tuple[Chooser, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Box:
    """One question with its value, or the reason for none."""

    title: str
    question: str
    #: The figure, with its interval; empty where nothing was tested.
    value: str
    #: What the figure must be read beside, or why nothing was tested.
    beside: str
    tone: Tone = "neutral"
    tested: bool = True


@dataclass(frozen=True, kw_only=True)
class Boxes:
    """Questions of the same weight, side by side."""

    boxes: tuple[Box, ...]


@dataclass(frozen=True, kw_only=True, eq=False)
class Rings:
    """Marks on rings around a center, by size and color.

    ``level`` is the number of each mark's level. Levels go from the most to the least striking, and the last one is of
    things of which nothing is known; ``levels`` are their names in the legend. ``struck`` says which marks bear a
    point in their middle, and ``struck_name`` what that means.
    """

    title: str
    caption: str
    #: What a screen reader says in place of the picture.
    description: str
    level: IntArray
    levels: tuple[str, ...]
    struck: BoolArray
    struck_name: str


# A table as a picture: each cell with its text, told apart by how much is known of it.

#: What a cell is, in the order of the legend: each level has its own fill, its own pattern or its own mark.
LEVELS = 4
#: Cells that a table does not have.
NO_CELL = -1


@dataclass(frozen=True, kw_only=True, eq=False)
class CellGrid:
    """Cells of a map, each on a level from 0 to 3.

    ``texts`` is what stands in each cell, as short as it can be, and ``tips`` what is said of it when it is pointed at.
    ``levels`` are the names of the levels in the legend.
    """

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    level: IntArray
    texts: tuple[tuple[str, ...], ...]
    tips: tuple[tuple[str, ...], ...]
    levels: tuple[str, ...]
    #: What the rows and the columns are, such as "ward" and "age".
    row_label: str = ""
    column_label: str = ""
    caption: str = ""
    #: The colours: of cells of a table of counts, or of the levels of risk and "inconclusive".
    palette: Literal["count", "risk"] = "count"
    #: What a sign in the texts means.
    note: str = ""

    def __post_init__(self) -> None:
        shape = (len(self.rows), len(self.columns))
        number = LEVELS if self.palette == "count" else len(RISK_LEVELS) + 1
        if self.level.shape != shape or len(self.levels) != number:
            raise InputError(
                f"a grid of {shape[0]} rows and {shape[1]} columns must have a level for each cell and {number} names "
                f"of levels, but has {self.level.shape} and {len(self.levels)}. Pass as many"
            )


def grid_table(grid: CellGrid) -> "TableBlock":
    """Return the cells as a table of text.

    A cell of a striking level bears its sign: ! for the most striking, ~ for the one before it.

    >>> import numpy as np
    >>> grid = CellGrid(title="T", rows=("r",), columns=("a", "b"), level=np.array([[0, 3]]), texts=(("5", "3"),),
    ...                 tips=(("", ""),), levels=("shown", "kept", "narrow", "worked out"))
    >>> grid_table(grid).rows
    (('r', '5', '3 !'),)
    """
    right: Side = "right"
    signs = {2: " ~", 3: " !"} if grid.palette == "count" else {}
    rows = tuple(
        (name, *(f"{text}{signs.get(int(level), '')}" for text, level in zip(texts, levels, strict=True)))
        for name, texts, levels in zip(grid.rows, grid.texts, grid.level, strict=True)
    )
    return TableBlock(
        caption=grid.title,
        columns=(grid.row_label, *grid.columns),
        rows=rows,
        align=("left", *((right,) * len(grid.columns))),
        note=f"! {grid.levels[3]}; ~ {grid.levels[2]}" if signs else grid.note,
    )


@dataclass(frozen=True, kw_only=True)
class RiskChartRow:
    """One risk of the first screen: rates, excess, and limits."""

    risk: str
    #: The worst attack, or why nothing was tested.
    attack: str
    success: float = nan
    baseline: float = nan
    #: "control", "chance", "theoretical" or "original".
    baseline_kind: str = "control"
    excess: float = nan
    low: float = nan
    high: float = nan
    #: The cells of the table: attack success, baseline, excess with limits, adjusted p, level.
    cells: tuple[str, str, str, str, str]
    significant: bool = False
    tested: bool = True
    #: One of `RISK_LEVELS`, "inconclusive", or nothing where no level is given.
    level: str = ""

    def __post_init__(self) -> None:
        if self.level not in ("", "inconclusive", *RISK_LEVELS):
            raise InputError(f"a level must be one of {RISK_LEVELS} or 'inconclusive', but is {self.level!r}. Name one")


@dataclass(frozen=True, kw_only=True)
class RiskSummary:
    """Main chart and summary table of an audit, row by row."""

    title: str
    rows: tuple[RiskChartRow, ...]
    #: The largest acceptable excess, where one is set.
    threshold: float | None = None
    caption: str = ""
    note: str = ""
    #: What is below the rows: individuals at risk, with their level.
    individuals: tuple[str, str] | None = None


def risk_table(summary: RiskSummary) -> TableBlock:
    """Return the rows of a risk summary as a table of text."""
    rows = [(f"{row.risk}: {row.attack}" if row.attack else row.risk, *row.cells) for row in summary.rows]
    if summary.individuals is not None:
        rows.append((f"Individuals: {summary.individuals[0]}", "", "", "", "", summary.individuals[1]))
    return TableBlock(
        caption=summary.title,
        columns=("Risk", "Attack success", "Baseline", "Excess (points)", "Adjusted p", "Level"),
        rows=tuple(rows),
        align=("left", "right", "right", "right", "right", "left"),
        note=summary.note,
        # The sub-line has the adjusted p of the worst attack.
        terminal_columns=(0, 1, 2, 3, 5),
    )


def risk_chart(summary: RiskSummary) -> Chart | None:
    """Return the excess of each risk as a chart, or None."""
    excess, low, high = (np.array([getattr(row, end) for row in summary.rows]) for end in ("excess", "low", "high"))
    if np.isnan(excess).all():
        return None
    return Chart(
        title="Excess risk",
        x_label="excess risk",
        y_label="",
        x_kind="share",
        x_range=(-0.1, 1.0),
        series=(
            Series(
                name="excess risk",
                x=excess,
                y=np.arange(excess.size, dtype=np.float64),
                style="first",
                kind="points",
                low=low,
                high=high,
            ),
        ),
        rows=tuple(row.risk for row in summary.rows),
        caption=summary.caption,
        thresholds=()
        if summary.threshold is None
        else (Threshold(name="threshold", value=summary.threshold, across="x"),),
    )


Block = (
    RiskSummary
    | Number
    | Chart
    | TableBlock
    | Playground
    | Boxes
    | Rings
    | BoxRows
    | HeatMap
    | CellGrid
    | DistributionPanels
    | Triangles
    | Waterfalls
)


@dataclass(frozen=True, kw_only=True)
class Sheet:
    """Content of a sign-off sheet; see :mod:`unveil.report.sign_off`."""

    title: str
    #: What the sheet is and is not; the sentence above the signature.
    statement: str
    boxes: Boxes
    #: Whether a threshold was set, and the utility.
    facts: tuple[str, ...]
    #: What is written by hand.
    signatures: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class LevelStrip:
    """The risk level on its scale, with the decision."""

    #: One of `RISK_LEVELS`, "inconclusive", or nothing where a question has no level.
    level: str = ""
    #: Whether the level is a lower bound.
    at_least: bool = False
    #: "pass", "fail", "inconclusive", or "none" where no threshold is set.
    decision: str = "none"
    #: What the decision was made by, such as "threshold 9% (EMA)".
    threshold: str = ""
    #: Each limit with its outcome, where limits on single figures were set.
    limits: TableBlock | None = None


class NextStep(str):
    """A next step, with its command-line option for terminals."""

    __slots__ = ("option",)
    option: str

    def __new__(cls, text: str, *, option: str = "") -> "NextStep":
        """Return the step as a text with its option."""
        made = super().__new__(cls, text)
        made.option = option
        return made


@dataclass(frozen=True, kw_only=True, eq=False)
class Section:
    """A part of a page: heading, result sentence, blocks, and data."""

    heading: str
    lead: str
    blocks: tuple[Block, ...]
    #: The question that the section answers, as a subtitle.
    question: str = ""
    #: What is shown on demand.
    data: tuple[Block, ...] = ()
    #: Whether it is unfolded when the page is opened; on paper all are.
    is_open: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Page:
    """A whole report: first screen, sections, methods and limitations.

    The first screen holds the level, the headline, the few sentences that explain it, one picture and the next steps.
    """

    title: str
    question: str
    headline: str
    tone: Tone
    sections: tuple[Section, ...]
    #: A few sentences right below the headline.
    explanation: tuple[str, ...] = ()
    #: What to do next, one sentence each.
    next_steps: tuple[str, ...] = ()
    #: What answers the question at a glance, on the first screen; mostly one block.
    picture: tuple[Block, ...] = ()
    #: The level and the decision, where the question has any.
    strip: LevelStrip | None = None
    #: One line below the next steps: files, number of people, date.
    facts: tuple[str, ...] = ()
    #: The command that gives the same answer.
    command: str = ""
    #: The last section, one sentence each: how the figures were computed, and what they do not cover.
    method: tuple[str, ...] = ()
    limitations: tuple[str, ...] = ()
    method_data: tuple[Block, ...] = ()
    #: What the reader must know about the input (rows left out, and the like).
    notes: tuple[str, ...] = ()
    #: What stands above the headline, because the figures would be misread without it.
    cautions: tuple[str, ...] = ()
    seed: int | None = None
    version: str = __version__
    #: Whether rows of the data are on the page, which must then not be shared.
    holds_records: bool = False
    edition: Edition = ""
    #: The sheet to sign, which is a file of its own.
    sheet: Sheet | None = None

    @property
    def lists(self) -> "tuple[tuple[str, tuple[str, ...]], ...]":
        """The nonempty lists of the last section, with titles."""
        lists = ("Methods", self.method), ("Limitations", self.limitations), ("Notes on the input", self.notes)
        return tuple((title, sentences) for title, sentences in lists if sentences)

    @property
    def blocks(self) -> tuple[Block, ...]:
        """All blocks in the order of the page."""
        sections = (block for each in self.sections for block in (*each.blocks, *each.data))
        limits = () if self.strip is None or self.strip.limits is None else (self.strip.limits,)
        return (*self.picture, *limits, *sections, *self.method_data)
