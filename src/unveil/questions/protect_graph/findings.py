"""What was found about a protected graph, as data."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from unveil._kernels.types import FloatArray
from unveil.data.graph.release import EdgeChanges, GraphRelease
from unveil.metrics.graphs.utility import UtilityLoss

#: Nodes are counted by how many have as many neighbours as they do, themselves included: up to each of these.
CROWDS = (1, 4, 9, 49)


@dataclass(frozen=True, kw_only=True, eq=False)
class Degrees:
    """How many neighbours the nodes of one graph have, and how far that gives them away.

    ``smallest_class`` and ``unique_share`` are the metrics with these names. ``number`` has each number of neighbours
    from 1 that occurs, ``at_least`` the share of nodes with at least that many, and ``alone`` counts nodes without any.
    ``crowds`` counts nodes that stand for somebody by the size of their class, as ``CROWDS`` says: first those that are
    unique, last those in larger classes than all of these.
    """

    smallest_class: float
    unique_share: float
    number: FloatArray = field(repr=False)
    at_least: FloatArray = field(repr=False)
    alone: int
    crowds: tuple[int, ...]

    @property
    def unique(self) -> int:
        """How many nodes have a number of neighbours of their own."""
        return self.crowds[0]


@dataclass(frozen=True, kw_only=True, eq=False)
class AnonymizeFindings:
    """What a protection did to a graph.

    Attributes
    ----------
    protect, settings
        The protection as it is written, and all its settings.
    changes
        How many edges came, went and stayed.
    before, after
        How many neighbours nodes have in the original and in the release.
    hidden
        Of the nodes that were unique by their number of neighbours, how many are so no more; None where released nodes
        are nobody's.
    utility
        What the release lost.
    release
        The released graph itself, with its truth: keep that to yourself.
    notes
        What a reader has to know.
    """

    protect: str
    settings: Mapping[str, str]
    changes: EdgeChanges
    before: Degrees
    after: Degrees
    hidden: int | None
    utility: tuple[UtilityLoss, ...] = field(repr=False)
    release: GraphRelease = field(repr=False)
    notes: tuple[str, ...] = ()
