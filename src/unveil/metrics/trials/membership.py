"""Membership inference: quality of scores for members against non-members."""

from collections.abc import Callable
from fractions import Fraction
from math import ceil, exp, log, nan, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from unveil._kernels.neighbours.density import chance_of_highest
from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.errors import InputError, share
from unveil.metrics.trials.risk import CONFIDENCE, Rate, _quantile, clopper_pearson, wilson

#: Levels with more decimals than that are rounded, so that chances can be computed in whole numbers.
_FINEST_LEVEL = 10**6
_TOO_FEW = "the uncertainty needs at least two members and two non-members"


def area_under_curve(members: ArrayLike, nonmembers: ArrayLike, *, confidence: float = CONFIDENCE) -> Rate:
    """Return the AUC of membership scores, 0 to 1, with CI.

    Formula: ``(#{pairs in which the member is higher} + #{ties} / 2) / #{pairs}``, the area under the ROC curve. 0.5
    means that scores tell nothing, 1 that they tell all members apart; below 0.5 members score lower, which is chance,
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


def called_at(members: ArrayLike, nonmembers: ArrayLike, level: float, *, confidence: float = CONFIDENCE) -> Rate:
    """Return the TPR at FPR ``level``, with CI.

    A member is called if it ranks among the highest ``level`` of itself and the others, ties drawn at random: a person
    outside the data would be with a chance of exactly the level. By luck it is the level, 1 means that all members
    stand out. NaN with fewer than ``1 / level - 1`` others (19 for 5 %, 99 for 1 %, 999 for 0.1 %), because then no
    person could be called for sure, and without members; no level between is filled in.

    Low and high are about the threshold that has exactly this level among all people outside the data, of whom the
    others are few. The members vary (Clopper and Pearson), and so does the threshold, which lies between two of the
    others' scores at this confidence (order statistics); the two reaches are added as squares. With few more people
    than needed nothing can be said about the low end, which is then 0. In simulations (20 to 2,000 people on each side;
    levels of 1, 2, 5 and 10 %; equal, shifted, heavy-tailed, discrete and partly copied scores; 1,000 runs each) the
    95 % interval held the truth in at least 94.5 % of runs, in most in 96 to 99 %.

    >>> rate = called_at([99, 98, 5, 0], range(19), 0.05)
    >>> rate.value, rate.low, round(rate.high, 3)
    (0.5, 0.0, 0.932)
    """
    inside, outside = _checked(members, "members"), _checked(nonmembers, "nonmembers")
    exact = Fraction(repr(share(level, "level", zero=False, one=False))).limit_denominator(_FINEST_LEVEL)
    people = outside.size + 1
    if not inside.size or exact * people < 1:
        least = ceil(1 / max(exact, Fraction(1, _FINEST_LEVEL))) - 1
        return Rate(nan, nan, nan, f"this level needs members, and at least {least} non-members")

    def called(part: Fraction) -> float:
        return float(chance_of_highest(inside, outside, part).mean())

    value = called(exact)
    few, many = (called(Fraction(places, people)) for places in _places(outside.size, exact, confidence))
    by_members = clopper_pearson(value * inside.size, inside.size, confidence=confidence)
    low = value - sqrt((value - by_members.low) ** 2 + (value - few) ** 2)
    high = value + sqrt((by_members.high - value) ** 2 + (many - value) ** 2)
    return Rate(value, max(low, 0.0), min(high, 1.0), tries=inside.size)


def _places(others: int, level: Fraction, confidence: float) -> tuple[int, int]:
    """Return the smallest and largest rank of the threshold at this level."""
    from scipy.special import bdtr

    tail, below = (1 - confidence) / 2, bdtr(np.arange(others + 1), others, float(level))
    return int(np.searchsorted(below, tail, side="right")), int(np.searchsorted(below, 1 - tail)) + 1


class Curve(NamedTuple):
    """ROC curve of an attacker: TPR at FPR from 0 to 1."""

    false: FloatArray
    true: FloatArray


def curve(members: ArrayLike, nonmembers: ArrayLike) -> Curve:
    """Return the corners of the ROC curve, (0, 0) to (1, 1).

    Between two corners the line is straight: up or to the right, and slanted where members and others tie, who are then
    called at random. The area below it is that of `area_under_curve`. Without people on either side it is the diagonal,
    which tells nothing.

    >>> curve([3, 2], [2, 1])
    Curve(false=array([0. , 0. , 0.5, 1. ]), true=array([0. , 0.5, 1. , 1. ]))
    """
    inside, outside = _checked(members, "members"), _checked(nonmembers, "nonmembers")
    if not (inside.size and outside.size):
        return Curve(np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    from_top = np.unique(np.concatenate([inside, outside]))[::-1]
    false, true = (_at_least(each, from_top) for each in (outside, inside))
    false, true = (np.concatenate([[0], each]) for each in (false, true))
    # A point on the line between its neighbors is no corner; whole numbers say so exactly.
    right, up = np.diff(false), np.diff(true)
    turns = np.concatenate([[True], right[:-1] * up[1:] != right[1:] * up[:-1], [True]])
    return Curve(false[turns] / outside.size, true[turns] / inside.size)


def pointed_out(members: ArrayLike, nonmembers: ArrayLike, *, error: float = 0.05) -> BoolArray:
    """Return the members flagged at an FDR of about ``error``.

    Prior odds are even.

    Each member has a p, ``(1 + #{others that score at least as high}) / (1 + #{others})``, and the procedure of
    Benjamini and Hochberg (1995) is applied to them: the r highest are named for the largest r for which p of the r-th
    is at most ``error * r / #{members}``. None are named where scores tell nothing, but for a share ``error`` of such
    audits at most; p is never below ``1 / (1 + #{others})``, so that a few members among many cannot be named, however
    sure the attacker is.

    >>> pointed_out([9, 8, 7, 1], range(99), error=0.5), pointed_out([200, 300, 7, 1], range(99)).tolist()
    (array([False, False, False, False]), [True, True, False, False])
    """
    inside, outside = _checked(members, "members"), _checked(nonmembers, "nonmembers")
    exact = Fraction(repr(share(error, "error", zero=False, one=False)))
    reached = 1 + _at_least(outside, inside)
    # In fractions, so that a p that is just low enough is.
    step = exact * (outside.size + 1) / max(inside.size, 1)
    named = [most for rank, most in enumerate(np.sort(reached).tolist(), 1) if most <= rank * step]
    return reached <= max(named, default=0)


def _at_least(scores: FloatArray, thresholds: FloatArray) -> IntArray:
    """Return how many scores reach each threshold."""
    return scores.size - np.searchsorted(np.sort(scores), thresholds, side="left")


def _checked(scores: ArrayLike, name: str) -> FloatArray:
    array = np.asarray(scores, np.float64)
    if array.ndim != 1 or np.isnan(array).any():
        raise InputError(f"{name} has missing values or is not a flat sequence. Pass one number per person")
    return array


def _shares_below(scores: FloatArray, others: FloatArray) -> FloatArray:
    """Return the share of non-members with lower scores; ties count half."""
    ascending = np.sort(others)
    lower, upper = (np.searchsorted(ascending, scores, side=side) for side in ("left", "right"))
    return (lower + upper) / (2 * others.size)


def _newcombe(area: float, m: int, n: int, z: float) -> Rate:
    """Return the AUC interval of Newcombe.

    It has all areas t with ``|area - t| <= z sqrt(V(t))``, V being that of Hanley and McNeil with equal sizes.
    """

    def out_of_reach(t: float) -> bool:
        spread = 1 + ((m + n) / 2 - 1) * ((1 - t) / (2 - t) + t / (1 + t))
        return abs(area - t) > z * sqrt(t * (1 - t) / (m * n) * spread)

    return Rate(area, _edge(0.0, area, out_of_reach), _edge(1.0, area, out_of_reach))


def _edge(outer: float, inner: float, out_of_reach: Callable[[float], bool]) -> float:
    """Return the interval limit between two numbers, by 50 halvings."""
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
