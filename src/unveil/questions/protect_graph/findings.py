"""What was found about a protected graph, as data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from unveil._figure import NOTES, derived, figure, figure_at, version_figure
from unveil._kernels.types import FloatArray
from unveil.data.graph import Graph
from unveil.data.graph.release import EdgeChanges, GraphRelease
from unveil.metrics.graphs.utility import UtilityLoss

#: Nodes are counted by how many have as many neighbours as they do, themselves included: up to each of these.
CROWDS = (1, 4, 9, 49)


@dataclass(frozen=True, kw_only=True, eq=False)
class Degrees:
    """Degree distribution and unique degrees of a graph.

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
        """Number of nodes with a unique degree."""
        return self.crowds[0]


@dataclass(frozen=True, kw_only=True)
class GraphSize:
    """The size of a graph."""

    JSON_DEFINITION: ClassVar[str] = "size"
    nodes: int = figure("Number of nodes.")
    edges: int = figure("Number of edges.")

    @classmethod
    def of(cls, graph: Graph) -> "GraphSize":
        """Return the size of a graph."""
        return cls(nodes=graph.nodes, edges=graph.edges)


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

    GROUPS: ClassVar[Mapping[str, str]] = {
        "changed": "How many edges and nodes changed.",
        "degrees": "How far degrees hide people.",
    }

    changes: EdgeChanges
    before: Degrees
    after: Degrees
    utility: tuple[UtilityLoss, ...] = field(repr=False)
    release: GraphRelease = field(repr=False)

    version = version_figure()

    @derived("Size of the original graph; null if unknown.")
    def graph(self) -> GraphSize:
        """The size of the original graph."""
        return GraphSize.of(self.release.original)

    protect: str = figure("Protection, as written in commands; null if the release was given.")
    settings: Mapping[str, str] = figure("All settings of the protection, as written in commands.")
    kind = figure_at(
        "release.kind", "Type of release: each node is an original one (masked), or nodes are generated (synthetic)."
    )
    pairing = figure_at("release.pairing", "Correspondence of released and original nodes.")

    @derived("Size of the released graph.")
    def released(self) -> GraphSize:
        """The size of the released graph."""
        return GraphSize.of(self.release.released)

    added = figure_at("changes.added", "Number of added edges.", name="changed.added")
    removed = figure_at("changes.removed", "Number of removed edges.", name="changed.removed")
    kept = figure_at("changes.kept", "Number of original edges in the release.", name="changed.kept")
    pseudo_nodes = figure_at(
        "release.pseudo_nodes", "Number of nodes without an original.", name="changed.pseudo_nodes"
    )
    facts = figure_at("release.facts", "Facts stated by the protection, by name.")
    smallest_class = figure_at(
        "after.smallest_class", "Smallest number of nodes with the same degree.", name="degrees.smallest_class"
    )
    unique_share = figure_at("after.unique_share", "Share of nodes with a unique degree.", name="degrees.unique_share")
    unique_before = figure_at(
        "before.unique", "Number of nodes with a unique degree before.", name="degrees.unique_before"
    )
    unique_after = figure_at("after.unique", "Number of nodes with a unique degree after.", name="degrees.unique_after")
    hidden: int | None = figure(
        "Nodes with a unique degree before but not after; null if nodes are generated.", name="degrees.hidden"
    )

    @derived("Utility metrics by name: the value, and the quantity before and after.", name="utility")
    def losses(self) -> Mapping[str, UtilityLoss]:
        """The utility losses by the names of their metrics."""
        return {each.metric.name: each for each in self.utility}

    ledger = figure_at("release.ledger", "Noisy queries and their privacy cost; null without differential privacy.")
    notes: tuple[str, ...] = figure(NOTES, default=())
