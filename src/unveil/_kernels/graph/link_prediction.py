"""How many hidden edges are among the pairs that a graph alone makes most likely: by common neighbours, by degrees.

Pairs of equal score are chosen by lot; what is returned is the number to expect, so that no draw is needed.
"""

import numpy as np

from unveil._kernels._compile import compiled, loop
from unveil._kernels.graph.rows import ends_of
from unveil._kernels.types import FloatArray, Int32Array, IntArray

# Scores are whole numbers of so many digits in this base: each pass over all pairs finds a digit of the lowest taken.
_BASE, _DIGITS = 4096, 3
#: Up to so many steps a pass runs as plain Python.
_FEW_STEPS = 20_000


def right_by_adamic_adar(
    start: IntArray, neighbour: Int32Array, hidden_start: IntArray, hidden_neighbour: Int32Array, number: int
) -> float:
    """Return how many of the ``number`` pairs with the highest sums ``Σ 1 / ln(degree)`` are hidden edges.

    The sum is over common neighbours, and pairs are those that are not joined. Hidden edges are the rows of another
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
    # No pair has more common neighbours than the largest degree, each worth 1 / ln 2 at the most.
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
        # Pairs without a common neighbour are not seen by a pass, and have the lowest score of all.
        counts[:, 0] += tied - counts.sum(axis=1)
        taken, more, digit = _from_the_top(counts, left)
        left, right = left - int(taken), right + more
        if left == 0:
            return right
        prefix, tied = prefix * _BASE + digit, counts[:, digit]
    return right + left * float(tied[1]) / float(tied[0])


def _from_the_top(counts: "IntArray | FloatArray", number: int) -> tuple[float, float, int]:
    """Return how many pairs the highest places have that are taken whole, how many right ones, and the next place.

    ``counts`` has all pairs of each place, and the right ones.
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
    """Count pairs with a common neighbour, and hidden edges among them, by one digit of their score.

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
    """Return how many of the ``number`` pairs with the largest products of degrees are hidden edges.

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
    """Return how many of these edges there are with each product of degrees."""
    one, other = (group[ends] for ends in ends_of(keys, group.size))
    return np.bincount(place[np.minimum(one, other), np.maximum(one, other)], minlength=places).astype(np.float64)
