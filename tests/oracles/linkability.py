"""Linkability by its definition: every way of breaking every tie, one by one, in exact fractions."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import comb

#: A row: its numbers and its categories. None is a number that is missing.
Row = tuple[tuple[int | None, ...], tuple[int, ...]]


def distance(one: Row, other: Row, steps: Sequence[Fraction | int], mismatch: int) -> Fraction:
    """Return the distance of two rows: what each step costs, or a mismatch where a number or category is not there."""
    total = Fraction(0)
    for x, y, step in zip(one[0], other[0], steps, strict=True):
        if x is None or y is None:
            total += mismatch * (x is not y)
        else:
            total += abs(x - y) * step
    return total + sum(mismatch for x, y in zip(one[1], other[1], strict=True) if x != y)


def nearest(distances: Sequence[Fraction], k: int) -> list[tuple[Fraction, int]]:
    """Return all rows at most as far as the k-th nearest, by distance and number."""
    ranked = sorted((far, row) for row, far in enumerate(distances))
    return [(far, row) for far, row in ranked if far <= ranked[min(k, len(ranked)) - 1][0]]


def ways(distances: Sequence[Fraction], k: int) -> list[frozenset[int]]:
    """Return every set of k rows that breaking ties may give, each as likely as any other."""
    last = sorted(distances)[k - 1]
    sure = {row for row, far in enumerate(distances) if far < last}
    tied = [row for row, far in enumerate(distances) if far == last]
    return [frozenset(sure | set(some)) for some in combinations(tied, k - len(sure))]


def chance(first: Sequence[Fraction], second: Sequence[Fraction], k: int) -> Fraction:
    """Return the share of all ways in which the k nearest rows of the two halves share one."""
    here, there = ways(first, k), ways(second, k)
    return Fraction(sum(bool(one & other) for one in here for other in there), len(here) * len(there))


def naive_chance(rows: int, k: int) -> Fraction:
    """Return the chance that two random sets of k rows share one."""
    return 1 - Fraction(comb(rows - k, k), comb(rows, k))


def chance_by_formula(
    shared: tuple[int, int, int], tied: int, drawn: int, other_tied: int, other_drawn: int
) -> Fraction:
    """Return the chance from counts: (tied and sure, sure and tied, tied in both), no row being sure in both."""
    a, b, both = shared
    missed = Fraction(0)
    for j in range(min(both, drawn) + 1):
        if tied - a - both >= drawn - j and other_tied - b - j >= 0:
            held = Fraction(comb(both, j) * comb(tied - a - both, drawn - j), comb(tied, drawn))
            missed += held * Fraction(comb(other_tied - b - j, other_drawn), comb(other_tied, other_drawn))
    return 1 - missed
