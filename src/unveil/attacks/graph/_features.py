"""Features of the surroundings of nodes, and how far both graphs differ in them."""

from typing import Any

import numpy as np

from unveil._kernels.graph.clustering import triangles
from unveil._kernels.graph.mean_field import Chances
from unveil._kernels.types import FloatArray, IntArray
from unveil.data.graph import Graph

#: The auxiliary graph has at most this share of the edges of the release, where the difference is learned.
MOST_OVERLAP = 0.98
# Added to the variances of the errors, so that none is 0.
_RIDGE = 1e-3
# A smaller variance is rounding.
_LEAST_VARIANCE = 1e-10
# Nodes within so many steps are counted if that takes no more operations than this.
_MOST_OPERATIONS = 2e7


def feature_prior(
    released: Graph,
    auxiliary: Graph,
    surroundings: tuple[FloatArray, FloatArray],
    overlap: float,
    nodes: tuple[IntArray, IntArray],
    rng: np.random.Generator,
) -> Chances:
    """Return log weights of pairs by their features, up to a constant.

    A linear model of the auxiliary features given the released ones, with normal errors, is fitted to two copies of the
    release, of which each has the share ``overlap`` of the edges of the other.
    """
    one, other, own = thinned_copies(released, auxiliary, overlap, rng)
    features = [node_features(one)[own], node_features(other), *surroundings]
    count = min(each.shape[1] for each in features)
    here, there, row, column = (each[:, :count] for each in features)
    weight = np.linalg.lstsq(here, there, rcond=None)[0]
    errors = there - here @ weight
    spread = errors.T @ errors / max(len(errors), 1) + _RIDGE * np.eye(count)
    scale = np.linalg.cholesky(np.linalg.inv(spread))
    one_side, other_side = (row[nodes[0]] @ weight) @ scale, column[nodes[1]] @ scale
    gap = (one_side**2).sum(axis=1)[:, None] + (other_side**2).sum(axis=1) - 2 * one_side @ other_side.T
    return np.asarray(-0.5 * gap, np.float32)


def thinned_copies(
    released: Graph, auxiliary: Graph, overlap: float, rng: np.random.Generator
) -> tuple[Graph, Graph, IntArray]:
    """Return two copies of a release with about that overlap, and the nodes of the first that the second has."""
    share = min(1.0, auxiliary.edges / max(released.edges, 1))
    own = np.arange(released.nodes)
    other = released
    if auxiliary.nodes < released.nodes:
        own = np.sort(rng.choice(released.nodes, auxiliary.nodes, replace=False))
        other = among_nodes(released, own)
        share = min(1.0, auxiliary.edges / max(other.edges, 1))
    if overlap == 1:
        return released, thinned(other, min(share, MOST_OVERLAP), rng), own
    return thinned(released, overlap, rng), thinned(other, overlap * share, rng), own


def thinned(graph: Graph, share: float, rng: np.random.Generator) -> Graph:
    kept = rng.choice(graph.edges, round(share * graph.edges), replace=False)
    return Graph.from_keys(np.sort(graph.keys[kept]), graph.nodes)


def among_nodes(graph: Graph, nodes: IntArray) -> Graph:
    place = np.full(graph.nodes, -1)
    place[nodes] = np.arange(nodes.size)
    one, other = (place[ends] for ends in graph.ends)
    both = (one >= 0) & (other >= 0)
    return Graph.from_edges(one[both], other[both], nodes=nodes.size)


def node_features(graph: Graph) -> FloatArray:
    """Return standardized features of each node, one column each.

    The degree, triangles, core numbers, numbers of walks, means and spread of neighbors' degrees, and nodes within two
    and three steps. On scales on which they vary about as much at large as at small values.
    """
    matrix = graph.to_sparse().astype(np.float64).tocsr()
    degree = np.asarray(graph.degrees, np.float64)
    mean = 1 / np.maximum(degree, 1)
    logs = np.log1p(degree)
    found = [2 * np.sqrt(degree + 0.25), 2 * np.sqrt(triangles(graph.start, graph.neighbour) + 0.25)]
    walks = degree
    for _ in range(4):
        walks = matrix @ walks
        found.append(np.log1p(walks))
    for scale in (logs, mean):
        one = mean * (matrix @ scale)
        found += [one, mean * (matrix @ one)]
    variance = mean * (matrix @ logs**2) - (mean * (matrix @ logs)) ** 2
    found.append(np.sqrt(np.where(variance > _LEAST_VARIANCE, variance, 0.0)))
    row = np.repeat(np.arange(graph.nodes), graph.degrees)
    largest = np.zeros(graph.nodes)
    np.maximum.at(largest, row, logs[graph.neighbour])
    found.append(largest)
    core = degree
    for _ in range(3):
        core = _h_index(row, core[graph.neighbour], graph)
        found.append(np.log1p(core))
    found += _reached(matrix)
    features = np.column_stack(found)
    return np.asarray((features - features.mean(axis=0)) / (features.std(axis=0) + 1e-9), np.float64)


def _h_index(row: IntArray, value: FloatArray, graph: Graph) -> FloatArray:
    """Return for each node the most h such that h neighbors have a value of h or more; repeated, the core number."""
    order = np.lexsort((-value, row))
    place = np.arange(row.size) - graph.start[row] + 1
    largest = np.zeros(graph.nodes)
    np.maximum.at(largest, row, np.minimum(value[order], place))
    return largest


def _reached(matrix: Any) -> list[FloatArray]:
    """Return the logarithm of how many nodes are within two, three and four steps."""
    from scipy.sparse import eye_array

    near = (matrix + eye_array(matrix.shape[0])).tocsr()
    found, reached, per_node = [], near, near.nnz / near.shape[0]
    for _ in range(3):
        if reached.nnz * per_node > _MOST_OPERATIONS:
            break
        reached = reached @ near
        reached.data[:] = 1.0
        found.append(np.log(np.diff(reached.indptr)))
    return found
