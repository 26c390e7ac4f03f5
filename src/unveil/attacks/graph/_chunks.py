"""Match all nodes by degree chunks, with one assignment per chunk.

What is compared differs from attack to attack and comes in as a function of rows (released nodes) and columns
(auxiliary nodes). The two lists of nodes may differ in length. The longer one is cut into chunks of the size asked for,
and the shorter one into as many, at the same shares of its length: both chunks of a pair then hold nodes of the same
rank of degree, and for lists of the same length these are the chunks of the paper. In a pair of chunks that differ in
size the assignment leaves some nodes of the larger one without a partner; released ones among them are not attempted.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np

from unveil._kernels._compile import compiled, loop
from unveil._kernels.types import BoolArray, FloatArray, IntArray
from unveil.attacks.graph._guess import mapping_of_seeds
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphKnowledge
from unveil.errors import InputError
from unveil.guesses.candidates import NOT_ATTEMPTED, Candidates

#: How alike each of these released nodes (rows) is to each of these auxiliary ones (columns): at least 0.
Score = Callable[[IntArray, IntArray], FloatArray]

#: Scores, probabilities and candidates of all chunks together may take this many bytes.
MOST_BYTES = 2 * 10**9
# A score (8), and once the node is decided its probability (8) and its candidate's number (4).
_BYTES_PER_PAIR = 20
# From this many pairs on it pays to look for nodes that are alike before the assignment is solved.
_PAIRS_FOR_TWINS = 10**6
# Large matrices are worked on in parts of this many pairs, so that what is needed on the way stays small.
_PAIRS_AT_A_TIME = 2**20


class Twins(NamedTuple):
    """Twin number per node; twins have equal scores with every node."""

    released: IntArray
    auxiliary: IntArray


class NodeChunk(NamedTuple):
    """A chunk of released nodes, with candidates, scores, and choice.

    ``columns`` ascend; ``scores`` has a row per released node; ``chosen`` is the place of its partner in ``columns``.
    """

    rows: IntArray
    columns: IntArray
    scores: FloatArray
    chosen: IntArray

    @property
    def chosen_scores(self) -> FloatArray:
        """The score of each released node with its partner."""
        found: FloatArray = self.scores[np.arange(self.rows.size), self.chosen]
        return found

    def kept(self, keep: BoolArray) -> "NodeChunk":
        """Return the block with some of its released nodes."""
        if keep.all():
            return self
        return NodeChunk(self.rows[keep], self.columns, self.scores[keep], self.chosen[keep])


def match_by_degree(
    released: Graph,
    knowledge: GraphKnowledge,
    score: Score,
    *,
    theta: float,
    chunk: int | None,
    rng: np.random.Generator,
    twins: Callable[[], Twins] | None = None,
) -> Candidates:
    """Return the guess that compares and assigns non-seed nodes within chunks.

    Partners whose score is below ``theta`` are not attempted. ``twins`` may say which nodes are alike; it is asked
    where chunks are so large that this saves time.
    """
    forth, back = mapping_of_seeds(released, knowledge)
    rows = by_degree(np.flatnonzero(forth == NOT_ATTEMPTED), released, rng)
    columns = by_degree(np.flatnonzero(back == NOT_ATTEMPTED), knowledge.auxiliary, rng)
    alike = twins() if twins and (chunk or rows.size) * (chunk or columns.size) >= _PAIRS_FOR_TWINS else None
    solved = (solve(one, other, score, rng, alike) for one, other in chunk_pairs(rows, columns, chunk))
    return guess_of([block.kept(block.chosen_scores >= theta) for block in solved], released.nodes)


def by_degree(nodes: IntArray, graph: Graph, rng: np.random.Generator) -> IntArray:
    """Return the nodes by falling degree, ties in random order."""
    return nodes[np.lexsort((rng.permutation(nodes.size), -graph.degrees[nodes]))]


def chunk_pairs(rows: IntArray, columns: IntArray, chunk: int | None) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield pairs of chunks: ``chunk`` nodes of the longer list each.

    The shorter list gives the same share.

    >>> [(one.tolist(), other.tolist()) for one, other in chunk_pairs(np.arange(5), np.arange(3), 2)]
    [([0, 1], [0]), ([2, 3], [1]), ([4], [2])]
    """
    for one, other in _cuts(rows.size, columns.size, chunk):
        yield rows[one], columns[other]


def solve(
    rows: IntArray, columns: IntArray, score: Score, rng: np.random.Generator, twins: Twins | None = None
) -> NodeChunk:
    """Return the released nodes matched by the best assignment.

    Where several assignments are the best, nodes that are equal have the same chance of each partner: rows and columns
    are put in an order drawn at random, because the solver takes the first that is good enough.
    """
    rows, columns = np.sort(rows), np.sort(columns)
    if twins is None:
        scores = _evaluated(score, rows, columns)
        first, second = _assigned(scores, rng)
    else:
        _, one, kind = np.unique(twins.released[rows], return_index=True, return_inverse=True)
        _, other, other_kind = np.unique(twins.auxiliary[columns], return_index=True, return_inverse=True)
        of_kinds = _evaluated(score, rows[one], columns[other])
        first, second = _assigned_by_kind(of_kinds, kind, other_kind, rng)
        scores = of_kinds[np.ix_(kind, other_kind)]
    chosen = np.full(rows.size, NOT_ATTEMPTED, np.int64)
    chosen[first] = second
    return NodeChunk(rows, columns, scores, chosen).kept(chosen != NOT_ATTEMPTED)


def guess_of(blocks: Iterable[NodeChunk], nodes: int) -> Candidates:
    """Return the guess with scores normalized per node."""
    decided = list(blocks)
    width, chosen = np.zeros(nodes, np.int64), np.full(nodes, NOT_ATTEMPTED, np.int32)
    for block in decided:
        width[block.rows] = block.columns.size
        chosen[block.rows] = block.columns[block.chosen]
    start = np.zeros(nodes + 1, np.int64)
    np.cumsum(width, out=start[1:])
    candidate, probability = np.empty(start[-1], np.int32), np.empty(start[-1], np.float64)
    for block in decided:
        for part in _parts(block.rows.size, block.columns.size):
            place = _places(start[block.rows[part]], block.columns.size)
            shares = _shares(block.scores[part])
            candidate[place] = np.broadcast_to(block.columns, shares.shape).ravel()
            probability[place] = shares.ravel()
    for array in (start, candidate, probability, chosen):
        array.flags.writeable = False  # then it need not be copied
    return Candidates(start, candidate, probability, chosen)


def check_memory(released: Graph, knowledge: GraphKnowledge, chunk: int | None, *, attack: str) -> None:
    """Raise an error if the scores need over ``MOST_BYTES`` of memory."""
    rows, columns = released.nodes - len(knowledge.seeds), knowledge.auxiliary.nodes - len(knowledge.seeds)
    pairs = sum((one.stop - one.start) * (other.stop - other.start) for one, other in _cuts(rows, columns, chunk))
    if pairs * _BYTES_PER_PAIR > MOST_BYTES:
        raise InputError(
            f"{attack} with chunk={chunk} compares {pairs:,} pairs of nodes and needs about "
            f"{pairs * _BYTES_PER_PAIR / 1e9:.1f} GB, above the maximum of {MOST_BYTES / 1e9:.1f} GB. "
            "Lower chunk, for example to 100"
        )


def _cuts(rows: int, columns: int, chunk: int | None) -> list[tuple[slice, slice]]:
    """Return the cut positions of both lists, without empty chunks."""
    longest = max(rows, columns)
    if longest == 0:
        return []
    ends = [*range(0, longest, chunk or longest), longest]
    one, other = ([end * size // longest for end in ends] for size in (rows, columns))
    cuts = [(slice(one[i], one[i + 1]), slice(other[i], other[i + 1])) for i in range(len(ends) - 1)]
    return [(a, b) for a, b in cuts if a.start < a.stop and b.start < b.stop]


def _parts(rows: int, columns: int) -> list[slice]:
    step = max(1, _PAIRS_AT_A_TIME // max(columns, 1))
    return [slice(first, first + step) for first in range(0, rows, step)]


def _evaluated(score: Score, rows: IntArray, columns: IntArray) -> FloatArray:
    parts = _parts(rows.size, columns.size)
    if len(parts) == 1:
        return score(rows, columns)
    scores = np.empty((rows.size, columns.size))
    for part in parts:
        scores[part] = score(rows[part], columns)
    return scores


def _shares(scores: FloatArray) -> FloatArray:
    total = scores.sum(axis=1, keepdims=True)
    even = total <= 0
    shares: FloatArray = np.where(even, 1.0 / scores.shape[1], scores / np.where(even, 1.0, total))
    return shares


def _places(start: IntArray, width: int) -> slice | IntArray:
    """Return the positions of these rows' elements, as one slice if contiguous."""
    if (np.diff(start) == width).all():
        return slice(int(start[0]), int(start[0]) + start.size * width)
    return (start[:, None] + np.arange(width)).ravel()


def _assigned(scores: FloatArray, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Return the rows and columns of the best assignment."""
    from scipy.optimize import linear_sum_assignment

    if scores.shape[0] > scores.shape[1]:  # the solver would copy it
        return _assigned(scores.T, rng)[::-1]
    one, other = (rng.permutation(size) for size in scores.shape)
    cost = scores[np.ix_(one, other)]
    first, second = linear_sum_assignment(np.negative(cost, out=cost))
    return one[first], other[second]


def _assigned_by_kind(
    scores: FloatArray, kind: IntArray, other_kind: IntArray, rng: np.random.Generator
) -> tuple[IntArray, IntArray]:
    """Return the best assignment for rows and columns of few kinds.

    ``scores`` are those between kinds.

    How many of each kind go to each other kind is one question, and who of a kind goes is then drawn at random.
    """
    if kind.size > other_kind.size:
        return _assigned_by_kind(scores.T, other_kind, kind, rng)[::-1]
    one, other = (rng.permutation(size) for size in scores.shape)
    supply, demand = np.bincount(kind)[one], np.bincount(other_kind)[other]
    flow = transport(-scores[np.ix_(one, other)], supply, demand)
    source, sink = np.nonzero(flow)
    # Rows by kind, in the order in which the kinds were shipped; and the kind of column that each of them gets.
    first = np.lexsort((rng.permutation(kind.size), np.argsort(one)[kind]))
    wanted = other[np.repeat(sink, flow[source, sink])]
    # The n-th row that gets a kind of column gets its n-th member.
    members = np.lexsort((rng.permutation(other_kind.size), other_kind))
    begin = np.searchsorted(other_kind[members], np.arange(scores.shape[1]))
    order = np.argsort(wanted, kind="stable")
    rank = np.arange(wanted.size) - np.searchsorted(wanted[order], wanted[order])
    second = np.empty(wanted.size, np.int64)
    second[order] = members[begin[wanted[order]] + rank]
    return first, second


# Ship goods from sources to sinks at the lowest cost: an assignment in which many rows and columns are alike.

#: Up to this many costs plain Python is quick enough.
PLAIN_COSTS = 200


def transport(cost: FloatArray, supply: IntArray, demand: IntArray) -> IntArray:
    """Return the cheapest flow from sources to sinks.

    It is the assignment of rows to columns in which row ``i`` is there ``supply[i]`` times and column ``j``
    ``demand[j]`` times, at the price of one in which each is there once.

    Parameters
    ----------
    cost
        What one unit costs, a row per source and a column per sink; any finite numbers.
    supply, demand
        How many units each source has, all of which must go, and how many each sink takes at most; the sinks together
        take at least as many as there are.

    Examples
    --------
    >>> transport(np.array([[1.0, 2.0], [1.0, 5.0]]), np.array([2, 1]), np.array([2, 2]))
    array([[1, 1],
           [1, 0]])
    """
    shipped = np.zeros(cost.shape, np.int64)
    plain = cost.size <= PLAIN_COSTS
    run = _ship if plain else compiled(_ship)
    run(np.ascontiguousarray(cost, np.float64), np.array(supply, np.int64), np.array(demand, np.int64), shipped)
    return shipped


@loop("f8[,], i8[], i8[], i8[,]")
def _ship(cost: FloatArray, supply: IntArray, demand: IntArray, shipped: IntArray) -> None:
    """Ship along shortest paths, source by source.

    ``supply`` and ``demand`` are used up.

    Prices of sources and sinks keep the cost of every way, less the prices at its ends, at 0 or more, and at 0 where
    something is shipped; a sink with room left has the price 0. Then nothing cheaper exists.
    """
    sources, sinks = cost.shape
    price, sink_price = np.zeros(sources), np.zeros(sinks)
    far, source_far = np.empty(sinks), np.empty(sources)
    before, source_before = np.empty(sinks, np.int64), np.empty(sources, np.int64)
    done, seen = np.empty(sinks, np.bool_), np.empty(sources, np.bool_)
    for source in range(sources):
        while supply[source] > 0:
            end = _search(
                source, cost, demand, shipped, price, sink_price, far, source_far, before, source_before, done, seen
            )
            for each in range(sources):
                if seen[each]:
                    price[each] += far[end] - source_far[each]
            for each in range(sinks):
                if done[each]:
                    sink_price[each] -= far[end] - far[each]
            amount = min(supply[source], demand[end])
            sink = end
            while before[sink] != source:
                sink, giver = source_before[before[sink]], before[sink]
                amount = min(amount, shipped[giver, sink])
            supply[source] -= amount
            demand[end] -= amount
            sink = end
            while True:
                giver = before[sink]
                shipped[giver, sink] += amount
                if giver == source:
                    break
                sink = source_before[giver]
                shipped[giver, sink] -= amount


def _search(
    source: int,
    cost: FloatArray,
    demand: IntArray,
    shipped: IntArray,
    price: FloatArray,
    sink_price: FloatArray,
    far: FloatArray,
    source_far: FloatArray,
    before: IntArray,
    source_before: IntArray,
    done: BoolArray,
    visited: BoolArray,
) -> int:
    """Return the nearest open sink by reduced costs (Dijkstra).

    A full sink leads on to the sources that ship to it: they could ship elsewhere. ``before`` is the source from which
    each sink is reached, ``source_before`` the sink from which a source is.
    """
    sources, sinks = cost.shape
    far[:], done[:], visited[:] = np.inf, False, False
    queue = np.empty(sources, np.int64)
    queue[0], visited[source], source_far[source] = source, True, 0.0
    first, last = 0, 1
    while True:
        while first < last:
            giver = queue[first]
            first += 1
            base = source_far[giver] - price[giver]
            for sink in range(sinks):
                way = base + cost[giver, sink] - sink_price[sink]
                if not done[sink] and way < far[sink]:
                    far[sink] = way
                    before[sink] = giver
        sink = _nearest(far, done, demand)
        done[sink] = True
        if demand[sink] > 0:
            return sink
        for giver in range(sources):
            if not visited[giver] and shipped[giver, sink] > 0:
                visited[giver] = True
                source_far[giver] = far[sink]
                source_before[giver] = sink
                queue[last] = giver
                last += 1


def _nearest(far: FloatArray, done: BoolArray, demand: IntArray) -> int:
    """Return the nearest unfinished sink, preferring open ones."""
    best = -1
    for sink in range(far.size):
        if done[sink] or far[sink] == np.inf:
            continue
        nearer = best < 0 or far[sink] < far[best]
        if nearer or (far[sink] == far[best] and demand[sink] > 0 and demand[best] == 0):
            best = sink
    return best
