"""Largest possible re-identification in a released graph, from its symmetry.

Nodes that look the same share one probability.
"""

import numpy as np

from unveil._kernels.types import BoolArray, FloatArray, Int32Array, IntArray
from unveil.data.graph.graph import Graph
from unveil.data.graph.release import NOBODY, GraphKnowledge, GraphRelease
from unveil.metrics._listing import metric


@metric(
    category="bound",
    per="release",
    more_means="less private",
    bounds=(0, 1),
    source="exchangeable nodes: twins share one probability",
)
def deanonymizability_bound(guess: GraphKnowledge, truth: GraphRelease) -> float:
    """Return the largest expected share of re-identified nodes, 0 to 1.

    Formula: ``Σ 1 / max(twins released, twins auxiliary) / #{nodes to be found}`` over nodes with a true match that the
    auxiliary graph contains and that are no seeds; twins have the same neighbors. 0 means that nothing can be found. 1
    means that symmetry hides no node. It holds for any attacker with this knowledge. NaN where no node can be found.

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

    Nodes with the same neighbors (twins) are interchangeable, so an attacker for whom names and
    numbers tell nothing names each with the same chance. Of c twins in the release, or in the auxiliary graph, each is
    found with a chance of at most ``1 / c``: the chance is ``1 / max(twins released, twins auxiliary)``, seeds aside.
    Its sum bounds how many nodes are found on average; a single attack may be lucky. Other symmetries, which are not
    looked at, may leave less, so what is possible lies at or below it.

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
    twins = twin_counts(released.start, released.neighbour, free)
    other_twins = twin_counts(auxiliary.start, auxiliary.neighbour, other_free)
    chance = np.zeros(released.nodes)
    there = np.flatnonzero(free & (truth >= 0) & (truth < auxiliary.nodes))
    there = there[other_free[truth[there]]]
    chance[there] = 1 / np.maximum(twins[there], other_twins[truth[there]])
    return chance


# Twins of a graph: nodes with the same neighbors, each other left aside.


def twin_counts(start: IntArray, neighbour: Int32Array, counted: BoolArray) -> IntArray:
    """Return the number of counted nodes with the same neighbors.

    Each counted node is included; other nodes get 0.

    Two nodes are twins if they have the same neighbors, or would if each were its own neighbor. No node has twins of
    both kinds. Sets of neighbors are compared by sums of 64 bits, one drawn for each node: that two different sets
    have the same sum is as likely as not only among billions of nodes.

    >>> twin_counts(np.array([0, 2, 3, 4]), np.array([1, 2, 0, 0], np.int32), np.ones(3, bool))
    array([1, 2, 2])
    """
    own = _mixed(np.arange(start.size - 1, dtype=np.uint64))
    running = np.zeros(neighbour.size + 1, np.uint64)
    np.cumsum(own[neighbour], out=running[1:])
    apart = running[start[1:]] - running[start[:-1]]
    counts = np.zeros(start.size - 1, np.int64)
    for sums in (apart, apart + own):
        _, place, size = np.unique(sums[counted], return_inverse=True, return_counts=True)
        counts[counted] = np.maximum(counts[counted], size[place])
    return counts


def _mixed(numbers: "np.ndarray[tuple[int], np.dtype[np.uint64]]") -> "np.ndarray[tuple[int], np.dtype[np.uint64]]":
    """Return 64 pseudo-random bits per number (SplitMix64)."""
    mixed = (numbers + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
