"""Adaptive de-anonymization: map the most certain nodes first; neighbors inherit scores."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from unveil._kernels._compile import compiled, loop
from unveil._kernels.graph.rows import row_numbers
from unveil._kernels.types import BoolArray, FloatArray, Int32Array, IntArray
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
    """Map the most certain nodes round by round, and learn each round.

    The score of a released and an auxiliary node is the weighted sum of three features, each from 0 to 1:

    * distance: the cosine of their steps to the seeds, as in
      :class:`~unveil.attacks.graph.distance_vector.DistanceVector`;
    * structure: the cosine of their closeness, betweenness and degree, each divided by the largest of the graph;
    * inheritance: the mean score of all pairs of their neighbors that are already mapped on one another (1 for seeds),
      times ``1 - difference of their degrees / larger of them``; 0 if no neighbors are.

    In each round, the nodes within two steps of mapped ones are sorted by degree (ties at random) and cut into chunks.
    Of the assignment of the largest total score in a chunk, the best share of pairs is accepted (ties at random); all
    others try again in the next round. It ends when a round accepts nothing. What the attacker believes of a node are
    its scores in its chunk in the round of its acceptance, divided by their sum. Nodes that no path connects with a
    seed are never attempted. Graphs of different size are cut as in ``DistanceVector``.

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
        """Return each released node's candidates when it was accepted.

        Candidates are the auxiliary nodes of its chunk; ``rng`` breaks ties.
        """
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
        """Return the similarity of released and auxiliary nodes, as a function.

        ``forth`` holds the auxiliary node that each released one is mapped on, -1 for none, ``trust`` the score of that
        pair; the function looks at both arrays again whenever it is called.
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
        """Return the best share of a chunk's pairs above the threshold."""
        scores = block.chosen_scores
        most = math.ceil(self.accept * scores.size - 1e-9)  # 0.1 of 30 is 3, whatever the last bit says
        keep = np.zeros(scores.size, np.bool_)
        keep[np.lexsort((rng.permutation(scores.size), -scores))[:most]] = True
        return block.kept(keep & (scores >= self.theta))


def _of_inheritance(released: Graph, auxiliary: Graph, forth: IntArray, trust: FloatArray) -> Score:
    one, other = AdjacencyRows(released.start, released.neighbour), AdjacencyRows(auxiliary.start, auxiliary.neighbour)

    def score(rows: IntArray, columns: IntArray) -> FloatArray:
        degree, other_degree = released.degrees[rows, None], auxiliary.degrees[columns]
        # Two nodes without a neighbor inherit nothing, whatever they are divided by.
        apart = np.abs(degree - other_degree) / np.maximum(np.maximum(degree, other_degree), 1)
        found: FloatArray = inherited(one, other, rows, columns, forth, trust) * (1.0 - apart)
        return found

    return score


def _open_nodes(graph: Graph) -> Callable[[BoolArray], IntArray]:
    """Return a function that lists unmapped nodes near mapped ones.

    Near is within two steps.
    """
    row = row_numbers(graph.start)

    def near(mapped: BoolArray) -> IntArray:
        reached = mapped.copy()
        for _ in range(2):
            ends = graph.neighbour[reached[row]]
            reached[ends] = True
        return np.flatnonzero(reached & ~mapped)

    return near


# Inherited similarity of two nodes: the mean score of neighbors that are mapped on one another.

#: Up to this many looks at an end of an edge plain Python is quick enough.
PLAIN_STEPS = 20_000


class AdjacencyRows(NamedTuple):
    """A graph: the neighbors of node ``i`` are ``neighbour[start[i]:start[i + 1]]``."""

    start: IntArray
    neighbour: Int32Array


def inherited(
    one: AdjacencyRows, other: AdjacencyRows, rows: IntArray, columns: IntArray, partner: IntArray, score: FloatArray
) -> FloatArray:
    """Return the mean score of mapped neighbors, per pair of nodes.

    Parameters
    ----------
    one, other
        The two graphs.
    rows, columns
        The nodes to compare; each column once.
    partner, score
        For each node of ``one`` the node of ``other`` that it is mapped on, -1 for none, and the score of that pair, at
        least 0. No two nodes have the same partner.

    Returns
    -------
    Floats
        The mean of the scores of all pairs of mapped nodes of which one is a neighbor of the row, its partner one of
        the column; 0 where there are none.

    Examples
    --------
    >>> path = AdjacencyRows(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32))
    >>> inherited(path, path, np.arange(3), np.arange(3), np.array([-1, 1, -1]), np.array([0, 0.5, 0]))
    array([[0.5, 0. , 0.5],
           [0. , 0. , 0. ],
           [0.5, 0. , 0.5]])
    """
    nodes = other.start.size - 1
    place, mark = np.full(nodes, -1, np.int64), np.full(nodes, -1.0)
    place[columns] = np.arange(columns.size)
    total, count = np.zeros((rows.size, columns.size)), np.zeros((rows.size, columns.size))
    looks = (rows.size + 1) * int((other.start[columns + 1] - other.start[columns]).sum())
    run = _inherit if looks + one.neighbour.size <= PLAIN_STEPS else compiled(_inherit)
    run(*one, *other, rows, columns, partner, score, place, mark, total, count)
    return np.divide(total, count, out=total, where=count > 0)


@loop("const i8[], const i4[], const i8[], const i4[], i8[], i8[], i8[], f8[], i8[], f8[], f8[,], f8[,]")
def _inherit(
    start: IntArray,
    neighbour: Int32Array,
    other_start: IntArray,
    other_neighbour: Int32Array,
    rows: IntArray,
    columns: IntArray,
    partner: IntArray,
    score: FloatArray,
    place: IntArray,
    mark: FloatArray,
    total: FloatArray,
    count: FloatArray,
) -> None:
    """Add up the scores, and count them.

    ``place`` says where a node is among the columns, -1 for nowhere; ``mark`` holds -1 throughout. For each row the
    shorter of two ways is gone: on from the partners of its neighbors to columns, or back from all columns.
    """
    back = 0
    for node in columns:
        back += other_start[node + 1] - other_start[node]
    for row in range(rows.size):
        mates = neighbour[start[rows[row]] : start[rows[row] + 1]]
        on = 0
        for mate in mates:
            if partner[mate] >= 0:
                on += other_start[partner[mate] + 1] - other_start[partner[mate]]
        if on <= back:
            for mate in mates:
                if partner[mate] >= 0:
                    for entry in range(other_start[partner[mate]], other_start[partner[mate] + 1]):
                        column = place[other_neighbour[entry]]
                        if column >= 0:
                            total[row, column] += score[mate]
                            count[row, column] += 1
        else:
            for mate in mates:
                if partner[mate] >= 0:
                    mark[partner[mate]] = score[mate]
            for column in range(columns.size):
                for entry in range(other_start[columns[column]], other_start[columns[column] + 1]):
                    if mark[other_neighbour[entry]] >= 0:
                        total[row, column] += mark[other_neighbour[entry]]
                        count[row, column] += 1
            for mate in mates:
                if partner[mate] >= 0:
                    mark[partner[mate]] = -1.0
