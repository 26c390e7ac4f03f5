"""Posterior of the matching of two sparse graphs by belief propagation.

The mean field lets two nodes that hold one another in a wrong place count as evidence for each other. Here an edge
passes on what a pair of nodes knows without that edge, which is exact on trees: the sum over all ways to match the
other neighbors of both nodes,

    M[w > u, x > v] = exp(m) (1 - s)^c (1 - t)^d * sum over matchings of product of g * M[neighbor > w, neighbor > x]

with ``c`` and ``d`` other neighbors of ``w`` and ``x``, the shares ``s`` and ``t`` of edges of either graph that the
other one has, ``m`` common neighbors of a node on average, and ``g`` what a common edge is worth. Messages of each edge
are scaled so that a node is matched once; ``s`` and ``t`` are learned on the way, by expectation and maximization.
"""

from typing import Any, NamedTuple

import numpy as np

from unveil._kernels._compile import kernel
from unveil._kernels.graph.mean_field import Chances, balanced, shift
from unveil._kernels.types import FloatArray, IntArray

#: The share of auxiliary edges that the release is first taken to have, and between which shares it may lie.
FIRST_SHARE, LEAST_SHARE, MOST_SHARE = 0.9, 0.3, 0.99
#: Messages are passed this often at most; after so many times it is checked whether chances still move.
MOST_STEPS, STEPS_PER_CHECK = 60, 5
#: Chances have settled if a row moves less of its mass between two checks.
SETTLED = 0.02
# How often messages, and chances at the end, are scaled.
_SCALINGS, _ROUNDS, _LAST_ROUNDS = 1, 4, 50
_LEAST_SUM = 1e-30


class Belief(NamedTuple):
    """Chances of all pairs of nodes, expected common edges, the log odds ratio of one, and the shift before the end."""

    chances: Chances
    common: float
    worth: float
    moved: float


class _Side(NamedTuple):
    """A graph as rows of neighbors, where the edge back is, and what each message weighs in its sender's mean."""

    start: IntArray
    sender: IntArray
    back: IntArray
    weight: Chances
    edges: int
    nodes: int


class _Model(NamedTuple):
    """The logarithm of the constant factor, those of an edge that the other graph lacks, and the worth of an edge."""

    constant: float
    missing: float
    other_missing: float
    worth: float


def believed(here: Any, there: Any, seeds: IntArray, first: Chances) -> Belief:
    """Return the posterior of all pairs of nodes of two sparse graphs with as many nodes.

    Parameters
    ----------
    here, there
        Their adjacency matrices.
    seeds
        Pairs of nodes that are known, which stay as they are.
    first
        Chances to start from.
    """
    one, other = _side(here), _side(there)
    nodes = one.nodes
    share, moved = FIRST_SHARE, 1.0
    messages = np.ascontiguousarray(nodes * first[np.ix_(one.sender, other.sender)], np.float32)
    found = np.empty_like(messages)
    scale, other_scale = (np.ones(side.sender.size, np.float32) for side in (one, other))
    chances, common = first, 0.0
    for step in range(1, MOST_STEPS + 1):
        model = _model(one, other, share)
        _pass_on(one.start, one.back, other.start, other.back, messages, found, scale, other_scale, np.array(model))
        _pin(found, one, other, seeds)
        scale, other_scale = _scales(found, one, other)
        messages, found = found, messages
        if step % STEPS_PER_CHECK == 0:
            before = chances
            chances, common = _posterior(one, other, messages, (scale, other_scale), model, seeds, _ROUNDS)
            moved = shift(before, chances)
            share = float(np.clip(common / max(other.edges, 1), LEAST_SHARE, MOST_SHARE))
            if moved < SETTLED:
                break
    model = _model(one, other, share)
    chances, common = _posterior(one, other, messages, (scale, other_scale), model, seeds, _LAST_ROUNDS)
    return Belief(chances, common, float(np.log(nodes * model.worth)), moved)


def _side(matrix: Any) -> _Side:
    matrix = matrix.tocsr()
    matrix.sort_indices()
    start, sender = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
    degree, nodes = np.diff(start), matrix.shape[0]
    receiver = np.repeat(np.arange(nodes), degree)
    back = np.searchsorted(receiver * nodes + sender, sender * nodes + receiver)
    return _Side(start, sender, back, (1 / degree[sender]).astype(np.float32), sender.size // 2, nodes)


def _model(one: _Side, other: _Side, share: float) -> _Model:
    """Return the weights if the release has that share of the auxiliary edges."""
    kept = min(share * other.edges / max(one.edges, 1), MOST_SHARE)
    common = 2 * kept * one.edges / one.nodes
    worth = share / (2 * one.edges / one.nodes * (1 - kept) * (1 - share))
    return _Model(common, float(np.log1p(-kept)), float(np.log1p(-share)), worth)


def _scales(messages: Chances, one: _Side, other: _Side) -> tuple[Chances, Chances]:
    """Return scales with which a sender's messages, averaged over the edges of the other sender, sum to one match."""
    scale = np.ones(one.sender.size, np.float32)
    other_scale = np.ones(other.sender.size, np.float32)
    for _ in range(_SCALINGS):
        other_scale = _inverse((one.weight * scale) @ messages, one.nodes)
        scale = _inverse(messages @ (other.weight * other_scale), one.nodes)
    return scale, other_scale


def _inverse(sums: Any, nodes: int) -> Chances:
    return np.asarray(nodes / np.maximum(sums, _LEAST_SUM), np.float32)


def _pin(messages: Chances, one: _Side, other: _Side, seeds: IntArray) -> None:
    """Let known pairs send that they are certain, and no other pair of theirs."""
    for known, partner in seeds:
        rows, columns = np.flatnonzero(one.sender == known), np.flatnonzero(other.sender == partner)
        messages[rows], messages[:, columns] = 0.0, 0.0
        messages[np.ix_(rows, columns)] = one.nodes


def _posterior(
    one: _Side,
    other: _Side,
    messages: Chances,
    scales: tuple[Chances, Chances],
    model: _Model,
    seeds: IntArray,
    rounds: int,
) -> tuple[Chances, float]:
    """Return the chances of all pairs, and the expected number of common edges."""
    logs = np.empty((one.nodes, other.nodes), np.float32)
    matched = np.empty_like(logs)
    _combine(one.start, other.start, messages, *scales, np.array(model), logs, matched)
    for known, partner in seeds:
        logs[known], logs[:, partner] = -np.inf, -np.inf
        logs[known, partner] = 0.0
    chances, _, _, _ = balanced(logs, np.zeros(other.nodes), slack=None, rounds=rounds)
    return chances, float(np.einsum("uv,uv->", chances, matched, dtype=np.float64)) / 2


@kernel("i8[], i8[], i8[], i8[], f4[,], f4[,], f4[], f4[], f8[]")
def _pass_on(
    start: IntArray,
    back: IntArray,
    other_start: IntArray,
    other_back: IntArray,
    messages: Chances,
    outgoing: Chances,
    scale: Chances,
    other_scale: Chances,
    model: FloatArray,
) -> None:
    """Write the messages of each pair of nodes to each pair of neighbors, before they are scaled.

    The sum over matchings is at most the product over neighbors of one node of what each may be matched to, and of the
    other one; the smaller of both is taken.
    """
    most, other_most = 0, 0
    for u in range(start.size - 1):
        most = max(most, start[u + 1] - start[u])
    for v in range(other_start.size - 1):
        other_most = max(other_most, other_start[v + 1] - other_start[v])
    weight = np.zeros((most, other_most))
    row, column, product = np.zeros(most), np.zeros(other_most), np.zeros(other_most)
    by_degree, by_other_degree = np.ones(most + 1), np.ones(other_most + 1)
    for i in range(1, most + 1):
        by_degree[i] = np.exp(model[0] + model[1] * (i - 1))
    for j in range(1, other_most + 1):
        by_other_degree[j] = np.exp(model[2] * (j - 1))
    for u in range(start.size - 1):
        p, d = start[u], start[u + 1] - start[u]
        for v in range(other_start.size - 1):
            q, k = other_start[v], other_start[v + 1] - other_start[v]
            if d == 0 or k == 0:
                continue
            for j in range(k):
                column[j], product[j] = 1.0, 1.0
            for i in range(d):
                row[i], each = 1.0, model[3] * scale[p + i]
                for j in range(k):
                    weight[i, j] = each * other_scale[q + j] * messages[p + i, q + j]
                    row[i] += weight[i, j]
                    column[j] += weight[i, j]
            if max(d, k) > 30:
                # Products of so many would overflow.
                alone = model[0] + model[1] * (d - 1) + model[2] * (k - 1)
                rows, columns = 0.0, 0.0
                for i in range(d):
                    rows += np.log(row[i])
                for j in range(k):
                    columns += np.log(column[j])
                for i in range(d):
                    for j in range(k):
                        least = min(rows - np.log(row[i]), columns - np.log(column[j]))
                        outgoing[back[p + i], other_back[q + j]] = np.exp(max(min(alone + least, 70.0), -70.0))
                continue
            alone = by_degree[d] * by_other_degree[k]
            for i in range(d):
                for j in range(k):
                    product[j] *= row[i] - weight[i, j]
            for i in range(d):
                other_product = alone
                for j in range(k):
                    other_product *= column[j] - weight[i, j]
                for j in range(k):
                    x, y = row[i] - weight[i, j], column[j] - weight[i, j]
                    least = min(other_product * x, alone * product[j] * y) / (x * y)
                    outgoing[back[p + i], other_back[q + j]] = max(min(least, 1e30), 1e-30)


@kernel("i8[], i8[], f4[,], f4[], f4[], f8[], f4[,], f4[,]")
def _combine(
    start: IntArray,
    other_start: IntArray,
    messages: Chances,
    scale: Chances,
    other_scale: Chances,
    model: FloatArray,
    logs: Chances,
    matched: Chances,
) -> None:
    """Write the log weight of each pair of nodes by all messages to it, and its expected matched neighbors."""
    most = 0
    for v in range(other_start.size - 1):
        most = max(most, other_start[v + 1] - other_start[v])
    column = np.zeros(most)
    for u in range(start.size - 1):
        p, d = start[u], start[u + 1] - start[u]
        for v in range(other_start.size - 1):
            q, k = other_start[v], other_start[v + 1] - other_start[v]
            for j in range(k):
                column[j] = 1.0
            rows, columns, by_row, by_column = 0.0, 0.0, 0.0, 0.0
            for i in range(d):
                total, each = 1.0, model[3] * scale[p + i]
                for j in range(k):
                    weight = each * other_scale[q + j] * messages[p + i, q + j]
                    total += weight
                    column[j] += weight
                rows += np.log(total)
                by_row += 1 - 1 / total
            for j in range(k):
                columns += np.log(column[j])
                by_column += 1 - 1 / column[j]
            logs[u, v] = model[0] + model[1] * d + model[2] * k + min(rows, columns)
            matched[u, v] = min(by_row, by_column)
