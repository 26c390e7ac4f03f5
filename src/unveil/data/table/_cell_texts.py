"""Parse released cell texts: numbers, ranges, bounds, and suppression."""

import re
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import NamedTuple

from unveil.data.table.words import LISTED

_OPEN_LEFT, _OPEN_RIGHT = "(]", ")["
_ENDLESS = frozenset({"", "inf", "+inf", "-inf", "infinity", "-infinity", "∞", "+∞", "-∞"})
# Words before or after a bound: whether what is meant lies above it, and whether the bound is left out.
_BEFORE = {
    "<=": (False, False), "=<": (False, False), "≤": (False, False), "up to": (False, False), "bis zu": (False, False),
    "bis": (False, False), "at most": (False, False), "max.": (False, False), "max": (False, False),
    "<": (False, True), "under": (False, True), "less than": (False, True), "below": (False, True),
    "lt": (False, True), "unter": (False, True), "weniger als": (False, True), "moins de": (False, True),
    ">=": (True, False), "=>": (True, False), "≥": (True, False), "at least": (True, False), "ab": (True, False),
    "from": (True, False), "min.": (True, False), "min": (True, False), "mindestens": (True, False),
    ">": (True, True), "over": (True, True), "more than": (True, True), "above": (True, True), "gt": (True, True),
    "über": (True, True), "mehr als": (True, True), "plus de": (True, True),
}  # fmt: skip
_MORE, _LESS = ("over", "more", "above", "older", "up"), ("under", "less", "below", "younger")
_AFTER = {
    **{f"{joint} {word}": (word in _MORE, False) for joint in ("and", "or") for word in _MORE + _LESS},
    **dict.fromkeys(("plus", "und mehr", "und älter", "et plus"), (True, False)),
    **dict.fromkeys(("und weniger", "und jünger"), (False, False)),
}
_WORDS_BETWEEN = re.compile(r"\s+(?:to|bis|until|through)\s+|\s*\.\.\.?\s*|\s*–\s*")
# A word must end there: "ab 75" is a bound, "abroad" is none.
_BEGINS = re.compile("|".join(re.escape(word) + ("" if word[0] in "<>=≤≥" else r"(?![^\W\d])") for word in _BEFORE))
_ENDS = re.compile(rf"(?P<word>{'|'.join(map(re.escape, _AFTER))})$")
_PLUS = re.compile(r"\+(?:\s*[^\W\d]+\.?)?$")
_MONEY = "$€£¥%"
_UNIT = re.compile(r"(?<=[\d.])\s*(?P<unit>[^\W\d_]+[²³]?\.?)$")
# These multiply, so that without them another number would be left.
_FACTORS = frozenset({"e", "k", "mio", "mrd", "bn", "tsd", "thousand", "million", "billion"})
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[+-]?\d{1,3}(?:[ '’]\d{3})+(?:[.,]\d+)?")
_NUMBER = re.compile(r"[+-]?(?:\d+[.,]?\d*|[.,]\d+)(?:e[+-]?\d{1,3})?")
_PADDED = re.compile(r"0\d")
_LONGEST = 100


class WrittenInterval(NamedTuple):
    """Interval as written: ends as texts (None: open) and exclusions.

    ``dashed`` says that it was written as ``20-29``, which leaves open whether the last value belongs to it; ``comma``
    that a comma stands between the ends.
    """

    low: str | None
    high: str | None
    low_out: bool = False
    high_out: bool = False
    dashed: bool = False
    comma: bool = False


def folded(text: str) -> str:
    """Return a text for comparison: trimmed, one case, plain dashes.

    >>> folded("  Köln ") == folded("KÖLN"), folded("20—29")
    (True, '20–29')
    """
    plain = text.strip().casefold()
    return plain if plain.isascii() else plain.replace("—", "–").replace("−", "-").replace("\xa0", " ")


def is_suppressed(text: str) -> bool:
    """Return whether a folded text marks a suppressed value.

    >>> [is_suppressed(text) for text in ("*", "*****", "redacted", "3*", "")]
    [True, True, True, False, False]
    """
    listed = text in LISTED and LISTED[text][0] == "suppressed"
    return listed or (text != "" and not text.strip("*"))


def number_in(text: str, *, comma_ends: bool = False) -> Decimal | None:
    """Return the number in a folded text, ignoring currency and units.

    ``comma_ends`` says that a comma stands between two ends, so that none belongs to the number.

    >>> [number_in(text) for text in ("1,234", "$ 12.50", "2,5 kg", "20 %", "3k", "x")]
    [Decimal('1234'), Decimal('12.50'), Decimal('2.5'), Decimal('20'), None, None]
    """
    plain = text.strip(_MONEY + " ")
    unit = _UNIT.search(plain)
    if unit and _NUMBER.fullmatch(plain) is None:
        # 75 plus is a bound, and 021xx hides two digits.
        if unit["unit"].rstrip(".") in _FACTORS or unit["unit"] in _AFTER or not unit["unit"].strip("x"):
            return None
        plain = plain[: unit.start()].strip(_MONEY + " ")
    # Digits of other scripts would not compare with those of the original.
    if len(plain) > _LONGEST or not plain.replace("’", "").isascii():
        return None
    if not comma_ends and _GROUPED.fullmatch(plain):
        grouped = re.sub(r"[ '’]", "", plain)
        return Decimal(grouped.replace(",", "" if re.search(r",\d{3}", grouped) else "."))
    if (comma_ends and "," in plain) or _NUMBER.fullmatch(plain) is None:
        return None
    return Decimal(plain.replace(",", "."))


def intervals_in(text: str, is_end: Callable[[str, bool], bool]) -> Iterator[WrittenInterval]:
    """Yield the interval readings of a folded text, likeliest first.

    ``is_end`` tells whether a part can be an end, given whether a comma separates it from the other.

    >>> def number(text, comma): return number_in(text, comma_ends=comma) is not None
    >>> [next(intervals_in(text, number), None) for text in ("[20,30)", "75+", "25-00503")]  # doctest: +ELLIPSIS
    [WrittenInterval(low='20', high='30', low_out=False, high_out=True, ...), WrittenInterval(low='75', ...), None]
    """
    if len(text) > 1 and text[0] in "[(]" and text[-1] in "])[":
        yield from _bracketed(text, is_end)
        return
    bound = _bounded(text)
    if bound is not None:
        end, above, out = bound
        if is_end(end, False):
            yield WrittenInterval(end if above else None, None if above else end, above and out, not above and out)
        return
    for low, high in _halves(text):
        if is_end(low, False) and is_end(high, False) and not _is_code(low, high):
            yield WrittenInterval(low, high, dashed=True)


def _bracketed(text: str, is_end: Callable[[str, bool], bool]) -> Iterator[WrittenInterval]:
    inner, comma = text[1:-1], ";" not in text
    halves = [tuple(inner.split(sign)) for sign in (";", ",", ":") if inner.count(sign) == 1] or list(_halves(inner))
    for low, high in halves:
        first, last = (None if part.strip() in _ENDLESS else part.strip() for part in (low, high))
        if all(end is None or is_end(end, comma) for end in (first, last)):
            yield WrittenInterval(first, last, text[0] in _OPEN_LEFT, text[-1] in _OPEN_RIGHT, comma=comma)


def _bounded(text: str) -> tuple[str, bool, bool] | None:
    """Return a bound, its direction, and whether it is excluded."""
    begins = _BEGINS.match(text)
    if begins:
        return text[begins.end() :].strip(), *_BEFORE[begins[0]]
    ends = _ENDS.search(text)
    if ends:
        return text[: ends.start()].strip(), *_AFTER[ends["word"]]
    plus = _PLUS.search(text)
    return (text[: plus.start()].strip(), True, False) if plus else None


def _halves(text: str) -> Iterator[tuple[str, str]]:
    """Yield the two sides of each sign that can stand between two ends."""
    for between in _WORDS_BETWEEN.finditer(text):
        yield text[: between.start()].strip(), text[between.end() :].strip()
    for place, sign in enumerate(text):
        if sign == "-" and 0 < place < len(text) - 1:
            yield text[:place].strip(), text[place + 1 :].strip()


def _is_code(low: str, high: str) -> bool:
    """Return whether two parts form a code, such as 25-00503."""
    padded = _PADDED.match(low) or _PADDED.match(high)
    return padded is not None and len(low) != len(high)
