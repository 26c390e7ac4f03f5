"""How a verdict is reached, as it is defined: all loops, all choices of people, no shortcut."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
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


def exact_household_p(
    figure: Callable[[frozenset[int]], float], members: frozenset[int], household: Sequence[int]
) -> float:
    """Return the same over all choices of households: of each size as many as the members live in."""
    seen = figure(members)
    homes = {home: frozenset(at for at, each in enumerate(household) if each == home) for home in set(household)}
    inside = Counter(len(homes[home]) for home in {household[at] for at in members})
    choices = [
        frozenset().union(*(homes[home] for home in choice))
        for choice in map(frozenset, _subsets(sorted(homes)))
        if Counter(len(homes[home]) for home in choice) == inside
    ]
    return mean(bool(figure(choice) >= seen - 1e-9) for choice in choices)


def _subsets(names: Sequence[int]) -> Iterator[tuple[int, ...]]:
    return (choice for size in range(len(names) + 1) for choice in combinations(names, size))


def singled_out(fits: Sequence[frozenset[int]], members: frozenset[int]) -> int:
    """Return how many guesses fit exactly one member."""
    return sum(len(people & members) == 1 for people in fits)


def hypergeometric_p(member_hits: int, other_hits: int, members: int, others: int) -> float:
    """Return P(at least so many of the hits are members), by counting choices."""
    hits = member_hits + other_hits
    ways = [comb(members, k) * comb(others, hits - k) for k in range(member_hits, min(members, hits) + 1)]
    return sum(ways) / comb(members + others, hits)


def alone_among(fits: int, people: int, drawn: int) -> float:
    """Return the share of all ways to draw so many people in which exactly one of those drawn fits."""
    return fits * comb(people - fits, drawn - 1) / comb(people, drawn)


def independent_guesses(fits: Sequence[frozenset[int]], alone: Sequence[float]) -> float:
    """Return how many independent guesses these are worth, by a sum over all pairs that fit somebody in common."""
    a, number = mean(alone), len(fits)
    if a in (0.0, 1.0):
        return number
    pairs = sum((alone[g] - a) * (alone[h] - a) for g in range(number) for h in range(number) if fits[g] & fits[h])
    v = max(a * (1 - a) / number, pairs / number**2)
    return min(max(a * (1 - a) / v, 5), number)


def likely_strangers(counts: Sequence[int], members: int, others: int) -> float:
    """Return what guesses with these counts in the control give among strangers, by 60 steps of EM on the grid."""
    shares = [0.0, *(0.01 / members * (60 * members) ** (at / 69) for at in range(70))]
    bins = [range(1), range(1, 2), range(2, 3), range(3, 5), range(5, 10), range(10, others + 1)]
    h = [mean(float(count in each) for count in counts) for each in bins]
    chance = [
        [sum(comb(others, k) * p**k * (1 - p) ** (others - k) for k in each if k <= others) for p in shares]
        for each in bins
    ]
    w = [1 / len(shares)] * len(shares)
    for _ in range(60):
        total = [sum(chance[b][i] * w[i] for i in range(len(w))) for b in range(len(bins))]
        w = [w[i] * sum(h[b] * chance[b][i] / total[b] for b in range(len(bins)) if h[b]) for i in range(len(w))]
    return float(sum(w[i] * members * p * (1 - p) ** (members - 1) for i, p in enumerate(shares)))
