"""Compare the grades of a metric from raw scores and from calibrated probabilities."""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from unveil._figure import derived, figure
from unveil._kernels.types import FloatArray
from unveil.grades.cross_validation import Gain
from unveil.grades.scores import Reading, Scores
from unveil.grades.verdict import (
    METRIC_NAME,
    NOTHING_SIGNIFICANT,
    OF_METRIC,
    MetricGrade,
    groups_of,
    half_width_over_groups,
)

#: What calibration does to a metric: it ranks attackers better, worse, or no different from chance; or it could not
#: be told; or the metric is the same, because it does not look at probabilities.
Effect = Literal["better", "worse", "no difference", "cannot be determined", "the same"]


@dataclass(frozen=True, kw_only=True)
class CalibratedGrade:
    """Grades of one metric from raw and calibrated probabilities.

    Attributes
    ----------
    metric
        Its name.
    raw, calibrated
        Its grades.
    gain
        The mean over cases of its monotonicity when calibrated less that when raw, with the 95 % interval of that.
    cases
        How many cases have both.
    same
        Whether it has the same values either way.
    """

    metric: str = figure(METRIC_NAME, name="name")
    raw: MetricGrade = figure("Grades with raw scores.", without=OF_METRIC)
    calibrated: MetricGrade = figure("Grades with calibrated probabilities.", without=OF_METRIC)
    gain: Gain = figure("Mean over cases of calibrated minus raw monotonicity, with its 95% CI.")
    same: bool

    @derived("Effect of calibration on the metric.")
    def effect(self) -> Effect:
        """Effect of calibration on the metric."""
        if self.same:
            return "the same"
        if not self.cases or np.isnan(self.gain.low):
            return "cannot be determined"
        return "better" if self.gain.low > 0 else "worse" if self.gain.high < 0 else "no difference"

    cases: int = figure("Number of cases with both.")

    @property
    def mended(self) -> bool:
        """True if calibration makes it better than a constant metric."""
        return self.effect == "better" and self.calibrated.monotonicity.mean > NOTHING_SIGNIFICANT


@dataclass(frozen=True, kw_only=True, eq=False)
class CalibrationGrades:
    """Grades from raw scores and from calibrated probabilities, over the same cases.

    Metrics of raw scores are over the targets that were attempted, calibrated ones over all targets: one that was not
    attempted has the same probability for everybody. A gain is that of both together.
    """

    raw: Reading = field(repr=False)
    calibrated: Reading = field(repr=False)
    metrics: tuple[CalibratedGrade, ...]

    @classmethod
    def of(cls, raw: Scores, calibrated: Scores) -> "CalibrationGrades":
        """Return raw and calibrated grades of the same cases and metrics."""
        one, other = Reading.of(raw), Reading.of(calibrated)
        return cls(raw=one, calibrated=other, metrics=tuple(_compared(one, other)))

    def metric(self, name: str) -> CalibratedGrade | None:
        """Return the effect of calibration on one metric, or None."""
        return next((each for each in self.metrics if each.metric == name), None)

    @property
    def changed(self) -> tuple[CalibratedGrade, ...]:
        """Metrics whose grades change by calibration, largest gain first."""
        return tuple(each for each in self.metrics if each.cases and not each.same)


def _compared(raw: Reading, calibrated: Reading) -> list[CalibratedGrade]:
    groups = groups_of(raw.scores.values.cases)
    found = []
    for column, name in enumerate(raw.scores.values.metrics):
        before, after = (each.scores.monotonicity.score[:, column] for each in (raw, calibrated))
        one, other = raw.metric(name), calibrated.metric(name)
        if one is None or other is None:
            raise ValueError(f"{name} must be in both readings")
        change = after - before
        there = ~np.isnan(change)
        found.append(
            CalibratedGrade(
                metric=name,
                raw=one,
                calibrated=other,
                gain=_gain(change[there], groups[there]),
                cases=int(there.sum()),
                same=_same(*(each.scores.values.values[:, column] for each in (raw, calibrated))),
            )
        )
    return sorted(found, key=lambda each: (each.same, -np.nan_to_num(each.gain.mean, nan=-np.inf)))


def _gain(change: FloatArray, groups: "np.ndarray[tuple[int], np.dtype[np.int64]]") -> Gain:
    if not change.size:
        return Gain(float("nan"), float("nan"), float("nan"))
    mean = float(change.mean())
    half = half_width_over_groups(change - mean, groups)
    return Gain(mean, mean - half, mean + half)


def _same(one: FloatArray, other: FloatArray) -> bool:
    both = ~np.isnan(one) & ~np.isnan(other)
    # Undefined on one side alone is a difference; undefined on both sides everywhere says nothing.
    apart = np.isnan(one) != np.isnan(other)
    return bool(both.any() and not apart.any() and np.allclose(one[both], other[both], rtol=1e-9, atol=1e-12))
