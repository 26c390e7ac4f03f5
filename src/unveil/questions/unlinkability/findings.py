"""What was found about a partition, as data."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from math import nan
from typing import TYPE_CHECKING, Any

import numpy as np

from unveil._figure import NOTES, column_names, derived, figure, figure_at, row_of
from unveil._kernels.types import FloatArray, IntArray
from unveil.errors import InputError
from unveil.metrics import (
    CrowdGraphs,
    FigureSpread,
    Forecast,
    PartitionDistances,
    PolicyGrid,
    Reference,
    Unlinkability,
    ViewRanges,
)
from unveil.metrics.partitions.unlinkability import LINKED, MIXED

if TYPE_CHECKING:
    import polars as pl

SUBJECT = "The name of the subject, as the file has it."


@dataclass(frozen=True, kw_only=True)
class SubjectRow:
    """The columns of the table of subjects; the ranges where the guess is a view."""

    subject: str | int = figure(SUBJECT)
    now: Mapping[str, Any] = figure(inline=True, row=Unlinkability)
    ranges: Mapping[str, Any] | None = figure(inline=True, row=ViewRanges)


@dataclass(frozen=True, kw_only=True, eq=False)
class ShownSubject:
    """Everything about the subject that is shown, with its graphs."""

    subject: str | int = figure(SUBJECT)
    linked: FloatArray = figure(LINKED)
    mixed: FloatArray = figure(MIXED)
    now: Mapping[str, Any] = figure(inline=True, row=Unlinkability)
    others_after: FloatArray | None = figure(
        "Number of other subjects in the cluster after 0, 1, … merges.", optional=True
    )
    effective_others_after: FloatArray | None = figure("The same number, weighted by evenness.", optional=True)
    ranges: Mapping[str, Any] | None = figure(inline=True, row=ViewRanges)
    forecast: Mapping[str, Any] = figure("Forecast of the subject.", row=Forecast)


@dataclass(frozen=True, kw_only=True, eq=False)
class PartitionFindings:
    """How well each subject is hidden.

    Attributes
    ----------
    result
        The figures of every subject and of all together.
    distances
        How far the guess is from the truth, by measures of partitions in general.
    fairness
        How evenly the figures are spread over subjects.
    grid
        The same for every policy, for whoever wants to try another one.
    reference
        What guessing would give.
    subject
        The index of the subject whose graphs are shown; the one with the steepest risk slope unless given.
    others
        Whom merges bring along; None where clusters hold too many subjects to follow them all.
    views
        What each partition of a view says alone; None where the guess is a single partition.
    forecast, own_forecast
        What may come next: of all subjects or, of very many, some drawn at random; and of the subject shown.
    weighted
        Whether items have weights.
    notes
        What was dropped or assumed on the way.
    """

    result: Unlinkability
    grid: PolicyGrid = field(repr=False)
    subject: int | None = None
    others: CrowdGraphs | None = None
    own_forecast: Forecast
    weighted: bool = False
    breached_share = figure_at(
        "result.overall.breached_share",
        hidden=True,
        limit="breached_share",
        limit_meaning="share of subjects with at least β of their items linked already, from 0 to 1",
        breached=True,
        counts="people",
    )

    @derived(
        hidden=True,
        limit="risk_slope",
        limit_meaning="closeness of the average subject to a breach: 0 far away, 1 one step away; undefined (a fail) "
        "if it is breached",
        breached=True,
    )
    def risk_slope(self) -> float:
        """The overall risk slope; NaN where it is breached, whatever ``at_breach`` shows."""
        return nan if self.result.overall.breached else self.result.overall.risk_slope

    n = figure_at("result.n", "Number of items.")

    @derived("Number of subjects.", counts="people")
    def subjects(self) -> int:
        """The number of subjects."""
        return self.result.subjects.size

    alpha = figure_at("result.overall.alpha", "Weight of miss errors against include errors in the risk slope.")
    beta = figure_at("result.overall.beta", "Share of a subject's items that counts as a breach if linked.")
    overall = figure_at("result.overall", "Results over all subjects, each with the same weight.")
    distances: PartitionDistances = figure("Distances of guess and truth, by general measures of partitions.")
    fairness: tuple[FigureSpread, ...] = figure("Distribution of values over subjects.")
    reference: Reference = figure("Baseline: random guessing.", name="random_guessing")
    views: ViewRanges | None = figure(
        "Results of each partition of a view; null if the guess is a single partition.", default=None
    )
    forecast: Forecast = figure("Forecast of the next merges.")

    @derived("All results of the plotted subject.", name="subject")
    def shown_subject(self) -> ShownSubject:
        """Results and graphs of the plotted subject."""
        at, others = self.shown, (None, None) if self.others is None else self.others.graphs(self.shown)
        linked, mixed = self.result.graphs(at)
        return ShownSubject(
            subject=self.result.subjects[at],
            linked=linked,
            mixed=mixed,
            now=row_of(self.result, at),
            others_after=others[0],
            effective_others_after=others[1],
            ranges=None if self.views is None else row_of(self.views, at),
            forecast=row_of(self.own_forecast, 0),
        )

    notes: tuple[str, ...] = figure(NOTES, default=())

    @derived("One row per subject.", rows=SubjectRow)
    def per_subject(self) -> "pl.DataFrame":
        """Results per subject as a data frame; for views, also per partition."""
        import polars as pl

        rows = self.result.to_frame(mixing=True)
        if self.views is None:
            return rows
        return rows.with_columns(pl.Series(name, getattr(self.views, name)) for name in column_names(ViewRanges))

    @property
    def shown(self) -> int:
        """The index of the subject whose graphs are shown."""
        return steepest(self.result) if self.subject is None else self.subject


def steepest(result: Unlinkability, order: IntArray | None = None) -> int:
    """Return the index of the subject with the highest risk slope.

    Of subjects with equal slopes the first in ``order`` is taken.
    """
    slopes = np.where(result.breached, -1.0, result.risk_slope)
    ordered = np.arange(slopes.size) if order is None else order
    return int(ordered[np.argmax(slopes[ordered] >= slopes.max() - 1e-12)])


def place_of(subject: Hashable, subjects: Sequence[Hashable]) -> int:
    """Return the index of a subject, by name or index.

    >>> place_of("B", ["A", "B"]), place_of(0, ["A", "B"])
    (1, 0)
    """
    if subject in subjects:
        return subjects.index(subject)
    if isinstance(subject, int | np.integer) and -len(subjects) <= subject < len(subjects):
        return int(subject) % len(subjects)
    raise InputError(
        f"The subject is neither a name nor an index from 0 to {len(subjects) - 1}. Write the name as it "
        "stands in the truth"
    )
