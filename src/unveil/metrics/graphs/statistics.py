"""Statistics of a graph, exact or marked as estimates."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import nan, sqrt
from types import MappingProxyType

import numpy as np

from unveil._kernels.graph.clustering import assortativity, triangles, wedges
from unveil._kernels.graph.paths import components, diameter_bounds, distances, path_sums
from unveil._kernels.graph.spectral import spectral_norm
from unveil._kernels.types import Int32Array, IntArray
from unveil.data.graph import Graph
from unveil.errors import InputError, whole_number
from unveil.metrics.partitions.fairness import gini

#: Up to this many nodes paths are followed from every node; above that, from nodes drawn at random.
EXACT_UP_TO = 30_000
#: From this many nodes, above that.
SOURCES = 500
#: An iteration that ended nearer than this is called exact.
_EXACT = 1e-9
#: Distances are held for this many pairs of a source and a node at a time.
_HELD = 2**24


@dataclass(frozen=True, kw_only=True)
class GraphStatistics:
    """Statistics of one graph; NaN with the reason in ``notes``.

    Attributes
    ----------
    nodes, edges
        How many there are; nodes without an edge count.
    average_degree
        ``2 * edges / nodes``.
    components, largest_component
        The number of connected parts, a node without an edge being one, and the nodes of the largest.
    diameter
        The number of steps between the two nodes farthest apart in the largest component.
    average_path
        The mean number of steps between two different nodes of the largest component. Where several components are the
        largest, both values are over all of them.
    wedges, triangles
        Paths of two edges, and closed ones of three; each counted once.
    clustering
        The share of wedges whose ends are connected, ``3 * triangles / wedges``: 0 no triangle, 1 only cliques.
    gini
        How unequal degrees are: 0 all alike, towards 1 a few nodes have all edges.
    spectral_norm
        The largest eigenvalue of the adjacency matrix: between the average and the highest degree.
    assortativity
        The correlation of the degrees at both ends of an edge: above 0 hubs are connected to hubs.
    sampled
        Which of these are estimates.
    standard_errors
        Of the estimates that have one.
    notes
        For each value that is an estimate or undefined, what it is or why.

    Examples
    --------
    >>> triangle_with_tail = Graph.from_edges([0, 0, 1, 2], [1, 2, 2, 3])
    >>> found = graph_statistics(triangle_with_tail)
    >>> found.diameter, found.clustering, found.wedges, found.sampled
    (2.0, 0.6, 5, ())
    """

    nodes: int
    edges: int
    average_degree: float
    components: int
    largest_component: int
    diameter: float
    average_path: float
    wedges: int
    triangles: int
    clustering: float
    gini: float
    spectral_norm: float
    assortativity: float
    sampled: tuple[str, ...]
    standard_errors: Mapping[str, float]
    notes: Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class Paths:
    """Average and longest path in the largest component, exact or estimated."""

    components: int
    largest: int
    average: float
    longest: float
    notes: Mapping[str, str]
    standard_error: float = nan


def graph_statistics(
    graph: Graph,
    *,
    exact_up_to: int = EXACT_UP_TO,
    sources: int = SOURCES,
    rng: np.random.Generator | None = None,
) -> GraphStatistics:
    """Return the statistics of the graph.

    Parameters
    ----------
    graph
        Any graph, also one without an edge or a node.
    exact_up_to
        Up to this many nodes every path is followed. Above that, ``average_path`` is the mean over ``sources`` nodes
        drawn at random, with its standard error, and ``diameter`` may be a lower bound. All else is always exact.
    sources
        How many nodes are drawn at random, at least 2.
    rng
        Needed above ``exact_up_to``.

    Raises
    ------
    InputError
        If the graph is larger than ``exact_up_to`` and there is no ``rng``, or ``sources`` is below 2.
    """
    paths = largest_component_paths(graph, exact_up_to=exact_up_to, sources=sources, rng=rng)
    norm = spectral_norm(graph.start, graph.neighbour)
    inside, all_wedges = int(triangles(graph.start, graph.neighbour).sum()), wedges(graph.degrees)
    correlation = assortativity(graph.start, graph.neighbour)
    share = gini(graph.degrees.astype(np.float64))
    reasons = {
        "average_degree": "undefined: there is no node" if graph.nodes == 0 else "",
        "clustering": "undefined: no node has two neighbors" if all_wedges == 0 else "",
        "gini": "undefined: there is no edge" if np.isnan(share) else "",
        "assortativity": "undefined: the ends of all edges have the same degree, or there is no edge"
        if np.isnan(correlation)
        else "",
        "spectral_norm": _said_of_norm(norm.tolerance),
    }
    notes = {**paths.notes, **{name: reason for name, reason in reasons.items() if reason}}
    return GraphStatistics(
        nodes=graph.nodes,
        edges=graph.edges,
        average_degree=2 * graph.edges / graph.nodes if graph.nodes else nan,
        components=paths.components,
        largest_component=paths.largest,
        diameter=paths.longest,
        average_path=paths.average,
        wedges=all_wedges,
        triangles=inside // 3,
        clustering=inside / all_wedges if all_wedges else nan,
        gini=share,
        spectral_norm=float(norm.values[0]),
        assortativity=correlation,
        sampled=tuple(name for name, note in notes.items() if not note.startswith("undefined")),
        standard_errors=MappingProxyType(
            {} if np.isnan(paths.standard_error) else {"average_path": paths.standard_error}
        ),
        notes=MappingProxyType(notes),
    )


def largest_component_paths(graph: Graph, *, exact_up_to: int, sources: int, rng: np.random.Generator | None) -> Paths:
    """Return the path lengths of the largest component, over components of that size."""
    whole_number(sources, "sources", at_least=2, advice="A standard error needs more of them")
    label = components(graph.start, graph.neighbour)
    size = np.bincount(label, minlength=0)
    largest = int(size.max(initial=0))
    if largest < 2:
        reason = "undefined: no two nodes are connected"
        return Paths(
            components=size.size,
            largest=largest,
            average=nan,
            longest=nan,
            notes={"diameter": reason, "average_path": reason},
        )
    inside = np.flatnonzero(size[label] == largest)
    if graph.nodes <= exact_up_to:
        sums = path_sums(graph.start, graph.neighbour, inside)
        average = int(sums.total.sum()) / (inside.size * (largest - 1))
        return Paths(
            components=size.size, largest=largest, average=average, longest=float(sums.farthest.max()), notes={}
        )
    if rng is None:
        raise InputError(
            f"the {graph.name} has {graph.nodes:,} nodes; above {exact_up_to:,} paths are sampled, which needs rng. "
            "Pass rng, or raise exact_up_to"
        )
    return _sampled(graph, label, inside, sources, rng)


def _sampled(graph: Graph, label: Int32Array, inside: IntArray, sources: int, rng: np.random.Generator) -> Paths:
    """Estimate from randomly drawn sources, the same for equal node sets."""
    lot = rng.random(graph.nodes)[inside]
    chosen = inside[np.argsort(lot, kind="stable")[:sources]]
    size = np.bincount(label)
    largest = int(size.max())
    batch = max(1, _HELD // graph.nodes)
    found = [
        distances(graph.start, graph.neighbour, chosen[first : first + batch]) for first in range(0, chosen.size, batch)
    ]
    means = np.concatenate([np.where(far > 0, far, 0).sum(axis=1) for far in found]) / (largest - 1)
    error = float(means.std(ddof=1)) / sqrt(chosen.size) * sqrt(1 - chosen.size / inside.size)
    bounds = [
        diameter_bounds(graph.start, graph.neighbour, np.flatnonzero(label == part), sources)
        for part in np.flatnonzero(size == largest)[:sources]
    ]
    lower, upper = max(bound.at_least for bound in bounds), max(bound.at_most for bound in bounds)
    whole = chosen.size == inside.size
    notes = {"average_path": f"sampled: the mean over paths from {chosen.size:,} random nodes"} if not whole else {}
    if lower < upper:
        notes["diameter"] = f"sampled: at least this, and at most {upper}"
    return Paths(
        components=size.size,
        largest=largest,
        average=float(means.mean()),
        longest=float(lower),
        notes=notes,
        standard_error=nan if whole else error,
    )


def _said_of_norm(tolerance: float) -> str:
    if np.isnan(tolerance):
        return "undefined: the iteration did not converge"
    return "" if tolerance <= _EXACT else f"approximate: the iteration came within {tolerance:.1%} of it"
