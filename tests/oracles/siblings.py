"""Tests with sibling releases by their definitions: release by release, assignment by assignment."""

from collections.abc import Sequence
from itertools import permutations
from math import log
from statistics import fmean, pstdev


def z_of(figures: Sequence[Sequence[float]], b: int, f: int) -> float:
    others = [row[f] for at, row in enumerate(figures) if at != b]
    return (figures[b][f] - fmean(others)) / max(pstdev(others), 1e-9)


def sibling_test(figures: Sequence[Sequence[float]]) -> tuple[float, list[float]]:
    """Return p and the adjusted p of each figure: step-down by the largest z."""
    z = [[z_of(figures, b, f) for f in range(len(figures[0]))] for b in range(len(figures))]
    order = sorted(range(len(z[0])), key=lambda f: -z[0][f])
    adjusted, before = [0.0] * len(order), 0.0
    for place, f in enumerate(order):
        left = order[place:]
        share = sum(max(row[g] for g in left) >= z[0][f] - 1e-9 * max(abs(z[0][f]), 1) for row in z) / len(z)
        before = max(before, share)
        adjusted[f] = before
    return adjusted[order[0]], adjusted


def mean_rank(scores: Sequence[Sequence[float]], b: int) -> float:
    """Return the mean over people of the rank of release b, ties in the middle."""
    return fmean(sum(s < row[b] for s in row) + (sum(s == row[b] for s in row) + 1) / 2 for row in scores)


def first_share(scores: Sequence[Sequence[float]], b: int) -> float:
    return fmean((row[b] == max(row)) / row.count(max(row)) for row in scores)


def assignment_p(nearness: Sequence[Sequence[float]]) -> float:
    number = len(nearness)
    own = sum(nearness[a][a] for a in range(number))
    sums = [sum(nearness[a][to[a]] for a in range(number)) for to in permutations(range(number))]
    return sum(each >= own - 1e-9 for each in sums) / len(sums)


def calibrated(own: float, siblings: Sequence[float]) -> tuple[float, float, float]:
    """Return difference, z and p of one person."""
    difference = own - fmean(siblings)
    return (
        difference,
        difference / (pstdev(siblings) + 0.1),
        (1 + sum(s >= own for s in siblings)) / (len(siblings) + 1),
    )


def nearness(person: tuple[float, str], release: Sequence[tuple[float, str]], rank: int, span: float) -> float:
    """Return minus the log distance to the row of that rank: a number by its range, a category by being another."""
    distances = sorted(abs(person[0] - row[0]) / span + (person[1] != row[1]) for row in release)
    return -log(distances[min(rank, len(release)) - 1] + 1e-3)
