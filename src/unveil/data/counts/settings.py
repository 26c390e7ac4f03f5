"""Settings of published frequency tables: totals, symbols, rounding, and noise."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from unveil._kernels.counts.rows import LARGEST_COUNT
from unveil.errors import InputError, whole_number

#: What is told of a cell: from least to greatest, None without an upper end.
Range = tuple[int, int | None]
_RANGE = re.compile(r"(\d{1,12})\s*(?:\.\.\s*(\d{1,12})?)?", re.ASCII)
#: How figures were rounded. Nearest leaves the middle open where it has one; the next two say where it went.
WAYS = ("nearest", "half-up", "half-down", "random", "up", "down")


@dataclass(frozen=True, kw_only=True)
class Rounding:
    """Rounding rule: multiples of ``base`` and method; ``inner`` exempts totals.

    >>> Rounding.from_text("5").told(10), Rounding.from_text("3:random").told(3), Rounding.from_text("10").told(10)
    ((8, 12), (1, 5), (5, 15))
    """

    base: int
    way: str = "nearest"
    inner: bool = False

    def __post_init__(self) -> None:
        whole_number(self.base, "the base of rounding", at_least=2, at_most=1_000_000)
        if self.way not in WAYS:
            raise InputError(f"Unknown rounding method. Use one of: {', '.join(WAYS)}. Write 5 or 3:random")

    @classmethod
    def from_text(cls, text: str) -> "Rounding":
        """Parse a rounding rule such as ``5``, ``3:random``, or ``5:nearest:inner``."""
        base, *ways = (part.strip().lower() for part in text.split(":"))
        inner = "inner" in ways
        named = [way for way in ways if way != "inner"]
        if not re.fullmatch(r"\d{1,7}", base, re.ASCII) or len(named) > 1 or not set(named) <= set(WAYS):
            raise InputError(
                f"rounding must be written BASE, BASE:WAY or BASE:WAY:inner with a way of {', '.join(WAYS)}, as in 5 "
                "or 3:random. Write it so"
            )
        return cls(base=int(base), way=named[0] if named else "nearest", inner=inner)

    def told(self, shown: int) -> Range:
        """Return which counts are shown as this one."""
        half, rest = divmod(self.base, 2)
        less, more = {
            "nearest": (half, half),
            "half-up": (half, half - (rest == 0)),
            "half-down": (half - (rest == 0), half),
            "random": (self.base - 1, self.base - 1),
            "up": (self.base - 1, 0),
            "down": (0, self.base - 1),
        }[self.way]
        return max(0, shown - less), shown + more


@dataclass(frozen=True, kw_only=True)
class CountSettings:
    """Settings of published frequency tables; anything not given is detected.

    Attributes
    ----------
    totals
        Codes that are totals, by variable, in addition to detected ones; an empty text is an empty label.
    hierarchies
        For a variable a file that says which codes are sums of which others.
    hidden
        Meaning of a text in place of a count: a range, or None if there is nothing to count.
    rounding, noise, zeros_true
        How every count was rounded, its largest random change, and whether a published 0 is exact.
    wide, rows
        The variable whose codes stand in the header of wide tables, and the columns of these that are row variables.
    count
        The column that holds the counts (default: detected by name).
    rest
        Variables of which not all codes are listed, so that totals may hold more than is shown.
    populations
        Names of files, each of which counts people who are all counted in the next one too.
    base
        Number of people behind percentages, if no column holds it.
    percent_of
        Variables that define the denominator of percentages; empty for all people, None if unknown.
    structural
        A file or frame of impossible combinations of codes (structural zeros).
    """

    totals: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    hierarchies: Mapping[str, str | os.PathLike[str]] = field(default_factory=dict)
    hidden: Mapping[str, Range | None] = field(default_factory=dict)
    rounding: Rounding | None = None
    noise: int = 0
    zeros_true: bool = False
    wide: str = ""
    rows: tuple[str, ...] = ()
    count: str = ""
    rest: tuple[str, ...] = ()
    populations: tuple[str, ...] = ()
    base: int | None = None
    percent_of: tuple[str, ...] | None = None
    structural: Any = None

    def __post_init__(self) -> None:
        whole_number(self.noise, "the noise", at_least=0, at_most=1_000_000)
        if self.noise and self.rounding is not None:
            raise InputError("Rounding and random noise cannot be combined. Give one of them")
        if len(set(self.populations)) < len(self.populations):
            raise InputError("each file must stand once among the populations. Write earlier.csv<later.csv")


def range_from(text: str) -> Range | None:
    """Parse a range such as ``0``, ``1..4``, ``10..``, or ``none``.

    >>> range_from("1..4"), range_from("10.."), range_from("0"), range_from("none")
    ((1, 4), (10, None), (0, 0), None)
    """
    text = text.strip()
    if text.lower() == "none":
        return None
    found = _RANGE.fullmatch(text)
    if not found:
        raise InputError("a range must be written 0, 1..4, 10.. or none (nothing to count). Write it so")
    low, high = int(found[1]), int(found[2]) if found[2] else (None if ".." in text else int(found[1]))
    if (high is not None and high < low) or max(low, high or 0) > LARGEST_COUNT:
        raise InputError("a range must run from its least to its greatest count, as in 1..4. Write it so")
    return low, high
