"""Numbers and names as text, shared by terminal, page, and script."""

import math
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from unveil.report.suppressed_number import SuppressedNumber

#: What stands where a number has no value.
UNDEFINED = "undefined"

#: What rounding leaves of a zero.
_NOISE = 1e-12
_HIDDEN_KINDS = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
#: Joiners are invisible too, but names in Arabic, Persian or Hindi are wrong without them.
_JOINERS = frozenset("\u200c\u200d")


def decimal(value: float, *, places: int = 3) -> str:
    """Return the number with at most ``places`` decimals, or "undefined".

    Whole numbers have none; thousands are separated by commas.

    >>> decimal(0.08333), decimal(12.0), decimal(1234.5), decimal(float("nan"))
    ('0.083', '12', '1,234.5', 'undefined')
    """
    if isinstance(value, SuppressedNumber):
        ends = (decimal(value.least, places=places), decimal(value.most, places=places))
        return value.within(0.0, 1.0, ends)
    if not math.isfinite(value):
        return UNDEFINED
    value = 0.0 if abs(value) < _NOISE else value
    text = f"{value:,.{places}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    if value != 0 and text in ("0", "-0"):
        return f"{value:.1e}"
    return text


def significant(value: float, *, digits: int = 3) -> str:
    """Return the number with its first ``digits`` significant digits.

    >>> significant(0.0001434), significant(0.5), significant(float("nan"))
    ('0.000143', '0.5', 'undefined')
    """
    if isinstance(value, SuppressedNumber):
        ends = (significant(value.least, digits=digits), significant(value.most, digits=digits))
        return value.within(0.0, 1.0, ends)
    return f"{value:.{digits}g}" if math.isfinite(value) else UNDEFINED


def fixed(value: float, *, places: int = 2) -> str:
    """Return the number with exactly ``places`` decimals.

    >>> fixed(0.5)
    '0.50'
    """
    # Adding 0 turns the minus zero that rounding leaves into zero.
    return f"{round(value, places) + 0.0:.{places}f}" if math.isfinite(value) else UNDEFINED


def percent(share: float, *, places: int = 1) -> str:
    """Return a share between 0 and 1 in percent, or "undefined".

    The share is rounded before it is multiplied: a script that gets the rounded share then shows the same text.
    What is almost nothing or almost all is never shown as nothing or all.

    >>> percent(0.375), percent(0.23197, places=2), percent(0.0002), percent(0.9999), percent(float("nan"))
    ('37.5%', '23.20%', '<0.1%', '>99.9%', 'undefined')
    """
    if isinstance(share, SuppressedNumber):
        return share.within(0.0, 1.0, (percent(share.least, places=places), percent(share.most, places=places)))
    if not math.isfinite(share):
        return UNDEFINED
    rounded, least = round(share, places + 2), 10.0**-places
    if share > 0 and rounded == 0:
        return f"<{least:.{places}f}%"
    if share < 1 and rounded == 1:
        return f">{100 - least:.{places}f}%"
    return f"{rounded * 100:.{places}f}%"


def short_percent(share: float) -> str:
    """Return a share in percent without trailing zeros.

    >>> short_percent(0.8), short_percent(0.725)
    ('80%', '72.5%')
    """
    return f"{decimal(share * 100, places=2)}%"


def about(share: float) -> str:
    """Return a share in percent for a sentence, integer from 10%.

    >>> about(0.8637), about(0.0712), about(0.0004), about(1.0), about(float("nan"))
    ('86%', '7.1%', '<0.1%', '100%', 'undefined')
    """
    if not math.isfinite(share):
        return UNDEFINED
    if share in (0.0, 1.0):
        return f"{share:.0%}"
    return percent(share, places=0 if share >= 0.0995 else 1)


def slope(value: float) -> str:
    """Return a risk slope in percent with two decimals.

    >>> slope(0.23197), slope(float("nan"))
    ('23.20%', 'already breached')
    """
    return percent(value, places=2) if math.isfinite(value) else "already breached"


def count(value: float, one: str = "", many: str = "") -> str:
    """Return a count, with a noun if given.

    >>> count(1, "subject", "subjects"), count(12000, "subject", "subjects"), count(7)
    ('1 subject', '12,000 subjects', '7')
    """
    word = one if value == 1 else many
    return f"{decimal(value)} {word}".rstrip()


def plain(name: object) -> str:
    """Return a name from the data as one line of visible text.

    Control characters, line breaks, invisible direction marks and broken characters become �: none of them may move
    the cursor of a terminal, turn the reading direction of a page, or make the text impossible to save.

    >>> plain("a" + chr(27) + "[2Jb"), plain(""), plain(7)
    ('a�[2Jb', '(empty)', '7')
    """
    text = str(name)
    if text.isascii() and text.isprintable():
        return text if text.strip() else "(empty)"
    shown = "".join(
        "�" if unicodedata.category(letter) in _HIDDEN_KINDS and letter not in _JOINERS else letter for letter in text
    )
    return shown if shown.strip() else "(empty)"


def shorten(text: str, at_most: int = 60) -> str:
    """Return the text with its middle cut above ``at_most`` characters.

    >>> shorten("abcdefghij", 7)
    'abc…hij'
    """
    if len(text) <= at_most:
        return text
    head = at_most // 2
    tail = at_most - head - 1
    return f"{text[:head]}…{text[len(text) - tail :]}"


def name(value: object, at_most: int = 60) -> str:
    """Return a name from the data, visible and of bounded length.

    >>> name("x" * 100, 9)
    'xxxx…xxxx'
    """
    # Cut twice: first roughly, because a name may be a megabyte long and every character is looked at.
    return shorten(plain(shorten(str(value), at_most)), at_most)


def duration(seconds: float) -> str:
    """Return a length of time in the unit that suits it.

    >>> duration(0.25), duration(95), duration(4000), duration(3e5), duration(float("nan"))
    ('0.25 s', '1.6 min', '1.1 h', '3.5 days', 'unknown')
    """
    if not math.isfinite(seconds):
        return "unknown"
    for size, unit in ((2 * 86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / (86400 if unit == 'days' else size):,.2g} {unit}".replace("e+02", "00")
    return f"{seconds:.2g} s"


def together(names: Iterable[str], at_most: int = 4) -> str:
    """Return names in a list, the rest as a number.

    >>> together(["a", "b"]), together("abcdef")
    ('a, b', 'a, b, c, d and 2 more')
    """
    every = list(names)
    more = f" and {len(every) - at_most} more" if len(every) > at_most else ""
    return ", ".join(every[:at_most]) + more


def one_line(text: str) -> str:
    r"""Return the text with control characters escaped.

    >>> print(one_line("a\x1b[2J\nb"))
    a\x1b[2J\nb
    """
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)


#: What each axis of a study counts, in words, and how a picture shows it.
AXES: Mapping[str, tuple[str, Literal["count", "share"]]] = {
    "seed_pairs": ("seed pairs", "count"),
    "overlap": ("edge overlap", "share"),
    "node_share": ("node overlap", "share"),
    "known_columns": ("quasi-identifiers known", "count"),
    "known_share": ("share of original records known", "share"),
    "leaked_share": ("share of the people who are in the release", "share"),
}


def labels(written: Sequence[str]) -> dict[str, str]:
    """Return short names of protections or attacks, with settings if ambiguous.

    >>> labels(["NS:theta=0.5", "KL"]), labels(["switch:share=0.1", "switch:share=0.2"])["switch:share=0.1"]
    ({'NS:theta=0.5': 'NS', 'KL': 'KL'}, 'switch:share=0.1')
    """
    # A user's own class is written package.module:Class, and what follows the colon is its name.
    short = {text: text if "." in text.partition(":")[0] else text.partition(":")[0] for text in written}
    often = list(short.values())
    return {text: text if often.count(name) > 1 else name for text, name in short.items()}


def far(done: int, total: int, left: float) -> str:
    """Return the progress of a run and its remaining time.

    >>> far(1, 3, 120.0), far(3, 3, 0.0)
    ('1 of 3 scenarios, about 2 min left', '3 of 3 scenarios')
    """
    rest = f", about {duration(left)} left" if math.isfinite(left) and done < total else ""
    return f"{done:,} of {total:,} scenarios{rest}"


def mean_count(value: float) -> str:
    """Return a mean number without exponent; no decimals from 100.

    >>> mean_count(820.8), mean_count(12.34), mean_count(0.03), mean_count(0.0026), mean_count(0)
    ('821', '12.3', '0.03', 'less than 0.01', '0')
    """
    text = decimal(value, places=0 if value >= 100 else 1)
    if "e-" not in text:
        return text
    return decimal(value, places=2) if value >= 0.005 else "less than 0.01"


def percent_range(low: float, high: float) -> str:
    """Return the limits of a share's interval, or "".

    >>> percent_range(0.512, 0.6), percent_range(float("nan"), float("nan"))
    ('51.2–60.0%', '')
    """
    return "" if math.isnan(low) or math.isnan(high) else f"{percent(low).rstrip('%')}–{percent(high)}"
