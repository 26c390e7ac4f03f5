"""How a verdict is reached, as it is defined: all loops, all choices of people, no shortcut."""

from collections.abc import Callable, Sequence
from itertools import combinations
from math import comb
from statistics import mean


def step_down(statistics: Sequence[Sequence[float]]) -> tuple[list[float], list[float]]:
    """Return p and adjusted p of each figure, line by line as the procedure is written."""
    rows, figures = range(len(statistics)), range(len(statistics[0]))
    p = [[mean(statistics[c][f] >= statistics[b][f] for c in rows) for f in figures] for b in rows]
    q = [2.0 for _ in rows]
    adjusted = [0.0 for _ in figures]
    from_largest = sorted(figures, key=lambda f: -p[0][f])
    for f in from_largest:
        q = [min(q[b], p[b][f]) for b in rows]
        adjusted[f] = mean(q[b] <= p[0][f] for b in rows)
    so_far = 0.0
    for f in reversed(from_largest):
        adjusted[f] = so_far = max(so_far, adjusted[f])
    return p[0], adjusted


def holm(p: Sequence[float]) -> list[float]:
    """Return adjusted p: the largest of each smaller p times how many were left when its turn came."""
    order = sorted(range(len(p)), key=lambda f: p[f])
    return [
        min(1.0, max(p[g] * (len(p) - order.index(g)) for g in order if order.index(g) <= order.index(f)))
        for f in range(len(p))
    ]


def exact_p(figure: Callable[[frozenset[int]], float], members: frozenset[int], people: int) -> float:
    """Return the share of all choices of as many people whose figure is at least that of the members."""
    seen = figure(members)
    choices = combinations(range(people), len(members))
    return mean(bool(figure(frozenset(choice)) >= seen - 1e-9) for choice in choices)


def singled_out(fits: Sequence[frozenset[int]], members: frozenset[int]) -> int:
    """Return how many guesses fit exactly one member."""
    return sum(len(people & members) == 1 for people in fits)


def hypergeometric_p(member_hits: int, other_hits: int, members: int, others: int) -> float:
    """Return P(at least so many of the hits are members), by counting choices."""
    hits = member_hits + other_hits
    ways = [comb(members, k) * comb(others, hits - k) for k in range(member_hits, min(members, hits) + 1)]
    return sum(ways) / comb(members + others, hits)
