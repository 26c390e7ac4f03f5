"""Starts of mean-field matching: features of nodes, several restarts, and the best free energy.

Without seed pairs the mean field depends on where it starts. Degrees alone tell nodes of sparse graphs hardly apart, so
nodes are compared by their surroundings. How much a feature differs between both graphs is learned on the released
graph: two copies of it are thinned as both graphs seem to be, and the truth of that is known. The solution with the
best free energy is kept. Between sparse graphs messages are passed instead, and it counts whether they settle.
Where another start leads elsewhere, its chances are not to be relied on; then the attacker attacks a copy of the
release in the same way, and learns how often such chances are correct.
"""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from unveil._kernels.calibration import Calibrator, chance, fit
from unveil._kernels.graph.belief import SETTLED, believed
from unveil._kernels.graph.mean_field import (
    EARLY_ROUNDS,
    Chances,
    Field,
    Pair,
    balanced,
    bethe_start,
    mean_field,
    objective_of,
    pair_of,
)
from unveil._kernels.types import FloatArray, IntArray
from unveil.attacks.graph._features import MOST_OVERLAP, among_nodes, feature_prior, node_features, thinned
from unveil.data.graph import Graph

#: The log weight of being no node where one graph has more nodes to be matched.
SLACK = -8.0
#: Candidates with a smaller chance are left out, unless they are chosen.
LEAST_CHANCE = 1e-4
#: Graphs of fewer nodes start from degrees alone: too little can be learned from them.
FEWEST_NODES = 50
#: The solutions of two starts agree if the chance that both name the same node is this share of what one has with
#: itself; then no further start is tried.
AGREEMENT = 0.93
#: Starts in this order: the share of the edges of either graph that the other seems to have, and whether features count
#: until the mean field begins. Further ones begin anew, with other draws.
FEATURE_STARTS = ((0.9, True), (0.0, False), (0.8, False), (1.0, True))
#: Up to so many messages for each pair of nodes, messages are passed at once, or where no two starts agree.
SPARSE, MEDIUM = 8.0, 24.0
#: More messages are not passed between sparse graphs, nor between others; each takes this many bytes.
MOST_MESSAGES, MOST_OTHER_MESSAGES, BYTES_PER_MESSAGE = 100_000_000, 30_000_000, 8
# The best solution is iterated further, so often at most.
_MORE_STEPS = 20
# Above this share of common edges, all auxiliary edges are taken for released ones: for certain, and for a start.
_NEARLY_ALL, _MAYBE_ALL = 0.93, 0.85
# An attack on a copy that explains so much less of the edges failed where the real one did not.
_FAILED = 0.3
# Solutions have no mean largest chance below this, or they are flat; nor a common edge for so many of another one.
_LEAST_CHANCE, _FLAT = 0.15, 2.0
# Chances below this count as this where their logarithms are taken.
_LEAST_LOGGED = 1e-30
# Chances below this are left out where solutions are compared.
_LEAST_COMPARED = 1e-3
# The overlap is estimated to be no less.
_LEAST_OVERLAP = 0.7


@dataclass(frozen=True)
class FieldSolution:
    """The best of several solutions.

    ``others`` are the chances of the other ones, as sparse matrices. ``agreement`` is the largest share of the mass of
    the best that one of them has in common with it, 0 if there are none.
    """

    field: Field
    others: tuple[Any, ...] = ()
    agreement: float = 0.0
    settled: bool = False

    @property
    def converged(self) -> bool:
        """Whether two starts led here, or messages settled, and not to chances that are about even."""
        agreed = self.settled or self.agreement > AGREEMENT
        return agreed and float(self.field.chances.max(axis=1).mean()) > _LEAST_CHANCE

    def or_better(self, field: Field, *, again: bool = False) -> "FieldSolution":
        """Return the better of both, with the other as one more; ``again`` where it was reached from this one."""
        worse, better = sorted((self.field, field), key=lambda each: each.objective)
        if worse.common > better.common * _FLAT:
            # Even chances can have the better free energy, but say nothing.
            worse, better = better, worse
        if again:
            return replace(self, field=better)
        others = (*self.others, _sparse(worse.chances))
        own = _sparse(better.chances)
        itself = max(float(own.multiply(own).sum()), 1e-9)
        return FieldSolution(better, others, max(float(own.multiply(each).sum()) for each in others) / itself)

    def support(self, row: IntArray, column: IntArray) -> FloatArray:
        """Return the mean chance of pairs in the other solutions; without any, in this one."""
        if not self.others:
            return self.field.chances[row, column].astype(np.float64)
        every = [_entries(each, row, column) for each in self.others]
        return np.asarray(np.mean(every, axis=0), np.float64)


class Start(NamedTuple):
    """Where a run starts: from degrees (``overlap`` None) or from features.

    An overlap of 0 is estimated from the best solution so far.
    """

    overlap: float | None
    keep: bool = False


def starts_of(start: str, restarts: int) -> list[Start]:
    """Return the starts to try, in order.

    >>> [each.overlap for each in starts_of("features", 4)]
    [0.9, 0.0, 0.8, 1.0]
    """
    if start == "degrees":
        return [Start(None)]
    return [Start(*FEATURE_STARTS[each % len(FEATURE_STARTS)]) for each in range(restarts)]


def search(
    released: Graph,
    auxiliary: Graph,
    pair: Pair,
    nodes: tuple[IntArray, IntArray],
    starts: list[Start],
    *,
    seeds: IntArray,
    slack: float | None,
    absent: int,
    rng: np.random.Generator,
) -> FieldSolution:
    """Return the best solution of several starts.

    ``nodes`` are the released and auxiliary nodes of the rows and columns of ``pair``, ``seeds`` the pairs of others.
    Between sparse graphs messages are passed; between others, if no two starts agree and there are not too many.
    """
    settings: dict[str, Any] = {"slack": slack, "absent": absent}
    density = message_density(released, auxiliary) if slack is None and starts[0].overlap is not None else np.inf
    surroundings: tuple[FloatArray, FloatArray] | None = None
    best: FieldSolution | None = None
    for each in starts:
        if each.overlap is None:
            field = mean_field(pair, **settings)
        else:
            surroundings = surroundings or (node_features(released), node_features(auxiliary))
            overlap = each.overlap or _estimated(best, pair)
            first = feature_prior(released, auxiliary, surroundings, overlap, nodes, rng)
            if density <= SPARSE:
                return _settled_belief(released, auxiliary, pair, nodes, seeds, first, runs=len(starts))
            early = bethe_start(pair, first, first if each.keep or overlap == 1 else None, **settings)
            field = mean_field(pair, **settings, start=early)
        best = best.or_better(field) if best else FieldSolution(field)
        if best.converged:
            break
    best = best or FieldSolution(mean_field(pair, **settings))
    if best.converged or not best.others:
        return best
    chances = best.field.chances
    if density <= MEDIUM:
        field = _believed_field(released, auxiliary, pair, nodes, seeds, chances)
        found = replace(best, field=field, settled=field.moved < SETTLED)
        if found.converged:
            return found
    early = bethe_start(pair, chances, None, **settings, chances=chances, steps=_MORE_STEPS)
    return best.or_better(mean_field(pair, **settings, start=early), again=True)


def _settled_belief(
    released: Graph,
    auxiliary: Graph,
    pair: Pair,
    nodes: tuple[IntArray, IntArray],
    seeds: IntArray,
    first: Chances,
    *,
    runs: int,
) -> FieldSolution:
    """Return the posterior by messages, from features, and if they do not settle from even chances, too."""
    solutions: list[FieldSolution] = []
    for logs in (first, np.zeros_like(first))[:runs]:
        early = balanced(logs, np.zeros(logs.shape[1]), slack=None, rounds=EARLY_ROUNDS)[0]
        field = _believed_field(released, auxiliary, pair, nodes, seeds, early)
        solutions.append(FieldSolution(field, settled=field.moved < SETTLED))
        if solutions[-1].converged:
            return solutions[-1]
    return solutions[0].or_better(solutions[-1].field) if runs > 1 else solutions[0]


def message_density(released: Graph, auxiliary: Graph) -> float:
    """Return how many messages there are for each pair of nodes; infinite where too many, or one graph has more nodes.

    >>> ring = Graph.from_edges([0, 1, 2, 3], [1, 2, 3, 0])
    >>> message_density(ring, ring)
    4.0
    """
    messages = 4 * released.edges * auxiliary.edges
    density = messages / max(released.nodes, 1) ** 2
    most = MOST_MESSAGES if density <= SPARSE else MOST_OTHER_MESSAGES
    return density if released.nodes == auxiliary.nodes and messages <= most else np.inf


def _believed_field(
    released: Graph,
    auxiliary: Graph,
    pair: Pair,
    nodes: tuple[IntArray, IntArray],
    seeds: IntArray,
    start: Chances,
) -> Field:
    """Return the posterior by belief propagation."""
    first: Chances = np.zeros((released.nodes, auxiliary.nodes), np.float32)
    first[seeds[:, 0], seeds[:, 1]] = 1.0
    first[np.ix_(*nodes)] = start
    found = believed(released.to_sparse(), auxiliary.to_sparse(), seeds, first)
    chances = np.ascontiguousarray(found.chances[np.ix_(*nodes)])
    logs = np.log(np.maximum(chances, np.float32(_LEAST_LOGGED)))
    objective = objective_of(pair, chances, found.common)
    return Field(chances, np.zeros(len(chances)), logs, found.worth, objective, found.common, found.moved)


def _estimated(best: FieldSolution | None, pair: Pair) -> float:
    """Return the overlap that a solution suggests: 1 or a value for which features are of use."""
    found = explained_share(best, pair, *chosen_pairs(best.field)) if best else 1.0
    return 1.0 if found > _MAYBE_ALL else max(found, _LEAST_OVERLAP)


def _entries(matrix: Any, row: IntArray, column: IntArray) -> FloatArray:
    """Return these entries of a sparse matrix."""
    if row.size == 0:  # which scipy would answer with a sparse array
        return np.zeros(0)
    return np.asarray(matrix[row, column], np.float64).ravel()


def _sparse(chances: Chances) -> Any:
    from scipy.sparse import csr_array

    return csr_array(np.where(chances >= _LEAST_COMPARED, chances, np.float32(0)))


class Trust(NamedTuple):
    """How often choices are correct that look like those of an attack whose starts do not agree.

    ``listed`` is the share of wrong choices whose true node has a chance that is listed.
    """

    learned: Calibrator
    listed: float

    def chance(self, solution: FieldSolution, row: IntArray, column: IntArray, degree: IntArray) -> FloatArray:
        """Return the probability that these choices are correct, given the auxiliary degrees."""
        return chance(self.learned, _looks(solution, row, column, degree))


def learn_trust(
    released: Graph,
    auxiliary: Graph,
    seeds: IntArray,
    solution: FieldSolution,
    overlap: float,
    starts: list[Start],
    rng: np.random.Generator,
) -> Trust:
    """Return how often choices are correct in an attack on a copy of the release.

    The copy has as many nodes and edges as the auxiliary graph, and the share ``overlap`` of its edges is released. If
    that attack fails where the real one did not, by the share of common edges, the solution next to the truth counts.
    """
    copy, own = noisy_copy(released, auxiliary, 1.0 if overlap > _NEARLY_ALL else overlap, rng)
    known = seeds[np.isin(seeds[:, 0], own), 0]
    pairs = np.column_stack([known, np.searchsorted(own, known)])
    rows = rng.permutation(np.setdiff1d(np.arange(released.nodes), pairs[:, 0]))
    columns = rng.permutation(np.setdiff1d(np.arange(copy.nodes), pairs[:, 1]))
    pair = pair_of(released.to_sparse(), copy.to_sparse(), pairs, rows, columns)
    slack, absent = slack_of(rows.size, columns.size, None)
    found = search(released, copy, pair, (rows, columns), starts, seeds=pairs, slack=slack, absent=absent, rng=rng)
    truth = np.full(released.nodes, -1)
    truth[own] = np.arange(own.size)
    place = np.full(copy.nodes + 1, -1)
    place[columns] = np.arange(columns.size)
    true_columns = place[truth[rows]]
    start: Chances = np.zeros((rows.size, columns.size), np.float32)
    start[true_columns >= 0, true_columns[true_columns >= 0]] = 1.0
    planted = found.or_better(mean_field(pair, slack=slack, absent=absent, start=start))
    edges = min(released.edges, auxiliary.edges), min(released.edges, copy.edges)
    here, there, best = (
        each.field.common / max(size, 1)
        for each, size in ((solution, edges[0]), (found, edges[1]), (planted, edges[1]))
    )
    found = planted if here - there > max(abs(here - best), _FAILED) else found
    row, column = chosen_pairs(found.field)
    true_column = true_columns[row]
    right = true_column == column
    wrong = np.flatnonzero(~right & (true_column >= 0))
    listed = found.field.chances[row[wrong], true_column[wrong]] >= LEAST_CHANCE
    degree = copy.degrees[columns[column]]
    share = float(listed.sum()) / max(int((~right).sum()), 1)
    return Trust(fit(_looks(found, row, column, degree), right), share)


def explained_share(solution: FieldSolution, pair: Pair, row: IntArray, column: IntArray) -> float:
    """Return the estimated share of auxiliary edges that are released, from choices likely to be right.

    Choices count by their chances in this and other solutions, and by how many edges of their neighbors lie on
    released edges: where neighbors are matched wrongly, edges seem to be missing.
    """
    from scipy.sparse import csr_array

    shape = solution.field.chances.shape
    mapping = csr_array((np.ones(row.size, np.float32), (row, column)), shape=shape)
    common = _entries(pair.here @ mapping @ pair.there, row, column)
    degree = np.diff(pair.there.tocsr().indptr)
    share = np.zeros(shape[1])
    share[column] = common / np.maximum(degree[column], 1)
    near = (pair.there @ share)[column] / np.maximum(degree[column], 1)
    weight = solution.field.chances[row, column] * solution.support(row, column) * near**2
    total = float((weight * degree[column]).sum())
    return float((weight * common).sum()) / total if total > 0 else 0.0


def _looks(solution: FieldSolution, row: IntArray, column: IntArray, degree: IntArray) -> FloatArray:
    """Return features of choices: their chances here and in other solutions, and the auxiliary degrees."""
    here = np.log(solution.field.chances[row, column].astype(np.float64) + _LEAST_COMPARED)
    return np.column_stack([here, np.log(solution.support(row, column) + _LEAST_COMPARED), np.log1p(degree)])


def chosen_pairs(field: Field) -> tuple[IntArray, IntArray]:
    """Return the mapping with the largest product of chances, without rows that likelier have no match."""
    from scipy.optimize import linear_sum_assignment

    one, other = linear_sum_assignment(-field.logs.astype(np.float64))
    sure = field.chances[one, other] >= field.nobody[one]
    return one[sure], other[sure]


def slack_of(rows: int, columns: int, slack: float | None) -> tuple[float | None, int]:
    """Return the log weight of no match, and the number of rows that are known to have none."""
    if slack is not None:
        return slack, 0
    return (None if rows == columns else SLACK), max(rows - columns, 0)


def noisy_copy(released: Graph, auxiliary: Graph, overlap: float, rng: np.random.Generator) -> tuple[Graph, IntArray]:
    """Return a graph as large as the auxiliary one, and the released nodes that it has.

    The share ``overlap`` of its edges are released edges. The ends of the others are drawn in proportion to degrees.
    """
    own, source = np.arange(released.nodes), released
    if auxiliary.nodes < released.nodes:
        own = np.sort(rng.choice(released.nodes, auxiliary.nodes, replace=False))
        source = among_nodes(released, own)
    size = min(auxiliary.edges, source.edges)
    kept = thinned(source, overlap * min(size / max(source.edges, 1), MOST_OVERLAP), rng)
    added = size - kept.edges
    ends = rng.permutation(source.neighbour)[: source.neighbour.size // 2 * 2].reshape(-1, 2)
    ends = ends[ends[:, 0] != ends[:, 1]][:added]
    one, other = kept.ends
    return Graph.from_edges(np.append(one, ends[:, 0]), np.append(other, ends[:, 1]), nodes=source.nodes), own
