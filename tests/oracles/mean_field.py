"""Mean-field matching from its definition: all mappings one by one, and the equations in plain loops."""

import math
from collections.abc import Sequence
from itertools import permutations

Edges = set[tuple[int, int]]
Matrix = list[list[float]]


def both_ways(edges: Edges) -> Edges:
    return edges | {(other, one) for one, other in edges}


def log_likelihood_of_degrees(nodes: int, here: Edges, there: Edges) -> Matrix:
    """Return how well the degree of each node of the one graph fits that of each of the other."""
    kept = min(1.0, len(there) / len(here)) if here else 1.0
    degree = [[sum(node in edge for edge in edges) for node in range(nodes)] for edges in (here, there)]
    return [
        [
            -((2 * math.sqrt(kept * one + 0.25) - 2 * math.sqrt(other + 0.25)) ** 2)
            / (2 * (max(1 - kept, 0.02) + 0.25))
            for other in degree[1]
        ]
        for one in degree[0]
    ]


def log_weights_of_mappings(
    nodes: int, here: Edges, there: Edges, ratio: float, prior: Matrix
) -> dict[tuple[int, ...], float]:
    """Return for every mapping of equally many nodes the common edges times their worth, plus what degrees say."""
    found = {}
    for mapping in permutations(range(nodes)):
        common = sum((mapping[one], mapping[other]) in both_ways(there) for one, other in here)
        found[mapping] = ratio * common + sum(prior[node][mapping[node]] for node in range(nodes))
    return found


def posterior(nodes: int, here: Edges, there: Edges, ratio: float, prior: Matrix) -> Matrix:
    """Return the exact chance that each node is each other one, over all mappings."""
    logs = log_weights_of_mappings(nodes, here, there, ratio, prior)
    top = max(logs.values())
    chances: Matrix = [[0.0] * nodes for _ in range(nodes)]
    for mapping, value in logs.items():
        for node, other in enumerate(mapping):
            chances[node][other] += math.exp(value - top)
    return [[cell / sum(row) for cell in row] for row in chances]


def witnesses(nodes: int, here: Edges, there: Edges, chances: Matrix) -> Matrix:
    one, other = both_ways(here), both_ways(there)
    return [
        [
            sum(chances[x][y] for x in range(nodes) for y in range(nodes) if (u, x) in one and (v, y) in other)
            for v in range(nodes)
        ]
        for u in range(nodes)
    ]


def scaled(logs: Matrix, rounds: int) -> Matrix:
    """Return exp(logs) with rows and columns that sum to 1, by Sinkhorn's rounds; rows are scaled last."""
    top = max(max(row) for row in logs)
    weight = [[math.exp(cell - top) for cell in row] for row in logs]
    size = range(len(weight))
    for _ in range(rounds):
        weight = [[cell / sum(row) for cell in row] for row in weight]
        sums = [sum(weight[u][v] for u in size) for v in size]
        weight = [[weight[u][v] / sums[v] for v in size] for u in size]
        if max(abs(each - 1) for each in sums) < 1e-12:
            break
    return [[cell / sum(row) for cell in row] for row in weight]


def worth(nodes: int, here: Edges, there: Edges, chances: Matrix) -> float:
    """Return the log odds ratio of being an edge in both graphs, from the common edges that are expected."""
    seen, pairs = witnesses(nodes, here, there, chances), nodes * nodes / 2
    common = sum(chances[u][v] * seen[u][v] for u in range(nodes) for v in range(nodes)) / 2
    here_only, there_only = len(here) - common + 0.01 * len(there), len(there) - common + 0.01 * len(there)
    both, one, other = common / pairs, here_only / pairs, there_only / pairs
    return min(max(math.log(both * (1 - both - one - other) / (one * other)), 2.0), 14.0)


def heated(nodes: int, here: Edges, there: Edges, heating: Sequence[float], prior: Matrix, rounds: int) -> Matrix:
    """Return the chances after these steps and two more, in which a common edge counts what it is worth by then."""
    chances = scaled(prior, rounds)
    for ratio in (*heating, None, None):
        seen = witnesses(nodes, here, there, chances)
        counts = worth(nodes, here, there, chances) if ratio is None else ratio
        logs = [[counts * seen[u][v] + prior[u][v] for v in range(nodes)] for u in range(nodes)]
        chances = scaled(logs, rounds)
    return chances


def balanced_with_slack(
    logs: Matrix, column: Sequence[float], slack: float, rounds: int, absent: int
) -> tuple[Matrix, list[float]]:
    """Return exp(logs), scaled in so many rounds from these scales of columns, and the chance of being nobody.

    Each row and column has one more cell; those of the rows are scaled to sum to ``absent`` unless that is 0.
    """
    weight = [[math.exp(cell) for cell in row] for row in logs]
    scale, nobody = [math.exp(each) for each in column], math.exp(slack)
    spare = [nobody] * len(weight)
    for _ in range(rounds):
        factor = [
            1 / (sum(w * b for w, b in zip(row, scale, strict=True)) + s) for row, s in zip(weight, spare, strict=True)
        ]
        if absent:
            expected = sum(a * s for a, s in zip(factor, spare, strict=True))
            spare = [s * absent / expected for s in spare]
        scale = [
            1 / (sum(row[v] * a for row, a in zip(weight, factor, strict=True)) + nobody) for v in range(len(scale))
        ]
    factor = [
        1 / (sum(w * b for w, b in zip(row, scale, strict=True)) + s) for row, s in zip(weight, spare, strict=True)
    ]
    chances = [[a * w * b for w, b in zip(row, scale, strict=True)] for row, a in zip(weight, factor, strict=True)]
    return chances, [a * s for a, s in zip(factor, spare, strict=True)]
