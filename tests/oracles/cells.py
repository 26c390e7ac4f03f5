"""Released cells as sets of values, row by row and value by value, straight from the definitions."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import Any

#: What a cell holds: "all", "missing", "none", a pair of ends (None: no end), or a set of words.
Held = Any


def compatible(value: Any, held: Held) -> bool:
    """Return whether a value is in the set that a cell stands for."""
    if held == "all":
        return True
    if held == "none":
        return False
    if held == "missing" or value is None:
        return value is None and held == "missing"
    if isinstance(held, tuple):
        low, high = held
        return (low is None or low <= value) and (high is None or value <= high)
    return value in held


@dataclass(frozen=True)
class Pool:
    """The people beside whom cells are read, column by column: the original's, and the control's."""

    rows: Sequence[Sequence[Any]]

    def values(self, column: int) -> list[Any]:
        return [row[column] for row in self.rows if row[column] is not None]

    def distance(self, column: int, value: Any, held: Held) -> Fraction:
        """Return 0 inside, the gap to the nearer end over the span of the people, or 1 where there is no gap."""
        if compatible(value, held):
            return Fraction(0)
        if value is None or not isinstance(held, tuple):
            return Fraction(1)
        low, high = held
        gap = low - value if low is not None and value < low else value - high
        span = max(self.values(column)) - min(self.values(column))
        return min(Fraction(gap, span), Fraction(1)) if span else Fraction(1)

    def apart(self, person: Sequence[Any], row: Sequence[Held]) -> Fraction:
        """Return the distance of a person from a row of cells."""
        return sum((self.distance(at, value, row[at]) for at, value in enumerate(person)), Fraction(0))

    def share(self, column: int, held: Held) -> Fraction:
        """Return the share of people inside a cell, at least half a person."""
        inside = sum(compatible(row[column], held) for row in self.rows)
        return max(Fraction(inside), Fraction(1, 2)) / len(self.rows)

    def weight(self, row: Sequence[Held]) -> Fraction:
        """Return what a row of cells weighs."""
        weight = Fraction(1)
        for column, held in enumerate(row):
            weight /= self.share(column, held)
        return weight


def masses(pool: Pool, person: Sequence[Any], rows: Sequence[Sequence[Held]], k: int) -> list[Fraction]:
    """Return the chance of each row to be the one that the guess is drawn from: sure places, then places by weight."""
    far = [pool.apart(person, row) for row in rows]
    limit = sorted(far)[k - 1]
    sure = sum(each < limit for each in far)
    tied = sum((pool.weight(row) for row, each in zip(rows, far, strict=True) if each == limit), Fraction(0))
    return [
        Fraction(1, k) if each < limit else (pool.weight(row) / tied * (k - sure) / k if each == limit else Fraction(0))
        for row, each in zip(rows, far, strict=True)
    ]


def right_by_lot(mass: Sequence[Fraction], secrets: Sequence[Any], truth: Any) -> Fraction:
    """Return the chance that the secret of the row drawn is right."""
    return sum((each for each, secret in zip(mass, secrets, strict=True) if secret == truth), Fraction(0))


def right_if_likeliest(mass: Sequence[Fraction], secrets: Sequence[Any], truth: Any) -> Fraction:
    """Return the chance that the likeliest secret is right, ties by lot; a missing secret is no guess."""
    total = {secret: right_by_lot(mass, secrets, secret) for secret in set(secrets) if secret is not None}
    best = [secret for secret, each in total.items() if each and each == max(total.values())]
    return Fraction(best.count(truth), len(best)) if best else Fraction(0)


def disclosed(
    pool: Pool, person: Sequence[Any], rows: Sequence[Sequence[Held]], secrets: Sequence[Any], truth: Any
) -> tuple[Fraction, bool, bool]:
    """Return the chance that the secret of a compatible row is right, and whether all are: of all, of those shown."""
    fit = [at for at, row in enumerate(rows) if all(map(compatible, person, row))]
    shown = [at for at in fit if "all" not in rows[at]]
    if not fit:
        return Fraction(0), False, False
    total = sum((pool.weight(rows[at]) for at in fit), Fraction(0))
    right = sum((pool.weight(rows[at]) for at in fit if secrets[at] == truth), Fraction(0))
    sure, of_shown = (bool(some) and all(secrets[at] == truth for at in some) for some in (fit, shown))
    return right / total, sure, of_shown


def near_ways(pool: Pool, person: Sequence[Any], rows: Sequence[Sequence[Held]], k: int) -> list[frozenset[int]]:
    """Return every set of k rows that may be the nearest: by distance, then weight, then lot."""
    key = [(pool.apart(person, row), -pool.weight(row)) for row in rows]
    last = sorted(key)[k - 1]
    sure = {at for at, each in enumerate(key) if each < last}
    tied = [at for at, each in enumerate(key) if each == last]
    return [frozenset(sure | set(some)) for some in combinations(tied, k - len(sure))]


def linked(first: Sequence[frozenset[int]], second: Sequence[frozenset[int]]) -> Fraction:
    """Return the share of all ways in which the two sets of nearest rows share one."""
    return Fraction(sum(bool(one & other) for one in first for other in second), len(first) * len(second))
