"""What was found about a protected graph, as data."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from unveil._kernels.types import FloatArray
from unveil.data.graph.release import EdgeChanges, GraphRelease
from unveil.measure.graphs.utility import Lost


@dataclass(frozen=True, kw_only=True, eq=False)
class Degrees:
    """How many neighbours the nodes of one graph have, and how far that gives them away.

    ``smallest_class`` and ``unique_share`` are the metrics with these names. ``number`` has each number of neighbours
    from 1 that occurs, ``at_least`` the share of nodes with at least that many, and ``alone`` counts nodes without any.
    """

    smallest_class: float
    unique_share: float
    number: FloatArray = field(repr=False)
    at_least: FloatArray = field(repr=False)
    alone: int


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
    utility: tuple[Lost, ...] = field(repr=False)
    release: GraphRelease = field(repr=False)
    notes: tuple[str, ...] = ()
