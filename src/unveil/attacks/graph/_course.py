"""State and guess shared by attacks that map nodes one by one."""

import numpy as np

from unveil._kernels.graph.witnesses import NEVER, GraphSide, rows_when_decided, side_of
from unveil._kernels.types import FloatArray, IntArray
from unveil.attacks.graph._guess import mapping_of_seeds
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphKnowledge
from unveil.guesses.candidates import NOT_ATTEMPTED, Candidates


def both_sides(released: Graph, knowledge: GraphKnowledge, rng: np.random.Generator) -> tuple[GraphSide, GraphSide]:
    """Return both graphs with the seed pairs mapped.

    ``rng`` breaks ties.
    """
    auxiliary = knowledge.auxiliary
    forth, back = mapping_of_seeds(released, knowledge)
    here = side_of(released.start, released.neighbour, forth, rng.permutation(released.nodes))
    return here, side_of(auxiliary.start, auxiliary.neighbour, back, rng.permutation(auxiliary.nodes))


def guess_after(
    here: GraphSide,
    there: GraphSide,
    decided: IntArray,
    *,
    weight: FloatArray | None = None,
    grade: IntArray | None = None,
    at_least: IntArray | None = None,
) -> Candidates:
    """Return the guess: witnesses of each candidate at the decision.

    Scores are divided by their sum; ``decided`` is the moment for each released node, ``NEVER`` for seeds and for those
    not attempted. All else is as for :func:`rows_when_decided`; None stands for equal weights, and for no grades.
    """
    nodes, others = here.start.size - 1, there.start.size - 1
    rows = rows_when_decided(
        here,
        there,
        decided,
        weight=np.ones(others) if weight is None else weight,
        grade=np.zeros(others, np.int64) if grade is None else grade,
        at_least=np.zeros(nodes, np.int64) if at_least is None else at_least,
    )
    filled = np.flatnonzero(np.diff(rows.start))
    probability = rows.score
    if filled.size:
        probability /= np.repeat(np.add.reduceat(probability, rows.start[filled]), np.diff(rows.start)[filled])
    chosen = np.where(decided == NEVER, NOT_ATTEMPTED, here.partner)
    for array in (rows.start, rows.candidate, probability):
        # Immutable arrays need not be copied, and these may be large.
        array.flags.writeable = False
    return Candidates(rows.start, rows.candidate, probability, chosen.astype(np.int32))
