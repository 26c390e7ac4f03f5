"""Weighted products and their rankings, one number at a time."""

import math
from collections.abc import Mapping, Sequence
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
