"""Probability of rank swaps, exact or simulated.

From the lowest rank up, a rank that is still free swaps with a free one above, chosen by weights. So a rank near the
top may find none and stays, and no row of these probabilities is even over the window.
"""

import numpy as np

from unveil._kernels._compile import compiled, loop
from unveil._kernels.types import BoolArray, FloatArray, IntArray

#: Up to this reach (or one more rank than this) probabilities are exact.
EXACT_REACH = 12

_PLAIN_STEPS = 300_000
_SAME = 1e-15


def exact_band(n: int, weight: FloatArray) -> FloatArray:
    """Return the swap probability of rank a with a + d at [a, d].

    ``weight[d - 1]`` is the weight of the rank ``d`` above; those beyond the last have none. Which ranks above the
    present one are taken already is all that matters for what follows: 2**reach cases, for each of which the
    probability is carried from rank to rank.

    >>> exact_band(3, np.ones(2))
    array([[0. , 0.5, 0.5],
           [0.5, 0. , 0. ],
           [0.5, 0. , 0. ]])
    """
    reach = min(weight.size, max(n - 1, 0))
    case = np.arange(2**reach)
    # Bit d of a case: the rank d above the present one is taken. That with the full reach never is.
    free = np.array([(case >> d) & 1 == 0 for d in range(reach)] + [np.ones(case.size, bool)])
    band = np.zeros((n, reach + 1))
    chance = np.zeros(case.size)
    chance[0] = 1.0
    past = [chance, chance]
    rank = 0
    while rank < n:
        band[rank], chance = _step(chance, free, weight[: min(reach, n - 1 - rank)], case)
        rank += 1
        # Far from both ends every second rank is alike; in between it alternates, because swaps take ranks in pairs.
        if rank + reach + 2 < n and np.abs(chance - past[0]).max() < _SAME:
            alike = (n - reach - rank) // 2 * 2
            band[rank : rank + alike] = np.tile(band[rank - 2 : rank], (alike // 2, 1))
            rank += alike
        past = [past[1], chance]
    return band


def _step(chance: FloatArray, free: BoolArray, weight: FloatArray, case: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return one rank's band row, and the next rank's cases."""
    line = np.zeros(len(free))
    after = np.zeros(case.size)
    is_free = free[0] if len(free) > 1 else np.ones(1, bool)
    open_ = np.array([free[d + 1] & is_free for d in range(weight.size)]).reshape(weight.size, case.size)
    total = weight @ open_
    stuck = is_free & (total == 0)
    line[0] = chance[stuck].sum()
    np.add.at(after, case[~is_free | stuck] >> 1, chance[~is_free | stuck])
    each = np.divide(chance, total, out=np.zeros(case.size), where=total > 0)
    for d in range(weight.size):
        at = case[open_[d]]
        moved = each[at] * weight[d]
        line[d + 1] = moved.sum()
        after += np.bincount((at | 1 << d + 1) >> 1, moved, case.size)
    return line, after


def swapped_levels(band: FloatArray, level: IntArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Return level pairs, and the expected ranks swapped between them.

    ``level`` has the level of each rank; a pair may come more than once, and its numbers are then to be added.
    """
    n, width = band.shape
    rank = np.repeat(np.arange(n), width)
    other = rank + np.tile(np.arange(width), n)
    there = (other < n) & (band.ravel() > 0)
    one, two, expected = level[rank[there]], level[other[there]], band.ravel()[there]
    moved = rank[there] != other[there]
    return (
        np.concatenate([one, two[moved]]),
        np.concatenate([two, one[moved]]),
        np.concatenate([expected, expected[moved]]),
    )


def simulated_swaps(draws: FloatArray, weight: FloatArray, cell: IntArray) -> tuple[FloatArray, FloatArray]:
    """Return simulated swaps of ranks with values, and stays.

    Cells are runs of ranks, numbered in ``cell``. Each line of ``draws`` is one simulation. It adds not the swap that
    is drawn but the probability of each that might have been, given what is free: far fewer simulations then do.
    """
    cells = int(cell[-1]) + 1
    steps = draws.size * min(weight.size, cell.size)
    run = compiled(_simulate) if steps > _PLAIN_STEPS else _simulate
    swaps, stays = run(draws, weight, cell, cells)
    return swaps + swaps.T, stays


@loop("f8[,], f8[], i8[], i8")
def _simulate(draws: FloatArray, weight: FloatArray, cell: IntArray, cells: int) -> tuple[FloatArray, FloatArray]:
    swaps = np.zeros((cells, cells))
    stays = np.zeros(cells)
    n = cell.size
    for number in range(draws.shape[0]):
        taken = np.zeros(n, np.bool_)
        for rank in range(n):
            if taken[rank]:
                continue
            end = min(n, rank + weight.size + 1)
            total = 0.0
            for other in range(rank + 1, end):
                if not taken[other]:
                    total += weight[other - rank - 1]
            if total == 0.0:
                stays[cell[rank]] += 1.0
                continue
            left = draws[number, rank] * total
            chosen = -1
            for other in range(rank + 1, end):
                share = weight[other - rank - 1]
                if not taken[other] and share > 0:
                    swaps[cell[rank], cell[other]] += share / total
                    if left >= 0:
                        chosen = other
                    left -= share
            taken[chosen] = True
    return swaps, stays


def may_stay(n: int, reach: int) -> BoolArray:
    """Return the ranks that may find no partner, for reach ≥ 3.

    One does if their number is odd and none if it is even. All above it must have been taken by others below it.

    >>> may_stay(7, 3)
    array([False, False, False, False,  True,  True,  True])
    """
    above = np.arange(n)[::-1]
    return (n % 2 == 1) & (above < reach) & (above < n - above)


def pairs_within(first: IntArray, first_end: IntArray, second: IntArray, second_end: IntArray, reach: int) -> IntArray:
    """Return the number of pairs of different ranks within ``reach``.

    Runs go from ``first`` to before ``first_end``, and are the same or apart; in the same run each pair counts twice.

    >>> pairs_within(np.array([0, 0]), np.array([3, 3]), np.array([0, 3]), np.array([3, 5]), 2)
    array([6, 3])
    """
    size, other = first_end - first, second_end - second

    def up_to(apart: IntArray) -> IntArray:
        # Pairs in which the second is at most so much above the first: triangles that overlap.
        gap = apart - (second - first)
        return _triangle(gap + size) - _triangle(gap) - _triangle(gap + size - other) + _triangle(gap - other)

    limit = np.full(np.broadcast(first, second).shape, reach)
    same = np.where(first == second, np.minimum(size, other), 0)
    found: IntArray = up_to(limit) - up_to(-limit - 1) - same
    return found


def _triangle(x: IntArray) -> IntArray:
    high = np.maximum(x, 0)
    found: IntArray = high * (high + 1) // 2
    return found


def bucket_chances(
    bucket: IntArray, draws: FloatArray | None = None, most_cases: int = 20_000
) -> tuple[FloatArray, FloatArray] | None:
    """Return each rank's bucket probabilities at [rank, bucket].

    See `bucket_partners`. Ranks of a bucket whose turn has not come are alike, so all
    that matters is how many of each bucket are free. Without ``draws`` all cases are followed, and the result is None
    if there may be more than ``most_cases``; with them (simulations, ranks, two numbers from [0, 1) each) they are
    simulated.
    """
    return _bucket_exact(bucket, most_cases) if draws is None else _bucket_simulated(bucket, draws)


def _bucket_exact(bucket: IntArray, most_cases: int) -> tuple[FloatArray, FloatArray] | None:
    n, count = bucket.size, int(bucket[-1]) + 1
    chosen, stays = np.zeros((n, count)), np.zeros(n)
    left = np.bincount(bucket)
    if np.prod(left + 1.0) > most_cases:
        return None
    cases: dict[tuple[int, ...], float] = {tuple(left.tolist()): 1.0}
    for rank in range(n):
        own = int(bucket[rank])
        after: dict[tuple[int, ...], float] = {}
        for free, chance in cases.items():
            taken = chance * (1 - free[own] / left[own])
            if taken > 0:
                after[free] = after.get(free, 0.0) + taken
            if free[own]:
                rest = (*free[:own], free[own] - 1, *free[own + 1 :])
                _choose(rest, own, rank, chance * free[own] / left[own], chosen, stays, after)
        left[own] -= 1
        cases = after
    return chosen, stays


def _choose(
    free: tuple[int, ...],
    own: int,
    rank: int,
    chance: float,
    chosen: FloatArray,
    stays: FloatArray,
    after: dict[tuple[int, ...], float],
) -> None:
    """Add the cases after a free rank, by ``free`` per bucket."""
    weight = [0.5 ** (other - own) if free[other] else 0.0 for other in range(own, len(free))]
    total = sum(weight)
    if total == 0.0:
        stays[rank] += chance
        after[free] = after.get(free, 0.0) + chance
        return
    for other, share in enumerate(weight, own):
        if share:
            chosen[rank, other] += chance * share / total
            rest = (*free[:other], free[other] - 1, *free[other + 1 :])
            after[rest] = after.get(rest, 0.0) + chance * share / total


def _bucket_simulated(bucket: IntArray, draws: FloatArray) -> tuple[FloatArray, FloatArray]:
    n, count = bucket.size, int(bucket[-1]) + 1
    runs = len(draws)
    chosen, stays = np.zeros((n, count)), np.zeros(n)
    left = np.bincount(bucket)
    free = np.tile(left, (runs, 1))
    line = np.arange(runs)
    for rank in range(n):
        own = int(bucket[rank])
        # What follows if the rank is free, in every run: weighted by how likely that is, not by whether it is drawn.
        likely = free[:, own] / left[own]
        free[:, own] -= 1
        weight = (free[:, own:] > 0) * 0.5 ** np.arange(count - own)
        total = weight.sum(axis=1)
        share = np.divide(weight, total[:, None], out=np.zeros_like(weight), where=total[:, None] > 0)
        chosen[rank, own:] = likely @ share / runs
        stays[rank] = likely @ (total == 0) / runs
        is_free = draws[:, rank, 0] < likely
        free[~is_free, own] += 1
        left[own] -= 1
        drawn = line[is_free & (total > 0)]
        passed = np.cumsum(weight[drawn], axis=1) <= (draws[drawn, rank, 1] * total[drawn])[:, None]
        free[drawn, own + passed.sum(axis=1)] -= 1
    return chosen, stays


def bucket_line(chosen: FloatArray, stays: FloatArray, bucket: IntArray, rank: int) -> FloatArray:
    """Return swap probabilities with a rank; its own place: stays."""
    n, own = bucket.size, int(bucket[rank])
    size = np.bincount(bucket)
    end = np.cumsum(size)
    line = np.empty(n)
    below = np.arange(rank)
    line[:rank] = chosen[:rank, own] / np.where(bucket[:rank] < own, size[own], end[own] - below - 1)
    line[rank] = stays[rank]
    above = bucket[rank + 1 :]
    line[rank + 1 :] = chosen[rank, above] / np.where(above > own, size[above], end[own] - rank - 1)
    return line
