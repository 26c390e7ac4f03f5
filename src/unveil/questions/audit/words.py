"""Numbers and names of an audit as texts."""

import math
from collections.abc import Sequence

from unveil.metrics.trials.risk import Rate
from unveil.questions.audit.findings import Audit, AuditedRelease
from unveil.report.editions import people
from unveil.report.suppressed_number import SuppressedNumber
from unveil.report.text import UNDEFINED, count, name
from unveil.report.text import percent as unsigned_percent

LONGEST_NAME = 40


def listed(names: Sequence[str], *, at_most: int = 5) -> str:
    """Return names as a sentence lists them, cut where there are many.

    >>> listed(["age"]), listed(["age", "sex"]), listed(list("abcdefgh"))
    ('age', 'age and sex', 'a, b, c, d and 4 more columns')
    """
    shown = [name(each, LONGEST_NAME) for each in names]
    if len(shown) > at_most:
        return f"{', '.join(shown[: at_most - 1])} and {len(shown) - at_most + 1} more columns"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def percent(share: float) -> str:
    """Return a share in percent, with two significant digits.

    An excess may be below 0, and what rounds to nothing has no sign. Bounds are rounded outwards, so that they hold.

    >>> percent(0.375), percent(-0.025), percent(-0.00004), percent(0.0002), percent(0.998)
    ('38%', '−2.5%', '0%', '<0.1%', '>99%')
    """
    if isinstance(share, SuppressedNumber):
        return share.within(0.0, 1.0, (_floor(share.least), _ceiling(share.most)))
    if share in (0.0, 1.0) or -0.0005 < share < 0:
        return f"{round(share) + 0:.0%}"
    return unsigned_percent(share, places=_places(share)).replace("-", "−")


def _places(share: float) -> int:
    return 0 if abs(share) >= 0.0995 else 1


def _ceiling(share: float) -> str:
    # "At most" must hold: what rounding would push below the limit is rounded up, and below "at least" down.
    step = 10.0 ** (2 + _places(share))
    return percent(math.ceil(share * step - 1e-9) / step) if math.isfinite(share) else UNDEFINED


def _floor(share: float) -> str:
    step = 10.0 ** (2 + _places(share))
    return percent(math.floor(share * step + 1e-9) / step) if math.isfinite(share) else UNDEFINED


def rate_text(rate: Rate) -> str:
    """Return a rate with its interval, as a person says it.

    >>> rate_text(Rate(0.0, 0.0, 0.0076)), rate_text(Rate(0.312, 0.273, 0.354)), rate_text(Rate(1.0, 0.992, 1.0))
    ('0% (at most 0.8%)', '31% (27% to 35%)', '100% (at least 99%)')
    """
    if not rate.defined:
        return UNDEFINED
    if isinstance(rate.value, SuppressedNumber):
        return _bounded_text(rate, rate.value)
    value, high = percent(rate.value), percent(rate.high)
    if rate.value == 0 and rate.low == 0:
        return f"0% (at most {_ceiling(rate.high)})"
    if rate.value == rate.high == 1 or (value == high and high.startswith(">")):
        return f"{value} (at least {_floor(rate.low)})"
    return f"{value} ({percent(rate.low)} to {high})"


def _bounded_text(rate: Rate, value: SuppressedNumber) -> str:
    """Return a bounded rate, with the outer limits of its interval."""
    low, high = float(rate.low), float(rate.high)
    if (value.least, value.most) == (low, high):  # nothing more is known of it
        return percent(value)
    if value.least == 0 and low == 0:
        return f"{percent(value)} (at most {_ceiling(high)})"
    if value.most == 1 and high == 1:
        return f"{percent(value)} (at least {_floor(low)})"
    return f"{percent(value)} ({_floor(low)} to {_ceiling(high)})"


def percent_of(rate: Rate, whom: str) -> str:
    """Return a share of people with its interval behind them.

    >>> percent_of(Rate(0.312, 0.273, 0.354), "people")
    '31% of people (27% to 35%)'
    """
    share, _, interval = rate_text(rate).partition(" (")
    return f"{share} of {whom} ({interval}" if interval else f"{share} of {whom}"


def compact_rate(rate: Rate) -> str:
    """Return a rate with its interval, in table form.

    >>> compact_rate(Rate(0.312, 0.273, 0.354)), compact_rate(Rate(0.0, 0.0, 0.0076))
    ('31% (27–35%)', '0% (≤ 0.8%)')
    """
    text = rate_text(rate).replace("at most", "≤").replace("at least", "≥")
    # A minus or an arrow beside the dash would be hard to read.
    return text if rate.low < 0 or "<" in text or ">" in text else text.replace("% to ", "–")


def kind_text(release: AuditedRelease) -> str:
    """Return the type of a release: masked or synthetic, stated or detected."""
    return f"{release.kind}; detected" if release.type_source == "detected" else release.kind or "type not stated"


def quoted(names: Sequence[str], *, at_most: int = 3) -> str:
    """Return release names as a list in a sentence.

    >>> quoted(["a"]), quoted(["a", "b"]), quoted(list("abcde"))
    ("'a'", "'a' and 'b'", "'a', 'b' and 3 more")
    """
    shown = [repr(name(each, LONGEST_NAME)) for each in names]
    if len(shown) > at_most:
        shown = [*shown[: at_most - 1], f"{len(shown) - at_most + 1} more"]
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def of_all(audit: Audit, sentence: str) -> str:
    """Return a sentence with the number of people for ``{}``."""
    return people(audit.people or audit.rows, "person", "people", pattern=sentence)


def safe(text: str) -> str:
    """Return a text for :func:`of_all` with its braces disarmed."""
    return text.replace("{}", "{ }")


def number_of(number: float, one: str = "person", many: str = "people") -> str:
    """Return a number of people; a bound in a redacted report."""
    if isinstance(number, SuppressedNumber):
        return f"{number.words} {many}".rstrip()
    return count(round(number), one, many).rstrip()
