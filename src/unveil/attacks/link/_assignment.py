"""One-to-one assignments of two periods' items: probabilities, and the best."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from unveil._kernels._compile import kernel
from unveil._kernels.types import FloatArray, Int32Array, IntArray

#: Square matrices up to this size are solved exactly, by permanents.
EXACT = 20
_TOLERANCE = 1e-6
#: How near the number of pairs is found, as a share of the smaller side, and rounds of messages for each number.
_NEAR, _ROUNDS = 1e-3, 15
#: Halvings of the log odds at which a given number of pairs is expected.
_HALVINGS = 30
#: Pairs with smaller weights, relative to the best of the row, play no part.
_LEAST_WEIGHT = 1e-9
_TINY = 1e-290
#: Logarithms are cut here, so that powers of them stay finite.
_LARGEST = 600.0


class SoftAssignment(NamedTuple):
    """Probabilities of all pairs, and the share of the smaller side that is in both.

    Rows and columns sum to at most 1; the rest is the probability of no partner.
    """

    probability: FloatArray
    share: float


def soft_assignment(scores: FloatArray, share: float | None = None, *, rounds: int = 300) -> SoftAssignment:
    """Return the probability of each pair.

    The weight of a set of pairs is the product of their Bayes factors. With a share of 1, everyone of the smaller side
    has a partner (Sinkhorn's scaling). Else people may be in one period only (belief propagation), and None estimates
    their share.

    >>> soft_assignment(np.log([[4.0, 1], [1, 4]]), 1.0).probability.round(3)
    array([[0.8, 0.2],
           [0.2, 0.8]])
    """
    if share == 1:
        return SoftAssignment(_scaled(scores, rounds), 1.0)
    best = scores.max(axis=1, keepdims=True)
    kept = scores >= best + np.log(_LEAST_WEIGHT)
    row, column = np.nonzero(kept)
    start = np.searchsorted(row, np.arange(len(scores) + 1))
    pairs = pair_probabilities(start, column.astype(np.int32), scores[kept], scores.shape[1], share)
    probability = np.zeros_like(scores)
    probability[kept] = pairs.probability
    return SoftAssignment(probability, pairs.share)


def _scaled(scores: FloatArray, rounds: int) -> FloatArray:
    """Return probabilities whose rows and columns sum to 1, or the smaller side's alone."""
    rows, columns = scores.shape
    if rows > columns:
        return _scaled(scores.T, rounds).T
    low = scores.max(axis=1, keepdims=True)
    weight = np.exp(scores - low)
    high = np.log(weight.sum(axis=0) + _TINY)
    weight = np.exp(scores - low - high)
    leave = np.zeros(columns) if rows == columns else np.exp(np.clip(-high, -_LARGEST, _LARGEST))
    row, column = np.ones(rows), np.ones(columns)
    for _ in range(rounds):
        new = 1 / np.maximum(weight @ column, _TINY)
        change = float(np.abs(new - row).max() / new.max())
        row = new
        column = 1 / np.maximum(leave + row @ weight, _TINY)
        if change < _TOLERANCE:
            break
    probability: FloatArray = row[:, None] * weight * column
    return probability


def pair_probabilities(
    start: IntArray, column: Int32Array, scores: FloatArray, columns: int, share: float | None = None
) -> SoftAssignment:
    """Return the probability of each listed pair; people may have no partner.

    The likeliest number of pairs is the one at which the odds of one more equal the number over the free places. With a
    given share, the odds are those at which so many pairs are expected.

    Parameters
    ----------
    start, column, scores
        The pairs of row ``i`` are ``start[i]`` to ``start[i + 1] - 1``; scores are log Bayes factors.
    columns
        The number of columns.
    share
        The share of the smaller side that is in both; None estimates it.
    """
    rows = start.size - 1
    owner = np.repeat(np.arange(rows), np.diff(start))
    best = np.full(rows, -np.inf)
    np.maximum.at(best, owner, scores)
    best = np.where(np.isfinite(best), best, 0.0)
    high = np.log(np.bincount(column, np.exp(scores - best[owner]), minlength=columns) + 1e-12)
    weight = np.exp(scores - best[owner] - high[column])
    exits = np.exp(np.clip(-best, -_LARGEST, _LARGEST)), np.exp(np.clip(-high, -_LARGEST, _LARGEST))
    to_row, to_column, chance = np.ones(scores.size), np.ones(scores.size), np.zeros(scores.size)
    smaller = min(rows, columns)

    def expected(odds: float) -> float:
        _messages(start, column, weight, *exits, odds, _ROUNDS, to_row, to_column, chance)
        return float(chance.sum())

    def excess(pairs: float) -> float:
        return expected((pairs + 0.5) / ((rows - pairs + 0.5) * (columns - pairs + 0.5))) - pairs

    if share is None:
        _find_root(excess, float(smaller), _NEAR * smaller)
    elif scores.size:
        ends = np.clip([-scores.max() - np.log(rows * columns) - 5, 10 - best.min()], -_LARGEST, _LARGEST)
        _meet(expected, share * smaller, float(ends[0]), float(ends[1]))
    return SoftAssignment(chance, float(chance.sum()) / max(smaller, 1))


def _meet(expected: Callable[[float], float], wanted: float, low: float, high: float) -> None:
    """Call the function last at the odds whose expected number of pairs is the wanted one, or the nearest."""
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if expected(float(np.exp(middle))) < wanted:
            low = middle
        else:
            high = middle


def _find_root(excess: Callable[[float], float], high: float, near: float) -> None:
    """Call the function at arguments nearer and nearer to its root, from above (Illinois rule)."""
    low, above = 0.0, excess(high)
    if above >= 0:
        return
    below, side = excess(low), 0
    for _ in range(15):
        if below <= 0 or high - low < near:
            return
        middle = (low * above - high * below) / (above - below)
        value = excess(middle)
        if abs(value) < near:
            return
        if value > 0:
            low, below, above, side = middle, value, above / 2 if side == 1 else above, 1
        else:
            high, above, below, side = middle, value, below / 2 if side == -1 else below, -1


@kernel("i8[], i4[], f8[], f8[], f8[], f8, i8, f8[], f8[], f8[]", cost=20)
def _messages(
    start: IntArray,
    column: Int32Array,
    weight: FloatArray,
    row_exit: FloatArray,
    column_exit: FloatArray,
    odds: float,
    rounds: int,
    to_row: FloatArray,
    to_column: FloatArray,
    chance: FloatArray,
) -> None:
    """Pass messages between rows and columns; write each pair's probability."""
    tiny = 1e-290
    sums = np.zeros(column_exit.size)
    for _ in range(rounds):
        sums[:] = 0.0
        for row in range(row_exit.size):
            total = 0.0
            for k in range(start[row], start[row + 1]):
                total += weight[k] * to_row[k]
            for k in range(start[row], start[row + 1]):
                rest = row_exit[row] + odds * max(total - weight[k] * to_row[k], 0.0)
                to_column[k] = 1.0 / max(rest, tiny)
                sums[column[k]] += weight[k] * to_column[k]
        for k in range(column.size):
            rest = column_exit[column[k]] + odds * max(sums[column[k]] - weight[k] * to_column[k], 0.0)
            to_row[k] = 1.0 / max(rest, tiny)
    for k in range(column.size):
        ratio = odds * weight[k] * to_row[k] * to_column[k]
        chance[k] = 1.0 - 1.0 / (1.0 + ratio)


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
