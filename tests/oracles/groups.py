"""Rates of groups by plain loops, and what a reader could compute from shown cells."""

from collections.abc import Sequence
from itertools import combinations
from math import fsum

Label = str | None


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
