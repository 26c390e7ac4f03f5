"""What an adversary learns about connections: how many of its claims are right, and how many it would guess anyway."""

from dataclasses import dataclass
from math import ceil, inf, nan
from typing import Any, Literal

import numpy as np

from unveil._kernels.graph.link_prediction import right_by_adamic_adar, right_by_degrees
from unveil._kernels.graph.rows import among, ends_of, rows_of
from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.data.graph.graph import Graph
from unveil.guesses.edge_claims import EdgeClaims
from unveil.metrics._listing import metric
from unveil.metrics.trials.risk import Rate, clopper_pearson

_FACTS: dict[str, Any] = {"category": "edge disclosure", "per": "release", "more_means": "less private"}
_SOURCE = "precision and recall of link disclosure"
_GUESSING = "Adamic and Adar (2003); Liben-Nowell and Kleinberg (2007)"
#: The share of people that are called the worst off.
WORST = 0.01

Baseline = Literal["common neighbours", "degrees"]


@dataclass(frozen=True, kw_only=True, eq=False)
class EdgeDisclosure:
    """What claims about edges are worth.

    Attributes
    ----------
    claims, right, hidden
        How many pairs are claimed, how many of them are edges, and how many edges there are to be learned.
    precision, recall
        The share of claims that are right and of hidden edges that are claimed, with 95 % intervals, which allow for
        claims that share a node and so go together; undefined without a claim, or without a hidden edge.
    by_common_neighbours, by_degrees
        The share of right ones among as many pairs guessed from the auxiliary graph alone.
    expected
        The share of claims that the adversary expects to be right; NaN where it has no probabilities.
    people
        How many people have a hidden edge; of these ``some`` have at least one that is rightly claimed, and ``all_of``
        have none left.
    mean, worst
        How many edges of somebody with a hidden one are rightly claimed: on average, and the fewest among the 1 % of
        all people who lose most.
    """

    claims: int
    right: int
    hidden: int
    precision: Rate
    recall: Rate
    by_common_neighbours: float
    by_degrees: float
    expected: float
    people: int
    some: int
    all_of: int
    mean: float
    worst: int

    @property
    def guessing(self) -> float:
        """The share of right ones among as many pairs guessed from the auxiliary graph alone, in the better way."""
        return float(np.fmax(self.by_common_neighbours, self.by_degrees))

    @property
    def guessed_by(self) -> Baseline:
        """In which way that is."""
        return "common neighbours" if self.by_common_neighbours > self.by_degrees else "degrees"

    @property
    def lift(self) -> float:
        """How many times as often claims are right as guesses; NaN where no guess, or no claim, is."""
        return self.precision.value / self.guessing if self.guessing > 0 else nan


@metric(bounds=(0, 1), source=_SOURCE, **_FACTS)
def edge_disclosure_precision(guess: EdgeClaims, truth: Graph) -> float:
    """Return the share of claimed edges that are original ones.

    Formula: ``#{claimed, and hidden edges} / #{claimed}``: pairs that the auxiliary graph does not join and the mapping
    does, seed pairs included; hidden are original edges that the auxiliary graph lacks. 0 means that no claim is right.
    1 means that all are. Compare it with :func:`edge_guessing_precision`: part of it can be had without any release.
    NaN where nothing is claimed.

    >>> path, edge = Graph.from_edges([0, 1], [1, 2], nodes=4), Graph.from_edges([0], [1], nodes=4)
    >>> edge_disclosure_precision(EdgeClaims(edge, np.array([6, 7])), path)
    0.5
    """
    return float(_right(guess, truth).mean()) if guess.keys.size else nan


@metric(bounds=(0, 1), source=_SOURCE, **_FACTS)
def edge_disclosure_recall(guess: EdgeClaims, truth: Graph) -> float:
    """Return the share of the edges that the adversary did not know, and can learn, that it claims.

    Formula: ``#{claimed, and hidden edges} / #{hidden edges}``. Hidden are original edges among people of the auxiliary
    graph that it lacks; edges of people whom the adversary has not heard of are none. 0 means that none was learned. 1
    means that all were. NaN where no edge is hidden.

    >>> path, edge = Graph.from_edges([0, 1, 2], [1, 2, 3]), Graph.from_edges([0], [1], nodes=4)
    >>> edge_disclosure_recall(EdgeClaims(edge, np.array([6, 7])), path)
    0.5
    """
    hidden = guess.hidden(truth).size
    return float(_right(guess, truth).sum()) / hidden if hidden else nan


@metric(bounds=(0, 1), source=_GUESSING, **_FACTS)
def edge_guessing_precision(guess: EdgeClaims, truth: Graph) -> float:
    """Return the share of right ones among as many pairs guessed from the auxiliary graph alone.

    Formula: ``#{hidden edges among the n likeliest pairs} / n`` with as many pairs as there are claims, the likeliest
    by ``Σ 1 / ln(degree)`` over common neighbours or by the product of degrees, whichever is right more often; ties by
    lot, on average. 0 means that only a release can tell. 1 means that nothing was left to tell. NaN where nothing is
    claimed.

    >>> path, edges = Graph.from_edges([0, 1, 0], [1, 2, 2]), Graph.from_edges([0, 1], [1, 2])
    >>> edge_guessing_precision(EdgeClaims(edges, np.array([2])), path)
    1.0
    """
    return float(np.fmax(*_guessed(guess, truth)))


@metric(bounds=(0, inf), source=_GUESSING, **_FACTS)
def edge_disclosure_lift(guess: EdgeClaims, truth: Graph) -> float:
    """Return how many times as often claimed edges are right as pairs guessed from the auxiliary graph alone.

    Formula: ``edge_disclosure_precision / edge_guessing_precision``. 1 means that the release told nothing that the
    adversary could not guess; below that the mapping misled it. NaN where nothing is claimed, or no guess is right.

    >>> path, edges = Graph.from_edges([0, 1, 0], [1, 2, 2]), Graph.from_edges([0, 1], [1, 2])
    >>> edge_disclosure_lift(EdgeClaims(edges, np.array([2])), path)
    1.0
    """
    guessed = edge_guessing_precision(guess, truth)
    return edge_disclosure_precision(guess, truth) / guessed if guessed > 0 else nan


@metric(bounds=(0, 1), source=_SOURCE, category="edge disclosure", per="subject", more_means="less private")
def hidden_edges_disclosed(guess: EdgeClaims, truth: Graph) -> FloatArray:
    """Return for each auxiliary node the share of its hidden edges that are claimed.

    Formula: ``#{claimed, and hidden edges of the node} / #{hidden edges of the node}``. 0 means that none of them was
    learned. 1 means that all were. NaN where no edge of the node is hidden.

    >>> path, edge = Graph.from_edges([0, 1, 2], [1, 2, 3]), Graph.from_edges([0], [1], nodes=4)
    >>> hidden_edges_disclosed(EdgeClaims(edge, np.array([6])), path)
    array([nan, 1. , 0.5, 0. ])
    """
    hidden, nodes = guess.hidden(truth), guess.auxiliary.nodes
    whole, part = (_per_node(keys, nodes) for keys in (hidden, guess.keys[_right(guess, truth)]))
    return np.where(whole > 0, part / np.maximum(whole, 1), np.nan)


def edge_disclosure(guess: EdgeClaims, truth: Graph) -> EdgeDisclosure:
    """Return what claims about edges are worth: the metrics above, with intervals and what single people lose.

    >>> path, edge = Graph.from_edges([0, 1, 2], [1, 2, 3]), Graph.from_edges([0], [1], nodes=4)
    >>> found = edge_disclosure(EdgeClaims(edge, np.array([6, 7])), path)
    >>> found.claims, found.right, found.hidden, found.precision.value, found.worst
    (2, 1, 2, 0.5, 1)
    """
    hidden, right, nodes = guess.hidden(truth), _right(guess, truth), guess.auxiliary.nodes
    by_common, by_degrees = _guessed(guess, truth)
    whole, part = _per_node(hidden, nodes), _per_node(guess.keys[right], nodes)
    there = whole > 0
    return EdgeDisclosure(
        claims=guess.keys.size,
        right=int(right.sum()),
        hidden=hidden.size,
        precision=rate_of_pairs(guess.keys, right, nodes, why="nothing is claimed"),
        recall=rate_of_pairs(hidden, among(hidden, guess.keys), nodes, why="no edge is hidden"),
        by_common_neighbours=by_common,
        by_degrees=by_degrees,
        expected=nan if guess.probability is None or not guess.keys.size else float(guess.probability.mean()),
        people=int(there.sum()),
        some=int((part[there] > 0).sum()),
        all_of=int((part[there] == whole[there]).sum()),
        mean=float(part[there].mean()) if there.any() else nan,
        worst=int(np.sort(part)[-ceil(WORST * nodes)]) if nodes else 0,
    )


def rate_of_pairs(keys: IntArray, hit: BoolArray, nodes: int, *, why: str) -> Rate:
    """Return the share of pairs that hit with a 95 % interval, where pairs that share a node go together.

    A node that is mapped wrongly makes all its claims wrong, so that claims are worth fewer independent ones: as many
    as give the variance ``Σ e_a e_b / n²`` over all pairs a, b that share a node (themselves included), with the
    deviations e from the share (Fafchamps and Gubert 2007). The interval is Clopper and Pearson's for so many. Where
    all pairs hit, or none, the deviations tell nothing, and pairs that share a node are taken for one and the same.

    >>> star = np.arange(1, 11)
    >>> round(rate_of_pairs(star, np.ones(10, bool), 11, why="").low, 3)  # ten edges of one node are worth one
    0.025
    """
    count = keys.size
    if count == 0:
        return Rate(nan, nan, nan, why)
    share = float(hit.mean())
    together = _sums(keys, np.ones(count), nodes)
    worth = least = count**2 / (float((together**2).sum()) - count)
    if 0 < share < 1:
        apart = np.where(hit, 1 - share, -share)
        variance = (float((_sums(keys, apart, nodes) ** 2).sum()) - float((apart**2).sum())) / count**2
        worth = min(max(share * (1 - share) / variance if variance > 0 else count, least), count)
    found = clopper_pearson(share * worth, worth)
    return Rate(share, found.low, found.high, tries=count, worth=worth)


def _sums(keys: IntArray, values: FloatArray, nodes: int) -> FloatArray:
    """Return the sum of the values of each node's edges."""
    one, other = ends_of(keys, nodes)
    return np.asarray(np.bincount(one, values, nodes) + np.bincount(other, values, nodes), np.float64)


def _per_node(keys: IntArray, nodes: int) -> IntArray:
    """Return at how many of these edges each node is."""
    one, other = ends_of(keys, nodes)
    return np.bincount(one, minlength=nodes) + np.bincount(other, minlength=nodes)


def _right(guess: EdgeClaims, truth: Graph) -> BoolArray:
    guess.hidden(truth)  # for its check
    return among(guess.keys, truth.keys)


def _guessed(guess: EdgeClaims, truth: Graph) -> tuple[float, float]:
    """Return the share of right ones among as many pairs by common neighbours and by degrees; NaN without a claim."""
    known, hidden, number = guess.auxiliary, guess.hidden(truth), guess.keys.size
    if number == 0:
        return nan, nan
    by_common = right_by_adamic_adar(known.start, known.neighbour, *rows_of(hidden, known.nodes), number)
    return by_common / number, right_by_degrees(known.degrees, known.keys, hidden, number) / number
