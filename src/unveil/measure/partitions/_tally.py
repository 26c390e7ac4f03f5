"""What each subject has in each of the adversary's clusters, as the subject weighs it."""

from dataclasses import dataclass
from fractions import Fraction

from unveil._kernels.partitions.contingency import sum_at
from unveil._kernels.types import BoolArray, IntArray
from unveil.errors import InputError
from unveil.guess import Partition, View
from unveil.measure.partitions._contingency import Contingency, contingency
from unveil.measure.partitions._weights import ItemWeights, Weights, item_weights


@dataclass(frozen=True, eq=False)
class Tally:
    """One guess: per cell the weight of the subject's own items and of the foreign ones in the cluster."""

    table: Contingency
    own: IntArray
    foreign: IntArray


@dataclass(frozen=True, eq=False)
class Tallies:
    """All guesses of a view. Weights are whole multiples of ``1 / grid``; without weights the grid is 1."""

    truth: Partition
    guesses: tuple[Tally, ...]
    probabilities: tuple[Fraction, ...]
    longest: int
    grid: int
    own_total: IntArray
    foreign_total: IntArray


def tallies(guess: Partition | View, truth: Partition, weights: Weights | None) -> Tallies:
    """Return what each subject has in each of the adversary's clusters."""
    if not isinstance(truth, Partition) or not isinstance(guess, (Partition, View)):
        raise InputError(
            f"truth must be a Partition and guess a Partition or a View, but they are {type(truth).__name__} and "
            f"{type(guess).__name__}. Build them with Partition.from_labels"
        )
    view = guess if isinstance(guess, View) else View([guess], [1])
    partitions = [partition.aligned_to(truth) for partition in view.partitions]
    probabilities = tuple(Fraction(p) for p in view.probabilities)
    longest = max(partition.cluster_count for partition in partitions)
    tables = [contingency(partition, truth) for partition in partitions]
    if weights is None:
        counted = tuple(Tally(t, t.count, t.column_total[t.column] - t.count) for t in tables)
        return Tallies(truth, counted, probabilities, longest, 1, truth.sizes, truth.n - truth.sizes)
    known = item_weights(weights, truth)
    own_total, foreign_total = _totals(known, truth)
    weighed = tuple(_weigh(table, known, p, truth) for table, p in zip(tables, partitions, strict=True))
    return Tallies(truth, weighed, probabilities, longest, known.grid, own_total, foreign_total)


def _differences(known: ItemWeights, truth: Partition) -> tuple[IntArray, BoolArray]:
    """Return by how much each subject's opinion departs from the common one, and whether the item is its own."""
    return known.value - known.common[known.item], truth.codes[known.item] == known.subject


def _totals(known: ItemWeights, truth: Partition) -> tuple[IntArray, IntArray]:
    departs, is_own = _differences(known, truth)
    own = sum_at(truth.codes, known.common, truth.cluster_count)
    foreign = known.common.sum() - own
    own += sum_at(known.subject[is_own], departs[is_own], truth.cluster_count)
    foreign += sum_at(known.subject[~is_own], departs[~is_own], truth.cluster_count)
    return own, foreign


def _weigh(table: Contingency, known: ItemWeights, guess: Partition, truth: Partition) -> Tally:
    own = sum_at(table.find(truth.codes, guess.codes), known.common, table.count.size)
    cluster_total = sum_at(guess.codes, known.common, guess.cluster_count)
    foreign = cluster_total[table.column] - own
    departs, is_own = _differences(known, truth)
    cell = table.find(known.subject, guess.codes[known.item])
    # A foreign item in a cluster without any of the subject's own is never merged, so its weight does not matter.
    is_foreign = ~is_own & (cell >= 0)
    own += sum_at(cell[is_own], departs[is_own], own.size)
    foreign += sum_at(cell[is_foreign], departs[is_foreign], own.size)
    return Tally(table, own, foreign)
