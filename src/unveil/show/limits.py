"""Limits that are set beforehand on figures of an answer: read exactly as written, compared, and shown in a report."""

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isnan
from typing import TYPE_CHECKING, Any

from unveil.errors import InputError, did_you_mean
from unveil.show.bounded import Bounded
from unveil.show.text import significant

if TYPE_CHECKING:
    from unveil.show.blocks import Page, Table


#: A figure that is told less finely than it was found is at most so far from it.
_ROUNDED = 0.01 + 1e-9


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """One figure that ``--limit`` can watch.

    It exceeds its limit when it is greater, or when it is less and more of it is better. Undefined is NaN. Where it is
    undefined because the harm has already happened, it exceeds every limit.
    """

    name: str
    value: float
    meaning: str
    exceeded_when_undefined: bool
    more_is_worse: bool = True


# An exponent of more than three digits would make an exact fraction too large to compute with.
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?|[+-]?\d+/0*[1-9]\d*", re.ASCII)
_LONGEST_NUMBER = 100

#: The quantities that were named, and how much of each is too much.
Limits = tuple[tuple[str, float], ...]


@dataclass(frozen=True, kw_only=True)
class CheckedLimit:
    """A limit, the value it was compared with, and the outcome."""

    quantity: str
    limit: float
    value: float
    exceeded: bool
    more_is_worse: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Return the fields under their names in JSON."""
        return {"quantity": self.quantity, "limit": self.limit, "value": self.value, "exceeded": self.exceeded}

    @property
    def message(self) -> str:
        """One line for whoever set the limit, or nothing where the limit is kept."""
        if self.exceeded:
            value = "undefined because it is already breached" if isnan(self.value) else f"{self.value:.6g}"
            # Where less is worse, "the limit" alone would leave open on which side of it the value should lie.
            bound = "the limit is" if self.more_is_worse else "it must be at least"
            return f"limit exceeded: {self.quantity} is {value}, {bound} {self.limit:.6g}"
        return f"limit not checked: {self.quantity} is undefined here" if isnan(self.value) else ""


def parse_number(text: str) -> Fraction | None:
    """Return the number exactly as written (``0.1``, ``1e-3``, ``1/3``), or None if the text is no number.

    >>> parse_number("1/3"), parse_number("0.1"), parse_number("nan")
    (Fraction(1, 3), Fraction(1, 10), None)
    """
    text = text.strip()
    return Fraction(text) if len(text) <= _LONGEST_NUMBER and _NUMBER.fullmatch(text) else None


def parse_limit(text: str) -> float | None:
    """Return the limit that was written, or None if the text is no number, or one beyond every float.

    Such a limit would never be exceeded, which nobody means.

    >>> parse_limit("1/4"), parse_limit("1e999")
    (0.25, None)
    """
    number = parse_number(text)
    return None if number is None or abs(number) > Fraction(sys.float_info.max) else float(number)


def check_limits(quantities: Mapping[str, Quantity], limits: Limits) -> list[CheckedLimit]:
    """Return each limit with the value it is compared with; a value that equals its limit does not exceed it."""
    checked = []
    for name, limit in limits:
        quantity = quantities[name]
        value = float(quantity.value)
        worse = value > limit if quantity.more_is_worse else value < limit
        exceeded = quantity.exceeded_when_undefined if isnan(value) else worse
        checked.append(
            CheckedLimit(
                quantity=name, limit=limit, value=value, exceeded=exceeded, more_is_worse=quantity.more_is_worse
            )
        )
    return checked


def with_limits(page: "Page", limits: Sequence[Mapping[str, Any]], quantities: Mapping[str, Quantity]) -> "Page":
    """Return the page with a section on its limits after the first one, or the page itself where there are none.

    Each limit has ``quantity``, ``limit``, ``value`` and ``exceeded``, as in JSON.

    >>> from unveil.show.blocks import Page
    >>> page = Page(title="T", question="Is it safe?", headline="No.", tone="bad", sections=())
    >>> with_limits(page, (), {}) is page
    True
    """
    from unveil.show.blocks import Section  # here, because it brings numpy, which the help of a command can do without

    if not limits:
        return page
    section = Section(
        heading="Limits",
        lead=_lead([limit["exceeded"] for limit in limits]),
        blocks=(limit_table(limits, quantities),),
    )
    return replace(page, sections=(*page.sections[:1], section, *page.sections[1:]))


def _lead(outcomes: Sequence[bool | None]) -> str:
    beforehand = "Limits are set by whoever asked, not by this report."
    exceeded, every, open_ones = sum(map(bool, outcomes)), len(outcomes), outcomes.count(None)
    if open_ones:
        told = f"{exceeded} {'is' if exceeded == 1 else 'are'} exceeded and {open_ones} cannot be told in this edition"
        return f"Of {every} limits that were set {told}. {beforehand}"
    if every == 1:
        return f"The limit that was set {'is exceeded' if exceeded else 'is not exceeded'}. {beforehand}"
    said = f"{exceeded} of {every} limits that were set {'is' if exceeded == 1 else 'are'} exceeded"
    return f"{said if exceeded else f'None of the {every} limits that were set is exceeded'}. {beforehand}"


def limit_table(limits: Sequence[Mapping[str, Any]], quantities: Mapping[str, Quantity]) -> "Table":
    """Return each quantity with its limit, its value and whether that exceeds the limit."""
    from unveil.show.blocks import Table

    rows = []
    for limit in limits:
        quantity, value = str(limit["quantity"]), limit["value"]
        if quantity not in quantities:
            hint = did_you_mean(quantity, quantities) or " Name one that the answer has."
            raise InputError(f"a limit is set for {quantity!r}, which is no quantity of this answer.{hint}")
        bound = "at most" if quantities[quantity].more_is_worse else "at least"
        outcome = _outcome(value, exceeded=limit["exceeded"])
        # As many digits as the message of the command line has.
        shown = significant(value, digits=6)
        rows.append((quantity, f"{bound} {significant(float(limit['limit']), digits=6)}", shown, outcome))
    return Table(
        caption="Each limit beside what was found",
        columns=("Quantity", "Limit", "Value", "Outcome"),
        rows=tuple(rows),
        align=("left", "right", "right", "left"),
    )


def shared_limits(limits: Sequence[Mapping[str, Any]], quantities: Mapping[str, Quantity]) -> list[dict[str, Any]]:
    """Return limits beside figures of which some are told by their bounds; None is an outcome that these leave open.

    What the exact figure was, and so whether it exceeded the limit, is used only where that figure is told.
    """
    made = []
    for limit in limits:
        told = quantities[str(limit["quantity"])]
        value, exact = told.value, float(limit["value"])
        if isinstance(value, Bounded):
            exceeded = value.is_beyond(float(limit["limit"]), more_is_worse=told.more_is_worse)
        elif value == exact or (isnan(value) and isnan(exact)) or _is_rounded(value, limit, told):
            exceeded = bool(limit["exceeded"])
        else:
            exceeded, value = None, Bounded.withheld()
        made.append({**limit, "value": value, "exceeded": exceeded})
    return made


def _is_rounded(value: float, limit: Mapping[str, Any], told: Quantity) -> bool:
    """Return whether a figure is told less finely than it was found, with the same outcome."""
    bound = float(limit["limit"])
    beyond = value > bound if told.more_is_worse else value < bound
    return abs(value - float(limit["value"])) <= _ROUNDED and beyond == bool(limit["exceeded"])


def _outcome(value: float, *, exceeded: bool | None) -> str:
    if exceeded is None:
        return "not told in this edition"
    if isnan(value):
        return "exceeded: undefined because it is already breached" if exceeded else "not checked: undefined here"
    return "exceeded" if exceeded else "not exceeded"
