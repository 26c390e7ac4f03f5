"""Decisions on a threshold, and the sample size to reach one.

"Kept" is a finding and needs as much evidence as "exceeded": that nothing was proved against a release shows nothing
in its favour.
"""

from collections.abc import Callable
from enum import StrEnum
from math import ceil, isnan
from typing import NamedTuple

from unveil.errors import InputError, share, whole_number
from unveil.metrics.trials.risk import CONFIDENCE, Rate

#: Counting proves copies where they are as unlikely by chance as this, which is about what a family of values needs.
PROVED = 0.005
#: 1/11 and what a sum of other fractions makes of it are the same limit.
_SLACK = 1e-12


class LimitVerdict(StrEnum):
    """Decision of the data on a threshold."""

    EXCEEDED = "exceeded"
    KEPT = "kept"
    NOT_SHOWN = "not_shown"


class LimitCheck(NamedTuple):
    """The verdict on a limit, and the interval that decided it."""

    outcome: LimitVerdict
    low: float
    high: float


def held_to(
    interval: Callable[[float], Rate], limit: float, *, figures: int = 1, can_be_kept: bool = True
) -> LimitCheck:
    """Return whether a value is above its threshold, below, or undetermined.

    It exceeds the limit where the low end of its interval lies above it, at a confidence of 1 - 0.05 / F for F values,
    because one that errs is enough. It keeps the limit where the high end is at most the limit at 95 %, without such a
    correction, because all values that are held must err together (Berger, 1982). An undefined value shows nothing.

    Parameters
    ----------
    interval
        From a confidence to the value with its interval; undefined where it could not be measured.
    limit
        What it may be at most.
    figures
        How many values are held to limits, one for each attacker of which this is the worst.
    can_be_kept
        Whether nothing else speaks against the release, such as a control that is not usable.

    Examples
    --------
    >>> from unveil.metrics.trials.risk import clopper_pearson
    >>> str(held_to(lambda level: clopper_pearson(5, 200, confidence=level), 0.09).outcome)
    'kept'
    """
    confidence = 1 - (1 - CONFIDENCE) / figures if figures > 1 else CONFIDENCE
    low, high = interval(confidence).low, interval(CONFIDENCE).high
    outcome = LimitVerdict.NOT_SHOWN
    # The ends of an undefined interval are NaN, which are neither above nor below anything.
    if low > limit + _SLACK:
        outcome = LimitVerdict.EXCEEDED
    elif high <= limit + _SLACK and can_be_kept:
        outcome = LimitVerdict.KEPT
    return LimitCheck(outcome, low, high)


def people_needed(control_rate: float, limit: float) -> int | None:
    """Return the people needed to show an excess below the threshold.

    That many show it with a chance of 80 % where being in the data adds nothing and the attack succeeds on a share
    ``control_rate`` of everyone: ``14.6 c / ((1 - c) L²) + 3.7 / L``, within 11 % of the numbers that exact search
    gives for limits of 5 and 9 %. None where no number is enough: everyone is hit, or nothing at all may be added.

    >>> people_needed(0.1, 0.09), people_needed(0.9, 0.05)
    (242, 52634)
    """
    share(control_rate, "control_rate")
    if isnan(limit) or limit > 1:
        raise InputError(f"limit is {limit:g}; it must be a share of at most 1. Write 9% as 0.09")
    if control_rate == 1 or limit <= 0:
        return None
    return ceil(14.6 * control_rate / ((1 - control_rate) * limit**2) + 3.7 / limit)


def worth(members: int, others: int) -> float:
    """Return the effective number of people: ``2 / (1/N + 1/m)``.

    >>> round(worth(1000, 60), 1)
    113.2
    """
    return 2 / (1 / whole_number(members, "members") + 1 / whole_number(others, "others"))


def fewest_copies_provable(members: int, others: int, *, p: float = PROVED) -> int | None:
    """Return the smallest number of detectable copies, without control copies.

    k people, all of them members, have the probability N (N-1) ... / ((N+m) (N+m-1) ...) by chance, about (N /
    (N+m))^k. None where even all members would not be proved.

    >>> [fewest_copies_provable(100_000, m) for m in (100_000, 50_000, 25_000, 10_000)]
    [8, 14, 24, 56]
    """
    chance = 1.0
    for copied in range(members):
        chance *= (members - copied) / (members + others - copied)
        if chance <= p:
            return copied + 1
    return None
