"""Distances of columns, associations of pairs and the propensity model, each written as its definition says it."""

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

Cells = Sequence[Any]


def total_variation(original: Cells, released: Cells) -> Fraction:
    """Half the sum of the differences of shares over all values, None being one."""
    before, after = Counter(original), Counter(released)
    apart = (abs(Fraction(before[v], len(original)) - Fraction(after[v], len(released))) for v in {*before, *after})
    return sum(apart, Fraction(0)) / 2


def share_up_to(cells: Sequence[Fraction], value: Fraction) -> Fraction:
    return Fraction(sum(cell <= value for cell in cells), len(cells))


def kolmogorov_smirnov(original: Sequence[Fraction], released: Sequence[Fraction]) -> Fraction:
    """The largest difference of the two shares of values up to some value."""
    return max(abs(share_up_to(original, v) - share_up_to(released, v)) for v in {*original, *released})


def wasserstein(original: Sequence[Fraction], released: Sequence[Fraction]) -> Fraction | None:
    """The mean way when each copy of a value moves to its place, over the range of the original."""
    copies = math.lcm(len(original), len(released))
    before = [value for value in sorted(original) for _ in range(copies // len(original))]
    after = [value for value in sorted(released) for _ in range(copies // len(released))]
    way = sum((abs(x - y) for x, y in zip(before, after, strict=True)), Fraction(0)) / copies
    return in_units(way, max(original) - min(original))


def in_units(change: Fraction, unit: Fraction) -> Fraction | None:
    if unit == 0:
        return Fraction(0) if change == 0 else None
    return change / unit


def mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def deviation(values: Sequence[Fraction]) -> float:
    middle = mean(values)
    return math.sqrt(mean([(value - middle) ** 2 for value in values]))


def pearson(x: Sequence[Fraction], y: Sequence[Fraction]) -> float:
    """The covariance over the two deviations; NaN where one of them is 0."""
    if len(x) < 2 or len(set(x)) == 1 or len(set(y)) == 1:
        return math.nan
    a, b = mean(x), mean(y)
    together = mean([(p - a) * (q - b) for p, q in zip(x, y, strict=True)])
    return float(together) / (deviation(x) * deviation(y))


def mean_rank(values: Sequence[Fraction]) -> list[Fraction]:
    """One plus those that are smaller plus half of the others that are equal."""
    return [1 + sum(w < v for w in values) + Fraction(sum(w == v for w in values) - 1, 2) for v in values]


def cramers_v(a: Cells, b: Cells) -> float:
    """Cramér's V with Bergsma's correction, cell by cell of the whole table."""
    rows, first, second, cells = len(a), Counter(a), Counter(b), Counter(zip(a, b, strict=True))
    if rows < 2 or min(len(first), len(second)) < 2:
        return math.nan
    phi = Fraction(0)
    for x in first:
        for y in second:
            expected = Fraction(first[x] * second[y], rows)
            phi += (cells[x, y] - expected) ** 2 / expected / rows
    corrected = max(Fraction(0), phi - Fraction((len(first) - 1) * (len(second) - 1), rows - 1))
    sizes = [len(each) - Fraction((len(each) - 1) ** 2, rows - 1) for each in (first, second)]
    if min(sizes) <= 1:
        return math.nan
    return math.sqrt(min(corrected / (min(sizes) - 1), Fraction(1)))


def correlation_ratio(x: Sequence[Fraction], group: Cells) -> float:
    """The root of one minus the variance within groups over the whole one, each by its degrees of freedom."""
    rows, groups = len(x), set(group)
    if rows <= len(groups) or len(groups) < 2 or len(set(x)) < 2:
        return math.nan
    within = Fraction(0)
    for each in groups:
        members = [value for value, its in zip(x, group, strict=True) if its == each]
        within += sum(((value - mean(members)) ** 2 for value in members), Fraction(0))
    whole = sum(((value - mean(x)) ** 2 for value in x), Fraction(0))
    return math.sqrt(max(0.0, float(1 - (within / (rows - len(groups))) / (whole / (rows - 1)))))


def area(scores: Sequence[float], labels: Sequence[bool]) -> float:
    """The share of pairs of a labelled and another row in which the first has the higher score, ties half."""
    pairs = [
        (s, t)
        for s, one in zip(scores, labels, strict=True)
        if one
        for t, o in zip(scores, labels, strict=True)
        if not o
    ]
    return sum(1.0 if s > t else 0.5 if s == t else 0.0 for s, t in pairs) / len(pairs) if pairs else math.nan


def logistic(features: NDArray[np.float64], labels: NDArray[np.bool_], ridge: float) -> NDArray[np.float64]:
    """The coefficients, the intercept first, found by a general minimiser."""
    from scipy.optimize import minimize

    signs = np.where(labels, 1.0, -1.0)

    def cost(found: NDArray[np.float64]) -> float:
        margin = signs * (features @ found[1:] + found[0])
        return float(np.logaddexp(0.0, -margin).sum() + ridge * (found[1:] ** 2).sum() / 2)

    best = minimize(cost, np.zeros(features.shape[1] + 1), method="BFGS", options={"gtol": 1e-9})
    return np.asarray(best.x, np.float64)
