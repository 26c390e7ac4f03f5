"""Flat matrices, and the heuristic's error when any truth is equally likely.

A flat matrix says no more than its zeros.
"""

from math import factorial, hypot, sqrt
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.matching import Edges, decompose, edge_at, edges_of
from unveil._kernels.types import FloatArray, IntArray
from unveil.errors import InputError
from unveil.guesses.matching import Matching
from unveil.guesses.matching_distribution import MatchingDistribution
from unveil.metrics.matchings._balance import DoublyStochasticMatrix, balanced
from unveil.metrics.matchings._random_matchings import ROUNDING, EstimatedValue, RandomMatching, random_matching

#: An attack, or what one can be made of: rows of numbers, an array, a sparse matrix.
Graph: TypeAlias = Any

#: All n! truths are looked at up to this n.
LARGEST_EXACT = 9
# Sampled truths: they stop at this relative precision, or after this many numbers were drawn.
_PRECISION, _BATCH, _MOST_DRAWN = 0.005, 1 << 20, 40_000_000
_DENSE = 2000


def is_flat(graph: Graph, *, tolerance: float = 1e-9) -> bool:
    """Return whether all possible matchings are equally likely.

    Parameters
    ----------
    graph
        A Matching, a MatchingDistribution, or a matrix.
    tolerance
        By what share weights may be off, as by rounding: a matrix printed with 6 digits needs about 1e-5.

    Examples
    --------
    >>> is_flat([[0.5, 0.5], [0.5, 0.5]]), is_flat([[1, 2], [3, 6]]), is_flat([[0.6, 0.4], [0.4, 0.6]])
    (True, True, False)
    """
    if isinstance(graph, MatchingDistribution):
        return bool(graph.probability.max() - graph.probability.min() <= tolerance * graph.probability.max())
    edges = _attack(graph).edges
    place = np.sort(np.concatenate([block.place for block in decompose(edges)]))
    used = edges_of(edges.row[place], edges.column[place], np.log(edges.weight[place]), edges.n)
    row, column = _potentials(used)
    # All matchings weigh the same exactly where weights are a factor of the row times one of the column (Bapat and
    # Raghavan, Corollary 2.6.6). Each factor is known by as many others as lie on the way to it.
    return bool(np.abs(used.weight - row[used.row] - column[used.column]).max() <= tolerance)


def _potentials(edges: Edges) -> tuple[FloatArray, FloatArray]:
    """Return row and column potentials of a spanning tree per block."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    n = edges.n
    ends = np.concatenate([edges.row.astype(np.int64), np.arange(n)]), np.concatenate([edges.column + n, np.arange(n)])
    graph = coo_array((np.ones(ends[0].size), ends), shape=(2 * n + 1, 2 * n + 1)).tocsr()
    _, label = connected_components(graph, directed=False)
    first = np.unique(label[:n], return_index=True)[1]
    # A root with an edge to one row of every block makes one tree of all.
    rooted = coo_array((np.ones(first.size), (np.full(first.size, 2 * n), first)), shape=graph.shape)
    order, before = breadth_first_order(graph + rooted, 2 * n, directed=False)
    column_of = np.where(before[:n] == 2 * n, 0, before[:n] - n)
    up, down = edge_at(edges, column_of), _edges_at(edges, before[n : 2 * n], np.arange(n))
    value = np.zeros(2 * n + 1)
    for node in order[1:].tolist():
        above = before[node]
        if above != 2 * n:
            value[node] = edges.weight[up[node] if node < n else down[node - n]] - value[above]
    return value[:n], value[n : 2 * n]


def _edges_at(edges: Edges, row: NDArray[Any], column: NDArray[Any]) -> IntArray:
    """Return the positions of edges that are there."""
    have = edges.row.astype(np.int64) * edges.n + edges.column
    return np.asarray(np.searchsorted(have, row.astype(np.int64) * edges.n + column), np.int64)


def flat(graph: Graph) -> Matching:
    """Return the doubly stochastic matrix with equally likely possible matchings.

    It depends on the zeros of ``graph`` alone, and there is exactly one. Pairs that are in no matching become 0.

    >>> flat([[1, 1], [0, 5]]).matrix
    array([[1., 0.],
           [0., 1.]])
    """
    from scipy.sparse import csr_array

    given = _attack(graph)
    found = balanced(Matching(given.support))
    if not found.error <= 1e-6:
        raise InputError(
            f"the flat matrix could not be found: after all rounds a column sums to 1 only up to {found.error:.2g}. "
            "Measure the 0/1 matrix itself, which says the same"
        )
    edges = found.edges
    matrix = csr_array((edges.weight, edges.column, edges.start), shape=(given.n, given.n))
    dense = isinstance(given.matrix, np.ndarray)
    return Matching(matrix.toarray() if dense else matrix, given.items, given.pseudonyms)


def nmape(matrix: Graph, *, rng: np.random.Generator) -> EstimatedValue:
    """Return the heuristic's mean absolute error over all truths, in percent.

    Formula: ``100 / n! * sum(abs(H - expected_cracks)) / n`` over all n! truths: the normalized mean absolute
    percentage error. 0 means that H is always right. It is never above ``100 * sqrt(2 / (n * (n - 1)))``, so a small
    value says little of a large matrix: only few truths are likely, and on those H may be far off
    (:func:`~unveil.metrics.matchings.heuristic.matched_bias`).

    Up to 9 rows all truths are looked at; above, truths are drawn until the standard error is 0.5 % of the value. Where
    pairs had to be sampled too, the error leaves room for what their noise adds.

    >>> round(nmape([[0.6, 0.4], [0.4, 0.6]], rng=np.random.default_rng(1)).value, 3)
    9.231
    """
    guess = _attack(matrix)
    return nmape_of(guess, random_matching(guess, np.arange(guess.n), rng=rng), balanced(guess), rng=rng)


def nmape_of(
    guess: Matching,
    random_matching: RandomMatching,
    scaled: DoublyStochasticMatrix,
    *,
    rng: np.random.Generator,
    most_drawn: int = _MOST_DRAWN,
) -> EstimatedValue:
    """Return :func:`nmape` from known pair probabilities.

    ``most_drawn`` bounds the numbers drawn for truths.
    """
    n = guess.n
    gap = random_matching.edges.with_weight(scaled.on(guess.edges) - random_matching.marginal)
    noise = (
        100 / n * random_matching.togetherness * sqrt(n / max(n - 1, 1) / random_matching.effective)
        if random_matching.sampled
        else 0.0
    )
    if n <= LARGEST_EXACT:
        sums = np.abs(_all_sums(gap.dense()))
        return EstimatedValue(
            100 / n * float(sums.mean()), 100 * (ROUNDING * n + scaled.error), f"all {factorial(n)} truths"
        )
    mean, error, count = _sampled(gap, rng, most_drawn)
    method = f"{count} truths drawn; pairs: {random_matching.methods['marginals']}"
    return EstimatedValue(100 / n * mean, hypot(100 / n * error, noise), method, random_matching.r_hat, "sampled")


def _all_sums(matrix: FloatArray) -> FloatArray:
    """Return the sums over all n! permutations, row by row."""
    sums = {0: np.zeros(1)}
    for row in matrix:
        ahead: dict[int, list[FloatArray]] = {}
        for used, parts in sums.items():
            for column, item in enumerate(row):
                if not used >> column & 1:
                    ahead.setdefault(used | 1 << column, []).append(parts + item)
        sums = {used: np.concatenate(parts) for used, parts in ahead.items()}
    return sums[(1 << len(matrix)) - 1]


def _sampled(gap: Edges, rng: np.random.Generator, most_drawn: int) -> tuple[float, float, int]:
    """Return the sampled mean absolute sum, its standard error, and sample size."""
    n = gap.n
    full = gap.dense() if n <= _DENSE else None
    size = max(_BATCH // n, 20)
    parts: list[FloatArray] = []
    while True:
        if full is not None:
            columns = rng.permuted(np.tile(np.arange(n), (size, 1)), axis=1)
            parts.append(np.abs(full[np.arange(n), columns].sum(axis=1)))
        else:
            parts.append(np.array([_sum_at(gap, rng.permutation(n)) for _ in range(size)]))
        sums = np.concatenate(parts)
        mean, error = float(np.abs(sums).mean()), float(np.abs(sums).std(ddof=1) / sqrt(sums.size))
        if error <= _PRECISION * mean or sums.size * n >= most_drawn:
            return mean, error, sums.size


def _sum_at(gap: Edges, columns: IntArray) -> float:
    place = edge_at(gap, columns)
    return abs(float(gap.weight[place[place >= 0]].sum()))


def _attack(graph: Graph) -> Matching:
    if isinstance(graph, MatchingDistribution):
        raise InputError("this metric needs a matrix, not listed matchings. Pass a Matching instead")
    return graph if isinstance(graph, Matching) else Matching.from_matrix(graph)
