"""The distance of two rows by its definition, in fractions of raw Python cells: nothing is put on a grid here."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

NUMBERS = ("number", "ordered", "date")
Row = Sequence[Any]


def exact(cell: Any) -> Fraction:
    """Return a number as it is written, and a date or moment in microseconds since 1970 in UTC."""
    if isinstance(cell, datetime):
        zoned = cell if cell.tzinfo else cell.replace(tzinfo=UTC)
        return Fraction((zoned - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1))
    if isinstance(cell, date):
        return Fraction((cell - date(1970, 1, 1)).days * 86_400_000_000)
    return Fraction(Decimal(repr(cell))) if isinstance(cell, float) else Fraction(cell)


class Distance:
    """The distance of rows, once the range of each number column is known from the rows that make it.

    Parameters
    ----------
    kinds
        The kind of each column.
    ranging
        The rows of the tables that make the span.
    beyond
        How many spans outside the range a number counts at most.
    """

    def __init__(self, kinds: Sequence[str], ranging: Sequence[Row], *, beyond: int = 3) -> None:
        self.kinds = kinds
        self.beyond = beyond
        filled = [
            [exact(row[at]) for row in ranging if row[at] is not None and kind in NUMBERS]
            for at, kind in enumerate(kinds)
        ]
        self.low = [min(cells, default=Fraction(0)) for cells in filled]
        self.high = [max(cells, default=Fraction(0)) for cells in filled]

    def __call__(self, one: Row, other: Row) -> Fraction:
        return sum((self.of_cells(at, one[at], other[at]) for at in range(len(self.kinds))), Fraction(0))

    def of_cells(self, at: int, one: Any, other: Any) -> Fraction:
        if one is None or other is None:
            return Fraction(one is not None or other is not None)
        if self.kinds[at] not in NUMBERS:
            return Fraction(one != other)
        span = self.high[at] - self.low[at]
        return abs(self.drawn_in(at, one) - self.drawn_in(at, other)) / span if span else Fraction(0)

    def drawn_in(self, at: int, cell: Any) -> Fraction:
        far = self.beyond * (self.high[at] - self.low[at])
        return max(self.low[at] - far, min(self.high[at] + far, exact(cell)))
