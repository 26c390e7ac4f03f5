"""Weighted items of each subject in each of the attacker's clusters."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.partitions.contingency import foreign_items, sum_at
from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.errors import InputError
from unveil.guesses import Partition, View
from unveil.metrics.partitions._contingency import Contingency, stacked_codes, stacked_contingency, stacks
from unveil.metrics.partitions._weights import ItemWeights, Weights, item_weights


@dataclass(frozen=True, eq=False)
class Tally:
    """Some guesses: weights of own and other items per cell."""

    table: Contingency
    own: IntArray
    foreign: IntArray
    probabilities: tuple[Fraction, ...]

    def tiled(self, per_subject: NDArray[Any]) -> NDArray[Any]:
        """Return values per subject, repeated for each guess."""
        return np.tile(per_subject, self.table.guesses) if self.table.guesses > 1 else per_subject

    def share(self, scale: int = 1) -> FloatArray:
        """Return the probability of each guess, times a number."""
        return np.array([float(probability * scale) for probability in self.probabilities])

    def mean(self, values: NDArray[Any]) -> FloatArray:
        """Return the guesses' part of the mean over the view."""
        part: FloatArray = self.share() @ values.reshape(self.table.guesses, -1)
        return part


@dataclass(frozen=True, eq=False)
class Tallies:
    """All guesses of a view, in a few tallies.

    Weights are whole multiples of ``1 / grid``, which is 1 without weights.
    """

    truth: Partition
    guesses: tuple[Tally, ...]
    probabilities: tuple[Fraction, ...]
    longest: int
    grid: int
    own_total: IntArray
    foreign_total: IntArray

    def steps(self) -> IntArray:
        """Return the number of graph points of each subject."""
        subjects = self.own_total.size
        each = [np.diff(tally.table.row_start).reshape(-1, subjects).max(axis=0) for tally in self.guesses]
        most: IntArray = np.maximum.reduce(each)
        return most

    def wholes(self, *, literal: bool) -> "Wholes":
        """Return the totals behind the shares: weight or number of items."""
        if not literal:
            no_base = np.zeros(self.own_total.size)
            return Wholes(no_base, self.own_total.astype(np.float64), self.foreign_total.astype(np.float64))
        items = self.truth.sizes * self.grid
        others = self.truth.n * self.grid - items
        return Wholes(*(each.astype(np.float64) for each in (items - self.own_total, items, others)))


class Wholes(NamedTuple):
    """Totals behind the shares, per subject; ``base`` is linked from the start."""

    base: FloatArray
    own: FloatArray
    foreign: FloatArray


def tallies(guess: Partition | View, truth: Partition, weights: Weights | None) -> Tallies:
    """Return the weighted items of each subject in each cluster."""
    if not isinstance(truth, Partition) or not isinstance(guess, (Partition, View)):
        raise InputError(
            f"truth is a {type(truth).__name__} and guess a {type(guess).__name__}. Pass a Partition as truth, "
            f"and a Partition or View as guess. Build them with Partition.from_labels"
        )
    view = guess if isinstance(guess, View) else View([guess], [1])
    partitions = [partition.aligned_to(truth) for partition in view.partitions]
    probabilities = tuple(Fraction(p) for p in view.probabilities)
    longest = max(partition.cluster_count for partition in partitions)
    known = None if weights is None else item_weights(weights, truth)
    counted: list[Tally] = []
    for stack in stacks(partitions):
        first = sum(len(tally.probabilities) for tally in counted)
        counted.append(_tally(stack, truth, known, probabilities[first : first + len(stack)]))
    if known is None:
        return Tallies(truth, tuple(counted), probabilities, longest, 1, truth.sizes, truth.n - truth.sizes)
    return Tallies(truth, tuple(counted), probabilities, longest, known.grid, *_totals(known, truth))


def _tally(
    guesses: Sequence[Partition], truth: Partition, known: ItemWeights | None, probabilities: tuple[Fraction, ...]
) -> Tally:
    table = stacked_contingency(guesses, truth)
    if known is None:
        foreign = foreign_items(table.column, table.count, table.column_total)
        return Tally(table, table.count, foreign, probabilities)
    return Tally(table, *_weigh(table, known, guesses, truth), probabilities)


def _differences(known: ItemWeights, truth: Partition) -> tuple[IntArray, BoolArray]:
    """Return each subject's deviations from the common weights, and item ownership."""
    return known.value - known.common[known.item], truth.codes[known.item] == known.subject


def _totals(known: ItemWeights, truth: Partition) -> tuple[IntArray, IntArray]:
    departs, is_own = _differences(known, truth)
    own = sum_at(truth.codes, known.common, truth.cluster_count)
    foreign = known.common.sum() - own
    own += sum_at(known.subject[is_own], departs[is_own], truth.cluster_count)
    foreign += sum_at(known.subject[~is_own], departs[~is_own], truth.cluster_count)
    return own, foreign


def _weigh(
    table: Contingency, known: ItemWeights, guesses: Sequence[Partition], truth: Partition
) -> tuple[IntArray, IntArray]:
    """Return the weight of own and other items of each cell."""
    rows, columns = stacked_codes(guesses, truth)
    common = np.tile(known.common, len(guesses))
    own = sum_at(table.find(rows, columns), common, table.count.size)
    cluster_total = sum_at(columns, common, table.column_total.size)
    foreign = cluster_total[table.column] - own
    departs, is_own = _differences(known, truth)
    departs, is_own = np.tile(departs, len(guesses)), np.tile(is_own, len(guesses))
    guess = np.repeat(np.arange(len(guesses)), known.item.size)
    subject, item = np.tile(known.subject, len(guesses)), np.tile(known.item, len(guesses))
    cell = table.find(guess * truth.cluster_count + subject, columns[guess * truth.n + item])
    # A foreign item in a cluster without any of the subject's own is never merged, so its weight does not matter.
    is_foreign = ~is_own & (cell >= 0)
    own += sum_at(cell[is_own], departs[is_own], own.size)
    foreign += sum_at(cell[is_foreign], departs[is_foreign], own.size)
    return own, foreign
