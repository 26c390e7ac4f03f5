"""The three scores of each metric, by case and over all cases."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.grades.evenness import evenness, shared_range
from unveil.grades.monotonicity import Monotonicity, monotonicity
from unveil.grades.replicated_metrics import ReplicatedMetrics
from unveil.grades.verdict import MetricGrade, groups_of, summarize

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, kw_only=True, eq=False)
class Scores:
    """Scores of each metric or suite, with their means over targets."""

    values: ReplicatedMetrics
    monotonicity: Monotonicity
    evenness: FloatArray
    shared_range: FloatArray

    @classmethod
    def of(cls, values: ReplicatedMetrics, *, level: float = 0.05, strict: bool = False) -> "Scores":
        """Return the three scores of each metric in each case."""
        return cls(
            values=values,
            monotonicity=monotonicity(values, level=level, strict=strict),
            evenness=evenness(values),
            shared_range=shared_range(values),
        )

    def with_columns(self, other: "Scores") -> "Scores":
        """Return the scores with some metrics replaced by another reading."""
        columns = np.array([self.values.metrics.index(name) for name in other.values.metrics], np.int64)
        return Scores(
            values=self.values,
            monotonicity=Monotonicity(
                **{
                    name: _exchanged(getattr(self.monotonicity, name), getattr(other.monotonicity, name), columns)
                    for name in Monotonicity.__dataclass_fields__
                }
            ),
            evenness=_exchanged(self.evenness, other.evenness, columns),
            shared_range=_exchanged(self.shared_range, other.shared_range, columns),
        )

    def frame(self, what: str) -> "pl.DataFrame":
        """Return one row per case and metric, with scores and tests."""
        import polars as pl

        values, found = self.values, self.monotonicity
        cases, metrics = len(values.cases), len(values.metrics)
        row, column = np.repeat(np.arange(cases), metrics), np.tile(np.arange(metrics), cases)
        # Counted once: that looks at each value.
        levels = (values.replications > 0).sum(axis=2)
        parts = {
            name: [getattr(values.cases[case], name) for case in row] for name in ("data", "protect", "attack", "axis")
        }
        tests = {name: getattr(found, name) for name in ("significant", "tests", "right", "wrong", "turns")}
        arrays = {"monotonicity": found.score, **tests, "evenness": self.evenness, "shared_range": self.shared_range}
        return pl.DataFrame(
            {
                **parts,
                what: [values.metrics[at] for at in column],
                "levels": levels.ravel(),
                **{name: array.ravel() for name, array in arrays.items()},
            }
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Reading:
    """Scores of metrics by case, and their grades, best first."""

    scores: Scores = field(repr=False)
    metrics: tuple[MetricGrade, ...]

    @classmethod
    def of(cls, scores: Scores) -> "Reading":
        """Return the scores with the grades of each metric, best first."""
        groups = groups_of(scores.values.cases)
        return cls(scores=scores, metrics=tuple(sorted(_metric_grades(scores, groups), key=best_first)))

    def metric(self, name: str) -> MetricGrade | None:
        """Return the grades of one metric, or None."""
        return next((each for each in self.metrics if each.metric == name), None)


def _exchanged(own: NDArray[Any], other: NDArray[Any], columns: IntArray) -> NDArray[Any]:
    found = own.copy()
    found[:, columns] = other
    return found


def _metric_grades(scores: Scores, groups: IntArray) -> Iterable[MetricGrade]:
    found = scores.monotonicity
    tested = ~np.isnan(found.score)
    against = (found.wrong + found.turns) > 0
    axis = np.array([case.axis for case in scores.values.cases])
    axes = {name: axis == name for name in dict.fromkeys(axis.tolist())}
    for column, name in enumerate(scores.values.metrics):
        yield MetricGrade(
            metric=name,
            monotonicity=summarize(found.score[:, column], groups),
            evenness=summarize(scores.evenness[:, column], groups),
            shared_range=summarize(scores.shared_range[:, column], groups),
            undecided=_share(found.undecided[:, column], tested[:, column]),
            against=_share(against[:, column], tested[:, column]),
            by_axis={name: summarize(found.score[rows, column], groups[rows]) for name, rows in axes.items()},
        )


def _share(which: BoolArray, among: BoolArray) -> float:
    return float(which[among].mean()) if among.any() else float("nan")


def best_first(each: MetricGrade) -> tuple[float, float]:
    """Sort by mean monotonicity, then by most cases with significant tests."""
    return falling(each.monotonicity.mean), np.nan_to_num(each.undecided, nan=2.0)


def falling(value: float) -> float:
    """Return what sorts high numbers first and undefined ones last."""
    return float("inf") if np.isnan(value) else -value
