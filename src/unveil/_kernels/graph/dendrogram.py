"""A dendrogram over the nodes of a graph: a random one to start from, and how well one explains the graph.

A dendrogram is a full binary tree whose leaves are the nodes of the graph. An inner node stands for the pairs of nodes
that have one end under its left child and the other under its right one; every pair belongs to exactly one inner node.
With ``n`` nodes, inner nodes have the numbers ``0 .. n-2`` (the root is 0) and the leaf of node ``v`` is ``n-1+v``.

The leaves under any vertex of the tree are kept next to one another in ``order``, so that they can be listed, and that
it is seen at once whether a node is among them.
"""

from math import log
from typing import NamedTuple

import numpy as np

from unveil._kernels._compile import PLAIN_UP_TO, compiled, loop
from unveil._kernels.types import FloatArray, Int32Array, IntArray


class Dendrogram(NamedTuple):
    """The arrays of a dendrogram; moves change them in place.

    ``child[r]`` are the left and right child of inner node ``r``. For all vertices, inner nodes and leaves, ``parent``,
    ``size`` (leaves under it), ``ends`` (the sum of their degrees) and ``first`` (its leftmost leaf, as a node of the
    graph). For inner nodes ``edges`` (how many of its pairs are connected) and ``score`` (their log-likelihood).
    ``order`` lists the nodes of the graph from left to right, ``place`` says where each stands in it.
    """

    child: Int32Array
    parent: Int32Array
    size: Int32Array
    ends: IntArray
    first: Int32Array
    edges: IntArray
    score: FloatArray
    order: Int32Array
    place: Int32Array


def part_of_score(edges: int, pairs: int) -> float:
    """Return the log-likelihood of ``edges`` among ``pairs``, all connected with the chance that explains them best.

    It is 0 where none or all are connected, and below 0 otherwise.

    >>> part_of_score(0, 6), round(part_of_score(3, 6), 6)
    (0.0, -4.158883)
    """
    if edges == 0 or edges == pairs:
        return 0.0
    return edges * log(edges / pairs) + (pairs - edges) * log((pairs - edges) / pairs)


def random_children(nodes: int, rng: np.random.Generator) -> Int32Array:
    """Return the children of each inner node of a dendrogram drawn uniformly among all of them; the root is 0.

    One leaf after the other is hung into the tree, above any of the vertices there are with the same chance, which
    makes every one of the ``1 * 3 * 5 * ... * (2n - 3)`` dendrograms equally likely. There must be two nodes or more.

    >>> random_children(2, np.random.default_rng(1)).tolist() in ([[1, 2]], [[2, 1]])
    True
    """
    leaf = nodes - 1
    child = [[leaf, leaf] for _ in range(leaf)]
    parent = [-1] * (2 * nodes - 1)
    root = leaf
    # The vertices so far, when the leaf of node v comes: leaves 0 .. v-1 and inner nodes 0 .. v-2.
    drawn = rng.integers(0, 2 * np.arange(1, nodes) - 1).tolist()
    sides = rng.integers(0, 2, nodes - 1).tolist()
    for inner, (above, side) in enumerate(zip(drawn, sides, strict=True)):
        node = inner + 1
        vertex = above if above < inner else leaf + above - inner
        child[inner] = [leaf + node, vertex] if side else [vertex, leaf + node]
        up = parent[vertex]
        parent[inner] = up
        parent[vertex] = parent[leaf + node] = inner
        if up < 0:
            root = inner
        else:
            child[up][child[up].index(vertex)] = inner
    number = np.arange(2 * nodes - 1, dtype=np.int32)
    number[[0, root]] = root, 0
    numbered = number[np.array(child, np.int32)]
    numbered[[0, root]] = numbered[[root, 0]]
    return numbered


def dendrogram(child: Int32Array, start: IntArray, neighbour: Int32Array) -> Dendrogram:
    """Return the dendrogram with these children over the graph with these rows of neighbours.

    >>> path = np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32)
    >>> tree = dendrogram(np.array([[1, 4], [2, 3]], np.int32), *path)
    >>> tree.edges, tree.order
    (array([1, 1]), array([0, 1, 2], dtype=int32))
    """
    inner = len(child)
    vertices = 2 * inner + 1
    tree = Dendrogram(
        child=np.array(child, np.int32),
        parent=np.full(vertices, -1, np.int32),
        size=np.ones(vertices, np.int32),
        ends=np.concatenate([np.zeros(inner, np.int64), np.diff(start)]),
        first=np.concatenate([np.zeros(inner, np.int32), np.arange(inner + 1, dtype=np.int32)]),
        edges=np.zeros(inner, np.int64),
        score=np.zeros(inner),
        order=np.zeros(inner + 1, np.int32),
        place=np.zeros(inner + 1, np.int32),
    )
    fast = max(vertices, neighbour.size) > PLAIN_UP_TO
    (compiled(_fill) if fast else _fill)(tree, start, neighbour)
    return tree


@loop("Dendrogram(i4[,], i4[], i4[], i8[], i4[], i8[], f8[], i4[], i4[]), const i8[], const i4[]")
def _fill(tree: Dendrogram, start: IntArray, neighbour: Int32Array) -> None:
    """Work out all that follows from the children."""
    inner = len(tree.child)
    # From the root down, so that backwards every child comes before its parent.
    downwards = np.zeros(2 * inner + 1, np.int32)
    waiting, filled, leaves = [0], 0, 0
    while len(waiting):
        vertex = waiting.pop()
        downwards[filled] = vertex
        filled += 1
        if vertex >= inner:
            tree.order[leaves] = vertex - inner
            tree.place[vertex - inner] = leaves
            leaves += 1
        else:
            for side in (1, 0):
                tree.parent[tree.child[vertex, side]] = vertex
                waiting.append(tree.child[vertex, side])
    for vertex in downwards[::-1]:
        if vertex < inner:
            left, right = tree.child[vertex]
            tree.size[vertex] = tree.size[left] + tree.size[right]
            tree.ends[vertex] = tree.ends[left] + tree.ends[right]
            tree.first[vertex] = tree.first[left]
    for node in range(inner + 1):
        for other in neighbour[start[node] : start[node + 1]]:
            if node < other:
                vertex = inner + node
                while not 0 <= tree.place[other] - tree.place[tree.first[vertex]] < tree.size[vertex]:
                    vertex = tree.parent[vertex]
                tree.edges[vertex] += 1
    for vertex in range(inner):
        left, right = tree.child[vertex]
        tree.score[vertex] = part_of_score(tree.edges[vertex], np.int64(tree.size[left]) * tree.size[right])
