"""Largest possible re-identification in a released graph, from its symmetry.

Nodes that look the same share one probability.
"""

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.types import BoolArray, FloatArray, Int32Array, IntArray
from unveil.data.graph.graph import Graph
from unveil.data.graph.release import NOBODY, GraphKnowledge, GraphRelease
from unveil.metrics._listing import metric

#: 64 pseudo-random bits for each node.
Hashes = NDArray[np.uint64]


@metric(
    category="bound",
    per="release",
    more_means="less private",
    bounds=(0, 1),
    source="exchangeable nodes share one probability",
)
def deanonymizability_bound(guess: GraphKnowledge, truth: GraphRelease) -> float:
    """Return the largest expected share of re-identified nodes, 0 to 1.

    Formula: ``Σ 1 / max(alike released, alike auxiliary) / #{nodes to be found}`` over nodes with a true match that the
    auxiliary graph contains and that are no seeds. Nodes are alike if they have the same neighbors or the same place in
    trees that a symmetry exchanges; other symmetries are ignored. On forests it is exact. 0 means that nothing can be
    found. 1 means that these symmetries hide no node. It holds for any attacker with this knowledge. NaN where no node
    can be found.

    >>> star = Graph.from_edges([0, 0, 0, 0], [1, 2, 3, 4])
    >>> release = GraphRelease(star, star, np.arange(5))
    >>> deanonymizability_bound(GraphKnowledge(star, np.array([[0, 0]])), release)
    0.25
    """
    own = guess.in_auxiliary_numbers(truth.truth)
    somebody = int((own[guess.targets(truth.released)] != NOBODY).sum())
    return float(most_found(truth.released, guess, own).sum()) / somebody if somebody else np.nan


def most_found(released: Graph, knowledge: GraphKnowledge, truth: IntArray) -> FloatArray:
    """Return the largest probability of re-identifying each released node.

    A symmetry of a graph moves nodes and changes no edge. Nodes that symmetries exchange look the same, so an attacker
    for whom names and numbers tell nothing names each with the same chance. Of c such nodes in the release, or in the
    auxiliary graph, each is found with a chance of at most ``1 / c``: the chance is
    ``1 / max(alike released, alike auxiliary)``, seeds aside, which stay where they are.
    Its sum bounds how many nodes are found on average; a single attack may be lucky.

    The symmetries that count exchange nodes with the same neighbors (twins), isomorphic trees hanging from one node or
    from twins of the core, and isomorphic components that are trees. On forests these are all. Ignored are other
    symmetries of the core, such as turns of a ring, and isomorphic components with cycles. Ignored is also how many
    edges both graphs have in common: too few of them leave less than symmetry does, in sparse graphs much less. So what
    is possible lies at or below the bound.

    Parameters
    ----------
    released, knowledge
        What the attacker sees, and what it knows.
    truth
        The auxiliary node that each released one stands for. Seeds, and nodes with a negative number or with one beyond
        the auxiliary graph, cannot be found and get 0.

    Examples
    --------
    >>> star = Graph.from_edges([0, 0, 0, 0], [1, 2, 3, 4])
    >>> most_found(star, GraphKnowledge(star, np.array([[1, 1]])), np.arange(5)).round(2)
    array([1.  , 0.  , 0.33, 0.33, 0.33])
    """
    auxiliary, seeds = knowledge.auxiliary, knowledge.seeds
    free, other_free = np.ones(released.nodes, np.bool_), np.ones(auxiliary.nodes, np.bool_)
    free[seeds[:, 0]], other_free[seeds[:, 1]] = False, False
    alike = exchangeable_counts(released.start, released.neighbour, free)
    other_alike = exchangeable_counts(auxiliary.start, auxiliary.neighbour, other_free)
    chance = np.zeros(released.nodes)
    there = np.flatnonzero(free & (truth >= 0) & (truth < auxiliary.nodes))
    there = there[other_free[truth[there]]]
    chance[there] = 1 / np.maximum(alike[there], other_alike[truth[there]])
    return chance


# Exchangeable nodes of a graph: orbits of exact symmetries that are found in linear time.


def exchangeable_counts(start: IntArray, neighbour: Int32Array, counted: BoolArray) -> IntArray:
    """Return the number of counted nodes that symmetries exchange with each counted node.

    Each counted node is included; other nodes stay where they are and get 0.

    The symmetries are those that exchange isomorphic trees hanging from one node, isomorphic components that are trees,
    and nodes of the core that have the same neighbors in it, each other left aside, and isomorphic trees hanging from
    them. The core is what remains when leaves are removed again and again. On forests these are all symmetries, and the
    counts are the sizes of the orbits of the nodes. Elsewhere there may be more: symmetries that move nodes of the core
    with different neighbors, such as turns of a ring, and isomorphic components with cycles, are ignored.

    Trees and sets of neighbors are compared by 64-bit hashes: that two different ones are taken for the same is as
    likely as not only among billions of nodes.

    >>> exchangeable_counts(np.array([0, 2, 3, 4]), np.array([1, 2, 0, 0], np.int32), np.ones(3, bool))
    array([1, 2, 2])
    """
    own = _mixed(np.arange(start.size - 1, dtype=np.uint64))
    rounds, parent, below, is_core = _without_leaves(start, neighbour, np.where(counted, np.uint64(0), own))
    near = np.zeros(neighbour.size + 1, np.uint64)
    np.cumsum(np.where(is_core, own, np.uint64(0))[neighbour], out=near[1:])
    apart = near[start[1:]] - near[start[:-1]]
    key = _joined(apart, below)
    closed = _joined(apart + own, below + np.uint64(1))
    _, place, size = np.unique(closed[is_core], return_inverse=True, return_counts=True)
    key[is_core] = np.where(size[place] > 1, closed[is_core], key[is_core])
    for leaves in reversed(rounds):
        up = parent[leaves]
        root = up < 0
        key[leaves[root]] = _joined(below[leaves[root]], np.uint64(2))
        # The two middle nodes of a tree are each other's parent.
        middle = ~root & (parent[up] == leaves)
        both = below[leaves[middle]] + below[up[middle]]
        key[leaves[middle]] = _joined(_joined(both, np.uint64(3)), below[leaves[middle]])
        rest = leaves[~root & ~middle]
        key[rest] = _joined(key[parent[rest]], below[rest])
    counts = np.zeros(start.size - 1, np.int64)
    _, place, size = np.unique(key[counted], return_inverse=True, return_counts=True)
    counts[counted] = size[place]
    return counts


def _without_leaves(
    start: IntArray, neighbour: Int32Array, color: Hashes
) -> tuple[list[IntArray], IntArray, Hashes, BoolArray]:
    """Return the leaves removed in each round, their neighbors left, hashes of the trees below, and the core.

    A node without neighbors left has no parent, -1: it is the middle of a tree.
    """
    degree, rest = np.diff(start), np.zeros(start.size - 1, np.int64)
    # The sum of the neighbors that are left is the neighbor, if there is one.
    np.add.at(rest, np.repeat(np.arange(degree.size), degree), neighbour)
    parent, is_core = np.full(degree.size, -1), np.ones(degree.size, np.bool_)
    children, rounds = np.zeros(degree.size, np.uint64), []
    leaves = np.flatnonzero(degree <= 1)
    while leaves.size:
        rounds.append(leaves)
        is_core[leaves] = False
        one = leaves[degree[leaves] == 1]
        parent[one] = rest[one]
        one = one[is_core[parent[one]]]
        up = parent[one]
        np.add.at(children, up, _mixed(_joined(color[one], children[one])))
        np.subtract.at(degree, up, 1)
        np.subtract.at(rest, up, one)
        leaves = np.unique(up)
        leaves = leaves[degree[leaves] <= 1]
    return rounds, parent, _joined(color, children), is_core


def _joined(one: Hashes, other: Hashes | np.uint64) -> Hashes:
    """Return 64 bits that depend on both numbers and their order."""
    return _mixed(_mixed(one) + other)


def _mixed(numbers: Hashes) -> Hashes:
    """Return 64 pseudo-random bits per number (SplitMix64)."""
    mixed = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
