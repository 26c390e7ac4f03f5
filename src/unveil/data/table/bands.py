"""Number bands such as 2500-5000, 80+, and under 5."""

import math
import re

from unveil.data.table._cell_texts import folded, intervals_in, number_in

_LEADING_ZERO = re.compile(r"(?<![0-9.,])0[0-9]")


def lower_end(cell: str) -> float | None:
    """Return the lower end of a band: number, minus infinity, or None.

    A bound with a leading zero is part of a code, and a band that runs backwards is none.

    >>> lower_end("$2,500 - 5,000"), lower_end("80+"), lower_end("lt $1000"), lower_end("[30,40)")
    (2500.0, 80.0, -inf, 30.0)
    >>> lower_end("25-00503"), lower_end("40-30"), lower_end("Ulm")
    (None, None, None)
    """
    text = folded(cell)
    if _LEADING_ZERO.search(text):
        return None
    for band in intervals_in(text, lambda end, comma: number_in(end, comma_ends=comma) is not None):
        low, high = (None if end is None else number_in(end, comma_ends=band.comma) for end in (band.low, band.high))
        if low is None or high is None or low <= high:
            return -math.inf if low is None else float(low)
    return None


def in_order(cells: list[str]) -> list[str]:
    """Return bands by lower end, other words first.

    >>> in_order(["80+", "20-29", "<20", "none"])
    ['none', '<20', '20-29', '80+']
    """
    ends = {cell: lower_end(cell) for cell in cells}
    return sorted(cells, key=lambda cell: (ends[cell] is not None, ends[cell] or 0.0, cell.casefold(), cell))
