"""All n * n edge marginals in one pass of Glynn's formula.

The derivative of the permanent by a_ij is the mean of (d_1 ... d_{n-1}) d_i times the product over the columns other
than j. Products without one column come from products of the columns before it and of those after it. The factor d_i
needs no pass of its own: a row in Gray code keeps its sign from one flip to the next, so the running totals at its
flips, added with the sign that ends there, are enough; a row of the lanes is told by the lane.
"""

import numpy as np

from unveil._kernels._compile import compiled, loop
from unveil._kernels.matching.glynn import PLAIN, THREADED, parts, rounding
from unveil._kernels.threads import in_threads
from unveil._kernels.types import FloatArray

_LANE_ROWS, _GRAY_ROWS = 6, 9


def glynn_marginals(matrix: FloatArray) -> tuple[float, FloatArray, float]:
    """Return permanent, all edge marginals, and rounding error; scale first.

    The error is relative for the permanent and absolute, about alike, for the marginals.

    >>> value, marginal, error = glynn_marginals(np.array([[0.6, 0.4, 0], [0.4, 0.6, 0], [0, 0, 1]]))
    >>> round(value, 4), marginal.round(3)[0].tolist()
    (0.52, [0.692, 0.308, 0.0])
    """
    n = len(matrix)
    if n == 1:
        return float(matrix[0, 0]), np.ones((1, 1)), 0.0
    lane_rows = min(_LANE_ROWS, n - 1)
    gray_rows = min(_GRAY_ROWS, n - 1 - lane_rows)
    run = _derivatives if n <= PLAIN else compiled(_derivatives)
    whole = np.ascontiguousarray(matrix, np.float64)
    # Added in the order of the parts, which are the same on any number of threads.
    derivative = sum(
        in_threads(
            lambda part: run(whole, lane_rows, gray_rows, *part), parts(1 << (n - 1 - lane_rows - gray_rows), THREADED)
        )
    )
    weighted = matrix * derivative / 2.0 ** (n - 1)
    value = float(weighted.sum()) / n
    return value, np.clip(weighted / value, 0.0, 1.0), rounding(matrix, value)


# Sums over lanes may be added in any order, several at a time.
@loop("f8[,], i8, i8, i8, i8", fastmath={"reassoc", "nsz"})
def _derivatives(matrix: FloatArray, lane_rows: int, gray_rows: int, first: int, last: int) -> FloatArray:
    """Return the chunks' part of 2^(n-1) times each derivative."""
    n = matrix.shape[0]
    lanes = 1 << lane_rows
    table, sign = np.zeros((n, lanes)), np.empty(lanes)
    for lane in range(lanes):
        sign[lane] = 1.0
        for b in range(lane_rows):
            d = 1.0 - 2.0 * ((lane >> b) & 1)
            sign[lane] *= d
            for j in range(n):
                table[j, lane] += d * matrix[n - 1 - b, j]
    outer = n - 1 - lane_rows
    even = n - n % 2
    before, after = np.empty((n + 1, lanes)), np.empty(lanes)
    by_lane, in_chunk = np.zeros((n, lanes)), np.empty((n, lanes))
    derivative = np.zeros((n, n))
    sums, running, delta = np.empty(n), np.empty(n), np.empty(n)
    for chunk in range(first, last):
        parity = 1.0
        for j in range(n):
            sums[j] = matrix[0, j]
            running[j] = 0.0
            for lane in range(lanes):
                in_chunk[j, lane] = 0.0
        for b in range(outer):
            delta[b] = 1.0 - 2.0 * ((chunk >> (b - gray_rows)) & 1) if b >= gray_rows else 1.0
            parity *= delta[b]
            for j in range(n):
                sums[j] += delta[b] * matrix[1 + b, j]
        for step in range(1, (1 << gray_rows) + 1):
            for lane in range(lanes):
                before[0, lane] = parity * sign[lane]
                after[lane] = 1.0
            for j in range(0, even, 2):
                x, y = sums[j], sums[j + 1]
                for lane in range(lanes):
                    before[j + 2, lane] = before[j, lane] * ((x + table[j, lane]) * (y + table[j + 1, lane]))
            if even < n:
                x, whole = sums[even], 0.0
                for lane in range(lanes):
                    in_chunk[even, lane] += before[even, lane]
                    whole += before[even, lane]
                    after[lane] = x + table[even, lane]
                running[even] += whole
            for j in range(even - 2, -1, -2):
                x, y, whole, other = sums[j], sums[j + 1], 0.0, 0.0
                for lane in range(lanes):
                    u, v, rest = x + table[j, lane], y + table[j + 1, lane], after[lane]
                    both = before[j, lane] * rest
                    without, without_next = both * v, both * u
                    in_chunk[j, lane] += without
                    in_chunk[j + 1, lane] += without_next
                    whole += without
                    other += without_next
                    after[lane] = rest * (u * v)
                running[j] += whole
                running[j + 1] += other
            b = 0
            while not (step >> b) & 1:
                b += 1
            if b < gray_rows:
                d = 2.0 * delta[b]
                for j in range(n):
                    derivative[1 + b, j] += d * running[j]
                    sums[j] -= d * matrix[1 + b, j]
                delta[b] = -delta[b]
                parity = -parity
        for j in range(n):
            derivative[0, j] += running[j]
            for b in range(outer):
                derivative[1 + b, j] += delta[b] * running[j]
            for lane in range(lanes):
                by_lane[j, lane] += in_chunk[j, lane]
    for b in range(lane_rows):
        for lane in range(lanes):
            d = 1.0 - 2.0 * ((lane >> b) & 1)
            for j in range(n):
                derivative[n - 1 - b, j] += d * by_lane[j, lane]
    return derivative
