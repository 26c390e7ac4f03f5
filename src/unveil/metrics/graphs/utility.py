"""Utility of a released graph: edges, degrees, triangles, paths and spectrum.

Every value is a distance from the original: 0 means that nothing of it was lost. Pseudo nodes and their edges count as
what they look like to whoever gets the release: nodes and edges. A release is not safer for being less useful.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf, isnan, nan
from types import MappingProxyType
from typing import Any

from unveil._figure import figure
from unveil.data.graph.release import GraphRelease
from unveil.metrics._listing import METRICS, Metric, metric
from unveil.metrics.graphs import _losses as losses
from unveil.metrics.graphs._losses import EIGENVALUES, GraphPair, Loss
from unveil.metrics.graphs.statistics import EXACT_UP_TO, SOURCES

_FACTS: dict[str, Any] = {"category": "utility", "per": "release", "more_means": "less useful"}


@dataclass(frozen=True, kw_only=True)
class UtilityLoss:
    """One utility-loss value of a released graph.

    Attributes
    ----------
    metric
        The listed metric.
    value
        Its value: 0 where nothing was lost, NaN where it is undefined.
    quantity, before, after
        The property that it compares, in the original and in the release; "" and NaN where it is not one number.
    sampled
        Whether the value is an estimate.
    why
        Why the value is undefined or an estimate; else "".
    """

    metric: Metric
    value: float = figure("Value of the metric; its page gives unit and range.")
    quantity: str
    before: float = figure("Value for the original graph; null where the metric compares both at once.")
    after: float = figure("Value for the released graph; null where the metric compares both at once.")
    sampled: bool = figure("Whether the value was estimated from a sample of nodes.")
    why: str


@metric(bounds=(0, 1), source="Dice (1945)", **_FACTS)
def edge_difference(release: GraphRelease) -> float:
    """Return the share of edges that only one graph has, 0 to 1.

    Formula: ``(added + removed) / (edges of original + edges of release)``, the nodes of the release being those they
    stand for. 0 means the same edges, 1 that no edge was kept. Where each of a number of edges is replaced by another,
    it is the share of edges replaced. An edge of a pseudo node is an added one. In a synthetic graph nodes are paired
    by rank alone, and values near 1 are to be expected. NaN where neither graph has an edge.

    >>> from unveil.data.graph import Graph
    >>> path, fork = Graph.from_edges([0, 1, 2], [1, 2, 3]), Graph.from_edges([0, 1, 1], [1, 2, 3])
    >>> round(edge_difference(GraphRelease(path, fork, [0, 1, 2, 3])), 4)
    0.3333
    """
    return losses.edge_loss(GraphPair(release=release)).value


@metric(bounds=(0, inf), source="Villani (2009), chapter 6", **_FACTS)
def degree_distance(release: GraphRelease) -> float:
    """Return the earth mover's distance of degrees, in average original degrees.

    Formula: ``Σ |F(d) - G(d)| / average degree of original`` over all degrees d, with the shares F and G of nodes with
    at most d neighbors: the earth mover's distance. 0 means the same degrees equally often, 1 that nodes gained or
    lost as many edges as they had, on average. It does not ask which node has which degree. NaN where the original has
    no edge.

    >>> from unveil.data.graph import Graph
    >>> path, fork = Graph.from_edges([0, 1, 2], [1, 2, 3]), Graph.from_edges([0, 1, 1], [1, 2, 3])
    >>> round(degree_distance(GraphRelease(path, fork, [0, 1, 2, 3])), 4)
    0.3333
    """
    return losses.degree_loss(GraphPair(release=release)).value


@metric(bounds=(0, 1), source="Mahadevan et al. (2006), the 2K-distribution; total variation", **_FACTS)
def joint_degree_distance(release: GraphRelease) -> float:
    """Return the distance between joint degree distributions, 0 to 1.

    Formula: ``1/2 Σ |share in original - share in release|`` over all pairs of degrees, with the share of edges whose
    ends have these degrees. 0 means the same pairs equally often, 1 that no pair is in both. It is strict: where all
    degrees grow by one, no pair may be the same. NaN where either graph has no edge.

    >>> from unveil.data.graph import Graph
    >>> path, fork = Graph.from_edges([0, 1, 2], [1, 2, 3]), Graph.from_edges([0, 1, 1], [1, 2, 3])
    >>> joint_degree_distance(GraphRelease(path, fork, [0, 1, 2, 3]))
    1.0
    """
    return losses.joint_degree_loss(GraphPair(release=release)).value


@metric(bounds=(0, 1), source="Zhao & Wagner, Table 1", **_FACTS)
def clustering_loss(release: GraphRelease) -> float:
    """Return the absolute change of the clustering coefficient.

    Formula: ``|C(original) - C(release)|`` with ``C = 3 * triangles / wedges``, the share of pairs of neighbors of a
    node that are connected. 0 means the same coefficient, 1 that cliques lost every triangle. NaN where no node of
    either graph has two neighbors.

    >>> from unveil.data.graph import Graph
    >>> triangle, path = Graph.from_edges([0, 1, 2], [1, 2, 0]), Graph.from_edges([0, 1], [1, 2])
    >>> clustering_loss(GraphRelease(triangle, path, [0, 1, 2]))
    1.0
    """
    return losses.clustering_change(GraphPair(release=release)).value


@metric(bounds=(0, inf), source="Zhao & Wagner, Table 1", **_FACTS)
def average_path_loss(
    release: GraphRelease, *, exact_up_to: int = EXACT_UP_TO, sources: int = SOURCES, seed: int = 0
) -> float:
    """Return the relative change of the average shortest path.

    Formula: ``|L(release) - L(original)| / L(original)`` with the mean number of steps L between two nodes of the
    largest component. 0 means the same mean, 1 that it doubled. A release that fell apart may have shorter paths: look
    at its components too. In a graph of more than ``exact_up_to`` nodes the mean is estimated from the paths of
    ``sources`` nodes drawn at random from ``seed``, the same ones in both graphs where they can be. NaN where no two
    nodes of either graph are connected.

    >>> from unveil.data.graph import Graph
    >>> triangle, path = Graph.from_edges([0, 1, 2], [1, 2, 0]), Graph.from_edges([0, 1], [1, 2])
    >>> round(average_path_loss(GraphRelease(triangle, path, [0, 1, 2])), 4)
    0.3333
    """
    both = GraphPair(release=release, exact_up_to=exact_up_to, sources=sources, seed=seed)
    return losses.path_change(both).value


@metric(bounds=(0, 2), source="Newman (2002)", **_FACTS)
def assortativity_loss(release: GraphRelease) -> float:
    """Return the absolute change of degree assortativity.

    Formula: ``|r(original) - r(release)|`` with Pearson's correlation r of the two degrees over all edges in both
    directions. 0 means the same correlation, 2 that it turned from 1 to -1. NaN where all ends of the edges of either
    graph have the same degree, or it has no edge.

    >>> from unveil.data.graph import Graph
    >>> path, fork = Graph.from_edges([0, 1, 2], [1, 2, 3]), Graph.from_edges([0, 1, 1], [1, 2, 3])
    >>> round(assortativity_loss(GraphRelease(path, fork, [0, 1, 2, 3])), 4)
    0.5
    """
    return losses.assortativity_change(GraphPair(release=release)).value


@metric(bounds=(0, inf), source="Ying & Wu (2008)", **_FACTS)
def spectral_distance(release: GraphRelease, *, eigenvalues: int = EIGENVALUES) -> float:
    """Return the relative change of the largest adjacency eigenvalues.

    Formula: ``Σ |λ(original) - λ(release)| / Σ |λ(original)|`` over the ``eigenvalues`` largest of each, rank by rank,
    or as many as the original has nodes. 0 means the same ones, 1 that they differ by as much as they measure. They
    tell of hubs and dense parts. Long chains and lattices have eigenvalues so near one another that they are
    approximate. NaN where the original has no edge.

    >>> from unveil.data.graph import Graph
    >>> triangle, path = Graph.from_edges([0, 1, 2], [1, 2, 0]), Graph.from_edges([0, 1], [1, 2])
    >>> round(spectral_distance(GraphRelease(triangle, path, [0, 1, 2]), eigenvalues=1), 4)
    0.2929
    """
    return losses.spectral_change(GraphPair(release=release, eigenvalues=eigenvalues)).value


#: What is computed for listed metrics together, so that no property of a graph is computed twice.
_TOGETHER: Mapping[Callable[..., Any], Callable[[GraphPair], Loss]] = MappingProxyType(
    {
        edge_difference: losses.edge_loss,
        degree_distance: losses.degree_loss,
        joint_degree_distance: losses.joint_degree_loss,
        clustering_loss: losses.clustering_change,
        average_path_loss: losses.path_change,
        assortativity_loss: losses.assortativity_change,
        spectral_distance: losses.spectral_change,
    }
)


def graph_utility(
    release: GraphRelease,
    *,
    exact_up_to: int = EXACT_UP_TO,
    sources: int = SOURCES,
    seed: int = 0,
    eigenvalues: int = EIGENVALUES,
) -> tuple[UtilityLoss, ...]:
    """Return every utility-loss value of a released graph.

    The settings are those of :func:`average_path_loss` and :func:`spectral_distance`.

    >>> from unveil.data.graph import Graph
    >>> triangle, path = Graph.from_edges([0, 1, 2], [1, 2, 0]), Graph.from_edges([0, 1], [1, 2])
    >>> for lost in graph_utility(GraphRelease(triangle, path, [0, 1, 2])):
    ...     if lost.quantity in ("edges", "average path"):
    ...         print(lost.metric.name, round(lost.value, 4), lost.quantity, lost.before, round(lost.after, 4))
    edge_difference 0.2 edges 3.0 2.0
    average_path_loss 0.3333 average path 1.0 1.3333
    """
    both = GraphPair(release=release, exact_up_to=exact_up_to, sources=sources, seed=seed, eigenvalues=eigenvalues)
    listed = [each for each in METRICS.values() if each.on == "GraphRelease" and each.category == "utility"]
    return tuple(_lost(each, both) for each in listed)


def _lost(listed: Metric, both: GraphPair) -> UtilityLoss:
    together = _TOGETHER.get(listed.function)
    found = together(both) if together else _by_itself(float(listed.function(both.release)))
    return UtilityLoss(metric=listed, **found._asdict())


def _by_itself(value: float) -> Loss:
    return Loss(value, "", nan, nan, why="undefined for this release" if isnan(value) else "")
