"""All metrics of a guess about candidates in one tidy table."""

from dataclasses import dataclass

import numpy as np

from unveil._kernels.types import FloatArray, IntArray
from unveil.guesses import Candidates
from unveil.guesses.candidates import NOBODY, Truth
from unveil.metrics._listing import METRICS, Metric

LOW, HIGH = 0.05, 0.95


@dataclass(frozen=True, kw_only=True, eq=False)
class MetricValue:
    """The value of one metric, or its distribution over the targets.

    ``mean``, ``median``, ``low`` and ``high`` (the 5 % and 95 % quantiles) are over the targets that have a value; a
    metric of the whole release has its value as ``mean`` and no spread. ``undefined`` counts targets without a value (1
    for a release without one), and ``why`` says why. ``values`` holds one value per target, NaN where undefined.
    """

    metric: Metric
    values: FloatArray
    mean: float
    median: float
    low: float
    high: float
    undefined: int
    why: str

    @property
    def at_cap(self) -> float:
        """Share of values at the cap of the metric; NaN if undefined."""
        known = self.values[~np.isnan(self.values)]
        if not self.metric.capped or known.size == 0:
            return float("nan")
        return float((known >= self.metric.bounds[1] * (1 - 1e-12)).mean())


def all_metrics(guess: Candidates, truth: Truth | None = None) -> tuple[MetricValue, ...]:
    """Return all applicable metrics of the guess.

    >>> guess = Candidates.from_matrix([[0.5, 0.5], [0.9, 0.1]])
    >>> {m.metric.name: round(m.mean, 2) for m in all_metrics(guess, [0, 0])}["entropy"]
    0.73
    """
    known = None if truth is None else guess.truth_from(truth)
    return tuple(
        measure_one(metric, guess, known)
        for metric in candidate_metrics().values()
        if not (metric.needs_truth and known is None)
    )


def candidate_metrics() -> dict[str, Metric]:
    """Return the usual metrics of candidates by name."""
    return {name: metric for name, metric in METRICS.items() if metric.on == "Candidates" and metric.usual}


def measure_one(metric: Metric, guess: Candidates, truth: IntArray | None) -> MetricValue:
    """Return one metric of the guess, with its spread over targets."""
    result = metric.function(guess, truth) if metric.needs_truth else metric.function(guess)
    if metric.per == "release":
        value, missing = float(result), bool(np.isnan(result))
        nobody = truth is not None and bool((truth == NOBODY).all())
        reason = "no target has a true match" if nobody else "no target was attempted"
        why = reason if missing else ""
        return MetricValue(
            metric=metric,
            values=np.array([value]),
            mean=value,
            median=np.nan,
            low=np.nan,
            high=np.nan,
            undefined=int(missing),
            why=why,
        )
    values = np.asarray(result, np.float64)
    known = values[~np.isnan(values)]
    low, median, high = np.quantile(known, [LOW, 0.5, HIGH]) if known.size else (np.nan,) * 3
    return MetricValue(
        metric=metric,
        values=values,
        mean=float(known.mean()) if known.size else np.nan,
        median=float(median),
        low=float(low),
        high=float(high),
        undefined=int(values.size - known.size),
        why=_why(guess, truth if metric.needs_truth else None),
    )


def _why(guess: Candidates, truth: IntArray | None) -> str:
    """Return why targets have no value, in words."""
    idle = int((~guess.believed).sum())
    nobody = 0 if truth is None else int((guess.believed & (truth == NOBODY)).sum())
    reasons = [f"{idle} not attempted"] * bool(idle) + [f"{nobody} without a true match"] * bool(nobody)
    return " and ".join(reasons)
