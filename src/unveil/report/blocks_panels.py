"""Two blocks of a page that consist of several small charts: distributions of columns, and triangles of pairs."""

from dataclasses import dataclass

from unveil._kernels.types import FloatArray
from unveil.errors import InputError

#: Columns of triangles up to which each cell shows its number.
MOST_NUMBERED = 10


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
    """Distributions of columns side by side: the first table as an outline, the second one filled."""

    title: str
    panels: tuple[DistributionPanel, ...]
    #: What the two tables are called.
    names: tuple[str, str]
    caption: str = ""
    #: What hatched bars mean.
    hatched: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class Triangle:
    """A value for each pair of columns: those below the diagonal of a square; NaN is undefined."""

    name: str
    values: FloatArray
    #: Colours reach from -limit to limit.
    limit: float = 1.0


@dataclass(frozen=True, kw_only=True, eq=False)
class Triangles:
    """Values of pairs of columns in several triangles side by side, in colours that part at 0."""

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
