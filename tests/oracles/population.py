"""Populations that are known, samples of them, and distributions summed term by term."""

from collections.abc import Callable, Sequence
from math import exp, lgamma, log

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int32]


def negative_binomial(f: int, p: float, large: int) -> list[float]:
    """The chances of F = f, f + 1, …, large, when F tries make f successes."""
    return [
        exp(lgamma(h) - lgamma(f) - lgamma(h - f + 1) + f * log(p) + (h - f) * log(1 - p)) for h in range(f, large + 1)
    ]


def poisson(rate: float, large: int) -> list[float]:
    return [exp(x * log(rate) - rate - lgamma(x + 1)) for x in range(large + 1)]


def urn(f: float, others: float, draws: int) -> list[float]:
    """The chances of 0, 1, … more balls of a colour, when each draw adds a ball of its colour (step by step)."""
    chance = [1.0]
    for draw in range(draws):
        grown = [0.0] * (draw + 2)
        for more, p in enumerate(chance):
            hit = (f + more) / (f + others + draw)
            grown[more + 1] += p * hit
            grown[more] += p * (1 - hit)
        chance = grown
    return chance


def mean(chances: Sequence[float], first: int, of: Callable[[int], float]) -> float:
    """The mean of a function of F, which is ``first`` or more."""
    return sum(p * of(first + x) for x, p in enumerate(chances))


def product_population(
    rng: np.random.Generator, people: int, levels: Sequence[int], tails: Sequence[float], together: float
) -> Codes:
    """People whose columns have levels as frequent as 1 / rank**tail; ``together`` ties columns to one another."""
    base = rng.random(people)
    columns = []
    for count, tail in zip(levels, tails, strict=True):
        shares = np.arange(1, count + 1.0) ** -tail
        lot = np.where(rng.random(people) < together, base, rng.random(people))
        columns.append(np.minimum(np.searchsorted(np.cumsum(shares / shares.sum()), lot), count - 1) + 1)
    return np.array(columns, np.int32).T


def pitman_population(rng: np.random.Generator, people: int, theta: float, alpha: float) -> Codes:
    """The class of each person, who comes and joins or opens a class as in Pitman's urn."""
    member = np.empty(people, np.int64)
    opened = 0
    size: list[int] = []
    for n in range(people):
        lot = rng.random() * (theta + n)
        if lot < theta + opened * alpha:
            member[n] = opened
            size.append(1)
            opened += 1
            continue
        while True:  # a class with chance in proportion to its size less alpha: that of a person, kept by lot
            joined = member[rng.integers(n)]
            if rng.random() * size[joined] < size[joined] - alpha:
                break
        member[n] = joined
        size[joined] += 1
    return (member[:, None] + 1).astype(np.int32)
