"""What was found about a partition, as data."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

import numpy as np

from unveil._kernels.types import IntArray
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
        Whom mergings bring along; None where clusters hold too many subjects to follow them all.
    views
        What each partition of a view says alone; None where the guess is a single partition.
    forecast, own_forecast
        What may come next: of all subjects or, of very many, some drawn at random; and of the subject shown.
    linkage
        How the forecast finds the next merging.
    weighted
        Whether items have weights.
    notes
        What was dropped or assumed on the way.
    """

    result: Unlinkability
    distances: PartitionDistances
    fairness: tuple[FigureSpread, ...]
    grid: PolicyGrid = field(repr=False)
    reference: Reference
    subject: int | None = None
    others: CrowdGraphs | None = None
    views: ViewRanges | None = None
    forecast: Forecast | None = None
    own_forecast: Forecast | None = None
    linkage: str = "pairs"
    weighted: bool = False
    notes: tuple[str, ...] = ()

    @property
    def shown(self) -> int:
        """The index of the subject whose graphs are shown."""
        return steepest(self.result) if self.subject is None else self.subject


def steepest(result: Unlinkability, order: IntArray | None = None) -> int:
    """Return the index of the subject with the steepest risk slope, or the first where all are breached.

    Of subjects with equal slopes the first in ``order`` is taken.
    """
    slopes = np.where(result.breached, -1.0, result.risk_slope)
    ordered = np.arange(slopes.size) if order is None else order
    return int(ordered[np.argmax(slopes[ordered] >= slopes.max() - 1e-12)])


def place_of(subject: Hashable, subjects: Sequence[Hashable]) -> int:
    """Return the place of a subject that is told by its name, or by its index where that is no name.

    >>> place_of("B", ["A", "B"]), place_of(0, ["A", "B"])
    (1, 0)
    """
    if subject in subjects:
        return subjects.index(subject)
    if isinstance(subject, int | np.integer) and -len(subjects) <= subject < len(subjects):
        return int(subject) % len(subjects)
    raise InputError(
        f"the subject must be the name of one, or its index from 0 to {len(subjects) - 1}, but is neither. "
        "Write the name as it stands in the truth"
    )
