"""Bounded t-means: clusters of nodes with similar degrees, and one degree for all of a cluster."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from unveil._kernels.graph.bounded_means import Clusters, bounded_means
from unveil._kernels.graph.degree_matching import EdgeMatching, matched_degrees
from unveil._kernels.graph.rows import edge_keys
from unveil._kernels.types import IntArray
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphRelease
from unveil.errors import InputError, whole_number
from unveil.protections._listing import protection
from unveil.protections.graph._release import check_edges, graph_release

Bound = Literal["below", "above"]

_MOST_ROUNDS = 50
_SIZE = 30
_ADVICE = "A cluster of one hides nobody: take 2 or more"
_RENAMED = "the setting max_size is now called size: clusters hold at least so many nodes, or at most with bound=above"


@protection(
    source='Thompson and Yao, "The union-split algorithm and cluster-based anonymization of social networks", 2009',
    aka=("t-Means",),
    least_rows=2,
    needs_edges=True,
)
@dataclass(frozen=True, kw_only=True)
class BoundedTMeans:
    """Cluster nodes by their degree, and add and remove edges until all of a cluster have its mean degree.

    There are t = floor(n / ``size``) clusters, at least one. They start at the degrees of t nodes drawn at random;
    then nodes are assigned to the nearest centre with room, and centres move to the mean of their cluster, until
    nothing changes. Edges between nodes that both have too many are removed first; then nodes that still have too
    many lose edges by lot; then nodes that lack edges are joined with one another where they have no edge yet. Whoever
    lacks one still gets an edge to one pseudo node. The facts say how many miss their degree even so, and how many
    nodes share the rarest degree that somebody has; the pseudo node itself may be the only one of its degree. An edge
    that was removed and joined again counts as neither removed nor added.

    Our reading, where the source leaves it open. Every cluster holds at least ``size`` nodes, and the n mod ``size``
    nodes left over go where they fit best, so that some clusters are larger (all of them together in one cluster if
    there are fewer nodes than ``size``). With ``bound="above"``, as in the source, ``size`` is the most that a cluster
    holds: there are t = ceil(n / ``size``) clusters of floor(n / t) or one more nodes.

    The assignment is the best one, not a greedy one, which is why the centres do come to rest; as degrees are in a
    line, clusters are stretches of the nodes sorted by degree, and nodes of one degree in two clusters are told apart
    by lot. The degree of a cluster is its mean, rounded down. Nodes that lack the most edges are joined first.

    Parameters
    ----------
    size
        How many nodes a cluster holds at least, from 2. If nobody is off target, each degree is shared by at least as
        many nodes (all of them, if there are fewer). The larger, the more edges are changed.
    bound
        "below" for at least ``size`` nodes in each cluster, "above" for at most. With "above", each degree is shared by
        at least floor(n / t) nodes if nobody is off target.
    max_size
        What ``size`` was called before, for one more version. A note of the release says so.

    Examples
    --------
    >>> star = Graph.from_edges([0] * 9, range(1, 10))
    >>> release = BoundedTMeans(size=5).apply(star, rng=np.random.default_rng(1))
    >>> release.changes, release.facts["clusters"], release.facts["nodes off target"]
    (EdgeChanges(added=6, removed=7, kept=2), 2, 0)
    >>> np.sort(release.released.degrees[release.truth >= 0])  # degrees 9 and 1 have a mean of 2.6 in their cluster
    array([1, 1, 1, 1, 1, 2, 2, 2, 2, 2])
    """

    size: int = _SIZE
    bound: Bound = "below"
    max_size: int | None = None

    def __post_init__(self) -> None:
        whole_number(self.size, "size", at_least=2, advice=_ADVICE)
        if self.bound not in get_args(Bound):
            raise InputError(f"bound must be one of {', '.join(get_args(Bound))}, but is {self.bound!r}. Choose one")
        if self.max_size is not None:
            whole_number(self.max_size, "max_size", at_least=2, advice=_ADVICE)
            if self.size not in (_SIZE, self.max_size):
                raise InputError(
                    f"max_size is what size was called before, but size is {self.size} and max_size {self.max_size}. "
                    "Leave max_size out"
                )

    def apply(self, original: Graph, *, rng: np.random.Generator) -> GraphRelease:
        """Return the graph in which clusters have one degree, with nodes numbered at random."""
        check_edges(original, what="bounded t-means")
        target, clusters = self._targets(original, rng)
        matched = matched_degrees(original.start, original.neighbour, original.keys, target - original.degrees, rng)
        lacking = np.flatnonzero(matched.need > 0)
        nodes = original.nodes + int(lacking.size > 0)
        one, other = (ends[~matched.removed] for ends in original.ends)
        keys = edge_keys(
            np.concatenate([one, matched.one, lacking]),
            np.concatenate([other, matched.other, np.full(lacking.size, original.nodes)]),
            nodes,
        )
        missed = int((matched.need > 1).sum())
        return graph_release(
            original,
            keys,
            name="bounded-t-means",
            rng=rng,
            nodes=nodes,
            notes=(*(() if self.max_size is None else (_RENAMED,)), *_notes(matched, clusters, missed)),
            facts={
                "clusters": clusters.bounds.size - 1,
                "rounds": clusters.rounds,
                "edges to the pseudo node": int(lacking.size),
                "nodes off target": missed,
            },
        )

    def _targets(self, original: Graph, rng: np.random.Generator) -> tuple[IntArray, Clusters]:
        """Return the degree that each node should get, and the clusters of nodes by rising degree."""
        wanted = int(self.size if self.max_size is None else self.max_size)
        even = self.bound == "above"
        count = -(-original.nodes // wanted) if even else max(1, original.nodes // wanted)
        by_lot = rng.permutation(original.nodes)
        # Those first in the lots are the nodes at which clusters start.
        centres = np.sort(original.degrees[by_lot[:count]]).astype(np.float64)
        order = by_lot[np.argsort(original.degrees[by_lot], kind="stable")]
        size = original.nodes // count if even else min(wanted, original.nodes)
        clusters = bounded_means(original.degrees[order], centres, size, _MOST_ROUNDS, even=even)
        sizes = np.diff(clusters.bounds)
        total = np.add.reduceat(original.degrees[order], clusters.bounds[:-1])
        target = np.empty(original.nodes, np.int64)
        target[order] = np.repeat(total // sizes, sizes)
        return target, clusters


def _notes(matched: EdgeMatching, clusters: Clusters, missed: int) -> tuple[str, ...]:
    """Say where the release falls short of one degree per cluster."""
    lacking = int((matched.need > 0).sum())
    notes: tuple[str, ...] = ()
    if not clusters.is_stable:
        notes += (f"the clusters were still changing after {clusters.rounds} rounds",)
    if lacking:
        notes += (
            f"{lacking:,} node{' is' if lacking == 1 else 's are'} joined to a pseudo node for want of another partner",
        )
    if missed:
        rest = int((matched.need[matched.need > 1] - 1).sum())
        notes += (
            f"nodes that miss the degree of their cluster even so: {missed:,}, by {rest:,} "
            f"edge{'' if rest == 1 else 's'} in all",
        )
    return notes
