"""Which auxiliary node is a released one? The first with which it shares a few mapped neighbours."""

from dataclasses import dataclass

import numpy as np

from unveil._kernels.graph.percolation import percolate
from unveil._kernels.random import fresh_state
from unveil.attacks._listing import attack
from unveil.attacks.graph._course import both_sides, guess_after
from unveil.attacks.graph._guess import check_knowledge
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphKnowledge
from unveil.errors import whole_number
from unveil.guesses.candidates import Candidates


@attack(source="Yartseva and Grossglauser (2013), percolation graph matching", aka=("YG",), scope="local")
@dataclass(frozen=True, kw_only=True)
class YartsevaGrossglauser:
    """An adversary who maps two nodes as soon as enough pairs of their neighbours are mapped.

    Each mapped pair, drawn by lot, gives one mark to every pair of its neighbours that are not mapped yet. A pair with
    ``theta`` marks is mapped at once and will give marks itself; where several pairs reach that number by the same
    marks, the lot decides which comes first. It ends when all mapped pairs have given their marks.

    The guess holds the free auxiliary nodes that shared a mark with the node when it was mapped, in proportion to the
    number of marks; nodes never mapped are not attempted.

    Parameters
    ----------
    theta
        How many marks a pair needs, from 1. With 1 the first two that share a mapped pair of neighbours are mapped; a
        number that no pair reaches leaves an empty guess.
    strict
        True asks for more than ``theta`` marks, as one well-known implementation does.

    Examples
    --------
    >>> ring = Graph.from_edges([0, 1, 2, 3, 4, 0, 0], [1, 2, 3, 4, 0, 2, 3])
    >>> knowledge = GraphKnowledge(ring, np.array([[0, 0], [1, 1]]))
    >>> guess = YartsevaGrossglauser().run(released=ring, knowledge=knowledge, rng=np.random.default_rng(1))
    >>> guess.chosen
    array([-1, -1,  2,  3,  4], dtype=int32)
    """

    theta: int = 2
    strict: bool = False

    def __post_init__(self) -> None:
        whole_number(self.theta, "theta")

    def run(self, *, released: Graph, knowledge: GraphKnowledge, rng: np.random.Generator) -> Candidates:
        """Return whom each released node was mapped to, and who else had marks; ``rng`` draws whose turn it is."""
        check_knowledge(released, knowledge, attack="Yartseva-Grossglauser")
        here, there = both_sides(released, knowledge, rng)
        decided = percolate(here, there, int(self.theta) + self.strict, fresh_state(rng))
        return guess_after(here, there, decided)
