"""Noisy counts made possible ones: none negative, a given total, no more nodes than there are, whole numbers."""

import numpy as np

from unveil._kernels.types import FloatArray, IntArray

_HALVINGS = 60
# What is this many times the total above or below all others gets all of it or nothing, however far it is.
_FAR = 1e4


def nearest_counts(noisy: FloatArray, weight: FloatArray, total: float, each: FloatArray, at_most: float) -> FloatArray:
    """Return the counts nearest to noisy ones that are not negative, add up to ``total``, and do not need too much.

    Nearest means the least sum of squares of differences, each divided by the ``weight`` of its count. A count of one
    needs ``each``, and all together may need ``at_most``; if no counts do with so little, those that come close are
    returned.

    >>> nearest_counts(np.array([3.0, -1.0, 2.0]), np.ones(3), 4, np.ones(3), 9)
    array([2.5, 0. , 1.5])
    >>> nearest_counts(np.array([3.0, 1.0]), np.ones(2), 4, np.array([2.0, 0.0]), 4).round(6)
    array([2., 2.])
    """
    limit = _FAR * (total + 1)
    bounded, square = np.clip(noisy, -limit, limit), weight * weight
    counts = _with_total(bounded, square, total)
    if counts @ each <= at_most:
        return counts
    dear = square * each
    low, high = 0.0, 1.0 / float(dear.max())
    while True:
        counts = _with_total(bounded - high * dear, square, total)
        if counts @ each <= at_most:
            break
        if high * dear.max() > _FAR * limit:
            return counts
        low, high = high, 2 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        tried = _with_total(bounded - middle * dear, square, total)
        if tried @ each <= at_most:
            high, counts = middle, tried
        else:
            low = middle
    return counts


def _with_total(noisy: FloatArray, square: FloatArray, total: float) -> FloatArray:
    """Return ``max(noisy - t * square, 0)`` with the ``t`` that makes it add up to the total.

    Whatever is negative with one ``t`` is so with the larger one that the others then need: it is left out for good.
    """
    value, weight = noisy, square
    while True:
        level = (value.sum() - total) / weight.sum()
        inside = value > level * weight
        if inside.all() or not inside.any():
            break
        value, weight = value[inside], weight[inside]
    counts: FloatArray = np.maximum(noisy - level * square, 0)
    reached = float(counts.sum())
    if reached > 0:
        counts *= total / reached
    return counts


def whole_counts(counts: FloatArray, ends: IntArray, offset: float) -> IntArray:
    """Return counts rounded up or down, each up with the chance of its fraction, by one number from 0 to below 1.

    The counts come in parts, the first before ``ends[0]``, the next before ``ends[1]``, and so on to the last; the sum
    of each part must be whole, and is kept.

    >>> whole_counts(np.array([0.5, 0.5, 1.25, 1.75]), np.array([2, 4]), 0.6)
    array([1, 0, 1, 2])
    """
    upto = np.cumsum(counts)
    # The sums are whole but for rounding errors: each part starts and ends exactly at a whole number.
    found = upto[ends - 1]
    upto[ends[0] :] += np.repeat((np.rint(found) - found)[:-1], np.diff(ends))
    upto[ends - 1] = np.rint(found)
    upto = np.minimum.accumulate(upto[::-1])[::-1]
    whole = np.floor(upto + offset).astype(np.int64)
    whole[1:] -= whole[:-1].copy()
    return whole
