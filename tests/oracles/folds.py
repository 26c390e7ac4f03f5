"""Who was held out in which run, drawn anew in every possible way: the p of a sum over runs, from its definition."""

from collections.abc import Iterable, Sequence
from itertools import permutations, product

import numpy as np

#: The fold of each person in each round, and the round and fold that is held out of each run.
Folds = Sequence[Sequence[int]]
HeldOut = Sequence[tuple[int, int]]


def sum_over_runs(scores: np.ndarray, fold: Folds, held_out: HeldOut) -> float:
    """Return the sum over runs of the scores of people who were given to the generator in that run."""
    total = 0.0
    for run, (which, out) in enumerate(held_out):
        for person, own in enumerate(fold[which]):
            if own != out:
                total += float(scores[person, run])
    return total


def p_of_folds(scores: np.ndarray, fold: Folds, held_out: HeldOut) -> float:
    """Return the share of all orders of the folds of each round whose sum is at least as large as the one seen."""
    seen = sum_over_runs(scores, fold, held_out)
    orders = product(*(permutations(own) for own in fold))
    return float(np.mean([sum_over_runs(scores, order, held_out) >= seen - 1e-9 for order in orders]))


def singled_out_over_runs(fits: Sequence[Sequence[Iterable[int]]], fold: Folds, held_out: HeldOut) -> int:
    """Return how many guesses of all runs fit exactly one person who was given; ``fits[run][guess]`` are persons."""
    return sum(
        sum(fold[which][person] != out for person in guess) == 1
        for guesses, (which, out) in zip(fits, held_out, strict=True)
        for guess in guesses
    )
