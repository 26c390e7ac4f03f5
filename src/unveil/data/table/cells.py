"""A released cell is a set of original values: one, an interval, some categories, all, or none.

Whoever has a value is compatible with a cell if the value is in its set, and with a row if with all of its cells. That
is what the publisher of a masked table promises: the true value is inside.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl

__all__ = ["ABSENT", "NOBODY", "SHOWN", "SUPPRESSED", "Cells", "Ranges", "Sets", "texts_of"]

Codes = NDArray[np.int32]
Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Truths = NDArray[np.bool_]

#: What a cell says: some values, that it could be any, what no original value is, or that the value is missing.
SHOWN, SUPPRESSED, NOBODY, ABSENT = range(4)


@dataclass(frozen=True, eq=False, repr=False)
class Ranges:
    """The different cells of a column with an order: from the least to the greatest value that each holds.

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
    low_out: Truths
    high_out: Truths
    first: Integers
    last: Integers

    @cached_property
    def single(self) -> Truths:
        """Which cells hold one value."""
        return np.asarray((self.low == self.high).fill_null(False).to_numpy(), bool) & ~self.low_out & ~self.high_out


@dataclass(frozen=True, eq=False, repr=False)
class Sets:
    """The different cells of a column without an order: cell c holds the places ``member[start[c] : start[c + 1]]``."""

    start: Integers
    member: Codes

    @cached_property
    def single(self) -> Truths:
        """Which cells hold one value."""
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
    note
        How the column was read where its cells do not say so themselves, else empty.
    """

    of_row: Codes
    state: NDArray[np.uint8]
    holds: Ranges | Sets
    values: "pl.Series"
    share: Floats
    note: str = ""

    @property
    def ranges(self) -> Ranges:
        """What the cells of a column with an order hold."""
        return cast("Ranges", self.holds)

    @property
    def sets(self) -> Sets:
        """What the cells of a column without an order hold."""
        return cast("Sets", self.holds)

    @cached_property
    def single(self) -> Truths:
        """Which cells stand for one value, a missing one, or (without an order) a word that nobody has."""
        import polars as pl

        shown = (self.state == SHOWN) & self.holds.single
        alone = (self.state == ABSENT) | ((self.state == NOBODY) & (self.values.dtype == pl.String))
        return np.asarray(shown | alone)

    @cached_property
    def open_share(self) -> float:
        """The share of rows whose cell does not stand for one value."""
        return float(np.mean(~self.single[self.of_row]))

    @property
    def coarse(self) -> bool:
        """Whether some row's cell does not stand for one value."""
        return self.open_share > 0

    def take(self, rows: Integers) -> "Cells":
        """Return the cells of the rows at these positions."""
        return replace(self, of_row=self.of_row[rows])

    def places(self, people: "pl.Series") -> Integers:
        """Return the place of each person's value among the values; -1 if it is missing, -2 if it is not there."""
        import polars as pl

        where = pl.DataFrame({"value": self.values}).with_row_index("place")
        found = people.alias("value").to_frame().join(where, on="value", how="left", maintain_order="left")["place"]
        place = found.cast(pl.Int64).fill_null(-2).to_numpy()
        return np.where(people.is_null().to_numpy(), -1, place)

    def narrowest(self) -> Integers:
        """Return for each of the values the cell that holds it and the fewest people, -1 where none does.

        Where several have as few it is the first; cells that could be any value are left out.
        """
        found = np.full(len(self.values) + 1, -1, np.int64)
        shown = np.flatnonzero(self.state == SHOWN)
        # From the widest on, so that narrower ones replace it.
        for cell in shown[np.lexsort((-shown, -self.share[shown]))].tolist():
            if isinstance(self.holds, Ranges):
                found[self.holds.first[cell] : self.holds.last[cell] + 1] = cell
            else:
                found[self.holds.member[self.holds.start[cell] : self.holds.start[cell + 1]]] = cell
        return found[:-1]

    def compatible(self, places: Integers) -> Truths:
        """Return whether each person (a line, by the place of the value) is compatible with each cell (a column).

        All are with a suppressed cell, and only those without a value with one that is missing.
        """
        inside = np.zeros((places.size, self.state.size), bool)
        if isinstance(self.holds, Ranges):
            inside |= (places[:, None] >= np.maximum(self.holds.first, 0)) & (places[:, None] <= self.holds.last)
        else:
            cell = np.repeat(np.arange(self.state.size), np.diff(self.holds.start))
            lookup = np.zeros((len(self.values) + 2, self.state.size), bool)
            lookup[self.holds.member, cell] = True
            inside |= lookup[places]
        inside &= (self.state == SHOWN) & (places >= 0)[:, None]
        return np.asarray(inside | (self.state == SUPPRESSED) | ((self.state == ABSENT) & (places == -1)[:, None]))


def texts_of(values: "pl.Series") -> "pl.Series":
    """Return values as they are written: whole numbers without decimals, days without a time of day."""
    import polars as pl

    if values.dtype == pl.Datetime:
        days = values.dt.truncate("1d") == values
        return values.dt.strftime("%Y-%m-%d") if days.all() else values.dt.strftime("%Y-%m-%d %H:%M:%S%.f")
    text = values.cast(pl.String)
    return text.str.replace(r"\.0$", "") if values.dtype == pl.Float64 else text
