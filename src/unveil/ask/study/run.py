"""The question about a study measured: its results in, findings out."""

import re
from typing import TYPE_CHECKING, Any

from unveil.ask.study.findings import Failures, StudyFindings
from unveil.ask.study.status import spent, times_of
from unveil.study import Results
from unveil.study.store import manifest_of

if TYPE_CHECKING:
    import polars as pl

_NUMBER = re.compile(r"\d+(\.\d+)?")


def run(results: Results, metrics: tuple[str, ...]) -> StudyFindings:
    """Return what a study found so far, of these metrics."""
    import polars as pl

    return StudyFindings(
        study=results.study,
        folder=str(results.folder),
        version=str(manifest_of(results.folder)["version"]),
        counts=results.counts,
        replications=results.frame.height,
        metrics=metrics,
        summary=results.summary().filter(pl.col("metric").is_in(metrics)),
        failures=failures_of(results.errors),
        spent=spent(results.fine, times_of(results)),
        results=results,
    )


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
