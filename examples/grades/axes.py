"""Values of the replication by axis of strength, by convention and by number of replications; intervals over graphs."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import nan
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import stdtrit

from unveil.grades.replicated_metrics import GradedCase, ReplicatedMetrics
from unveil.studies import Results
from unveil.studies.summary import StudySummary

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]

#: The axes of the attacker's strength, and what they are called.
AXES = {"overlap": "overlap", "seed_pairs": "seed pairs"}
#: The case that the paper has no results for: UMGA failed there.
EXTRA = ("manufacturing", "umga")


class Found(NamedTuple):
    """A figure with its 95 % interval."""

    value: float
    low: float
    high: float

    def text(self, form: str = ".3f", scale: float = 1.0) -> str:
        """Return the figure and its interval in a format.

        >>> Found(0.5, 0.4, 0.625).text(), Found(0.5, float("nan"), float("nan")).text(".0f", 100)
        ('0.500 (0.400 to 0.625)', '50')
        """
        value, low, high = (format(each * scale, form) for each in self)
        return value if np.isnan(self.low) else f"{value} ({low} to {high})"

    def __str__(self) -> str:
        """Return it with three decimals."""
        return self.text()


def over_graphs(figure: Callable[[Rows], float], cases: Sequence[GradedCase]) -> Found:
    """Return a figure of cases with an interval that stands for other graphs (jackknife, Student's distribution).

    Each graph is left out once, since attacks on one graph go up and down together. NaN ends for fewer than two graphs.

    >>> cases = [GradedCase(name, "switch", "NS", "overlap") for name in ("mail", "web", "mail", "web")]
    >>> str(over_graphs(lambda rows: float(np.array([0.1, 0.3, 0.2, 0.4])[rows].mean()), cases))
    '0.250 (-1.021 to 1.521)'
    """
    _, graph = np.unique([case.data for case in cases], return_inverse=True)
    value = figure(np.arange(len(cases)))
    number = int(graph.max(initial=-1)) + 1
    if number < 2:
        return Found(value, nan, nan)
    without = np.array([figure(np.flatnonzero(graph != each)) for each in range(number)])
    error = np.sqrt((number - 1) / number * ((without - without.mean()) ** 2).sum())
    half = float(stdtrit(number - 1, 0.975) * error)
    return Found(value, value - half, value + half)


def mean_over_graphs(column: Floats, cases: Sequence[GradedCase]) -> Found:
    """Return the mean of one number per case, NaN being left out."""

    def mean(rows: Rows) -> float:
        there = column[rows][~np.isnan(column[rows])]
        return float(there.mean()) if there.size else nan

    return over_graphs(mean, cases)


def is_extra(case: GradedCase) -> bool:
    """Return whether the paper has no result for a case.

    >>> is_extra(GradedCase("manufacturing", "umga:k=5", "NS", "overlap"))
    True
    """
    return (case.data, case.protect.partition(":")[0]) == EXTRA


def complete(values: ReplicatedMetrics) -> ReplicatedMetrics:
    """Return the cases that have results at all levels; a study that still runs has others."""
    there: NDArray[np.bool_] = values.replications.max(axis=1, initial=0) > 0
    whole = [there[row, : len(levels)].all() for row, levels in enumerate(values.levels)]
    return values.only(cases=np.array(whole, bool))


def by_axis(values: ReplicatedMetrics) -> dict[str, Rows]:
    """Return the numbers of the cases of each axis."""
    axis = np.array([case.axis for case in values.cases])
    return {name: np.flatnonzero(axis == name) for name in AXES if (axis == name).any()}


def first(values: ReplicatedMetrics, number: int) -> ReplicatedMetrics:
    """Return the values of the first replications only."""
    return replace(values, values=values.values[..., :number])


def seeds_counted(results: Results) -> Results:
    """Return the results with seed pairs among the targets and among the finds, as the paper's public code has them.

    Metrics that count then include the seeds: of c finds among t attempted and n targets, with s seeds, c + s are
    found, the success rate is (c + s) / (t + s), the overall success (c + s) / (n + s). Hidden and innocent nodes stay
    the same, since seeds are neither.
    """
    frame = results.frame
    fixed = results.study.fixed_levels().get("seed_pairs", 0.0)
    seeds = pl.when(pl.col("axis") == "seed_pairs").then(pl.col("level")).otherwise(fixed)
    overall = pl.col("adversary_overall_success")
    # The attacker knows all nodes and part of the edges, so that targets and seeds are the nodes of the graph.
    nodes = (pl.col("correct") / overall + seeds).filter(overall > 0).median().over("data").round()
    changed = {
        "amount_of_leaked_information": pl.col("correct") + seeds,
        "adversary_success_rate": (pl.col("correct") + seeds) / (pl.col("attempted") + seeds),
        "adversary_overall_success": (pl.col("correct") + seeds) / nodes,
        "incorrectly_classified": pl.col("incorrectly_classified") * (nodes - seeds) / nodes,
    }
    new = [expression.alias(name) for name, expression in changed.items() if name in results.metrics]
    summary = StudySummary(
        study=results.study,
        manifest={},
        fine=frozenset(each.file_name for each in results.fine),
        errors={},
        frame=frame.with_columns(new),
        nodes=results.nodes,
        seconds=results.seconds,
    )
    return replace(results, summarized=summary)
