"""What a public code calls differentially private joint degrees, in small: it is not, and serves comparison alone."""

import numpy as np

from unveil._kernels._compile import kernel
from unveil._kernels.graph.joint_degrees import cells_of
from unveil._kernels.graph.joint_ends import nodes_of_ends
from unveil._kernels.graph.noisy_counts import nearest_counts, whole_counts
from unveil._kernels.graph.rows import among, edge_keys
from unveil._kernels.types import BoolArray, IntArray
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphRelease
from unveil.protections.graph._release import graph_release

_ROUNDS = 50

_NOTES = (
    "this release is NOT differentially private: only joint degrees that occur were given noise, and most edges are "
    "those of the original",
    "the noisy numbers are made to add up to the number of edges of the original, because the code that is imitated "
    "never ends if they add up to less than 0",
)


def secgraph_release(original: Graph, epsilon: float, *, rng: np.random.Generator) -> GraphRelease:
    """Return the original graph, edited towards the degrees of its joint degrees with noise in those that occur."""
    degrees, (one, other) = original.degrees, original.ends
    cell, table = np.unique(cells_of(degrees[one], degrees[other]), return_counts=True)
    scale = (4 * int(degrees.max()) + 1) / epsilon
    noisy = table + rng.laplace(0, scale, table.size)
    counts = nearest_counts(noisy, np.ones(table.size), original.edges, np.zeros(table.size), 0)
    whole = whole_counts(counts, np.array([counts.size]), rng.random())
    larger = ((np.sqrt(8 * cell + 1) - 1) // 2).astype(np.int64)
    smaller = cell - larger * (larger + 1) // 2
    ends = np.sort(np.concatenate([np.repeat(smaller, whole), np.repeat(larger, whole)]))[::-1]
    wanted = np.bincount(nodes_of_ends(ends, original.nodes), minlength=original.nodes)
    target = np.empty(original.nodes, np.int64)
    target[np.lexsort((rng.random(original.nodes), degrees))] = np.sort(wanted)
    keys, facts = _edited(original, target, rng)
    return graph_release(
        original, keys, name="dk-series secgraph, not differentially private", rng=rng, notes=_NOTES, facts=facts
    )


def _edited(original: Graph, target: IntArray, rng: np.random.Generator) -> tuple[IntArray, dict[str, float]]:
    """Return keys of the graph without some edges of nodes that have too many, and with new ones for those with few."""
    nodes, order = original.nodes, rng.permutation(original.edges)
    one, other = (ends[order].astype(np.int64) for ends in original.ends)
    excess = original.degrees - target
    stays = np.ones(order.size, np.bool_)
    _trim(one, other, excess, stays)
    keys, lacking = np.sort(original.keys[order[stays]]), np.repeat(np.arange(nodes), -excess)
    for _ in range(_ROUNDS):
        drawn = rng.permutation(lacking)
        left, right = drawn[: drawn.size // 2], drawn[drawn.size // 2 : drawn.size // 2 * 2]
        new = edge_keys(left, right, nodes)
        fits = np.zeros(new.size, np.bool_)
        fits[np.unique(new, return_index=True)[1]] = True
        fits &= (left != right) & ~among(new, keys)
        keys = np.sort(np.concatenate([keys, new[fits]]))
        lacking = np.concatenate([left[~fits], right[~fits], drawn[drawn.size // 2 * 2 :]])
        if lacking.size < 2:
            break
    return keys, {"ends left without an edge": lacking.size}


@kernel("i8[], i8[], i8[], b1[]")
def _trim(one: IntArray, other: IntArray, excess: IntArray, stays: BoolArray) -> None:
    """Delete edges, in turn, while both their ends have too many; then while one of them has."""
    for needed in (2, 1):
        for edge in range(one.size):
            if stays[edge] and (excess[one[edge]] > 0) + (excess[other[edge]] > 0) >= needed:
                stays[edge] = False
                excess[one[edge]] -= 1
                excess[other[edge]] -= 1
