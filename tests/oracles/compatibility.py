"""Definitions 7 and 14 by all subsets, in exact arithmetic.

Definition 14 asks for masses m >= 0 on all sets with the pignistic q and ``Bel(A) <= P(A)`` for every A: a system of
linear inequalities in 2^n - 1 unknowns. Whether it has a solution is decided by an exact simplex method (least index
first, so that it ends), not by couplings.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from math import prod

Masses = dict[int, Fraction]  # from sets as bits of a number


def belief(masses: Masses, event: int) -> Fraction:
    return sum((mass for one, mass in masses.items() if one & ~event == 0), Fraction(0))


def total(probability: Sequence[Fraction], event: int) -> Fraction:
    return sum((p for x, p in enumerate(probability) if event >> x & 1), Fraction(0))


def greatest_excess(masses: Masses, probability: Sequence[Fraction]) -> Fraction:
    """Bel(A) - P(A), the greatest over all sets; Definition 7 holds if it is 0, which it is for the empty set."""
    return max(belief(masses, event) - total(probability, event) for event in range(1 << len(probability)))


def pignistic(masses: Masses, size: int) -> list[Fraction]:
    return [sum((m / one.bit_count() for one, m in masses.items() if one >> x & 1), Fraction(0)) for x in range(size)]


def is_compatible(guess: Sequence[Fraction], truth: Sequence[Fraction]) -> bool:
    """Definition 14 to the letter, for up to 4 or 5 records."""
    size = len(guess)
    sets = range(1, 1 << size)
    rows, right = [], []
    for x in range(size):  # the pignistic of m is the guess
        rows.append(
            [Fraction(1, one.bit_count()) if one >> x & 1 else Fraction(0) for one in sets] + [Fraction(0)] * len(sets)
        )
        right.append(guess[x])
    for number, event in enumerate(sets):  # Bel(A) + slack = P(A)
        slack = [Fraction(int(number == other)) for other in range(len(sets))]
        rows.append([Fraction(int(one & ~event == 0)) for one in sets] + slack)
        right.append(total(truth, event))
    return has_solution(rows, right)


def has_solution(rows: list[list[Fraction]], right: list[Fraction]) -> bool:
    """Whether some x >= 0 solves the equations, whose right sides are at least 0: phase one, by Bland's rule."""
    count = len(rows[0])
    table = [
        [*row, *(Fraction(int(k == j)) for j in range(len(rows))), b]
        for k, (row, b) in enumerate(zip(rows, right, strict=True))
    ]
    basis = [count + k for k in range(len(rows))]
    cost = [-sum((row[j] for row in table), Fraction(0)) for j in range(count)] + [Fraction(0)] * len(rows)
    cost.append(-sum(right, Fraction(0)))
    while True:
        entering = next((j for j in range(count) if cost[j] < 0), None)
        if entering is None:
            return cost[-1] == 0
        ratios = [(row[-1] / row[entering], basis[k], k) for k, row in enumerate(table) if row[entering] > 0]
        leaving = min(ratios)[2]
        pivot = table[leaving][entering]
        table[leaving] = [value / pivot for value in table[leaving]]
        for k, row in enumerate(table):
            if k != leaving and row[entering] != 0:
                factor = row[entering]
                table[k] = [
                    value - factor * other if other else value for value, other in zip(row, table[leaving], strict=True)
                ]
        factor = cost[entering]
        cost = [value - factor * other for value, other in zip(cost, table[leaving], strict=True)]
        basis[leaving] = entering


def most_expected(score: Sequence[Fraction], truth: Sequence[Fraction]) -> Fraction:
    """The sum over z of p(z) times the greatest mean of the score over the sets with z, over all of them."""
    best = []
    for z in range(len(score)):
        around = [event for event in range(1 << len(score)) if event >> z & 1]
        best.append(max(total(score, event) / event.bit_count() for event in around))
    return sum((p * b for p, b in zip(truth, best, strict=True)), Fraction(0))


def is_coupled(guess: Sequence[Fraction], truth: Sequence[Fraction]) -> bool:
    """Whether f(z, x) >= 0 with row sums p, column sums q and f(z, x) <= f(z, z) exists: n * n unknowns and slacks."""
    size = len(guess)
    pairs = [(z, x) for z in range(size) for x in range(size)]
    off = [pair for pair in pairs if pair[0] != pair[1]]
    rows = [[Fraction(int(z == k)) for z, _ in pairs] + [Fraction(0)] * len(off) for k in range(size)]
    rows += [[Fraction(int(x == k)) for _, x in pairs] + [Fraction(0)] * len(off) for k in range(size)]
    for z, x in off:
        bounds = [Fraction(int(pair == (z, x)) - int(pair == (z, z))) for pair in pairs]
        rows.append(bounds + [Fraction(int(pair == (z, x))) for pair in off])
    return has_solution(rows, [*truth, *guess, *(Fraction(0) for _ in off)])


def marginals(weights: Sequence[Sequence[Fraction]]) -> list[list[Fraction]]:
    """The chance of each pair among perfect matchings drawn in proportion to their weight, over all permutations."""
    size = len(weights)
    chances = [[Fraction(0)] * size for _ in range(size)]
    for assigned in permutations(range(size)):
        weight = prod((weights[row][column] for row, column in enumerate(assigned)), start=Fraction(1))
        for row, column in enumerate(assigned):
            chances[row][column] += weight
    whole = sum(chances[0], Fraction(0))
    return [[chance / whole for chance in row] for row in chances] if whole else []
