"""Bounded t-means: clusters of nodes with one degree each."""

from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np

from unveil._kernels._compile import PLAIN_UP_TO, compiled, loop
from unveil._kernels.graph.rows import edge_keys, place_in_row, row_numbers
from unveil._kernels.types import BoolArray, FloatArray, Int32Array, IntArray
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphRelease
from unveil.errors import InputError, whole_number
from unveil.protections._listing import protection
from unveil.protections.graph._release import check_edges, graph_release

Bound = Literal["below", "above"]

_MOST_ROUNDS = 50
_SIZE = 30
_ADVICE = "A cluster of one node is unique: take 2 or more"
_RENAMED = "max_size was renamed to size: the smallest cluster size, or the largest with bound=above"


# Clusters of numbers around means, all of nearly the same size.


class Clusters(NamedTuple):
    """Start positions of clusters of sorted numbers, and their search."""

    bounds: IntArray
    rounds: int
    is_stable: bool


def bounded_means(
    values: IntArray, centres: FloatArray, size: int, most_rounds: int, *, even: bool = False
) -> Clusters:
    """Return clusters of ascending ``values`` around ascending ``centres``.

    Every cluster has at least ``size`` members, and with ``even`` at most one more. In each round values are assigned
    so that the sum of their squared distances to the centers is least, and centers move to the mean of their cluster.
    Neither can raise that sum, so the clusters become stable. Because numbers are in a line, clusters are stretches of
    it. A round takes time in proportion to the number of values.

    >>> bounded_means(np.array([1, 1, 2, 8, 9]), np.array([1.0, 2.0]), 2, 50)
    Clusters(bounds=array([0, 3, 5]), rounds=2, is_stable=True)
    """
    below = np.concatenate([[0], np.cumsum(values)])
    assign = assigned if values.size <= PLAIN_UP_TO else compiled(assigned)
    bounds = assign(below, centres, size, even)
    for done in range(1, most_rounds + 1):
        moved = assign(below, np.diff(below[bounds]) / np.diff(bounds), size, even)
        if (moved == bounds).all():
            return Clusters(bounds, done, True)
        bounds = moved
    return Clusters(bounds, most_rounds, False)


@loop("i8[], f8[], i8, b1")
def assigned(below: IntArray, centres: FloatArray, size: int, even: bool) -> IntArray:
    """Return the cluster starts of the cheapest assignment.

    ``below[i]`` is the sum of the first ``i`` values. Every cluster gets at least ``size`` of them; how the ``spare``
    ones that are left over are shared out is found by going through the centers and, for each, through how many of
    them went to it and those before. With ``even`` no cluster gets more than one of them; there must not be more
    than clusters then.

    >>> assigned(np.array([0, 1, 2, 4, 12, 21]), np.array([1.0, 9.0]), 2, False)
    array([0, 3, 5])
    >>> assigned(np.array([0, 1, 2, 3, 4, 12, 21]), np.array([1.0, 9.0]), 2, False)
    array([0, 4, 6])
    >>> assigned(np.array([0, 1, 2, 3, 4, 12, 21]), np.array([1.0, 9.0]), 3, True)
    array([0, 3, 6])
    """
    count = centres.size
    spare = below.size - 1 - count * size
    cost = np.zeros(spare + 1)
    chosen = np.zeros((count, spare + 1), np.int64)
    for cluster in range(count):
        centre = centres[cluster]
        # The squared distances of values b..e-1 are a term of e less the same of b, but for their own squares,
        # which are the same in every assignment.
        best, best_before, last = np.inf, 0, np.inf
        for used in range(spare + 1):
            begin = cluster * size + used
            total = cost[used] - centre * (begin * centre - 2 * below[begin])
            if cluster == 0 and used > 0:  # the first cluster begins at the first value
                total = np.inf
            if even:
                # All but the one that this cluster may take went to those before it.
                best, best_before, last = last, used - 1, total
            if total < best:
                best, best_before = total, used
            end = begin + size
            cost[used] = best + centre * (end * centre - 2 * below[end])
            chosen[cluster, used] = best_before
    bounds = np.empty(count + 1, np.int64)
    used = spare
    for cluster in range(count, 0, -1):
        bounds[cluster] = cluster * size + used
        used = chosen[cluster - 1, used]
    bounds[0] = 0
    return bounds


@protection(
    source='Thompson and Yao, "The union-split algorithm and cluster-based anonymization of social networks", 2009',
    aka=("t-Means",),
    least_rows=2,
    needs_edges=True,
)
@dataclass(frozen=True, kw_only=True)
class BoundedTMeans:
    """Cluster nodes by degree; edit edges to the cluster's mean degree.

    There are t = floor(n / ``size``) clusters, at least one. They start at the degrees of t nodes drawn at random; then
    nodes are assigned to the nearest center with room, and centers move to the mean of their cluster, until nothing
    changes. Edges between nodes that both have too many are removed first; then nodes that still have too many lose
    edges at random; then nodes that lack edges are joined with one another where they have no edge yet. Whoever lacks
    one still gets an edge to one pseudo node. The facts say how many miss their degree even so, and how many nodes
    share the rarest degree that a node has; the pseudo node itself may be the only one of its degree. An edge that was
    removed and joined again counts as neither removed nor added.

    Our reading, where the source leaves it open. Every cluster holds at least ``size`` nodes, and the n mod ``size``
    nodes left over go where they fit best, so that some clusters are larger (all of them together in one cluster if
    there are fewer nodes than ``size``). With ``bound="above"``, as in the source, ``size`` is the most that a cluster
    holds: there are t = ceil(n / ``size``) clusters of floor(n / t) or one more nodes.

    The assignment is the best one, not a greedy one, which is why the centers do come to rest; as degrees are in a
    line, clusters are stretches of the nodes sorted by degree, and nodes of one degree in two clusters are
    distinguished at random. The degree of a cluster is its mean, rounded down. Nodes that lack the most edges are
    joined first.

    Parameters
    ----------
    size
        How many nodes a cluster holds at least, from 2. If no node is off target, each degree is shared by at least as
        many nodes (all of them, if there are fewer). The larger, the more edges are changed.
    bound
        "below" for at least ``size`` nodes in each cluster, "above" for at most. With "above", each degree is shared by
        at least floor(n / t) nodes if no node is off target.
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
            raise InputError(f"Unknown bound {self.bound!r}. Use one of: {', '.join(get_args(Bound))}")
        if self.max_size is not None:
            whole_number(self.max_size, "max_size", at_least=2, advice=_ADVICE)
            if self.size not in (_SIZE, self.max_size):
                raise InputError(
                    f"max_size is the old name of size, but size is {self.size} and max_size {self.max_size}. "
                    "Leave max_size out"
                )

    def apply(self, original: Graph, *, rng: np.random.Generator) -> GraphRelease:
        """Return the graph with one degree per cluster, randomly numbered."""
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
        """Return each node's target degree, and the clusters."""
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


# Edges taken away and added so that degrees come to targets, as far as simple edges allow.


class EdgeMatching(NamedTuple):
    """Removed edges, new edge ends, and remaining need per node."""

    removed: BoolArray
    one: IntArray
    other: IntArray
    need: IntArray


def matched_degrees(
    start: IntArray, neighbour: Int32Array, keys: IntArray, need: IntArray, rng: np.random.Generator
) -> EdgeMatching:
    """Return edge changes that bring every degree to its target.

    ``need`` is the target less the degree.

    First, edges between two nodes that both have too many go, in random order. A node that still has too many loses
    edges at random, and the other ends need one more. Then nodes that need edges are joined: the neediest one to the
    neediest ones that it has no edge to, and so on. What a node needs after that found no partner.

    >>> from unveil._kernels.graph.rows import rows_of
    >>> keys = np.array([1, 2, 3])  # a star: 0 is joined to 1, 2, 3
    >>> matched = matched_degrees(*rows_of(keys, 4), keys, np.array([-2, 0, 0, 0]), np.random.default_rng(1))
    >>> int(matched.removed.sum()), matched.one.size, matched.need
    (2, 1, array([0, 0, 0, 0]))
    """
    nodes = start.size - 1
    need = need.copy()
    removed = np.zeros(keys.size, np.bool_)
    fast = keys.size > PLAIN_UP_TO or nodes > PLAIN_UP_TO
    together, alone, join = (
        (compiled(_remove_together), compiled(_remove_alone), compiled(_join))
        if fast
        else (_remove_together, _remove_alone, _join)
    )
    one, other = np.divmod(keys, max(nodes, 1))
    together(one, other, rng.permutation(keys.size), need, removed)
    edge = _edge_of_entry(start, neighbour, keys)
    alone(start, neighbour, edge, need, removed, rng.random(-int(need[need < 0].sum())))
    lot = rng.permutation(nodes)
    needy = lot[need[lot] > 0]
    line = needy[np.argsort(need[needy], kind="stable")]
    new = np.empty((int(need.sum()) // 2, 2), np.int64)
    count = join(start, neighbour, edge, removed, line, need, new)
    return EdgeMatching(removed, new[:count, 0], new[:count, 1], need)


def _edge_of_entry(start: IntArray, neighbour: Int32Array, keys: IntArray) -> IntArray:
    """Return the sorted key of each ``neighbour`` element."""
    row = row_numbers(start).astype(np.int64)
    key = np.minimum(row, neighbour) * (start.size - 1) + np.maximum(row, neighbour)
    return np.searchsorted(keys, key)


@loop("i8[], i8[], i8[], i8[], b1[]")
def _remove_together(one: IntArray, other: IntArray, order: IntArray, need: IntArray, removed: BoolArray) -> None:
    for edge in order:
        if need[one[edge]] < 0 and need[other[edge]] < 0:
            removed[edge] = True
            need[one[edge]] += 1
            need[other[edge]] += 1


@loop("const i8[], const i4[], i8[], i8[], b1[], f8[]")
def _remove_alone(
    start: IntArray, neighbour: Int32Array, edge: IntArray, need: IntArray, removed: BoolArray, draws: FloatArray
) -> None:
    """Remove random edges between nodes with too many.

    No two such nodes are connected by now, so the order in which they do so does not matter.
    """
    drawn = 0
    for node in range(start.size - 1):
        if need[node] >= 0:
            continue
        there = np.arange(start[node], start[node + 1])
        there = there[~removed[edge[start[node] : start[node + 1]]]]
        left = there.size
        while need[node] < 0:
            pick = int(draws[drawn] * left)
            drawn += 1
            entry = there[pick]
            left -= 1
            there[pick] = there[left]
            removed[edge[entry]] = True
            need[neighbour[entry]] += 1
            need[node] += 1


@loop("const i8[], const i4[], i8[], b1[], i8[], i8[], i8[,]")
def _join(
    start: IntArray,
    neighbour: Int32Array,
    edge: IntArray,
    removed: BoolArray,
    line: IntArray,
    need: IntArray,
    new: IntArray,
) -> int:
    """Write new edges and return their number; ``line`` is sorted by need."""
    place = np.full(need.size, -1)
    # Where those that need at least so much begin in the line; it stays sorted as needs fall one by one.
    begin = np.full(need[line].max() + 2 if line.size else 2, line.size)
    for at in range(line.size - 1, -1, -1):
        place[line[at]] = at
        begin[need[line[at]]] = at
    for amount in range(begin.size - 2, -1, -1):
        begin[amount] = min(begin[amount], begin[amount + 1])
    count = 0
    for end in range(line.size - 1, -1, -1):
        node = line[end]
        found = count
        at = end - 1
        while found - count < need[node] and at >= begin[1]:
            other = line[at]
            entry = place_in_row(start, neighbour, node, other)
            if entry < 0 or removed[edge[entry]]:
                new[found, 0], new[found, 1] = node, other
                found += 1
            at -= 1
        for made in range(count, found):
            _lower(new[made, 1], line, place, begin, need)
        need[node] -= found - count
        count = found
    return count


def _lower(node: int, line: IntArray, place: IntArray, begin: IntArray, need: IntArray) -> None:
    """Lower a node's need by one, keeping ``line`` sorted."""
    front = begin[need[node]]
    moved = line[front]
    line[place[node]], place[moved] = moved, place[node]
    line[front], place[node] = node, front
    begin[need[node]] += 1
    need[node] -= 1


def _notes(matched: EdgeMatching, clusters: Clusters, missed: int) -> tuple[str, ...]:
    """Say where the release falls short of one degree per cluster."""
    lacking = int((matched.need > 0).sum())
    notes: tuple[str, ...] = ()
    if not clusters.is_stable:
        notes += (f"the clusters were still changing after {clusters.rounds} rounds",)
    if lacking:
        notes += (
            f"{lacking:,} node{' is' if lacking == 1 else 's are'} joined to a pseudo node for lack of another partner",
        )
    if missed:
        rest = int((matched.need[matched.need > 1] - 1).sum())
        notes += (
            f"{missed:,} nodes still miss the degree of their cluster, by {rest:,} "
            f"edge{'' if rest == 1 else 's'} in total",
        )
    return notes
