"""Random walk: connect each node to ends of short walks."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from unveil._kernels._compile import PLAIN_UP_TO, compiled, loop
from unveil._kernels.graph.rows import key_of
from unveil._kernels.key_set import add_key, has_key, key_table, keys_in
from unveil._kernels.random import State, below, fresh_state, next_float
from unveil._kernels.types import Int32Array, IntArray
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphRelease
from unveil.errors import whole_number
from unveil.protections._listing import protection
from unveil.protections.graph._release import check_edges, graph_release

_MOST = 1000


@protection(
    source='Mittal, Papamanthou and Song, "Preserving link privacy in social network based systems", 2013',
    aka=("RW",),
    least_rows=2,
    needs_edges=True,
    keeps=("node count",),
)
@dataclass(frozen=True, kw_only=True)
class RandomWalk:
    """Replace every edge by one to a random walk's end.

    Node by node: a walk goes from the node to each of its neighbors and on, ``distance`` steps in all, always to a
    neighbor at random. Where it ends back at the node, or where the node has a new edge to already, it is repeated from
    that neighbor. The node is joined to the first end for sure and to each further one with the probability
    (d/2 - 1)/(d - 1), where d is its degree: half as many as it had, and the other half comes from the others.

    So a graph has about as many edges as before: half an edge more for each node of degree 1, and fewer where walks
    were given up. It blurs who is connected to whom, but not who has many edges. A node may lose all its edges; it
    stays in the release.

    Our reading, where the source leaves it open: nodes and their neighbors take their turn in random order, and a
    repeated walk starts again at the neighbor.

    Parameters
    ----------
    distance
        How many steps a walk has, from 1. 1 keeps some of the edges and adds none; the more, the less is kept.
    retries
        How often a walk is tried before the neighbor gets no new edge, from 1.

    Examples
    --------
    >>> ring = Graph.from_edges(range(40), [*range(1, 40), 0])
    >>> release = RandomWalk(distance=2).apply(ring, rng=np.random.default_rng(1))
    >>> one, other = release.in_original_numbers().ends
    >>> sorted({int(step) for step in (other - one) % 40})  # two steps in one direction or the other
    [2, 38]
    """

    distance: int = 2
    retries: int = 10

    def __post_init__(self) -> None:
        for what in ("distance", "retries"):
            whole_number(getattr(self, what), what, at_most=_MOST)

    def apply(self, original: Graph, *, rng: np.random.Generator) -> GraphRelease:
        """Return the graph of walk ends, with randomly numbered nodes."""
        check_edges(original, what="random walk")
        walked = walked_edges(
            original.start,
            original.neighbour,
            rng.permutation(original.nodes),
            int(self.distance) - 1,
            int(self.retries),
            fresh_state(rng),
        )
        has_edge = np.zeros(original.nodes, np.bool_)
        for ends in np.divmod(walked.keys, original.nodes):
            has_edge[ends] = True
        lost = int(((original.degrees > 0) & ~has_edge).sum())
        notes = (f"{lost:,} node{'' if lost == 1 else 's'} lost all edges",) if lost else ()
        return graph_release(
            original,
            walked.keys,
            name="random-walk",
            rng=rng,
            notes=notes,
            facts={
                "walks given up": walked.given_up,
                "nodes that lost all edges": lost,
            },
        )


# Edges that are replaced by the ends of random walks.


class WalkResult(NamedTuple):
    """Sorted edge keys from random walks, and neighbors without an end."""

    keys: IntArray
    given_up: int


def walked_edges(
    start: IntArray, neighbour: Int32Array, order: IntArray, hops: int, tries: int, state: State
) -> WalkResult:
    """Return edges to ends of walks of ``hops`` steps.

    Nodes take their turn in ``order``, and the neighbors of each in random order. A walk that ends at the node itself
    or where it has an edge by now starts again, ``tries`` times in all. The first end found is joined for sure, each
    further one with a probability of ``(degree / 2 - 1) / (degree - 1)``: half as many edges as neighbors in all.

    >>> import numpy as np
    >>> start, neighbour = np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32)  # the path 0 - 1 - 2
    >>> walked = walked_edges(start, neighbour, np.arange(3), 1, 10, np.zeros(1, np.uint64))
    >>> walked.keys, walked.given_up
    (array([2]), 3)
    """
    table = key_table(neighbour.size)
    steps = neighbour.size * max(hops, 1)
    run = _walk_all if steps <= PLAIN_UP_TO else compiled(_walk_all)
    given_up = run(start, neighbour, order, hops, tries, table, state)
    return WalkResult(keys_in(table), int(given_up))


@loop("const i8[], const i4[], i8[], i8, i8, i8[], u8[]")
def _walk_all(
    start: IntArray, neighbour: Int32Array, order: IntArray, hops: int, tries: int, table: IntArray, state: State
) -> int:
    nodes = start.size - 1
    given_up = 0
    for node in order:
        row = neighbour[start[node] : start[node + 1]].copy()
        _shuffle(row, state)
        found = 0
        for other in row:
            end = _new_end(start, neighbour, node, other, hops, tries, table, state)
            if end < 0:
                given_up += 1
                continue
            if found == 0 or next_float(state) * (row.size - 1) < 0.5 * row.size - 1:
                add_key(table, key_of(node, end, nodes))
            found += 1
    return given_up


def _new_end(
    start: IntArray, neighbour: Int32Array, node: int, other: int, hops: int, tries: int, table: IntArray, state: State
) -> int:
    """Return the end of a walk from ``other``, or -1.

    It must differ from ``node`` and have no edge to it yet.
    """
    nodes = start.size - 1
    for _ in range(tries):
        end = int(other)
        for _ in range(hops):
            end = int(neighbour[start[end] + below(state, start[end + 1] - start[end])])
        if end != node and not has_key(table, key_of(node, end, nodes)):
            return end
        if hops == 0:  # it would end at the same node again
            break
    return -1


def _shuffle(row: Int32Array, state: State) -> None:
    for place in range(row.size - 1, 0, -1):
        other = below(state, place + 1)
        row[place], row[other] = row[other], row[place]
