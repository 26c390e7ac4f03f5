"""Clustering distances between the attacker's partition and the truth.

All of them come from one contingency table and cost little more than it. Unlike unlinkability they know neither
subjects nor policies: they say how good the guess is as a whole.
"""

from collections.abc import Callable
from dataclasses import dataclass, fields
from fractions import Fraction
from math import inf, log2, nan
from typing import Any, NamedTuple

import numpy as np

from unveil._figure import figure
from unveil._kernels.partitions.contingency import overlap_sums
from unveil._kernels.partitions.transfer import heaviest_cells
from unveil._kernels.types import FloatArray
from unveil.errors import InputError
from unveil.guesses import Partition, View
from unveil.metrics._listing import metric
from unveil.metrics.partitions._contingency import Contingency, stacked_contingency, stacks

BCUBED = "Bagga and Baldwin, Entity-based cross-document coreferencing using the vector space model, 1998"
FACTS: dict[str, Any] = {"category": "distance", "per": "release"}


@dataclass(frozen=True, kw_only=True)
class PartitionDistances:
    """The distances of one guess from the truth.

    NaN stands for what is undefined (one item has no pairs and no distances to divide by) or was not asked for.
    """

    voi: float = figure("Variation of information between guess and truth, in bits; 0 where they are the same.")
    voi_normalized: float = figure(
        "Variation of information as a share of its largest value for this number of items, from 0 (the same "
        "partition) to 1."
    )
    rand: float = figure("Rand index, from 0 to 1: share of pairs of items on which both agree.")
    adjusted_rand: float = figure("Rand index adjusted for chance: 0 by chance, 1 the same partition.")
    bcubed_precision: float = figure(
        "B-cubed precision, from 0 to 1: the mean over items of the share of their guessed cluster that belongs to "
        "their subject."
    )
    bcubed_recall: float = figure(
        "B-cubed recall, from 0 to 1: the mean over items of the share of their subject that is in their guessed "
        "cluster."
    )
    mtd: float = figure("Minimum number of items to move to turn the guess into the truth; 0 where they are the same.")
    mtd_normalized: float = figure(
        "Items to move as a share of the largest number needed, from 0 (the same partition) to 1."
    )


def partition_distances(guess: Partition | View, truth: Partition, *, transfer: bool = True) -> PartitionDistances:
    """Return all distances of the guess from the truth.

    For a view each is the mean over its partitions, weighted by their probabilities. ``transfer=False`` leaves out the
    minimal transfer distance, the only one that takes more than one look at each cell of the table; it is then NaN.

    >>> distances = partition_distances(Partition.from_labels("xxyy"), Partition.from_labels("aaab"))
    >>> distances.rand, distances.mtd
    (0.5, 1.0)
    """
    each, probabilities = distances_of_each(guess, truth, transfer=transfer)
    return PartitionDistances(**{name: _mean(values, probabilities) for name, values in each.items()})


def distances_of_each(
    guess: Partition | View, truth: Partition, *, transfer: bool = True
) -> tuple[dict[str, FloatArray], tuple[Fraction, ...]]:
    """Return the distances and probability of each partition of a view."""

    def measure(table: Contingency) -> list[FloatArray]:
        (voi, precision, recall), mtd = _overlaps(table), _mtd(table) if transfer else np.full(table.guesses, nan)
        normalized, pairs = (_share(voi, log2(table.n)), _share(mtd, table.n - 1)), _pair_counts(table)
        return [voi, normalized[0], _rand(pairs), _adjusted_rand(pairs), precision, recall, mtd, normalized[1]]

    tables, probabilities = _tables(guess, truth)
    measured = [measure(table) for table in tables]
    names = [field.name for field in fields(PartitionDistances)]
    return {name: np.concatenate([one[k] for one in measured]) for k, name in enumerate(names)}, probabilities


@metric(
    more_means="more private",
    bounds=(0.0, inf),
    source="Meila, Comparing clusterings by the variation of information, 2003",
    **FACTS,
)
def variation_of_information(guess: Partition | View, truth: Partition, *, normalized: bool = False) -> float:
    """Return the variation of information between guess and truth, in bits.

    Formula: ``H(truth | guess) + H(guess | truth)``, what one partition leaves unknown about the other, both ways;
    ``normalized`` divides by log2 n. 0 means the same partition, log2 n all in one cluster against all alone. For a
    view, the mean over its partitions. NaN for one item if ``normalized``.

    >>> variation_of_information(Partition.from_labels("xxyy"), Partition.from_labels("abab"))
    2.0
    """
    return _expected(guess, truth, lambda table: _share(_overlaps(table)[0], log2(table.n) if normalized else 1))


@metric(
    more_means="less private",
    bounds=(0.0, 1.0),
    source="Rand, Objective criteria for the evaluation of clustering methods, 1971",
    **FACTS,
)
def rand_index(guess: Partition | View, truth: Partition) -> float:
    """Return the share of item pairs on which both agree, 0 to 1.

    Formula: ``(pairs together in both + pairs apart in both) / pairs``. 1 means the same partition; 0 means that every
    pair is judged wrongly. For a view, the mean over its partitions. NaN for one item: there are no pairs.

    >>> rand_index(Partition.from_labels("xxyy"), Partition.from_labels("aaab"))
    0.5
    """
    return _expected(guess, truth, lambda table: _rand(_pair_counts(table)))


@metric(more_means="less private", bounds=(-0.5, 1.0), source="Hubert and Arabie, Comparing partitions, 1985", **FACTS)
def adjusted_rand_index(guess: Partition | View, truth: Partition) -> float:
    """Return the Rand index adjusted for chance; 0 for random clusters.

    Formula: ``(Rand index - chance) / (1 - chance)`` with the Rand index that random clusters of these sizes have on
    average as chance. 1 means the same partition; below 0 means worse than chance, at worst -1/2. Where chance already
    gives the highest value possible it would be 0/0: then both partitions are all-in-one or both all-alone, hence the
    same, and the value is 1. For a view, the mean over its partitions. NaN for one item: there are no pairs.

    >>> adjusted_rand_index(Partition.from_labels("xxyy"), Partition.from_labels("abab"))
    -0.5
    """
    return _expected(guess, truth, lambda table: _adjusted_rand(_pair_counts(table)))


@metric(more_means="less private", bounds=(0.0, 1.0), source=BCUBED, **FACTS)
def bcubed_precision(guess: Partition | View, truth: Partition) -> float:
    """Return the mean B-cubed precision over all items, 0 to 1.

    Formula: ``|true cluster & guessed cluster| / |guessed cluster|``, averaged over items. 1 means that no guessed
    cluster mixes subjects; it is at least the number of guessed clusters divided by n, and never undefined. For a view,
    the mean over its partitions.

    >>> bcubed_precision(Partition.from_labels("xxxx"), Partition.from_labels("aabb"))
    0.5
    """
    return _expected(guess, truth, lambda table: _overlaps(table)[1])


@metric(more_means="less private", bounds=(0.0, 1.0), source=BCUBED, **FACTS)
def bcubed_recall(guess: Partition | View, truth: Partition) -> float:
    """Return the mean B-cubed recall over all items, 0 to 1.

    Formula: ``|true cluster & guessed cluster| / |true cluster|``, averaged over items. 1 means that no subject was
    torn apart; it is at least the number of true clusters divided by n, and never undefined. For a view, the mean over
    its partitions.

    >>> bcubed_recall(Partition.from_labels("wxyz"), Partition.from_labels("aabb"))
    0.5
    """
    return _expected(guess, truth, lambda table: _overlaps(table)[2])


@metric(
    more_means="more private",
    bounds=(0.0, inf),
    source="Charon, Denoeud, Guenoche and Hudry, Maximum transfer distance between partitions, 2006",
    **FACTS,
)
def minimal_transfer_distance(guess: Partition | View, truth: Partition, *, normalized: bool = False) -> float:
    """Return the minimum number of items to move from guess to truth.

    Formula: ``n - most``, the most items that stay when each true cluster is paired with at most one guessed cluster;
    ``normalized`` divides by n - 1. 0 means the same partition, n - 1 the farthest one. For a view, the mean over its
    partitions. NaN for one item if ``normalized``.

    >>> minimal_transfer_distance(Partition.from_labels("xxyy"), Partition.from_labels("aaab"))
    1.0
    """
    return _expected(guess, truth, lambda table: _share(_mtd(table), table.n - 1 if normalized else 1))


def _tables(guess: Partition | View, truth: Partition) -> tuple[list[Contingency], tuple[Fraction, ...]]:
    if not isinstance(truth, Partition) or not isinstance(guess, (Partition, View)):
        raise InputError(
            f"truth is a {type(truth).__name__} and guess a {type(guess).__name__}. Pass a Partition as truth, "
            f"and a Partition or View as guess. Build them with Partition.from_labels"
        )
    view = guess if isinstance(guess, View) else View([guess], [1])
    tables = [stacked_contingency(stack, truth) for stack in stacks(view.partitions)]
    return tables, tuple(Fraction(probability) for probability in view.probabilities)


def _expected(guess: Partition | View, truth: Partition, measure: Callable[[Contingency], FloatArray]) -> float:
    tables, probabilities = _tables(guess, truth)
    return _mean(np.concatenate([measure(table) for table in tables]), probabilities)


def _mean(values: FloatArray, probabilities: tuple[Fraction, ...]) -> float:
    # In fractions, so that the mean of equal values is that value and no mean leaves the bounds of its metric.
    if np.isnan(values).any():
        return nan
    exact = zip(values.tolist(), probabilities, strict=True)
    return float(sum((Fraction(value) * probability for value, probability in exact), Fraction(0)))


def _share(part: FloatArray, whole: float) -> FloatArray:
    return part / whole if whole > 0 else np.full(part.shape, nan)


def _overlaps(table: Contingency) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return variation of information, B-cubed precision and recall, within bounds."""
    cells = (table.row_start, table.column, table.count, table.row_total, table.column_total)
    bits, precision, recall = overlap_sums(*cells, table.guesses) / table.n
    return np.minimum(bits, log2(table.n)), np.minimum(precision, 1.0), np.minimum(recall, 1.0)


class _PairCounts(NamedTuple):
    """Exact numbers of pairs together in both, truth, guess, and overall."""

    both: list[int]
    truth: int
    guess: list[int]
    all: int


def _pair_counts(table: Contingency) -> _PairCounts:
    n, rows = table.n, table.row_total.size // table.guesses
    # The columns of a guess follow those of the one before, and those of each guess hold all n items.
    ends = np.cumsum(table.column_total)
    columns = np.searchsorted(ends, n * np.arange(table.guesses), side="right")
    # A pair is counted in the square of its part twice, and an item once.
    both = np.add.reduceat(table.count * table.count, table.cell_start[:-1])
    guess = np.add.reduceat(table.column_total * table.column_total, columns)
    truth = int((table.row_total[:rows] * table.row_total[:rows]).sum())
    return _PairCounts(((both - n) // 2).tolist(), (truth - n) // 2, ((guess - n) // 2).tolist(), n * (n - 1) // 2)


def _rand(pairs: _PairCounts) -> FloatArray:
    both, truth, guess, all_pairs = pairs
    if not all_pairs:
        return np.full(len(both), nan)
    return np.array([(all_pairs + 2 * b - truth - g) / all_pairs for b, g in zip(both, guess, strict=True)])


def _adjusted_rand(pairs: _PairCounts) -> FloatArray:
    # (both - expected) / (largest - expected) with expected = truth * guess / all and largest = (truth + guess) / 2,
    # both sides times 2 * all: whole numbers of any size, and one division.
    both, truth, guess, all_pairs = pairs
    if not all_pairs:
        return np.full(len(both), nan)
    room = [(truth + g) * all_pairs - 2 * truth * g for g in guess]
    found = zip(both, guess, room, strict=True)
    return np.array([2 * (b * all_pairs - truth * g) / some if some else 1.0 for b, g, some in found])


def _mtd(table: Contingency) -> FloatArray:
    rows, columns = table.row_total.size, table.column_total.size
    stays = table.count * heaviest_cells(table.row, table.column, table.count, rows, columns)
    return (table.n - np.add.reduceat(stays, table.cell_start[:-1])).astype(np.float64)
