"""Means of metrics and figures over the repetitions of an attack."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, ClassVar

import numpy as np

from unveil._figure import derived, figure, figure_at
from unveil._kernels.types import FloatArray
from unveil.metrics import Metric
from unveil.report.trust import AT_CAP, TRUST, WHY, trust_of


@dataclass(frozen=True, kw_only=True, eq=False)
class AveragedMetric:
    """The mean of one metric over all repetitions, with its 95 % confidence interval.

    ``values`` has one value per repetition (a metric of nodes has its mean over the nodes). Repetitions without a value
    are counted as ``undefined``, and ``why`` says why; with fewer than two values ``low`` and ``high`` are NaN.
    ``at_cap`` is the share of nodes at the cap of a metric that has one, the mean over the repetitions; else NaN.
    """

    JSON_DEFINITION: ClassVar[str] = "interval"

    metric: Metric
    values: FloatArray
    mean: float = figure("The mean over the repetitions.")
    low: float = figure("The lower end of the 95 % interval.")
    high: float = figure("The upper end of the 95 % interval.")
    undefined: int
    why: str
    at_cap: float = np.nan

    @property
    def agree(self) -> bool:
        """Whether all repetitions with a value have the same one, so that the interval has no width."""
        return bool(self.low == self.high)


@dataclass(frozen=True)
class AverageRow:
    """One metric with the facts of its listing and its mean over the repetitions."""

    average: AveragedMetric

    name = figure_at("average.metric.name")
    category = figure_at("average.metric.category")
    per = figure_at("average.metric.per")
    more_means = figure_at("average.metric.more_means")
    mean = figure_at("average.mean")
    low = figure_at(
        "average.low", "The lower end of the 95 % interval of the mean; null where there is one repetition."
    )
    high = figure_at(
        "average.high", "The upper end of the 95 % interval of the mean; null where there is one repetition."
    )
    undefined = figure_at("average.undefined", "How many repetitions have no value.")
    why = figure_at("average.why", WHY)
    at_cap = figure_at("average.at_cap", AT_CAP)


@dataclass(frozen=True)
class GradedAverageRow(AverageRow):
    """The same with the grade of the metric in attacks on graphs."""

    @derived(TRUST)
    def trust(self) -> Mapping[str, str | None]:
        """The grade of the metric."""
        return trust_of(self.average.metric.name, ["graphs"])


def averaged(metric: Metric, values: Sequence[float], why: Sequence[str]) -> AveragedMetric:
    """Return the mean over repetitions with the 95 % interval of Student's t, cut where the metric's range ends.

    >>> from unveil.metrics import METRICS
    >>> found = averaged(METRICS["entropy"], [1.0, 2.0, 3.0], ["", "", ""])
    >>> found.mean, round(found.low, 3), round(found.high, 3)
    (2.0, 0.0, 4.484)
    """
    from scipy.special import stdtrit

    array = np.asarray(values, np.float64)
    known = array[~np.isnan(array)]
    mean = float(known.mean()) if known.size else np.nan
    low = high = np.nan
    if known.size > 1 and np.ptp(known) == 0:
        # As it is: rounding would give an interval where there is none.
        mean = low = high = float(known[0])
    elif known.size > 1:
        reach = float(stdtrit(known.size - 1, 0.975)) * float(known.std(ddof=1)) / known.size**0.5
        low, high = max(mean - reach, float(metric.bounds[0])), min(mean + reach, float(metric.bounds[1]))
    reasons = dict.fromkeys(each for each, value in zip(why, array, strict=True) if each and np.isnan(value))
    return AveragedMetric(
        metric=metric,
        values=array,
        mean=mean,
        low=low,
        high=high,
        undefined=int(array.size - known.size),
        why="; ".join(reasons),
    )


def mean_figure(path: str, meaning: str, **facts: Any) -> Any:
    """Return a property that is the mean of a figure over the repetitions."""

    def mean(findings: Any) -> float:
        value: float = findings.mean(attrgetter(path))
        return value

    return derived(meaning, **facts)(mean)


def whole(value: float) -> float:
    """Return a number as an int where it has no decimals, so that counts are printed as counts.

    >>> whole(3.0), whole(3.5)
    (3, 3.5)
    """
    return int(value) if value == np.floor(value) else value
