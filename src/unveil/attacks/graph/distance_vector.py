"""Distance-vector attack: match nodes by their distances to the seeds."""

from dataclasses import dataclass

import numpy as np

from unveil.attacks._listing import attack
from unveil.attacks.graph._chunks import check_memory, match_by_degree
from unveil.attacks.graph._guess import check_knowledge
from unveil.attacks.graph._settings import check_chunk, check_theta
from unveil.attacks.graph._similarity import of_vectors, steps_to, twins_of
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphKnowledge
from unveil.guesses.candidates import Candidates


@attack(
    source='Srivatsa and Hicks, "Deanonymizing mobility traces: using social networks as a side-channel", 2012',
    aka=("DV",),
    scope="global",
)
@dataclass(frozen=True, kw_only=True)
class DistanceVector:
    """Match all nodes at once by their distances to the seeds.

    The score of a released and an auxiliary node is the cosine of their vectors of steps to the seeds, from 0 to 1;
    a seed that cannot be reached is one step farther than the farthest that can be, in either graph. Nodes of both
    graphs are sorted by degree (ties at random) and cut into chunks; within a chunk the assignment of the largest total
    score is the mapping (ties at random), and the scores of a node with all candidates of its chunk, divided by their
    sum, are what the attacker believes. Cosines of steps are all near 1, so that belief is nearly even. From a single
    seed nothing is learned: every cosine is 1.

    If one graph has more nodes, its chunks have the size asked for, and those of the other graph as much less as it is
    smaller; whoever is left over in an assignment is not attempted.

    Parameters
    ----------
    theta
        The least score of a pair to be accepted; 0 accepts all, above 1 none.
    chunk
        How many nodes are compared at a time. With None all are compared at once: then the belief is one over all
        nodes, and degree, by which chunks are cut, plays no part in it. That is refused where it would need too much
        memory.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    >>> knowledge = GraphKnowledge(path, np.array([[0, 0], [2, 2]]))
    >>> DistanceVector().run(released=path, knowledge=knowledge, rng=np.random.default_rng(1)).chosen
    array([-1,  1, -1,  3,  4], dtype=int32)
    """

    theta: float = 0.0
    chunk: int | None = 100

    def __post_init__(self) -> None:
        check_theta(self.theta)
        check_chunk(self.chunk)

    def run(self, *, released: Graph, knowledge: GraphKnowledge, rng: np.random.Generator) -> Candidates:
        """Return the auxiliary nodes of each released node's chunk; ``rng`` breaks ties."""
        check_knowledge(released, knowledge, attack="distance-vector")
        check_memory(released, knowledge, self.chunk, attack="distance-vector")
        steps = steps_to(released, knowledge.auxiliary, knowledge.seeds)
        return match_by_degree(
            released,
            knowledge,
            of_vectors(*steps),
            theta=self.theta,
            chunk=self.chunk,
            rng=rng,
            twins=lambda: twins_of(*steps),
        )
