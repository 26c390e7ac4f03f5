"""Matchings by enumeration in exact fractions: slow, obvious, and for a handful of rows."""

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import combinations, permutations, product
from math import factorial

Rows = Sequence[Sequence[Fraction]]


def weights(matrix: Rows) -> dict[tuple[int, ...], Fraction]:
    """The product of weights of every matching that has none of 0; a matching is the column of each row."""
    found = {}
    for columns in permutations(range(len(matrix))):
        weight = Fraction(1)
        for row, column in enumerate(columns):
            weight *= Fraction(matrix[row][column])
        if weight:
            found[columns] = weight
    return found


def shares(matrix: Rows) -> dict[tuple[int, ...], Fraction]:
    """How likely every possible matching is."""
    found = weights(matrix)
    return {columns: weight / sum(found.values()) for columns, weight in found.items()}


def cracks(chances: dict[tuple[int, ...], Fraction], truth: Sequence[int]) -> dict[int, Fraction]:
    """How likely each number of cracks is."""
    found: dict[int, Fraction] = Counter()  # type: ignore[assignment]
    for columns, chance in chances.items():
        found[sum(a == b for a, b in zip(columns, truth, strict=True))] += chance
    return found


def expected(distribution: dict[int, Fraction]) -> Fraction:
    """The mean number of cracks."""
    return sum((number * chance for number, chance in distribution.items()), Fraction())


def lacks_columns(matrix: Sequence[Sequence[float]], rows: Iterable[int]) -> bool:
    """Whether these rows together have fewer columns than they are."""
    rows = list(rows)
    return sum(any(matrix[row][column] > 0 for row in rows) for column in range(len(matrix))) < len(rows)


def has_violating_rows(matrix: Sequence[Sequence[float]]) -> bool:
    """Hall's condition looked up for every set of rows."""
    n = len(matrix)
    return any(lacks_columns(matrix, rows) for size in range(1, n + 1) for rows in combinations(range(n), size))


def network(
    nodes: Sequence[tuple[Sequence[str], Sequence[str]]], items: Sequence[str]
) -> dict[frozenset[tuple[str, str]], Fraction]:
    """How likely every matching of items and pseudonyms is, over everything that all nodes can draw, every order alike.

    Nodes come in an order in which each finds its inputs; a matching is a set of pairs (item, pseudonym).
    """
    found: dict[frozenset[tuple[str, str]], Fraction] = Counter()  # type: ignore[assignment]
    chance = Fraction(1)
    for inputs, _ in nodes:
        chance /= factorial(len(inputs))
    for orders in product(*(permutations(outputs) for _, outputs in nodes)):
        holder = {item: item for item in items}
        for (inputs, _), outputs in zip(nodes, orders, strict=True):
            arrived = [holder.pop(wire) for wire in inputs]
            holder.update(zip(outputs, arrived, strict=True))
        found[frozenset((item, pseudonym) for pseudonym, item in holder.items())] += chance
    return found
