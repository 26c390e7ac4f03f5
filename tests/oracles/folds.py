"""Who was held out in which run, drawn anew in every possible way: the p of a sum over runs, from its definition."""

from collections.abc import Iterable, Sequence
from itertools import permutations

import numpy as np


def sum_over_runs(scores: np.ndarray, fold: Sequence[int], held_out: Sequence[int]) -> float:
    """Return the sum over runs of the scores of people who were given to the generator in that run."""
    total = 0.0
    for run, out in enumerate(held_out):
        for person, own in enumerate(fold):
            if own != out:
                total += float(scores[person, run])
    return total


def p_of_folds(scores: np.ndarray, fold: Sequence[int], held_out: Sequence[int]) -> float:
    """Return the share of all orders of the folds whose sum is at least as large as the one seen."""
    seen = sum_over_runs(scores, fold, held_out)
    every = [sum_over_runs(scores, order, held_out) for order in permutations(fold)]
    return float(np.mean([each >= seen - 1e-9 for each in every]))


def singled_out_over_runs(fits: Sequence[Sequence[Iterable[int]]], fold: Sequence[int], held_out: Sequence[int]) -> int:
    """Return how many guesses of all runs fit exactly one person who was given; ``fits[run][guess]`` are persons."""
    return sum(
        sum(fold[person] != out for person in guess) == 1
        for guesses, out in zip(fits, held_out, strict=True)
        for guess in guesses
    )
