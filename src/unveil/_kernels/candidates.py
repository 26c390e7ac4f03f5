"""Loops over ragged rows of candidate probabilities, one row per target."""

from typing import Any

import numpy as np

from unveil._kernels._compile import kernel
from unveil._kernels.merge_sort import sort_part
from unveil._kernels.types import FloatArray, Int32Array, IntArray


@kernel(
    "const i8[], const i4[], const f8[], f8",
    "const i8[], const i4[], f8[], f8",
)
def first_fault(start: IntArray, candidate: Int32Array, probability: FloatArray, tolerance: float) -> Any:
    """Return (row, type) of the first invalid distribution, or (-1, 0).

    Kinds: 1 not finite, 2 negative, 3 not ascending (out of order, or twice the same), 4 does not sum to 1 within the
    tolerance plus half of it per entry, which is what rounding each may add.
    """
    for r in range(start.size - 1):
        total = 0.0
        for k in range(start[r], start[r + 1]):
            if not np.isfinite(probability[k]):
                return r, 1
            if probability[k] < 0:
                return r, 2
            if k > start[r] and candidate[k] <= candidate[k - 1]:
                return r, 3
            total += probability[k]
        if start[r + 1] > start[r] and abs(total - 1) > tolerance * (1 + 0.5 * (start[r + 1] - start[r])):
            return r, 4
    return -1, 0


@kernel("const i8[], const f8[]")
def summarize(
    start: IntArray, probability: FloatArray
) -> tuple[IntArray, FloatArray, FloatArray, FloatArray, FloatArray, IntArray]:
    """Return each row's support, entropy, squares, spread, maximum, and ties.

    The spread is the sum of squared distances from the row's mean; taken from the squares it would lose its digits.
    """
    rows = start.size - 1
    support = np.zeros(rows, np.int64)
    entropy = np.zeros(rows, np.float64)
    squares = np.zeros(rows, np.float64)
    spread = np.zeros(rows, np.float64)
    largest = np.zeros(rows, np.float64)
    ties = np.zeros(rows, np.int64)
    for r in range(rows):
        mean = 1.0 / max(1, start[r + 1] - start[r])
        for k in range(start[r], start[r + 1]):
            p = probability[k]
            spread[r] += (p - mean) * (p - mean)
            if p > 0:
                support[r] += 1
                entropy[r] -= p * np.log2(p)
                squares[r] += p * p
                if p > largest[r]:
                    largest[r] = p
                    ties[r] = 1
                elif p == largest[r]:
                    ties[r] += 1
    return support, entropy, squares, spread, largest, ties


@kernel("const i8[], const f8[], f8")
def entropy_above(start: IntArray, probability: FloatArray, at_least: float) -> tuple[FloatArray, FloatArray]:
    """Return each row's entropy in bits of large probabilities, and their sum."""
    entropy = np.zeros(start.size - 1, np.float64)
    total = np.zeros(start.size - 1, np.float64)
    for r in range(start.size - 1):
        for k in range(start[r], start[r + 1]):
            p = probability[k]
            if p >= at_least and p > 0:
                entropy[r] -= p * np.log2(p)
                total[r] += p
    return entropy, total


@kernel("const i8[], const f8[], f8[], f8")
def power_sums(start: IntArray, probability: FloatArray, largest: FloatArray, order: float) -> FloatArray:
    """Return each row's power sum, relative to its maximum."""
    total = np.zeros(start.size - 1, np.float64)
    for r in range(start.size - 1):
        for k in range(start[r], start[r + 1]):
            if probability[k] > 0:
                total[r] += (probability[k] / largest[r]) ** order
    return total


@kernel("const i8[], const f8[], f8")
def power_excess(start: IntArray, probability: FloatArray, order: float) -> FloatArray:
    """Return each row's power sum minus 1, without cancellation near 1."""
    total = np.zeros(start.size - 1, np.float64)
    for r in range(start.size - 1):
        for k in range(start[r], start[r + 1]):
            if probability[k] > 0:
                total[r] += probability[k] * np.expm1((order - 1) * np.log(probability[k]))
    return total


@kernel(
    "const i8[], const i4[], i8[]",
    "const i8[], const i4[], const i8[]",
)
def find_entries(start: IntArray, candidate: Int32Array, wanted: IntArray) -> IntArray:
    """Return the position of each row's wanted candidate, or -1."""
    place = np.full(wanted.size, -1, np.int64)
    for r in range(wanted.size):
        low, high = start[r], start[r + 1]
        while low < high:
            middle = (low + high) // 2
            if candidate[middle] < wanted[r]:
                low = middle + 1
            else:
                high = middle
        if low < start[r + 1] and candidate[low] == wanted[r]:
            place[r] = low
    return place


@kernel("const i8[], const f8[], f8[]")
def count_equal(start: IntArray, probability: FloatArray, value: FloatArray) -> IntArray:
    """Return how many entries of each row equal the row's value."""
    count = np.zeros(value.size, np.int64)
    for r in range(value.size):
        for k in range(start[r], start[r + 1]):
            if probability[k] == value[r]:
                count[r] += 1
    return count


def with_others(
    start: IntArray, probability: FloatArray, others: IntArray, each: FloatArray
) -> tuple[IntArray, FloatArray, FloatArray, FloatArray, FloatArray, IntArray]:
    """Return :func:`summarize` with ``others`` more probabilities of ``each`` per row."""
    support, entropy, squares, _, largest, ties = summarize(start, probability)
    listed = np.diff(start)
    owner = np.repeat(np.arange(listed.size), listed)
    mean = 1 / np.maximum(listed + others, 1)
    spread = np.bincount(owner, (probability - mean[owner]) ** 2, minlength=listed.size) + others * (each - mean) ** 2
    filled = (each > 0) & (others > 0)
    entropy = entropy - np.where(filled, others * each * np.log2(np.where(filled, each, 1.0)), 0.0)
    ties = np.where(filled & (each > largest), others, ties + np.where(filled & (each == largest), others, 0))
    return (
        support + np.where(filled, others, 0),
        entropy,
        squares + others * each * each,
        spread,
        np.where(filled, np.maximum(largest, each), largest),
        ties,
    )


@kernel("const i8[], const f8[], i8[], f8[], f8")
def credible_sizes(
    start: IntArray, probability: FloatArray, others: IntArray, each: FloatArray, mass: float
) -> FloatArray:
    """Return each row's smallest credible set size for ``mass``."""
    size = np.zeros(start.size - 1, np.float64)
    longest = 0
    for r in range(start.size - 1):
        longest = max(longest, start[r + 1] - start[r])
    row, spare = np.empty(longest), np.empty(longest)
    for r in range(start.size - 1):
        first, last = start[r], start[r + 1]
        for k in range(first, last):
            row[k - first] = -probability[k]
        sort_part(row, spare, 0, last - first)
        left = mass - 1e-12
        bulk = others[r] if each[r] > 0 else 0
        for k in range(last - first + 1):
            if bulk > 0 and (k == last - first or -row[k] <= each[r]):
                needed = max(0.0, np.ceil(left / each[r]))
                taken = min(float(bulk), needed)
                size[r] += taken
                left -= taken * each[r]
                bulk = 0
            if left <= 0 or k == last - first:
                break
            size[r] += 1
            left += row[k]
    return size
