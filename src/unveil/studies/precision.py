"""Precision of means over replications."""

import numpy as np
from numpy.typing import ArrayLike

from unveil._kernels.types import FloatArray

#: How many replications there are before the first look, and between two looks.
LOOK_EVERY = 10

_UPPER = 0.975


def half_width(deviation: ArrayLike, count: ArrayLike) -> FloatArray:
    """Return the half-width of a mean's 95% CI (Student); NaN below 2 values.

    >>> half_width([1.0, 1.0], [4, 1]).round(3)
    array([1.591,   nan])
    """
    from scipy.special import stdtrit

    number = np.asarray(count, np.float64)
    few = number < 2
    freedom = np.where(few, 1, number - 1)
    width = stdtrit(freedom, _UPPER) * np.asarray(deviation, np.float64) / np.sqrt(np.where(few, 1, number))
    return np.asarray(np.where(few, np.nan, width))


def relative_errors(values: FloatArray) -> FloatArray:
    """Return each mean's relative error: 95% CI half-width over mean.

    0 means that the mean is known exactly, because all values are the same; infinity that values differ and their mean
    is 0, so that no number of replications would do. NaN stands for a column with fewer than two values. Values that
    are NaN are left out.

    >>> relative_errors(np.array([[1.0, 5.0, np.nan], [3.0, 5.0, np.nan]])).round(2)
    array([6.35, 0.  ,  nan])
    """
    known = ~np.isnan(values)
    count = known.sum(axis=0)
    some = np.maximum(count, 1)
    mean = np.where(known, values, 0.0).sum(axis=0) / some
    # Against rounding: values that are all the same have no spread, whatever their sum was rounded to.
    same = np.where(known, values, -np.inf).max(axis=0) == np.where(known, values, np.inf).min(axis=0)
    squares = np.where(known, values - mean, 0.0) ** 2
    deviation = np.where(same, 0.0, np.sqrt(squares.sum(axis=0) / np.maximum(count - 1, 1)))
    width = half_width(deviation, count)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.where(width == 0, 0.0, width / np.abs(mean))
    return np.asarray(error)


def enough(values: FloatArray, relative_error: float) -> bool:
    """Return whether every column that has values is known to that relative error."""
    errors = relative_errors(values)
    lone = (~np.isnan(values)).sum(axis=0) == 1
    return bool(((errors <= relative_error) | (np.isnan(errors) & ~lone)).all())
