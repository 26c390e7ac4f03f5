"""Pairs of nodes that a mapping of one graph to another claims to be joined, by the mapping alone or by its chances."""

import numpy as np

from unveil._kernels._compile import kernel
from unveil._kernels.graph.rows import among, distinct, edge_keys, ends_of
from unveil._kernels.types import FloatArray, Int32Array, IntArray


def mapped_edges(keys: IntArray, partner: IntArray, known: IntArray, nodes: int) -> IntArray:
    """Return the keys of pairs of auxiliary nodes whose partners are joined, those in ``known`` left out, ascending.

    ``keys`` are those of the released edges, ``partner`` has the auxiliary node of each released one (-1 for none),
    ``known`` the sorted keys of the auxiliary edges, and ``nodes`` is how many auxiliary nodes there are.

    >>> mapped_edges(np.array([1, 5]), np.array([2, 0, 1]), np.array([1]), 3)
    array([2])
    """
    one, other = (partner[ends] for ends in ends_of(keys, partner.size))
    both = (one >= 0) & (other >= 0) & (one != other)
    claimed = distinct(edge_keys(one[both], other[both], nodes))
    return claimed[~among(claimed, known)]


def likely_edges(
    released: tuple[IntArray, Int32Array],
    chances: tuple[IntArray, IntArray, FloatArray],
    auxiliary: tuple[IntArray, Int32Array],
    at_least: float,
) -> tuple[IntArray, FloatArray]:
    """Return the pairs of auxiliary nodes that are not joined and have an expected number of edges above ``at_least``.

    Parameters
    ----------
    released, auxiliary
        ``start`` and ``neighbour`` of both graphs.
    chances
        ``start``, auxiliary node and chance of the entries of each released node; at most 1 in sum.
    at_least
        What the expected number of released edges between both, ``Σ P(u is v) P(w is x)`` over all released edges in
        both directions, must exceed; above 0.

    Returns
    -------
    keys, expected
        The keys of the pairs, ascending, and their expected numbers of edges.

    Examples
    --------
    >>> edge = np.array([0, 1, 2]), np.array([1, 0], np.int32)
    >>> none = np.zeros(3, np.int64), np.zeros(0, np.int32)
    >>> likely_edges(edge, (np.array([0, 1, 2]), np.array([0, 1]), np.array([0.9, 0.8])), none, 0.5)
    (array([1]), array([0.72]))
    """
    nodes = auxiliary[0].size - 1
    start, candidate, chance = chances
    order = np.argsort(candidate, kind="stable")
    row = np.repeat(np.arange(start.size - 1), np.diff(start))[order]
    by_candidate = np.zeros(nodes + 1, np.int64)
    np.cumsum(np.bincount(candidate, minlength=nodes), out=by_candidate[1:])
    # All pairs together have at most one for each released edge, so no more of them can be above the least.
    most = int(released[1].size / 2 / at_least) + 1
    keys, expected = np.empty(most, np.int64), np.empty(most)
    found = _likely_edges(
        *released, start, candidate, chance, by_candidate, row, chance[order], *auxiliary, at_least, keys, expected
    )
    order = np.argsort(keys[:found])
    return keys[:found][order], expected[:found][order]


@kernel("const i8[], const i4[], i8[], i8[], f8[], i8[], i8[], f8[], const i8[], const i4[], f8, i8[], f8[]")
def _likely_edges(
    start: IntArray,
    neighbour: Int32Array,
    row_start: IntArray,
    candidate: IntArray,
    chance: FloatArray,
    column_start: IntArray,
    row: IntArray,
    column_chance: FloatArray,
    known_start: IntArray,
    known_neighbour: Int32Array,
    at_least: float,
    keys: IntArray,
    expected: FloatArray,
) -> int:
    nodes = column_start.size - 1
    total = np.zeros(nodes)
    touched = np.empty(nodes, np.int64)
    known_of = np.full(nodes, -1)
    found = 0
    for node in range(nodes):
        for place in range(known_start[node], known_start[node + 1]):
            known_of[known_neighbour[place]] = node
        seen = 0
        for entry in range(column_start[node], column_start[node + 1]):
            one = row[entry]
            for place in range(start[one], start[one + 1]):
                other = neighbour[place]
                for at in range(row_start[other], row_start[other + 1]):
                    partner = candidate[at]
                    if partner > node:
                        if total[partner] == 0.0:
                            touched[seen] = partner
                            seen += 1
                        total[partner] += column_chance[entry] * chance[at]
        for place in range(seen):
            partner = touched[place]
            if total[partner] > at_least and known_of[partner] != node:
                keys[found] = node * nodes + partner
                expected[found] = total[partner]
                found += 1
            total[partner] = 0.0
    return found
