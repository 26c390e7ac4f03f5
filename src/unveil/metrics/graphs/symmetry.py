"""How many nodes of a released graph any adversary can find: those that look alike share one chance."""

import numpy as np

from unveil._kernels.graph.twins import twin_counts
from unveil._kernels.types import FloatArray, IntArray
from unveil.data.graph.graph import Graph
from unveil.data.graph.release import NOBODY, GraphKnowledge, GraphRelease
from unveil.metrics._listing import metric


@metric(
    category="bound",
    per="release",
    more_means="less private",
    bounds=(0, 1),
    source="exchangeable nodes: of twins each is found with the same chance",
)
def deanonymizability_bound(guess: GraphKnowledge, truth: GraphRelease) -> float:
    """Return the share of nodes that any adversary with this knowledge finds on average at the most.

    Formula: ``Σ 1 / max(twins released, twins auxiliary) / #{nodes to be found}`` over nodes that stand for somebody
    whom the adversary has heard of and did not know before; twins have the same neighbours. 0 means that nothing can be
    found. 1 means that symmetry hides nobody. NaN where there is nobody to be found.

    >>> star = Graph.from_edges([0, 0, 0, 0], [1, 2, 3, 4])
    >>> release = GraphRelease(star, star, np.arange(5))
    >>> deanonymizability_bound(GraphKnowledge(star, np.array([[0, 0]])), release)
    0.25
    """
    own = guess.in_auxiliary_numbers(truth.truth)
    somebody = int((own[guess.targets(truth.released)] != NOBODY).sum())
    return float(most_found(truth.released, guess, own).sum()) / somebody if somebody else np.nan


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
