"""What was found about a partition, as data."""

from dataclasses import dataclass, field

from unveil.measure import PartitionDistances, PolicyGrid, Reference, Spread, Unlinkability


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
        What random guessing would give.
    weighted
        Whether items have weights.
    notes
        What was dropped or assumed on the way.
    """

    result: Unlinkability
    distances: PartitionDistances
    fairness: tuple[Spread, ...]
    grid: PolicyGrid = field(repr=False)
    reference: Reference
    weighted: bool = False
    notes: tuple[str, ...] = ()
