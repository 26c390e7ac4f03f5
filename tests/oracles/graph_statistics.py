"""Statistics of a small graph from their definitions: sets of neighbours, all triples, all shortest paths."""

from collections import Counter
from itertools import combinations
from math import inf, isinf, nan

from unveil.data.graph import Graph


def neighbours(graph: Graph) -> list[set[int]]:
    """Return the set of neighbours of each node."""
    return [{int(other) for other in graph.neighbours_of(node)} for node in range(graph.nodes)]


def edges(graph: Graph) -> set[tuple[int, int]]:
    """Return the edges, smaller end first."""
    return {(node, other) for node, row in enumerate(neighbours(graph)) for other in row if node < other}


def distances(graph: Graph) -> list[list[float]]:
    """Return all distances by Floyd and Warshall; infinite where there is no path."""
    near = neighbours(graph)
    far = [[0.0 if i == j else 1.0 if j in near[i] else inf for j in range(graph.nodes)] for i in range(graph.nodes)]
    for middle in range(graph.nodes):
        for i in range(graph.nodes):
            for j in range(graph.nodes):
                far[i][j] = min(far[i][j], far[i][middle] + far[middle][j])
    return far


def components(graph: Graph) -> set[frozenset[int]]:
    """Return the connected parts."""
    far = distances(graph)
    return {frozenset(j for j in range(graph.nodes) if not isinf(far[i][j])) for i in range(graph.nodes)}


def largest_component_paths(graph: Graph) -> tuple[float, float]:
    """Return the diameter and the average path of the largest component, or of all that are the largest."""
    far = distances(graph)
    parts = components(graph)
    size = max(map(len, parts), default=0)
    steps = [far[i][j] for part in parts if len(part) == size for i, j in combinations(sorted(part), 2)]
    return (max(steps), sum(steps) / len(steps)) if steps else (nan, nan)


def triangles(graph: Graph) -> list[int]:
    """Return in how many triangles each node is."""
    near = neighbours(graph)
    inside = [0] * graph.nodes
    for one, two, three in combinations(range(graph.nodes), 3):
        if two in near[one] and three in near[one] and three in near[two]:
            for node in (one, two, three):
                inside[node] += 1
    return inside


def clustering(graph: Graph) -> float:
    """Return the share of pairs of neighbours that are connected."""
    near = neighbours(graph)
    closed = [other in near[one] for row in near for one, other in combinations(sorted(row), 2)]
    return sum(closed) / len(closed) if closed else nan


def joint_degrees(graph: Graph) -> Counter[tuple[int, int]]:
    """Return how many edges join each pair of degrees, the lower first."""
    degree = [len(row) for row in neighbours(graph)]
    return Counter((min(degree[i], degree[j]), max(degree[i], degree[j])) for i, j in edges(graph))


def assortativity(graph: Graph) -> float:
    """Return Pearson's correlation of the degrees at both ends, every edge in both directions."""
    degree = [len(row) for row in neighbours(graph)]
    ends = [(degree[i], degree[j]) for i, j in edges(graph)]
    ends += [(other, one) for one, other in ends]
    if len({one for one, _ in ends}) < 2:
        return nan
    mean = sum(one for one, _ in ends) / len(ends)
    spread = sum((one - mean) ** 2 for one, _ in ends)
    return sum((one - mean) * (other - mean) for one, other in ends) / spread


def gini(graph: Graph) -> float:
    """Return half the mean difference of two nodes' degrees, over the mean degree."""
    degree = [len(row) for row in neighbours(graph)]
    if sum(degree) == 0:
        return nan
    return sum(abs(one - other) for one in degree for other in degree) / (2 * len(degree) * sum(degree))


def closeness(graph: Graph) -> list[float]:
    """Return the share of other nodes reached over the mean distance to them."""
    values = []
    for node, row in enumerate(distances(graph)):
        steps = [step for other, step in enumerate(row) if other != node and not isinf(step)]
        values.append(len(steps) / (graph.nodes - 1) / (sum(steps) / len(steps)) if steps else 0.0)
    return values


def path_counts(graph: Graph) -> list[list[int]]:
    """Return how many shortest paths there are between any two nodes."""
    near, far = neighbours(graph), distances(graph)
    counts = [[0] * graph.nodes for _ in range(graph.nodes)]
    for i in range(graph.nodes):
        counts[i][i] = 1
        for j in sorted(range(graph.nodes), key=lambda other: far[i][other]):
            if j != i and not isinf(far[i][j]):
                counts[i][j] = sum(counts[i][k] for k in near[j] if far[i][k] + 1 == far[i][j])
    return counts


def betweenness(graph: Graph, sources: set[int] | None = None) -> list[float]:
    """Return the sum over unordered pairs of the share of their shortest paths through each node.

    With sources: over ordered pairs that begin at one, scaled as if all nodes were sources, and halved.
    """
    far, counts = distances(graph), path_counts(graph)
    begin = set(range(graph.nodes)) if sources is None else sources
    values = [0.0] * graph.nodes
    for i in begin:
        for j in range(graph.nodes):
            for middle in range(graph.nodes):
                if i == j or isinf(far[i][j]) or middle in (i, j) or far[i][middle] + far[middle][j] != far[i][j]:
                    continue
                values[middle] += counts[i][middle] * counts[middle][j] / counts[i][j]
    return [value * graph.nodes / len(begin) / 2 for value in values] if begin else values


def earth_movers(one: list[int], other: list[int]) -> float:
    """Return the mean distance between two samples: repeat each to the same size and pair them by rank."""
    longer = sorted(one * len(other)), sorted(other * len(one))
    return sum(abs(a - b) for a, b in zip(*longer, strict=True)) / len(longer[0])
