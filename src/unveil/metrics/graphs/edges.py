"""Edge disclosure: precision of edge claims, and a baseline of guessing."""

from dataclasses import dataclass
from math import ceil, inf, nan
from typing import Any, Literal

import numpy as np

from unveil._kernels._compile import compiled, loop
from unveil._kernels.graph.rows import among, ends_of, rows_of
from unveil._kernels.types import BoolArray, FloatArray, Int32Array, IntArray
from unveil.data.graph.graph import Graph
from unveil.guesses.edge_claims import EdgeClaims
from unveil.metrics._listing import metric
from unveil.metrics.trials.risk import Rate, clopper_pearson

_FACTS: dict[str, Any] = {"category": "edge disclosure", "per": "release", "more_means": "less private"}
_SOURCE = "precision and recall of link disclosure"
_GUESSING = "Adamic and Adar (2003); Liben-Nowell and Kleinberg (2007)"
#: The share of people that are called the worst off.
WORST = 0.01

Baseline = Literal["common neighbors", "degrees"]


@dataclass(frozen=True, kw_only=True, eq=False)
class EdgeDisclosure:
    """Precision and recall of edge claims.

    Attributes
    ----------
    claims, right, hidden
        How many pairs are claimed, how many of them are edges, and how many edges there are to be learned.
    precision, recall
        The share of claims that are correct and of hidden edges that are claimed, with 95 % intervals, which allow for
        claims that share a node and so go together; undefined without a claim, or without a hidden edge.
    by_common_neighbors, by_degrees
        The share of correct ones among as many pairs guessed from the auxiliary graph alone.
    expected
        The share of claims that the attacker expects to be right; NaN where it has no probabilities.
    people
        How many people have a hidden edge; of these ``some`` have at least one that is correctly claimed, and
        ``all_of`` have none left.
    mean, worst
        How many edges of a person with a hidden one are correctly claimed: on average, and the fewest among the 1 % of
        all people who lose most.
    """

    claims: int
    right: int
    hidden: int
    precision: Rate
    recall: Rate
    by_common_neighbors: float
    by_degrees: float
    expected: float
    people: int
    some: int
    all_of: int
    mean: float
    worst: int

    @property
    def guessing(self) -> float:
        """Precision of the better of two ways of guessing."""
        return float(np.fmax(self.by_common_neighbors, self.by_degrees))

    @property
    def guessed_by(self) -> Baseline:
        """In which way that is."""
        return "common neighbors" if self.by_common_neighbors > self.by_degrees else "degrees"

    @property
    def lift(self) -> float:
        """Precision of claims over guesses; NaN if there is neither."""
        return self.precision.value / self.guessing if self.guessing > 0 else nan


@metric(bounds=(0, 1), source=_SOURCE, **_FACTS)
def edge_disclosure_precision(guess: EdgeClaims, truth: Graph) -> float:
    """Return the share of claimed edges that are original ones.

    Formula: ``#{claimed, and hidden edges} / #{claimed}``: pairs that the auxiliary graph does not join and the mapping
    does, seed pairs included; hidden are original edges that the auxiliary graph lacks. 0 means that no claim is
    correct. 1 means that all are. Compare it with :func:`edge_guessing_precision`: part of it can be had without any
    release. NaN where nothing is claimed.

    >>> path, edge = Graph.from_edges([0, 1], [1, 2], nodes=4), Graph.from_edges([0], [1], nodes=4)
    >>> edge_disclosure_precision(EdgeClaims(edge, np.array([6, 7])), path)
    0.5
    """
    return float(_right(guess, truth).mean()) if guess.keys.size else nan


@metric(bounds=(0, 1), source=_SOURCE, **_FACTS)
def edge_disclosure_recall(guess: EdgeClaims, truth: Graph) -> float:
    """Return the share of learnable unknown edges that are claimed, 0 to 1.

    Formula: ``#{claimed, and hidden edges} / #{hidden edges}``. Hidden are original edges among people of the auxiliary
    graph that it lacks; edges of people whom the attacker has not heard of are none. 0 means that none was learned. 1
    means that all were. NaN where no edge is hidden.

    >>> path, edge = Graph.from_edges([0, 1, 2], [1, 2, 3]), Graph.from_edges([0], [1], nodes=4)
    >>> edge_disclosure_recall(EdgeClaims(edge, np.array([6, 7])), path)
    0.5
    """
    hidden = guess.hidden(truth).size
    return float(_right(guess, truth).sum()) / hidden if hidden else nan


@metric(bounds=(0, 1), source=_GUESSING, **_FACTS)
def edge_guessing_precision(guess: EdgeClaims, truth: Graph) -> float:
    """Return the precision of guesses from the auxiliary graph alone, 0 to 1.

    Formula: ``#{hidden edges among the n likeliest pairs} / n`` with as many pairs as there are claims, the likeliest
    by ``Σ 1 / ln(degree)`` over common neighbors or by the product of degrees, whichever is correct more often; ties by
    lot, on average. 0 means that only a release can tell. 1 means that nothing was left to tell. NaN where nothing is
    claimed.

    >>> path, edges = Graph.from_edges([0, 1, 0], [1, 2, 2]), Graph.from_edges([0, 1], [1, 2])
    >>> edge_guessing_precision(EdgeClaims(edges, np.array([2])), path)
    1.0
    """
    return float(np.fmax(*_guessed(guess, truth)))


@metric(bounds=(0, inf), source=_GUESSING, **_FACTS)
def edge_disclosure_lift(guess: EdgeClaims, truth: Graph) -> float:
    """Return the precision of claims over that of guesses.

    Formula: ``edge_disclosure_precision / edge_guessing_precision``. 1 means that the release told nothing that the
    attacker could not guess; below that the mapping misled it. NaN where nothing is claimed, or no guess is correct.

    >>> path, edges = Graph.from_edges([0, 1, 0], [1, 2, 2]), Graph.from_edges([0, 1], [1, 2])
    >>> edge_disclosure_lift(EdgeClaims(edges, np.array([2])), path)
    1.0
    """
    guessed = edge_guessing_precision(guess, truth)
    return edge_disclosure_precision(guess, truth) / guessed if guessed > 0 else nan


@metric(bounds=(0, 1), source=_SOURCE, category="edge disclosure", per="subject", more_means="less private")
def hidden_edges_disclosed(guess: EdgeClaims, truth: Graph) -> FloatArray:
    """Return the share of each auxiliary node's unknown edges that are claimed.

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
    """Return all edge-disclosure metrics, with CIs and losses per person.

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
        recall=rate_of_pairs(hidden, among(hidden, guess.keys), nodes, why="no edge is unknown"),
        by_common_neighbors=by_common,
        by_degrees=by_degrees,
        expected=nan if guess.probability is None or not guess.keys.size else float(guess.probability.mean()),
        people=int(there.sum()),
        some=int((part[there] > 0).sum()),
        all_of=int((part[there] == whole[there]).sum()),
        mean=float(part[there].mean()) if there.any() else nan,
        worst=int(np.sort(part)[-ceil(WORST * nodes)]) if nodes else 0,
    )


def rate_of_pairs(keys: IntArray, hit: BoolArray, nodes: int, *, why: str) -> Rate:
    """Return the rate of pairs with its 95% CI.

    Pairs that share a node are clustered.

    A node that is mapped wrongly makes all its claims wrong, so that claims are worth fewer independent ones: as many
    as give the variance ``Σ e_a e_b / n²`` over all pairs a, b that share a node (themselves included), with the
    deviations e from the share (Fafchamps and Gubert 2007). The interval is Clopper and Pearson's for this many. Where
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
    """Return the precision of guesses by common neighbors and by degrees."""
    known, hidden, number = guess.auxiliary, guess.hidden(truth), guess.keys.size
    if number == 0:
        return nan, nan
    by_common = right_by_adamic_adar(known.start, known.neighbour, *rows_of(hidden, known.nodes), number)
    return by_common / number, right_by_degrees(known.degrees, known.keys, hidden, number) / number


# How many hidden edges are among the pairs that a graph alone makes most likely: by common neighbors, by degrees.
#
# Pairs of equal score are chosen at random; what is returned is the number to expect, so that no draw is needed.

# Scores are whole numbers of this many digits in this base: each pass over all pairs finds a digit of the lowest taken.
_BASE, _DIGITS = 4096, 3
#: Up to this many steps a pass runs as plain Python.
_FEW_STEPS = 20_000


def right_by_adamic_adar(
    start: IntArray, neighbour: Int32Array, hidden_start: IntArray, hidden_neighbour: Int32Array, number: int
) -> float:
    """Return the number of unknown edges among the top Adamic-Adar pairs.

    The score is ``Σ 1 / ln(degree)``; the top are ``number`` pairs.

    The sum is over common neighbors, and pairs are those that are not joined. Hidden edges are the rows of another
    graph on the same nodes, which has none of the edges of the first. Sums are rounded to 36 bits, and equal ones are
    ties.

    >>> path = np.array([0, 1, 3, 4, 4]), np.array([1, 0, 2, 1], np.int32)
    >>> ends = np.array([0, 1, 1, 2, 2]), np.array([2, 0], np.int32)
    >>> right_by_adamic_adar(*path, *ends, 1), right_by_adamic_adar(*path, *ends, 4)
    (1.0, 1.0)
    """
    degrees = np.diff(start)
    weight = np.zeros(degrees.size, np.int64)
    several = degrees > 1
    # No pair has more common neighbors than the largest degree, each worth 1 / ln 2 at the most.
    unit = _BASE**_DIGITS / (2 * degrees.max(initial=1) / np.log(2) + 2)
    weight[several] = np.rint(unit / np.log(degrees[several])).astype(np.int64)
    pairs = degrees.size * (degrees.size - 1) // 2 - neighbour.size // 2
    # By the steps that a pass takes, which may be many on few edges.
    count = _count_scores if int((degrees**2).sum()) <= _FEW_STEPS else compiled(_count_scores)
    left, right, prefix = min(number, pairs), 0.0, 0
    tied = np.array([pairs, hidden_neighbour.size // 2])
    for power in range(_DIGITS - 1, -1, -1):
        counts = np.zeros((2, _BASE), np.int64)
        count(start, neighbour, hidden_start, hidden_neighbour, weight, prefix, _BASE**power, counts)
        # Pairs without a common neighbor are not seen by a pass, and have the lowest score of all.
        counts[:, 0] += tied - counts.sum(axis=1)
        taken, more, digit = _from_the_top(counts, left)
        left, right = left - int(taken), right + more
        if left == 0:
            return right
        prefix, tied = prefix * _BASE + digit, counts[:, digit]
    return right + left * float(tied[1]) / float(tied[0])


def _from_the_top(counts: "IntArray | FloatArray", number: int) -> tuple[float, float, int]:
    """Return pairs and correct pairs above the threshold place, and that place.

    ``counts`` has all pairs of each place, and the correct ones.
    """
    running = np.cumsum(counts[0, ::-1])
    whole = int(np.searchsorted(running, number, side="right"))
    taken = float(running[whole - 1]) if whole else 0.0
    return taken, float(counts[1, ::-1][:whole].sum()), counts.shape[1] - 1 - whole


@loop(
    "const i8[], const i4[], const i8[], const i4[], i8[], i8, i8, i8[,]",
    "const i8[], const i4[], i8[], i4[], i8[], i8, i8, i8[,]",
)
def _count_scores(
    start: IntArray,
    neighbour: Int32Array,
    hidden_start: IntArray,
    hidden_neighbour: Int32Array,
    weight: IntArray,
    prefix: int,
    scale: int,
    counts: IntArray,
) -> None:
    """Count pairs and unknown edges with common neighbors, by one score digit.

    The digit is that of ``scale``; only pairs whose higher digits are those of ``prefix`` are counted.
    """
    base = counts.shape[1]
    nodes = start.size - 1
    total = np.zeros(nodes, np.int64)
    touched = np.empty(nodes, np.int64)
    known_of, hidden_of = np.full(nodes, -1), np.full(nodes, -1)
    for node in range(nodes):
        for place in range(start[node], start[node + 1]):
            known_of[neighbour[place]] = node
        for place in range(hidden_start[node], hidden_start[node + 1]):
            hidden_of[hidden_neighbour[place]] = node
        seen = 0
        for place in range(start[node], start[node + 1]):
            middle = neighbour[place]
            # Rows are ascending: from their end down to this node, since pairs with smaller ones had their turn.
            at = start[middle + 1] - 1
            while neighbour[at] > node:
                other = neighbour[at]
                if total[other] == 0:
                    touched[seen] = other
                    seen += 1
                total[other] += weight[middle]
                at -= 1
        for place in range(seen):
            other = touched[place]
            digits = total[other] // scale
            total[other] = 0
            if known_of[other] != node and digits // base == prefix:
                counts[0, digits % base] += 1
                if hidden_of[other] == node:
                    counts[1, digits % base] += 1


def right_by_degrees(degrees: IntArray, known: IntArray, hidden: IntArray, number: int) -> float:
    """Return the number of unknown edges among the top degree products.

    ``known`` and ``hidden`` are keys of edges; the former are no pairs to choose from.

    >>> right_by_degrees(np.array([1, 2, 1, 0]), np.array([1, 6]), np.array([2]), 1)
    1.0
    """
    values, group, size = np.unique(degrees, return_inverse=True, return_counts=True)
    many = values.size
    pairs = np.outer(size, size).astype(np.float64)
    pairs[np.diag_indices(many)] = size * (size - 1) / 2
    upper = np.triu_indices(many)
    product, place = np.unique((values[upper[0]] * values[upper[1]]), return_inverse=True)
    here = np.zeros((many, many), np.int64)
    here[upper] = place
    every = np.bincount(place, pairs[upper], product.size) - _by_place(known, group, here, product.size)
    right = _by_place(hidden, group, here, product.size)
    taken, found, at = _from_the_top(np.stack([every, right]), number)
    left = number - taken
    return found + (left * float(right[at]) / float(every[at]) if at >= 0 and left > 0 else 0.0)


def _by_place(keys: IntArray, group: IntArray, place: IntArray, places: int) -> FloatArray:
    """Return the number of these edges per product of degrees."""
    one, other = (group[ends] for ends in ends_of(keys, group.size))
    return np.bincount(place[np.minimum(one, other), np.maximum(one, other)], minlength=places).astype(np.float64)
