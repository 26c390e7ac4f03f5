"""The overall graphs straight from the cells: for many policies or guesses, where nobody asks for single subjects."""

import numpy as np

from unveil._kernels.partitions.unlinkability import overall_rises
from unveil._kernels.types import BoolArray, FloatArray
from unveil.measure.partitions._evaluate import Ranking
from unveil.measure.partitions._tally import Tallies, Tally, Wholes


def overall_graphs(
    counted: Tallies, rankings: list[Ranking], *, desirable: BoolArray, literal: bool
) -> tuple[FloatArray, FloatArray]:
    """Return the overall linked and mixed graphs of a view."""
    whole = counted.wholes(literal=literal)
    linked, mixed = np.zeros(counted.longest), np.zeros(counted.longest)
    for tally, ranking in zip(counted.guesses, rankings, strict=True):
        together = np.zeros(tally.table.guesses, np.int64)
        rises = _rises(tally, ranking, whole, desirable, together, tally.share(), counted.longest)
        linked += rises[0][0]
        mixed += rises[1][0]
    return _graphs(linked, mixed, whole, desirable)


def guess_graphs(
    tally: Tally, ranking: Ranking, counted: Tallies, *, desirable: BoolArray, literal: bool
) -> tuple[FloatArray, FloatArray]:
    """Return the overall linked and mixed graphs of each guess, one row per guess."""
    whole = counted.wholes(literal=literal)
    alone = np.arange(tally.table.guesses)
    most = int(np.diff(tally.table.row_start).max())
    rises = _rises(tally, ranking, whole, desirable, alone, np.ones(alone.size), most)
    return _graphs(*rises, whole, desirable)


def first_linked(counted: Tallies, rankings: list[Ranking], *, literal: bool) -> FloatArray:
    """Return the share of each subject that is linked before any merging, over the whole view."""
    whole = counted.wholes(literal=literal)
    taken = np.zeros(whole.own.size)
    for tally, ranking in zip(counted.guesses, rankings, strict=True):
        taken += tally.mean(tally.own[ranking.order[tally.table.row_start[:-1]]])
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(whole.own > 0, (taken + whole.base) / whole.own, 1.0)


def _rises(
    tally: Tally,
    ranking: Ranking,
    whole: Wholes,
    desirable: BoolArray,
    group: "np.ndarray[tuple[int], np.dtype[np.int64]]",
    share: FloatArray,
    length: int,
) -> tuple[FloatArray, FloatArray]:
    with np.errstate(divide="ignore"):
        own_unit = np.where(whole.own > 0, 1 / whole.own, 0.0)
        foreign_unit = np.where(whole.foreign > 0, 1 / whole.foreign, 0.0) * np.where(desirable, -1.0, 1.0)
    start = tally.table.row_start
    return overall_rises(start, ranking.order, tally.own, tally.foreign, own_unit, foreign_unit, group, share, length)


def _graphs(
    linked_rise: FloatArray, mixed_rise: FloatArray, whole: Wholes, desirable: BoolArray
) -> tuple[FloatArray, FloatArray]:
    """Return the means over subjects from the sums of rises; a subject that weighs nothing is linked from the start."""
    subjects = desirable.size
    with np.errstate(invalid="ignore", divide="ignore"):
        base = np.where(whole.own > 0, whole.base / whole.own, 1.0).sum()
    linked = (base + np.cumsum(linked_rise, axis=-1)) / subjects
    mixed = (float(desirable.sum()) + np.cumsum(mixed_rise, axis=-1)) / subjects
    # Thousands of rises add up to a hair beside 0 or 1.
    return np.clip(linked, 0.0, 1.0), np.clip(np.where(np.abs(mixed) < 1e-12, 0.0, mixed), 0.0, 1.0)
