"""Guessing a secret by its definition: every way of breaking every tie, one by one, in exact fractions."""

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
