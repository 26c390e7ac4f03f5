"""The blocks of pairs of a dendrogram, and random edges in them with the same chance for every pair of a block."""

from math import log1p
from typing import NamedTuple

import numpy as np

from unveil._kernels._compile import PLAIN_UP_TO, compiled, loop
from unveil._kernels.graph.dendrogram import Dendrogram
from unveil._kernels.random import State, next_float
from unveil._kernels.types import BoolArray, FloatArray, Int32Array, IntArray


class Blocks(NamedTuple):
    """Disjoint blocks that together hold every pair of nodes, in terms of the order of leaves from left to right.

    A block joins ``left`` nodes from ``begin`` on with the ``right`` nodes that follow them; where ``right`` is 0, it
    holds all pairs among these ``left`` nodes. ``pairs`` counts its pairs, ``edges`` those that are connected.
    """

    begin: IntArray
    left: IntArray
    right: IntArray
    pairs: IntArray
    edges: IntArray

    @property
    def whole(self) -> BoolArray:
        """Whether a block holds all pairs among its nodes."""
        return np.equal(self.right, 0)


def blocks_of(tree: Dendrogram, *, most_between: float, most_inside: float) -> Blocks:
    """Return one block per inner node, except that a small enough subtree becomes a single block.

    A subtree is small enough if its top has at most ``most_between`` pairs, and there are at most ``most_inside`` pairs
    among its leaves. That looks at sizes alone, never at how many pairs are connected.

    >>> from unveil._kernels.graph.dendrogram import dendrogram
    >>> path = np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32)
    >>> tree = dendrogram(np.array([[1, 4], [2, 3]], np.int32), *path)
    >>> blocks_of(tree, most_between=0, most_inside=0).pairs, blocks_of(tree, most_between=2, most_inside=3).edges
    (array([2, 1]), array([2]))
    """
    children, sizes = tree.child.tolist(), tree.size.tolist()
    between, places = tree.edges.tolist(), tree.place[tree.first].tolist()
    inside = _edges_inside(tree)
    rows: list[tuple[int, int, int, int, int]] = []
    waiting = [0] if children else []
    while waiting:
        vertex = waiting.pop()
        left, right = children[vertex]
        all_pairs = sizes[vertex] * (sizes[vertex] - 1) // 2
        if sizes[left] * sizes[right] <= most_between and all_pairs <= most_inside:
            rows.append((places[vertex], sizes[vertex], 0, all_pairs, inside[vertex]))
            continue
        rows.append((places[vertex], sizes[left], sizes[right], sizes[left] * sizes[right], between[vertex]))
        waiting += [side for side in (left, right) if side < len(children)]
    return Blocks(*np.array(rows, np.int64).reshape(-1, 5).T)


def _edges_inside(tree: Dendrogram) -> list[int]:
    """Return for each inner node how many edges there are among the leaves under it."""
    inside: list[int] = tree.edges.tolist()
    parents: list[int] = tree.parent.tolist()
    # A child has fewer leaves than its parent, so that small ones first means children first.
    for vertex in np.argsort(tree.size[: len(inside)], kind="stable").tolist():
        if parents[vertex] >= 0:
            inside[parents[vertex]] += inside[vertex]
    return inside


def draw_edges(blocks: Blocks, chance: FloatArray, order: Int32Array, state: State) -> IntArray:
    """Return the keys of edges drawn at random: every pair of block ``b`` on its own with ``chance[b]``; unsorted.

    The time it takes grows with the number of blocks and of edges drawn, not with that of pairs: how many pairs to
    skip until the next edge has a geometric distribution.

    >>> one = Blocks(*np.array([[0], [3], [0], [3], [1]]))
    >>> np.sort(draw_edges(one, np.ones(1), np.array([2, 0, 1], np.int32), np.zeros(1, np.uint64)))
    array([1, 2, 5])
    """
    expected = int((blocks.pairs * chance).sum())
    run = compiled(_draw) if max(expected, chance.size) > PLAIN_UP_TO else _draw
    return run(blocks.begin, blocks.left, blocks.right, blocks.pairs, chance, order, state, expected + 64)


@loop("i8[], i8[], i8[], i8[], f8[], i4[], u8[], i8")
def _draw(
    begin: IntArray,
    left: IntArray,
    right: IntArray,
    pairs: IntArray,
    chance: FloatArray,
    order: Int32Array,
    state: State,
    room: int,
) -> IntArray:
    keys = np.empty(room, np.int64)
    filled = 0
    for block in range(chance.size):
        if chance[block] <= 0:
            continue
        pair = -1
        while True:
            if chance[block] < 1:
                # As a float: a tiny chance may skip more pairs than an integer can hold.
                skipped = log1p(-next_float(state)) / log1p(-chance[block])
                if skipped >= pairs[block] - pair - 1:
                    break
                pair += int(skipped)
            pair += 1
            if pair >= pairs[block]:
                break
            if right[block] > 0:
                one = begin[block] + pair // right[block]
                other = begin[block] + left[block] + pair % right[block]
            else:
                # On a circle of the nodes, pair by how far apart they are: that numbers all pairs without a root.
                one = begin[block] + pair % left[block]
                other = begin[block] + (pair % left[block] + 1 + pair // left[block]) % left[block]
            low, high = min(order[one], order[other]), max(order[one], order[other])
            if filled == keys.size:
                larger = np.empty(2 * filled, np.int64)
                for place in range(filled):
                    larger[place] = keys[place]
                keys = larger
            keys[filled] = np.int64(low) * order.size + high
            filled += 1
    return keys[:filled].copy()
