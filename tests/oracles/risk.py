"""Intervals by their definitions: the edges of the set of values that the data do not contradict, by halving."""

import math
from collections.abc import Callable
from math import comb

Limits = tuple[float, float]


def halve(inside: Callable[[float], bool], yes: float, no: float) -> float:
    """Return where ``inside`` turns from true to false between two places."""
    if inside(no):
        return no
    for _ in range(200):
        middle = (yes + no) / 2
        yes, no = (middle, no) if inside(middle) else (yes, middle)
    return yes


def normal_quantile(confidence: float) -> float:
    """Return how many standard deviations around the mean hold this share of a normal distribution."""
    return halve(lambda z: math.erf(z / math.sqrt(2)) <= confidence, 0.0, 40.0)


def wilson(hits: float, tries: int, confidence: float) -> Limits:
    """Return the least and the greatest p whose score test does not reject the hits."""
    z = normal_quantile(confidence)

    def accepted(p: float) -> bool:
        return (hits - tries * p) ** 2 <= z * z * tries * p * (1 - p) + 1e-15

    share = hits / tries
    return halve(accepted, share, 0.0), halve(accepted, share, 1.0)


def excess(attack: tuple[float, int], control: tuple[float, int], confidence: float) -> Limits:
    """Return limits of 1 - r over the ratios r for which the difference ``misses - r control misses`` can be 0."""
    (x, x_low, x_high), (y, y_low, y_high) = (misses(*table, confidence) for table in (attack, control))

    def not_too_small(r: float) -> bool:
        return x - r * y <= math.hypot(x - x_low, r * (y_high - y))

    def not_too_large(r: float) -> bool:
        return r * y - x <= math.hypot(x_high - x, r * (y - y_low))

    ratio = x / y
    return 1 - halve(not_too_large, ratio, 1e6), 1 - halve(not_too_small, ratio, 0.0)


def misses(hits: float, tries: int, confidence: float) -> tuple[float, float, float]:
    """Return the share of tries that missed, and its limits."""
    low, high = beta_limits(tries - hits, tries, confidence)
    return 1 - hits / tries, low, high


def beta_limits(hits: float, tries: int, confidence: float) -> Limits:
    """Return the limits of Clopper and Pearson where hits need not be whole: tails are areas of beta distributions."""
    from scipy.special import betainc

    tail, share = (1 - confidence) / 2, hits / tries
    low = 0.0 if hits == 0 else halve(lambda p: bool(betainc(hits, tries - hits + 1, p) >= tail), share, 0.0)
    high = 1.0 if hits == tries else halve(lambda p: bool(betainc(hits + 1, tries - hits, p) <= 1 - tail), share, 1.0)
    return low, high


def clopper_pearson(hits: int, tries: int, confidence: float) -> tuple[float, float]:
    """Return the least and the greatest p under which as many, or as few, hits are not too unlikely."""
    tail = (1 - confidence) / 2
    share = hits / tries

    def not_too_many(p: float) -> bool:
        return sum(binomial(tries, p)[hits:]) >= tail

    def not_too_few(p: float) -> bool:
        return sum(binomial(tries, p)[: hits + 1]) >= tail

    return halve(not_too_many, share, 0.0), halve(not_too_few, share, 1.0)


def binomial(tries: int, rate: float) -> list[float]:
    """Return the probability of each number of hits."""
    return [comb(tries, hits) * rate**hits * (1 - rate) ** (tries - hits) for hits in range(tries + 1)]
