"""Closeness and betweenness of a graph, computed once and shared."""

import zlib
from collections.abc import Callable
from typing import Literal, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from unveil._kernels._compile import compiled, loop
from unveil._kernels.graph.paths import path_sums, runs_plain
from unveil._kernels.threads import in_threads
from unveil._kernels.types import FloatArray, Int32Array, IntArray
from unveil.data.graph import Graph

# How central each node of an undirected graph is: how near it is to all others, and how many paths lead through it.

#: From this many nodes paths are followed at a time; from more where there would be more parts than that.
_SOURCES, _MOST_PARTS = 256, 64
#: Path counts above this are handled by their logarithms.
_MOST_PATHS = 1e290


class Centrality(NamedTuple):
    """One value per node, exact or estimated from pivots."""

    values: FloatArray
    exact: bool


def closeness(start: IntArray, neighbour: Int32Array, pivots: IntArray | None = None) -> Centrality:
    """Return the Wasserman-Faust closeness of each node, 0 to 1.

    That is the share of the other nodes that it can reach, over the mean distance to those. In a connected graph it is
    one over the mean distance; a node in a small component is not rated as near for having few nodes around it. A node
    that reaches no node has 0. With ``pivots`` (distinct nodes drawn at random) share and mean are those of the pivots.

    >>> closeness(np.array([0, 1, 3, 4, 4]), np.array([1, 0, 2, 1], np.int32)).values.round(4)
    array([0.4444, 0.6667, 0.4444, 0.    ])
    """
    nodes = start.size - 1
    sources = np.arange(nodes) if pivots is None else np.asarray(pivots, np.int64)
    sums = path_sums(start, neighbour, sources)
    others = np.full(nodes, sources.size)
    others[sources] -= 1
    values = np.zeros(nodes)
    near = sums.reached > 0
    values[near] = sums.reached[near] / others[near] * (sums.reached[near] / sums.total[near])
    return Centrality(values, sources.size == nodes)


def betweenness(start: IntArray, neighbour: Int32Array, pivots: IntArray | None = None) -> Centrality:
    """Return the betweenness of each node; tied paths count in shares.

    Pairs are unordered and a path's own ends do not count: 0 for a node on no path between others, at most
    ``(n - 1)(n - 2) / 2`` for the middle of a star. With ``pivots`` (distinct nodes drawn at random) only paths from
    those are followed, and the sum is scaled up by ``n / len(pivots)``: an unbiased estimate.

    >>> betweenness(np.array([0, 1, 3, 4, 4]), np.array([1, 0, 2, 1], np.int32)).values
    array([0., 1., 0., 0.])
    """
    nodes = start.size - 1
    sources = np.arange(nodes) if pivots is None else np.asarray(pivots, np.int64)
    plain = runs_plain(start, neighbour, sources.size)
    run = _follow if plain else compiled(_follow)
    size = max(_SOURCES, -(-sources.size // _MOST_PARTS))

    def followed(first: int) -> FloatArray:
        part = np.zeros(nodes)
        run(start, neighbour, sources[first : first + size], part)
        return part

    sums = np.zeros(nodes)
    # Parts are as large, and are added in the same order, on any number of threads.
    for part in in_threads(followed, range(0, sources.size, size), threads=1 if plain else None):
        sums += part
    # Each pair is met from both of its ends, or would be, were every node a source.
    scale = nodes / sources.size / 2 if sources.size else 0.0
    return Centrality(sums * scale, sources.size == nodes)


@loop("const i8[], const i4[], i8[], f8[]")
def _follow(start: IntArray, neighbour: Int32Array, sources: IntArray, sums: FloatArray) -> None:
    """Add each node's shares of shortest paths (Brandes)."""
    nodes = start.size - 1
    far, queue = np.full(nodes, -1, np.int32), np.empty(nodes, np.int32)
    paths, weight = np.zeros(nodes), np.zeros(nodes)
    # The neighbors of the node at place i of the queue that are one step farther: next_node[next_start[i]:...[i + 1]].
    next_start, next_node = np.empty(nodes + 1, np.int64), np.empty(neighbour.size + 1, np.int32)
    for source in sources:
        reached, most = _discover(start, neighbour, source, far, queue, paths, next_start, next_node)
        if most > _MOST_PATHS:
            _logarithms(reached, queue, next_start, next_node, paths)
            _collect_logarithms(reached, queue, next_start, next_node, paths, weight, sums)
        else:
            _collect(reached, queue, next_start, next_node, paths, weight, sums)
        for place in range(reached):
            far[queue[place]] = -1


def _discover(
    start: IntArray,
    neighbour: Int32Array,
    source: int,
    far: Int32Array,
    queue: Int32Array,
    paths: FloatArray,
    next_start: IntArray,
    next_node: Int32Array,
) -> tuple[int, float]:
    """Search from the source: distances, path counts, and outgoing edges.

    Returns the number of nodes reached and the largest number of paths; above what a float holds the counts are wrong.
    """
    queue[0] = source
    far[source] = 0
    paths[source] = 1.0
    first, last, count = 0, 1, 0
    most = 1.0
    while first < last:
        node = queue[first]
        next_start[first] = count
        first += 1
        step = far[node] + 1
        # Beyond the limit all paths are counted again; until then nothing may overflow.
        ways = min(paths[node], _MOST_PATHS)
        most = max(most, paths[node])
        for place in range(start[node], start[node + 1]):
            other = neighbour[place]
            if far[other] < 0:
                far[other] = step
                queue[last] = other
                last += 1
                paths[other] = 0.0
            if far[other] == step:
                next_node[count] = other
                count += 1
                paths[other] += ways
    next_start[last] = count
    return last, most


def _collect(
    reached: int,
    queue: Int32Array,
    next_start: IntArray,
    next_node: Int32Array,
    paths: FloatArray,
    weight: FloatArray,
    sums: FloatArray,
) -> None:
    """Accumulate path shares from the farthest nodes, without the source."""
    for place in range(reached - 1, 0, -1):
        node = queue[place]
        onward = 0.0
        for entry in range(next_start[place], next_start[place + 1]):
            onward += weight[next_node[entry]]
        passing = paths[node] * onward
        weight[node] = (1.0 + passing) / paths[node]
        sums[node] += passing


def _logarithms(
    reached: int, queue: Int32Array, next_start: IntArray, next_node: Int32Array, paths: FloatArray
) -> None:
    """Count paths as logarithms, where numbers exceed a float."""
    for place in range(1, reached):
        paths[queue[place]] = -np.inf
    paths[queue[0]] = 0.0
    for place in range(reached):
        ways = paths[queue[place]]
        for entry in range(next_start[place], next_start[place + 1]):
            other = next_node[entry]
            paths[other] = np.logaddexp(paths[other], ways)


def _collect_logarithms(
    reached: int,
    queue: Int32Array,
    next_start: IntArray,
    next_node: Int32Array,
    paths: FloatArray,
    passing: FloatArray,
    sums: FloatArray,
) -> None:
    """Accumulate shares from log path counts, as ``_collect``."""
    for place in range(reached - 1, 0, -1):
        node = queue[place]
        passing[node] = 0.0
        for entry in range(next_start[place], next_start[place + 1]):
            other = next_node[entry]
            passing[node] += np.exp(paths[node] - paths[other]) * (1.0 + passing[other])
        sums[node] += passing[node]


Kernel = Callable[[IntArray, Int32Array, IntArray | None], Centrality]

#: Graphs of more nodes have their centralities estimated from pivots by default.
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
    """Return closeness, exact up to ``exact_up_to`` nodes, and whether exact.

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
    """Return betweenness and whether it is exact, as :func:`closeness_of`."""
    return _found("betweenness", betweenness, graph, exact_up_to, pivots, side)


def pivots_of(graph: Graph, count: int, side: Side = "released") -> IntArray:
    """Return distinct random nodes, determined by side and edges."""
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
