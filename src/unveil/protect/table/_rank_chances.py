"""The true probabilities of rank swapping: how likely a value of a column becomes another one."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from math import factorial
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from unveil._kernels import rank_kernel
from unveil._kernels._compile import compiled
from unveil._kernels.rank_swapping import bucket_partners, partners, weighted_partners

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Lines = Callable[[Integers], Floats]

_MOST_CELLS = 2000
# Steps of a simulation, some seconds of work.
_STEPS = 2e8
_MOST_DRAWS = 10_000
_FEWEST_DRAWS = 4
_PLAIN_STEPS = 200_000
_ORDERS = 720
_SMALL = 64


class Scheme(Protocol):
    """Who may swap with whom, by ranks."""

    def partners(self, n: int, rng: np.random.Generator, *, often: bool = False) -> Integers:
        """Return for each of n ranks the one it swaps with, or itself; compiled where it is asked often."""

    def exact(self, n: int) -> Floats | None:
        """Return the probability of each swap, n by n, or None where that is too much work."""

    def lines(self, counts: Integers, draws: int | None, seed: int) -> tuple[Lines, float]:
        """Return the chances of ordered values and the relative error; see `RankChances`."""


@dataclass(frozen=True, eq=False)
class RankChances:
    """The chance of each new value of a swapped column given each old one.

    ``counts`` has how many rows have each value, in their order. Equal values are ranked by lot; with ``in_order``
    False the values themselves too. Computed when first asked for: exactly if the window and the table are small, else
    by simulation from ``seed``, with ``draws`` runs (None: enough for an error of a few hundredths).
    """

    counts: Integers
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
        """The relative standard error of the chances, as a root mean square weighted by them; 0 if exact."""
        return self._found[1]

    def __call__(self, new: Integers) -> Floats:
        """Return the chance of each of the new values given each old one; the last stands for missing, which stays."""
        size = self.counts.size
        lines = np.zeros((new.size, size + 1))
        there = new < size
        if there.any():
            lines[there, :size] = self._found[0](new[there])
        lines[~there, size] = 1.0
        return lines


@dataclass(frozen=True, eq=False)
class Offsets:
    """A free rank d above is chosen in proportion to ``weight[d - 1]``; all equal is a window."""

    weight: Floats

    @property
    def _is_window(self) -> bool:
        return bool((self.weight == self.weight[0]).all())

    def partners(self, n: int, rng: np.random.Generator, *, often: bool = False) -> Integers:
        """Return for each of n ranks the one it swaps with, or itself; compiled where it is asked often."""
        draws = rng.random(n)
        if not self._is_window:
            return weighted_partners(draws, self.weight)
        return _way(partners, often)(draws, self.weight.size)

    def exact(self, n: int) -> Floats | None:
        """Return the probability of each swap, n by n, or None where that is too much work."""
        if min(self.weight.size, n - 1) > rank_kernel.EXACT_REACH or n > _SMALL:
            return None
        one, two, chance = rank_kernel.swapped_levels(rank_kernel.exact_band(n, self.weight), np.arange(n))
        matrix = np.zeros((n, n))
        matrix[one, two] = chance
        return matrix

    def lines(self, counts: Integers, draws: int | None, seed: int) -> tuple[Lines, float]:
        """Return the chances of ordered values and the relative error."""
        n = int(counts.sum())
        if min(self.weight.size, n - 1) > rank_kernel.EXACT_REACH:
            return self._simulated(counts, draws, seed)
        from scipy.sparse import csr_array

        level = np.repeat(np.arange(counts.size), counts)
        old, new, expected = rank_kernel.swapped_levels(rank_kernel.exact_band(n, self.weight), level)
        table = csr_array((expected, (new, old)), shape=(counts.size, counts.size))
        return lambda asked: table[asked].toarray() / counts, 0.0

    def _simulated(self, counts: Integers, draws: int | None, seed: int) -> tuple[Lines, float]:
        """Return the chances from simulated swaps between runs of ranks, in each of which they are nearly alike."""
        n = int(counts.sum())
        end = np.cumsum(counts)
        begin = end - counts
        # A value is never parted, and where there are too many, neighbours share a cell.
        cell = begin // -(-n // _MOST_CELLS) if counts.size > _MOST_CELLS else np.arange(counts.size)
        cell = np.unique(cell, return_inverse=True)[1].astype(np.int64)
        runs = draws or int(np.clip(_STEPS // (n * min(self.weight.size, n)), _FEWEST_DRAWS, _MOST_DRAWS))
        halves = self._halves(np.repeat(cell, counts), max(2, runs), seed)
        error = _error(halves[0][0], halves[1][0])
        runs = 2 * (max(2, runs) // 2)
        swaps, stays = (halves[0][part] + halves[1][part] for part in (0, 1))
        size = np.bincount(cell, counts).astype(np.int64)
        cell_end = np.cumsum(size)
        cell_begin = cell_end - size
        possible = rank_kernel.pairs_within(
            cell_begin[:, None], cell_end[:, None], cell_begin[None, :], cell_end[None, :], self.weight.size
        )
        # A swap within reach is possible even where no simulation met it.
        swaps = np.where(possible > 0, np.maximum(swaps, 0.25 / self.weight.size), 0.0)
        swaps = np.divide(swaps, runs * possible, out=np.zeros_like(swaps), where=possible > 0)
        stays = stays / (runs * size)

        def lines(asked: Integers) -> Floats:
            pairs = rank_kernel.pairs_within(
                begin[None, :], end[None, :], begin[asked][:, None], end[asked][:, None], self.weight.size
            )
            found = swaps[cell[asked]][:, cell] * pairs / counts
            found[np.arange(asked.size), asked] += stays[cell[asked]]
            return np.asarray(found, np.float64)

        return lines, error

    def _halves(self, cell: Integers, runs: int, seed: int) -> list[tuple[Floats, Floats]]:
        """Return the sums of the two halves of the simulations."""
        found = []
        for half in range(2):
            rng = np.random.default_rng([seed, half])
            left, total = runs // 2, None
            while left:
                now = min(left, max(1, 2_000_000 // cell.size))
                swaps, stays = rank_kernel.simulated_swaps(rng.random((now, cell.size)), self.weight, cell)
                total = (swaps, stays) if total is None else (total[0] + swaps, total[1] + stays)
                left -= now
            if total is not None:
                found.append(total)
        return found


def _way(function: Callable[..., Integers], often: bool) -> Callable[..., Integers]:
    """Return a kernel that chooses by itself when to compile, or the compiled one."""
    return compiled(function.__wrapped__) if often else function  # type: ignore[attr-defined]


@dataclass(frozen=True, eq=False)
class Buckets:
    """Ranks in so many buckets of one size: a bucket is chosen with halving weights, then a free rank in it."""

    count: int

    def buckets(self, n: int) -> Integers:
        """Return the bucket of each of n ranks."""
        return np.arange(n) * min(self.count, n) // n

    def partners(self, n: int, rng: np.random.Generator, *, often: bool = False) -> Integers:
        """Return for each of n ranks the one it swaps with, or itself; compiled where it is asked often."""
        return _way(bucket_partners, often)(rng.random(2 * n), self.buckets(n))

    def exact(self, n: int) -> Floats | None:
        """Return the probability of each swap, n by n, or None where that is too much work."""
        bucket = self.buckets(n)
        found = rank_kernel.bucket_chances(bucket) if n <= _SMALL else None
        return None if found is None else np.array([rank_kernel.bucket_line(*found, bucket, rank) for rank in range(n)])

    def lines(self, counts: Integers, draws: int | None, seed: int) -> tuple[Lines, float]:
        """Return the chances of ordered values and the relative error."""
        n = int(counts.sum())
        bucket = self.buckets(n)
        error = 0.0
        found = rank_kernel.bucket_chances(bucket) if n <= _SMALL else None
        if found is None:
            runs = draws or int(np.clip(_STEPS / 5 // (n * self.count), 20, _MOST_DRAWS))
            halves = []
            for half in range(2):
                rng = np.random.default_rng([seed, half])
                halves.append(rank_kernel.bucket_chances(bucket, rng.random((max(1, runs // 2), n, 2))))
            one, two = (half for half in halves if half is not None)
            error = _error(one[0], two[0])
            found = ((one[0] + two[0]) / 2, (one[1] + two[1]) / 2)
        chosen, stays = found
        begin = np.cumsum(counts) - counts

        def lines(asked: Integers) -> Floats:
            table = np.empty((asked.size, counts.size))
            for line, level in enumerate(asked.tolist()):
                ranks = range(begin[level], begin[level] + counts[level])
                every = sum((rank_kernel.bucket_line(chosen, stays, bucket, rank) for rank in ranks), np.zeros(n))
                table[line] = np.add.reduceat(every, begin) / counts
            return table

        return lines, error


def _error(one: Floats, other: Floats) -> float:
    """Return the relative standard error of the mean of two halves, from how much they differ."""
    whole = float(((one + other) ** 2).sum())
    return float(np.sqrt(((one - other) ** 2).sum() / whole)) if whole else 0.0


def _lines_by_lot(scheme: Scheme, counts: Integers, draws: int | None, seed: int) -> tuple[Lines, float]:
    """Return the chances of values whose order is drawn by lot.

    Values with the same number of rows are then alike, so that all that matters is two such numbers, and whether the
    value is the same.
    """
    sizes, kind = np.unique(counts, return_inverse=True)
    many = np.bincount(kind)
    halves = _exact_by_lot(scheme, counts, kind) or _simulated_by_lot(scheme, counts, kind, draws, seed)
    same, other = (np.mean([half[part] for half in halves], axis=0) for part in (0, 1))
    error = 0.0
    if len(halves) == 2:
        error = _error(*(np.append(half[1].ravel(), half[0]) for half in halves))
    # From expected numbers of rows to chances of one row of one value.
    to_same = same / (many * sizes)
    pairs = np.outer(many, many) - np.diag(many)
    to_other = np.divide(other, pairs * sizes[:, None], out=np.zeros_like(other), where=pairs > 0)

    def lines(asked: Integers) -> Floats:
        table = to_other[:, kind[asked]].T[:, kind]
        table[np.arange(asked.size), asked] = to_same[kind[asked]]
        return np.asarray(table, np.float64)

    return lines, error


def _tally(swaps: Floats, kind: Integers) -> tuple[Floats, Floats]:
    """Return the numbers of rows that keep their value, and that get another, by how many rows the values have."""
    kinds = int(kind.max()) + 1
    same = np.bincount(kind, np.diag(swaps), kinds).astype(np.float64)
    other = np.zeros((kinds, kinds))
    np.add.at(other, (kind[:, None], kind[None, :]), swaps - np.diag(np.diag(swaps)))
    return same, other


def _exact_by_lot(scheme: Scheme, counts: Integers, kind: Integers) -> list[tuple[Floats, Floats]] | None:
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
    scheme: Scheme, counts: Integers, kind: Integers, draws: int | None, seed: int
) -> list[tuple[Floats, Floats]]:
    n, kinds = int(counts.sum()), int(kind.max()) + 1
    runs = max(1, (draws or int(np.clip(2e7 // n, 200, 5000))) // 2)
    halves = []
    for half in range(2):
        rng = np.random.default_rng([seed, half])
        same, other = np.zeros(kinds), np.zeros((kinds, kinds))
        for _ in range(runs):
            order = rng.permutation(counts.size)
            value = np.repeat(order, counts[order])
            new = value[scheme.partners(n, rng, often=n * runs > _PLAIN_STEPS)]
            kept = value == new
            same += np.bincount(kind[value[kept]], minlength=kinds)
            moved = kind[value[~kept]] * kinds + kind[new[~kept]]
            other += np.bincount(moved, minlength=kinds * kinds).reshape(kinds, kinds)
        halves.append((same / runs, other / runs))
    return halves
