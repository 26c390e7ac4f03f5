"""Guesses of canaries from scores, and their lower bound on epsilon.

What is guessed, and how certain the guesses are, must hang on the scores alone. Shares of the coins are taken within
each run, because scores of two runs need not be comparable; the coins of all runs are then counted together.
"""

from collections.abc import Sequence

import numpy as np

from unveil._kernels.types import BoolArray, FloatArray
from unveil.errors import InputError
from unveil.metrics.epsilon.bound import (
    ADJACENCY,
    CONFIDENCE,
    SHARES,
    Design,
    EpsilonBound,
    alpha_of_each,
    guessed,
    least_epsilon,
)


def bound_of_pairs(
    runs: Sequence[tuple[FloatArray, FloatArray, BoolArray]],
    *,
    rng: np.random.Generator,
    confidence: float = CONFIDENCE,
    delta: float = 0.0,
) -> EpsilonBound:
    """Return the bound for replace; each canary chose one of two people.

    Each run has the scores of the first and of the second of every pair, and whether the first was in. The one with the
    higher score is guessed; the larger the difference, the surer. Equal ones are distinguished at random.

    >>> first, second = np.array([3.0, 0.1, 2.0, 0.5]), np.array([0.0, 0.3, 1.0, 0.9])
    >>> is_first = np.array([True, False, True, False])
    >>> found = bound_of_pairs([(first, second, is_first)] * 50, rng=np.random.default_rng(1))
    >>> found.right, found.guesses, round(found.bound, 2), found.adjacency
    (200, 200, 3.81, 'replace')
    """
    sure, right = [], []
    for number, run in enumerate(runs, start=1):
        first_in, (first, second) = _checked_run(number, run[2], *run[:2])
        with np.errstate(over="ignore", invalid="ignore"):
            # Two infinite scores are equal, not undefined.
            difference = np.where(first == second, 0.0, first - second)
        by_lot = rng.random(first.size) < 0.5
        sure.append(np.abs(difference))
        right.append(np.where(difference == 0, by_lot, difference > 0) == first_in)
    return _best_share(sure, right, "pairs", rng, confidence, delta)


def bound_of_coins(
    runs: Sequence[tuple[FloatArray, BoolArray]],
    *,
    rng: np.random.Generator,
    confidence: float = CONFIDENCE,
    delta: float = 0.0,
) -> EpsilonBound:
    """Return the bound for add/remove; each canary included one person or not.

    Each run has the score of everyone and whether they were in. The highest scores are guessed to be in, and nothing of
    the others; which of equal ones are, lots decide. One canary that was tried in many runs has no others next to it in
    a run: put its scores of all runs into one array.

    >>> scores, is_in = np.array([3.0, 2.0, 1.0, 0.0]), np.array([True, True, False, True])
    >>> found = bound_of_coins([(scores, is_in)] * 50, rng=np.random.default_rng(1))
    >>> found.right, found.guesses, found.share, round(found.bound, 2), found.adjacency
    (100, 100, 0.5, 3.05, 'add-remove')
    """
    checked = [_checked_run(number, is_in, scores) for number, (scores, is_in) in enumerate(runs, start=1)]
    sure = [scores for _, (scores,) in checked]
    return _best_share(sure, [is_in for is_in, _ in checked], "coins", rng, confidence, delta)


def pair_by_lot(
    members: FloatArray, outsiders: FloatArray, *, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return random pairs of member and non-member as one run.

    The run has the scores of both, and whether the first is the member.

    There are as many pairs as the smaller side has people; who is paired and who comes first are drawn at random. The
    coins are fair and independent if the people were split into members and non-members at random, and what the scores
    were learned from are other people.
    """
    pairs = min(len(members), len(outsiders))
    one, other = rng.permutation(members)[:pairs], rng.permutation(outsiders)[:pairs]
    member_first = rng.random(pairs) < 0.5
    return np.where(member_first, one, other), np.where(member_first, other, one), member_first


def _best_share(
    sure: Sequence[FloatArray],
    right: Sequence[BoolArray],
    design: Design,
    rng: np.random.Generator,
    confidence: float,
    delta: float,
) -> EpsilonBound:
    """Return the highest bound over shares of the most confident guesses.

    Each share has its part of the error.
    """
    sizes = [each.size for each in sure]
    coins, parts = sum(sizes), SHARES[design]
    if not coins or not all(sizes):
        raise InputError("a run has no canary. Leave that run out, or insert canaries")
    alpha = alpha_of_each(design, confidence)
    # The last key counts most: the surest first, equal ones at random.
    ordered = [hit[np.lexsort((rng.random(hit.size), -how_sure))] for how_sure, hit in zip(sure, right, strict=True)]
    tried = []
    for part in parts:
        many = [guessed(size, part) for size in sizes]
        hits = sum(int(np.count_nonzero(hit[:most])) for hit, most in zip(ordered, many, strict=True))
        bounds = [least_epsilon(v, sum(many), alpha=alpha, delta=delta, coins=coins) for v in (hits, sum(many))]
        tried.append((bounds[0], hits, sum(many), part, bounds[1]))
    # max keeps the first of equal ones, which is the smallest share; where nothing is shown it is the largest.
    bound, hits, guesses, part, _ = max(tried, key=lambda each: each[0])
    if bound == 0:
        _, hits, guesses, part, _ = tried[-1]
    return EpsilonBound(
        bound=bound,
        right=hits,
        guesses=guesses,
        share=part,
        coins=coins,
        runs=len(sizes),
        most=max(each[-1] for each in tried),
        adjacency=ADJACENCY[design],
        confidence=confidence,
        delta=delta,
    )


def _checked_run(number: int, is_in: BoolArray, *scores: FloatArray) -> tuple[BoolArray, list[FloatArray]]:
    """Return the canaries and scores of a valid run."""
    coins, found = np.asarray(is_in), [np.asarray(each, np.float64) for each in scores]
    if coins.dtype != np.bool_ or any(each.shape != (coins.size,) or np.isnan(each).any() for each in found):
        raise InputError(
            f"run {number} lacks a truth value or a number as score for a canary. "
            "Give canaries that cannot be scored the lowest score"
        )
    return coins, found
