"""The least epsilon by its definition: binomial tails summed term by term, and every epsilon of a fine grid tried."""

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from math import comb, exp


@lru_cache(maxsize=8)
def tails(r: int, q: Fraction | float) -> Sequence[Fraction | float]:
    """Return P[B >= k] of B binomial(r, q) for k from 0 to r; exact where q is a fraction."""
    terms = [comb(r, k) * q**k * (1 - q) ** (r - k) for k in range(r + 1)]
    return list(accumulate(reversed(terms)))[::-1]


def probability(v: int, r: int, q: Fraction | float, delta: Fraction | float, m: int) -> Fraction | float:
    """Return b + 2 m delta max_i (1/i) P[v - i <= B < v], b = P[B >= v], over all i from 1 to m."""
    at_least = tails(r, q)
    between = max((at_least[max(v - i, 0)] - at_least[v]) / i for i in range(1, m + 1))
    return at_least[v] + 2 * m * delta * between


def least_on_grid(v: int, r: int, alpha: float, delta: float, m: int, *, step: float = 0.02) -> float:
    """Return the smallest epsilon of the grid that so many right guesses do not refute."""
    number = 0
    while probability(v, r, 1 / (1 + exp(-number * step)), delta, m) <= alpha:
        number += 1
    return number * step


def counted(runs: Sequence[Sequence[tuple[float, bool]]], share: float) -> tuple[int, int]:
    """Return how many of the surest guesses of each run are right, and how many there are; no two are as sure.

    A guess is how sure it is, and whether it is right.
    """
    right = guesses = 0
    for run in runs:
        surest = sorted(run, reverse=True)[: max(1, int(share * len(run)))]
        right, guesses = right + sum(hit for _, hit in surest), guesses + len(surest)
    return right, guesses


def chance_to_refute(claim: float, truth: float, r: int, alpha: float, delta: float, m: int) -> float:
    """Return how likely r guesses, each right as often as the true epsilon allows, refute the claim."""
    at_claim, at_truth = (1 / (1 + exp(-epsilon)) for epsilon in (claim, truth))
    enough = [v for v in range(r + 1) if probability(v, r, at_claim, delta, m) < alpha]
    return float(tails(r, at_truth)[enough[0]]) if enough else 0.0
