"""Evenness and shared value range as their formulas say them, in exact fractions."""

import math
from collections.abc import Sequence
from fractions import Fraction

Numbers = Sequence[float]


def defined(numbers: Numbers) -> list[Fraction]:
    return [Fraction(number) for number in numbers if math.isfinite(number)]


def criterion(numbers: Numbers, low: float, high: float) -> float:
    """Formula (1) of Zhao & Wagner, of values that lie between ``low`` and ``high``; 1/3 where these are equal."""
    values = sorted(defined(numbers))
    if not values:
        return math.nan
    if low == high:
        return 1 / 3
    n = len(values)
    total = Fraction(1, 12 * n)
    for i, value in enumerate(values, start=1):
        total += (Fraction(2 * i - 1, 2 * n) - (value - Fraction(low)) / (Fraction(high) - Fraction(low))) ** 2
    return float(total / n)


def used_share(numbers: Numbers, everything: Numbers) -> float:
    """Formula (2) of Zhao & Wagner; 0 where there is no range to share."""
    values, every = defined(numbers), defined(everything)
    if not values:
        return math.nan
    if max(every) == min(every):
        return 0.0
    return float((max(values) - min(values)) / (max(every) - min(every)))
