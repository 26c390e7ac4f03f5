"""UMGA: k-degree anonymity with few edge changes."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from unveil._kernels._compile import compiled, loop
from unveil._kernels.graph.degree_groups import is_graphic, nearest_degrees
from unveil._kernels.graph.exchanges import follow, settle
from unveil._kernels.graph.roomy_rows import has_edge, keys_in, shuffle, with_room
from unveil._kernels.random import State, below, fresh_state
from unveil._kernels.types import BoolArray, Int32Array, IntArray
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphRelease
from unveil.errors import CannotProtectError, InputError, whole_number
from unveil.protections._listing import protection
from unveil.protections.graph._release import check_class_size, check_enough_nodes, counted, graph_release
from unveil.protections.graph.k_degree import check_classes

Selection = Literal["random", "nc"]


@protection(
    source='Casas-Roma, Herrera-Joancomartí and Torra, "k-Degree anonymity and edge selection", 2017',
    aka=("UMGA",),
    least_rows=5,
    keeps=("node count",),
)
@dataclass(frozen=True, kw_only=True)
class Umga:
    """Add, remove, and move edges until k nodes share each degree.

    The degrees to reach come from optimal microaggregation: groups of at least k nodes whose degrees have the least
    squares within them. Each group gets its mean, rounded down or up such that the number of edges changes as little as
    can be: the choice is exact. Where no choice has an even sum, or no graph has such degrees, it is done with k + 1,
    and a note says so. Then edges change until every degree is reached.

    Our reading, where the source leaves it open: of the choices that keep the number of edges best, one with the least
    squares is taken; and where no single move is possible, as in dense graphs, edges are exchanged along longer walks
    that change no other person's degree, so that graphs work on which the source's program does not end.

    Parameters
    ----------
    k
        How many nodes must share each degree, a whole number from 2.
    edge_selection
        "random" changes edges at random; "nc" looks at some drawn at random (a number that grows with the logarithm of
        how many there are) and changes those with the least neighborhood centrality: whose ends share most neighbors.
    attempts
        How often the change of edges is begun again with other lots at most, a whole number from 1.

    Examples
    --------
    >>> star = Graph.from_edges([0, 0, 0, 0, 0], [1, 2, 3, 4, 5])
    >>> release = Umga(k=2).apply(star, rng=np.random.default_rng(1))
    >>> sorted(release.released.degrees.tolist()), release.changes.added, release.changes.removed
    ([1, 1, 1, 1, 3, 3], 2, 2)
    """

    k: int = 5
    edge_selection: Selection = "random"
    attempts: int = 10

    def __post_init__(self) -> None:
        check_class_size(self.k)
        whole_number(self.attempts, "attempts")
        if self.edge_selection not in get_args(Selection):
            raise InputError(
                f"Unknown edge_selection {self.edge_selection!r}. Use one of: {', '.join(get_args(Selection))}"
            )

    def apply(self, original: Graph, *, rng: np.random.Generator) -> GraphRelease:
        """Return the graph with edited edges, each degree shared by k nodes."""
        check_enough_nodes(self.k, original)
        used, degrees = self._degrees(original, rng)
        for _ in range(self.attempts):
            keys, lacking, longer = changed_to(
                original.start,
                original.neighbour,
                degrees,
                fresh_state(rng),
                by_relevance=self.edge_selection == "nc",
            )
            if not lacking.any():
                break
        else:
            tried = "only attempt" if self.attempts == 1 else f"last of {self.attempts:,} attempts"
            stuck = counted(int(np.count_nonzero(lacking)), "node", "nodes")
            raise CannotProtectError(
                f"the degrees of the {original.name} could not be shared by {used} nodes: in the "
                f"{tried} {stuck} had no edge left to change. With {original.nodes:,} nodes and "
                f"{counted(original.edges, 'edge', 'edges')} the graph is too dense. Allow more attempts, or take a "
                "smaller k"
            )
        check_classes(original, keys, self.k)
        return graph_release(
            original,
            keys,
            name="umga",
            rng=rng,
            notes=self._said(used, longer),
            facts={"k used": used, "longer exchanges": longer},
        )

    def _degrees(self, original: Graph, rng: np.random.Generator) -> tuple[int, IntArray]:
        """Return the feasible k and the target degrees."""
        by_lot = rng.permutation(original.nodes)
        degrees = np.empty_like(original.degrees)
        for k in range(self.k, original.nodes + 1):
            found = nearest_degrees(original.degrees[by_lot], k)
            if found is not None and is_graphic(found):
                degrees[by_lot] = found
                return k, degrees
        # All nodes in one group can share a degree: one of the two roundings has an even sum.
        raise CannotProtectError(f"no degrees shared by {self.k} nodes were found. Please report it")

    def _said(self, used: int, longer: int) -> tuple[str, ...]:
        notes: tuple[str, ...] = ()
        if used > self.k:
            notes = (f"groups of {used} nodes were made: no graph has the degrees of groups of {self.k}",)
        if longer:
            said = counted(longer, "exchange", "exchanges")
            notes += (f"{said} took several edge moves, because single moves were not possible",)
        return notes


# Remove, add and move edges until every node has its target degree (UMGA).

_PLAIN_UP_TO = 4_000
_DRAWS = 100
_PARTNERS = 20
_UNSEEN = 2**62


def changed_to(
    start: IntArray, neighbour: Int32Array, degrees: IntArray, state: State, *, by_relevance: bool = False
) -> tuple[IntArray, IntArray, int]:
    """Return the edited graph's keys, remaining needs, and longer exchanges.

    As in Casas-Roma, Herrera-Joancomartí and Torra: while more edges must go than come, two nodes that have too many
    lose one each and their other ends are connected; while more must come, two nodes that lack one are connected; then
    edges of nodes that have too many move to nodes that lack some. Each choice is at random, or, ``by_relevance``, the
    one of some drawn at random whose edges have the least neighborhood centrality in sum. What remains is done by
    longer exchanges, which the source does not know.

    >>> start, neighbour = np.array([0, 3, 4, 5, 6]), np.array([1, 2, 3, 0, 0, 0], np.int32)
    >>> keys, lacking, longer = changed_to(start, neighbour, np.array([2, 2, 1, 1]), np.zeros(1, np.uint64))
    >>> keys.size, lacking, longer
    (3, array([0, 0, 0, 0]), 0)
    """
    roomy, size, wide = with_room(start, neighbour, degrees)
    need = degrees - size
    run = compiled(_change) if wide.size > _PLAIN_UP_TO else _change
    longer = run(roomy, size, wide, need, by_relevance, state)
    return keys_in(roomy, size, wide), need, longer


@loop("i8[], i8[], i4[], i8[], b1, u8[]")
def _change(
    start: IntArray, size: IntArray, neighbour: Int32Array, need: IntArray, by_relevance: bool, state: State
) -> int:
    for drop in (True, False):
        _pair_up(start, size, neighbour, need, by_relevance, state, drop)
    _move_edges(start, size, neighbour, need, by_relevance, state)
    kept = np.zeros_like(size)
    return settle(start, size, neighbour, kept, need, state)


def _repeated(count: IntArray, state: State) -> IntArray:
    """Return every node as often as its count says, in random order."""
    filled = 0
    nodes = np.empty(np.maximum(count, 0).sum(), np.int64)
    for node in range(count.size):
        for _ in range(count[node]):
            nodes[filled] = node
            filled += 1
    shuffle(nodes, state)
    return nodes


def _sample(count: int, by_relevance: bool) -> int:
    """Return the number of candidates to inspect, logarithmic in all."""
    looked_at = 1
    while by_relevance and count > 1:
        looked_at += 1
        count //= 2
    return looked_at


def _relevance(start: IntArray, size: IntArray, neighbour: Int32Array, walk: IntArray) -> int:
    """Return the scaled neighborhood centralities along a walk.

    For one edge that is how many nodes are connected to just one of its ends.
    """
    total = 0
    for place in range(walk.size - 1):
        one, other = walk[place], walk[place + 1]
        if size[one] < size[other]:
            one, other = other, one
        total += size[one] + size[other]
        for here in range(start[other], start[other] + size[other]):
            if has_edge(start, size, neighbour, neighbour[here], one):
                total -= 2
    return total


def _pair_up(
    start: IntArray, size: IntArray, neighbour: Int32Array, need: IntArray, by_relevance: bool, state: State, drop: bool
) -> None:
    """Connect two nodes in need, or disconnect two with ``drop``.

    Then one edge is taken from each of two nodes that have too many, and the ends that are left are connected.
    """
    wanted = -need if drop else need.copy()
    for _ in range(wanted.sum() // 2):
        nodes = _repeated(-need if drop else need, state)
        looked_at = _sample(nodes.size, by_relevance)
        best = nodes[:0]
        least = _UNSEEN
        for _draw in range(_DRAWS):
            one, other = nodes[below(state, nodes.size)], nodes[below(state, nodes.size)]
            walk = np.array([one, other], np.int64)
            if drop:
                end = neighbour[start[one] + below(state, size[one])]
                far = neighbour[start[other] + below(state, size[other])]
                walk = np.array([one, end, far, other], np.int64)
                if end == far or end == other or far == one:  # noqa: SIM109 (numba)
                    continue
                if has_edge(start, size, neighbour, end, far):
                    continue
            elif has_edge(start, size, neighbour, one, other):
                continue
            if one == other:
                continue
            score = _relevance(start, size, neighbour, walk) if by_relevance else 0
            if score < least:
                least, best = score, walk
            looked_at -= 1
            if looked_at == 0:
                break
        if best.size == 0:
            return
        follow(start, size, neighbour, need, best)


def _move_edges(
    start: IntArray, size: IntArray, neighbour: Int32Array, need: IntArray, by_relevance: bool, state: State
) -> None:
    """Move edge ends from nodes with excess to nodes in need."""
    giving, taking = _repeated(-need, state), _repeated(need, state)
    marked = np.zeros(size.size, np.bool_)
    for turn in range(min(giving.size, taking.size)):
        for _ in range(_PARTNERS):
            drawn = turn + below(state, taking.size - turn)
            taking[drawn], taking[turn] = taking[turn], taking[drawn]
            walk = _move(start, size, neighbour, giving[turn], taking[turn], by_relevance, marked, state)
            if walk.size > 0:
                follow(start, size, neighbour, need, walk)
                break


def _move(
    start: IntArray,
    size: IntArray,
    neighbour: Int32Array,
    giver: np.int64,
    taker: np.int64,
    by_relevance: bool,
    marked: BoolArray,
    state: State,
) -> IntArray:
    """Return giver, movable neighbor, and taker, or none."""
    for place in range(start[taker], start[taker] + size[taker]):
        marked[neighbour[place]] = True
    marked[taker] = True
    found = 0
    ends = np.empty(size[giver], np.int64)
    for place in range(start[giver], start[giver] + size[giver]):
        if not marked[neighbour[place]]:
            ends[found] = neighbour[place]
            found += 1
    for place in range(start[taker], start[taker] + size[taker]):
        marked[neighbour[place]] = False
    marked[taker] = False
    best = ends[:0]
    least = _UNSEEN
    for turn in range(min(found, _sample(found, by_relevance))):
        drawn = turn + below(state, found - turn)
        walk = np.array([giver, ends[drawn], taker], np.int64)
        ends[drawn] = ends[turn]
        score = _relevance(start, size, neighbour, walk) if by_relevance else 0
        if score < least:
            least, best = score, walk
    return best
