"""Overall unlinkability for a grid of policies."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from unveil._kernels.types import FloatArray, IntArray
from unveil.guesses import Partition, View
from unveil.metrics.partitions._evaluate import ROUNDING, beta_point, rank, risk_slope
from unveil.metrics.partitions._mixing import Mixing
from unveil.metrics.partitions._overall import first_linked, overall_graphs
from unveil.metrics.partitions._policy import Flags
from unveil.metrics.partitions._tally import tallies
from unveil.metrics.partitions._weights import Weights
from unveil.metrics.partitions.unlinkability import Norm, UnlinkabilitySettings, policy_of

__all__ = ["PolicyGrid", "beta_point", "policy_grid", "risk_slope_on"]

#: Every twentieth, and the two thirds that the paper draws.
ALPHAS = tuple(sorted({*(Fraction(step, 20) for step in range(21)), Fraction(1, 3), Fraction(2, 3)}))
BETA_STEPS = 100


@dataclass(frozen=True, kw_only=True, eq=False)
class PolicyGrid:
    """Overall values for a grid of common policies.

    ``linked[a]`` and ``mixed[a]`` are the overall graphs at ``alphas[a]``; ``risk_slope[a, b]`` is NaN where the
    average subject is already breached at ``betas[b]``; ``breached_subjects[a, b]`` counts those who are.
    """

    alphas: FloatArray
    betas: FloatArray
    linked: tuple[FloatArray, ...]
    mixed: tuple[FloatArray, ...]
    risk_slope: FloatArray
    breached_subjects: IntArray


def policy_grid(
    guess: Partition | View,
    truth: Partition,
    *,
    contamination_desirable: Flags = False,
    weights: Weights | None = None,
    norm: Norm = "weight",
    mixing: Mixing = "items",
) -> PolicyGrid:
    """Return overall graphs, risk slope, and breached subjects per policy.

    There are 23 alphas; risk slope and breached subjects also have 101 betas.

    The alphas are the twentieths and the two thirds. The items are counted once; the settings are those of
    :func:`unveil.metrics.unlinkability`.

    >>> grid = policy_grid(Partition.from_labels("xxyy"), Partition.from_labels("aaab"))
    >>> grid.risk_slope.shape, int(grid.breached_subjects[11, 80])
    ((23, 101), 1)
    """
    counted = tallies(guess, truth, weights)
    betas = np.array([step / BETA_STEPS for step in range(BETA_STEPS + 1)])
    given: UnlinkabilitySettings = {"contamination_desirable": contamination_desirable, "norm": norm, "mixing": mixing}
    linked, mixed, slopes, breached = [], [], [], []
    for alpha in ALPHAS:
        policy = policy_of(truth, {**given, "alpha": alpha})
        rankings = [rank(tally, counted, policy.alpha) for tally in counted.guesses]
        graphs = overall_graphs(counted, rankings, policy)
        linked.append(graphs[0])
        mixed.append(graphs[1])
        slopes.append(risk_slope_on(*graphs, alpha=float(alpha), beta=betas))
        now = np.sort(first_linked(counted, rankings, policy))
        breached.append(truth.cluster_count - np.searchsorted(now, betas - ROUNDING))
    return PolicyGrid(
        alphas=np.array([float(alpha) for alpha in ALPHAS]),
        betas=betas,
        linked=tuple(linked),
        mixed=tuple(mixed),
        risk_slope=np.array(slopes),
        breached_subjects=np.array(breached),
    )


def risk_slope_on(linked: FloatArray, mixed: FloatArray, *, alpha: float, beta: FloatArray) -> FloatArray:
    """Return the risk slope at each beta; NaN without any merge.

    >>> risk_slope_on(np.array([0.5, 1.0]), np.array([0.0, 0.0]), alpha=1.0, beta=np.array([0.5, 0.75])).round(3)
    array([  nan, 0.626])
    """
    merges, mixed_there = beta_point(linked, mixed, beta)
    return np.where(linked[0] >= beta - ROUNDING, np.nan, risk_slope(alpha, beta, mixed_there, merges))
