"""Who is a released node? Map the surest nodes first, and let their neighbours inherit that trust."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from unveil._kernels.graph.inheritance import AdjacencyRows, inherited
from unveil._kernels.graph.rows import row_numbers
from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.attacks._listing import attack
from unveil.attacks.graph._chunks import NodeChunk, Score, by_degree, check_memory, chunk_pairs, guess_of, solve
from unveil.attacks.graph._guess import check_knowledge, mapping_of_seeds
from unveil.attacks.graph._settings import check_chunk, check_theta, check_weights
from unveil.attacks.graph._similarity import blended, of_seed_distances, of_vectors, structure_vectors
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphKnowledge
from unveil.errors import share, whole_number
from unveil.guesses.candidates import NOT_ATTEMPTED, Candidates

#: Exact betweenness of larger graphs takes most of the time, and finds hardly more nodes than that from a few pivots.
_EXACT_UP_TO = 2_000
_PIVOTS = 256


@attack(
    source='Ji, Li, Srivatsa, He and Beyah, "Structure based data de-anonymization of social networks and mobility '
    'traces", 2014',
    aka=("ADA",),
    scope="global",
)
@dataclass(frozen=True, kw_only=True)
class AdaptiveDeanonymization:
    """An adversary who maps the surest nodes first, round by round, and learns from each round for the next.

    The score of a released and an auxiliary node is the weighted sum of three features, each from 0 to 1:

    * distance: the cosine of their steps to the seeds, as in
      :class:`~unveil.attacks.graph.distance_vector.DistanceVector`;
    * structure: the cosine of their closeness, betweenness and degree, each divided by the largest of the graph;
    * inheritance: the mean score of all pairs of their neighbours that are already mapped on one another (1 for seeds),
      times ``1 - difference of their degrees / larger of them``; 0 if no neighbours are.

    In each round, the nodes within two steps of mapped ones are sorted by degree (ties by lot) and cut into chunks. Of
    the assignment of the largest total score in a chunk, the best share of pairs is accepted (ties by lot); all others
    try again in the next round. It ends when a round accepts nothing. What the adversary believes of a node are its
    scores in its chunk in the round of its acceptance, divided by their sum. Nodes that no path connects with a seed
    are never attempted. Graphs of different size are cut as in ``DistanceVector``.

    Closeness and betweenness of large graphs are estimates, marked as such by ``sampled`` in the answer of
    :func:`unveil.attacks.graph._centralities.closeness_of`, and computed once for each graph object.

    Parameters
    ----------
    theta
        The least score of a pair to be accepted; 0 accepts all, above 1 none.
    accept
        The share of the pairs of each chunk that a round accepts, above 0 and at most 1, rounded up.
    chunk
        How many nodes are compared at a time; None for all at once, refused where it would need too much memory.
    distance_weight, structure_weight, inheritance_weight
        What each feature counts, from 0 to 1; they sum to 1. What has no weight is not computed.
    exact_up_to, pivots
        Closeness and betweenness are exact in graphs of at most ``exact_up_to`` nodes; in larger ones they are
        estimates from the paths that begin at ``pivots`` nodes. An ``exact_up_to`` of at least the number of nodes
        asks for exact ones: on a graph of 4,039 nodes the attack then took nine times as long, and found 443 nodes in
        place of 434 (means of six draws).

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    >>> knowledge = GraphKnowledge(path, np.array([[0, 0], [2, 2]]))
    >>> AdaptiveDeanonymization().run(released=path, knowledge=knowledge, rng=np.random.default_rng(1)).chosen
    array([-1,  1, -1,  3,  4], dtype=int32)
    """

    theta: float = 0.0
    accept: float = 0.5
    chunk: int | None = 100
    distance_weight: float = 0.6
    structure_weight: float = 0.2
    inheritance_weight: float = 0.2
    exact_up_to: int = _EXACT_UP_TO
    pivots: int = _PIVOTS

    def __post_init__(self) -> None:
        check_theta(self.theta)
        check_chunk(self.chunk)
        share(self.accept, "accept", zero=False, advice="Write half as 0.5")
        names = ("distance_weight", "structure_weight", "inheritance_weight")
        check_weights({name: getattr(self, name) for name in names})
        for name, least in (("exact_up_to", 0), ("pivots", 1)):
            whole_number(getattr(self, name), name, at_least=least)

    def run(self, *, released: Graph, knowledge: GraphKnowledge, rng: np.random.Generator) -> Candidates:
        """Return the auxiliary nodes of each released node's chunk when it was accepted; ``rng`` breaks ties."""
        check_knowledge(released, knowledge, attack="adaptive-deanonymization")
        check_memory(released, knowledge, self.chunk, attack="adaptive-deanonymization")
        auxiliary = knowledge.auxiliary
        forth, back = mapping_of_seeds(released, knowledge)
        trust = np.where(forth == NOT_ATTEMPTED, 0.0, 1.0)
        score = self.score(released, knowledge, forth, trust)
        near, near_auxiliary = _open_nodes(released), _open_nodes(auxiliary)
        decided: list[NodeChunk] = []
        while True:
            rows = by_degree(near(forth != NOT_ATTEMPTED), released, rng)
            columns = by_degree(near_auxiliary(back != NOT_ATTEMPTED), auxiliary, rng)
            # Nothing is mapped before the end of the round: chunks do not depend on which of them comes first.
            accepted = [self._best(solve(*pair, score, rng), rng) for pair in chunk_pairs(rows, columns, self.chunk)]
            if not any(block.rows.size for block in accepted):
                return guess_of(decided, released.nodes)
            decided += accepted
            for block in accepted:
                partners = block.columns[block.chosen]
                forth[block.rows], back[partners], trust[block.rows] = partners, block.rows, block.chosen_scores

    def score(self, released: Graph, knowledge: GraphKnowledge, forth: IntArray, trust: FloatArray) -> Score:
        """Return how alike released and auxiliary nodes are, as a function of both.

        ``forth`` holds the auxiliary node that each released one is mapped on, -1 for none, ``trust`` the score of that
        pair; the function looks at both arrays anew whenever it is called.
        """
        auxiliary = knowledge.auxiliary
        features: list[tuple[float, Score]] = []
        if self.distance_weight:
            features.append((self.distance_weight, of_seed_distances(released, knowledge)))
        if self.structure_weight:
            sizes = {"exact_up_to": self.exact_up_to, "pivots": self.pivots}
            one = structure_vectors(released, **sizes, side="released")
            other = structure_vectors(auxiliary, **sizes, side="auxiliary")
            features.append((self.structure_weight, of_vectors(one, other)))
        if self.inheritance_weight:
            features.append((self.inheritance_weight, _of_inheritance(released, auxiliary, forth, trust)))
        return blended(features)

    def _best(self, block: NodeChunk, rng: np.random.Generator) -> NodeChunk:
        """Return the best share of a chunk's pairs, those below the threshold left out."""
        scores = block.chosen_scores
        most = math.ceil(self.accept * scores.size - 1e-9)  # 0.1 of 30 is 3, whatever the last bit says
        keep = np.zeros(scores.size, np.bool_)
        keep[np.lexsort((rng.permutation(scores.size), -scores))[:most]] = True
        return block.kept(keep & (scores >= self.theta))


def _of_inheritance(released: Graph, auxiliary: Graph, forth: IntArray, trust: FloatArray) -> Score:
    one, other = AdjacencyRows(released.start, released.neighbour), AdjacencyRows(auxiliary.start, auxiliary.neighbour)

    def score(rows: IntArray, columns: IntArray) -> FloatArray:
        degree, other_degree = released.degrees[rows, None], auxiliary.degrees[columns]
        # Two nodes without a neighbour inherit nothing, whatever they are divided by.
        apart = np.abs(degree - other_degree) / np.maximum(np.maximum(degree, other_degree), 1)
        found: FloatArray = inherited(one, other, rows, columns, forth, trust) * (1.0 - apart)
        return found

    return score


def _open_nodes(graph: Graph) -> Callable[[BoolArray], IntArray]:
    """Return a function that lists the nodes within two steps of mapped ones that are not mapped themselves."""
    row = row_numbers(graph.start)

    def near(mapped: BoolArray) -> IntArray:
        reached = mapped.copy()
        for _ in range(2):
            ends = graph.neighbour[reached[row]]
            reached[ends] = True
        return np.flatnonzero(reached & ~mapped)

    return near
