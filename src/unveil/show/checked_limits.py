"""Limits that were set beforehand, compared with what was found; numbers are read exactly as people write them."""

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import isnan
from typing import Any, Protocol

# An exponent of more than three digits would make an exact fraction too large to compute with.
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?|[+-]?\d+/0*[1-9]\d*", re.ASCII)
_LONGEST_NUMBER = 100

#: The quantities that were named, and how much of each is too much.
Limits = tuple[tuple[str, float], ...]


class Quantity(Protocol):
    """A figure of an answer that a limit can be set for."""

    @property
    def value(self) -> float:
        """The figure, or NaN where it is undefined."""

    @property
    def exceeded_when_undefined(self) -> bool:
        """Whether undefined means that the harm has already happened."""

    @property
    def more_is_worse(self) -> bool:
        """Whether a greater value exceeds the limit; else a lesser one does."""


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
