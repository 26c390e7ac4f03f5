"""Scores of single pairs as candidates, by sorting all of them."""

import numpy as np
from numpy.typing import NDArray

from unveil.data.graph import Graph
from unveil.data.graph.release import GraphKnowledge
from unveil.guesses.candidates import NOT_ATTEMPTED, Candidates

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]


def candidates_of(
    released: Graph, knowledge: GraphKnowledge, target: Integers, candidate: Integers, score: Floats, chosen: Integers
) -> Candidates:
    """Return the guess: for each target its scores divided by their sum; seeds are no attempts.

    Parameters
    ----------
    released, knowledge
        What was attacked, and what was known before.
    target, candidate, score
        One entry per released node and auxiliary node that was considered for it when it was decided, in any order;
        each pair once. Scores are at least 0; a target whose scores are all 0 trusts its candidates alike.
    chosen
        The auxiliary node that each released one was mapped to, -1 where none was. A target without a choice is not
        attempted; its entries are left out.
    """
    mapped = np.array(chosen, np.int64)
    mapped[knowledge.seeds[:, 0]] = NOT_ATTEMPTED
    kept = mapped[target] != NOT_ATTEMPTED
    target, candidate, score = target[kept], candidate[kept], score[kept]
    order = np.lexsort((candidate, target))
    target, candidate, score = target[order], candidate[order], score[order].astype(np.float64)
    total = np.bincount(target, weights=score, minlength=released.nodes)
    number = np.bincount(target, minlength=released.nodes)
    even = total[target] <= 0
    probability = np.where(even, 1.0 / number[target], score / np.where(even, 1.0, total[target]))
    start = np.zeros(released.nodes + 1, np.int64)
    np.cumsum(number, out=start[1:])
    return Candidates(start, candidate.astype(np.int32), probability, mapped.astype(np.int32))
