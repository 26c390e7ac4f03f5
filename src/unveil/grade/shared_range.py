"""Shared value range: does a metric use the same range in every case, so that cases can be compared?"""

import numpy as np

from unveil._kernels.types import FloatArray
from unveil.grade.evenness import constant, over_all_cases, ranges
from unveil.grade.replicated import Replicated


def shared_range(values: Replicated) -> FloatArray:
    """Return the part of each metric's range over all cases that it uses in one case.

    Formula: ``(highest of the case - lowest of the case) / (highest of all - lowest of all)``, over all levels and
    replications. 0 means that the metric hardly moves in the case, or is constant everywhere, apart from rounding; 1
    that the case uses the whole range, so that its values can be compared with those of any other case. It depends on
    which cases are given: one more can only lower it, and a single case always has 1 (or 0 where it is constant).
    NaN where the case has no value.

    Examples
    --------
    >>> from unveil.grade.replicated import Case
    >>> two = tuple(Case(data, "none", "NS", "overlap") for data in ("mail", "friends"))
    >>> numbers = np.array([[[[0.0], [0.2]]], [[[0.1], [0.8]]]])
    >>> cases = Replicated(
    ...     cases=two, metrics=("entropy",), levels=((0.5, 0.9),) * 2, values=numbers, rising=np.array([False])
    ... )
    >>> shared_range(cases).round(3)
    array([[0.25 ],
           [0.875]])

    References
    ----------
    Zhao & Wagner, Formula (2).
    """
    lowest, highest = ranges(values)
    there = lowest <= highest
    lowest_of_all, highest_of_all = over_all_cases(lowest, highest)
    still = constant(lowest_of_all, highest_of_all)
    used = np.subtract(highest, lowest, out=np.zeros(lowest.shape), where=there)
    whole = np.subtract(highest_of_all, lowest_of_all, out=np.ones(still.shape), where=~still)
    share = np.where(still, 0.0, used / whole)
    return np.where(there, share, np.nan)
