"""The question about a study measured: its results in, findings out."""

import re
from dataclasses import replace
from itertools import product
from math import hypot, isnan, nan
from typing import TYPE_CHECKING, Any

from unveil.questions.study.findings import Effect, Failures, StudyFindings
from unveil.questions.study.status import spent, times_of
from unveil.studies import Results
from unveil.studies.store import manifest_of

if TYPE_CHECKING:
    import polars as pl

#: The share of all targets that is found.
OVERALL = "adversary_overall_success"
_NUMBER = re.compile(r"\d+(\.\d+)?")


def run(results: Results, metrics: tuple[str, ...]) -> StudyFindings:
    """Return what a study found so far, of these metrics."""
    import polars as pl

    found = StudyFindings(
        study=results.study,
        folder=str(results.folder),
        version=str(manifest_of(results.folder)["version"]),
        counts=results.counts,
        replications=results.frame.height,
        metrics=metrics,
        summary=results.summary().filter(pl.col("metric").is_in(metrics)),
        failures=failures_of(results.errors),
        spent=spent(results.fine, times_of(results)),
        is_summary=results.summarized is not None,
        results=results,
    )
    return replace(found, effects=effects_of(found), targets=targets_of(results))


def effects_of(findings: StudyFindings) -> tuple[Effect, ...]:
    """Return the first metric at the highest level of the first axis, by protection and attack.

    Over several data sets it is the mean of their means; only data sets that have one are counted.
    """
    study, axis = findings.study, findings.study.axes[0]
    means = findings.means(findings.metrics[0], axis.name)
    effects = []
    for protect, attack in product(study.protections, study.attacks):
        keys = [(data.name, protect, attack, axis.levels[-1]) for data in study.data]
        known = [means[key] for key in keys if key in means and not isnan(means[key][0])]
        number = len(known)
        mean = sum(mean for mean, _ in known) / number if number else nan
        half = hypot(*(half for _, half in known)) / number if number else nan
        effects.append(Effect(protect=protect, attack=attack, mean=mean, half=half))
    return tuple(effects)


def targets_of(results: Results) -> tuple[int, int] | None:
    """Return the range of target numbers for the strongest attacker.

    Files have no such number, but how many were found, and which share of all that is. None where nobody was found, or
    where that share is not among the metrics.
    """
    import polars as pl

    axis = results.study.axes[0]
    if OVERALL not in results.metrics:
        return None
    strongest = results.frame.filter(
        pl.col("axis") == axis.name, pl.col("level") == axis.levels[-1], pl.col(OVERALL) > 0
    )
    # The replication that found most says it best, where numbers have few digits.
    best = strongest.sort("correct", maintain_order=True).group_by("data", "protect", "attack", "release").last()
    found = best.select((pl.col("correct") / pl.col(OVERALL)).round().cast(pl.Int64).alias("targets"))["targets"]
    return None if found.is_empty() else (found.min(), found.max())  # type: ignore[return-value]


def failures_of(errors: "pl.DataFrame") -> tuple[Failures, ...]:
    """Return failed scenarios by type of error, frequent ones first."""
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
