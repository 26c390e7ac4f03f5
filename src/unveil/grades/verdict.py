"""The grades of one metric, and whether to rank by it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from unveil._figure import derived, figure
from unveil._kernels.types import FloatArray, IntArray
from unveil.grades.replicated_metrics import GradedCase
from unveil.grades.shipped_grades import RELIABILITY
from unveil.metrics import METRICS

#: What a metric of which nothing is significant scores: it never tells a strong adversary from a weak one.
NOTHING_SIGNIFICANT = 2 / 3
#: A metric with a lower mean is no part of a suite (Zhao and Wagner, 7.2).
LEAST = 0.5
#: A metric that is undecided in more cases than this share is at best used with care.
MOST_UNDECIDED = 1 / 2
#: So is one that goes the wrong way in more cases than this. A metric that tells nothing does so in about one case of
#: ten, by chance: five pairs of levels at a significance of 0.05, half of which is in the wrong direction.
MOST_AGAINST = 1 / 5
#: One that goes the wrong way in more cases than this is not to be ranked by.
TOO_MANY_AGAINST = 1 / 3
#: These count targets. People whom the attacker knows beforehand are no targets, so that there are fewer to count
#: where more seed pairs are known, and the metrics move even if the attack finds nothing out.
COUNT_TARGETS = ("amount_of_leaked_information", "hiding_property", "user_specified_innocence")
#: With fewer combinations of data, protection and attack than these, all may agree by chance, and the interval of the
#: mean then has no width.
FEWEST_GROUPS = 4
_SEEDS = "seed_pairs"
_ROUNDING = 1e-9

Verdict = Literal["use", "with care", "do not rank by it", "no grade"]

MONOTONICITY = (
    "Monotonicity of the {} in attacker strength, from 0 to 1: 1 if privacy falls at every step, 0.667 if it never "
    "changes. Steps in the wrong direction lower it."
)
EVENNESS = (
    "Evenness of a case's values, over all levels and replications, within the metric's range. Values all at one "
    "end give 0, uniform values 1, and values half at each end or all in the middle 0.75."
)
SHARED_RANGE = "The part of the range over all cases that one case uses, from 0 (hardly any) to 1 (all of it)."
METRIC_NAME = "The name of the metric, as `unveil list metrics` has it."
#: The figures of a metric's grades that another reading of the same metric leaves out.
OF_METRIC = ("name", "category", "per", "more_means", "reason", "by_axis")


# Scores over cases in one line: their mean with an honest interval, and their quartiles.


@dataclass(frozen=True, kw_only=True)
class ScoreSummary:
    """Scores over cases: mean with 95% CI, quartiles, and count.

    The interval takes data, protection and attack together as one draw, since the axes of one attack go up and down
    together; it is NaN for fewer than two of these. ``groups`` is their number, of those with a score. ``undefined``
    counts cases without a score.
    """

    JSON_DEFINITION: ClassVar = "spread"
    mean: float = figure("Mean over cases.")
    low: float = figure("Lower end of its 95% CI.")
    high: float = figure("Upper end of its 95% CI.")
    first_quartile: float = figure("First quartile over cases.")
    median: float = figure("Median over cases.")
    third_quartile: float = figure("Third quartile over cases.")
    cases: int = figure("Number of cases with a score.")
    groups: int = figure("Number of groups of data, protection, and attack.")
    undefined: int = figure("Number of cases without a score.")


def groups_of(cases: Sequence[GradedCase]) -> IntArray:
    """Return group numbers of cases that differ only in axis.

    >>> groups_of([GradedCase("mail", "switch", "NS", "overlap"), GradedCase("mail", "switch", "NS", "seed_pairs")])
    array([0, 0])
    """
    number: dict[tuple[str, ...], int] = {}
    return np.array([number.setdefault(tuple(case)[:3], len(number)) for case in cases], np.int64)


def summarize(scores: FloatArray, groups: IntArray) -> ScoreSummary:
    """Return mean, CI, quartiles, and count of scores over cases.

    >>> summarize(np.array([0.2, 0.4, 0.6, np.nan]), np.array([0, 1, 2, 2])).median
    0.4
    """
    there = ~np.isnan(scores)
    known = scores[there]
    if not known.size:
        nan = float("nan")
        return ScoreSummary(
            mean=nan, low=nan, high=nan, first_quartile=nan, median=nan, third_quartile=nan,
            cases=0, groups=0, undefined=int(scores.size),
        )  # fmt: skip
    mean = float(known.mean())
    half = half_width_over_groups(known - mean, groups[there])
    first, median, third = np.quantile(known, [0.25, 0.5, 0.75])
    return ScoreSummary(
        mean=mean,
        # Scores lie between 0 and 1, and so does their mean.
        low=max(mean - half, 0.0) if np.isfinite(half) else float("nan"),
        high=min(mean + half, 1.0) if np.isfinite(half) else float("nan"),
        first_quartile=float(first),
        median=float(median),
        third_quartile=float(third),
        cases=int(known.size),
        groups=int(np.unique(groups[there]).size),
        undefined=int(scores.size - known.size),
    )


def half_width_over_groups(deviations: FloatArray, groups: IntArray) -> float:
    """Return the half-width of a 95% CI for grouped cases (Student)."""
    from scipy.special import stdtrit

    _, place = np.unique(groups, return_inverse=True)
    sums = np.bincount(place, weights=deviations)
    if sums.size < 2:
        return float("nan")
    error = np.sqrt(sums.size / (sums.size - 1) * (sums**2).sum()) / deviations.size
    return float(stdtrit(sums.size - 1, 0.975) * error)


@dataclass(frozen=True, kw_only=True)
class MetricGrade:
    """Scores of a metric over all cases, 0 to 1, higher is better.

    Attributes
    ----------
    metric
        Its name.
    monotonicity, evenness, shared_range
        The scores.
    undecided
        The share of the cases with a monotonicity in which no test was significant; NaN where there is none.
    against
        The share of them in which a test counted against it: a change in the wrong direction, or back and forth.
    by_axis
        Its monotonicity over the cases of each axis of strength.
    """

    metric: str = figure(METRIC_NAME, name="name")

    @derived("Category of the metric, as in `unveil list metrics`.")
    def category(self) -> str:
        """Its category."""
        return METRICS[self.metric].category

    @derived("Unit of the metric: each target, or the release.")
    def per(self) -> str:
        """Unit of the metric: each target or the release."""
        return METRICS[self.metric].per

    @derived("Direction: a higher value is more or less private.")
    def more_means(self) -> str:
        """Direction: a higher value is more or less private."""
        return METRICS[self.metric].more_means

    @property
    def counts_targets(self) -> bool:
        """True if it counts targets that become fewer with attacker knowledge."""
        return self.metric in COUNT_TARGETS and _SEEDS in self.by_axis

    @property
    def verdict(self) -> Verdict:
        """Advice on ranking protections, attacks, or data; see :attr:`reason`."""
        return self._judged[0]

    @derived("Reliability for ranking protections, attacks, or data; see `reason`.")
    def reliability(self) -> str:
        """Reliability for ranking protections, attacks, or data."""
        return RELIABILITY[self.verdict]

    @derived("Reason for the reliability, in words.")
    def reason(self) -> str:
        """Short reason for the verdict."""
        return self._judged[1]

    monotonicity: ScoreSummary = figure(MONOTONICITY.format("metric"))
    by_axis: Mapping[str, ScoreSummary] = figure("Monotonicity by axis.")
    undecided: float = figure(
        "Share of cases, from 0 to 1, in which no change is significant.", name="share_inconclusive"
    )
    against: float = figure(
        "Share of cases, from 0 to 1, with a significant change in the wrong direction.", name="share_wrong_way"
    )
    evenness: ScoreSummary = figure(EVENNESS)
    shared_range: ScoreSummary = figure(SHARED_RANGE)

    @property
    def _judged(self) -> tuple[Verdict, str]:
        score = self.monotonicity
        if not score.cases:
            return "no grade", "no case could be tested"
        if self.undecided == 1:
            return "do not rank by it", "it changes significantly in no case"
        if score.mean <= NOTHING_SIGNIFICANT + _ROUNDING:
            return "do not rank by it", "on average no better than a metric that never changes"
        if self.against > TOO_MANY_AGAINST:
            return "do not rank by it", "it goes the wrong way in more than a third of the cases"
        if self.against > MOST_AGAINST:
            return "with care", "it changes in the wrong direction in more than a fifth of the cases"
        if self.undecided > MOST_UNDECIDED:
            return "with care", "it changes significantly in less than half of the cases"
        if np.isnan(score.low):
            return "with care", "one combination of data, protection, and attack cannot be generalized"
        if score.groups < FEWEST_GROUPS:
            return "with care", f"{score.groups} combinations of data, protection and attack are too few"
        if score.low <= NOTHING_SIGNIFICANT + _ROUNDING:
            return "with care", "not significantly better than a constant metric"
        if self.counts_targets:
            return "with care", "it counts targets, and more seed pairs leave fewer targets"
        return "use", "monotone in attacker strength"
