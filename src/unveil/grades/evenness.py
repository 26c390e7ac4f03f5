"""Evenness and shared value range of a metric in each case."""

import numpy as np

from unveil._kernels.types import BoolArray, FloatArray
from unveil.grades.replicated_metrics import ReplicatedMetrics

#: Values that differ by less than this part of the largest one differ by rounding only.
ROUNDING = 1e-12
#: Cases that are sorted at once, so that a study of any size needs little memory beside its values.
_CASES_AT_ONCE = 64


def evenness(values: ReplicatedMetrics, *, within: bool | None = None) -> FloatArray:
    """Return the evenness of each metric's values in each case, 0 to 1.

    Formula: ``1 - 3 E`` with :func:`raw_evenness` as ``E``. 0 means that all values sit at one end of the range;
    n values that are as even as can be score ``1 - 1/(4 n²)``, nearly 1. NaN where the case has no value.

    A metric that is constant, apart from rounding, scores 0 by definition. Beware of the middle: values that all lie at
    half of the range, and values of which half lie at each end, both score 0.75, so a high score alone does not show
    that values are spread.

    Parameters
    ----------
    values
        The metrics in their cases.
    within
        Between which values a metric's range lies: the lowest and highest of the same case (True), or of all cases
        (False). By default of all cases, and of the case where there is only one.

    Examples
    --------
    >>> from unveil.grades.replicated_metrics import GradedCase
    >>> one = GradedCase("mail", "none", "NS", "overlap")
    >>> numbers = np.array([[[[0.0, 1.0], [2.0, 3.0]]]])
    >>> case = ReplicatedMetrics(
    ...     cases=(one,), metrics=("entropy",), levels=((0.5, 0.9),), values=numbers, rising=np.array([False])
    ... )
    >>> evenness(case).round(4)
    array([[0.9583]])

    References
    ----------
    Zhao & Wagner, Formula (1).
    """
    within = len(values.cases) == 1 if within is None else within
    lowest, highest = ranges(values)
    if not within:
        lowest, highest = over_all_cases(lowest, highest)
    flat = values.values.reshape(len(values.cases), len(values.metrics), -1)
    score = np.empty(flat.shape[:2])
    for start in range(0, len(flat), _CASES_AT_ONCE):
        rows = slice(start, start + _CASES_AT_ONCE)
        from_rows = slice(None) if len(lowest) == 1 else rows
        score[rows] = _score(flat[rows], lowest[from_rows], highest[from_rows])
    return score


def raw_evenness(values: ReplicatedMetrics, *, within: bool | None = None) -> FloatArray:
    """Return the Cramér-von Mises distance of values from uniform, over n.

    Formula: ``E = (1/n) (1/(12 n) + Σ ((2i - 1)/(2n) - x_i)²)`` over the n values in ascending order, moved and scaled
    so that the range is 0 to 1. ``1/(12 n²)`` means that they are as even as can be, 1/3 that all sit at one end or the
    metric is constant. NaN where the case has no value. Parameters are those of :func:`evenness`.
    """
    return (1.0 - evenness(values, within=within)) / 3.0


def ranges(values: ReplicatedMetrics) -> tuple[FloatArray, FloatArray]:
    """Return each metric's minimum and maximum in each case."""
    finite = np.isfinite(values.values)
    lowest = np.min(values.values, axis=(2, 3), initial=np.inf, where=finite)
    highest = np.max(values.values, axis=(2, 3), initial=-np.inf, where=finite)
    return lowest, highest


def over_all_cases(lowest: FloatArray, highest: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return each metric's minimum and maximum in any case, as one row."""
    return lowest.min(axis=0, initial=np.inf)[None], highest.max(axis=0, initial=-np.inf)[None]


def constant(lowest: FloatArray, highest: FloatArray) -> BoolArray:
    """Return which ranges are empty or nothing but rounding."""
    largest = np.maximum(np.abs(lowest), np.abs(highest))
    there = lowest <= highest
    width = np.subtract(highest, lowest, out=np.zeros(lowest.shape), where=there)
    return ~there | (width <= ROUNDING * np.where(there, largest, 0.0))


def _score(flat: FloatArray, lowest: FloatArray, highest: FloatArray) -> FloatArray:
    """Return ``1 - 3 E`` per row of values, given 0 and 1 references.

    Multiplied out, the sum of squares is ``1 - 3 E = 3 (Σ (2i - 1) x_i / n² - Σ x_i² / n)``, which is exactly 0 for
    values at one end.
    """
    finite = np.isfinite(flat)
    number = finite.sum(axis=2)
    # Undefined values are last in the order and count as 0 in both sums.
    ordered = np.sort(np.where(finite, flat, np.inf), axis=2)
    last = np.arange(flat.shape[2]) >= number[:, :, None]
    flattened = constant(lowest, highest)
    low = np.where(flattened, 0.0, lowest)[:, :, None]
    width = np.where(flattened, 1.0, highest - np.where(flattened, 0.0, lowest))[:, :, None]
    ordered[last] = 0.0
    ordered -= low
    ordered /= width
    ordered[last] = 0.0
    odd = 2.0 * np.arange(1, flat.shape[2] + 1) - 1.0
    n = np.maximum(number, 1)
    score = 3.0 * ((ordered @ odd) / n**2 - (ordered * ordered).sum(axis=2) / n)
    score[np.broadcast_to(flattened, score.shape)] = 0.0
    score[number == 0] = np.nan
    # What is below 0 is rounding.
    return np.asarray(np.maximum(score, 0.0), np.float64)


def shared_range(values: ReplicatedMetrics) -> FloatArray:
    """Return the share of each metric's overall range used in one case.

    Formula: ``(highest of the case - lowest of the case) / (highest of all - lowest of all)``, over all levels and
    replications. 0 means that the metric hardly moves in the case, or is constant everywhere, apart from rounding; 1
    that the case uses the whole range, so that its values can be compared with those of any other case. It depends on
    which cases are given: one more can only lower it, and a single case always has 1 (or 0 where it is constant).
    NaN where the case has no value.

    Examples
    --------
    >>> from unveil.grades.replicated_metrics import GradedCase
    >>> two = tuple(GradedCase(data, "none", "NS", "overlap") for data in ("mail", "friends"))
    >>> numbers = np.array([[[[0.0], [0.2]]], [[[0.1], [0.8]]]])
    >>> cases = ReplicatedMetrics(
    ...     cases=two, metrics=("entropy",), levels=((0.5, 0.9),) * 2, values=numbers, rising=np.array([False])
    ... )
    >>> shared_range(cases).round(3)
    array([[0.25 ],
           [0.875]])

    References
    ----------
    Zhao & Wagner, Formula (2).
    """
    return share_of_range(*ranges(values))


def share_of_range(lowest: FloatArray, highest: FloatArray) -> FloatArray:
    """Return the share of the overall range (rows) covered by a case."""
    there = lowest <= highest
    lowest_of_all, highest_of_all = over_all_cases(lowest, highest)
    still = constant(lowest_of_all, highest_of_all)
    used = np.subtract(highest, lowest, out=np.zeros(lowest.shape), where=there)
    whole = np.subtract(highest_of_all, lowest_of_all, out=np.ones(still.shape), where=~still)
    share = np.where(still, 0.0, used / whole)
    return np.where(there, share, np.nan)
