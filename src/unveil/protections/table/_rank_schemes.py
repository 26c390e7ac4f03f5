"""Rank swapping schemes: allowed swaps and their probabilities."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from unveil._kernels._compile import compiled, kernel, loop
from unveil._kernels.table import rank_kernel
from unveil._kernels.types import FloatArray, IntArray

#: Takes numbers of new values, and returns for each a line with its chance given each old value.
Lines = Callable[[IntArray], FloatArray]

#: Steps of a simulation: some seconds of work.
STEPS = 5e8
MOST_DRAWS = 10_000
#: The error is told from how much this many batches of simulations differ.
BATCHES = 8

_MOST_CELLS = 2000
# Chances change little within so small a part of the window.
_PER_WINDOW = 32
# This many swaps between two cells are supposed where no simulation met any.
_UNMET = 0.25
_SMALL = 64


class Scheme(Protocol):
    """A rank swapping scheme."""

    def partners(self, n: int, rng: np.random.Generator, *, often: bool = False) -> IntArray:
        """Return each rank's swap partner, or itself; compiled if used often."""

    def exact(self, n: int) -> FloatArray | None:
        """Return the n-by-n swap probabilities, or None if too costly."""

    def steps(self, n: int) -> int:
        """Return how much work it is to draw partners once."""

    def lines(self, counts: IntArray, draws: int | None, seed: int) -> tuple[Lines, float]:
        """Return the chances of ordered values and the relative error; see `RankChances`."""


@dataclass(frozen=True, eq=False, repr=False)
class Offsets:
    """Offsets d with probability proportional to ``weight[d - 1]``."""

    weight: FloatArray

    @property
    def _is_window(self) -> bool:
        return bool((self.weight == self.weight[0]).all())

    def partners(self, n: int, rng: np.random.Generator, *, often: bool = False) -> IntArray:
        """Return each rank's swap partner, or itself; compiled if used often."""
        draws = rng.random(n)
        if not self._is_window:
            return weighted_partners(draws, self.weight, often=often)
        return _way(partners, often)(draws, self.weight.size)

    def steps(self, n: int) -> int:
        """Return how much work it is to draw partners once."""
        return n if self._is_window else n * min(self.weight.size, n)

    def exact(self, n: int) -> FloatArray | None:
        """Return the n-by-n swap probabilities, or None if too costly."""
        if min(self.weight.size, n - 1) > rank_kernel.EXACT_REACH or n > _SMALL:
            return None
        one, two, chance = rank_kernel.swapped_levels(rank_kernel.exact_band(n, self.weight), np.arange(n))
        matrix = np.zeros((n, n))
        matrix[one, two] = chance
        return matrix

    def lines(self, counts: IntArray, draws: int | None, seed: int) -> tuple[Lines, float]:
        """Return the chances of ordered values and the relative error."""
        n = int(counts.sum())
        if min(self.weight.size, n - 1) > rank_kernel.EXACT_REACH:
            return self._simulated(counts, draws, seed)
        from scipy.sparse import csr_array

        level = np.repeat(np.arange(counts.size), counts)
        old, new, expected = rank_kernel.swapped_levels(rank_kernel.exact_band(n, self.weight), level)
        table = csr_array((expected, (new, old)), shape=(counts.size, counts.size))
        return lambda asked: table[asked].toarray() / counts, 0.0

    def _simulated(self, counts: IntArray, draws: int | None, seed: int) -> tuple[Lines, float]:
        """Return simulated probabilities between runs of similar ranks."""
        end = np.cumsum(counts)
        begin, reach = end - counts, self.weight.size
        cell = self._cells(begin, int(end[-1]))
        level_of = np.repeat(np.arange(counts.size), counts)
        swaps, stays, runs, error = self._mean_swaps(cell[level_of], draws, seed)
        size = np.bincount(cell, counts).astype(np.int64)
        last = np.cumsum(size)
        first = last - size
        possible = rank_kernel.pairs_within(first[:, None], last[:, None], first[None, :], last[None, :], reach)
        # A swap within reach is possible even where no simulation met it, and so is staying near the top.
        swaps = np.where(possible > 0, np.maximum(swaps, _UNMET / (reach * runs)), 0.0)
        swaps = np.divide(swaps, possible, out=np.zeros_like(swaps), where=possible > 0)
        may_stay = np.zeros(size.size)
        may_stay[cell[level_of[rank_kernel.may_stay(int(end[-1]), reach)]]] = _UNMET / runs
        stays = np.maximum(stays, may_stay) / size

        def lines(asked: IntArray) -> FloatArray:
            pairs = rank_kernel.pairs_within(
                begin[None, :], end[None, :], begin[asked][:, None], end[asked][:, None], reach
            )
            found = swaps[cell[asked]][:, cell] * pairs / counts
            found[np.arange(asked.size), asked] += stays[cell[asked]]
            return np.asarray(found, np.float64)

        return lines, error

    def _cells(self, begin: IntArray, n: int) -> IntArray:
        """Return the cell of each value, by its first rank."""
        width = max(self.weight.size // (_PER_WINDOW if self._is_window else 4 * _PER_WINDOW), -(-n // _MOST_CELLS), 1)
        # At the top, where a rank may stay, much changes from rank to rank.
        fine = min(n, int(4 * np.sqrt(self.weight.size)))
        borders = np.unique(np.append(np.arange(0, n - fine, width), np.arange(n - fine, n, max(1, width // 8))))
        return np.unique(np.searchsorted(borders, begin, side="right"), return_inverse=True)[1].astype(np.int64)

    def _mean_swaps(self, cell: IntArray, draws: int | None, seed: int) -> tuple[FloatArray, FloatArray, int, float]:
        """Return expected swaps, stays, runs, and the relative error."""
        n = cell.size
        runs = draws or int(np.clip(STEPS // (n * min(self.weight.size, n)), BATCHES, MOST_DRAWS))
        each = max(1, runs // BATCHES)
        batches = []
        for batch in range(BATCHES):
            rng = np.random.default_rng([seed, batch])
            swaps, stays = rank_kernel.simulated_swaps(rng.random((each, n)), self.weight, cell)
            batches.append((swaps / each, stays / each))
        swaps, stays = (np.mean([batch[part] for batch in batches], axis=0) for part in (0, 1))
        return swaps, stays, each * BATCHES, relative_error([batch[0] + np.diag(batch[1]) for batch in batches])


def _way(function: Callable[..., IntArray], often: bool) -> Callable[..., IntArray]:
    """Return a self-compiling kernel, or the compiled one."""
    return compiled(function.__wrapped__) if often else function  # type: ignore[attr-defined]


@dataclass(frozen=True, eq=False, repr=False)
class Buckets:
    """Buckets of ranks, chosen with halving weights."""

    count: int

    def buckets(self, n: int) -> IntArray:
        """Return the bucket of each of n ranks."""
        return np.arange(n) * min(self.count, n) // n

    def partners(self, n: int, rng: np.random.Generator, *, often: bool = False) -> IntArray:
        """Return each rank's swap partner, or itself; compiled if used often."""
        return _way(bucket_partners, often)(rng.random(2 * n), self.buckets(n))

    def steps(self, n: int) -> int:
        """Return how much work it is to draw partners once."""
        return n * min(self.count, n)

    def exact(self, n: int) -> FloatArray | None:
        """Return the n-by-n swap probabilities, or None if too costly."""
        bucket = self.buckets(n)
        found = rank_kernel.bucket_chances(bucket) if n <= _SMALL else None
        return None if found is None else np.array([rank_kernel.bucket_line(*found, bucket, rank) for rank in range(n)])

    def lines(self, counts: IntArray, draws: int | None, seed: int) -> tuple[Lines, float]:
        """Return the chances of ordered values and the relative error."""
        n = int(counts.sum())
        bucket = self.buckets(n)
        error = 0.0
        found = rank_kernel.bucket_chances(bucket) if n <= _SMALL else None
        if found is None:
            runs = draws or int(np.clip(STEPS / 20 // (n * self.count), BATCHES, MOST_DRAWS / 5))
            batches = []
            for batch in range(BATCHES):
                rng = np.random.default_rng([seed, batch])
                made = rank_kernel.bucket_chances(bucket, rng.random((max(1, runs // BATCHES), n, 2)))
                if made is not None:
                    batches.append(made)
            error = relative_error([np.column_stack(batch) for batch in batches])
            found = np.mean([batch[0] for batch in batches], axis=0), np.mean([batch[1] for batch in batches], axis=0)
        chosen, stays = found
        begin = np.cumsum(counts) - counts

        def lines(asked: IntArray) -> FloatArray:
            table = np.empty((asked.size, counts.size))
            for line, level in enumerate(asked.tolist()):
                ranks = range(begin[level], begin[level] + counts[level])
                every = sum((rank_kernel.bucket_line(chosen, stays, bucket, rank) for rank in ranks), np.zeros(n))
                table[line] = np.add.reduceat(every, begin) / counts
            return table

        return lines, error


def relative_error(batches: list[FloatArray]) -> float:
    """Return the relative standard error of a batch mean (RMS)."""
    if len(batches) < 2:
        return 0.0
    mean = np.mean(batches, axis=0)
    spread = np.sum([(batch - mean) ** 2 for batch in batches]) / (len(batches) - 1) / len(batches)
    whole = float((mean**2).sum())
    return float(np.sqrt(spread / whole)) if whole else 0.0


# Partners in rank swapping.


@kernel("f8[], i8")
def partners(draws: FloatArray, window: int) -> IntArray:
    """Return each rank's swap partner, or itself.

    From the lowest rank up, a rank that has not swapped yet swaps with one of those above it that have not swapped
    either and are at most ``window`` away, each equally likely; where there is none, it stays. ``draws`` holds one
    number from [0, 1) per rank. Takes time in proportion to the number of ranks, whatever the window.

    >>> partners(np.zeros(5), 2)
    array([2, 3, 0, 1, 4])
    """
    n = draws.size
    partner = np.arange(n)
    # The ranks above the present one that are free and near enough, and where each stands in that list, so that any
    # of them can be taken out in one step: the last one takes its place.
    free = np.empty(n, np.int64)
    place = np.full(n, -1)
    size = 0
    entered = 0
    for rank in range(n):
        while entered < n and entered <= rank + window:
            free[size] = entered
            place[entered] = size
            size += 1
            entered += 1
        if place[rank] < 0:
            continue
        size -= 1
        last = free[size]
        free[place[rank]] = last
        place[last] = place[rank]
        place[rank] = -1
        if size == 0:
            continue
        chosen = free[int(draws[rank] * size)]
        partner[rank] = chosen
        partner[chosen] = rank
        size -= 1
        last = free[size]
        free[place[chosen]] = last
        place[last] = place[chosen]
        place[chosen] = -1
    return partner


def weighted_partners(draws: FloatArray, weight: FloatArray, *, often: bool = False) -> IntArray:
    """Return each rank's swap partner, offset ``d`` weighted by ``weight[d - 1]``.

    As `partners`, but a free rank above is chosen with a probability in proportion to its weight; beyond the last
    weight there is none. Takes time in proportion to the number of ranks and to that of weights; it is compiled where
    that is much, or it is asked ``often``.

    >>> weighted_partners(np.zeros(5), np.array([0.0, 1.0]))
    array([2, 3, 0, 1, 4])
    """
    is_long = draws.size * min(draws.size, weight.size) > _PLAIN_STEPS
    run = compiled(_weighted_partners) if often or is_long else _weighted_partners
    return run(draws, weight)


_PLAIN_STEPS = 300_000


@loop("f8[], f8[]")
def _weighted_partners(draws: FloatArray, weight: FloatArray) -> IntArray:
    n = draws.size
    partner = np.arange(n)
    taken = np.zeros(n, np.bool_)
    for rank in range(n):
        if taken[rank]:
            continue
        end = min(n, rank + weight.size + 1)
        total = 0.0
        for other in range(rank + 1, end):
            if not taken[other]:
                total += weight[other - rank - 1]
        left = draws[rank] * total
        chosen = -1
        for other in range(rank + 1, end):
            share = weight[other - rank - 1]
            if not taken[other] and share > 0:
                # The last one is taken where rounding leaves a rest.
                chosen = other
                left -= share
                if left < 0:
                    break
        if chosen >= 0:
            partner[rank], partner[chosen] = chosen, rank
            taken[chosen] = True
    return partner


@kernel("f8[], i8[]")
def bucket_partners(draws: FloatArray, bucket: IntArray) -> IntArray:
    """Return each rank's swap partner, chosen by buckets.

    ``bucket`` rises from 0 with the ranks. From the lowest rank up, a rank that has not swapped yet chooses its own
    bucket or one above, among those that have a free rank above it: each has half the weight of the one before. There
    it swaps with one of the free ranks, each equally likely; where there is none, it stays. ``draws`` holds two numbers
    from [0, 1) per rank, one after the other.

    >>> bucket_partners(np.zeros(8), np.array([0, 0, 1, 1]))
    array([1, 0, 3, 2])
    """
    n = bucket.size
    partner = np.arange(n)
    count = bucket[-1] + 1
    # The free ranks of each bucket stand at its own ranks, and where each stands, so that any is taken out in one step.
    begin = np.zeros(count, np.int64)
    size = np.zeros(count, np.int64)
    for rank in range(n - 1, -1, -1):
        begin[bucket[rank]] = rank
        size[bucket[rank]] += 1
    free = np.arange(n)
    place = np.arange(n)
    for rank in range(n):
        own = bucket[rank]
        if place[rank] < 0:
            continue
        size[own] -= 1
        last = free[begin[own] + size[own]]
        free[place[rank]] = last
        place[last] = place[rank]
        place[rank] = -1
        total = 0.0
        for other in range(own, count):
            if size[other] > 0:
                total += 0.5 ** (other - own)
        if total == 0.0:
            continue
        left = draws[2 * rank] * total
        into = own
        for other in range(own, count):
            if size[other] > 0:
                into = other
                left -= 0.5 ** (other - own)
                if left < 0:
                    break
        chosen = free[begin[into] + int(draws[2 * rank + 1] * size[into])]
        partner[rank] = chosen
        partner[chosen] = rank
        size[into] -= 1
        last = free[begin[into] + size[into]]
        free[place[chosen]] = last
        place[last] = place[chosen]
        place[chosen] = -1
    return partner
