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


@dataclass(frozen=True, kw_only=True)
class GraphSize:
    """The size of a graph."""

    JSON_DEFINITION: ClassVar[str] = "size"
    nodes: int = figure("How many nodes there are.")
    edges: int = figure("How many edges there are.")

    @classmethod
    def of(cls, graph: Graph) -> "GraphSize":
        """Return the size of a graph."""
        return cls(nodes=graph.nodes, edges=graph.edges)


@dataclass(frozen=True, kw_only=True)
class ChangeCounts:
    """The numbers of changed edges and of added nodes."""

    added: int = figure("Edges that were added.")
    removed: int = figure("Edges that were removed.")
    kept: int = figure("Edges of the original that the release has too.")
    pseudo_nodes: int = figure("Nodes that stand for nobody.")


@dataclass(frozen=True, kw_only=True)
class DegreeAnonymity:
    """The anonymity of nodes by their degree, before and after."""

    smallest_class: float = figure("The fewest nodes that share a degree.")
    unique_share: float = figure("The share of nodes that are alone with their degree.")
    unique_before: int = figure("Nodes alone with their degree before.")
    unique_after: int = figure("Nodes alone with their degree after.")
    hidden: int | None = figure("Nodes that were alone before and are not after; null where nodes are drawn anew.")


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

    changes: EdgeChanges
    before: Degrees
    after: Degrees
    hidden: int | None
    utility: tuple[UtilityLoss, ...] = field(repr=False)
    release: GraphRelease = field(repr=False)

    version = version_figure()

    @derived("How large the original graph is; null where it is not known.")
    def graph(self) -> GraphSize:
        """The size of the original graph."""
        return GraphSize.of(self.release.original)

    protect: str = figure("The protection as it is written in commands; null where the release was given.")
    settings: Mapping[str, str] = figure("Every setting of the protection, as it is written.")
    kind = figure_at(
        "release.kind", "Whether released nodes stand for original ones (masked) or are drawn anew (synthetic)"
    )
    pairing = figure_at("release.pairing", "How released nodes belong to original ones.")

    @derived("How large the released graph is.")
    def released(self) -> GraphSize:
        """The size of the released graph."""
        return GraphSize.of(self.release.released)

    @derived("How many edges and nodes changed.")
    def changed(self) -> ChangeCounts:
        """The numbers of changed edges and of pseudo nodes."""
        return ChangeCounts(**self.changes._asdict(), pseudo_nodes=self.release.pseudo_nodes)

    facts = figure_at("release.facts", "What the protection says about its own work, by name.")

    @derived("How far degrees hide people.")
    def degrees(self) -> DegreeAnonymity:
        """The anonymity of degrees before and after."""
        return DegreeAnonymity(
            smallest_class=self.after.smallest_class,
            unique_share=self.after.unique_share,
            unique_before=self.before.unique,
            unique_after=self.after.unique,
            hidden=self.hidden,
        )

    @derived("Each metric of a change, by its name: its value, and the figure before and after.", name="utility")
    def losses(self) -> Mapping[str, UtilityLoss]:
        """The utility losses by the names of their metrics."""
        return {each.metric.name: each for each in self.utility}

    ledger = figure_at(
        "release.ledger", "Every noisy question that was asked, and what it cost; null without differential privacy."
    )
    notes: tuple[str, ...] = figure(NOTES, default=())
