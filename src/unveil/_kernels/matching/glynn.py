"""Glynn's formula for the permanent, numerically stable.

    per(A) = mean over signs d, d_0 = +, of (d_1 ... d_{n-1}) * product over columns j of (sum over rows i of d_i a_ij)

Rows play three parts. The signs of the last few rows are *lanes*: a table of their sums, which the processor works
through several at a time; lanes whose signs are all opposite share a place in the table, once added and once taken
away. The rows before them flip in the order of a Gray code, one per step. The first rows are fixed within a *chunk*,
so that sums are made afresh from time to time and rounding does not build up.
"""

from math import fsum

import numpy as np

from unveil._kernels._compile import compiled, loop
from unveil._kernels.threads import in_threads
from unveil._kernels.types import FloatArray

#: Rows as lanes (their mirrored half not counted) and rows in Gray code between two fresh starts: measured best.
_LANE_ROWS, _GRAY_ROWS = 7, 9
#: Up to here a few thousand terms in plain Python are quicker than to import the compiler.
PLAIN = 8
LARGEST = 30
#: Parts of the sum that may run side by side: many enough for machines with many cores, few enough to be work.
THREADED = 64


def glynn(matrix: FloatArray) -> tuple[float, float]:
    """Return the permanent and its relative rounding error; scale first.

    >>> value, error = glynn(np.ones((5, 5)))
    >>> round(value, 9), error < 1e-13
    (120.0, True)
    """
    n = len(matrix)
    if n < 3:
        value = matrix[0, 0] if n == 1 else matrix[0, 0] * matrix[1, 1] + matrix[0, 1] * matrix[1, 0]
        return float(value), 2e-16
    lane_rows = min(_LANE_ROWS, n - 2)
    gray_rows = min(_GRAY_ROWS, n - 2 - lane_rows)
    run = _glynn_chunks if n <= PLAIN else compiled(_glynn_chunks)
    whole = np.ascontiguousarray(matrix, np.float64)
    sums = in_threads(
        lambda part: run(whole, lane_rows, gray_rows, *part), parts(1 << (n - 2 - lane_rows - gray_rows), THREADED)
    )
    value = fsum(np.concatenate(sums)) / 2.0 ** (n - 1)
    return value, rounding(matrix, value)


def parts(chunks: int, at_most: int) -> list[tuple[int, int]]:
    """Return the chunk range of each part, on any machine.

    >>> parts(8, 4), parts(2, 4)
    ([(0, 2), (2, 4), (4, 6), (6, 8)], [(0, 1), (1, 2)])
    """
    many = min(chunks, at_most)
    return [(chunks * part // many, chunks * (part + 1) // many) for part in range(many)]


def rounding(matrix: FloatArray, value: float) -> float:
    """Return the expected relative error of the sum of terms."""
    n = len(matrix)
    # Signs from the bits of multiples of an irrational number, so that no randomness is hidden here.
    number = np.arange(1, 4097, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    signs = 1.0 - 2.0 * ((number[:, None] >> (np.arange(n, dtype=np.uint64) + np.uint64(20))) & np.uint64(1))
    size = float(np.abs((signs @ matrix).prod(axis=1)).mean())
    return float(np.finfo(np.float64).eps * np.sqrt(n) * max(1.0, size / abs(value))) if value else float("inf")


@loop("f8[,], i8, i8, i8, i8")
def _glynn_chunks(matrix: FloatArray, lane_rows: int, gray_rows: int, first: int, last: int) -> FloatArray:
    """Return the term sums of a range of chunks."""
    n = matrix.shape[0]
    lanes = 1 << lane_rows
    table, sign = np.empty((n, lanes)), np.empty(lanes)
    for lane in range(lanes):
        sign[lane] = 1.0
        for j in range(n):
            table[j, lane] = matrix[n - 1 - lane_rows, j]
        for b in range(lane_rows):
            d = 1.0 - 2.0 * ((lane >> b) & 1)
            sign[lane] *= d
            for j in range(n):
                table[j, lane] += d * matrix[n - 1 - b, j]
    mirror = 1.0 if lane_rows & 1 else -1.0
    outer = n - 2 - lane_rows
    sums, up, down, total = np.empty(n), np.empty(lanes), np.empty(lanes), np.empty(lanes)
    result = np.empty(last - first)
    single = (n - 1) % 4 + 1  # the first columns go one by one, the others by four
    for chunk in range(first, last):
        parity = 1.0
        for j in range(n):
            sums[j] = matrix[0, j]
        for b in range(outer):
            d = 1.0 - 2.0 * ((chunk >> (b - gray_rows)) & 1) if b >= gray_rows else 1.0
            parity *= d
            for j in range(n):
                sums[j] += d * matrix[1 + b, j]
        for lane in range(lanes):
            total[lane] = 0.0
        for step in range(1, (1 << gray_rows) + 1):
            x = sums[0]
            for lane in range(lanes):
                up[lane] = x + table[0, lane]
                down[lane] = x - table[0, lane]
            for j in range(1, single):
                x = sums[j]
                for lane in range(lanes):
                    up[lane] *= x + table[j, lane]
                    down[lane] *= x - table[j, lane]
            for j in range(single, n, 4):
                x, y, z, w = sums[j], sums[j + 1], sums[j + 2], sums[j + 3]
                for lane in range(lanes):
                    a, b2, c, e = table[j, lane], table[j + 1, lane], table[j + 2, lane], table[j + 3, lane]
                    up[lane] *= ((x + a) * (y + b2)) * ((z + c) * (w + e))
                    down[lane] *= ((x - a) * (y - b2)) * ((z - c) * (w - e))
            for lane in range(lanes):
                total[lane] += parity * (up[lane] + mirror * down[lane])
            b = 0
            while not (step >> b) & 1:
                b += 1
            if b < gray_rows:
                d = 2.0 - 4.0 * (((step ^ (step >> 1)) >> b) & 1)
                for j in range(n):
                    sums[j] += d * matrix[1 + b, j]
                parity = -parity
        part = 0.0
        for lane in range(lanes):
            part += total[lane] * sign[lane]
        result[chunk - first] = part
    return result
