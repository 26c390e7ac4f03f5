"""The distribution of the number of cracks from permanents at roots of unity.

With every entry of the truth multiplied by z, the permanent becomes per(A) times the sum of P(c cracks) z^c. Its values
at the n + 1 roots of unity, half of them by symmetry, give the chances by a Fourier transform, all to about the same
absolute precision.
"""

import numpy as np

from unveil._kernels._compile import compiled, loop
from unveil._kernels.matching.glynn import PLAIN
from unveil._kernels.threads import in_threads
from unveil._kernels.types import FloatArray, IntArray

_LANE_ROWS, _GRAY_ROWS = 6, 9
#: About three seconds; each row more takes more than twice as long.
LARGEST = 26


def cracks_by_roots(matrix: FloatArray, truth: IntArray) -> FloatArray:
    """Return the crack distribution, errors near 1e-12; scale first.

    >>> cracks_by_roots(np.ones((3, 3)) / 3, np.arange(3)).round(4) + 0.0
    array([0.3333, 0.5   , 0.    , 0.1667])
    """
    n = len(matrix)
    if n == 1:
        return np.array([float(truth[0] != 0), float(truth[0] == 0)])
    lane_rows = min(_LANE_ROWS, n - 1)
    gray_rows = min(_GRAY_ROWS, n - 1 - lane_rows)
    run = _complex_glynn if n <= PLAIN else compiled(_complex_glynn)
    rows = np.flatnonzero(truth >= 0)

    def turned(k: int) -> complex:
        """Return the permanent with true elements times the k-th root."""
        entries = matrix.astype(np.complex128)
        entries[rows, truth[rows]] *= np.exp(-2j * np.pi * k / (n + 1))
        return run(np.ascontiguousarray(entries.real), np.ascontiguousarray(entries.imag), lane_rows, gray_rows)

    value = np.array(in_threads(turned, range(n // 2 + 2 if n % 2 else n // 2 + 1)), np.complex128)
    chance: FloatArray = np.clip(np.fft.irfft(value / value[0].real, n + 1), 0.0, 1.0)
    return np.asarray(chance / chance.sum())


@loop("f8[,], f8[,], i8, i8")
def _complex_glynn(real: FloatArray, imaginary: FloatArray, lane_rows: int, gray_rows: int) -> complex:
    """Return 2^(n-1) times the permanent of a complex matrix given in two parts."""
    n = real.shape[0]
    lanes = 1 << lane_rows
    table, table_i, sign = np.zeros((n, lanes)), np.zeros((n, lanes)), np.empty(lanes)
    for lane in range(lanes):
        sign[lane] = 1.0
        for b in range(lane_rows):
            d = 1.0 - 2.0 * ((lane >> b) & 1)
            sign[lane] *= d
            for j in range(n):
                table[j, lane] += d * real[n - 1 - b, j]
                table_i[j, lane] += d * imaginary[n - 1 - b, j]
    outer = n - 1 - lane_rows
    sums, sums_i = np.empty(n), np.empty(n)
    product, product_i, total, total_i = np.empty(lanes), np.empty(lanes), np.empty(lanes), np.empty(lanes)
    result = 0j
    for chunk in range(1 << (outer - gray_rows)):
        parity = 1.0
        for j in range(n):
            sums[j], sums_i[j] = real[0, j], imaginary[0, j]
        for b in range(outer):
            d = 1.0 - 2.0 * ((chunk >> (b - gray_rows)) & 1) if b >= gray_rows else 1.0
            parity *= d
            for j in range(n):
                sums[j] += d * real[1 + b, j]
                sums_i[j] += d * imaginary[1 + b, j]
        for lane in range(lanes):
            total[lane], total_i[lane] = 0.0, 0.0
        for step in range(1, (1 << gray_rows) + 1):
            for lane in range(lanes):
                product[lane] = parity
                product_i[lane] = 0.0
            for j in range(n):
                x, y = sums[j], sums_i[j]
                for lane in range(lanes):
                    a, b2 = x + table[j, lane], y + table_i[j, lane]
                    p, q = product[lane], product_i[lane]
                    product[lane] = p * a - q * b2
                    product_i[lane] = p * b2 + q * a
            for lane in range(lanes):
                total[lane] += product[lane]
                total_i[lane] += product_i[lane]
            b = 0
            while not (step >> b) & 1:
                b += 1
            if b < gray_rows:
                d = 2.0 - 4.0 * (((step ^ (step >> 1)) >> b) & 1)
                for j in range(n):
                    sums[j] += d * real[1 + b, j]
                    sums_i[j] += d * imaginary[1 + b, j]
                parity = -parity
        for lane in range(lanes):
            result += complex(total[lane] * sign[lane], total_i[lane] * sign[lane])
    return result
