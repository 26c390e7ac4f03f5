"""All partitions of a few items, and how likely each is, by going through every case with exact fractions."""

from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction
from math import comb

Labels = tuple[int, ...]


def canonical(labels: Sequence[Hashable]) -> Labels:
    """The same partition with clusters numbered in the order in which they appear."""
    number: dict[Hashable, int] = {}
    return tuple(number.setdefault(label, len(number)) for label in labels)


def all_partitions(n: int) -> list[Labels]:
    """Every partition of n items once: each item joins a cluster that exists or starts the next one."""
    partitions: list[Labels] = [()]
    for _ in range(n):
        partitions = [(*labels, c) for labels in partitions for c in range(len(set(labels)) + 1)]
    return partitions


def bell(n: int) -> int:
    """The number of partitions of n items, by the size of the last item's company."""
    numbers = [1]
    for m in range(n):
        numbers.append(sum(comb(m, k) * numbers[k] for k in range(m + 1)))
    return numbers[n]


def growing_probabilities(n: int) -> dict[Labels, Fraction]:
    """How likely the coin-toss generator ends at each partition: the sum over all paths of coins and choices."""
    likely: dict[Labels, Fraction] = {(0,): Fraction(1)}
    for _ in range(n - 1):
        grown: dict[Labels, Fraction] = Counter()  # type: ignore[assignment]
        for labels, p in likely.items():
            clusters = len(set(labels))
            grown[(*labels, clusters)] += p / 2
            for cluster in range(clusters):
                grown[(*labels, cluster)] += p / 2 / clusters
        likely = dict(grown)
    return likely


def neighbours(labels: Labels) -> list[list[Labels]]:
    """For each item the partitions that moving it makes: into each other cluster, or alone if it is not."""
    moved = []
    for item, own in enumerate(labels):
        targets = set(labels) - {own}
        if labels.count(own) > 1:
            targets.add(max(labels) + 1)
        moved.append([canonical([*labels[:item], target, *labels[item + 1 :]]) for target in targets])
    return moved


def walk_probabilities(labels: Labels, steps: int) -> dict[Labels, Fraction]:
    """How likely a walk ends at each partition: an item at random, then one of its targets at random, each step."""
    likely = {canonical(labels): Fraction(1)}
    for _ in range(steps):
        ahead: dict[Labels, Fraction] = Counter()  # type: ignore[assignment]
        for partition, p in likely.items():
            for targets in neighbours(partition):
                for target in targets:
                    ahead[target] += p / len(partition) / len(targets)
        likely = dict(ahead)
    return likely
