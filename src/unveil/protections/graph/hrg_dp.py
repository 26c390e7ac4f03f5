"""A graph from a differentially private hierarchical random graph (HRG)."""

from dataclasses import dataclass
from math import log, log1p, sqrt
from typing import NamedTuple

import numpy as np

from unveil._kernels._compile import PLAIN_UP_TO, compiled, loop
from unveil._kernels.random import State, fresh_state, next_float
from unveil._kernels.types import BoolArray, FloatArray, Int32Array, IntArray
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphRelease
from unveil.data.ledger import Ledger, Query, check_epsilon
from unveil.errors import InputError, share, whole_number
from unveil.protections._listing import protection
from unveil.protections.graph._dendrogram import Dendrogram, dendrogram, random_children, walk
from unveil.protections.graph._release import check_drawable, check_edges, counted, graph_release

# A subtree becomes one block where noise of scale 1 / epsilon would change the density of its top by at least the
# first, and the density among all its leaves by at least the second.
_COARSE_BETWEEN = 0.05
_COARSE_INSIDE = 0.01

_WINDOWS = 20
# The published code never stops before 1000; on real graphs of thousands of nodes a few hundred is the least.
_FEW_MOVES = 100
_STANDARD_ERRORS = 3.0
# Two cliques of 30 are distinguished by every walk with a scale of 3.1, and by few with a scale of 2, however long.
_STUCK_BELOW = 2.5

# Two nodes have a single dendrogram: nothing is asked of the graph to find it.
_LEAST_NODES = 3
# Less of epsilon leaves nothing but noise, and numbers that do not fit into floats.
_LEAST_PART = 1e-9

_PUBLIC = ("the number of nodes", "that there is an edge at all")


@protection(
    kind="synthetic",
    source="Xiao, Chen and Tan 2014",
    name="hrg-dp",
    aka=("HRG-DP", "HRG"),
    least_rows=2,
    needs_edges=True,
    keeps=("node count",),
)
@dataclass(frozen=True, kw_only=True)
class HrgDP:
    """Fit an HRG with edge differential privacy, and draw a graph.

    A dendrogram over the nodes is drawn by the exponential mechanism: the better it explains the graph, the likelier.
    Each of its inner nodes splits nodes in two groups, and the number of edges between these is counted with Laplace
    noise; a small subtree counts as one group. Then each pair is connected on its own with the noisy density of its
    block. What is protected is whether any one edge is there; that a node exists is public.

    The dendrogram comes from a walk, and has the right distribution only once that has gone on for long enough: so its
    part of epsilon holds in the limit. The notes of a release say how long the walk was, and whether its likelihood
    was still rising. These notes and the facts are for the holder: they look at the graph and are not covered by
    epsilon.

    Parameters
    ----------
    epsilon
        The privacy budget; smaller means more private. With 1 or less, large graphs come out close to random ones.
    share_structure
        How much of it the dendrogram gets, above 0 and below 1; the counts of edges get the rest.
    moves_per_node
        How long the walk is, in moves per node, from 1.

    Examples
    --------
    >>> two_triangles = Graph.from_edges([0, 0, 1, 3, 3, 4], [1, 2, 2, 4, 5, 5])
    >>> release = HrgDP(epsilon=2).apply(two_triangles, rng=np.random.default_rng(1))
    >>> release.released.nodes, release.ledger.total
    (6, 2.0)
    """

    epsilon: float = 1.0
    share_structure: float = 0.5
    moves_per_node: int = 1000

    def __post_init__(self) -> None:
        check_epsilon(self.epsilon)
        advice = "The dendrogram and the counts of edges both need a part of epsilon: write half as 0.5"
        share(self.share_structure, "share_structure", zero=False, one=False, advice=advice)
        if min(self._parts) < _LEAST_PART:
            raise InputError(
                f"the dendrogram and the counts need {_LEAST_PART:g} of epsilon each, but get "
                f"{self._parts[0]:g} and {self._parts[1]:g}. Take a larger epsilon, or share it more evenly"
            )
        whole_number(self.moves_per_node, "moves_per_node", advice="Write 1000, which is usual")

    @property
    def _parts(self) -> tuple[float, float]:
        """Shares of epsilon for the dendrogram and the edge counts."""
        for_tree = self.epsilon * self.share_structure
        return for_tree, self.epsilon - for_tree

    def apply(self, original: Graph, *, rng: np.random.Generator) -> GraphRelease:
        """Return a random graph; each released node is a leaf."""
        check_edges(original, what="hrg-dp")
        state = fresh_state(rng)
        for_tree, for_counts = self._parts
        tree = dendrogram(random_children(original.nodes, rng), original.start, original.neighbour)
        facts, notes = self._walk(tree, original, state, scale=2 * most_change(original.nodes) / for_tree)
        blocks = blocks_of(
            tree,
            most_between=1 / (for_counts * _COARSE_BETWEEN),
            most_inside=1 / (for_counts * _COARSE_INSIDE),
        )
        chances = noisy_chances(blocks, for_counts, rng)
        check_drawable(float(chances @ blocks.pairs), what="hrg-dp")
        keys = draw_edges(blocks, chances, tree.order, state)
        return graph_release(
            original,
            keys,
            name="hrg-dp",
            rng=rng,
            kind="synthetic",
            notes=tuple(notes),
            facts={**facts, "blocks": blocks.edges.size, "blocks of one density": int(blocks.whole.sum())},
            ledger=self._ledger(original.nodes, blocks.edges.size),
        )

    def _walk(
        self, tree: Dendrogram, original: Graph, state: State, *, scale: float
    ) -> tuple[dict[str, float], list[str]]:
        """Walk to a dendrogram; return its facts and notes."""
        if original.nodes < _LEAST_NODES:
            return {"moves done": 0, "moves taken": 0}, []
        moves = int(self.moves_per_node) * original.nodes
        taken, means = 0, []
        for window in np.diff(np.arange(_WINDOWS + 1) * moves // _WINDOWS).tolist():
            if window:
                more, mean = walk(tree, original.start, original.neighbour, state, moves=window, factor=1 / scale)
                taken += more
                means.append(mean)
        return {"moves done": moves, "moves taken": taken}, self._notes(moves, np.array(means), scale)

    def _notes(self, moves: int, means: FloatArray, scale: float) -> list[str]:
        """Return notes on the scope of epsilon and on convergence."""
        limit = f"epsilon of the dendrogram only holds for a walk of infinite length; {moves:,} moves were done"
        if self.moves_per_node < _FEW_MOVES:
            return [
                limit,
                f"warning: a walk of {counted(self.moves_per_node, 'move', 'moves')} per node is too short for the "
                "sampler to mix, and the dendrogram is nearly random. "
                f"Set moves_per_node to at least {_FEW_MOVES}, better 1000",
            ]
        if scale < _STUCK_BELOW:
            return [
                limit,
                "warning: the sampler may not have mixed: with so large an epsilon the walk hardly leaves its first "
                "good dendrogram. Set epsilon or share_structure lower",
            ]
        if still_rising(means, scale):
            return [
                limit,
                f"warning: with {self.moves_per_node} moves per node the sampler has not mixed: the likelihood still "
                "rose in the second half of the walk. Set moves_per_node higher",
            ]
        return [limit]

    def _ledger(self, nodes: int, blocks: int) -> Ledger:
        """Return the epsilon spent: on one dendrogram and its counts."""
        for_tree, for_counts = self._parts
        most = most_change(nodes)
        counts = Query(
            name="edges in each block",
            mechanism="Laplace",
            sensitivity=1,
            scale=1 / for_counts,
            cost=for_counts,
            answers=blocks,
            part="blocks",
        )
        if nodes < _LEAST_NODES:
            return Ledger(epsilon=self.epsilon, queries=(counts,), public=_PUBLIC)
        tree = Query(
            name="dendrogram", mechanism="exponential", sensitivity=most, scale=2 * most / for_tree, cost=for_tree
        )
        return Ledger(epsilon=self.epsilon, queries=(tree, counts), public=_PUBLIC)


def most_change(nodes: int) -> float:
    """Return the sensitivity of a dendrogram's log-likelihood to one edge.

    An edge belongs to one inner node. Its part changes most from no edge to one, and the more so the more pairs the
    node has; at most ``N = floor(n / 2) * ceil(n / 2)``. The change there is ``N ln N - (N - 1) ln(N - 1)``.

    >>> round(most_change(4039), 2)
    16.22
    """
    pairs = (nodes // 2) * ((nodes + 1) // 2)
    # Written so that no two large numbers are subtracted.
    return log(pairs) - (pairs - 1) * np.log1p(-1 / pairs).item() if pairs > 1 else 0.0


# The blocks of pairs of a dendrogram, and random edges in them with the same chance for every pair of a block.


class Blocks(NamedTuple):
    """Disjoint blocks of all node pairs, by leaf order.

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
    """Return one block per inner node, small subtrees merged.

    A subtree is small enough if its top has at most ``most_between`` pairs, and there are at most ``most_inside`` pairs
    among its leaves. That looks at sizes alone, never at how many pairs are connected.

    >>> from unveil.protections.graph._dendrogram import dendrogram
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
    """Return the number of edges under each inner node."""
    inside: list[int] = tree.edges.tolist()
    parents: list[int] = tree.parent.tolist()
    # A child has fewer leaves than its parent, so that small ones first means children first.
    for vertex in np.argsort(tree.size[: len(inside)], kind="stable").tolist():
        if parents[vertex] >= 0:
            inside[parents[vertex]] += inside[vertex]
    return inside


def draw_edges(blocks: Blocks, chance: FloatArray, order: Int32Array, state: State) -> IntArray:
    """Return keys of random edges: pairs of block ``b`` with ``chance[b]``.

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


def noisy_chances(blocks: Blocks, epsilon: float, rng: np.random.Generator) -> FloatArray:
    """Return each block's noisy density, 0 to 1."""
    counted = blocks.edges + rng.laplace(0.0, 1 / epsilon, blocks.edges.size)
    return np.clip(counted / blocks.pairs, 0.0, 1.0)


def still_rising(means: FloatArray, scale: float) -> bool:
    """Return whether the log-likelihood still rises late in a walk.

    Clearly: by three standard errors of the means of windows, and by ``scale``, which makes a dendrogram ``e`` times
    as likely; windows are as long as each other.

    >>> still_rising(np.arange(20.0), 1.0), still_rising(np.array([0.0, 3.0] * 10), 1.0)
    (True, False)
    """
    quarter = means.size // 4
    before, after = means[quarter : 2 * quarter], means[-quarter:]
    rise = float(after.mean() - before.mean())
    return rise > scale and rise > _STANDARD_ERRORS * sqrt((before.var(ddof=1) + after.var(ddof=1)) / quarter)
