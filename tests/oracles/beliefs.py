"""Belief functions by their definitions: over all subsets of a small frame, in exact fractions where there are any."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import chain, combinations, product
from math import log, prod
from typing import Any

import numpy as np

Set = frozenset[int]
Masses = dict[Set, Any]

EMPTY: Set = frozenset()


def subsets(n: int) -> list[Set]:
    """All 2**n subsets of the frame."""
    return [frozenset(one) for one in chain.from_iterable(combinations(range(n), k) for k in range(n + 1))]


def belief(m: Mapping[Set, Any], event: Set) -> Any:
    return sum(mass for one, mass in m.items() if one <= event)


def plausibility(m: Mapping[Set, Any], event: Set) -> Any:
    return sum(mass for one, mass in m.items() if one & event)


def commonality(m: Mapping[Set, Any], event: Set) -> Any:
    return sum(mass for one, mass in m.items() if one >= event)


def pignistic(m: Mapping[Set, Any], x: int) -> Any:
    return sum(mass / len(one) for one, mass in m.items() if x in one)


def nonspecificity(m: Mapping[Set, Any]) -> float:
    return sum(float(mass) * log(len(one)) for one, mass in m.items())


def masses_from_belief(bel: Mapping[Set, Any], n: int) -> Masses:
    """Proposition 3: alternating sums."""
    return {a: sum((-1) ** (len(a) - len(b)) * bel[b] for b in subsets(n) if b <= a) for a in subsets(n)}


def excess(m: Mapping[Set, Any], probability: Sequence[Any]) -> Any:
    """The largest Bel(A) - P(A): the belief is compatible with P if it is 0 (Definition 7)."""
    return max(belief(m, a) - sum(probability[x] for x in a) for a in subsets(len(probability)))


def _added(pairs: Iterator[tuple[Set, Any]]) -> Masses:
    sums: Masses = {}
    for one, mass in pairs:
        sums[one] = sums.get(one, 0) + mass
    return {one: mass for one, mass in sums.items() if mass}


def _ways(masses: Sequence[Masses]) -> Iterator[tuple[list[Set], list[Any]]]:
    for way in product(*(m.items() for m in masses)):
        yield [one for one, _ in way], [mass for _, mass in way]


def intersection(sets: Sequence[Set]) -> Set:
    return frozenset.intersection(*sets)


def unnormalized(masses: Sequence[Masses], n: int) -> Masses:
    return _added((intersection(sets), prod(weights)) for sets, weights in _ways(masses))


def dempster(masses: Sequence[Masses], n: int) -> Masses | None:
    found = unnormalized(masses, n)
    lost = found.pop(EMPTY, 0)
    return {one: mass / (1 - lost) for one, mass in found.items()} if found else None


def yager(masses: Sequence[Masses], n: int) -> Masses:
    return _added((one or frozenset(range(n)), mass) for one, mass in unnormalized(masses, n).items())


def dubois_prade(masses: Sequence[Masses], n: int) -> Masses:
    return _added((intersection(sets) or frozenset.union(*sets), prod(ws)) for sets, ws in _ways(masses))


def pcr5(masses: Sequence[Masses], n: int) -> Masses:
    def shared() -> Iterator[tuple[Set, Any]]:
        for sets, weights in _ways(masses):
            if intersection(sets):
                yield intersection(sets), prod(weights)
                continue
            claims = {one: prod(w for s, w in zip(sets, weights, strict=True) if s == one) for one in set(sets)}
            for one, claim in claims.items():
                yield one, prod(weights) * claim / sum(claims.values())

    return _added(shared())


def disjunctive(masses: Sequence[Masses], n: int) -> Masses:
    return _added((frozenset.union(*sets), prod(weights)) for sets, weights in _ways(masses))


def mean(masses: Sequence[Masses], n: int) -> Masses:
    return _added((one, mass / len(masses)) for m in masses for one, mass in m.items())


def cautious(masses: Sequence[Masses], n: int) -> Masses | None:
    """Weights of evidence w(A), the least of each, and the simple mass functions A^w combined one by one."""
    frame = frozenset(range(n))
    if any(not m.get(frame) for m in masses):
        return None

    def weight(m: Masses, a: Set) -> Fraction:
        return prod(
            (Fraction(commonality(m, b)) ** (-1) ** (len(b) - len(a) + 1) for b in subsets(n) if b >= a),
            start=Fraction(1),
        )

    found: Masses = {frame: Fraction(1)}
    for a in subsets(n)[:-1]:
        w = min(weight(m, a) for m in masses)
        # Weights above 1 make masses below 0 on the way.
        found = _added((one & b, m * v) for one, m in found.items() for b, v in ((a, 1 - w), (frame, w)))
    lost = found.pop(EMPTY, 0)
    return {one: mass / (1 - lost) for one, mass in found.items()}


def conditioned(m: Masses, event: Set) -> Masses | None:
    """Every mass on the part within the event; None if a focal set has none."""
    return None if any(not one & event for one in m) else _added((one & event, mass) for one, mass in m.items())


def support_conditioning(masses: Sequence[Masses], n: int) -> Masses | None:
    shared = intersection([frozenset.union(*m) for m in masses])
    narrowed = [conditioned(m, shared) for m in masses]
    known = [m for m in narrowed if m is not None]
    return min(known, key=nonspecificity) if len(known) == len(masses) else None


def least_probability(masses: Sequence[Masses], n: int, event: Set) -> float | None:
    """The least P(event) over all P with P >= every Bel on every subset; None if there is no P."""
    from scipy.optimize import linprog

    every = subsets(n)
    rows = [[-float(x in a) for x in range(n)] for a in every]
    ends = [-float(max(belief(m, a) for m in masses)) for a in every]
    cost = [float(x in event) for x in range(n)]
    found = linprog(cost, rows, np.array(ends) + 1e-12, [[1.0] * n], [1.0], bounds=(0, 1))
    return float(found.fun) if found.status == 0 else None


def least_nonspecificity(masses: Sequence[Masses], n: int) -> float | None:
    """The least N over all masses on all subsets of elements whose belief is below every allowed probability."""
    from scipy.optimize import linprog

    every = subsets(n)[1:]
    ends = [least_probability(masses, n, a) for a in every]
    if None in ends:
        return None
    rows = [[float(b <= a) for b in every] for a in every]
    found = linprog([log(len(a)) for a in every], rows, np.array(ends) + 1e-12, [[1.0] * len(every)], [1.0])
    return float(found.fun)
