"""Weighted products and their rankings, one number at a time."""

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise, product

#: What one metric has at each place; NaN where it is undefined.
Row = Sequence[float]


def quotients(row: Row, *, rising: bool, floor: float) -> list[float]:
    """The quotient of each value with the most private one, after zeros were lifted."""
    there = [value for value in row if not math.isnan(value)]
    if not there:
        return list(row)
    size = max(abs(value) for value in there)
    plain = [math.nan if math.isnan(value) else 0.0 if value <= 1e-12 * size else value for value in row]
    if any(value == 0 for value in plain):
        largest = max(value for value in plain if not math.isnan(value))
        plain = [value + floor * largest if largest > 0 else value * 0 + 1 for value in plain]
    kept = [value for value in plain if not math.isnan(value)]
    return [min(kept) / value if rising else value / max(kept) for value in plain]


def products(
    rows: Mapping[str, Row], rising: Mapping[str, bool], weights: Mapping[str, float], floor: float
) -> list[float]:
    """Q at each place: the product of the quotients, each to the power of its weight."""
    every = {name: quotients(rows[name], rising=rising[name], floor=floor) for name in weights}
    places = len(next(iter(rows.values())))
    return [math.prod(every[name][place] ** weight for name, weight in weights.items()) for place in range(places)]


def order(scores: Sequence[float]) -> tuple[float, float]:
    """Whether the scores that are there fall strictly, and the share of neighbours that do."""
    there = [score for score in scores if not math.isnan(score)]
    if len(there) < 2:
        return math.nan, math.nan
    right = [before > after * (1 + 1e-12) for before, after in pairwise(there)]
    return float(all(right)), sum(right) / len(right)


def grid(metrics: int, parts: int) -> list[tuple[float, ...]]:
    """All weights that are multiples of one over ``parts`` and sum to 1."""
    every = product(range(parts + 1), repeat=metrics)
    return [tuple(part / parts for part in each) for each in every if sum(each) == parts]


def sums(
    rows: Mapping[str, Row], rising: Mapping[str, bool], weights: Mapping[str, float], floor: float
) -> list[float]:
    """The weighted sum of the same quotients at each place."""
    every = {name: quotients(rows[name], rising=rising[name], floor=floor) for name in weights}
    places = len(next(iter(rows.values())))
    return [math.fsum(weight * every[name][place] for name, weight in weights.items()) for place in range(places)]


def reversals(scores: Callable[[Mapping[str, Row]], list[float]], rows: Mapping[str, Row]) -> list[float]:
    """By place: 1 if two others change places when it is left out, 0 if not, NaN where fewer than two others are."""
    before = scores(rows)
    found = []
    for left_out in range(len(before)):
        fewer = {name: [math.nan if k == left_out else x for k, x in enumerate(row)] for name, row in rows.items()}
        after = scores(fewer)
        others = [k for k, score in enumerate(after) if k != left_out and not math.isnan(score)]
        if len(others) < 2 or math.isnan(before[left_out]):
            found.append(math.nan)
            continue
        turned = any(
            before[a] > before[b] * (1 + 1e-12) and after[b] > after[a] * (1 + 1e-12) for a in others for b in others
        )
        found.append(float(turned))
    return found
