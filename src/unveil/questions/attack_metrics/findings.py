"""Results of privacy metrics on an attack's candidates."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from unveil._figure import NOTES, derived, figure, figure_at
from unveil._kernels.types import FloatArray
from unveil.errors import InputError, did_you_mean
from unveil.metrics import Metric, MetricValue
from unveil.metrics.candidates.candidate_metrics import candidate_metrics
from unveil.metrics.candidates.matches import Matches
from unveil.report.trust import AT_CAP, RELIABILITY_MEANING, WHY, trust_of


@dataclass(frozen=True)
class ReferenceValues:
    """A metric for two reference attackers: random guessing, and perfect knowledge.

    Who knows all is sure of the true candidate of every target that stands for somebody; where there is no truth, of
    one candidate of every target that was attempted. NaN where the metric has no value for them.
    """

    blind: float
    sure: float

    def place(self, value: ArrayLike) -> FloatArray:
        """Return values relative to random guessing (0) and perfect knowledge (1).

        >>> ReferenceValues(4.0, 1.0).place([4.0, 2.5, 7.0])
        array([ 0. ,  0.5, -1. ])
        """
        width = self.sure - self.blind
        # Adding 0 turns a minus zero into zero.
        return (np.asarray(value, np.float64) - self.blind) / (width if abs(width) > _NOISE else math.nan) + 0.0


#: Ends that differ by less are the same.
_NOISE = 1e-9


@dataclass(frozen=True)
class MetricRow:
    """One metric with its value and two reference attackers."""

    value: MetricValue
    ends: ReferenceValues

    name = figure_at("value.metric.name")
    category = figure_at("value.metric.category")
    on = figure_at("value.metric.on")
    per = figure_at("value.metric.per")
    more_means = figure_at("value.metric.more_means")
    mean = figure_at(
        "value.mean",
        "Mean over the targets with a value; the value itself if the metric has one per release.",
    )
    median = figure_at("value.median", "Median over the targets with a value.")
    low = figure_at("value.low", "5% quantile over the targets with a value; not a CI of the mean.")
    high = figure_at("value.high", "95% quantile over the targets with a value; not a CI of the mean.")
    undefined = figure_at("value.undefined", "Number of targets without a value.", counts="people")
    why = figure_at("value.why", WHY)
    at_cap = figure_at("value.at_cap", AT_CAP)
    random_guessing = figure_at("ends.blind", "Value for random guessing (baseline).")
    knowing_all = figure_at("ends.sure", "Value for an attacker with perfect knowledge.")

    @derived(RELIABILITY_MEANING)
    def reliability(self) -> Mapping[str, str | None]:
        """Reliability of the metric by type of data."""
        return trust_of(self.value.metric.name)


@dataclass(frozen=True, kw_only=True, eq=False)
class CandidatesFindings:
    """Privacy metrics of an attack's candidates.

    Attributes
    ----------
    matches
        How many targets were attempted and matched rightly.
    measured
        Every metric that can be measured; without truth, those that need none.
    ends
        What each of them is for an adversary who picks blindly and for one who knows all, by name.
    metrics
        The names of those to show, all where it is empty.
    notes
        What was dropped or assumed on the way.
    """

    matches: Matches = figure(inline=True)
    measured: tuple[MetricValue, ...]
    ends: Mapping[str, ReferenceValues]
    metrics: tuple[str, ...] = ()

    @derived("One entry per metric.", name="metrics")
    def rows(self) -> tuple[MetricRow, ...]:
        """The metrics to show, one row each."""
        return tuple(MetricRow(each, self.ends[each.metric.name]) for each in self.shown)

    notes: tuple[str, ...] = figure(NOTES, default=())

    @property
    def shown(self) -> tuple[MetricValue, ...]:
        """The metrics to show, in the order of the listing."""
        return tuple(each for each in self.measured if not self.metrics or each.metric.name in self.metrics)

    @property
    def left_out(self) -> tuple[Metric, ...]:
        """The metrics that were asked for and could not be measured, because there is no truth."""
        have = {each.metric.name for each in self.measured}
        return tuple(metric for metric in candidate_metrics().values() if not self.metrics and metric.name not in have)


def check_metrics(names: Sequence[str], *, has_truth: bool) -> None:
    """Reject unknown metrics, and metrics that need a missing truth."""
    listed = candidate_metrics()
    for name in names:
        if name not in listed:
            hint = did_you_mean(name, listed) or " 'unveil list metrics' shows them all"
            raise InputError(f"Unknown metric {name!r}.{hint}")
        if listed[name].needs_truth and not has_truth:
            raise InputError(f"Metric {name} needs the true matches. Add them, or choose a metric that needs none")
