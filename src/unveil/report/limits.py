"""Limits on result values: parsing, comparison, and display."""

import difflib
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import isnan, nan
from typing import TYPE_CHECKING, Any

from unveil._figure import figure
from unveil.errors import InputError, did_you_mean
from unveil.report.suppressed_number import SuppressedNumber
from unveil.report.text import count, significant

if TYPE_CHECKING:
    from unveil.metrics.trials.risk import Rate
    from unveil.metrics.verdict.limits import LimitCheck
    from unveil.report.blocks import LevelStrip, TableBlock


#: Largest difference of a rounded value from the exact one.
_ROUNDED = 0.01 + 1e-9
NOT_TOLD = "withheld in this report"
#: How a reason begins that is the width of an interval.
BETWEEN = "lies between "


@dataclass(frozen=True, kw_only=True, eq=False)
class LimitEvidence:
    """Uncertainty of an estimate: its limit may pass, fail, or be inconclusive.

    Attributes
    ----------
    interval
        Estimate with CI, by confidence level; undefined if no limit applies.
    figures
        Number of values of which it is the worst, such as one per attacker.
    needed
        Approximate number of people per table that decides a limit, None if no number does; not given if
        unknown.
    doubt
        Why a pass is impossible, such as an unusable control; empty if possible.
    """

    interval: "Callable[[float], Rate]"
    figures: int = 1
    needed: Callable[[float], int | None] | None = None
    doubt: str = ""

    def held_to(self, limit: float, figures: int) -> "LimitCheck":
        """Return the outcome of a limit when N values have limits."""
        from unveil.metrics.verdict.limits import held_to

        return held_to(self.interval, limit, figures=figures, can_be_kept=not self.doubt)


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """Value that accepts a limit.

    It exceeds its limit when it is greater, or when it is less and more of it is better. Undefined is NaN. Where it is
    undefined because the harm has already happened, it exceeds every limit; else nothing is shown, which is no pass.
    Where there is ``evidence``, the interval decides and not the value.
    """

    name: str
    value: float
    meaning: str
    exceeded_when_undefined: bool
    more_is_worse: bool = True
    evidence: LimitEvidence | None = None


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
    """Return a hint for an unknown name, with a leading space, or "".

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


def check_limits(
    quantities: Mapping[str, Quantity], limits: Limits, *, figures: int | None = None
) -> list[CheckedLimit]:
    """Return each limit compared with its value; equality passes.

    A figure with an interval exceeds its limit where the low end lies above it, at a confidence that allows for all the
    figures that are held to limits, and keeps it where the high end does not, at 95 %. These are the figures of the
    quantities named, unless ``figures`` says how many they are.
    """
    figures = figures_held(quantities, limits) if figures is None else figures
    return [_checked(quantities[name], limit, figures) for name, limit in limits]


def figures_held(quantities: Mapping[str, Quantity], limits: Limits) -> int:
    """Return the number of limited values with a CI."""
    named = [quantities[name] for name in dict.fromkeys(name for name, _ in limits)]
    return sum(each.evidence.figures for each in named if each.evidence is not None)


def _checked(quantity: Quantity, limit: float, figures: int) -> CheckedLimit:
    value, evidence = quantity.value, quantity.evidence
    if evidence is not None and not isnan(value):
        return _by_interval(quantity, evidence, limit, figures)
    worse = value > limit if quantity.more_is_worse else value < limit
    undefined = isnan(value)
    return CheckedLimit(
        quantity=quantity.name,
        limit=limit,
        value=value,
        exceeded=(quantity.exceeded_when_undefined or None) if undefined else worse,
        more_is_worse=quantity.more_is_worse,
        why="is undefined here, which is no pass" if undefined and not quantity.exceeded_when_undefined else "",
    )


def _by_interval(quantity: Quantity, evidence: LimitEvidence, limit: float, figures: int) -> CheckedLimit:
    outcome, low, high = evidence.held_to(limit, figures)
    shown = None if outcome == "not_shown" else outcome == "exceeded"
    why = undecided(evidence, limit, f"{low:.6g}", f"{high:.6g}") if shown is None else ""
    return CheckedLimit(
        quantity=quantity.name, limit=limit, value=quantity.value, exceeded=shown, low=low, high=high, why=why
    )


def undecided(evidence: LimitEvidence, limit: float, low: str, high: str) -> str:
    """Return why a limit is inconclusive: evidence or interval width.

    >>> from unveil.metrics.trials.risk import clopper_pearson
    >>> def interval(level):
    ...     return clopper_pearson(5, 60, confidence=level)
    >>> evidence = LimitEvidence(interval=interval, needed=lambda limit: 242)
    >>> undecided(evidence, 0.09, "0.03", "0.18")
    'lies between 0.03 and 0.18; about 242 people in each table would decide it'
    """
    if evidence.doubt:
        return f"cannot be compared with a limit: {evidence.doubt}"
    needed = None if evidence.needed is None else evidence.needed(limit)
    enough = "" if needed is None else f"; about {count(needed)} people in each table would decide it"
    return f"{BETWEEN}{low} and {high}{enough}"


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


def shared_limits(limits: Sequence[Mapping[str, Any]], quantities: Mapping[str, Quantity]) -> list[dict[str, Any]]:
    """Return limits for redacted values; None is inconclusive.

    What the exact figure was, and so whether it exceeded the limit, is used only where that figure is told.
    """
    again = check_limits(quantities, tuple((str(limit["quantity"]), float(limit["limit"])) for limit in limits))
    return [_shared(limit, checked, quantities[checked.quantity]) for limit, checked in zip(limits, again, strict=True)]


def _shared(limit: Mapping[str, Any], again: CheckedLimit, quantity: Quantity) -> dict[str, Any]:
    from unveil.report.figures import json_of

    value, exact = quantity.value, float(limit["value"])
    if "low" in limit or quantity.evidence is not None:
        # The interval may rest on another attacker than the value does, so it decides here too.
        if not isnan(value) and again.exceeded == limit["exceeded"]:
            return dict(json_of(again))
        value = SuppressedNumber.withheld() if isnan(value) else value
        return {**json_of(again), "value": value, "exceeded": None, "why": NOT_TOLD}
    exceeded = limit["exceeded"]
    if isinstance(value, SuppressedNumber):
        exceeded = value.is_beyond(again.limit, more_is_worse=quantity.more_is_worse)
    elif not (value == exact or (isnan(value) and isnan(exact)) or _is_rounded(value, exact, again, exceeded)):
        exceeded, value = None, SuppressedNumber.withheld()
    kept_back = {"why": NOT_TOLD} if exceeded is None and not isnan(exact) else {}
    return {**limit, "value": value, "exceeded": exceeded, **kept_back}


def _is_rounded(value: float, exact: float, again: CheckedLimit, exceeded: bool | None) -> bool:
    """Return whether a value is only rounded, with the same outcome."""
    return abs(value - exact) <= _ROUNDED and again.exceeded == exceeded


def _outcome(limit: Mapping[str, Any]) -> str:
    exceeded = limit["exceeded"]
    if exceeded is None:
        if limit.get("why") == NOT_TOLD:
            return NOT_TOLD
        return f"inconclusive: {limit.get('why') or 'it is undefined here'}"
    if "low" in limit:
        return "fail" if exceeded else "pass (values tested)"
    if exceeded and isnan(limit["value"]):
        return "fail: undefined because it is already breached"
    return "fail" if exceeded else "pass"
