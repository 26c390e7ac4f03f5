"""Cracks by their definitions, from a list of all matchings with their chances as fractions: for a handful of rows."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from math import factorial, log

Chances = dict[tuple[int, ...], Fraction]
Matrix = Sequence[Sequence[Fraction]]


def chances(matrix: Sequence[Sequence[Fraction | int]]) -> Chances:
    """Every matching of positive weight (the column of each row) with its share of the permanent."""
    found = {}
    for columns in permutations(range(len(matrix))):
        weight = Fraction(1)
        for row, column in enumerate(columns):
            weight *= matrix[row][column]
        if weight:
            found[columns] = weight
    total = sum(found.values())
    return {columns: weight / total for columns, weight in found.items()}


def permanent(matrix: Sequence[Sequence[Fraction | int]]) -> Fraction:
    total = Fraction(0)
    for columns in permutations(range(len(matrix))):
        weight = Fraction(1)
        for row, column in enumerate(columns):
            weight *= matrix[row][column]
        total += weight
    return total


def marginals(found: Chances, n: int) -> list[list[Fraction]]:
    table = [[Fraction(0)] * n for _ in range(n)]
    for columns, chance in found.items():
        for row, column in enumerate(columns):
            table[row][column] += chance
    return table


def distribution(found: Chances, truth: Sequence[int]) -> list[Fraction]:
    chance = [Fraction(0)] * (len(truth) + 1)
    for columns, share in found.items():
        chance[sum(a == b for a, b in zip(columns, truth, strict=True))] += share
    return chance


def expected(found: Chances, truth: Sequence[int]) -> Fraction:
    return sum((number * chance for number, chance in enumerate(distribution(found, truth))), Fraction(0))


def at_least(found: Chances, truth: Sequence[int], probability: Fraction) -> int:
    """The largest number of cracks that is reached with at least this probability."""
    chance = distribution(found, truth)
    return max(k for k in range(len(chance)) if sum(chance[k:]) >= probability)


def set_cracks(found: Chances, truth: Sequence[int], groups: Sequence[str]) -> dict[str, Fraction]:
    """Of each group, the expected number of its items whose pseudonym is the true one of an item of the group."""
    expected = dict.fromkeys(groups, Fraction(0))
    for columns, chance in found.items():
        for item, pseudonym in enumerate(columns):
            owner = list(truth).index(pseudonym)
            if groups[owner] == groups[item]:
                expected[groups[item]] += chance
    return expected


def degree(found: Chances, n: int) -> float:
    """The entropy of matchings over that of all alike."""
    return -sum(float(chance) * log(chance) for chance in found.values()) / log(factorial(n)) if n > 1 else 0.0


def heuristic(matrix: Matrix, truth: Sequence[int]) -> Fraction:
    return sum((Fraction(matrix[row][column]) for row, column in enumerate(truth)), Fraction(0))


def matched_bias(matrix: Matrix, found: Chances) -> Fraction:
    """H against the expected cracks when the truth is drawn from the matchings themselves."""
    mean_heuristic = sum((chance * heuristic(matrix, truth) for truth, chance in found.items()), Fraction(0))
    mean_expected = sum((chance * expected(found, truth) for truth, chance in found.items()), Fraction(0))
    return mean_heuristic / mean_expected - 1


def nmape(matrix: Matrix, found: Chances) -> Fraction:
    """The mean over all truths of the absolute difference of H and the expected cracks, in percent of n."""
    n = len(matrix)
    chance = marginals(found, n)
    errors = [
        abs(heuristic(matrix, truth) - sum(chance[row][column] for row, column in enumerate(truth)))
        for truth in permutations(range(n))
    ]
    return 100 * sum(errors, Fraction(0)) / n / factorial(n)


def is_flat(found: Chances) -> bool:
    return len(set(found.values())) == 1
