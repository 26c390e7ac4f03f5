"""Grades of metrics from node values stored as sketches.

Zhao and Wagner compare "privacy levels of different nodes within the same graph", while a replication leaves one mean
per metric. Both readings are graded; metrics of a whole release have means only.
"""

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.sketches import ValueSketch, merged_blocks, merged_evenness
from unveil._kernels.two_samples import (
    _EXACT,
    _FACTS,
    _FIRST,
    _FREEDOM,
    _LEAD,
    _SECOND,
    _T,
    _TIES,
    SAME,
    NeighbourTests,
    _rank_sum_values,
    _welch_values,
)
from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.grades.evenness import constant, over_all_cases, share_of_range
from unveil.grades.monotonicity import monotonicity_of_tests
from unveil.grades.replicated_metrics import GradedCase, ReplicatedMetrics
from unveil.grades.scores import Scores

if TYPE_CHECKING:
    import polars as pl

    from unveil.studies import Results

Blocks = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True, eq=False)
class NodeSketches:
    """Sketches of node values at [case, metric, level], pooled over replications.

    Attributes
    ----------
    values
        The means over targets that stand beside them: they have the same cases and metrics.
    count
        How many values there are; 0 where a study kept none.
    lowest, highest, total, squares
        Of these values, all exact: the ends, the sum, and the sum of squares.
    blocks
        Means of runs of equal count of the sorted values along the last axis; NaN where there are fewer.
    """

    values: ReplicatedMetrics
    count: IntArray
    lowest: FloatArray
    highest: FloatArray
    total: FloatArray
    squares: FloatArray
    blocks: Blocks

    @classmethod
    def of(cls, values: ReplicatedMetrics, *studies: "Results", calibrated: bool = False) -> "NodeSketches | None":
        """Return the available sketches of metrics, or None."""
        from unveil.studies._parts import CALIBRATED

        frames = [each.nodes for each in studies]
        prefix = CALIBRATED if calibrated else ""
        kept = {name for frame in frames for name in frame["metric"].unique().to_list()}
        names = [name for name in values.metrics if prefix + name in kept]
        if not names:
            return None
        made = _empty(values.only(metrics=names), max(_most_blocks(frame) for frame in frames if frame.height))
        for frame in frames:
            _fill(made, frame, prefix)
        return made

    def only(self, cases: IntArray) -> "NodeSketches":
        """Return some of the cases."""
        values = self.values.only(cases=cases)
        most = max(map(len, values.levels), default=0)
        arrays = {
            each.name: getattr(self, each.name)[cases][:, :, :most] for each in fields(self) if each.name != "values"
        }
        return NodeSketches(values=values, **arrays)

    @property
    def cases(self) -> BoolArray:
        """Mask of cases with node values."""
        return np.asarray(self.count.sum(axis=(1, 2)) > 0)

    def sketches(self, case: int, column: int) -> list[ValueSketch]:
        """Return the non-empty sketches of a metric's levels in a case."""
        return [self._sketch(case, column, level) for level in np.flatnonzero(self.count[case, column]).tolist()]

    def pooled(self, case: int, column: int) -> tuple[FloatArray, FloatArray]:
        """Return the sorted blocks of a metric in a case, with counts."""
        return merged_blocks(self.sketches(case, column))

    def ranges(self) -> tuple[FloatArray, FloatArray]:
        """Return each metric's minimum and maximum in each case."""
        return self.lowest.min(axis=2, initial=np.inf), self.highest.max(axis=2, initial=-np.inf)

    def scores(self, *, level: float = 0.05, strict: bool = False) -> Scores:
        """Return the three scores of each metric, from node values.

        Monotonicity compares the nodes of neighbouring levels, pooled over replications. There are many of them, so
        that small changes are significant, and the same node is counted in each replication: its tests say less than
        those of replications. Evenness and shared range are on the range of all cases, and of the case where there is
        only one.
        """
        lowest, highest = self.ranges()
        return Scores(
            values=self.values,
            monotonicity=monotonicity_of_tests(
                self._tests(), self.values.rising, cases=len(self.count), level=level, strict=strict
            ),
            evenness=self._evenness(*over_all_cases(lowest, highest)),
            shared_range=share_of_range(lowest, highest),
        )

    def _tests(self) -> NeighbourTests:
        cases, metrics, levels = self.count.shape
        shape = (cases * metrics, levels)
        blocks = self.blocks.reshape(*shape, -1).astype(np.float64)
        count = self.count.reshape(shape)
        weights = np.zeros(blocks.shape)
        kept = (~np.isnan(blocks)).sum(axis=2)
        # As `weights_of` says, for all sketches with as many blocks at once: nearly all have 64.
        for number in np.unique(kept[kept > 0]).tolist():
            which = kept == number
            whole = count[which][:, None]
            ends = np.rint(np.arange(number + 1) * (whole / number))
            ends[:, -1] = whole[:, 0]
            weights[which, :number] = np.diff(ends, axis=1)
        return sketched_tests(count, self.total.reshape(shape), self.squares.reshape(shape), blocks, weights)

    def _evenness(self, lowest: FloatArray, highest: FloatArray) -> FloatArray:
        still = constant(lowest, highest)[0]
        score = np.full(self.count.shape[:2], np.nan)
        for case, column in zip(*np.nonzero(self.count.sum(axis=2)), strict=True):
            score[case, column] = (
                0.0
                if still[column]
                else merged_evenness(self.sketches(case, column), float(lowest[0, column]), float(highest[0, column]))
            )
        return score

    def _sketch(self, case: int, column: int, level: int) -> ValueSketch:
        at = (case, column, level)
        blocks = self.blocks[at]
        return ValueSketch(
            int(self.count[at]),
            float(self.lowest[at]),
            float(self.highest[at]),
            float(self.total[at]),
            float(self.squares[at]),
            blocks[~np.isnan(blocks)],
        )


def _most_blocks(frame: "pl.DataFrame") -> int:
    return int(frame["blocks"].list.len().to_numpy().max())


def _empty(values: ReplicatedMetrics, blocks: int) -> NodeSketches:
    shape = (len(values.cases), len(values.metrics), max(map(len, values.levels)))
    return NodeSketches(
        values=values,
        count=np.zeros(shape, np.int64),
        lowest=np.full(shape, np.inf),
        highest=np.full(shape, -np.inf),
        total=np.zeros(shape),
        squares=np.zeros(shape),
        blocks=np.full((*shape, blocks), np.nan, np.float32),
    )


def _fill(sketches: NodeSketches, frame: "pl.DataFrame", prefix: str) -> None:
    """Fill the study rows of a case, metric, and level."""
    case_of = {case: number for number, case in enumerate(sketches.values.cases)}
    column_of = {prefix + name: number for number, name in enumerate(sketches.values.metrics)}
    level_of = [{level: number for number, level in enumerate(levels)} for levels in sketches.values.levels]
    # The sum is called so in the file.
    arrays = {
        each.name: getattr(sketches, each.name) for each in fields(sketches) if each.name not in ("values", "blocks")
    }
    for row in frame.iter_rows(named=True):
        case = case_of.get(GradedCase(row["data"], row["protect"], row["attack"], row["axis"]))
        column = column_of.get(row["metric"])
        if case is None or column is None or not row["count"]:
            continue
        at = (case, column, level_of[case][row["level"]])
        for name, array in arrays.items():
            array[at] = row["sum" if name == "total" else name]
        sketches.blocks[at][: len(row["blocks"])] = row["blocks"]


# Tests of samples that are known by sums and block means: Welch's test and the rank-sum test.
#
# A sketch of a sample is its count, its sum, the sum of its squares, and the means of runs of equal count of its
# sorted values (blocks). Welch's test needs no more than the first three and is exact. The rank-sum test takes the
# values of a block to lie evenly around its mean, as far as half the way to the nearer of its neighbours. That puts
# its z value off by some 0.04 for 1,000 values, and 0.1 for 5,000, where ties end inside a block.

#: Blocks are stored with seven digits: differences below this share of the largest are rounding.
SAME_BLOCK = 2.5e-7
#: Pairs whose blocks are sorted at once.
_AT_ONCE = 2048
#: Each block becomes so many values, unless a sample is so small that blocks are hardly more than its values. Without
#: them, two equal samples would look as far apart as the chance order of their 64 blocks.
_PARTS = 4
_FEWEST_TO_SPREAD = 256


def sketched_tests(
    count: IntArray, total: FloatArray, squares: FloatArray, blocks: FloatArray, weights: FloatArray
) -> NeighbourTests:
    """Return the tests of neighboring levels at [row, pair], from sketches.

    A level with fewer than two values is passed over, as `neighbour_tests` does. The rank-sum test is by the normal
    distribution, corrected for ties and for continuity.

    Parameters
    ----------
    count, total, squares
        How many values, their sum, and the sum of their squares, at [row, level].
    blocks, weights
        Means of runs of the sorted values, and how many values each stands for, at [row, level, block]; what has no
        weight is not looked at.

    Examples
    --------
    >>> values = np.array([[[1.0, 2, 3, 4], [5, 6, 7, 9]]])
    >>> found = sketched_tests(np.full((1, 2), 4), values.sum(2), (values**2).sum(2), values, np.ones(values.shape))
    >>> found.pairs, found.welch.round(4), found.rank_sum_sign
    (array([1]), array([[0.0085]]), array([[1]]))
    """
    rows, levels = count.shape
    facts = np.full((rows, max(levels - 1, 0), _FACTS), np.nan)
    pairs = np.zeros(rows, np.int64)
    before = np.full(rows, -1)
    for level in range(levels):
        enough = count[:, level] >= 2
        here = np.flatnonzero(enough & (before >= 0))
        for start in range(0, here.size, _AT_ONCE):
            some = here[start : start + _AT_ONCE]
            first, second = (some, before[some]), (some, np.full(some.size, level))
            fact = np.full((some.size, _FACTS), np.nan)
            _welch(fact, *((count[at], total[at], squares[at]) for at in (first, second)))
            _ranks(fact, *((blocks[at], weights[at]) for at in (first, second)))
            facts[some, pairs[some]] = fact
        pairs[here] += 1
        before[enough] = level
    there = np.arange(facts.shape[1]) < pairs[:, None]
    return NeighbourTests(pairs, *_welch_values(facts, there), *_rank_sum_values(facts, there))


def _welch(
    fact: FloatArray,
    first: tuple[IntArray, FloatArray, FloatArray],
    second: tuple[IntArray, FloatArray, FloatArray],
) -> None:
    """Fill in Welch's t (positive if the second is larger) and df."""
    (one, one_error, one_still), (other, other_error, other_still) = _moments(*first), _moments(*second)
    n, m = first[0], second[0]
    near = SAME * np.sqrt(np.maximum(first[2] / n, second[2] / m))
    difference = np.where(np.abs(other - one) <= near, 0.0, other - one)
    error = one_error + other_error
    still = one_still & other_still
    some = np.where(still, 1.0, error)
    away = np.where(difference > 0, np.inf, -np.inf)
    t = np.where(still, away, difference / np.sqrt(some))
    fact[:, _T] = np.where(difference == 0, 0.0, t)
    parts = one_error**2 / (n - 1) + other_error**2 / (m - 1)
    fact[:, _FREEDOM] = np.where(still, 1.0, some**2 / np.where(still, 1.0, parts))


def _moments(count: IntArray, total: FloatArray, squares: FloatArray) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Return mean, squared standard error, and whether spread is rounding."""
    mean = total / count
    # Each sum of n terms may be off by some rounding of its size.
    spread = squares - total * mean
    still = spread <= 1e-13 * squares * np.maximum(1.0, np.log2(count))
    spread = np.where(still, 0.0, spread)
    return mean, spread / (count - 1) / count, still


def _ranks(fact: FloatArray, first: tuple[FloatArray, FloatArray], second: tuple[FloatArray, FloatArray]) -> None:
    """Fill in rank-comparison differences, ties, and sizes."""
    (blocks, weights), (more_blocks, more_weights) = _spread(*first), _spread(*second)
    values = np.concatenate([blocks, more_blocks], axis=1)
    weight = np.zeros((2, *values.shape))
    weight[0, :, : blocks.shape[1]], weight[1, :, blocks.shape[1] :] = weights, more_weights
    there = weight.sum(axis=0) > 0
    values = np.where(there, values, np.inf)
    near = SAME_BLOCK * np.max(np.abs(values), axis=1, initial=0.0, where=there)[:, None]
    order = np.argsort(values, axis=1, kind="stable")
    ordered = np.take_along_axis(values, order, axis=1)
    weight = np.take_along_axis(weight, np.broadcast_to(order, weight.shape), axis=2)
    # What has no weight stands last, as infinity, and joins any group without a change.
    apart = np.diff(np.where(np.isfinite(ordered), ordered, 0.0), axis=1) > near
    group = np.concatenate([np.zeros((len(values), 1), np.int64), np.cumsum(apart, axis=1)], axis=1)
    flat = (group + values.shape[1] * np.arange(len(values))[:, None]).ravel()
    one, other = (np.bincount(flat, each.ravel(), values.size).reshape(values.shape) for each in weight)
    below = np.cumsum(one, axis=1) - one
    above = one.sum(axis=1, keepdims=True) - below - one
    tied = one + other
    fact[:, _LEAD] = np.rint((other * (below - above)).sum(axis=1))
    fact[:, _TIES] = (tied**3 - tied).sum(axis=1)
    fact[:, _FIRST], fact[:, _SECOND] = one.sum(axis=1), other.sum(axis=1)
    fact[:, _EXACT] = np.nan


def _spread(blocks: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return values spread around each block's mean, with weights."""
    values = np.where(weight > 0, blocks, np.inf).astype(np.float64)
    with np.errstate(invalid="ignore"):
        apart = np.diff(values, axis=1)
    # The last block has no neighbour on its right, and the first none on its left: the other one counts.
    inside = np.where(np.isfinite(apart), apart, np.inf)
    edge = np.full((len(values), 1), np.inf)
    room = np.minimum(np.concatenate([edge, inside], axis=1), np.concatenate([inside, edge], axis=1)) / 2
    large = weight.sum(axis=1, keepdims=True) >= _FEWEST_TO_SPREAD
    room = np.where(large & np.isfinite(room), room, 0.0)
    offsets = (2.0 * np.arange(_PARTS) + 1.0) / _PARTS - 1.0
    spread = values[:, :, None] + room[:, :, None] * offsets
    each = np.repeat(weight / _PARTS, _PARTS, axis=1)
    return spread.reshape(len(values), -1), each
