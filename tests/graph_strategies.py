"""Graphs for tests: any small one, and larger ones of known kinds."""

import numpy as np
from hypothesis import strategies as st

from unveil.data.graph import Graph


@st.composite
def graphs(draw: st.DrawFn, *, min_nodes: int = 1, max_nodes: int = 12, min_edges: int = 0) -> Graph:
    """Draw any simple graph of that size: sparse, dense, with nodes that have no edge."""
    nodes = draw(st.integers(min_nodes, max_nodes))
    one, other = np.triu_indices(nodes, 1)
    least = min(min_edges, one.size)
    if draw(st.booleans()):
        chosen = draw(st.lists(st.integers(0, max(one.size - 1, 0)), min_size=least, max_size=one.size, unique=True))
        picked = np.array(chosen if one.size else [], np.int64)
    else:
        rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
        size = draw(st.integers(least, one.size))
        picked = rng.permutation(one.size)[:size]
    return Graph.from_edges(one[picked], other[picked], nodes=nodes)


def erdos_renyi(nodes: int, probability: float, seed: int) -> Graph:
    """Return a graph in which each pair is connected with the same probability."""
    one, other = np.triu_indices(nodes, 1)
    kept = np.random.default_rng(seed).random(one.size) < probability
    return Graph.from_edges(one[kept], other[kept], nodes=nodes)


def heavy_tail(nodes: int, per_node: int, seed: int) -> Graph:
    """Return a graph grown by preferential attachment: few hubs, many nodes with few edges."""
    rng = np.random.default_rng(seed)
    source: list[int] = []
    target: list[int] = []
    ends = list(range(per_node))
    for node in range(per_node, nodes):
        chosen = {ends[int(place)] for place in rng.integers(0, len(ends), per_node)}
        source += [node] * len(chosen)
        target += sorted(chosen)
        ends += [*sorted(chosen), *[node] * len(chosen)]
    return Graph.from_edges(source, target, nodes=nodes)
