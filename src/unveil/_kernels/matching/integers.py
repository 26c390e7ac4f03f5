"""Permanents of matrices of whole numbers as Python integers, to the last digit."""

from fractions import Fraction
from math import prod

import numpy as np

from unveil._kernels._compile import compiled, loop
from unveil._kernels.matching.glynn import glynn
from unveil._kernels.matching.subsets import permanent_by_subsets
from unveil._kernels.types import FloatArray, IntArray

_BY_PYTHON, _BY_SETS, LARGEST = 12, 20, 28


def whole(matrix: FloatArray) -> bool:
    """Return whether all values are exact whole numbers."""
    return bool((matrix == np.rint(matrix)).all() and np.abs(matrix).max() <= 2.0**53)


def integer_permanent(matrix: FloatArray) -> int | None:
    """Return the permanent of a whole-number matrix, or None if too large.

    >>> integer_permanent(np.ones((6, 6)))
    720
    """
    n = len(matrix)
    numbers = np.rint(matrix).astype(np.int64)
    bound = prod(int(total) for total in numbers.sum(axis=1))  # no sum on the way to it is larger
    if n <= _BY_PYTHON and bound >= 2**63:
        return int(permanent_by_subsets(numbers.astype(object)))
    if n <= _BY_SETS:
        last = int(permanent_by_subsets(numbers))
        if bound < 2**63:
            return last
        return _joined(last, float(permanent_by_subsets(matrix)), 1e-14)
    if n > LARGEST:
        return None
    scale = matrix.sum(axis=1)
    value, error = glynn(matrix / scale[:, None])
    last = int(compiled(_ryser_last_bits)(np.ascontiguousarray(numbers)))
    return _joined(last, value * prod(scale.tolist()), 20 * error)


def _joined(last: int, about: float, error: float) -> int | None:
    """Return the integer with these last 64 bits near an estimate."""
    if not about * error < 2.0**62:
        return None
    low = last % 2**64
    return low + round(Fraction(int(about) - low, 2**64)) * 2**64


@loop("i8[,]")
def _ryser_last_bits(matrix: IntArray) -> np.int64:
    """Return Ryser's sum modulo 2^64."""
    n = matrix.shape[0]
    lane_columns = min(6, n)
    lanes = 1 << lane_columns
    table: IntArray = np.zeros((n, lanes), np.int64)
    sign: IntArray = np.ones(lanes, np.int64)
    for lane in range(lanes):
        for b in range(lane_columns):
            if (lane >> b) & 1:
                sign[lane] = -sign[lane]
                for i in range(n):
                    table[i, lane] += matrix[i, n - 1 - b]
    sums: IntArray = np.zeros(n, np.int64)
    product: IntArray = np.empty(lanes, np.int64)
    total: IntArray = np.zeros(lanes, np.int64)
    parity = 1 - 2 * (n & 1)
    outer = n - lane_columns
    for step in range(1, (1 << outer) + 1):
        for lane in range(lanes):
            product[lane] = parity
        for i in range(n):
            x = sums[i]
            for lane in range(lanes):
                product[lane] *= x + table[i, lane]
        for lane in range(lanes):
            total[lane] += product[lane]
        b = 0
        while not (step >> b) & 1:
            b += 1
        if b < outer:
            d = 1 if ((step ^ (step >> 1)) >> b) & 1 else -1
            for i in range(n):
                sums[i] += d * matrix[i, b]
            parity = -parity
    whole = np.int64(0)
    for lane in range(lanes):
        whole += total[lane] * sign[lane]
    return whole
