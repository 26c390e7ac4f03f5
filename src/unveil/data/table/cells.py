"""Released cells as sets of original values: one, interval, several, or all.

Whoever has a value is compatible with a cell if the value is in its set, and with a row if with all of its cells. That
is what the publisher of a masked table promises: the true value is inside.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.types import BoolArray, FloatArray, Int32Array, IntArray
from unveil.data.table.forms import text_of
from unveil.data.table.markers import Marker

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "ABSENT",
    "NOBODY",
    "SHOWN",
    "SUPPRESSED",
    "Cells",
    "CodeColumn",
    "OrderedCells",
    "UnorderedCells",
    "texts_of",
]


#: What a cell says: some values, that it could be any, what no original value is, or that the value is missing.
SHOWN, SUPPRESSED, NOBODY, ABSENT = range(4)


class CodeColumn(NamedTuple):
    """Code column: values, and the marker of each cell without one."""

    values: "pl.Series"
    marked: "pl.Series | None" = None
    markers: tuple[Marker, ...] = ()

    def texts(self) -> "pl.Series":
        """Return the cells as texts, with markers for missing values."""
        import polars as pl

        texts = texts_of(self.values)
        if self.marked is None or not texts.null_count():
            return texts
        markers = pl.Series([None, *(marker.text for marker in self.markers)], dtype=pl.String)
        held = markers.gather(self.marked.cast(pl.UInt32))
        return texts.zip_with(texts.is_not_null(), held).alias(texts.name)

    def gaps(self) -> dict[int, int]:
        """Return how many cells without a value hold each marker, 0 being none."""
        gone = self.values.is_null()
        if self.marked is None or not gone.any():
            return {0: int(gone.sum())} if gone.any() else {}
        return dict(sorted(self.marked.filter(gone).value_counts().iter_rows()))

    def hides(self, marker: int) -> bool:
        """Return whether a marker says that the value is not shown."""
        return marker > 0 and self.markers[marker - 1].kind_of_marker == "suppressed"

    def misses(self, marker: int) -> bool:
        """Return whether a marker or empty cell means missing."""
        return marker == 0 or self.markers[marker - 1].kind_of_marker == "missing"

    def key(self, marker: int) -> str:
        """Return the key of a marker across tables, or None."""
        return self.markers[marker - 1].key if marker else ""


@dataclass(frozen=True, eq=False, repr=False)
class OrderedCells:
    """Distinct cells of an ordered column: smallest and largest value.

    Attributes
    ----------
    low, high
        The ends as numbers (a date in microseconds, a level by its place), null where there is none.
    low_out, high_out
        Whether the end itself is left out, which happens with real numbers only: all others have a last one inside.
    first, last
        The places of the people's values from ``low`` to ``high``; the last is below the first where nobody has one.
    """

    low: "pl.Series"
    high: "pl.Series"
    low_out: BoolArray
    high_out: BoolArray
    first: IntArray
    last: IntArray

    @cached_property
    def single(self) -> BoolArray:
        """Mask of single-valued cells."""
        return np.asarray((self.low == self.high).fill_null(False).to_numpy(), bool) & ~self.low_out & ~self.high_out


@dataclass(frozen=True, eq=False, repr=False)
class UnorderedCells:
    """Unordered cells: cell c holds ``member[start[c] : start[c + 1]]``."""

    start: IntArray
    member: Int32Array

    @cached_property
    def single(self) -> BoolArray:
        """Mask of single-valued cells."""
        return np.asarray(np.diff(self.start) == 1)


@dataclass(frozen=True, eq=False, repr=False)
class Cells:
    """The cells of one released column, each different set of values once.

    Attributes
    ----------
    of_row
        The number of each row's cell; cells are numbered by what they hold, so that equal ones have equal numbers
        however they were written.
    state
        What each cell says: `SHOWN`, `SUPPRESSED`, `NOBODY` or `ABSENT`.
    holds
        Which values the cells hold that show some.
    values
        The different values that people have, ascending; places count in it.
    share
        The share of people inside each cell, P(cell): at least half a person. A row of cells weighs the product of
        ``1 / share``: the fewer people it could be, the likelier it is this one.
    marker
        What the marker that a cell without a value holds has in common with the same one of people; nothing for none.
    markers
        The different markers of cells and of people, ascending.
    """

    of_row: Int32Array
    state: NDArray[np.uint8]
    holds: OrderedCells | UnorderedCells
    values: "pl.Series"
    share: FloatArray
    marker: tuple[str, ...]
    markers: tuple[str, ...]

    @property
    def ranges(self) -> OrderedCells:
        """Cell intervals of an ordered column."""
        return cast("OrderedCells", self.holds)

    @property
    def sets(self) -> UnorderedCells:
        """Cell value sets of an unordered column."""
        return cast("UnorderedCells", self.holds)

    @cached_property
    def single(self) -> BoolArray:
        """Mask of cells with one value, including missing and unknown words."""
        import polars as pl

        alone = (self.state == ABSENT) | ((self.state == NOBODY) & (self.values.dtype == pl.String))
        return np.asarray(alone | ((self.state == SHOWN) & self.holds.single))

    @property
    def gap(self) -> IntArray:
        """Return the position of missing values; meaningful for such cells only."""
        return np.array([self.markers.index(key) - 2 - len(self.markers) if key else -1 for key in self.marker])

    @cached_property
    def open_share(self) -> float:
        """Return the share of rows whose cell has several values."""
        return float(np.mean(~self.single[self.of_row]))

    @cached_property
    def coarse(self) -> bool:
        """True if any row's cell has several values."""
        several = (self.state == SUPPRESSED) | ((self.state == SHOWN) & ~self.holds.single)
        return bool(several[self.of_row].any())

    def take(self, rows: IntArray) -> "Cells":
        """Return the cells of the rows at these positions."""
        return replace(self, of_row=self.of_row[rows])

    def places(self, people: CodeColumn) -> IntArray:
        """Return the place of each person's value among the values.

        -1 if it is missing, -2 if it is not there, and a number below for each of the markers.
        """
        import polars as pl

        values, own = self.values, people.values
        # Decimals elsewhere in the column, such as in a control, make all values decimal but not the people's own.
        if values.dtype != own.dtype and values.dtype.is_numeric() and own.dtype.is_numeric():
            values, own = values.cast(pl.Float64), own.cast(pl.Float64)
        where = pl.DataFrame({"value": values}).with_row_index("place")
        rows = own.alias("value").to_frame()
        found = rows.join(where, on="value", how="left", maintain_order="left")["place"]
        place = found.cast(pl.Int64).fill_null(-2).to_numpy()
        gone = people.values.is_null().to_numpy()
        if people.marked is None:
            return np.where(gone, -1, place)
        known = {"": -1} | {key: at - 2 - len(self.markers) for at, key in enumerate(self.markers)}
        gaps = np.array([known.get(people.key(number), -2) for number in range(len(people.markers) + 1)])
        return np.where(gone, gaps[people.marked.to_numpy()], place)

    def narrowest(self) -> IntArray:
        """Return the cell with the fewest people for each value, -1 without.

        Where several have as few it is the first; cells that could be any value are left out.
        """
        found = np.full(len(self.values) + 1, -1, np.int64)
        shown = np.flatnonzero(self.state == SHOWN)
        # From the widest on, so that narrower ones replace it.
        for cell in shown[np.lexsort((-shown, -self.share[shown]))].tolist():
            if isinstance(self.holds, OrderedCells):
                found[self.holds.first[cell] : self.holds.last[cell] + 1] = cell
            else:
                found[self.holds.member[self.holds.start[cell] : self.holds.start[cell + 1]]] = cell
        return found[:-1]

    def compatible(self, places: IntArray) -> BoolArray:
        """Return the compatibility of people (rows) with cells (columns).

        All are with a suppressed cell, and only those without a value for the same reason with one that is missing.
        """
        inside = np.zeros((places.size, self.state.size), bool)
        if isinstance(self.holds, OrderedCells):
            inside |= (places[:, None] >= np.maximum(self.holds.first, 0)) & (places[:, None] <= self.holds.last)
        else:
            cell = np.repeat(np.arange(self.state.size), np.diff(self.holds.start))
            lookup = np.zeros((len(self.values) + 2, self.state.size), bool)
            lookup[self.holds.member, cell] = True
            inside |= lookup[np.maximum(places, -1)]
        inside &= (self.state == SHOWN) & (places >= 0)[:, None]
        return np.asarray(
            inside | (self.state == SUPPRESSED) | ((self.state == ABSENT) & (places[:, None] == self.gap))
        )


def texts_of(values: "pl.Series") -> "pl.Series":
    """Return values as text: plain integers, dates without time."""
    import polars as pl

    if values.dtype == pl.Datetime:
        days = values.dt.truncate("1d") == values
        return values.dt.strftime("%Y-%m-%d") if days.all() else values.dt.strftime("%Y-%m-%d %H:%M:%S%.f")
    return text_of(values)
