"""Rows compared one by one, in exact fractions of the columns' ranges; small tables to compare."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

import polars as pl
from hypothesis import strategies as st

from unveil.data.table import Table

Row = tuple[Any, ...]
Rows = list[Row]

COLUMNS = {"age": pl.Int64, "height": pl.Float64, "town": pl.String}
KINDS = {"age": "number", "height": "number", "town": "category"}


def table(rows: Rows, name: str = "table") -> Table:
    """Return the rows as a table of ages (whole numbers), heights (in tenths) and towns."""
    frame = pl.DataFrame(rows, schema=COLUMNS, orient="row")
    return Table.from_frame(frame, name=name, kinds=KINDS, roles=dict.fromkeys(COLUMNS, "known"))


rows_of_people = st.lists(
    st.tuples(
        st.one_of(st.none(), st.integers(20, 26)),
        st.one_of(st.none(), st.sampled_from([1.5, 1.6, 1.7, 1.9])),
        st.one_of(st.none(), st.sampled_from(["Ulm", "Bonn", "Köln"])),
    ),
    min_size=1,
    max_size=7,
)


@dataclass(frozen=True)
class Distance:
    """The distance of two rows in columns; a number counts as a share of its range in the original and the release."""

    original: Rows
    released: Rows

    def span(self, place: int) -> Fraction:
        values = [exact(row[place]) for row in self.original + self.released if row[place] is not None]
        return max(values) - min(values) if values else Fraction(0)

    def __call__(self, one: Row, other: Row) -> Fraction:
        return sum((self.of_column(place, one[place], other[place]) for place in range(len(one))), Fraction(0))

    def of_column(self, place: int, x: Any, y: Any) -> Fraction:
        if x is None or y is None or isinstance(x, str):
            return Fraction(x != y)
        span = self.span(place)
        if span == 0:
            return Fraction(0)
        return abs(exact(x) - exact(y)) / span


def exact(number: float) -> Fraction:
    """Return a number as it is written."""
    return Fraction(str(number))


def nearest(distances: Sequence[Fraction], k: int) -> set[int]:
    """Return the k nearest rows and all that are as near as the last of them."""
    edge = sorted(distances)[min(k, len(distances)) - 1]
    return {row for row, distance in enumerate(distances) if distance <= edge}


def chance(distances: Sequence[Fraction], row: int, k: int) -> Fraction:
    """Return the share of the ways to break ties in which the row is among the k nearest: all of them are tried."""
    k = min(k, len(distances))
    edge = sorted(distances)[k - 1]
    sure = [i for i, distance in enumerate(distances) if distance < edge]
    tied = [i for i, distance in enumerate(distances) if distance == edge]
    ways = [{*sure, *some} for some in combinations(tied, k - len(sure))]
    return Fraction(sum(row in way for way in ways), len(ways))


def quantile(values: Sequence[Fraction], share: Fraction) -> Fraction:
    """Return the value below which this share of the sorted values lies, on the line between the two nearest."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    below, above = ordered[int(place)], ordered[min(int(place) + 1, len(ordered) - 1)]
    return below + (place - int(place)) * (above - below)
