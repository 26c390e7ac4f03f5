"""Weighted PINQ by its rules, record by record, and the best staircase by trying all."""

from collections import defaultdict
from collections.abc import Callable, Hashable
from itertools import combinations, combinations_with_replacement
from typing import Any

import numpy as np

from unveil.data.graph import Graph

Weighted = dict[Any, float]


def directed(graph: Graph) -> Weighted:
    """Return both directions of every edge, with weight 1 each."""
    one, other = graph.ends
    pairs = list(zip(one.tolist(), other.tolist(), strict=True))
    return dict.fromkeys([*pairs, *((other, one) for one, other in pairs)], 1.0)


def select(records: Weighted, make: Callable[[Any], Hashable]) -> Weighted:
    """Return what is made of each record; weights of equal results add up."""
    made: Weighted = defaultdict(float)
    for record, weight in records.items():
        made[make(record)] += weight
    return dict(made)


def where(records: Weighted, keep: Callable[[Any], bool]) -> Weighted:
    """Return some of the records."""
    return {record: weight for record, weight in records.items() if keep(record)}


def join(left: Weighted, right: Weighted, by: tuple[Any, Any], make: Callable[[Any, Any], Hashable]) -> Weighted:
    """Return pairs of records with the same key; a weight is the product, divided by the sum of all under the key."""
    sides: dict[Any, tuple[list[Any], list[Any]]] = defaultdict(lambda: ([], []))
    for side, (records, key) in enumerate(zip((left, right), by, strict=True)):
        for item in records.items():
            sides[key(item[0])][side].append(item)
    made: Weighted = defaultdict(float)
    for one, other in sides.values():
        norm = sum(weight for _, weight in one) + sum(weight for _, weight in other)
        for a, weight in one:
            for b, more in other:
                made[make(a, b)] += weight * more / norm
    return dict(made)


def shave(records: Weighted) -> Weighted:
    """Return slices of weight 1 of each record, each named by its number alone."""
    made: Weighted = defaultdict(float)
    for weight in records.values():
        for number in range(round(weight)):
            made[number] += 1.0
    return dict(made)


def degrees_of(edges: Weighted) -> Weighted:
    """Return (node, degree) with weight 1/2: what grouping records of weight 1 leaves."""
    return dict.fromkeys(select(edges, lambda edge: edge[0]).items(), 0.5)


def joint_degrees(graph: Graph) -> Weighted:
    """Return the weight of each unordered pair of degrees."""
    edges = directed(graph)
    known = join(edges, degrees_of(edges), (lambda e: e[0], lambda d: d[0]), lambda e, d: (e, d[1]))
    both = join(known, known, (lambda k: k[0], lambda k: k[0][::-1]), lambda one, other: (one[1], other[1]))
    return select(both, lambda pair: tuple(sorted(pair)))


def triangles(graph: Graph, *, loops: bool = False) -> Weighted:
    """Return the weight of each unordered triple of degrees; ``loops`` keeps ways from a node and back to it."""
    edges = directed(graph)
    ways = join(edges, edges, (lambda e: e[1], lambda e: e[0]), lambda one, other: (*one, other[1]))
    ways = where(ways, lambda way: loops or way[0] != way[2])
    known = join(ways, degrees_of(edges), (lambda w: w[1], lambda d: int(d[0])), lambda w, d: (w, d[1]))
    turned = select(known, lambda k: ((k[0][1], k[0][2], k[0][0]), k[1]))
    again = select(known, lambda k: ((k[0][2], k[0][0], k[0][1]), k[1]))
    way = (lambda k: k[0], lambda k: k[0])
    two = join(known, turned, way, lambda one, other: (one[0], (one[1], other[1])))
    three = join(two, again, way, lambda one, other: tuple(sorted((*one[1], other[1]))))
    return select(three, lambda triple: triple)


def change(one: Weighted, other: Weighted) -> float:
    """Return the sum of the differences of two weighted sets."""
    return sum(abs(one.get(record, 0.0) - other.get(record, 0.0)) for record in {*one, *other})


def with_one_edge_more(graph: Graph) -> list[Graph]:
    """Return all graphs that have one edge more."""
    keys = set(graph.keys.tolist())
    nodes = graph.nodes
    new = [a * nodes + b for a, b in combinations(range(nodes), 2) if a * nodes + b not in keys]
    return [Graph.from_keys(np.array(sorted({*keys, key}), np.int64), nodes) for key in new]


def staircase_cost(heights: list[int], above: list[float], sequence: list[float]) -> float:
    """Return how far whole degrees are from both noisy views."""
    wide = [sum(height > i for height in heights) for i in range(len(above))]
    pairs = [*zip(above, wide, strict=True), *zip(sequence, heights, strict=True)]
    return sum(abs(seen - fitted) for seen, fitted in pairs)


def best_staircase_cost(above: list[float], sequence: list[float]) -> float:
    """Return the least cost of all non-increasing whole degrees."""
    tried = combinations_with_replacement(range(len(above), -1, -1), len(sequence))
    return min(staircase_cost(list(heights), above, sequence) for heights in tried)


def is_graphical(degrees: list[int]) -> bool:
    """Return whether a simple graph has these degrees (Erdős and Gallai); non-increasing."""
    return sum(degrees) % 2 == 0 and all(
        sum(degrees[:k]) <= k * (k - 1) + sum(min(degree, k) for degree in degrees[k:])
        for k in range(1, len(degrees) + 1)
    )
