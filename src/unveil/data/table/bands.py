"""Words that are bands of numbers, such as 2500-5000, 80+ and under 5: from where on each of them reaches."""

import math
import re

_NUMBER = r"([+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+))"
_UNIT = r"(?:\s*[a-z%]{1,8}\.?)?"
_BETWEEN = re.compile(rf"^{_NUMBER}{_UNIT}\s*(?:-|–|—|\.\.|to|bis|until)\s*{_NUMBER}{_UNIT}$")
_INTERVAL = re.compile(rf"^[\[\](]\s*(?:{_NUMBER}|[+-]?inf)\s*[,;]\s*(?:{_NUMBER}|[+-]?inf)\s*[\[\])]$")
_AND_MORE = re.compile(rf"^{_NUMBER}{_UNIT}\s*(?:\+|(?:and|or|und) (?:over|more|older|above|up|mehr|älter)|plus)$")
_BELOW = re.compile(rf"^(?:<=?|≤|under|less than|lt|le|up to|below|unter|bis)\s*{_NUMBER}{_UNIT}$")
_ABOVE = re.compile(rf"^(?:>=?|≥|over|more than|gt|ge|above|über|ab)\s*{_NUMBER}{_UNIT}$")
_LEADING_ZERO = re.compile(r"(?<![0-9.])0[0-9]")


def lower_end(cell: str) -> float | None:
    """Return from where on a band reaches, minus infinity for one that is open below, and None for what is no band.

    A bound with a leading zero is part of a code, and a band that runs backwards is none.

    >>> lower_end("$2,500 - 5,000"), lower_end("80+"), lower_end("lt $1000"), lower_end("[30,40)")
    (2500.0, 80.0, -inf, 30.0)
    >>> lower_end("25-00503"), lower_end("40-30"), lower_end("Ulm")
    (None, None, None)
    """
    plain = re.sub(r"[$€£]\s*", "", cell.strip().casefold())
    if plain[:1] not in ("[", "]", "("):  # there a comma stands between the bounds
        plain = re.sub(r"(?<=[0-9]),(?=[0-9]{3}\b)", "", plain)
    if _LEADING_ZERO.search(plain):
        return None
    if found := _INTERVAL.match(plain):
        low, high = (float(end) if end else sign * math.inf for end, sign in zip(found.groups(), (-1, 1), strict=True))
        return low if low <= high else None
    if found := _BETWEEN.match(plain):
        low, high = map(float, found.groups())
        return low if low <= high else None
    if found := _AND_MORE.match(plain) or _ABOVE.match(plain):
        return float(found[1])
    return -math.inf if _BELOW.match(plain) else None


def in_order(cells: list[str]) -> list[str]:
    """Return bands by where they begin, words that are none before all others.

    >>> in_order(["80+", "20-29", "<20", "none"])
    ['none', '<20', '20-29', '80+']
    """
    ends = {cell: lower_end(cell) for cell in cells}
    return sorted(cells, key=lambda cell: (ends[cell] is not None, ends[cell] or 0.0, cell.casefold(), cell))
