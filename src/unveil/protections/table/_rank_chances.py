"""The true probabilities of rank swapping: how likely a value of a column becomes another one."""

from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from math import factorial

import numpy as np

from unveil._kernels.types import FloatArray, IntArray
from unveil.protections.table._rank_schemes import BATCHES, MOST_DRAWS, STEPS, Lines, Scheme, relative_error

_PLAIN_STEPS = 10_000
_ORDERS = 720


@dataclass(frozen=True, eq=False, repr=False)
class RankChances:
    """The chance of each new value of a swapped column given each old one.

    ``counts`` has how many rows have each value, in their order. Equal values are ranked by lot; with ``in_order``
    False the values themselves too. Computed when first asked for: exactly if the window and the table are small, else
    by simulation from ``seed``, with ``draws`` runs (None: enough for an error of a few hundredths).
    """

    counts: IntArray
    scheme: Scheme
    in_order: bool
    draws: int | None = None
    seed: int = 0

    @cached_property
    def _found(self) -> tuple[Lines, float]:
        if self.in_order:
            return self.scheme.lines(self.counts, self.draws, self.seed)
        return _lines_by_lot(self.scheme, self.counts, self.draws, self.seed)

    @property
    def error(self) -> float:
        """The relative standard error of the expected numbers of swaps, as a root mean square; 0 if exact."""
        return self._found[1]

    def __call__(self, new: IntArray) -> FloatArray:
        """Return the chance of each of the new values given each old one; the last stands for missing, which stays."""
        size = self.counts.size
        lines = np.zeros((new.size, size + 1))
        there = new < size
        if there.any():
            lines[there, :size] = self._found[0](new[there])
        lines[~there, size] = 1.0
        return lines


def _lines_by_lot(scheme: Scheme, counts: IntArray, draws: int | None, seed: int) -> tuple[Lines, float]:
    """Return the chances of values whose order is drawn by lot.

    Values with the same number of rows are then alike, so that all that matters is two such numbers, and whether the
    value is the same.
    """
    sizes, kind = np.unique(counts, return_inverse=True)
    many = np.bincount(kind)
    batches = _exact_by_lot(scheme, counts, kind) or _simulated_by_lot(scheme, counts, kind, draws, seed)
    same, other = (np.mean([batch[part] for batch in batches], axis=0) for part in (0, 1))
    error = relative_error([np.append(batch[1].ravel(), batch[0]) for batch in batches])
    # From expected numbers of rows to chances of one row of one value.
    to_same = same / (many * sizes)
    pairs = np.outer(many, many) - np.diag(many)
    to_other = np.divide(other, pairs * sizes[:, None], out=np.zeros_like(other), where=pairs > 0)

    def lines(asked: IntArray) -> FloatArray:
        table = to_other[:, kind[asked]].T[:, kind]
        table[np.arange(asked.size), asked] = to_same[kind[asked]]
        return np.asarray(table, np.float64)

    return lines, error


def _tally(swaps: FloatArray, kind: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return the numbers of rows that keep their value, and that get another, by how many rows the values have."""
    kinds = int(kind.max()) + 1
    same = np.bincount(kind, np.diag(swaps), kinds).astype(np.float64)
    other = np.zeros((kinds, kinds))
    np.add.at(other, (kind[:, None], kind[None, :]), swaps - np.diag(np.diag(swaps)))
    return same, other


def _exact_by_lot(scheme: Scheme, counts: IntArray, kind: IntArray) -> list[tuple[FloatArray, FloatArray]] | None:
    if counts.size > 7 or factorial(counts.size) > _ORDERS:
        return None
    swap = scheme.exact(int(counts.sum()))
    if swap is None:
        return None
    total = np.zeros((counts.size, counts.size))
    for order in permutations(range(counts.size)):
        value = np.repeat(order, counts[list(order)])
        np.add.at(total, (value[:, None], value[None, :]), swap)
    return [_tally(total / factorial(counts.size), kind)]


def _simulated_by_lot(
    scheme: Scheme, counts: IntArray, kind: IntArray, draws: int | None, seed: int
) -> list[tuple[FloatArray, FloatArray]]:
    n, kinds = int(counts.sum()), int(kind.max()) + 1
    runs = max(1, (draws or int(np.clip(STEPS // scheme.steps(n), 100, MOST_DRAWS / 10))) // BATCHES)
    often = scheme.steps(n) * runs * BATCHES > _PLAIN_STEPS
    batches = []
    for batch in range(BATCHES):
        rng = np.random.default_rng([seed, batch])
        same, other = np.zeros(kinds), np.zeros((kinds, kinds))
        for _ in range(runs):
            order = rng.permutation(counts.size)
            value = np.repeat(order, counts[order])
            new = value[scheme.partners(n, rng, often=often)]
            kept = value == new
            same += np.bincount(kind[value[kept]], minlength=kinds)
            moved = kind[value[~kept]] * kinds + kind[new[~kept]]
            other += np.bincount(moved, minlength=kinds * kinds).reshape(kinds, kinds)
        batches.append((same / runs, other / runs))
    return batches
