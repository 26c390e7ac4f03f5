"""Worms: random moves between perfect matchings that visit each as often as its weight says.

A worm takes any row out of the matching, which leaves a hole in its column. The row then chooses one of its columns,
each with a chance in proportion to the weight; if another row was there, that one is out and chooses next; the worm
ends when a row chooses the hole. No choice is ever rejected. Matchings with one row out, counted with the sum of that
row's weights, and perfect ones, counted n times, balance in detail: a row's choice and its reversal both happen with
the weight of what all rows have. So perfect matchings come up in proportion to their weight.
"""

import numpy as np

from unveil._kernels._compile import loop
from unveil._kernels.types import FloatArray, Int32Array, IntArray

#: Two columns and a chance share one number of 64 bits, so that a choice waits for memory only once.
MOST_ROWS = 1 << 16


@loop("i8[], i4[], f8[]")
def choices(start: IntArray, column: Int32Array, weight: FloatArray) -> IntArray:
    """Return for each edge a chance to stay chosen once drawn evenly from its row, its column, and the column else.

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


@loop("i8[], i4[], i8[], i8[], i4[], i4[], i8, i4[], i8[], i8[], rng")
def crawl(
    start: IntArray,
    column: Int32Array,
    packed: IntArray,
    truth: IntArray,
    mate: Int32Array,
    owner: Int32Array,
    worms: int,
    edges_seen: Int32Array,
    rows_cracked: IntArray,
    cracks: IntArray,
    rng: np.random.Generator,
) -> int:
    """Return how many rows chose; after each of ``cracks.size`` times ``worms`` worms the matching is counted.

    ``mate`` is the column of each row and ``owner`` the row of each column; both change. ``edges_seen`` and
    ``rows_cracked`` are added to, ``cracks`` is written: rows whose column is the one that ``truth`` says.
    """
    n = start.size - 1
    steps = 0
    for sample in range(cracks.size):
        for _ in range(worms):
            row = min(int(rng.random() * n), n - 1)
            hole = mate[row]
            while True:
                degree = start[row + 1] - start[row]
                place = rng.random() * degree
                k = min(int(place), degree - 1)
                code = packed[start[row] + k]
                chosen = code & 65535
                if (place - k) * 2147483647.0 < code >> 32:
                    chosen = (code >> 16) & 65535
                mate[row] = chosen
                steps += 1
                pushed = owner[chosen]
                owner[chosen] = row
                if chosen == hole:
                    break
                row = pushed
        count = 0
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
            if mate[row] == truth[row]:
                rows_cracked[row] += 1
                count += 1
        cracks[sample] = count
    return steps
