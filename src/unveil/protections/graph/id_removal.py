"""Removal of names, with random node numbers: the minimum protection."""

from dataclasses import dataclass

import numpy as np

from unveil.data.graph import Graph
from unveil.data.graph.release import GraphRelease
from unveil.protections._listing import protection
from unveil.protections.graph._release import graph_release


@protection(
    source="Zhao and Wagner, Section 3.2",
    aka=("naive anonymization",),
    keeps=("node count", "edge count", "degrees", "edges"),
)
@dataclass(frozen=True, kw_only=True)
class IdRemoval:
    """Remove node names and number nodes at random; keep every edge.

    An attacker who knows enough about a node's edges still finds the node, so it is a measure of what a release without
    protection would give away.

    Examples
    --------
    >>> star = Graph.from_edges([0, 0, 0], [1, 2, 3])
    >>> release = IdRemoval().apply(star, rng=np.random.default_rng(1))
    >>> bool((release.in_original_numbers().keys == star.keys).all())
    True
    """

    def apply(self, original: Graph, *, rng: np.random.Generator) -> GraphRelease:
        """Return the graph with nodes numbered at random."""
        return graph_release(original, original.keys, name="id-removal", rng=rng)
