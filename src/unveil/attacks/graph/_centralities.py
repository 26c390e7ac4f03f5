"""Closeness and betweenness of a graph, computed once for each graph object and reused by every attack on it."""

import zlib
from collections.abc import Callable
from typing import Literal
from weakref import WeakKeyDictionary

import numpy as np

from unveil._kernels.graph.centrality import Centrality, betweenness, closeness
from unveil._kernels.types import Int32Array, IntArray
from unveil.data.graph import Graph

Kernel = Callable[[IntArray, Int32Array, IntArray | None], Centrality]

#: Graphs of more nodes have their centralities estimated from pivots, unless told otherwise.
EXACT_UP_TO = 10_000
#: From how many nodes paths are searched then.
PIVOTS = 500

#: Whose graph it is. Both sides draw pivots of their own: with the same ones, nodes that bear the same number in both
#: graphs would get the same errors, and be found by that.
Side = Literal["released", "auxiliary"]

# A graph never changes, so what was found holds as long as the graph exists. The key inside says which centrality it
# is, and from how many pivots of which side (None for all nodes).
_FOUND: WeakKeyDictionary[Graph, dict[tuple[str, tuple[int, Side] | None], Centrality]] = WeakKeyDictionary()


def closeness_of(
    graph: Graph, *, exact_up_to: int = EXACT_UP_TO, pivots: int = PIVOTS, side: Side = "released"
) -> Centrality:
    """Return how near each node is to all others, exact in graphs of at most ``exact_up_to`` nodes, and whether it is.

    Parameters
    ----------
    graph
        Asked again for the same object and settings, the answer is the one found before.
    exact_up_to
        The most nodes with which every node is searched from.
    pivots
        In a larger graph, the number of nodes searched from. They are drawn by a lot that the edges decide, so that
        estimates are the same whenever, and after whatever, they are asked for.
    side
        Whose graph it is: both sides draw other pivots.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1], [1, 2])
    >>> closeness_of(path).values
    array([0.66666667, 1.        , 0.66666667])
    >>> closeness_of(path, exact_up_to=2, pivots=1).exact
    False
    """
    return _found("closeness", closeness, graph, exact_up_to, pivots, side)


def betweenness_of(
    graph: Graph, *, exact_up_to: int = EXACT_UP_TO, pivots: int = PIVOTS, side: Side = "released"
) -> Centrality:
    """Return how many shortest paths lead through each node, and whether that is exact; see :func:`closeness_of`."""
    return _found("betweenness", betweenness, graph, exact_up_to, pivots, side)


def pivots_of(graph: Graph, count: int, side: Side = "released") -> IntArray:
    """Return so many distinct nodes, drawn by a lot that the side and the edges of the graph decide."""
    lot = zlib.crc32(graph.neighbour.tobytes(), zlib.crc32(graph.start.tobytes(), zlib.crc32(side.encode())))
    return np.random.default_rng(lot).choice(graph.nodes, count, replace=False)


def _found(name: str, compute: Kernel, graph: Graph, exact_up_to: int, pivots: int, side: Side) -> Centrality:
    exact = graph.nodes <= max(exact_up_to, pivots)
    known = _FOUND.setdefault(graph, {})
    key = (name, None if exact else (pivots, side))
    if key not in known:
        result = compute(graph.start, graph.neighbour, None if exact else pivots_of(graph, pivots, side))
        result.values.flags.writeable = False
        known[key] = result
    return known[key]
