"""Mean-field posterior of the matching of two graphs, node by node.

If each pair of nodes is an edge in both graphs, in one or in none, independently of all others, a mapping is the more
likely the more edges it brings to lie on one another: in proportion to ``exp(ratio * common edges)``. The mean field is
the matrix P of chances that rows (released nodes) are columns (auxiliary nodes) with

    P[u, v] = row[u] * column[v] * exp(ratio * (A P B)[u, v] + prior[u, v])

whose rows and columns sum to 1. ``A P B`` are the expected witnesses of a pair, and ``prior`` is what degrees say.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from unveil._kernels.types import FloatArray, IntArray

#: Chances of pairs; half the memory, and precise enough for them, though not for sums over all of them.
Chances = NDArray[np.float32]

#: How much a common edge counts at first: little, so that errors of the start can be undone.
HEATING = (0.3, 0.5, 1.0, 2.0, 4.0)
#: How often it counts as much as it is worth by then. In small graphs chances go on changing for so long.
LAST_STEPS = 8
#: What a common edge is worth lies between these.
LEAST_RATIO, MOST_RATIO = 2.0, 14.0
#: How often rows and columns are scaled at each step, and at the last one at most.
ROUNDS, LAST_ROUNDS = 15, 50
#: What a common edge counts while a start is looked for, in how many steps, and how often these scale.
EARLY_RATIO, EARLY_STEPS, EARLY_ROUNDS = 6.0, 20, 8
# The share of the chances before that each such step keeps, and the shift of a row below which these steps end.
_DAMPING, _NEARLY_SETTLED = 0.3, 0.02
# Below this shift of a row the mean field has settled, where it was given a start.
_SETTLED = 1e-3
_ROWS_AT_A_TIME = 512
_LEAST_WEIGHT = 1e-25
# Scaling ends when no column sum is farther from 1.
_TOLERANCE = 1e-7
# An edge that one graph lacks is seen at least as often as one in a hundred, or a single error would be impossible.
_LEAST_ERRORS = 0.01
# The spread of the number of neighbours that are left, on the scale of square roots, and what rounding adds to it.
_LEAST_THINNING, _ROUNDING = 0.02, 0.25


class Pair(NamedTuple):
    """Both graphs without the nodes that are known, and what those tell.

    ``here`` and ``there`` are sparse adjacency matrices; ``witnesses``, sparse too, counts the known pairs that are
    next to both nodes. ``known_edges`` have both graphs between known nodes. ``kind`` and ``other_kind`` are the places
    of each node's degree in ``prior``, a table of logarithms. ``nodes`` and ``edges`` count all of each graph.
    """

    here: Any
    there: Any
    witnesses: Any
    known_edges: int
    kind: IntArray
    other_kind: IntArray
    prior: FloatArray
    nodes: tuple[int, int]
    edges: tuple[int, int]


class Field(NamedTuple):
    """Pair and no-match probabilities, their logs, the edge weight, and how the iteration ended.

    ``objective`` is the negative free energy: the expected log-likelihood of edges and degrees and the entropy.
    ``common`` is the expected number of common edges. ``moved`` is the share of its chances that a row moved in the
    last step, in the mean of all rows.
    """

    chances: Chances
    nobody: FloatArray
    logs: Chances
    ratio: float
    objective: float
    common: float
    moved: float


def pair_of(here: Any, there: Any, seeds: IntArray, rows: IntArray, columns: IntArray) -> Pair:
    """Return both adjacency matrices without seed nodes, in this order."""
    degree, other_degree = (np.diff(each.indptr) for each in (here, there))
    edges = (here.nnz // 2, there.nnz // 2)
    kinds, kind = np.unique(degree[rows], return_inverse=True)
    other_kinds, other_kind = np.unique(other_degree[columns], return_inverse=True)
    known, other_known = seeds[:, 0], seeds[:, 1]
    one, other = here[rows], there[:, columns]
    both = here[known][:, known].multiply(there[other_known][:, other_known])
    return Pair(
        one[:, rows].astype(np.float32),
        other[columns].astype(np.float32),
        (one[:, known] @ other[other_known]).astype(np.float32),
        int(both.sum()) // 2,
        kind,
        other_kind,
        degree_prior(kinds, other_kinds, *edges),
        (degree.size, other_degree.size),
        edges,
    )


def degree_prior(
    degree: IntArray | FloatArray, other: IntArray | FloatArray, edges: int, other_edges: int
) -> FloatArray:
    """Return the log-likelihood of auxiliary degrees given released degrees.

    Each of its edges is there with the chance ``other_edges / edges``, at most 1. On the scale of square roots such
    numbers have about the same spread whatever their mean.

    >>> degree_prior(np.array([0, 4]), np.array([1, 6]), 10, 10).round(1)
    array([[ -2.8, -29.6],
           [ -6.6,  -1.4]])
    """
    kept = min(1.0, other_edges / edges) if edges else 1.0
    gap = 2 * np.sqrt(kept * degree + 0.25)[:, None] - 2 * np.sqrt(other + 0.25)[None, :]
    spread = max(1 - kept, _LEAST_THINNING) + _ROUNDING
    return np.asarray(-(gap**2) / (2 * spread), np.float64)


def edge_ratio(common: float, edges: int, other_edges: int, pairs: float) -> float:
    """Return the log odds ratio of an overlapping edge.

    ``common`` edges are in both, ``edges`` in the one and ``other_edges`` in the other, of ``pairs`` pairs of nodes.

    >>> round(edge_ratio(80, 100, 90, 1000), 3)
    5.743
    """
    spare = _LEAST_ERRORS * other_edges
    one, other = (max(each - common, 0.0) + spare for each in (edges, other_edges))
    none = max(pairs - common - one - other, 1.0)
    return float(np.clip(np.log(max(common, 1e-9) * none / (one * other)), LEAST_RATIO, MOST_RATIO))


def mean_field(pair: Pair, *, slack: float | None, absent: int = 0, start: Chances | None = None) -> Field:
    """Return the annealed mean field; ``slack`` weights no match (log).

    With ``absent`` rows that are known to be nobody, that weight is changed until so many are expected to be. Chances
    to ``start`` from replace degrees and heating.
    """
    heating = HEATING if start is None else ()
    if start is None:
        witnesses: Chances = np.zeros((pair.here.shape[0], pair.there.shape[0]), np.float32)
        weights = log_weights(pair, witnesses, 0.0)
        start, _, _, column = balanced(weights, _no_scale(pair), slack=slack, rounds=ROUNDS, absent=absent)
    else:
        column = _no_scale(pair)
    chances, last, ratio, moved = start, len(heating) + LAST_STEPS - 1, 0.0, 1.0
    for step in range(last + 1):
        witnesses = expected_witnesses(pair, chances)
        ratio = heating[step] if step < len(heating) else _worth(pair, chances, witnesses)
        before, settled = chances, not heating and moved < _SETTLED
        rounds = LAST_ROUNDS if step == last or settled else ROUNDS
        weights = log_weights(pair, witnesses, ratio)
        chances, nobody, row, column = balanced(weights, column, slack=slack, rounds=rounds, absent=absent)
        moved = shift(before, chances)
        if settled:
            break
    logs = log_weights(pair, witnesses, ratio)
    logs += row[:, None].astype(np.float32)
    logs += column.astype(np.float32)
    common = _common_edges(pair, chances, expected_witnesses(pair, chances))
    return Field(chances, nobody, logs, ratio, objective_of(pair, chances, common), common, moved)


def bethe_start(
    pair: Pair,
    first: Chances,
    prior: Chances | None,
    *,
    slack: float | None,
    absent: int = 0,
    chances: Chances | None = None,
    steps: int = EARLY_STEPS,
) -> Chances:
    """Return chances to start the mean field from.

    The mean field counts expected common edges. Far from the solution, where the true partner of a neighbor has a
    small chance among many, that hardly differs from chance. Here each neighbor adds ``log(1 + (exp(ratio) - 1) x)``,
    x being the chance that it is matched to a neighbor of the other node, as in belief propagation on trees: a chance
    of ten times the usual one counts, however small. Neighbors of columns and of rows are counted by turns.

    Parameters
    ----------
    pair
        Both graphs.
    first
        Log weights of the first chances, unless ``chances`` are given.
    prior
        Log weights that are added in each step; None for those of degrees.
    slack, absent
        As in :func:`mean_field`.
    chances
        Where to start.
    steps
        How many steps at most.
    """
    column = _no_scale(pair)
    if chances is None:
        chances, _, _, column = balanced(first.copy(), column, slack=slack, rounds=EARLY_ROUNDS, absent=absent)
    for step in range(steps):
        weights = _neighbor_evidence(pair, chances, EARLY_RATIO, of_rows=step % 2 == 1)
        weights += pair.prior.astype(np.float32)[pair.kind[:, None], pair.other_kind] if prior is None else prior
        found, _, _, column = balanced(weights, column, slack=slack, rounds=EARLY_ROUNDS, absent=absent)
        moved = shift(chances, found)
        chances = np.float32(1 - _DAMPING) * found + np.float32(_DAMPING) * chances
        if moved < _NEARLY_SETTLED:
            break
    return chances


def _neighbor_evidence(pair: Pair, chances: Chances, ratio: float, *, of_rows: bool) -> Chances:
    """Return each pair's summed log odds that neighbors are matched to neighbors."""
    gain = np.float32(np.expm1(ratio))
    if of_rows:
        near = np.log1p(gain * (pair.there @ np.ascontiguousarray(chances.T)))
        evidence: Chances = pair.here @ np.ascontiguousarray(near.T)
    else:
        near = np.log1p(gain * (pair.here @ chances))
        evidence = np.ascontiguousarray((pair.there @ np.ascontiguousarray(near.T)).T)
    entries = pair.witnesses.tocoo()
    evidence[entries.row, entries.col] += np.float32(ratio) * entries.data
    return evidence


def shift(before: Chances, after: Chances) -> float:
    """Return the mean total variation of rows between two fields."""
    return float(np.abs(after - before).sum(dtype=np.float64)) / 2 / max(len(after), 1)


def _no_scale(pair: Pair) -> FloatArray:
    return np.zeros(pair.there.shape[0])


def _common_edges(pair: Pair, chances: Chances, witnesses: Chances) -> float:
    """Return the expected number of common edges."""
    common = pair.known_edges + float(np.einsum("uv,uv->", chances, witnesses, dtype=np.float64)) / 2
    # An edge to a known node is seen from one end here, any other from both.
    return common + float(pair.witnesses.multiply(chances).sum(dtype=np.float64)) / 2


def _worth(pair: Pair, chances: Chances, witnesses: Chances) -> float:
    """Return the weight of a common edge, by their expected number."""
    common = _common_edges(pair, chances, witnesses)
    return edge_ratio(common, *pair.edges, pair.nodes[0] * pair.nodes[1] / 2)


def objective_of(pair: Pair, chances: Chances, common: float) -> float:
    """Return the log-likelihood of edges with their best chances, of degrees, and the entropy, summed."""
    pairs = pair.nodes[0] * pair.nodes[1] / 2
    one, other = (max(each - common, 0.0) + _LEAST_ERRORS * pair.edges[1] for each in pair.edges)
    counts = np.array([common, one, other, max(pairs - common - one - other, 1.0)])
    edges = float((counts * np.log(np.maximum(counts, 1e-9) / pairs)).sum())
    degrees = 0.0
    for kind in range(len(pair.prior)):
        mass = chances[pair.kind == kind].sum(axis=0, dtype=np.float64)
        degrees += float(mass @ pair.prior[kind, pair.other_kind])
    logs = np.log(np.maximum(chances, np.float32(_LEAST_WEIGHT)))
    return edges + degrees - float(np.einsum("uv,uv->", chances, logs, dtype=np.float64))


def expected_witnesses(pair: Pair, chances: Chances) -> Chances:
    """Return the expected common neighbors of each node pair, seeds included."""
    # Twice the transpose, because a sparse matrix must come first.
    half = np.ascontiguousarray((pair.here @ chances).T)
    found: Chances = np.ascontiguousarray((pair.there @ half).T)
    entries = pair.witnesses.tocoo()
    found[entries.row, entries.col] += entries.data
    return found


def log_weights(pair: Pair, witnesses: Chances, ratio: float) -> Chances:
    """Return the logarithm of each pair's weight before rows and columns are scaled."""
    logs: Chances = pair.prior.astype(np.float32)[pair.kind[:, None], pair.other_kind]
    logs += np.float32(ratio) * witnesses
    return logs


def balanced(
    logs: Chances, column: FloatArray, *, slack: float | None, rounds: int, absent: int = 0
) -> tuple[Chances, FloatArray, FloatArray, FloatArray]:
    """Return balanced exp(logs), no-match probabilities, and log scales.

    Rows sum to 1, with the chance of being nobody, up to rounding; columns do after enough rounds. ``logs`` is
    overwritten, ``column`` is where to start. Without slack the longer side cannot sum to 1 and is at most 1. With
    ``absent`` rows the weight of being nobody is scaled in each round, too, until so many are expected to be nobody.
    """
    none = -np.inf if slack is None else slack
    logs += column.astype(np.float32)
    row = -np.maximum(logs.max(axis=1).astype(np.float64), none)
    logs += row[:, None].astype(np.float32)
    # Now no entry is above 1 once exp is taken, and after this no column is all 0 either.
    lift = -np.maximum(logs.max(axis=0).astype(np.float64), none + column)
    logs += lift.astype(np.float32)
    column = column + lift
    weight = np.exp(logs, out=logs)
    # Numbers at the end of the range of 32 bits would make every product below slow.
    weight[weight < _LEAST_WEIGHT] = 0.0
    row_spare, column_spare = np.exp(none + row), np.exp(none + column)
    a, b = np.ones(row.size), np.ones(column.size)
    for used in range(rounds):
        a = _inverse(_times(weight, b) + row_spare, a)
        if absent:
            row_spare *= absent / float(a @ row_spare)
        sums = _times(weight.T, a) + column_spare
        if used and np.abs(sums * b - 1).max() < _TOLERANCE:
            break
        b = _inverse(sums, b)
    for first in range(0, row.size, _ROWS_AT_A_TIME):
        # With 64 bits, because scales may be beyond the range of 32.
        part = slice(first, first + _ROWS_AT_A_TIME)
        exact = weight[part] * b
        a[part] = _inverse(exact.sum(axis=1) + row_spare[part], a[part])
        weight[part] = exact * a[part, None]
    return weight, a * row_spare, row + np.log(a), column + np.log(b)


def _times(weight: Chances, vector: FloatArray) -> FloatArray:
    """Return a matrix-vector product in 64 bits."""
    largest = float(vector.max())
    product: FloatArray = (weight @ (vector / largest).astype(np.float32)).astype(np.float64)
    return product * largest


def _inverse(sums: FloatArray, before: FloatArray) -> FloatArray:
    """Return the inverse sums, or old values for zero sums."""
    scale: FloatArray = np.where(sums > 0, 1 / np.where(sums > 0, sums, 1.0), before)
    return scale
