"""Limits on result values: parsing, comparison, and display."""

import difflib
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isnan, nan
from typing import TYPE_CHECKING, Any

from unveil._figure import figure
from unveil.errors import InputError, did_you_mean
from unveil.report.text import count, significant

if TYPE_CHECKING:
    from unveil.report.blocks import LevelStrip, TableBlock


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """Value that accepts a limit.

    It exceeds its limit when it is greater, or when it is less and more of it is better. Undefined is NaN. Where it is
    undefined because the harm has already happened, it exceeds every limit; else nothing is shown, which is no pass.
    Where it is not settled, it lies between the value and ``high``, and both decide.
    """

    name: str
    value: float
    meaning: str
    exceeded_when_undefined: bool
    more_is_worse: bool = True
    high: float = nan


# An exponent of more than three digits would make an exact fraction too large to compute with.
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?|[+-]?\d+/0*[1-9]\d*", re.ASCII)
_LONGEST_NUMBER = 100

#: The quantities that were named, and how much of each is too much.
Limits = tuple[tuple[str, float], ...]


@dataclass(frozen=True, kw_only=True)
class CheckedLimit:
    """Limit with its value and outcome; None is inconclusive."""

    JSON_DEFINITION = "limit"

    quantity: str = figure("Name of the limited value, as in `--limit help`.")
    limit: float = figure("Largest acceptable value; the smallest, if more is more private.")
    value: float = figure("Value found; null if undefined.")
    exceeded: bool | None = figure("Outcome: true is fail, false is pass, null is inconclusive.")
    more_is_worse: bool = True
    low: float = figure("Lower end of the deciding CI, if any.", default=nan, optional=True)
    high: float = figure("Upper end of the deciding CI, if any.", default=nan, optional=True)
    why: str = figure("Reason for an inconclusive outcome.", default="", optional=True)

    @property
    def message(self) -> str:
        """Message for a failed or inconclusive limit; empty for a pass."""
        if self.exceeded is None:
            if isnan(self.low):
                return f"inconclusive: {self.quantity} {self.why}"
            return f"inconclusive: the limit is {self.limit:.6g}, and {self.quantity} {self.why}"
        if not self.exceeded:
            return ""
        value = "undefined because it is already breached" if isnan(self.value) else f"{self.value:.6g}"
        if not isnan(self.low):
            value = f"at least {self.low:.6g}"
        # Where less is worse, "the limit" alone would leave open on which side of it the value should lie.
        bound = "the limit is" if self.more_is_worse else "it must be at least"
        return f"fail: {self.quantity} is {value}, {bound} {self.limit:.6g}"


def parse_number(text: str) -> Fraction | None:
    """Return the exact number (``0.1``, ``1e-3``, ``1/3``), or None.

    >>> parse_number("1/3"), parse_number("0.1"), parse_number("nan")
    (Fraction(1, 3), Fraction(1, 10), None)
    """
    text = text.strip()
    return Fraction(text) if len(text) <= _LONGEST_NUMBER and _NUMBER.fullmatch(text) else None


def parse_limit(text: str) -> float | None:
    """Return the limit as a finite float, or None.

    Such a limit would never be exceeded, which nobody means.

    >>> parse_limit("1/4"), parse_limit("1e999")
    (0.25, None)
    """
    number = parse_number(text)
    return None if number is None or abs(number) > Fraction(sys.float_info.max) else float(number)


#: Rates that a limit says nothing by, and what holds instead.
_NO_RISKS = {
    "naive_rate": "It is a baseline, not a risk",
    "control_rate": "It is a baseline, not a risk",
    "baseline": "It is a baseline, not a risk",
    "attack_rate": "An attack may succeed as often without the release, so its excess risk is held",
}
#: Names of limits in earlier versions.
_RENAMED = {"record_linkage": "reidentification", "memory": "memorization", "excess_over_control": "normalized"}


def limit_name(name: str, known: Iterable[str]) -> str:
    """Return the current name of a limit, for old names.

    >>> limit_name("linkability.excess_over_control", ["linkability.normalized"])
    'linkability.normalized'
    """
    if name in known:
        return name
    renamed = ".".join(_RENAMED.get(part, part) for part in name.split("."))
    return renamed if renamed in known else name


def quantity_hint(wrong: str, known: Iterable[str]) -> str:
    """Return a hint for an unknown name, or "".

    >>> known = ["linkability", "linkability.normalized", "utility.loss"]
    >>> quantity_hint("linkability.naive_rate", known)
    ' It is a baseline, not a risk. Write linkability=0.1'
    >>> quantity_hint("utility.los", known)
    " Did you mean 'utility.loss'?"
    """
    first, _, figure = wrong.strip().casefold().partition(".")
    near = difflib.get_close_matches(_RENAMED.get(first, first), [each for each in known if "." not in each], n=1)
    if near and figure in _NO_RISKS:
        return f" {_NO_RISKS[figure]}. Write {near[0]}=0.1"
    return did_you_mean(wrong, known) or (f" Did you mean {near[0]!r}?" if near else "")


def check_limits(quantities: Mapping[str, Quantity], limits: Limits) -> list[CheckedLimit]:
    """Return each limit compared with its value; equality passes.

    What is not settled fails where its least value exceeds the limit, and passes where its largest value does not.
    """
    return [_checked(quantities[name], limit) for name, limit in limits]


def _checked(quantity: Quantity, limit: float) -> CheckedLimit:
    value, low, high = quantity.value, nan, quantity.high
    exceeded: bool | None = value > limit if quantity.more_is_worse else value < limit
    why = ""
    if isnan(value):
        exceeded = quantity.exceeded_when_undefined or None
        why = "" if exceeded else "is undefined here, which is no pass"
    elif not isnan(high):
        low = value
        if not exceeded and high > limit:
            exceeded, why = None, f"lies between {low:.6g} and {high:.6g}"
    return CheckedLimit(
        quantity=quantity.name,
        limit=limit,
        value=value,
        exceeded=exceeded,
        more_is_worse=quantity.more_is_worse,
        low=low,
        high=high,
        why=why,
    )


def limit_strip(limits: Sequence[Mapping[str, Any]], quantities: Mapping[str, Quantity]) -> "LevelStrip":
    """Return the decision by limits and their table, for the first screen.

    Each limit has ``quantity``, ``limit``, ``value`` and ``exceeded``, as in JSON.
    """
    from unveil.report.blocks import LevelStrip  # it brings numpy, which the help of a command can do without

    outcomes = [limit["exceeded"] for limit in limits]
    decision = "fail" if True in outcomes else "inconclusive" if None in outcomes else "pass"
    held = count(len(limits), "limit", "limits")
    return LevelStrip(decision=decision, threshold=f"by {held}", limits=limit_table(limits, quantities))


def limit_table(limits: Sequence[Mapping[str, Any]], quantities: Mapping[str, Quantity]) -> "TableBlock":
    """Return each value with its limit and outcome."""
    from unveil.report.blocks import TableBlock

    rows = []
    for limit in limits:
        quantity, value = str(limit["quantity"]), limit["value"]
        if quantity not in quantities:
            hint = did_you_mean(quantity, quantities) or " Name one that the answer has."
            raise InputError(f"unknown value {quantity!r} in a limit.{hint}")
        bound = "at most" if quantities[quantity].more_is_worse else "at least"
        # As many digits as the message of the command line has.
        shown = significant(value, digits=6)
        if "low" in limit:
            ends = (significant(limit[end], digits=6) for end in ("low", "high"))
            shown = f"{shown} ({' to '.join(ends)})"
        rows.append((quantity, f"{bound} {significant(float(limit['limit']), digits=6)}", shown, _outcome(limit)))
    return TableBlock(
        caption="Limits and values",
        columns=("Quantity", "Limit", "Value", "Outcome"),
        rows=tuple(rows),
        align=("left", "right", "right", "left"),
    )


def _outcome(limit: Mapping[str, Any]) -> str:
    exceeded = limit["exceeded"]
    if exceeded is None:
        return f"inconclusive: {limit.get('why') or 'it is undefined here'}"
    if "low" in limit:
        return "fail" if exceeded else "pass (values tested)"
    if exceeded and isnan(limit["value"]):
        return "fail: undefined because it is already breached"
    return "fail" if exceeded else "pass"
