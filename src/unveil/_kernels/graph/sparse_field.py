"""Mean-field matching with a few candidates per node.

As in :mod:`unveil._kernels.graph.mean_field`, but each row keeps its likeliest columns alone, and only these have
witnesses. All other pairs weigh what degrees say, and rows and columns sum to 1 with them: without them the few that
are kept would seem far too likely. They are a product of scales and a table of degrees, which is never written out.
Every row may be nobody.
"""

from typing import NamedTuple

import numpy as np

from unveil._kernels._compile import compiled, kernel, loop
from unveil._kernels.graph.mean_field import ROUNDS, degree_prior, edge_ratio
from unveil._kernels.types import FloatArray, Int32Array, IntArray

#: How much a common edge counts at each step before the last ones.
HEATING = (0.5, 0.8, 1.2, 1.8, 2.5, 3.5)
#: Then it counts as much as it is worth by then, until a row moves less than this share of its chances in the mean of
#: all rows, or so often.
SETTLED, MOST_STEPS = 5e-4, 30
#: While it is heated, pairs that are not kept weigh this share of what degrees say: they have witnesses then that are
#: not counted, nor are those of candidates that lie on such pairs, and with all their weight they would drown these.
REST_AT_FIRST = 0.1
# Chances below this bear no witness.
_LEAST_CHANCE = 1e-3
# A pair of a mapping to start from has this chance.
_MAPPED_CHANCE = 0.9
# Candidates that are alike but for this are chosen by lot.
_LOT = 1e-6
# Up to so many ends of edges a plain loop takes less time than it takes to load the compiler.
_PLAIN_ENDS = 300


class SparseField(NamedTuple):
    """Candidates per row (``EMPTY`` if fewer), with probabilities.

    What is left to 1 lies on columns that are not kept. ``moved`` is the share of its chances that a row moved in the
    last step, in the mean of all: where it is large, there is no fixed point nearby.
    """

    candidate: IntArray
    chance: FloatArray
    nobody: FloatArray
    ratio: float
    moved: float


class BalancedChances(NamedTuple):
    """Probabilities of candidates and of no match, and column log scales."""

    chance: FloatArray
    nobody: FloatArray
    column: FloatArray


# Both graphs of a mean field with a few candidates for each node, and the candidates that degrees suggest at first.

#: No column in this place.
EMPTY = -1
# What a common edge counts when the first candidates are chosen, from classes of nodes with about as many neighbours.
_START_RATIO = 0.3
_CLASSES = 40
_ROWS_AT_A_TIME = 1000


class Graphs(NamedTuple):
    """Both graphs as CSR arrays.

    ``partner`` is the known column of each row, or ``EMPTY``; ``taken`` says which columns are known. ``kind`` and
    ``other_kind`` are the places of each node's degree in ``prior``.
    """

    start: IntArray
    neighbour: Int32Array
    other_start: IntArray
    other_neighbour: Int32Array
    partner: IntArray
    taken: np.ndarray[tuple[int], np.dtype[np.bool_]]
    kind: IntArray
    other_kind: IntArray
    prior: FloatArray


def graphs_of(
    start: IntArray, neighbour: Int32Array, other_start: IntArray, other_neighbour: Int32Array, seeds: IntArray
) -> Graphs:
    """Return both graphs with the known pairs."""
    degree, other_degree = np.diff(start), np.diff(other_start)
    partner, taken = np.full(degree.size, EMPTY, np.int64), np.zeros(other_degree.size, np.bool_)
    partner[seeds[:, 0]], taken[seeds[:, 1]] = seeds[:, 1], True
    kinds, kind = np.unique(degree, return_inverse=True)
    other_kinds, other_kind = np.unique(other_degree, return_inverse=True)
    prior = degree_prior(kinds, other_kinds, neighbour.size // 2, other_neighbour.size // 2)
    return Graphs(start, neighbour, other_start, other_neighbour, partner, taken, kind, other_kind, prior)


def by_degree(graphs: Graphs, width: int) -> tuple[IntArray, FloatArray, FloatArray]:
    """Return initial candidates by degree, log weights, and column scales.

    All nodes of a class of degrees have the same chances at first, so that the expected witnesses of all pairs have the
    rank of the number of classes, and are never held at once.
    """
    nodes, others = graphs.partner.size, graphs.taken.size
    degree, other_degree = np.diff(graphs.start), np.diff(graphs.other_start)
    cuts = np.unique(np.quantile(np.concatenate([degree, other_degree]), np.linspace(0, 1, _CLASSES + 1)[1:-1]))
    group, other_group = np.searchsorted(cuts, degree), np.searchsorted(cuts, other_degree)
    classes = cuts.size + 1
    table, scale = _between_classes(graphs, group, other_group, classes)
    near = _neighbours_by_class(graphs.start, graphs.neighbour, group, classes, graphs.partner < 0)
    near_other = _neighbours_by_class(
        graphs.other_start, graphs.other_neighbour, other_group, classes, ~graphs.taken
    ).astype(np.float32)
    reach = (near @ table).astype(np.float32)
    column = scale[other_group]
    free = ~graphs.taken
    lift = np.where(free, column, -np.inf).astype(np.float32)
    candidate, logs = np.full((nodes, width), EMPTY, np.int64), np.zeros((nodes, width))
    prior = graphs.prior.astype(np.float32)
    kept = min(width, int(free.sum()))
    for first in range(0, nodes, _ROWS_AT_A_TIME):
        rows = slice(first, min(first + _ROWS_AT_A_TIME, nodes))
        weight = _START_RATIO * (reach[rows] @ near_other.T + _known_witnesses(graphs, rows, others))
        weight += prior[graphs.kind[rows, None], graphs.other_kind]
        best = np.argpartition(-(weight + lift), kept - 1, axis=1)[:, :kept] if kept < others else None
        place = np.broadcast_to(np.arange(others), weight.shape) if best is None else best
        candidate[rows, :kept] = place
        logs[rows, :kept] = np.take_along_axis(weight, place, axis=1)
    return candidate, logs, column


def _between_classes(
    graphs: Graphs, group: IntArray, other_group: IntArray, classes: int
) -> tuple[FloatArray, FloatArray]:
    """Return pair probabilities by class, and column log scales."""
    free, other_free = graphs.partner < 0, ~graphs.taken
    size, other_size = (
        np.bincount(group[free], minlength=classes).astype(np.float64),
        np.bincount(other_group[other_free], minlength=classes).astype(np.float64),
    )
    means = []
    for start, which in ((graphs.start, group), (graphs.other_start, other_group)):
        total, count = np.bincount(which, np.diff(start), classes), np.bincount(which, minlength=classes)
        means.append(total / np.maximum(count, 1))
    edges = graphs.neighbour.size // 2, graphs.other_neighbour.size // 2
    weight = np.exp(degree_prior(means[0], means[1], *edges)) + 1e-30
    scale = np.ones(classes)
    for _ in range(ROUNDS):
        row = 1 / np.maximum(weight @ (other_size * scale), 1e-200)
        scale = 1 / np.maximum(weight.T @ (size * row), 1e-200)
    table = np.minimum(weight * row[:, None] * scale, 1.0)
    return table, np.log(scale)


def _neighbours_by_class(
    start: IntArray,
    neighbour: Int32Array,
    group: IntArray,
    classes: int,
    counts: np.ndarray[tuple[int], np.dtype[np.bool_]],
) -> FloatArray:
    row = np.repeat(np.arange(start.size - 1), np.diff(start))
    kept = counts[neighbour]
    cell = row[kept] * classes + group[neighbour[kept]]
    return np.bincount(cell, minlength=(start.size - 1) * classes).reshape(-1, classes).astype(np.float64)


def _known_witnesses(graphs: Graphs, rows: slice, others: int) -> FloatArray:
    """Return the common seed pairs of these rows and each column."""
    found = np.zeros((rows.stop - rows.start, others), np.float32)
    for row in range(rows.start, rows.stop):
        partners = graphs.partner[graphs.neighbour[graphs.start[row] : graphs.start[row + 1]]]
        for partner in partners[partners >= 0]:
            found[
                row - rows.start, graphs.other_neighbour[graphs.other_start[partner] : graphs.other_start[partner + 1]]
            ] += 1
    return found


def sparse_field(
    graphs: Graphs, width: int, *, slack: float, mapping: IntArray | None = None, absent: int = 0
) -> SparseField:
    """Return the mean field with ``width`` candidates for each row, heated slowly.

    ``slack`` and ``absent`` are as in :func:`unveil._kernels.graph.mean_field.mean_field`.
    It starts from what degrees say, or from a mapping: the column of each row, ``EMPTY`` where there is none.
    """
    nodes, others = graphs.partner.size, graphs.taken.size
    column = np.zeros(others)
    if mapping is None:
        candidate, logs, column = by_degree(graphs, min(width, others))
    else:
        candidate, logs = mapping[:, None].copy(), np.where(mapping >= 0, np.log(_MAPPED_CHANCE), 0.0)[:, None]
    known = graphs.partner >= 0
    candidate[known], candidate[known, 0] = EMPTY, graphs.partner[known]
    if mapping is None:
        chance, nobody, column = _balance(graphs, candidate, logs, column, slack, absent, REST_AT_FIRST)
    else:
        chance = np.where(candidate >= 0, _MAPPED_CHANCE, 0.0)
        chance[known, 0] = 1.0
        nobody = 1.0 - chance.sum(axis=1)
    edges = graphs.neighbour.size // 2, graphs.other_neighbour.size // 2
    common, moved, ratio = 0.0, 1.0, 0.0
    for step in range(len(HEATING) + MOST_STEPS):
        heated = step >= len(HEATING)
        ratio = edge_ratio(common, *edges, nodes * others / 2) if heated else HEATING[step]
        before = candidate, chance
        candidate, witnesses = _best(graphs, candidate, chance, column, ratio, width)
        logs = ratio * witnesses + _prior_of(graphs, candidate)
        rest = 1.0 if heated else REST_AT_FIRST
        chance, nobody, column = _balance(graphs, candidate, logs, column, slack, absent, rest)
        common = float((chance * witnesses).sum()) / 2
        if heated:
            moved = _moved(*before, candidate, chance, others) / max(int((~known).sum()), 1)
        if moved < SETTLED:
            break
    return SparseField(candidate, chance, nobody, ratio, moved)


def _prior_of(graphs: Graphs, candidate: IntArray) -> FloatArray:
    """Return what degrees say of each candidate."""
    said: FloatArray = graphs.prior[graphs.kind[:, None], graphs.other_kind[np.maximum(candidate, 0)]]
    return said


def _best(
    graphs: Graphs, candidate: IntArray, chance: FloatArray, column: FloatArray, ratio: float, width: int
) -> tuple[IntArray, FloatArray]:
    """Return the best columns of each row, with expected witnesses."""
    nodes = graphs.partner.size
    chosen, witnesses = np.full((nodes, width), EMPTY, np.int64), np.zeros((nodes, width))
    small = graphs.neighbour.size + graphs.other_neighbour.size <= _PLAIN_ENDS
    run = _choose if small else compiled(_choose)
    run(graphs, candidate, chance, column, ratio, chosen, witnesses)
    return chosen, witnesses


@loop(
    "Graphs(const i8[], const i4[], const i8[], const i4[], i8[], b1[], i8[], i8[], f8[,]), i8[,], f8[,], f8[], "
    "f8, i8[,], f8[,]",
)
def _choose(
    graphs: Graphs,
    candidate: IntArray,
    chance: FloatArray,
    column: FloatArray,
    ratio: float,
    chosen: IntArray,
    witnesses: FloatArray,
) -> None:
    others = graphs.taken.size
    mass, expected = np.zeros(others), np.zeros(others)
    near, found = np.empty(others, np.int64), np.empty(others, np.int64)
    seen = np.zeros(others, np.bool_)
    width = chosen.shape[1]
    key = np.empty(width)
    for row in range(graphs.partner.size):
        size = _expect(graphs, row, candidate, chance, mass, near, expected, found, seen)
        if graphs.partner[row] >= 0:
            chosen[row, 0], witnesses[row, 0] = graphs.partner[row], expected[graphs.partner[row]]
        else:
            for place in range(candidate.shape[1]):
                other = candidate[row, place]
                if other >= 0 and not seen[other]:
                    seen[other] = True
                    found[size] = other
                    size += 1
            kept = 0
            for place in range(size):
                other = found[place]
                if graphs.taken[other]:
                    continue
                # By lot where several are alike: all rows would choose the same ones otherwise.
                lot = ((row * 7919 + other * 104729) * 2654435761 % 4294967296) / 4294967296
                value = ratio * expected[other] + graphs.prior[graphs.kind[row], graphs.other_kind[other]]
                value += column[other] + _LOT * lot
                kept = _sift(key, chosen[row], kept, value, other)
            for place in range(kept):
                witnesses[row, place] = expected[chosen[row, place]]
        for place in range(size):
            expected[found[place]] = 0.0
            seen[found[place]] = False


def _expect(
    graphs: Graphs,
    row: int,
    candidate: IntArray,
    chance: FloatArray,
    mass: FloatArray,
    near: IntArray,
    expected: FloatArray,
    reached: IntArray,
    visited: np.ndarray[tuple[int], np.dtype[np.bool_]],
) -> int:
    """Fill in the expected witnesses of one row, and count them."""
    count = 0
    for spot in range(graphs.start[row], graphs.start[row + 1]):
        neighbour = graphs.neighbour[spot]
        for place in range(candidate.shape[1]):
            if chance[neighbour, place] >= _LEAST_CHANCE:
                other = candidate[neighbour, place]
                if mass[other] == 0.0:
                    near[count] = other
                    count += 1
                mass[other] += chance[neighbour, place]
    size = 0
    for place in range(count):
        middle = near[place]
        for spot in range(graphs.other_start[middle], graphs.other_start[middle + 1]):
            other = graphs.other_neighbour[spot]
            if not visited[other]:
                visited[other] = True
                reached[size] = other
                size += 1
            expected[other] += mass[middle]
        mass[middle] = 0.0
    return size


def _sift(key: FloatArray, kept_ones: IntArray, kept: int, value: float, other: int) -> int:
    """Keep a column in the heap if it is good enough."""
    width = key.size
    if kept == width and value <= key[0]:
        return kept
    if kept < width:
        place = kept
        while place > 0 and key[(place - 1) // 2] > value:
            key[place], kept_ones[place] = key[(place - 1) // 2], kept_ones[(place - 1) // 2]
            place = (place - 1) // 2
        key[place], kept_ones[place] = value, other
        return kept + 1
    place = 0
    while 2 * place + 1 < width:
        child = 2 * place + 1
        if child + 1 < width and key[child + 1] < key[child]:
            child += 1
        if key[child] >= value:
            break
        key[place], kept_ones[place] = key[child], kept_ones[child]
        place = child
    key[place], kept_ones[place] = value, other
    return kept


@kernel("i8[,], f8[,], i8[,], f8[,], i8")
def _moved(candidate: IntArray, chance: FloatArray, now: IntArray, chance_now: FloatArray, others: int) -> float:
    """Return the total variation between two steps."""
    held = np.zeros(others)
    total = 0.0
    for row in range(len(candidate)):
        for place in range(candidate.shape[1]):
            if candidate[row, place] >= 0:
                held[candidate[row, place]] += chance[row, place]
        for place in range(now.shape[1]):
            if now[row, place] >= 0:
                held[now[row, place]] -= chance_now[row, place]
                total += abs(held[now[row, place]])
                held[now[row, place]] = 0.0
        for place in range(candidate.shape[1]):
            if candidate[row, place] >= 0:
                total += abs(held[candidate[row, place]])
                held[candidate[row, place]] = 0.0
    return total / 2


def _balance(
    graphs: Graphs,
    candidate: IntArray,
    logs: FloatArray,
    column: FloatArray,
    slack: float,
    absent: int = 0,
    rest: float = 1.0,
) -> BalancedChances:
    """Return balanced exp(logs) of candidates, with ``rest`` for other pairs.

    Rows sum to 1 with all other columns and the chance of being nobody. All pairs have the weight that degrees give
    them, a product of scales and a table of degrees, and candidates have more by their witnesses.
    """
    known = graphs.partner >= 0
    free = ~known[:, None] & (candidate >= 0)
    place, others = np.where(candidate >= 0, candidate, 0), column.size
    lifted = np.where(free, logs + column[place], -np.inf)
    row = -np.maximum(lifted.max(axis=1), slack)
    weight = np.exp(lifted + row[:, None])
    lifted = np.where(free, _prior_of(graphs, candidate) + column[place] + row[:, None], -np.inf)
    excess = np.maximum(weight - rest * np.exp(lifted), 0.0)
    row_scale = np.where(known, 0.0, np.exp(row))
    column_scale = np.where(graphs.taken, 0.0, np.exp(column))
    row_spare, column_spare = np.exp(slack + row), np.exp(slack + column)
    degrees, flat, scale = rest * np.exp(graphs.prior), place.ravel(), np.ones(others)

    def row_factor() -> FloatArray:
        by_degree = degrees @ np.bincount(graphs.other_kind, column_scale * scale, degrees.shape[1])
        sums = np.einsum("rc,rc->r", excess, scale[place]) + row_scale * by_degree[graphs.kind] + row_spare
        return np.asarray(1 / sums, np.float64)

    for _ in range(ROUNDS):
        factor = row_factor()
        if absent:
            # Of rows that are known nothing is expected.
            row_spare *= absent / float((factor * row_spare)[~known].sum())
        by_degree = np.bincount(graphs.kind, row_scale * factor, degrees.shape[0]) @ degrees
        of_candidates = np.bincount(flat, (excess * factor[:, None]).ravel(), others)
        sums = of_candidates + column_scale * by_degree[graphs.other_kind] + column_spare
        scale = np.where(sums > 0, 1 / np.where(sums > 0, sums, 1.0), scale)
    factor = row_factor()
    chance = weight * scale[place] * factor[:, None]
    chance[known], chance[known, 0] = 0.0, 1.0
    return BalancedChances(chance, np.where(known, 0.0, factor * row_spare), column + np.log(scale))
