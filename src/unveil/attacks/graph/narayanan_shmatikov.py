"""Which auxiliary node is a released one? The one that shares far more mapped neighbours with it than any other."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from unveil._kernels.graph.eccentricity import nothing_seen, sweep
from unveil._kernels.graph.witnesses import BEFORE, FIRST, NEVER
from unveil.attacks._listing import attack
from unveil.attacks.graph._course import both_sides, guess_after
from unveil.attacks.graph._guess import check_knowledge
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphKnowledge
from unveil.errors import InputError
from unveil.guesses.candidates import Candidates


@attack(source="Narayanan and Shmatikov (2009), de-anonymizing social networks", aka=("NS",), scope="local")
@dataclass(frozen=True, kw_only=True)
class NarayananShmatikov:
    """An adversary who maps a released node where one auxiliary node stands out from all others, and goes on from it.

    Two nodes score one point for each pair of their neighbours that is already mapped to one another, divided by the
    square root of the auxiliary node's degree. The best auxiliary node stands out if its score exceeds the second best
    by ``theta`` standard deviations of all scores (those of auxiliary nodes already taken count 0). If it does, and the
    released node stands out in the same way among those that score with that auxiliary node, both are mapped at once.
    Released nodes are gone through again until none is mapped any more. Nodes once mapped stay so.

    The guess holds the auxiliary nodes with a score when the node was mapped; nodes never mapped are not attempted.

    Parameters
    ----------
    theta
        How far the best must stand out, from 0. With 0 any lead will do and the lot decides between equals; with any
        other, a node with two best ones is left alone. 0.5 is customary; where nothing stands out, nobody is attempted.
    order
        "random" goes through the released nodes in a new order each time; "natural" by their number, which makes the
        attack exactly repeatable (unless ``theta`` is 0), and should be used only if the numbers tell nothing.

    Examples
    --------
    >>> ring = Graph.from_edges([0, 1, 2, 3, 4, 0, 0], [1, 2, 3, 4, 0, 2, 5])
    >>> knowledge = GraphKnowledge(ring, np.array([[0, 0], [1, 1]]))
    >>> guess = NarayananShmatikov().run(released=ring, knowledge=knowledge, rng=np.random.default_rng(1))
    >>> guess.chosen
    array([-1, -1,  2,  3,  4,  5], dtype=int32)
    """

    theta: float = 0.5
    order: Literal["random", "natural"] = "random"

    def __post_init__(self) -> None:
        number = isinstance(self.theta, int | float | np.number) and not isinstance(self.theta, bool)
        if not number or not self.theta >= 0:
            raise InputError(f"theta must be a number of at least 0, but is {self.theta!r}. Correct it")
        if self.order not in ("random", "natural"):
            raise InputError(f"order must be 'random' or 'natural', but is {self.order!r}. Choose one of them")

    def run(self, *, released: Graph, knowledge: GraphKnowledge, rng: np.random.Generator) -> Candidates:
        """Return whom each released node was mapped to, and who else scored; ``rng`` draws the order and the lots."""
        check_knowledge(released, knowledge, attack="Narayanan-Shmatikov")
        here, there = both_sides(released, knowledge, rng)
        looks = nothing_seen(released.nodes, knowledge.auxiliary.nodes)
        now, before = FIRST, BEFORE
        while now > before:
            unmapped = np.flatnonzero(here.partner < 0)
            order = rng.permutation(unmapped) if self.order == "random" else unmapped
            before, now = now, sweep(here, there, order, float(self.theta), now, looks)
        decided = np.where(here.taken == BEFORE, NEVER, here.taken)
        return guess_after(here, there, decided, weight=1 / np.sqrt(np.maximum(there.degree, 1)))
