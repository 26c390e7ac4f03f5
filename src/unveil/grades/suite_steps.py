"""Level steps as linear functions of suite weights, and a weight search."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.grades.evenness import ROUNDING
from unveil.grades.suites import falls

RankingUnit = Literal["whole", "pairs"]

#: How much weight goes from one metric to another at once: first much, at last little.
_TRANSFERS = (0.2, 0.1, 0.05)
#: Random suites that a search starts from, beside the best ones there are.
_RANDOM_STARTS = 4
#: Starts are multiples of one over this, so that weights stay readable.
_PARTS = 20
#: Suites that are evaluated at once, so that thousands of them need little memory.
_AT_ONCE = 256


@dataclass(frozen=True, kw_only=True, eq=False)
class Steps:
    """Decrease of each metric's logarithm between levels, in all cases.

    A suite's logarithm falls by the weighted sum, so that a suite of any weights is one product of matrices.

    Attributes
    ----------
    falls
        By step and metric.
    start
        Where the steps of each case begin, and where the last ones end. Every case has at least one.
    """

    falls: FloatArray
    start: IntArray

    @property
    def cases(self) -> int:
        """The number of cases."""
        return len(self.start) - 1

    def only(self, cases: IntArray) -> "Steps":
        """Return the steps of some of the cases."""
        number = np.diff(self.start)
        rows = [np.arange(self.start[case], self.start[case + 1]) for case in cases]
        start = np.concatenate(([0], np.cumsum(number[cases])))
        return Steps(falls=self.falls[np.concatenate(rows)], start=start)

    def ranked(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return full order and share of ordered steps, by case and suite."""
        number = np.diff(self.start)[:, None]
        right = np.empty((self.cases, len(weights)), np.int64)
        for first in range(0, len(weights), _AT_ONCE):
            some = slice(first, first + _AT_ONCE)
            # Bytes are added as 16 bits, which no number of levels fills.
            in_order = (self.falls @ weights[some].T > ROUNDING).view(np.int8)
            right[:, some] = np.add.reduceat(in_order, self.start[:-1], axis=0, dtype=np.int16)
        return (right == number).astype(float), right / number


def steps_of(logs: FloatArray) -> tuple[Steps, IntArray, int]:
    """Return the steps between defined levels, their cases, and omitted levels.

    Parameters
    ----------
    logs
        Logarithms of quotients, by case, metric and level. A level at which only some metrics are defined is left out
        for all, so that suites and single metrics are compared on the same steps.
    """
    missing = np.isnan(logs)
    common = ~missing.any(axis=1, keepdims=True)
    fall = np.moveaxis(falls(np.where(common, logs, np.nan)), 1, 2)
    there = ~np.isnan(fall[:, :, 0])
    number = there.sum(axis=1)
    cases = np.flatnonzero(number)
    start = np.concatenate(([0], np.cumsum(number[cases])))
    left_out = int((~common & ~missing.all(axis=1, keepdims=True)).sum())
    return Steps(falls=np.ascontiguousarray(fall[there]), start=start), cases, left_out


def merit(steps: Steps, weights: FloatArray, by: RankingUnit) -> FloatArray:
    """Return the merit of suites: ordered cases, then ordered steps."""
    whole, pairs = steps.ranked(weights)
    first, second = (whole, pairs) if by == "whole" else (pairs, whole)
    # Rounded, so that sums in another order are still equal.
    found: FloatArray = np.round(first.sum(axis=0) + 1e-3 * second.mean(axis=0), 9)
    return found


#: Tells which of some weights, at [suite, metric], may be taken.
WeightFilter = Callable[[FloatArray], BoolArray]


def all_allowed(weights: FloatArray) -> BoolArray:
    """Return that all weights may be taken."""
    return np.ones(len(weights), np.bool_)


def best_weights(
    steps: Steps,
    starts: Sequence[FloatArray],
    by: RankingUnit,
    rng: np.random.Generator,
    *,
    allowed: WeightFilter = all_allowed,
) -> FloatArray:
    """Return good weights by local search from several starts.

    It need not be the best there is; it is never worse than any of the starts that are allowed, of which there must be
    one.
    """
    metrics = steps.falls.shape[1]
    lots = rng.multinomial(_PARTS, np.full(metrics, 1 / metrics), size=_RANDOM_STARTS) / _PARTS
    steps = _undecided(steps)
    tried = np.array([*starts, *lots])
    tried = tried[allowed(tried)]
    best: FloatArray = tried[0]
    most = -np.inf
    for start in tried:
        weights, found = _climb(steps, start, by, allowed)
        if found > most + 1e-9:
            best, most = weights, found
    return best


def _undecided(steps: Steps) -> Steps:
    """Return the cases with an outcome that depends on the weights."""
    right = steps.falls > ROUNDING
    open_steps = right.any(axis=1) & ~right.all(axis=1)
    cases = np.flatnonzero(np.add.reduceat(open_steps, steps.start[:-1], dtype=np.int64))
    return steps.only(cases) if len(cases) else steps.only(np.arange(1))


def _climb(steps: Steps, weights: FloatArray, by: RankingUnit, allowed: WeightFilter) -> tuple[FloatArray, float]:
    most = float(merit(steps, weights[None], by)[0])
    for size in _TRANSFERS:
        while True:
            tried = _transfers(weights, size)
            tried = tried[allowed(tried)]
            if not len(tried):
                break
            found = merit(steps, tried, by)
            best = int(found.argmax())
            if found[best] <= most + 1e-9:
                break
            weights, most = tried[best], float(found[best])
    return weights, most


def _transfers(weights: FloatArray, size: float) -> FloatArray:
    """Return the weights after every transfer of up to ``size``."""
    metrics = len(weights)
    giver, taker = (each.ravel() for each in np.indices((metrics, metrics)))
    moves = (giver != taker) & (weights[giver] > 0)
    giver, taker = giver[moves], taker[moves]
    amount = np.minimum(weights[giver], size)
    # What is left after many transfers may be rounding, not weight.
    amount = np.where(weights[giver] - amount < 1e-9, weights[giver], amount)
    tried = np.repeat(weights[None], len(giver), axis=0)
    rows = np.arange(len(giver))
    tried[rows, giver] -= amount
    tried[rows, taker] += amount
    return tried
