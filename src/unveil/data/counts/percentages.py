"""Percentages of a known number of people as ranges of counts: as many decimals as are shown, as narrow they are."""

import re
from fractions import Fraction

from unveil.data.counts.texts import UnreadableError

#: What a column of percentages is called, and the column with the number of people that each is of.
PERCENT_NAMES = ("percent", "percentage", "pct", "%", "per cent")
BASE_NAMES = ("base", "denominator", "n_base", "out_of")
_PERCENT = re.compile(r"(\d{1,3})(?:[.,](\d{1,12}))?\s*%?", re.ASCII)


def range_of_percent(text: str, base: int) -> str:
    """Return the counts that are shown as this percentage of so many people, as a text that is read as a range.

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
