"""What was found about an adversary's candidates, as data."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from unveil._figure import NOTES, derived, figure
from unveil._kernels.types import FloatArray
from unveil.errors import InputError, did_you_mean
from unveil.metrics import Metric, MetricValue
from unveil.metrics.candidates.candidate_metrics import candidate_metrics
from unveil.metrics.candidates.matches import Matches


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


@dataclass(frozen=True, kw_only=True)
class MetricRow:
    """One metric with the facts of its listing, its value, and the values of two reference attackers."""

    name: str = figure("The name of the metric, as `unveil list metrics` has it.")
    category: str = figure("The category of the metric, as `unveil list metrics` shows it.")
    on: str = figure("What the metric is measured on.")
    per: str = figure("Whether the metric has a value for each target, or one for the release.")
    more_means: str = figure("Whether a higher value is more or less private.")
    mean: float = figure(
        "The mean over the targets that have a value; the value itself where the metric has one for the release."
    )
    median: float = figure("The median over the targets that have a value.")
    low: float = figure("The 5 % quantile over the targets that have a value: a spread, no interval of the mean.")
    high: float = figure("The 95 % quantile over the targets that have a value: a spread, no interval of the mean.")
    undefined: int = figure("How many targets have no value.", counts="people")
    why: str = figure("Why there is no value, or no verdict; empty where there is one.")
    at_cap: float = figure("The share of values that are at a cap that unveil chose; null where the metric has no cap.")
    random_guessing: float = figure("The metric for an adversary who picks blindly.")
    knowing_all: float = figure("The metric for an adversary who knows everything.")
    trust: Mapping[str, str | None] = figure(
        "How far the metric can be trusted, by ground (tables, graphs): use, with care, do not rank by it; null where "
        "it is not graded."
    )


def _metric_row(value: MetricValue, ends: ReferenceValues) -> MetricRow:
    from unveil.report.trust import trust_of

    facts = {name: getattr(value.metric, name) for name in ("name", "category", "on", "per", "more_means")}
    numbers = {name: getattr(value, name) for name in ("mean", "median", "low", "high", "undefined", "why", "at_cap")}
    trust = trust_of(value.metric.name)
    return MetricRow(**facts, **numbers, random_guessing=ends.blind, knowing_all=ends.sure, trust=trust)


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
        return tuple(_metric_row(each, self.ends[each.metric.name]) for each in self.shown)

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
