"""Dendrograms as sets of sets of leaves: all of them, their log-likelihood by definition, their exact chances."""

from collections.abc import Iterator
from itertools import combinations, product
from math import exp, log

import numpy as np

from unveil.data.graph import Graph
from unveil.protections.graph._dendrogram import Dendrogram

Leaves = frozenset[int]
#: The leaves under each inner node; that says all about a dendrogram, since left and right do not matter.
Clusters = frozenset[Leaves]


def all_dendrograms(leaves: Leaves) -> Iterator[Clusters]:
    """Return every dendrogram over these leaves, once."""
    if len(leaves) == 1:
        yield frozenset()
        return
    least = min(leaves)
    others = sorted(leaves - {least})
    for count in range(len(others)):
        for beside in combinations(others, count):
            one = frozenset({least, *beside})
            for left, right in product(all_dendrograms(one), all_dendrograms(leaves - one)):
                yield left | right | {leaves}


def splits(tree: Clusters) -> Iterator[tuple[Leaves, Leaves]]:
    """Return the two groups of leaves that each inner node joins."""
    for top in tree:
        below = [each for each in tree if each < top]
        left = max(below, key=len, default=frozenset({min(top)}))
        yield left, top - left


def log_likelihood(tree: Clusters, graph: Graph) -> float:
    """Return the sum over inner nodes of e ln p + (N - e) ln(1 - p) with p = e / N and 0 ln 0 = 0."""
    total = 0.0
    for left, right in splits(tree):
        edges = edges_across(left, right, graph)
        pairs = len(left) * len(right)
        for count in (edges, pairs - edges):
            total += count * log(count / pairs) if count else 0.0
    return total


def edges_across(left: Leaves, right: Leaves, graph: Graph) -> int:
    """Return how many edges join the two groups, by looking at every pair."""
    return sum(int(two in graph.neighbours_of(one)) for one in left for two in right)


def exact_chances(graph: Graph, factor: float) -> dict[Clusters, float]:
    """Return the chance of every dendrogram under the exponential mechanism."""
    weights = {
        tree: exp(factor * log_likelihood(tree, graph)) for tree in all_dendrograms(frozenset(range(graph.nodes)))
    }
    total = sum(weights.values())
    return {tree: weight / total for tree, weight in weights.items()}


def clusters_of(tree: Dendrogram) -> Clusters:
    """Return the leaves under each inner node, found by following the children; refuse what is no full binary tree."""
    inner = len(tree.child)
    seen: list[int] = []

    def under(vertex: int) -> Leaves:
        seen.append(vertex)
        if vertex >= inner:
            return frozenset({vertex - inner})
        left, right = (under(int(each)) for each in tree.child[vertex])
        found.add(left | right)
        return left | right

    found: set[Leaves] = set()
    under(0)
    if sorted(seen) != list(range(2 * inner + 1)):
        raise ValueError("some vertex is not in the tree, or twice")
    return frozenset(found)


def check(tree: Dendrogram, graph: Graph) -> None:
    """Compare all that a dendrogram keeps up to date with what follows from its children."""
    clusters_of(tree)
    inner = len(tree.child)
    np.testing.assert_array_equal(tree.order[tree.place], np.arange(inner + 1))
    leaves: dict[int, Leaves] = {inner + node: frozenset({node}) for node in range(inner + 1)}
    for vertex in np.argsort(tree.size[:inner], kind="stable").tolist():
        left, right = tree.child[vertex].tolist()
        assert tree.parent[left] == tree.parent[right] == vertex
        leaves[vertex] = leaves[left] | leaves[right]
        edges, pairs = edges_across(leaves[left], leaves[right], graph), len(leaves[left]) * len(leaves[right])
        assert tree.edges[vertex] == edges
        part = sum(count * log(count / pairs) for count in (edges, pairs - edges) if count)
        np.testing.assert_allclose(tree.score[vertex], part, atol=1e-9)
    for vertex, under in leaves.items():
        assert tree.size[vertex] == len(under)
        assert tree.ends[vertex] == graph.degrees[sorted(under)].sum()
        begin = tree.place[tree.first[vertex]]
        assert set(tree.order[begin : begin + len(under)].tolist()) == under
