"""One-to-one assignments of two periods' items: probabilities, and the best."""

from typing import NamedTuple

import numpy as np

from unveil._kernels.types import FloatArray, IntArray

#: Square matrices up to this size are solved exactly, by permanents.
EXACT = 20
_TOLERANCE = 1e-6


class SoftAssignment(NamedTuple):
    """Probabilities of all pairs, and the share of the smaller side that is in both.

    Rows and columns sum to at most 1; the rest is the probability of no partner.
    """

    probability: FloatArray
    share: float


def soft_assignment(scores: FloatArray, share: float | None = None, *, rounds: int = 300) -> SoftAssignment:
    """Return the probability of each pair by Sinkhorn's scaling.

    The weight of a set of pairs is the product of their Bayes factors. With a share of 1 everyone of the smaller side
    has a partner. None estimates the share: at its likeliest value the odds of one more pair equal the number of pairs
    over the number of free places.

    >>> soft_assignment(np.log([[4.0, 1], [1, 4]]), 1.0).probability.round(3)
    array([[0.8, 0.2],
           [0.2, 0.8]])
    """
    rows, columns = scores.shape
    low = scores.max(axis=1, keepdims=True)
    weight = np.exp(scores - low)
    high = np.log(weight.sum(axis=0) + 1e-300)
    weight = np.exp(scores - low - high)
    alone = np.exp(np.clip(-low[:, 0], -600, 600)), np.exp(np.clip(-high, -600, 600))
    smaller = min(rows, columns)
    if share == 1:
        exits = (
            np.zeros(rows) if rows <= columns else alone[0],
            np.zeros(columns) if columns <= rows else alone[1],
        )
        row, column, _ = _scaled(weight, *exits, 1.0, rounds)
        return SoftAssignment(row[:, None] * weight * column, 1.0)
    pairs = (0.9 if share is None else share) * smaller
    column = np.ones(columns)
    for _ in range(rounds // 10):
        odds = (pairs + 0.5) / ((rows - pairs + 0.5) * (columns - pairs + 0.5))
        row, column, last = _scaled(weight, *alone, odds, 10, column)
        expected = float((row @ weight @ column) * odds)
        if share is not None:  # the odds with which that share is expected
            target = share * smaller
            pairs += target - expected
            pairs = float(np.clip(pairs, 0.01, smaller))
            if abs(expected - target) < _TOLERANCE * smaller:
                break
        elif abs(expected - pairs) < _TOLERANCE * smaller and last < _TOLERANCE:
            break
        else:
            pairs = expected
    return SoftAssignment(row[:, None] * weight * column * odds, expected / smaller)


def _scaled(
    weight: FloatArray,
    row_exit: FloatArray,
    column_exit: FloatArray,
    odds: float,
    rounds: int,
    column: FloatArray | None = None,
) -> tuple[FloatArray, FloatArray, float]:
    """Return row and column factors, and the last change of the rows."""
    column = np.ones(column_exit.size) if column is None else column
    row, change = np.ones(row_exit.size), np.inf
    for _ in range(rounds):
        new = 1 / np.maximum(row_exit + odds * (weight @ column), 1e-290)
        change = float(np.abs(new - row).max() / new.max())
        row = new
        column = 1 / np.maximum(column_exit + odds * (row @ weight), 1e-290)
        if change < _TOLERANCE:
            break
    return row, column, change


def best_assignment(scores: FloatArray, *, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Return the rows and columns of the best one-to-one assignment, ties at random."""
    from scipy.optimize import linear_sum_assignment

    noise = 1e-9 * max(1.0, float(np.abs(scores).max(initial=0.0)))
    row, column = linear_sum_assignment(-(scores + noise * rng.random(scores.shape)))
    return row, column


def exact_assignment(scores: FloatArray) -> FloatArray:
    """Return the exact probability of each pair of a small square matrix.

    >>> exact_assignment(np.log([[4.0, 1, 1], [2, 2, 1], [1, 1, 3]]))[0].round(6)
    array([0.717949, 0.179487, 0.102564])
    """
    from unveil._kernels.matching import solve

    weight = np.exp(scores - scores.max(axis=1, keepdims=True))
    order = np.arange(len(scores))
    found = solve(weight, order, rng=np.random.default_rng(0), distribution=False)
    return found.marginals()
