"""Figures of several runs drawn anew together: who was held out in which run, the same draws for all figures."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil._kernels.verdict.labels import BLOCK, labels, member_sums
from unveil.metrics.verdict.family import FittedGuesses, OwnDraws
from unveil.metrics.verdict.pool import Pool

#: From a number of draws: blocks of them, each with one array [draw, place] for each run that is True for members.
#: The first block is what was seen.
DrawRuns = Callable[[int], Iterator[Sequence[BoolArray]]]
#: What one run gave: scores by place, whose sum over members counts, or guesses that fit places.
RunStatistic = FloatArray | FittedGuesses
#: A block of draws has at most so many labels.
_LABELS = 2**24


@dataclass(eq=False)
class JointDraws:
    """Figures, each a sum over runs, that are drawn together; all are computed at once when the first is asked for."""

    draw: DrawRuns
    figures: list[Sequence[RunStatistic]] = field(default_factory=list)
    _found: dict[int, FloatArray] = field(default_factory=dict)

    def add(self, runs: Sequence[RunStatistic]) -> OwnDraws:
        """Return the figure that is the sum of these over runs."""
        self.figures.append(runs)
        return OwnDraws(partial(self._drawn, len(self.figures) - 1))

    def _drawn(self, figure: int, number: int, _rng: np.random.Generator) -> FloatArray:
        # Not by the generator that is passed: all figures must have the same draws.
        if number not in self._found:
            self._found[number] = self._all(number)
        return self._found[number][:, figure]

    def _all(self, number: int) -> FloatArray:
        found, row = np.zeros((number + 1, len(self.figures))), 0
        for block in self.draw(number):
            rows = slice(row, row + len(block[0]))
            for run, drawn in enumerate(block):
                scored, scores = [], []
                for at, each in enumerate(self.figures):
                    statistic = each[run]
                    if isinstance(statistic, FittedGuesses):
                        found[rows, at] += statistic(drawn)
                    else:
                        scored.append(at)
                        scores.append(statistic)
                if scored:
                    found[rows, scored] += member_sums(drawn, np.column_stack(scores))
            row = rows.stop
        return found


def draw_folds(fold: IntArray, held_out: Sequence[int], strata: Sequence[IntArray], seed: int) -> DrawRuns:
    """Return draws of who is in which fold: any order of the folds of all people of a stratum is as likely.

    Parameters
    ----------
    fold
        The fold of each person.
    held_out
        The fold that is held out in each run.
    strata
        The people of each stratum, whose folds were drawn apart from those of others.
    seed
        Where draws start.
    """

    def blocks(number: int) -> Iterator[Sequence[BoolArray]]:
        yield [fold[None] != each for each in held_out]
        size = max(1, min(BLOCK, _LABELS // max(fold.size, 1)))
        for block, first in enumerate(range(0, number, size)):
            rng = np.random.default_rng([seed, block])
            drawn = np.tile(fold.astype(np.int16), (min(size, number - first), 1))
            for people in strata:
                drawn[:, people] = rng.permuted(drawn[:, people], axis=1)
            in_fold = {each: drawn != each for each in set(held_out)}
            yield [in_fold[each] for each in held_out]

    return blocks


def draw_pools(pools: Sequence[Pool], seed: int) -> DrawRuns:
    """Return draws of who is a member in each run by itself, independently of the other runs.

    Somebody who is held out in one run is given to the generator in another, so that where people are as easy in all
    runs the sum varies less than these draws do: p is rather too large.
    """

    def blocks(number: int) -> Iterator[Sequence[BoolArray]]:
        yield [pool.labels[None] for pool in pools]
        largest = max(pool.people for pool in pools)
        size = max(1, min(BLOCK, _LABELS // max(largest, 1)))
        for block, first in enumerate(range(0, number, size)):
            many = min(size, number - first)
            yield [
                np.concatenate([make() for make in labels(pool.members, pool.others, many, own)])
                for pool, own in ((pool, np.random.default_rng([seed, block, run])) for run, pool in enumerate(pools))
            ]

    return blocks
