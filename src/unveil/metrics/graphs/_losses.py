"""Properties of a graph before and after its release, with distances."""

from dataclasses import dataclass
from math import isnan, nan
from typing import NamedTuple

import numpy as np

from unveil._kernels.graph.clustering import assortativity, clustering_coefficient, joint_degrees
from unveil._kernels.graph.spectral import largest_eigenvalues
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphRelease
from unveil.errors import whole_number
from unveil.metrics.graphs.statistics import EXACT_UP_TO, SOURCES, Paths, largest_component_paths

#: This many of the largest eigenvalues are compared.
EIGENVALUES = 10
#: Eigenvalues that are nearer than this, as a share of the largest, are called exact.
_EXACT = 1e-9
_NO_EDGE = "the original has no edge"


class Loss(NamedTuple):
    """A distance with the property before and after, and its reason."""

    value: float
    quantity: str = ""
    before: float = nan
    after: float = nan
    sampled: bool = False
    why: str = ""


@dataclass(frozen=True, kw_only=True, eq=False)
class GraphPair:
    """Original and released graph on the same nodes, with shared results."""

    release: GraphRelease
    exact_up_to: int = EXACT_UP_TO
    sources: int = SOURCES
    seed: int = 0
    eigenvalues: int = EIGENVALUES

    @property
    def original(self) -> Graph:
        """The graph before."""
        return self.release.original

    @property
    def released(self) -> Graph:
        """The released graph on the original's node numbers."""
        return self.release.in_original_numbers()

    def paths(self, graph: Graph) -> Paths:
        """Return the paths of either graph, sampled from the same nodes if possible."""
        return largest_component_paths(
            graph, exact_up_to=self.exact_up_to, sources=self.sources, rng=np.random.default_rng(self.seed)
        )


def edge_loss(both: GraphPair) -> Loss:
    """Return the share of edges that only one graph has, 0 to 1."""
    before, after = both.original.edges, both.released.edges
    if before + after == 0:
        return Loss(nan, "edges", 0.0, 0.0, why="neither graph has an edge")
    changes = both.release.changes
    return Loss((changes.added + changes.removed) / (before + after), "edges", float(before), float(after))


def degree_loss(both: GraphPair) -> Loss:
    """Return the earth mover's distance of degrees, in average original degrees."""
    graphs = both.original, both.released
    if both.original.edges == 0:
        return Loss(nan, why=_NO_EDGE)
    highest = max(int(graph.degrees.max()) for graph in graphs)
    below = [np.cumsum(np.bincount(graph.degrees, minlength=highest + 1)) for graph in graphs]
    # Counts, not shares: whole numbers cancel to 0.
    moved = int(np.abs(below[0] * both.released.nodes - below[1] * both.original.nodes).sum())
    before, after = (2 * graph.edges / graph.nodes for graph in graphs)
    return Loss(moved / (2 * both.original.edges * both.released.nodes), "average degree", before, after)


def joint_degree_loss(both: GraphPair) -> Loss:
    """Return the total variation distance between joint degree distributions, 0 to 1."""
    graphs = both.original, both.released
    if any(graph.edges == 0 for graph in graphs):
        return Loss(nan, why="a graph without edges has no joint degrees")
    base = max(int(graph.degrees.max()) for graph in graphs) + 1
    found = [joint_degrees(graph.start, graph.neighbour) for graph in graphs]
    keys = [pairs[:, 0] * base + pairs[:, 1] for pairs, _ in found]
    everywhere = np.unique(np.concatenate(keys))
    # Counts, not shares: whole numbers cancel to 0, and add up to exactly 1 where no pair is in both.
    difference = np.zeros(everywhere.size, np.int64)
    difference[np.searchsorted(everywhere, keys[0])] += found[0][1] * both.released.edges
    difference[np.searchsorted(everywhere, keys[1])] -= found[1][1] * both.original.edges
    value = int(np.abs(difference).sum()) / (2 * both.original.edges * both.released.edges)
    return Loss(value, "pairs of degrees", float(keys[0].size), float(keys[1].size))


def clustering_change(both: GraphPair) -> Loss:
    """Return by how much the clustering coefficient changed."""
    before, after = (clustering_coefficient(graph.start, graph.neighbour) for graph in (both.original, both.released))
    return _change("clustering coefficient", before, after, "no node of a graph has two neighbors")


def assortativity_change(both: GraphPair) -> Loss:
    """Return by how much the correlation of degrees changed."""
    before, after = (assortativity(graph.start, graph.neighbour) for graph in (both.original, both.released))
    return _change(
        "assortativity", before, after, "the ends of all edges of a graph have one degree, or it has no edge"
    )


def path_change(both: GraphPair) -> Loss:
    """Return the relative change of the average path length."""
    before, after = both.paths(both.original), both.paths(both.released)
    found = _change("average path", before.average, after.average, "no two nodes of a graph are connected")
    sampled = not isnan(found.value) and "average_path" in {**before.notes, **after.notes}
    why = f"the paths from {both.sources:,} random nodes" if sampled else found.why
    return found._replace(value=found.value / before.average, sampled=sampled, why=why)


def spectral_change(both: GraphPair) -> Loss:
    """Return the relative change of the largest eigenvalues."""
    whole_number(both.eigenvalues, "eigenvalues")
    if both.original.edges == 0:
        return Loss(nan, why=_NO_EDGE)
    count = min(both.eigenvalues, both.original.nodes)
    graphs = both.original, both.released
    before, after = (largest_eigenvalues(graph.start, graph.neighbour, count) for graph in graphs)
    value = float(np.abs(before.values - after.values).sum() / np.abs(before.values).sum())
    rough = max(before.tolerance, after.tolerance)
    sampled = rough > _EXACT
    why = f"the iteration came within {rough:.1%} of the eigenvalues" if sampled else ""
    if isnan(value):
        why = "the iteration for the eigenvalues did not converge"
    return Loss(value, "spectral norm", float(before.values[0]), float(after.values[0]), sampled, why)


def _change(quantity: str, before: float, after: float, why: str) -> Loss:
    value = abs(after - before)
    return Loss(value, quantity, before, after, why=why if isnan(value) else "")
