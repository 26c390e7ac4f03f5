"""Levels of risk: bands of the excess, given that it is significant."""

from collections.abc import Mapping
from math import inf
from types import MappingProxyType
from typing import Literal, get_args

from unveil.metrics.verdict.effects import EffectSize

Level = Literal["none_found", "very_low", "low", "medium", "high", "inconclusive"]
#: From the lowest to the highest; "inconclusive" has no place among them.
LEVELS: tuple[Level, ...] = ("none_found", "very_low", "low", "medium", "high")
#: Levels as a person reads them.
LEVEL_WORDS: Mapping[Level, str] = MappingProxyType({each: each.replace("_", " ") for each in get_args(Level)})
#: The largest excess of each level. Anchors: cells of 20, EMA Policy 0070 and Health Canada (0.09), cells of 3.
_BANDS: tuple[tuple[float, Level], ...] = ((0.05, "very_low"), (0.09, "low"), (0.33, "medium"), (inf, "high"))
#: An excess above this could be a high risk that was missed.
MISSED = 0.33
#: The largest adjusted p of a significant effect.
ALPHA = 0.045


def band(excess: float) -> Level:
    """Return the level of an excess; bounds belong to the lower level.

    >>> band(0.05), band(0.051), band(0.34), band(0.0)
    ('very_low', 'low', 'high', 'none_found')
    """
    return "none_found" if not excess > 0 else next(level for bound, level in _BANDS if excess <= bound)


def effect_level(excess: EffectSize, *, is_significant: bool, is_counted: bool = False) -> Level | None:
    """Return the level of an effect: its band, at most one level above that of its lower limit.

    None where it was not tested. A counted effect has no sampling error, and its band is its level.

    >>> effect_level(EffectSize(0.38, 0.07, 0.6), is_significant=True)
    'medium'
    """
    if not excess.is_tested:
        return None
    if not is_significant:
        return "none_found" if excess.high <= MISSED else "inconclusive"
    if is_counted:
        return band(excess.value)
    capped = min(LEVELS.index(band(excess.value)), LEVELS.index(band(excess.low)) + 1)
    lowest = LEVELS.index("low") if excess.value > 0.09 else LEVELS.index("very_low")
    return LEVELS[max(capped, lowest)]
