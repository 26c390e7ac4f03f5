"""Overall graphs straight from the cells, for many policies or guesses."""

import numpy as np

from unveil._kernels.partitions.unlinkability import overall_rises
from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.metrics.partitions._evaluate import Policy, Ranking, snap
from unveil.metrics.partitions._mixing import gains
from unveil.metrics.partitions._tally import Tallies, Tally, Wholes


def overall_graphs(counted: Tallies, rankings: list[Ranking], policy: Policy) -> tuple[FloatArray, FloatArray]:
    """Return the overall linked and mixed graphs of a view."""
    whole = policy.wholes(counted)
    linked, mixed = np.zeros(counted.longest), np.zeros(counted.longest)
    for tally, ranking in zip(counted.guesses, rankings, strict=True):
        together = np.zeros(tally.table.guesses, np.int64)
        rises = _rises(tally, ranking, policy, whole, together, tally.share(), counted.longest)
        linked += rises[0][0]
        mixed += rises[1][0]
    return _graphs(linked, mixed, whole, policy.contamination_desirable)


def guess_graphs(tally: Tally, ranking: Ranking, counted: Tallies, policy: Policy) -> tuple[FloatArray, FloatArray]:
    """Return the overall linked and mixed graphs, one row per guess."""
    whole = policy.wholes(counted)
    alone = np.arange(tally.table.guesses)
    most = int(np.diff(tally.table.row_start).max())
    rises = _rises(tally, ranking, policy, whole, alone, np.ones(alone.size), most)
    return _graphs(*rises, whole, policy.contamination_desirable)


def first_linked(counted: Tallies, rankings: list[Ranking], policy: Policy) -> FloatArray:
    """Return the share of each subject linked before any merge."""
    whole = policy.wholes(counted)
    taken = np.zeros(whole.own.size)
    for tally, ranking in zip(counted.guesses, rankings, strict=True):
        taken += tally.mean(tally.own[ranking.order[tally.table.row_start[:-1]]])
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(whole.own > 0, (taken + whole.base) / whole.own, 1.0)


def _rises(
    tally: Tally,
    ranking: Ranking,
    policy: Policy,
    whole: Wholes,
    group: IntArray,
    share: FloatArray,
    length: int,
) -> tuple[FloatArray, FloatArray]:
    sign = np.where(policy.contamination_desirable, -1.0, 1.0)
    with np.errstate(divide="ignore"):
        own_unit = np.where(whole.own > 0, 1 / whole.own, 0.0)
        foreign_unit = np.where(whole.foreign > 0, 1 / whole.foreign, 0.0) * sign
    start, gain = tally.table.row_start, gains(tally, ranking.order, policy.mixing)
    return overall_rises(start, ranking.order, tally.own, gain, own_unit, foreign_unit, group, share, length)


def _graphs(
    linked_rise: FloatArray, mixed_rise: FloatArray, whole: Wholes, desirable: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Return subject means from sums of increments.

    A subject of weight 0 is linked from the start.
    """
    subjects = desirable.size
    with np.errstate(invalid="ignore", divide="ignore"):
        base = np.where(whole.own > 0, whole.base / whole.own, 1.0).sum()
    linked = (base + np.cumsum(linked_rise, axis=-1)) / subjects
    mixed = (float(desirable.sum()) + np.cumsum(mixed_rise, axis=-1)) / subjects
    # Thousands of rises add up to a hair next to 0 or 1.
    return snap(linked), snap(mixed)
