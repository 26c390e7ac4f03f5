"""The values of single nodes that a study kept as sketches, graded: which part of its range does a metric use?

Zhao and Wagner compare "privacy levels of different nodes within the same graph", while a replication leaves one mean
per metric. Both readings are graded; metrics of a whole release have means only.
"""

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.sketched_tests import sketched_tests
from unveil._kernels.sketches import ValueSketch, merged_blocks, merged_evenness
from unveil._kernels.two_samples import NeighbourTests
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
        """Return the sketches of the metrics of ``values`` that have some; None where no study kept any."""
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
        """Which cases have values of nodes."""
        return np.asarray(self.count.sum(axis=(1, 2)) > 0)

    def sketches(self, case: int, column: int) -> list[ValueSketch]:
        """Return the sketches of the levels of a metric in a case that have values."""
        return [self._sketch(case, column, level) for level in np.flatnonzero(self.count[case, column]).tolist()]

    def pooled(self, case: int, column: int) -> tuple[FloatArray, FloatArray]:
        """Return the blocks of all levels of a metric in a case in order, and how many values each stands for."""
        return merged_blocks(self.sketches(case, column))

    def ranges(self) -> tuple[FloatArray, FloatArray]:
        """Return the lowest and the highest value of each metric in each case; infinity and its opposite without."""
        return self.lowest.min(axis=2, initial=np.inf), self.highest.max(axis=2, initial=-np.inf)

    def scores(self, *, level: float = 0.05, strict: bool = False) -> Scores:
        """Return the three scores of each metric in each case, of the values of nodes of all its levels.

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
    """Write the rows of a study that belong to a case, a metric and a level."""
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
