"""What was found about an adversary's candidates, as data."""

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
from unveil.report.trust import AT_CAP, TRUST, WHY, trust_of


@dataclass(frozen=True)
class ReferenceValues:
    """The value of a metric for two other attackers: one who picks candidates at random, one who knows the truth.

    Who knows all is sure of the true candidate of every target that stands for somebody; where there is no truth, of
    one candidate of every target that was attempted. NaN where the metric has no value for them.
    """

    blind: float
    sure: float

    def place(self, value: ArrayLike) -> FloatArray:
        """Return how far values lie from random guessing (0) to knowing all (1); NaN where both ends are the same.

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
    """One metric with the facts of its listing, its value, and the values of two reference attackers."""

    value: MetricValue
    ends: ReferenceValues

    name = figure_at("value.metric.name")
    category = figure_at("value.metric.category")
    on = figure_at("value.metric.on")
    per = figure_at("value.metric.per")
    more_means = figure_at("value.metric.more_means")
    mean = figure_at(
        "value.mean",
        "The mean over the targets that have a value; the value itself where the metric has one for the release.",
    )
    median = figure_at("value.median", "The median over the targets that have a value.")
    low = figure_at(
        "value.low", "The 5 % quantile over the targets that have a value: a spread, no interval of the mean."
    )
    high = figure_at(
        "value.high", "The 95 % quantile over the targets that have a value: a spread, no interval of the mean."
    )
    undefined = figure_at("value.undefined", "How many targets have no value.", counts="people")
    why = figure_at("value.why", WHY)
    at_cap = figure_at("value.at_cap", AT_CAP)
    random_guessing = figure_at("ends.blind", "The metric for an adversary who picks blindly.")
    knowing_all = figure_at("ends.sure", "The metric for an adversary who knows everything.")

    @derived(TRUST)
    def trust(self) -> Mapping[str, str | None]:
        """The grades of the metric by ground."""
        return trust_of(self.value.metric.name)


@dataclass(frozen=True, kw_only=True, eq=False)
class CandidatesFindings:
    """What an adversary knows about targets.

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

    @derived("One entry for each metric.", name="metrics")
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
    """Refuse a name that no metric of candidates has, and a metric whose truth is not there."""
    listed = candidate_metrics()
    for name in names:
        if name not in listed:
            hint = did_you_mean(name, listed) or " 'unveil list metrics' shows them all"
            raise InputError(f"there is no metric {name!r} of candidates.{hint}")
        if listed[name].needs_truth and not has_truth:
            raise InputError(
                f"the metric {name} compares with the truth, but none was given. Add it (--truth FILE), or ask for a "
                "metric that needs none"
            )
