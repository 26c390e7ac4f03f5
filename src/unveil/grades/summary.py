"""Scores over cases in one line: their mean with an honest interval, and their quartiles."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unveil._kernels.types import FloatArray, IntArray
from unveil.grades.replicated_metrics import GradedCase


@dataclass(frozen=True, kw_only=True)
class ScoreSummary:
    """Scores over cases: mean with its 95 % interval, quartiles, and number of cases.

    The interval takes data, protection and attack together as one draw, since the axes of one attack go up and down
    together; it is NaN for fewer than two of these. ``groups`` is their number, of those with a score. ``undefined``
    counts cases without a score.
    """

    mean: float
    low: float
    high: float
    first_quartile: float
    median: float
    third_quartile: float
    cases: int
    groups: int
    undefined: int


def groups_of(cases: Sequence[GradedCase]) -> IntArray:
    """Return a number per case, the same for cases that differ in their axis only.

    >>> groups_of([GradedCase("mail", "switch", "NS", "overlap"), GradedCase("mail", "switch", "NS", "seed_pairs")])
    array([0, 0])
    """
    number: dict[tuple[str, ...], int] = {}
    return np.array([number.setdefault(case[:3], len(number)) for case in cases], np.int64)


def summarise(scores: FloatArray, groups: IntArray) -> ScoreSummary:
    """Return the mean of scores over cases with its interval, their quartiles, and how many there are.

    >>> summarise(np.array([0.2, 0.4, 0.6, np.nan]), np.array([0, 1, 2, 2])).median
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
    """Return half the width of the 95 % interval of a mean whose cases come in groups, by Student's distribution."""
    from scipy.special import stdtrit

    _, place = np.unique(groups, return_inverse=True)
    sums = np.bincount(place, weights=deviations)
    if sums.size < 2:
        return float("nan")
    error = np.sqrt(sums.size / (sums.size - 1) * (sums**2).sum()) / deviations.size
    return float(stdtrit(sums.size - 1, 0.975) * error)
