"""What did a study find: how far do attacks get, as adversaries know more?"""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from unveil.ask.study.findings import Failures, StudyFindings, usual_metrics
from unveil.ask.study.status import spent, times_of
from unveil.errors import InputError, did_you_mean
from unveil.study import Results
from unveil.study.store import manifest_of

if TYPE_CHECKING:
    import polars as pl

    from unveil.show.blocks import Page

SCHEMA = "unveil.study/1"
#: Asks for every metric of the study.
ALL = "all"

_NUMBER = re.compile(r"\d+(\.\d+)?")


@dataclass(frozen=True, kw_only=True, eq=False)
class StudyAnswer:
    """The results of a study: counts, means with intervals, failures; as JSON, as a page and as a picture.

    ``found`` holds all figures; ``results`` reads every replication, for whoever wants more than means.
    """

    found: StudyFindings
    results: Results = field(repr=False)

    def page(self) -> "Page":
        """Return the report as data: what the page shows."""
        from unveil.ask.study.view import page

        return page(self.found, folder=str(self.results.folder))

    def to_html(self) -> str:
        """Return the report as one HTML page that needs no network."""
        from unveil.show.page import render

        return render(self.page())

    def to_json(self) -> str:
        """Return the answer as JSON, with the mean and interval of each scenario and metric; undefined is null."""
        from unveil.show.machine import dumps

        found = self.found
        return dumps(
            {
                "schema": SCHEMA,
                "version": found.version,
                "study": _told(found),
                "scenarios": dict(vars(found.counts)),
                "replications": found.replications,
                "failures": [dict(vars(each)) for each in found.failures],
                "seconds": found.seconds,
                "spent": [dict(vars(each)) for each in found.spent],
                "metrics": list(found.metrics),
                "summary": found.summary,
            }
        )

    def plot(self) -> NDArray[Any]:
        """Return matplotlib axes, side by side: the first metric by strength, for the first few protections."""
        from unveil.ask.study.charts import strength_charts
        from unveil.show.draw.lines import draw_all

        charts, _ = strength_charts(self.found, most=4)
        if not charts:
            raise InputError("there is nothing to draw: no axis of the study has results at two levels. Run it first")
        return draw_all(charts)


def study_report(folder: str | os.PathLike[str], *, metrics: Sequence[str] = ()) -> StudyAnswer:
    """Return what the study in a folder found so far.

    Parameters
    ----------
    folder
        Where its results are; it may still be running.
    metrics
        Which metrics to show, the first of them also drawn; "all" for every one of the study. By default overall
        success, success rate and entropy, as far as the study has them.

    Raises
    ------
    InputError
        If the folder holds no study, or the study no such metric.
    """
    import polars as pl

    results = Results.read(folder)
    chosen = _chosen(results, metrics)
    found = StudyFindings(
        study=results.study,
        version=str(manifest_of(results.folder)["version"]),
        counts=results.counts,
        replications=results.frame.height,
        metrics=chosen,
        summary=results.summary().filter(pl.col("metric").is_in(chosen)),
        failures=failures_of(results.errors),
        spent=spent(results.fine, times_of(results)),
    )
    return StudyAnswer(found=found, results=results)


def failures_of(errors: "pl.DataFrame") -> tuple[Failures, ...]:
    """Return failed scenarios by kind: sentences that differ in numbers only are of one kind. Frequent ones first."""
    kinds: dict[str, list[dict[str, Any]]] = {}
    for row in errors.iter_rows(named=True):
        kinds.setdefault(_NUMBER.sub("#", row["error"]), []).append(row)
    found = [
        Failures(
            error=rows[0]["error"],
            scenarios=len(rows),
            data=tuple(dict.fromkeys(row["data"] for row in rows)),
            protections=tuple(dict.fromkeys(row["protect"] for row in rows)),
            attacks=tuple(dict.fromkeys(row["attack"] for row in rows)),
        )
        for rows in kinds.values()
    ]
    return tuple(sorted(found, key=lambda each: -each.scenarios))


def _chosen(results: Results, wanted: Sequence[str]) -> tuple[str, ...]:
    if ALL in wanted:
        return tuple(dict.fromkeys([*(name for name in wanted if name != ALL), *results.metrics]))
    for name in wanted:
        if name not in results.metrics:
            hint = did_you_mean(name, results.metrics) or f" It has {', '.join(results.metrics)}."
            raise InputError(f"the study has no metric {name!r}.{hint} Correct it or leave it out")
    return tuple(dict.fromkeys(wanted)) or usual_metrics(results.metrics)


def _told(found: StudyFindings) -> dict[str, Any]:
    """Return what the study is, without where its data lie."""
    study = found.study
    return {
        "name": study.name,
        "seed": study.seed,
        "kind": study.kind,
        "data": [each.name for each in study.data],
        "protections": list(study.protections),
        "attacks": list(study.attacks),
        "axes": {axis.name: list(axis.levels) for axis in study.axes},
        "fixed": study.fixed_levels(),
        "releases": study.releases,
        "replications": dict(vars(study.replications)),
    }
