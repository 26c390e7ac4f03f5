"""Masking methods as their definitions say, slow and obvious: what the fast ones are compared with."""

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
#: Who may be chosen by a rank, given the free ranks above it, and how likely each is.
Choice = Callable[[int, Sequence[int]], dict[int, Fraction]]


def by_window(window: int) -> Choice:
    def choose(rank: int, free: Sequence[int]) -> dict[int, Fraction]:
        near = [other for other in free if other - rank <= window]
        return {other: Fraction(1, len(near)) for other in near}

    return choose


def by_weight(weight: Sequence[float]) -> Choice:
    def choose(rank: int, free: Sequence[int]) -> dict[int, Fraction]:
        near = {other: Fraction(weight[other - rank - 1]) for other in free if other - rank <= len(weight)}
        total = sum(near.values())
        return {other: share / total for other, share in near.items() if share}

    return choose


def by_bucket(bucket: Sequence[int]) -> Choice:
    def choose(rank: int, free: Sequence[int]) -> dict[int, Fraction]:
        have = sorted({bucket[other] for other in free})
        total = sum(Fraction(1, 2 ** (each - bucket[rank])) for each in have)
        found = {}
        for each in have:
            inside = [other for other in free if bucket[other] == each]
            for other in inside:
                found[other] = Fraction(1, 2 ** (each - bucket[rank])) / total / len(inside)
        return found

    return choose


def swap_outcomes(n: int, choose: Choice) -> dict[tuple[int, ...], Fraction]:
    """Return the probability of every outcome of rank swapping: for each rank the one it swaps with, or itself."""
    outcomes: dict[tuple[int, ...], Fraction] = {}

    def go(rank: int, partner: list[int], done: frozenset[int], probability: Fraction) -> None:
        if rank == n:
            outcomes[tuple(partner)] = outcomes.get(tuple(partner), Fraction(0)) + probability
            return
        free = [other for other in range(rank + 1, n) if other not in done]
        chances = {} if rank in done else choose(rank, free)
        if not chances:
            go(rank + 1, partner, done, probability)
        for other, chance in chances.items():
            swapped = partner.copy()
            swapped[rank], swapped[other] = other, rank
            go(rank + 1, swapped, done | {rank, other}, probability * chance)

    go(0, list(range(n)), frozenset(), Fraction(1))
    return outcomes


def swap_kernel(n: int, choose: Choice) -> Floats:
    """Return the probability that rank a gets the value of rank b, at [a, b]."""
    kernel = np.zeros((n, n))
    for partner, probability in swap_outcomes(n, choose).items():
        for rank, other in enumerate(partner):
            kernel[rank, other] += float(probability)
    return kernel


def value_chances(values: Sequence[int], choose: Choice, *, in_order: bool) -> Floats:
    """Return the chance of each new value, in columns, given each old one, in lines.

    Equal values are ranked by lot, which changes nothing between values; without an order, so are the values.
    """
    kinds = sorted(set(values))
    kernel = swap_kernel(len(values), choose)
    orders = [tuple(kinds)] if in_order else list(permutations(kinds))
    found = np.zeros((len(kinds), len(kinds)))
    for order in orders:
        ranked = [value for value in order for _ in range(list(values).count(value))]
        for one, other in product(range(len(values)), repeat=2):
            found[kinds.index(ranked[one]), kinds.index(ranked[other])] += kernel[one, other]
    counts = np.array([list(values).count(value) for value in kinds])
    return np.asarray(found / counts[:, None] / len(orders))


def mdav(values: Floats, k: int) -> set[frozenset[int]]:
    """Return the groups of MDAV; for values without ties in their distances."""
    left = list(range(len(values)))
    groups: set[frozenset[int]] = set()

    def distance(row: int, point: Floats) -> float:
        return float(((values[row] - point) ** 2).sum())

    def group_around(row: int) -> None:
        near = sorted(left, key=lambda other: distance(other, values[row]))[:k]
        groups.add(frozenset(near))
        for other in near:
            left.remove(other)

    while len(left) >= 3 * k:
        mean = values[left].mean(axis=0)
        first = max(left, key=lambda row: distance(row, mean))
        second = max(left, key=lambda row: distance(row, values[first]))
        group_around(first)
        group_around(second)
    if len(left) >= 2 * k:
        mean = values[left].mean(axis=0)
        group_around(max(left, key=lambda row: distance(row, mean)))
    groups.add(frozenset(left))
    return groups


def squares_within(values: Floats, groups: Sequence[Sequence[int]]) -> float:
    return float(sum(((values[list(group)] - values[list(group)].mean()) ** 2).sum() for group in groups))


def partitions(items: Sequence[int], k: int) -> Iterator[list[list[int]]]:
    """Yield all ways to put items in groups of at least k, neighbours or not."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for size in range(k - 1, len(rest) + 1):
        for others in combinations(rest, size):
            for more in partitions([item for item in rest if item not in others], k):
                yield [[first, *others], *more]


def least_squares(values: Floats, k: int) -> float:
    """Return the least sum of squares within groups of at least k, over all ways to make them."""
    return min(squares_within(values, groups) for groups in partitions(range(len(values)), k))


def mondrian(position: Floats, k: int) -> set[frozenset[int]]:
    """Return the classes of strict Mondrian."""

    def cut(rows: list[int]) -> list[list[int]]:
        part = position[rows]
        span = part.max(axis=0) - part.min(axis=0)
        for column in sorted(range(part.shape[1]), key=lambda place: -span[place]):
            median = sorted(part[:, column])[(len(rows) - 1) // 2]
            for is_low in (part[:, column] <= median, part[:, column] < median):
                low = [row for row, yes in zip(rows, is_low, strict=True) if yes]
                high = [row for row, yes in zip(rows, is_low, strict=True) if not yes]
                if min(len(low), len(high)) >= k:
                    return cut(low) + cut(high)
        return [rows]

    return {frozenset(rows) for rows in cut(list(range(len(position))))}
