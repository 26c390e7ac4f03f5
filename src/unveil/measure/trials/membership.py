"""How well scores tell members of the data from people who are not in it."""

from collections.abc import Callable
from math import exp, log, nan, sqrt

import numpy as np
from numpy.typing import ArrayLike

from unveil._kernels.types import FloatArray
from unveil.errors import InputError
from unveil.measure.trials.risk import CONFIDENCE, Rate, _quantile, wilson

_TOO_FEW = "there must be at least two members and two people who are not, for how much scores vary to be seen"


def area_under_curve(members: ArrayLike, nonmembers: ArrayLike, *, confidence: float = CONFIDENCE) -> Rate:
    """Return the chance that a member scores higher than somebody who is not one, with its interval.

    Formula: ``(#{pairs in which the member is higher} + #{ties} / 2) / #{pairs}``, the area under the ROC curve. 0.5
    means that scores tell nothing, 1 that they tell all members apart; below 0.5 members score lower, which is luck,
    or a sign that the others are of another kind. It is an average over all people: a release that betrays a few of
    them for certain has an area near 0.5, so that it never replaces the attack at a low level. NaN with fewer than two
    people on either side.

    Low and high are the farther ones of two intervals: Newcombe's (Statistics in Medicine 25, 2006, method 5), which
    is good where the two groups hardly overlap, and DeLong's (Biometrics 44, 1988) on the logit scale, which does not
    mind how scores are distributed; where no pair is out of order, Wilson's with the smaller group as tries replaces
    the latter. In simulations with 20 to 500 people on each side, normal, discrete and partly copied scores, the
    95 % interval held the true area in at least 94 % of runs.

    >>> area = area_under_curve([0.9, 0.8, 0.4], [0.5, 0.3, 0.2])
    >>> round(area.value, 4), round(area.low, 4), area.high > 0.98
    (0.8889, 0.2614, True)
    """
    inside, outside = _checked(members, "members"), _checked(nonmembers, "nonmembers")
    if min(inside.size, outside.size) < 2:
        return Rate(nan, nan, nan, _TOO_FEW)
    beaten, lost = _shares_below(inside, outside), 1 - _shares_below(outside, inside)
    # The same sum both ways; the one with fewer terms is rounded less.
    area = float(np.mean(beaten if inside.size <= outside.size else lost))
    z = _quantile(confidence)
    newcombe = _newcombe(area, inside.size, outside.size, z)
    variance = float(np.var(beaten, ddof=1)) / inside.size + float(np.var(lost, ddof=1)) / outside.size
    other = _on_logits(area, z * sqrt(variance))
    if area in (0.0, 1.0):
        fewer = min(inside.size, outside.size)
        other = wilson(area * fewer, fewer, confidence=confidence)
    return Rate(area, min(newcombe.low, other.low), max(newcombe.high, other.high))


def _checked(scores: ArrayLike, name: str) -> FloatArray:
    array = np.asarray(scores, np.float64)
    if array.ndim != 1 or np.isnan(array).any():
        raise InputError(f"{name} must be a flat sequence of numbers, none of them missing. Pass one score per person")
    return array


def _shares_below(scores: FloatArray, others: FloatArray) -> FloatArray:
    """Return for each score the share of the others that are lower, ties counting half."""
    ascending = np.sort(others)
    lower, upper = (np.searchsorted(ascending, scores, side=side) for side in ("left", "right"))
    return (lower + upper) / (2 * others.size)


def _newcombe(area: float, m: int, n: int, z: float) -> Rate:
    """Return all areas t with ``|area - t| <= z sqrt(V(t))``, V being that of Hanley and McNeil with equal sizes."""

    def out_of_reach(t: float) -> bool:
        spread = 1 + ((m + n) / 2 - 1) * ((1 - t) / (2 - t) + t / (1 + t))
        return abs(area - t) > z * sqrt(t * (1 - t) / (m * n) * spread)

    return Rate(area, _edge(0.0, area, out_of_reach), _edge(1.0, area, out_of_reach))


def _edge(outer: float, inner: float, out_of_reach: Callable[[float], bool]) -> float:
    """Return where reach ends between an outer and an inner number; 50 halvings leave nothing to see of the rest."""
    if not out_of_reach(outer):
        return outer
    for _ in range(50):
        middle = (outer + inner) / 2
        outer, inner = (middle, inner) if out_of_reach(middle) else (outer, middle)
    return outer


def _on_logits(area: float, reach: float) -> Rate:
    if area in (0.0, 1.0):
        return Rate(area, area, area)
    odds, width = log(area / (1 - area)), reach / (area * (1 - area))
    low, high = (1 / (1 + exp(-min(max(limit, -700.0), 700.0))) for limit in (odds - width, odds + width))
    return Rate(area, low, high)
