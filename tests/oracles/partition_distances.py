"""Distances between partitions by their definitions: over pairs, items, permutations and transfers, one by one."""

from collections import Counter
from collections.abc import Hashable, Sequence
from fractions import Fraction
from itertools import combinations, permutations
from math import log2

from tests.oracles.random_partitions import canonical, neighbours

Labels = Sequence[Hashable]


def entropy(labels: Labels) -> float:
    """Bits needed to say which cluster a random item is in."""
    return -sum(k / len(labels) * log2(k / len(labels)) for k in Counter(labels).values())


def variation_of_information(guess: Labels, truth: Labels) -> float:
    """H(truth | guess) + H(guess | truth)."""
    joint = entropy(list(zip(guess, truth, strict=True)))
    return (joint - entropy(guess)) + (joint - entropy(truth))


def together_in_both(guess: Labels, truth: Labels) -> int:
    """Pairs of items that both partitions put together."""
    return sum(guess[i] == guess[j] and truth[i] == truth[j] for i, j in combinations(range(len(truth)), 2))


def rand(guess: Labels, truth: Labels) -> Fraction:
    """Share of pairs that both put together or both put apart."""
    pairs = list(combinations(range(len(truth)), 2))
    return Fraction(sum((guess[i] == guess[j]) == (truth[i] == truth[j]) for i, j in pairs), len(pairs))


def adjusted_rand(guess: Labels, truth: Labels) -> Fraction:
    """(agreement - expected) / (largest - expected), where chance deals out the guess's labels in every order."""
    orders = list(permutations(guess))
    expected = Fraction(sum(together_in_both(order, truth) for order in orders), len(orders))
    largest = Fraction(together_in_both(guess, guess) + together_in_both(truth, truth), 2)
    if expected == largest:
        assert canonical(guess) == canonical(truth)
        return Fraction(1)
    return (together_in_both(guess, truth) - expected) / (largest - expected)


def bcubed_precision(guess: Labels, truth: Labels) -> Fraction:
    """Mean over items of the share of the item's guessed cluster that has the item's true label."""
    shares = []
    for own_guess, own_truth in zip(guess, truth, strict=True):
        cluster = [t for g, t in zip(guess, truth, strict=True) if g == own_guess]
        shares.append(Fraction(cluster.count(own_truth), len(cluster)))
    return sum(shares, Fraction(0)) / len(shares)


def bcubed_recall(guess: Labels, truth: Labels) -> Fraction:
    """Precision with the roles exchanged."""
    return bcubed_precision(truth, guess)


def transfer_distance_by_transfers(guess: Labels, truth: Labels) -> int:
    """The length of the shortest way from guess to truth that moves one item at a time."""
    reached, goal, steps = {canonical(guess)}, canonical(truth), 0
    while goal not in reached:
        reached |= {target for labels in reached for targets in neighbours(labels) for target in targets}
        steps += 1
    return steps


def heaviest_pairing(cells: dict[tuple[int, int], int], rows: int, columns: int) -> int:
    """The largest total of cells without a common row or column, over every way to pair rows and columns."""
    if rows > columns:
        return heaviest_pairing({(c, r): w for (r, c), w in cells.items()}, columns, rows)
    return max(
        sum(cells.get((row, column), 0) for row, column in enumerate(order))
        for order in permutations(range(columns), rows)
    )


def transfer_distance(guess: Labels, truth: Labels) -> int:
    """Items that do not stay, when each true cluster is paired with at most one guessed cluster as well as possible."""
    own, other = canonical(truth), canonical(guess)
    cells = Counter(zip(own, other, strict=True))
    return len(truth) - heaviest_pairing(dict(cells), len(set(own)), len(set(other)))
