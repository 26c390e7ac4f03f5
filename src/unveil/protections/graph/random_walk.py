"""Random walk: everybody is connected to where short walks from their neighbours end."""

from dataclasses import dataclass

import numpy as np

from unveil._kernels.graph.walks import walked_edges
from unveil._kernels.random import fresh_state
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
    """Replace every edge of a node by one to the end of a short random walk that starts with it.

    Node by node: a walk goes from the node to each of its neighbours and on, ``distance`` steps in all, always to a
    neighbour by lot. Where it ends back at the node, or where the node has a new edge to already, it is repeated from
    that neighbour. The node is joined to the first end for sure and to each further one with the probability
    (d/2 - 1)/(d - 1), where d is its degree: half as many as it had, and the other half comes from the others.

    So a graph has about as many edges as before: half an edge more for each node of degree 1, and fewer where
    walks were given up. It blurs who is connected to whom, but not who has many connections. A node may lose
    all its edges; it stays in the release.

    Our reading, where the source leaves it open: nodes and their neighbours take their turn in random order, and a
    repeated walk starts again at the neighbour.

    Parameters
    ----------
    distance
        How many steps a walk has, from 1. 1 keeps some of the edges and adds none; the more, the less is kept.
    retries
        How often a walk is tried before the neighbour gets no new edge, from 1.

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
        """Return the graph of the ends of walks, with nodes numbered at random."""
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
