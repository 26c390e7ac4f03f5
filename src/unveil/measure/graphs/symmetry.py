"""How many nodes of a released graph any adversary can find: those that look alike share one chance."""

import numpy as np

from unveil._kernels.graph.twins import twin_counts
from unveil._kernels.types import FloatArray, IntArray
from unveil.data.graph.graph import Graph
from unveil.data.graph.release import GraphKnowledge


def most_found(released: Graph, knowledge: GraphKnowledge, truth: IntArray) -> FloatArray:
    """Return for each released node the largest chance that any adversary names whom it stands for.

    Nodes with the same neighbours (twins) can be exchanged and nobody sees it, so an adversary for whom names and
    numbers tell nothing names each with the same chance. Of c twins in the release, or in the auxiliary graph, each
    is found with a chance of at most ``1 / c``: the chance is ``1 / max(twins released, twins auxiliary)``, seeds
    aside. Its sum bounds how many nodes are found on average; a single attack may be lucky. Other symmetries, which are
    not looked at, may leave less, so what is possible lies at or below it.

    Parameters
    ----------
    released, knowledge
        What the adversary sees, and what it knows.
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
