"""The metric values to grade: by case, attacker strength and replication."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from unveil._figure import figure
from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.errors import InputError
from unveil.metrics import METRICS

if TYPE_CHECKING:  # whoever only wants the grades that come with unveil need not load all that studies need
    import polars as pl

    from unveil.studies import Results, Scenario


@dataclass(frozen=True)
class GradedCase:
    """Attack on a protected data set along one strength axis."""

    JSON_DEFINITION: ClassVar = "case"
    data: str = figure("Name of the data set in the study.")
    protect: str = figure("Protection, as written in commands.")
    attack: str = figure("Attack, as written in commands.")
    axis: str = figure("Axis of attacker strength.")

    def __iter__(self) -> Iterator[str]:
        return iter((self.data, self.protect, self.attack, self.axis))

    def __str__(self) -> str:
        """Return the case as people write it.

        >>> str(GradedCase("mail", "k-degree:k=5", "NS", "overlap"))
        'mail, k-degree:k=5, NS, by overlap'
        """
        return f"{self.data}, {self.protect}, {self.attack}, by {self.axis}"


@dataclass(frozen=True, kw_only=True, eq=False)
class ReplicatedMetrics:
    """Metrics by case, level (weakest attacker first) and replication.

    Attributes
    ----------
    cases, metrics
        What the first two axes of ``values`` are.
    levels
        The strengths of each case's attackers, increasing. Cases may have different numbers of levels.
    values
        One number per case, metric, level and replication; NaN where it is undefined or was not computed.
    rising
        Per metric, whether it should rise as the attacker grows stronger: whether more of it means less private.
    """

    cases: tuple[GradedCase, ...]
    metrics: tuple[str, ...]
    levels: tuple[tuple[float, ...], ...]
    values: FloatArray
    rising: BoolArray

    def __post_init__(self) -> None:
        shape = (len(self.cases), len(self.metrics), max(map(len, self.levels), default=0))
        if self.values.ndim != 4 or self.values.shape[:3] != shape or self.rising.shape != (len(self.metrics),):
            raise InputError(
                f"values of {shape[0]} cases, {shape[1]} metrics and {shape[2]} levels must be an array of that shape, "
                f"with replications as its last axis, but the shape is {self.values.shape}. Pass one number for each"
            )
        values = self.values.view()
        values.flags.writeable = False
        object.__setattr__(self, "values", values)

    @classmethod
    def of(cls, *studies: "Results", calibrated: bool = False) -> "ReplicatedMetrics":
        """Return the results of studies, with their common metrics.

        A level that was not computed, or failed, is NaN throughout; a case without any result is left out. With
        ``calibrated`` they are those of the calibrated adversary, under the same names; the studies must have them.
        """
        if not studies:
            raise InputError("there must be at least one study to grade, but there is none. Pass the folder of one")
        given = next((each.study.name for each in studies if each.study.kind == "release"), None)
        if given is not None:
            raise InputError(
                f"metrics are graded by attackers of growing strength, but the study {given!r} is of given "
                "releases and has none. See how its results order releases with 'unveil study report'"
            )
        from unveil.studies._parts import CALIBRATED

        prefix = CALIBRATED if calibrated else ""
        have = [[name for name in each.metrics if name.startswith(CALIBRATED) == calibrated] for each in studies]
        metrics = tuple(name.removeprefix(prefix) for name in have[0] if all(name in each for each in have))
        if not metrics:
            raise InputError("the studies must have a metric in common, but have none. Grade them one by one")
        parts = [_cases(each, metrics, prefix) for each in studies]
        cases = tuple(case for found, _, _ in parts for case in found)
        twice = next((case for case, number in Counter(cases).items() if number > 1), None)
        if twice is not None:
            raise InputError(
                "each case must be in one study only, but two studies have the same data set, protection, attack and "
                f"axis ({twice}). Pass one of them, or give the data sets different names"
            )
        if not cases:
            raise InputError(
                "a study must have results before its metrics can be graded, but none of its scenarios has any. "
                "List missing scenarios with 'unveil study status'"
            )
        most = [max(part[2].shape[axis] for part in parts) for axis in (2, 3)]
        values = np.full((len(cases), len(metrics), *most), np.nan)
        row = 0
        for found, _, part in parts:
            values[row : row + len(found), :, : part.shape[2], : part.shape[3]] = part
            row += len(found)
        levels = tuple(each for _, found, _ in parts for each in found)
        rising = np.array([METRICS[name].more_means == "less private" for name in metrics])
        return cls(cases=cases, metrics=metrics, levels=levels, values=values, rising=rising)

    @cached_property
    def means(self) -> FloatArray:
        """Mean over replications by case, metric, and level; NaN if undefined."""
        there = ~np.isnan(self.values)
        number = there.sum(axis=3)
        total = np.where(there, self.values, 0.0).sum(axis=3)
        found: FloatArray = np.divide(total, number, out=np.full(number.shape, np.nan), where=number > 0)
        return found

    @property
    def replications(self) -> IntArray:
        """The number of replications that have a value, per case, metric and level."""
        found: IntArray = (~np.isnan(self.values)).sum(axis=3)
        return found

    def only(self, *, cases: NDArray[Any] | None = None, metrics: Sequence[str] | None = None) -> "ReplicatedMetrics":
        """Return some cases (numbers or mask) and some metrics (names)."""
        rows = np.arange(len(self.cases)) if cases is None else np.arange(len(self.cases))[cases]
        names = self.metrics if metrics is None else tuple(metrics)
        columns = np.array([self.metrics.index(name) for name in names], np.int64)
        levels = tuple(self.levels[row] for row in rows)
        most = max(map(len, levels), default=0)
        return ReplicatedMetrics(
            cases=tuple(self.cases[row] for row in rows),
            metrics=names,
            levels=levels,
            values=self.values[np.ix_(rows, columns)][:, :, :most],
            rising=self.rising[columns],
        )


def is_calibrated(study: "Results") -> bool:
    """Return whether a study also measured calibrated probabilities."""
    from unveil.studies._parts import CALIBRATED

    return any(name.startswith(CALIBRATED) for name in study.metrics)


def _cases(
    study: "Results", metrics: tuple[str, ...], prefix: str
) -> tuple[list[GradedCase], list[tuple[float, ...]], FloatArray]:
    """Return the cases of a study that have results, their levels, and their values."""
    levels = {axis.name: axis.levels for axis in study.study.axes}
    fine = [(GradedCase(each.data.name, each.protect, each.attack, each.axis), each.level) for each in study.fine]
    with_results = {case for case, _ in fine}
    every = dict.fromkeys(GradedCase(each.data.name, each.protect, each.attack, each.axis) for each in study.scenarios)
    cases = [case for case in every if case in with_results]
    number = {case: row for row, case in enumerate(cases)}
    most = max(map(len, levels.values()))
    first = [(number[case] * len(metrics) * most + levels[case.axis].index(level)) for case, level in fine]
    frame = study.frame
    replications = int(_largest(frame["replication"])) + 1 if frame.height else 0
    values = np.full((len(cases), len(metrics), most, replications), np.nan)
    if frame.height:
        # Where the first metric of a row goes; the others follow at the same distance. Rows of a scenario stand
        # together, so that a column is written nearly in order.
        place = _joined(frame, study.fine, first) * replications
        place += frame["replication"].to_numpy().astype(np.int64)
        flat = values.reshape(-1)
        for name in metrics:
            flat[place] = frame[prefix + name].to_numpy()
            place += most * replications
    return cases, [levels[case.axis] for case in cases], values


def _joined(frame: "pl.DataFrame", scenarios: "Sequence[Scenario]", numbers: list[int]) -> IntArray:
    """Return for each row of results the number that belongs to its scenario."""
    import polars as pl

    from unveil.studies.stored_results import KEYS, keys_of

    known = keys_of(scenarios, [1] * len(numbers)).with_columns(pl.Series("number", numbers, pl.Int64))
    found = frame.select(KEYS).join(known, on=KEYS, how="left", maintain_order="left")
    return found["number"].to_numpy().copy()


def _largest(numbers: "pl.Series") -> Any:
    return numbers.max()
