"""Dendrograms over the nodes of a graph: random start and likelihood.

A dendrogram is a full binary tree whose leaves are the nodes of the graph. An inner node stands for the pairs of nodes
that have one end under its left child and the other under its right one; every pair belongs to exactly one inner node.
With ``n`` nodes, inner nodes have the numbers ``0 .. n-2`` (the root is 0) and the leaf of node ``v`` is ``n-1+v``.

The leaves under any vertex of the tree are kept next to one another in ``order``, so that they can be listed, and that
it is seen at once whether a node is among them.
"""

from math import exp, log
from typing import NamedTuple

import numpy as np

from unveil._kernels._compile import PLAIN_UP_TO, compiled, loop
from unveil._kernels.random import State, below, next_float
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
    """Return the maximum log-likelihood of ``edges`` among ``pairs``.

    It is 0 where none or all are connected, and below 0 otherwise.

    >>> part_of_score(0, 6), round(part_of_score(3, 6), 6)
    (0.0, -4.158883)
    """
    if edges == 0 or edges == pairs:
        return 0.0
    return edges * log(edges / pairs) + (pairs - edges) * log((pairs - edges) / pairs)


def random_children(nodes: int, rng: np.random.Generator) -> Int32Array:
    """Return the children of a uniformly random dendrogram; the root is 0.

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
    """Return the dendrogram with these children over a graph.

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
    """Compute all values that follow from the children."""
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


# A walk over dendrograms: two neighboring subtrees change places, and the better the result the likelier it stays.
#
# Around an inner node ``lower`` that is not the root there are three subtrees: its two children, and its sibling under
# ``upper``, its parent. One of the three pairs is joined first, at ``lower``, and a move proposes one of the other two.
# Only the counts of ``lower`` and ``upper`` change, and their sum does not.

# A plain move takes about 20 µs; walks come in some 20 stretches, so that a plain one is over in half a second.
_PLAIN_MOVES = 1_000


def walk(
    tree: Dendrogram, start: IntArray, neighbour: Int32Array, state: State, *, moves: int, factor: float
) -> tuple[int, float]:
    """Walk the dendrogram; return moves taken and mean log-likelihood.

    In the long run each dendrogram comes up with a chance that grows as ``exp(factor * log-likelihood)``. There must
    be three nodes or more, else there is nothing to move.

    Parameters
    ----------
    tree
        Where to begin; where the walk ended is left in it.
    start, neighbour
        The rows of neighbors of the graph.
    state
        The state of the random numbers, moved on.
    moves
        How many moves to propose, at least one.
    factor
        How much a gain in log-likelihood counts; 0 walks at random.
    """
    spare = np.empty(tree.order.size, np.int32)
    run = compiled(_walk) if moves > _PLAIN_MOVES else _walk
    taken, total = run(tree, start, neighbour, state, spare, moves, factor)
    return taken, total / moves


def edges_between(tree: Dendrogram, start: IntArray, neighbour: Int32Array, one: int, other: int) -> int:
    """Return the number of edges between leaves of two subtrees.

    The leaves under ``one`` are listed.
    """
    begin = tree.place[tree.first[one]]
    target, width = tree.place[tree.first[other]], tree.size[other]
    count = 0
    for place in range(begin, begin + tree.size[one]):
        node = tree.order[place]
        for entry in range(start[node], start[node + 1]):
            if 0 <= tree.place[neighbour[entry]] - target < width:
                count += 1
    return count


def swap_blocks(tree: Dendrogram, spare: Int32Array, begin: int, middle: int, end: int) -> None:
    """Swap the leaves ``order[begin:middle]`` and ``order[middle:end]``, keeping their order."""
    order = tree.order
    ahead, behind = middle - begin, end - middle
    if ahead <= behind:
        for step in range(ahead):
            spare[step] = order[begin + step]
        for place in range(begin, begin + behind):
            order[place] = order[place + ahead]
        for step in range(ahead):
            order[begin + behind + step] = spare[step]
    else:
        for step in range(behind):
            spare[step] = order[middle + step]
        for place in range(middle - 1, begin - 1, -1):
            order[place + behind] = order[place]
        for step in range(behind):
            order[begin + step] = spare[step]
    for place in range(begin, end):
        tree.place[order[place]] = place


def rehang(tree: Dendrogram, spare: Int32Array, lower: int, out: int) -> None:
    """Swap the child ``out`` of ``lower`` with the sibling of ``lower``.

    The leaves keep their order, or the second and third of the three subtrees change places: so the leftmost leaf
    under ``upper``, and under all above it, stays the same.
    """
    child, size = tree.child, tree.size
    upper = tree.parent[lower]
    side = 0 if child[upper, 0] == lower else 1
    sibling = child[upper, 1 - side]
    middle = child[lower, 1 - side]
    stays = child[lower, 0] if child[lower, 1] == out else child[lower, 1]
    left, right = (stays, sibling) if side == 0 else (sibling, stays)
    if out == middle:
        begin = tree.place[tree.first[left]] + size[left]
        swap_blocks(tree, spare, begin, begin + size[out], begin + size[out] + size[right])
    first, second = (out, lower) if side == 0 and out != middle else (lower, out)
    child[upper, 0], child[upper, 1] = first, second
    child[lower, 0], child[lower, 1] = left, right
    tree.parent[out], tree.parent[sibling] = upper, lower
    tree.first[lower] = tree.first[left]
    size[lower] = size[left] + size[right]
    tree.ends[lower] = tree.ends[left] + tree.ends[right]


@loop("Dendrogram(i4[,], i4[], i4[], i8[], i4[], i8[], f8[], i4[], i4[]), const i8[], const i4[], u8[], i4[], i8, f8")
def _walk(
    tree: Dendrogram, start: IntArray, neighbour: Int32Array, state: State, spare: Int32Array, moves: int, factor: float
) -> tuple[int, float]:
    child, edges, score = tree.child, tree.edges, tree.score
    inner = len(child)
    now = 0.0
    for vertex in range(inner):
        now += score[vertex]
    taken, total = 0, 0.0
    for _ in range(moves):
        # One number says which inner node below the root, and which of its children would go out.
        drawn = below(state, 2 * (inner - 1))
        lower, side = 1 + drawn // 2, drawn % 2
        out, stays, upper = child[lower, side], child[lower, 1 - side], tree.parent[lower]
        sibling = child[upper, 0] if child[upper, 1] == lower else child[upper, 1]
        joined = _edges_after(tree, start, neighbour, stays, out, sibling, edges[upper])
        rest = edges[lower] + edges[upper] - joined
        pairs, rest_pairs = _pairs_after(tree, stays, out, sibling)
        score_lower, score_upper = part_of_score(joined, pairs), part_of_score(rest, rest_pairs)
        gain = score_lower + score_upper - score[lower] - score[upper]
        if gain >= 0 or next_float(state) < exp(factor * gain):
            rehang(tree, spare, lower, out)
            edges[lower], edges[upper] = joined, rest
            score[lower], score[upper] = score_lower, score_upper
            now += gain
            taken += 1
        total += now
    return taken, total


def _pairs_after(tree: Dendrogram, stays: int, out: int, sibling: int) -> tuple[int, int]:
    """Return the pairs of the lower and upper node after a swap."""
    size = tree.size
    return np.int64(size[stays]) * size[sibling], np.int64(size[out]) * (size[stays] + size[sibling])


def _edges_after(
    tree: Dendrogram, start: IntArray, neighbour: Int32Array, stays: int, out: int, sibling: int, split: int
) -> int:
    """Return the edges between sibling and remaining child.

    ``split`` is the number of edges with both children.

    They are found from whichever of the three subtrees has the fewest ends of edges: nearly always very few.
    """
    ends = tree.ends
    if ends[stays] <= ends[out] and ends[stays] <= ends[sibling]:
        return edges_between(tree, start, neighbour, stays, sibling)
    if ends[sibling] <= ends[out]:
        return edges_between(tree, start, neighbour, sibling, stays)
    return split - edges_between(tree, start, neighbour, out, sibling)
