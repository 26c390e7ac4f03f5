"""Add edges until every degree is shared by at least k nodes."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from unveil._kernels._compile import compiled, loop
from unveil._kernels.graph.degree_groups import raised_degrees, smallest_class
from unveil._kernels.graph.exchanges import settle
from unveil._kernels.graph.roomy_rows import connect, keys_in, shuffle, with_room
from unveil._kernels.graph.rows import among, rows_of
from unveil._kernels.random import State, fresh_state
from unveil._kernels.types import Int32Array, IntArray
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphRelease
from unveil.errors import CannotProtectError, InputError, whole_number
from unveil.protections._listing import protection
from unveil.protections.graph._release import check_class_size, check_enough_nodes, counted, graph_release

EdgeRule = Literal["add", "priority"]


@protection(
    source='Liu and Terzi, "Towards identity anonymization on graphs", 2008',
    aka=("k-DA", "KDA"),
    least_rows=5,
    keeps=("node count",),
)
@dataclass(frozen=True, kw_only=True)
class KDegree:
    """Add edges so that every degree is shared by k nodes.

    An attacker who knows a node's degree then finds at least k nodes. The degrees to reach are those that rise by the
    least in sum; then nodes that lack edges are connected with one another. Where too few others lack any (the largest
    hubs need more partners than there are), some nodes of low degree are given one more, at random among those that
    could help, and both steps are done again.

    Our reading, where the source leaves it open: the least even sum is taken, as no graph has degrees with an odd one;
    nodes are raised for exactly those hubs that lacked partners; and edges added before are exchanged along alternating
    walks before any node is raised. What the release holds is counted again before it is returned. The facts say how
    many edges must be added at least, by the degrees alone: no graph with all edges of the original in which k nodes
    share each degree has fewer new ones, and perhaps none has so few.

    Parameters
    ----------
    k
        How many nodes must share each degree, a whole number from 2.
    attempts
        How often degrees are chosen again at most, a whole number from 1. Where none of them leads to a graph with
        ``edges="add"``, the same number is tried with "priority", and a note says so.
    edges
        "add" keeps every edge. "priority" keeps as many as it can: it reaches the degrees that rise by the least, with
        far fewer new edges at hubs, but exchanges some edges of the graph for others.

    Examples
    --------
    >>> star = Graph.from_edges([0, 0, 0], [1, 2, 3])
    >>> release = KDegree(k=2).apply(star, rng=np.random.default_rng(1))
    >>> sorted(release.released.degrees.tolist()), release.changes.added
    ([2, 2, 3, 3], 2)
    >>> release.facts["least edges to add"]  # degrees 3, 3, 1, 1 would need one, but no graph has them
    1
    """

    k: int = 5
    attempts: int = 100
    edges: EdgeRule = "add"

    def __post_init__(self) -> None:
        check_class_size(self.k)
        whole_number(self.attempts, "attempts")
        if self.edges not in get_args(EdgeRule):
            raise InputError(f"Unknown edges rule {self.edges!r}. Use one of: {', '.join(get_args(EdgeRule))}")

    def apply(self, original: Graph, *, rng: np.random.Generator) -> GraphRelease:
        """Return the graph with edges added, each degree shared by k nodes."""
        check_enough_nodes(self.k, original)
        keys, tries, lacking = self._search(original, rng, keep=self.edges == "add")
        if keys is None and self.edges == "add":
            keys, more, lacking = self._search(original, rng, keep=False)
            tries += more
        if keys is None:
            raise CannotProtectError(self._not_found(original, lacking))
        check_classes(original, keys, self.k)
        notes: tuple[str, ...] = ()
        if self.edges == "add" and not among(original.keys, np.sort(keys)).all():
            said = counted(self.attempts, "attempt", "attempts")
            notes = (f"{said} to add edges alone failed, so edges were exchanged",)
        facts = {"attempts": tries, "least edges to add": self._least_edges(original)}
        return graph_release(original, keys, name="k-degree", rng=rng, notes=notes, facts=facts)

    def _least_edges(self, original: Graph) -> int:
        """Return the minimum number of added edges."""
        falling = np.sort(original.degrees)[::-1]
        return int((raised_degrees(falling, self.k, even=True) - falling).sum()) // 2

    def _search(
        self, original: Graph, rng: np.random.Generator, *, keep: bool
    ) -> tuple[IntArray | None, int, IntArray]:
        """Return keys of a k-anonymous graph or None, attempts, and needs."""
        degrees = original.degrees
        for attempt in range(1, self.attempts + 1):
            degrees = _shared(degrees, self.k, rng)
            keys, lacking = raised(original.start, original.neighbour, degrees, fresh_state(rng), keep=keep)
            if not lacking.any():
                return keys, attempt, lacking
            more = _probe(original, keys, degrees, lacking, rng)
            if not more.any():
                return None, attempt, lacking
            degrees = degrees + more
        return None, self.attempts, lacking

    def _not_found(self, original: Graph, lacking: IntArray) -> str:
        tried = counted(self.attempts, "attempt", "attempts")
        if self.edges == "add":
            tried += f" to add edges alone, and {'1' if self.attempts == 1 else 'as many'} to exchange some as well"
        nodes = counted(int(np.count_nonzero(lacking)), "node", "nodes")
        partners = counted(int(lacking.sum()), "neighbour", "neighbours")
        return (
            f"no graph of the {original.name} has degrees shared by {self.k} nodes, in {tried}: in the "
            f"last one {nodes} still lacked {partners}. Allow more attempts, or take a smaller k"
        )


def _shared(degrees: IntArray, k: int, rng: np.random.Generator) -> IntArray:
    """Return the smallest raised degrees shared by k nodes.

    The sum is even, and ties are broken at random.
    """
    by_lot = rng.permutation(degrees.size)
    order = by_lot[np.argsort(-degrees[by_lot], kind="stable")]
    found = np.empty_like(degrees)
    found[order] = raised_degrees(degrees[order], k, even=True)
    return found


def _probe(original: Graph, keys: IntArray, degrees: IntArray, lacking: IntArray, rng: np.random.Generator) -> IntArray:
    """Return nodes to raise by one edge, or none at capacity.

    A node that lacked some gets its new partners from those that it is not connected to in the graph of the ``keys``
    that was reached. Those in the lower half of the degrees come first: there many nodes share a degree, so that one
    more costs little.
    """
    nodes = original.nodes
    high = np.maximum(original.degrees - np.sort(original.degrees)[(nodes - 1) // 2], 0)
    start, neighbour = rows_of(keys, nodes)
    more = np.zeros(nodes, np.int64)
    for node in rng.permutation(np.flatnonzero(lacking)):
        apart = degrees + more < nodes - 1
        apart[node] = False
        apart[neighbour[start[node] : start[node + 1]]] = False
        candidates = rng.permutation(np.flatnonzero(apart))
        best = candidates[np.lexsort((high[candidates], more[candidates]))]
        more[best[: lacking[node]]] += 1
    return more


def check_classes(original: Graph, keys: IntArray, k: int) -> None:
    """Raise an error if a degree has fewer than k nodes."""
    ends = np.concatenate(np.divmod(keys, max(original.nodes, 1)))
    smallest = smallest_class(np.bincount(ends, minlength=original.nodes))
    if smallest < k:
        raise CannotProtectError(
            f"only {smallest} nodes share a degree of the changed {original.name}, fewer than {k}. "
            "This is a mistake in unveil: please report it"
        )


# Add edges until every node has its target degree.

_PLAIN_UP_TO = 4_000


def raised(
    start: IntArray, neighbour: Int32Array, degrees: IntArray, state: State, *, keep: bool
) -> tuple[IntArray, IntArray]:
    """Return a graph's keys with raised degrees, and missing edges.

    The node that lacks the most is connected to those that lack the most of the others, as in Liu and Terzi, 2008;
    where that leaves no node to connect with, edges are exchanged along the shortest walks there are. With ``keep``,
    exchanges only undo what was added; otherwise they may take away edges of the graph.

    >>> start, neighbour = np.array([0, 1, 2, 2]), np.array([1, 0], np.int32)
    >>> raised(start, neighbour, np.array([2, 2, 2]), np.zeros(1, np.uint64), keep=True)
    (array([1, 2, 5]), array([0, 0, 0]))
    """
    roomy, size, wide = with_room(start, neighbour, degrees)
    need = degrees - size
    kept = size.copy() if keep else np.zeros_like(size)
    run = compiled(_raise) if wide.size > _PLAIN_UP_TO else _raise
    run(roomy, size, wide, kept, need, state)
    return keys_in(roomy, size, wide), need


@loop("i8[], i8[], i4[], i8[], i8[], u8[]")
def _raise(
    start: IntArray, size: IntArray, neighbour: Int32Array, kept: IntArray, need: IntArray, state: State
) -> None:
    _join(start, size, neighbour, need, state)
    settle(start, size, neighbour, kept, need, state)


def _falling(lack: IntArray, state: State) -> tuple[IntArray, IntArray, IntArray]:
    """Return nodes by falling need, positions, and counts per need."""
    n = lack.size
    largest = 0
    for node in range(n):
        largest = max(largest, lack[node])
    at_least = np.zeros(largest + 2, np.int64)
    for node in range(n):
        at_least[lack[node]] += 1
    for count in range(largest - 1, -1, -1):
        at_least[count] += at_least[count + 1]
    order, by_lot, place = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    for node in range(n):
        by_lot[node] = node
    shuffle(by_lot, state)
    filled = np.zeros(largest + 1, np.int64)
    for draw in range(n):
        lot = by_lot[draw]
        place[lot] = at_least[lack[lot] + 1] + filled[lack[lot]]
        filled[lack[lot]] += 1
        order[place[lot]] = lot
    return order, place, at_least


def _lack_one_less(order: IntArray, place: IntArray, at_least: IntArray, lack: IntArray, node: int) -> None:
    """Lower a node's need by one, keeping the order."""
    last = at_least[lack[node]] - 1
    swapped = order[last]
    order[place[node]], order[last] = swapped, node
    place[swapped], place[node] = place[node], last
    at_least[lack[node]] = last
    lack[node] -= 1


def _join(start: IntArray, size: IntArray, neighbour: Int32Array, need: IntArray, state: State) -> None:
    """Connect nodes by falling need, and update ``need``."""
    lack = np.empty(need.size, np.int64)
    for node in range(need.size):
        lack[node] = need[node]
    order, place, at_least = _falling(lack, state)
    marked = np.zeros(need.size, np.bool_)
    partners = np.empty(need.size, np.int64)
    while at_least[1] > 0:
        node = order[0]
        here_first, here_last = start[node], start[node] + size[node]
        for place_in_row in range(here_first, here_last):
            marked[neighbour[place_in_row]] = True
        found = 0
        for here in range(1, at_least[1]):
            if found == lack[node]:
                break
            if not marked[order[here]]:
                partners[found] = order[here]
                found += 1
        for place_in_row in range(here_first, here_last):
            marked[neighbour[place_in_row]] = False
        for chosen in range(found):
            partner = partners[chosen]
            connect(start, size, neighbour, node, partner)
            need[partner] -= 1
            _lack_one_less(order, place, at_least, lack, partner)
        need[node] -= found
        # What it found no node for stays in its need, but it is looked at no more.
        while lack[node] > 0:
            _lack_one_less(order, place, at_least, lack, node)
