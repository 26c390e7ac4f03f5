"""Fairness: distribution of unlinkability values over the subjects."""

from dataclasses import dataclass
from math import ceil

import numpy as np

from unveil._figure import figure
from unveil._kernels.types import FloatArray
from unveil.metrics.partitions.unlinkability import Unlinkability


@dataclass(frozen=True, kw_only=True)
class FigureSpread:
    """Distribution of a value over the subjects.

    Subjects without a value are left out of all but, for the risk slope, the worst decile.
    """

    quantity: str = figure("Name of the value.")
    mean: float = figure("Mean of the defined values.")
    median: float = figure("Median over the subjects with a value.")
    low: float = figure("Smallest value of any subject.")
    high: float = figure("Largest value of any subject.")
    gini: float = figure("Gini coefficient: 0 where all are equal, near 1 where one has it all.")
    worst_decile: float = figure("Mean over the tenth of subjects most at risk.")
    undefined: int = figure("Number of subjects without a value.", counts="people")


def fairness(result: Unlinkability) -> tuple[FigureSpread, ...]:
    """Return the distributions of linked share, errors, and risk slope.

    Other subjects mixed in are included.

    A breached subject has no risk slope, yet is the most at risk: in the worst decile it counts with the slope of the
    vertical, ``alpha + (1 - alpha) * (mixed0 > 0)``.
    """
    vertical = result.alpha + (1 - result.alpha) * (result.mixed0 > 0)
    return (
        _spread("linked0", result.linked0, result.linked0),
        _spread("normalized_error", result.normalized_error, -result.normalized_error),
        _spread("risk_slope", result.risk_slope, np.where(result.breached, vertical, result.risk_slope)),
        _spread("others", result.others, -result.others),
    )


def gini(values: FloatArray) -> float:
    """Return the Gini coefficient: mean absolute difference over twice the mean.

    0 means all alike, towards 1 one subject has everything; NaN without values or when all are 0.

    >>> gini(np.array([1.0, 1.0])), gini(np.array([0.0, 1.0]))
    (0.0, 0.5)
    """
    total = float(values.sum())
    if values.size == 0 or total == 0:
        return float("nan")
    rank = np.arange(1, values.size + 1)
    # Rounding may leave a hair below 0 where all are alike.
    return max(0.0, float(((2 * rank - values.size - 1) @ np.sort(values)) / (values.size * total)))


def _spread(quantity: str, values: FloatArray, risk: FloatArray) -> FigureSpread:
    """Return the distribution of ``values``; more ``risk`` is worse."""
    known = values[~np.isnan(values)]
    at_risk = np.sort(risk[~np.isnan(risk)])
    worst = at_risk[at_risk.size - ceil(at_risk.size / 10) :] if at_risk.size else np.array([np.nan])
    blank = known if known.size else np.array([np.nan])
    return FigureSpread(
        quantity=quantity,
        mean=float(blank.mean()),
        median=float(np.median(blank)),
        low=float(blank.min()),
        high=float(blank.max()),
        gini=gini(known),
        worst_decile=float(np.abs(worst).mean()),
        undefined=int(values.size - known.size),
    )
