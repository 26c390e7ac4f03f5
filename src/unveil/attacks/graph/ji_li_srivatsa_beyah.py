"""Ji-Li-Srivatsa-Beyah attack: match nodes by degree, neighborhood, and distances."""

from dataclasses import dataclass

import numpy as np

from unveil._kernels.types import IntArray
from unveil.attacks._listing import attack
from unveil.attacks.graph._centralities import EXACT_UP_TO, PIVOTS
from unveil.attacks.graph._chunks import Score, by_degree, check_memory, match_by_degree
from unveil.attacks.graph._guess import check_knowledge
from unveil.attacks.graph._settings import check_chunk, check_theta, check_weights
from unveil.attacks.graph._similarity import (
    blended,
    largest_neighbour_degrees,
    of_closeness,
    of_degrees,
    of_seed_distances,
    of_vectors,
    steps_to,
)
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphKnowledge
from unveil.errors import whole_number
from unveil.guesses.candidates import Candidates


@attack(
    source='Ji, Li, Srivatsa and Beyah, "Structural data de-anonymization: quantification, practice, and '
    'implications", 2014',
    aka=("JLSB",),
    scope="global",
)
@dataclass(frozen=True, kw_only=True)
class JiLiSrivatsaBeyah:
    """Match all nodes at once by five structural features.

    The score of a released and an auxiliary node is the weighted sum of five features, each from 0 to 1:

    * degree: ``sqrt(1 / (1 + difference))``;
    * neighbors: the cosine of the largest degrees among their neighbors, sorted;
    * reference: the cosine of their steps to the seeds;
    * top: the cosine of their steps to the nodes of largest degree in their graph, which are taken to correspond by
      rank (ties at random);
    * closeness: the smaller closeness centrality over the larger.

    By default the last two have no weight, as in the experiments of Zhao and Wagner; what has none is not computed.
    Two nodes without neighbors are alike in their neighborhood; with a node that has some, they share nothing. Steps
    to what cannot be reached, chunks, the assignment and graphs of different size are as in
    :class:`~unveil.attacks.graph.distance_vector.DistanceVector`.

    Parameters
    ----------
    theta
        The least score of a pair to be accepted; 0 accepts all, above 1 none.
    chunk
        How many nodes are compared at a time; None for all at once, refused where it would need too much memory.
    degree_weight, neighbour_weight, reference_weight, top_weight, closeness_weight
        What each feature counts, from 0 to 1; they sum to 1.
    neighbours
        How many of a node's neighbors are compared, those of largest degree.
    tops
        To how many nodes of largest degree steps are counted.
    exact_up_to, pivots
        Closeness is exact in graphs of at most ``exact_up_to`` nodes; in larger ones it is an estimate from the
        distances to ``pivots`` nodes. It is computed once for each graph object and then reused.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 4])
    >>> knowledge = GraphKnowledge(path, np.array([[0, 0], [2, 2]]))
    >>> JiLiSrivatsaBeyah().run(released=path, knowledge=knowledge, rng=np.random.default_rng(1)).chosen
    array([-1,  1, -1,  3,  4], dtype=int32)
    """

    theta: float = 0.0
    chunk: int | None = 100
    degree_weight: float = 0.3
    neighbour_weight: float = 0.3
    reference_weight: float = 0.4
    top_weight: float = 0.0
    closeness_weight: float = 0.0
    neighbours: int = 50
    tops: int = 50
    exact_up_to: int = EXACT_UP_TO
    pivots: int = PIVOTS

    def __post_init__(self) -> None:
        check_theta(self.theta)
        check_chunk(self.chunk)
        names = ("degree_weight", "neighbour_weight", "reference_weight", "top_weight", "closeness_weight")
        check_weights({name: getattr(self, name) for name in names})
        for name, least in (("neighbours", 1), ("tops", 1), ("exact_up_to", 0), ("pivots", 1)):
            whole_number(getattr(self, name), name, at_least=least)

    def run(self, *, released: Graph, knowledge: GraphKnowledge, rng: np.random.Generator) -> Candidates:
        """Return the auxiliary nodes of each released node's chunk; ``rng`` breaks ties."""
        check_knowledge(released, knowledge, attack="ji-li-srivatsa-beyah")
        check_memory(released, knowledge, self.chunk, attack="ji-li-srivatsa-beyah")
        score = self.score(released, knowledge, rng=rng)
        return match_by_degree(released, knowledge, score, theta=self.theta, chunk=self.chunk, rng=rng)

    def score(self, released: Graph, knowledge: GraphKnowledge, *, rng: np.random.Generator) -> Score:
        """Return the similarity of nodes, as a function; ``rng`` breaks ties."""
        auxiliary = knowledge.auxiliary
        features: list[tuple[float, Score]] = []
        if self.degree_weight:
            features.append((self.degree_weight, of_degrees(released, auxiliary)))
        if self.neighbour_weight:
            # Beyond the largest degree there are only zeros.
            most = min(self.neighbours, max(int(graph.degrees.max()) for graph in (released, auxiliary)))
            one, other = (largest_neighbour_degrees(graph, most) for graph in (released, auxiliary))
            features.append((self.neighbour_weight, of_vectors(one, other)))
        if self.reference_weight:
            features.append((self.reference_weight, of_seed_distances(released, knowledge)))
        if self.top_weight:
            references = _top_pairs(released, auxiliary, self.tops, rng)
            features.append((self.top_weight, of_vectors(*steps_to(released, auxiliary, references))))
        if self.closeness_weight:
            near = of_closeness(released, auxiliary, exact_up_to=self.exact_up_to, pivots=self.pivots)
            features.append((self.closeness_weight, near))
        return blended(features)


def _top_pairs(released: Graph, auxiliary: Graph, at_most: int, rng: np.random.Generator) -> IntArray:
    """Return the nodes of largest degree of both graphs, paired by rank."""
    count = min(at_most, released.nodes, auxiliary.nodes)
    return np.column_stack([by_degree(np.arange(graph.nodes), graph, rng)[:count] for graph in (released, auxiliary)])
