"""Both graphs of a mean field with a few candidates for each node, and the candidates that degrees suggest at first."""

from typing import NamedTuple

import numpy as np

from unveil._kernels.graph.mean_field import ROUNDS, degree_prior
from unveil._kernels.types import FloatArray, Int32Array, IntArray

#: No column in this place.
EMPTY = -1
# What a common edge counts when the first candidates are chosen, from classes of nodes with about as many neighbours.
_START_RATIO = 0.3
_CLASSES = 40
_ROWS_AT_A_TIME = 1000


class Graphs(NamedTuple):
    """Both graphs: where the neighbours of each node start, and these.

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
    """Return the best columns of each row, their log weights, and where the logs of column scales start.

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
    """Return the chance of a pair of nodes by their classes, and the logs of the scales of columns."""
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
    """Return how many known pairs are next to each of these rows and each column."""
    found = np.zeros((rows.stop - rows.start, others), np.float32)
    for row in range(rows.start, rows.stop):
        partners = graphs.partner[graphs.neighbour[graphs.start[row] : graphs.start[row + 1]]]
        for partner in partners[partners >= 0]:
            found[
                row - rows.start, graphs.other_neighbour[graphs.other_start[partner] : graphs.other_start[partner + 1]]
            ] += 1
    return found
