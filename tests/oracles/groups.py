"""Rates of groups by plain loops, what a reader could compute from shown cells, and exact intervals by their tails."""

from collections.abc import Sequence
from itertools import combinations
from math import fsum

from tests.oracles.risk import binomial, halve

Label = str | None


def clopper_pearson(hits: int, tries: int, confidence: float) -> tuple[float, float]:
    """Return the least and the greatest p under which as many, or as few, hits are not too unlikely."""
    tail = (1 - confidence) / 2
    share = hits / tries

    def not_too_many(p: float) -> bool:
        return sum(binomial(tries, p)[hits:]) >= tail

    def not_too_few(p: float) -> bool:
        return sum(binomial(tries, p)[: hits + 1]) >= tail

    return halve(not_too_many, share, 0.0), halve(not_too_few, share, 1.0)


def tallies(chances: Sequence[float], rows: Sequence[int], labels: Sequence[Label]) -> dict[Label, tuple[float, int]]:
    """Return hits and tries of each label."""
    found: dict[Label, list[float]] = {}
    for chance, row in zip(chances, rows, strict=True):
        found.setdefault(labels[row], []).append(chance)
    return {label: (fsum(each), len(each)) for label, each in found.items()}


def can_be_computed(small: set[Label], shown: Sequence[set[Label]], everybody: set[Label]) -> bool:
    """Return whether adding and subtracting shown cells, one of which is everybody, gives exactly these labels.

    Shown cells do not overlap, so a set of labels can be had as a union of cells, or as everybody without one.
    """
    for size in range(len(shown) + 1):
        for some in combinations(shown, size):
            union = set().union(*some)
            if small in (union, everybody - union):
                return True
    return False
