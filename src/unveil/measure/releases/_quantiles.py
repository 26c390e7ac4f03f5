"""How sure a quantile of some rows is, whatever the distribution that they come from."""

from math import nan

import numpy as np

from unveil._kernels.types import FloatArray
from unveil.measure.trials.risk import CONFIDENCE


def quantile_interval(values: FloatArray, share: float, *, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return two of the values between which the quantile of all that could have been drawn lies with confidence.

    How many of n independent values lie below the quantile is binomial with the ``share`` as its chance, whatever the
    distribution, so that limits on that number are places in the sorted values. Each side is missed with at most half
    of ``1 - confidence``; with ties the interval misses less often still. Both are NaN where so few values cannot say,
    at 95 % for fewer than 6 values for a median and for fewer than 72 for the 5 % quantile.

    >>> quantile_interval(np.arange(100.0), 0.5)
    (39.0, 60.0)
    """
    places = interval_places(values.size, share, confidence)
    if places is None:
        return nan, nan
    low, high = np.partition(values, places)[list(places)].tolist()
    return low, high


def interval_places(size: int, share: float, confidence: float) -> tuple[int, int] | None:
    """Return the places, counted from 0, of the limits among so many sorted values; None where there is no such place.

    >>> interval_places(6, 0.5, 0.95), interval_places(5, 0.5, 0.95)
    ((0, 5), None)
    """
    from scipy.special import bdtr, bdtrc

    miss = (1 - confidence) / 2
    number = np.arange(size)
    # The value at place i lies above the quantile if at most i values are below that, and below it if more than i are.
    low = int(np.count_nonzero(bdtr(number, size, share) <= miss)) - 1
    high = size - int(np.count_nonzero(bdtrc(number, size, share) <= miss))
    return (low, high) if low >= 0 and high < size else None
