"""What was found about an adversary's candidates, as data."""

from collections.abc import Sequence
from dataclasses import dataclass

from unveil.errors import InputError, did_you_mean
from unveil.measure import Measured, Metric
from unveil.measure.candidates.candidate_metrics import candidate_metrics
from unveil.measure.candidates.matches import Matches


@dataclass(frozen=True, kw_only=True, eq=False)
class CandidatesFindings:
    """What an adversary knows about targets.

    Attributes
    ----------
    matches
        How many targets were attempted and matched rightly.
    measured
        Every metric that can be measured; without truth, those that need none.
    metrics
        The names of those to show, all where it is empty.
    notes
        What was dropped or assumed on the way.
    """

    matches: Matches
    measured: tuple[Measured, ...]
    metrics: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def shown(self) -> tuple[Measured, ...]:
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
