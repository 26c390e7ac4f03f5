"""GraphAnon: pseudo nodes give everybody the degree of at least k - 1 others."""

from dataclasses import dataclass

import numpy as np

from unveil._kernels.graph.degree_groups_minimax import minimax_groups
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
    source='Chester and others, "Why Waldo befriended the dummy? k-anonymization of social networks with '
    'pseudo-nodes", 2013',
    aka=("dummy nodes", "pseudo-nodes"),
    least_rows=5,
    needs_edges=True,
    keeps=("edges",),
)
@dataclass(frozen=True, kw_only=True)
class GraphAnon:
    """Add nodes that stand for nobody, so that every degree is shared by at least k nodes; no edge is taken away.

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
            raise InputError(f"hide_new must be true or false, but is {self.hide_new!r}")

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
        """Return how many there must be; each gives a node one edge at most."""
        if largest_rise == 0 or not self.hide_new:
            return largest_rise
        # An odd number of nodes can all get the same degree; see below.
        return max(largest_rise, int(self.k)) | 1


def _hiding_edges(degrees: IntArray, others: IntArray, k: int) -> IntArray:
    """Return edges among the pseudo nodes so that each shares its degree with ``k - 1`` nodes or more.

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
            f"graph-anon can add up to {MOST_EDGES:,} edges, but would have to add {edges:,} for k = {k}. "
            "Take a smaller k"
        )


def _notes(k: int, pseudo: int, smallest: int) -> tuple[str, ...]:
    """Say what a reader would not expect; ``smallest`` is the size of the smallest class, pseudo nodes included."""
    if pseudo == 0:
        return (f"nothing was changed: every degree was shared by at least {k} nodes already",)
    if smallest < k:
        who = (
            "the pseudo node can be told by its"
            if pseudo == 1
            else (f"some of the {pseudo:,} pseudo nodes can be told by their")
        )
        return (f"{who} degree, which fewer than {k} nodes share; hide_new avoids that",)
    return ()
