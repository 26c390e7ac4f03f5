"""Guessing a secret by its definition: every way of breaking every tie, one by one, in exact fractions."""

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from tests.oracles.linkability import ways
from tests.oracles.table_distance import exact


def right(guess: Any, truth: Any, kind: str, tolerance: Fraction) -> bool:
    """Return whether a guess is right: equal, or for a number off by at most a share of the true value."""
    if guess is None:
        return False
    if kind != "number":
        return bool(guess == truth)
    return abs(exact(guess) - exact(truth)) <= tolerance * abs(exact(truth))


def share(guesses: Sequence[Any], truth: Any, kind: str, tolerance: Fraction) -> Fraction:
    """Return the share of the guesses that is right."""
    return Fraction(sum(right(guess, truth, kind, tolerance) for guess in guesses), len(guesses))


def chance(
    distances: Sequence[Fraction], secrets: Sequence[Any], truth: Any, kind: str, tolerance: Fraction, k: int
) -> Fraction:
    """Return how likely the secret of one of the k nearest rows is right, over all ways to choose these k."""
    chosen = ways(distances, k)
    shares = [share([secrets[row] for row in rows], truth, kind, tolerance) for rows in chosen]
    return sum(shares, Fraction(0)) / len(chosen)


def disclosed(
    person: Sequence[Any], rows: Sequence[Sequence[Any]], secrets: Sequence[Any], truth: Any, kind: str, tol: Fraction
) -> Fraction | None:
    """Return the share of the rows equal to the person whose secret is right; None where no row is equal."""
    equal = [secret for row, secret in zip(rows, secrets, strict=True) if list(row) == list(person)]
    return share(equal, truth, kind, tol) if equal else None


def agreed(
    person: Sequence[Any], rows: Sequence[Sequence[Any]], secrets: Sequence[Any], truth: Any, kind: str, tol: Fraction
) -> Fraction:
    """Return how likely the secret is right of a row that shares the rarest values with the person, drawn by lot."""

    def weight(column: int) -> int:
        count = sum(row[column] == person[column] for row in rows)
        return round(-math.log((count + 0.5) / (len(rows) + 1)) * 2**20)

    shared = [sum(weight(j) for j in range(len(person)) if row[j] == person[j]) for row in rows]
    best = [secret for secret, sum_of in zip(secrets, shared, strict=True) if sum_of == max(shared)]
    return share(best, truth, kind, tol)


def counted(
    person: Sequence[Any], rows: Sequence[Sequence[Any]], secrets: Sequence[Any], truth: Any
) -> Fraction | None:
    """Return how likely the likeliest of the secrets that two rows have is right, by counts; None for fewer than two.

    Columns are categories. Ties are broken by lot.
    """
    classes = [each for each in set(secrets) if each is not None and secrets.count(each) > 1]
    if len(classes) < 2:
        return None
    taught = [(row, secret) for row, secret in zip(rows, secrets, strict=True) if secret in classes]

    def logarithm(secret: Any) -> int:
        own = [row for row, each in taught if each == secret]
        total = round(math.log(len(own) / len(taught)) * 2**20)
        for j, value in enumerate(person):
            everywhere = (sum(row[j] == value for row, _ in taught) + 0.5) / (len(taught) + 1)
            total += round(math.log((sum(row[j] == value for row in own) + everywhere) / (len(own) + 1)) * 2**20)
        return total

    likely = {secret: logarithm(secret) for secret in classes}
    best = [secret for secret in classes if likely[secret] == max(likely.values())]
    return Fraction(sum(secret == truth for secret in best), len(best))
