"""Refinement of another attack's mapping by mean field."""

from dataclasses import dataclass

import numpy as np

from unveil.attacks._listing import attack
from unveil.attacks.graph.mean_field import FEW, MeanField, run_sparse
from unveil.attacks.graph.needs import Needs, needs_of_few
from unveil.attacks.specification import graph_attack_from
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphKnowledge
from unveil.errors import InputError, whole_number
from unveil.guesses.candidates import NOT_ATTEMPTED, Candidates


@attack(
    source="mean-field matching, started from a mapping; Lubars and Srikant (2018), correcting the output of "
    "approximate graph matching algorithms",
    scope="global",
    posterior=True,
)
@dataclass(frozen=True, kw_only=True)
class Refine:
    """Run another attack, then correct and complete its mapping by mean field.

    Each pair of the other attack's mapping has the chance 0.9 at first. What follows is that of ``mean-field`` with a
    few candidates for each node: pairs that share no edges with the others lose their chance, and nodes that the other
    attack left alone get candidates from their neighbors. The guess is that of ``mean-field``.

    Parameters
    ----------
    attack
        The other attack as it is written, such as ``ns`` or ``yg:theta=3``; with several settings it needs quotes, as
        in ``refine:"attack=kl:theta=2,rounds=3"``. It needs what it needs alone, such as seed pairs.
    candidates, slack, memory
        As in ``mean-field``; candidates must be a number.

    Examples
    --------
    >>> ring = Graph.from_edges([0, 1, 2, 3, 4, 5, 0, 0], [1, 2, 3, 4, 5, 0, 2, 6])
    >>> knowledge = GraphKnowledge(ring, np.array([[0, 0], [1, 1]]))
    >>> Refine(attack="yg").run(released=ring, knowledge=knowledge, rng=np.random.default_rng(1)).chosen
    array([-1, -1,  2,  3,  4,  5,  6], dtype=int32)
    """

    attack: str = "korula-lattanzi"
    candidates: int = FEW
    slack: float | None = None
    memory: float = 2.0

    def __post_init__(self) -> None:
        whole_number(self.candidates, "candidates")
        MeanField(slack=self.slack, memory=self.memory)
        if not isinstance(self.attack, str) or self.attack.strip().partition(":")[0] == "refine":
            raise InputError("refine needs another attack, whose mapping it refines. Write attack=ns, for example")
        graph_attack_from(self.attack)

    def run(self, *, released: Graph, knowledge: GraphKnowledge, rng: np.random.Generator) -> Candidates:
        """Return the refined candidate probabilities; ``rng`` serves both attacks."""
        first = graph_attack_from(self.attack).run(released=released, knowledge=knowledge, rng=rng)
        mapping = np.full(released.nodes, NOT_ATTEMPTED, np.int64) if first.chosen is None else first.chosen
        return run_sparse(released, knowledge, self.candidates, self.slack, self.memory, mapping, rng)

    def needs(self, released: Graph, knowledge: GraphKnowledge) -> Needs:
        """Return the estimated cost besides the other attack, by graph sizes."""
        return needs_of_few(released, knowledge.auxiliary, self.candidates, by_degree=False)
