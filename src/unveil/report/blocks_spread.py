"""Blocks of a page: box plots, heat maps, distributions, triangles."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike

from unveil._kernels.types import FloatArray
from unveil.errors import InputError
from unveil.report.scale import Kind

if TYPE_CHECKING:
    from unveil.report.blocks import Threshold

#: The most values beyond the whiskers that one box keeps, the extremes among them.
MOST_BEYOND = 40
#: The most series that stand side by side in a row: one for each mark that can be told apart.
MOST_SERIES = 5


@dataclass(frozen=True, kw_only=True)
class BoxStatistics:
    """Statistics of a box plot; NaN without values."""

    #: The ends of the whiskers: the outermost values within 1.5 times the length of the box.
    low: float
    lower: float
    median: float
    upper: float
    high: float
    mean: float
    #: How many values there are, and how many more were undefined and left out.
    number: int
    undefined: int = 0
    #: Distinct values beyond the whiskers, in order; some of them where there are many.
    beyond: tuple[float, ...] = ()
    #: Where the mean lies with 95 % confidence, if somebody computed it.
    interval: tuple[float, float] | None = None

    @property
    def extremes(self) -> tuple[float, float]:
        """The smallest and the largest value."""
        return min((self.low, *self.beyond)), max((self.high, *self.beyond))


@dataclass(frozen=True, kw_only=True)
class BoxRow:
    """Row of box plots: a name and one box per series."""

    name: str
    #: One per series of the block; None where the row has none.
    boxes: tuple[BoxStatistics | None, ...]
    #: A row that is set apart; the block's ``bold_meaning`` says why.
    bold: bool = False
    #: A few words below the name.
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class BoxRows:
    """Box plots in rows, from the top: rankings, levels, or paired measures."""

    title: str
    #: What the values along the axis are.
    x_label: str
    rows: tuple[BoxRow, ...]
    #: What the rows are, and what was counted in each box, as heads of columns.
    row_label: str = ""
    number_label: str = "Values"
    #: The names of the boxes of a row, from the top; one empty name where each row has one box.
    series: tuple[str, ...] = ("",)
    caption: str = ""
    x_range: tuple[float, float] = (0.0, 1.0)
    x_kind: Kind = "number"
    #: Lines across all rows; ``across`` is not looked at.
    thresholds: "tuple[Threshold, ...]" = ()
    #: Which way values must go to mean more private, said above the boxes with an arrow.
    more_private: Literal["", "left", "right"] = ""
    bold_meaning: str = ""
    #: Small ones that follow one another stand side by side on a page.
    small: bool = False

    def __post_init__(self) -> None:
        if not 1 <= len(self.series) <= MOST_SERIES:
            raise InputError(
                f"rows of boxes must have 1 to {MOST_SERIES} series, but have {len(self.series)}. Draw several charts"
            )
        for row in self.rows:
            if len(row.boxes) != len(self.series):
                raise InputError(
                    f"each row must have one box per series, which is {len(self.series)}, but the row {row.name!r} has "
                    f"{len(row.boxes)}. Pass None where there is none"
                )


@dataclass(frozen=True, kw_only=True, eq=False)
class HeatMap:
    """Values by row and column in ten steps; NaN is hatched.

    A column is named by one or more texts, the outermost first, such as ``("NS", "k-degree", "mail")``. Columns beside
    each other that begin with the same texts stand under one head, so sort them. Up to 12 columns also show numbers.
    """

    title: str
    rows: tuple[str, ...]
    columns: tuple[tuple[str, ...], ...]
    #: One per row and column, between ``low`` and ``high``.
    values: FloatArray
    #: What the texts of a column are, the outermost first, such as ``("attack", "protection", "data set")``.
    levels: tuple[str, ...]
    #: What is shown, as the head of the legend.
    value_label: str
    caption: str = ""
    low: float = 0.0
    high: float = 1.0
    #: Which rows are set apart, one per row, and what that means; none unless given.
    bold: tuple[bool, ...] = ()
    bold_meaning: str = ""
    undefined: str = "undefined"

    def __post_init__(self) -> None:
        if self.values.shape != (len(self.rows), len(self.columns)):
            raise InputError(
                f"a heat map of {len(self.rows)} rows and {len(self.columns)} columns must have one value for each, "
                f"but the shape of its values is {self.values.shape}. Pass an array of that shape"
            )
        if not self.levels or any(len(column) != len(self.levels) for column in self.columns):
            raise InputError(
                f"each column of a heat map must have one name per level, which is {len(self.levels)}. Name each "
                "column by as many texts as there are levels"
            )
        if self.bold and len(self.bold) != len(self.rows):
            raise InputError(
                f"a heat map must say for each of its {len(self.rows)} rows whether it is bold, but says it for "
                f"{len(self.bold)}. Pass one for each, or none"
            )


def spread_of(values: ArrayLike, *, interval: tuple[float, float] | None = None) -> BoxStatistics:
    """Return the spread of the finite values, and the number left out.

    Quartiles lie between neighbouring values where they must (as numpy's default does). A whisker ends at the last
    value that is no farther from the box than 1.5 times its length.

    >>> found = spread_of([1, 2, 3, 4, 30])
    >>> found.lower, found.median, found.upper, found.mean, found.high, found.beyond
    (2.0, 3.0, 4.0, 8.0, 4.0, (30.0,))
    >>> spread_of([float("nan")]).number
    0
    """
    given = np.asarray(values, np.float64).ravel()
    there = given[np.isfinite(given)]
    undefined = int(given.size - there.size)
    if there.size == 0:
        nan = float("nan")
        return BoxStatistics(
            low=nan, lower=nan, median=nan, upper=nan, high=nan, mean=nan, number=0, undefined=undefined
        )
    lower, median, upper = np.quantile(there, (0.25, 0.5, 0.75)).tolist()
    reach = 1.5 * (upper - lower)
    inside = there[(there >= lower - reach) & (there <= upper + reach)]
    beyond = np.unique(there[(there < inside.min()) | (there > inside.max())])
    if beyond.size > MOST_BEYOND:
        beyond = beyond[np.linspace(0, beyond.size - 1, MOST_BEYOND).round().astype(np.int64)]
    return BoxStatistics(
        low=float(inside.min()),
        lower=lower,
        median=median,
        upper=upper,
        high=float(inside.max()),
        mean=float(there.mean()),
        number=int(there.size),
        undefined=undefined,
        beyond=tuple(beyond.tolist()),
        interval=interval,
    )


def box_of(name: str, *values: ArrayLike | BoxStatistics | None, bold: bool = False, note: str = "") -> BoxRow:
    """Return a row of boxes, one per set of values.

    >>> box_of("entropy", [0.4, 0.5, 0.6], None, bold=True).boxes[0].median
    0.5
    """
    boxes = tuple(each if each is None or isinstance(each, BoxStatistics) else spread_of(each) for each in values)
    return BoxRow(name=name, boxes=boxes, bold=bold, note=note)


# Several small charts in one block: distributions of columns, and triangles of pairs.

#: Columns of triangles up to which each cell shows its number.
MOST_NUMBERED_COLUMNS = 10


@dataclass(frozen=True, kw_only=True)
class DistributionPanel:
    """The distribution of one column in two tables, as shares of records."""

    name: str
    #: How far the two are apart, such as "KS 0.12".
    distance: str
    first: tuple[float, ...]
    second: tuple[float, ...]
    #: Shares that stand for less than they show, one for each bar.
    first_hatched: tuple[bool, ...]
    second_hatched: tuple[bool, ...]
    #: The categories, one for each bar; without them the bars are the bins of a number.
    categories: tuple[str, ...] = ()
    #: The ends of the axis of a number.
    ends: tuple[str, str] = ("", "")

    def __post_init__(self) -> None:
        sizes = {len(each) for each in (self.first, self.second, self.first_hatched, self.second_hatched)}
        if len(sizes) != 1 or (self.categories and len(self.categories) not in sizes):
            raise InputError(
                f"a panel must have as many bars of each table, but {self.name!r} has {sorted(sizes)}. Pass as many"
            )


@dataclass(frozen=True, kw_only=True)
class DistributionPanels:
    """Column distributions: original as outline, release filled."""

    title: str
    panels: tuple[DistributionPanel, ...]
    #: What the two tables are called.
    names: tuple[str, str]
    caption: str = ""
    #: What hatched bars mean.
    hatched: str = ""


@dataclass(frozen=True, kw_only=True)
class Waterfall:
    """How one record reaches its total: steps that add up."""

    name: str
    steps: tuple[tuple[str, float], ...]


@dataclass(frozen=True, kw_only=True)
class Waterfalls:
    """A waterfall per record, one unfolded at a time, on one axis."""

    title: str
    items: tuple[Waterfall, ...]
    #: The axis, with its unit.
    x_label: str
    caption: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class Triangle:
    """A value for each pair of columns; NaN is undefined."""

    name: str
    values: FloatArray
    #: Colours reach from -limit to limit.
    limit: float = 1.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Triangles:
    """Values of pairs of columns, as triangles with diverging colors."""

    title: str
    columns: tuple[str, ...]
    triangles: tuple[Triangle, ...]
    caption: str = ""

    def __post_init__(self) -> None:
        number = len(self.columns)
        for each in self.triangles:
            if each.values.shape != (number, number):
                raise InputError(
                    f"a triangle of {number} columns must have a square of as many values, but its shape is "
                    f"{each.values.shape}. Pass an array of that shape"
                )
