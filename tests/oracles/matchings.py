"""Permanents, marginals and cracks by going through all permutations, with fractions."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, permutations
from math import log

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


def pairings(matrix: Matrix, pairs: int) -> dict[tuple[int, ...], Fraction]:
    """Return each way to pair so many rows with columns (-1 for rows left alone) that has weight, with its weight."""
    n, m = len(matrix), len(matrix[0])
    result = {}
    for rows in combinations(range(n), pairs):
        for columns in permutations(range(m), pairs):
            weight = Fraction(1)
            for row, column in zip(rows, columns, strict=True):
                weight *= matrix[row][column]
            if weight:
                whole = [-1] * n
                for row, column in zip(rows, columns, strict=True):
                    whole[row] = column
                result[tuple(whole)] = weight
    return result


def share(found: dict[tuple[int, ...], Fraction], holds: Callable[[tuple[int, ...]], bool]) -> Fraction:
    """Return the share of all weight that pairings have for which something holds."""
    return sum((w for columns, w in found.items() if holds(columns)), Fraction(0)) / sum(found.values())


def set_is_found(columns: Sequence[int], truth: Sequence[int], rows: Sequence[int]) -> bool:
    """Return whether rows have exactly the columns that are truly theirs, in any order; -1 is no column."""
    return {columns[row] for row in rows} - {-1} == {truth[row] for row in rows} - {-1}


def entropy(found: dict[tuple[int, ...], Fraction]) -> float:
    """Return how unsure one is of pairings drawn in proportion to their weight, in nats."""
    total = sum(found.values())
    return -sum(float(w / total) * log(w / total) for w in found.values())
