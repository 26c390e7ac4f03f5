"""Worm moves between perfect matchings, by weight.

A worm takes any row out of the matching, which leaves a hole in its column. The row then chooses one of its columns,
each with a chance in proportion to the weight; if another row was there, that one is out and chooses next; the worm
ends when a row chooses the hole. No choice is ever rejected. Matchings with one row out, counted with the sum of that
row's weights, and perfect ones, counted n times, balance in detail: a row's choice and its reversal both happen with
the weight of what all rows have. So perfect matchings come up in proportion to their weight.

A choice waits for memory and the next one for it, so that one chain alone leaves the processor idle most of the time.
Several chains take turns instead, choice by choice, each with random numbers of its own: none notices the others.
"""

from typing import Any

import numpy as np

from unveil._kernels._compile import loop
from unveil._kernels.random import State, next_bits
from unveil._kernels.types import FloatArray, Int32Array, IntArray

#: Two columns and a chance share one number of 64 bits, so that a choice waits for memory only once.
MOST_ROWS = 1 << 16
#: Random bits of a choice: times the number of a row's edges they stay below 2**63.
_BITS = 47


@loop("i8[], i4[], f8[]")
def choices(start: IntArray, column: Int32Array, weight: FloatArray) -> IntArray:
    """Return each edge's alias probabilities by row and column.

    That is Walker's alias method: a row's edges are drawn evenly, and each edge lighter than the mean passes the rest
    of its share on to one heavier edge. The chance takes 31 bits, each column 16.
    """
    packed = np.empty(weight.size, np.int64)
    keep = np.empty(weight.size)
    light, heavy = np.empty(weight.size, np.int32), np.empty(weight.size, np.int32)
    for row in range(start.size - 1):
        first, stop = start[row], start[row + 1]
        total, lights, heavies = 0.0, 0, 0
        for e in range(first, stop):
            total += weight[e]
        for e in range(first, stop):
            keep[e] = weight[e] * (stop - first) / total
            packed[e] = (np.int64(column[e]) << 16) | column[e]
            if keep[e] < 1.0:
                light[lights] = e
                lights += 1
            else:
                heavy[heavies] = e
                heavies += 1
        while lights > 0 and heavies > 0:
            e, giver = light[lights - 1], heavy[heavies - 1]
            packed[e] = (np.int64(column[e]) << 16) | column[giver]
            keep[giver] -= 1.0 - keep[e]
            if keep[giver] < 1.0:
                light[lights - 1] = giver
                heavies -= 1
            else:
                lights -= 1
        for e in range(first, stop):
            packed[e] |= np.int64(min(max(keep[e], 0.0), 1.0) * 2147483647.0) << 32
    return packed


@loop("i8[], i4[], i8[], i8[], f8[], i4[,], i4[,], i8, i4[], i8[,], i8[,], f8[,], i8[], u8[]")
def crawl(
    start: IntArray,
    column: Int32Array,
    packed: IntArray,
    truth: IntArray,
    score: FloatArray,
    mate: Int32Array,
    owner: Int32Array,
    worms: int,
    edges_seen: Int32Array,
    rows_cracked: IntArray,
    cracks: IntArray,
    scores: FloatArray,
    chosen_rows: IntArray,
    states: State,
) -> None:
    """Move every chain by worms, and count matchings.

    There is a line per chain: ``mate`` has the column of each row and ``owner`` the row of each column, and both
    change; ``cracks`` and ``scores`` are written: how many rows have the column that ``truth`` says, and the sum of
    ``score`` over the matching's edges. ``rows_cracked`` has as many lines for each chain as its samples are divided
    into, and is added to, as are ``edges_seen``, for all chains together, and ``chosen_rows``: how many rows of a chain
    chose.
    """
    n, (chains, samples) = start.size - 1, cracks.shape
    parts = rows_cracked.shape[0] // chains
    row, hole = np.empty(chains, np.int64), np.empty(chains, np.int64)
    awake, left, done = np.empty(chains, np.int64), np.empty(chains, np.int64), np.zeros(chains, np.int64)
    # What every choice writes to must not lie beside what another thread writes to.
    state, steps = np.empty(chains, np.uint64), np.zeros(chains, np.int64)
    for chain in range(chains):
        awake[chain], left[chain], state[chain] = chain, worms, states[chain]
        row[chain] = (_drawn(state, chain) * n) >> _BITS
        hole[chain] = mate[chain, row[chain]]
    many = chains
    while many > 0:
        turn = 0
        while turn < many:
            chain = awake[turn]
            turn += 1
            here = row[chain]
            first = start[here]
            place = _drawn(state, chain) * (start[here + 1] - first)
            code = packed[first + (place >> _BITS)]
            # The 31 bits below those that chose the edge say whether it stays chosen.
            shift = 16 if (place >> (_BITS - 31)) & 2147483647 < code >> 32 else 0
            chosen = (code >> shift) & 65535
            mate[chain, here] = chosen
            row[chain] = owner[chain, chosen]
            owner[chain, chosen] = here
            steps[chain] += 1
            if chosen != hole[chain]:
                continue
            left[chain] -= 1
            if left[chain] == 0:
                part = rows_cracked[chain * parts + done[chain] * parts // samples]
                counted = _counted(start, column, truth, score, mate[chain], edges_seen, part)
                cracks[chain, done[chain]], scores[chain, done[chain]] = counted
                left[chain] = worms
                done[chain] += 1
                if done[chain] == samples:
                    many -= 1
                    awake[turn - 1] = awake[many]
            row[chain] = (_drawn(state, chain) * n) >> _BITS
            hole[chain] = mate[chain, row[chain]]
    for chain in range(chains):
        states[chain] = state[chain]
        chosen_rows[chain] += steps[chain]


def _drawn(state: State, chain: int) -> Any:
    """Return random bits of a chain, and move its state on."""
    return np.int64(next_bits(state[chain : chain + 1]) >> (64 - _BITS))


def _counted(
    start: IntArray,
    column: Int32Array,
    truth: IntArray,
    score: FloatArray,
    mate: Int32Array,
    edges_seen: Int32Array,
    rows_cracked: IntArray,
) -> tuple[int, float]:
    """Return the cracked rows and score of a matching, with counts."""
    n, count, total = start.size - 1, 0, 0.0
    for row in range(n):
        low, high = start[row], start[row + 1] - 1
        if high - low + 1 == n:
            low += mate[row]
            high = low
        while low < high:
            middle = (low + high) >> 1
            if column[middle] < mate[row]:
                low = middle + 1
            else:
                high = middle
        edges_seen[low] += 1
        total += score[low]
        if mate[row] == truth[row]:
            rows_cracked[row] += 1
            count += 1
    return count, total
