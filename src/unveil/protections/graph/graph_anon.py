"""GraphAnon: pseudo nodes give each node a degree shared by k nodes."""

from dataclasses import dataclass

import numpy as np

from unveil._kernels._compile import compiled, loop
from unveil._kernels.graph.rows import edge_keys
from unveil._kernels.types import IntArray
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphRelease
from unveil.errors import CannotProtectError, InputError
from unveil.protections._listing import protection
from unveil.protections.graph._release import (
    MOST_EDGES,
    check_class_size,
    check_edges,
    check_enough_nodes,
    graph_release,
)


@protection(
    source='Chester et al., "Why Waldo befriended the dummy? k-anonymization of social networks with pseudo-nodes", '
    "2013",
    aka=("dummy nodes", "pseudo-nodes"),
    least_rows=5,
    needs_edges=True,
    keeps=("edges",),
)
@dataclass(frozen=True, kw_only=True)
class GraphAnon:
    """Add pseudo nodes until k nodes share each degree; keep all edges.

    Degrees are put in groups of at least k, and all of a group are raised to its highest degree. Of all such groupings
    this takes one whose largest rise is least, and among those one with the fewest edges to add. As many pseudo nodes
    as that largest rise are added, and edges from those who lack some go to the pseudo nodes in turn.

    With ``hide_new`` the pseudo nodes are hidden as well: there are at least k of them and an odd number, and if the
    degrees that they get are not shared by k nodes, edges among them give them all the same degree. That is always
    possible with an odd number, so every degree of the release is shared by at least k nodes, for any graph of at
    least k nodes. Without it, this holds for all but the pseudo nodes.

    The edges among the original nodes stay as they are: whoever can tell pseudo nodes by more than their degree has
    the original graph. Where only some nodes of one degree are raised, lots decide which.

    Parameters
    ----------
    k
        How many nodes must share each degree, from 2 up to the number of nodes.
    hide_new
        Whether pseudo nodes must share their degree with others, too.

    Examples
    --------
    >>> star = Graph.from_edges([0] * 9, range(1, 10))
    >>> release = GraphAnon(k=3).apply(star, rng=np.random.default_rng(1))
    >>> release.pseudo_nodes, release.changes.added
    (9, 16)
    >>> np.unique(release.released.degrees, return_counts=True)
    (array([1, 2, 9]), array([9, 7, 3]))
    """

    k: int = 5
    hide_new: bool = True

    def __post_init__(self) -> None:
        check_class_size(self.k)
        if not isinstance(self.hide_new, bool):
            raise InputError(f"hide_new is {self.hide_new!r}. Use true or false")

    def apply(self, original: Graph, *, rng: np.random.Generator) -> GraphRelease:
        """Return the graph with pseudo nodes, all numbered at random."""
        check_edges(original, what="graph-anon")
        check_enough_nodes(self.k, original)
        by_lot = rng.permutation(original.nodes)
        order = by_lot[np.argsort(-original.degrees[by_lot], kind="stable")]
        degrees = original.degrees[order]
        rise = degrees[minimax_groups(degrees, int(self.k))] - degrees
        _check_size(int(rise.sum()), int(self.k))
        pseudo = self._pseudo_nodes(int(rise.max()))
        new = np.empty((0, 2), np.int64)
        if pseudo:
            turn = np.arange(int(rise.sum())) % pseudo
            new = np.stack([np.repeat(order, rise), original.nodes + turn], axis=1)
            if self.hide_new:
                among_new = _hiding_edges(np.bincount(turn, minlength=pseudo), degrees + rise, int(self.k))
                new = np.concatenate([new, original.nodes + among_new])
        nodes = original.nodes + pseudo
        one, other = original.ends
        keys = np.concatenate([edge_keys(one, other, nodes), edge_keys(new[:, 0], new[:, 1], nodes)])
        reached = np.bincount(new.ravel(), minlength=nodes) + np.pad(original.degrees, (0, pseudo))
        return graph_release(
            original,
            keys,
            name="graph-anon",
            rng=rng,
            nodes=nodes,
            notes=_notes(int(self.k), pseudo, int(np.bincount(reached)[reached].min())),
        )

    def _pseudo_nodes(self, largest_rise: int) -> int:
        """Return the minimum number of pseudo nodes."""
        if largest_rise == 0 or not self.hide_new:
            return largest_rise
        # An odd number of nodes can all get the same degree; see below.
        return max(largest_rise, int(self.k)) | 1


def _hiding_edges(degrees: IntArray, others: IntArray, k: int) -> IntArray:
    """Return edges among pseudo nodes, so that k nodes share each degree.

    The pseudo nodes are an odd number of at least ``k``, and those with one edge more come before the rest. If the low
    ones are even in number, one edge between every two of them makes all degrees the same. Otherwise the
    high ones are even in number: a path through all low ones that starts and ends at a high one gives the low ones
    two more and these high ones one more, and so does an edge between every two of the remaining high ones. So all
    of them have the same degree, and they are at least ``k``.
    """
    of_each = np.bincount(np.concatenate([degrees, others]))
    if of_each[degrees].min() >= k:
        return np.empty((0, 2), np.int64)
    high = int((degrees == degrees[0]).sum())
    low_nodes = np.arange(high, degrees.size)
    if low_nodes.size % 2 == 0:
        return low_nodes.reshape(-1, 2)
    path = np.concatenate([[0], low_nodes, [1]])
    return np.concatenate([np.stack([path[:-1], path[1:]], axis=1), np.arange(2, high).reshape(-1, 2)])


def _check_size(edges: int, k: int) -> None:
    if edges > MOST_EDGES:
        raise CannotProtectError(
            f"graph-anon would add {edges:,} edges for k = {k}, above the maximum of {MOST_EDGES:,}. Take a smaller k"
        )


def _notes(k: int, pseudo: int, smallest: int) -> tuple[str, ...]:
    """Return notes on the result; ``smallest`` is the smallest class size."""
    if pseudo == 0:
        return (f"nothing was changed: at least {k} nodes already share each degree",)
    if smallest < k:
        who = (
            "the pseudo node is recognizable by its"
            if pseudo == 1
            else (f"some of the {pseudo:,} pseudo nodes are recognizable by their")
        )
        return (f"{who} degree, which fewer than {k} nodes share; hide_new avoids that",)
    return ()


# Groups of similar degrees in which no node has to be raised far.

_PLAIN_STEPS = 20_000


def minimax_groups(degrees: IntArray, k: int) -> IntArray:
    """Return the group start of each of the descending ``degrees``.

    All of a group will be raised to its first degree. Of all ways to cut the degrees into groups of at least ``k``,
    this one has the least largest rise, and among those with that one the least sum of rises. Groups have fewer than
    ``2 k`` members, because a larger one could be cut in two at no cost. There must be at least ``k`` degrees. Takes
    time in proportion to their number times ``k``.

    >>> minimax_groups(np.array([9, 9, 5, 5, 4]), 2)
    array([0, 0, 2, 2, 2])
    """
    steps = degrees.size * min(k, degrees.size)
    limit, cheapest = (_limit, _cheapest) if steps <= _PLAIN_STEPS else (compiled(_limit), compiled(_cheapest))
    return cheapest(degrees, k, limit(degrees, k))


@loop("i8[], i8")
def _limit(degrees: IntArray, k: int) -> int:
    """Return the minimax rise of any cut into groups of ``k``."""
    n = degrees.size
    above = degrees[0] + 1
    rise = np.full(n + 1, above)
    rise[0] = 0
    for end in range(k, n + 1):
        for size in range(k, min(2 * k, end + 1)):
            largest = max(rise[end - size], degrees[end - size] - degrees[end - 1])
            rise[end] = min(rise[end], largest)
    return int(rise[n])


@loop("i8[], i8, i8")
def _cheapest(degrees: IntArray, k: int, limit: int) -> IntArray:
    """Return group starts of the cheapest cut within ``limit``."""
    n = degrees.size
    below = np.zeros(n + 1, np.int64)
    for place in range(n):
        below[place + 1] = below[place] + degrees[place]
    impossible = n * (degrees[0] + 1)
    cost = np.full(n + 1, impossible)
    cost[0] = 0
    length = np.zeros(n + 1, np.int64)
    for end in range(k, n + 1):
        for size in range(k, min(2 * k, end + 1)):
            begin = end - size
            if degrees[begin] - degrees[end - 1] > limit or cost[begin] == impossible:
                continue
            total = cost[begin] + size * degrees[begin] - (below[end] - below[begin])
            if total < cost[end]:
                cost[end] = total
                length[end] = size
    first = np.empty(n, np.int64)
    end = n
    while end > 0:
        begin = end - length[end]
        for place in range(begin, end):
            first[place] = begin
        end = begin
    return first
