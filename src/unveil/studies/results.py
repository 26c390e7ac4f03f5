"""Results of a study: rows, failures, and means with uncertainty."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unveil._figure import figure
from unveil.data.files.source import shown
from unveil.data.files.whole_files import read_unlinked
from unveil.errors import InputError, did_you_mean
from unveil.studies._parts import asks_listed, columns_of
from unveil.studies.nodes import keeps_nodes
from unveil.studies.plan import Study
from unveil.studies.precision import half_width
from unveil.studies.scenario import Scenario
from unveil.studies.store import STUDY, checked_seal, manifest_of, refuse_other_than_file, unreadable
from unveil.studies.stored_results import (
    KEYS,
    NODES,
    RESULTS,
    ResultType,
    StoredRows,
    StoredSketches,
    frame_of,
    frame_of_nodes,
    keys_of,
    read_result,
)
from unveil.studies.summary import COUNTS, StudySummary, is_summary, read_summary, summary_of
from unveil.studies.times import times_in

if TYPE_CHECKING:
    import polars as pl

#: The columns of results that are no metrics.
_NOT_METRICS = (*KEYS, "replication", "release", *COUNTS, "error")


@dataclass(frozen=True, kw_only=True)
class Counts:
    """Numbers of scenarios: computed, failed, damaged, and missing."""

    total: int = figure("Number of scenarios in the study.")
    fine: int = figure("Number of scenarios computed without error.")
    failed: int = figure("Number of scenarios that failed.")
    damaged: int = figure("Number of scenarios with an unreadable file.")
    missing: int = figure("Number of scenarios not computed yet.")

    @property
    def left(self) -> int:
        """Number of scenarios without results, to be computed on resume."""
        return self.total - self.fine


@dataclass(frozen=True, kw_only=True, eq=False)
class Results:
    """All results of a study that are in its folder now.

    Attributes
    ----------
    folder, study
        Where they are (a folder, or the file of a summary), and what was computed.
    scenarios
        All scenarios of the study, computed or not.
    fine, failed, damaged, missing
        The scenarios with results, with an error, with a damaged file, and without a file.
    """

    folder: Path
    study: Study
    scenarios: tuple[Scenario, ...]
    fine: tuple[Scenario, ...]
    failed: tuple[Scenario, ...]
    damaged: tuple[Scenario, ...]
    missing: tuple[Scenario, ...]
    summarized: StudySummary | None = None

    @classmethod
    def read(cls, folder: str | os.PathLike[str]) -> "Results":
        """Return the results in a study folder or summary, after checking it."""
        folder = Path(folder)
        if is_summary(folder):
            return cls._of_summary(folder, read_summary(folder))
        manifest = manifest_of(folder)
        refuse_other_than_file(folder / STUDY)
        study = Study.read(folder / STUDY, check=False)
        version, digests = str(manifest["version"]), manifest["data"]
        if study.identity(version=version) != manifest["identity"]:
            raise InputError(
                f"the file {STUDY} in {str(folder)!r} was changed after the study began. Restore it, or "
                "start the study in another folder"
            )
        scenarios = study.scenarios(version=version)
        found: dict[str, list[Scenario]] = {"fine": [], "failed": [], "damaged": [], "missing": []}
        for scenario in scenarios:
            path = folder / RESULTS / scenario.file_name
            if not _is_there(path, folder):
                found["missing"].append(scenario)
                continue
            digest = digests.get(scenario.data.name, "")
            seal = checked_seal(path, scenario, digest)
            nodes = folder / NODES / scenario.file_name
            if keeps_nodes(study) and _is_there(nodes, folder) and checked_seal(nodes, scenario, digest) is None:
                seal = None
            found["damaged" if seal is None else seal.state].append(scenario)
        states: dict[str, Any] = {key: tuple(each) for key, each in found.items()}
        return cls(folder=folder, study=study, scenarios=scenarios, **states)

    @classmethod
    def _of_summary(cls, path: Path, summary: StudySummary) -> "Results":
        scenarios = summary.study.scenarios(version=str(summary.manifest["version"]))
        fine = tuple(each for each in scenarios if each.file_name in summary.fine)
        failed = tuple(each for each in scenarios if each.file_name in summary.errors)
        there = {each.file_name for each in (*fine, *failed)}
        missing = tuple(each for each in scenarios if each.file_name not in there)
        return cls(
            folder=path,
            study=summary.study,
            scenarios=scenarios,
            fine=fine,
            failed=failed,
            damaged=(),
            missing=missing,
            summarized=summary,
        )

    def to_summary(self, *, nodes: bool = True) -> bytes:
        """Return a small file of all results; see `unveil.studies.summary`.

        Values of nodes are left out unless ``nodes``. A damaged file counts as missing from then on.
        """
        return summary_of(
            self.study,
            manifest_of(self.folder),
            self.scenarios,
            fine=self.fine,
            columns=self.metrics,
            frame=self.frame,
            nodes=self.nodes if nodes else self.nodes.clear(),
            seconds=self.seconds,
            errors=dict(zip((each.file_name for each in self.failed), self.errors["error"], strict=True)),
        )

    @property
    def counts(self) -> Counts:
        """Numbers of computed, failed, damaged, and missing scenarios."""
        return Counts(
            total=len(self.scenarios),
            fine=len(self.fine),
            failed=len(self.failed),
            damaged=len(self.damaged),
            missing=len(self.missing),
        )

    @cached_property
    def metrics(self) -> tuple[str, ...]:
        """Metric names in column order; calibrated ones start with ``calibrated.``.

        What a user's class measures is told by the files: reading them must not run its code.
        """
        if self.study.kind != "release" or asks_listed(self.study):
            return columns_of(self.study)
        if self.summarized is not None:
            stored = self.summarized.frame.columns
        else:
            one = (*self.fine, *self.failed)[:1]
            stored = list(self._read(RESULTS, one[0], StoredRows).metrics) if one else []
        return tuple(dict.fromkeys(name for name in stored if name not in _NOT_METRICS))

    @cached_property
    def frame(self) -> "pl.DataFrame":
        """Data frame with one row per replication and one column per metric."""
        if self.summarized is not None:
            return self.summarized.frame
        stored = [self._read(RESULTS, each, StoredRows) for each in self.fine]
        wrong = next((each for each, rows in zip(self.fine, stored, strict=True) if rows.metrics != self.metrics), None)
        if wrong is not None:
            raise self._unreadable(RESULTS, wrong)
        return frame_of(self.fine, self.metrics, stored)

    @cached_property
    def errors(self) -> "pl.DataFrame":
        """Data frame with one row per failed scenario."""
        import polars as pl

        if self.summarized is None:
            said = [self._read(RESULTS, each, StoredRows).error for each in self.failed]
        else:
            said = [self.summarized.errors[each.file_name] for each in self.failed]
        return keys_of(self.failed, [1] * len(said)).with_columns(pl.Series("error", said, pl.String))

    @cached_property
    def nodes(self) -> "pl.DataFrame":
        """Data frame of pooled node values by scenario and metric.

        After the scenario come ``metric``, ``count``, ``lowest``, ``highest``, ``sum``, ``squares`` and ``blocks``: see
        :class:`unveil._kernels.sketches.ValueSketch`. No row where a study kept none.
        """
        if self.summarized is not None:
            return self.summarized.nodes
        folder = self.folder / NODES
        there = [each for each in self.fine if keeps_nodes(self.study) and (folder / each.file_name).is_file()]
        return frame_of_nodes(there, [self._read(NODES, each, StoredSketches) for each in there])

    @cached_property
    def seconds(self) -> Mapping[str, float]:
        """CPU seconds of the scenarios with results, by data set; without those whose time was not kept."""
        if self.summarized is not None:
            return self.summarized.seconds
        taken = times_in(self.folder, (each.file_name for each in self.fine))
        found: dict[str, float] = {}
        for each in self.fine:
            if each.file_name in taken:
                found[each.data.name] = found.get(each.data.name, 0.0) + taken[each.file_name].seconds
        return found

    def values(self, metric: str) -> "pl.DataFrame":
        """Return every value of one metric: the scenario, the replication, and ``value``."""
        if metric not in self.metrics:
            raise InputError(
                f"the study has no metric {metric!r}.{did_you_mean(metric, self.metrics)} It has "
                f"{', '.join(self.metrics)}"
            )
        import polars as pl

        return self.frame.select(*KEYS, "replication", pl.col(metric).alias("value"))

    def summary(self) -> "pl.DataFrame":
        """Return one row per scenario and metric, in the order of the study.

        ``replications`` counts the values there are and ``undefined`` those there are not; ``mean``,
        ``standard_error``, and the 95 % interval of the mean from ``low`` to ``high`` (Student's distribution, null for
        fewer than two values). ``relative_error`` is half the width of that interval as a share of the mean.
        """
        import polars as pl

        groups = self.frame.lazy().group_by(*KEYS, maintain_order=True)
        wide = groups.agg(
            pl.len().alias("rows"),
            *(pl.col(name).count().alias(f"{name} count") for name in self.metrics),
            *(pl.col(name).mean().alias(f"{name} mean") for name in self.metrics),
            *(pl.col(name).std().alias(f"{name} deviation") for name in self.metrics),
        ).collect()
        wide = wide.with_row_index("scenario")
        parts = [
            wide.select(
                "scenario",
                *KEYS,
                "rows",
                pl.lit(name).alias("metric"),
                pl.lit(place).alias("place"),
                *(pl.col(f"{name} {what}").alias(what) for what in ("count", "mean", "deviation")),
            )
            for place, name in enumerate(self.metrics)
        ]
        return _with_intervals(pl.concat(parts).sort("scenario", "place"))

    def _read(self, part: str, scenario: Scenario, kind: type[ResultType]) -> ResultType:
        try:
            return read_result(read_unlinked(self.folder / part / scenario.file_name), kind)
        except (OSError, ValueError) as error:
            raise self._unreadable(part, scenario) from error

    def _unreadable(self, part: str, scenario: Scenario) -> InputError:
        return InputError(
            f"the file {scenario.file_name} in {shown(self.folder / part)} must hold results of this study, but was "
            "written by something else. Remove it, and resume the study"
        )


def _is_there(path: Path, folder: Path) -> bool:
    try:
        path.lstat()
    except PermissionError as error:
        raise unreadable(folder) from error
    except OSError:
        return False
    return True


def _with_intervals(parts: "pl.DataFrame") -> "pl.DataFrame":
    import polars as pl

    width = half_width(parts["deviation"].fill_null(float("nan")).to_numpy(), parts["count"].to_numpy())
    mean, half = pl.col("mean"), pl.col("half")
    with_width = parts.with_columns(pl.Series("half", width, pl.Float64).fill_nan(None))
    return with_width.select(
        *KEYS,
        "metric",
        pl.col("count").alias("replications"),
        (pl.col("rows") - pl.col("count")).alias("undefined"),
        "mean",
        (pl.col("deviation") / pl.col("count").sqrt()).alias("standard_error"),
        (mean - half).alias("low"),
        (mean + half).alias("high"),
        pl.when(half == 0).then(0.0).otherwise(half / mean.abs()).alias("relative_error"),
    )
