"""Permanents, marginals and cracks by going through all permutations, with fractions."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations

Matrix = Sequence[Sequence[Fraction | int]]


def weights(matrix: Matrix) -> dict[tuple[int, ...], Fraction]:
    """Return each matching of positive weight (the column of each row) with the product of its entries."""
    result = {}
    for columns in permutations(range(len(matrix))):
        weight = Fraction(1)
        for row, column in enumerate(columns):
            weight *= matrix[row][column]
        if weight:
            result[columns] = weight
    return result


def permanent(matrix: Matrix) -> Fraction:
    return sum(weights(matrix).values(), Fraction(0))


def marginals(matrix: Matrix) -> list[list[Fraction]]:
    found = weights(matrix)
    total = sum(found.values())
    n = len(matrix)
    return [
        [sum((w for columns, w in found.items() if columns[i] == j), Fraction(0)) / total for j in range(n)]
        for i in range(n)
    ]


def crack_distribution(matrix: Matrix, truth: Sequence[int]) -> list[Fraction]:
    found = weights(matrix)
    chance = [Fraction(0)] * (len(matrix) + 1)
    for columns, weight in found.items():
        chance[sum(a == b for a, b in zip(columns, truth, strict=True))] += weight
    return [part / sum(found.values()) for part in chance]


def expected_cracks(matrix: Matrix, truth: Sequence[int]) -> Fraction:
    return sum((c * p for c, p in enumerate(crack_distribution(matrix, truth))), Fraction(0))
