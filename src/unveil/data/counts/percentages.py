"""Percentages as ranges of counts, or of shares if the base is suppressed."""

import re
from fractions import Fraction
from typing import NamedTuple

from unveil.data.counts.texts import UnreadableError

#: What a column of percentages is called, and the column with the number of people that each is of.
PERCENT_NAMES = ("percent", "percentage", "pct", "%", "per cent")
BASE_NAMES = ("base", "denominator", "n_base", "out_of")
#: Of a hidden number more decimals are not used: coefficients stay small.
_MOST_DECIMALS = 3
_PERCENT = re.compile(r"(\d{1,3})(?:[.,](\d{1,12}))?\s*%?", re.ASCII)


class PercentageBound(NamedTuple):
    """Bound on a count: low / whole ≤ count / base ≤ high / whole.

    ``entry`` is the place of its cell in its table.
    """

    entry: int
    low: int
    high: int
    whole: int


def share_of_percent(text: str, entry: int) -> PercentageBound | None:
    """Return the share that a percentage states, or None for other text.

    From the fourth decimal on it is read as if it were rounded to three, which is true, and a little wider.

    >>> share_of_percent("12.5", 0), share_of_percent("*", 0)
    (PercentageBound(entry=0, low=249, high=251, whole=2000), None)
    """
    found = _PERCENT.fullmatch(text.strip())
    if found is None:
        return None
    decimals = found[2] or ""
    twice = 2 * int(found[1] + decimals)
    more = 10 ** max(0, len(decimals) - _MOST_DECIMALS)
    whole = 200 * 10 ** len(decimals) // more
    return PercentageBound(entry, max(0, (twice - 1) // more), min(whole, -(-(twice + 1) // more)), whole)


def range_of_percent(text: str, base: int) -> str:
    """Return the range of counts that a percentage of N people implies.

    A text that is no percentage is a symbol, and stays as it is.

    >>> range_of_percent("2.1", 240), range_of_percent("2%", 240), range_of_percent("*", 240)
    ('5..5', '4..6', '*')
    """
    found = _PERCENT.fullmatch(text.strip())
    if found is None:
        return text
    decimals = found[2] or ""
    shown, half = Fraction(f"{found[1]}.{decimals or 0}"), Fraction(1, 2 * 10 ** len(decimals))
    low = max(0, -((half - shown) * base // 100))
    high = min(base, (shown + half) * base // 100)
    if low > high:
        raise UnreadableError(
            f"hold percentages that some count of its {base:,} people has, and none has one of them",
            "Check the base, or the decimals",
        )
    # A single count too, so that it is not taken for a figure that was rounded or changed.
    return f"{low}..{high}"
