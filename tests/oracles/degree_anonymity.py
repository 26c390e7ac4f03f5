"""Degrees that k nodes share, by trying everything: slow and obvious."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, product

import numpy as np

from tests.oracles.masking import partitions
from unveil.data.graph import Graph


def all_graphs(nodes: int) -> Iterator[Graph]:
    """Return every graph on that many numbered nodes."""
    pairs = list(combinations(range(nodes), 2))
    for chosen in product([False, True], repeat=len(pairs)):
        edges = [pair for pair, taken in zip(pairs, chosen, strict=True) if taken]
        yield Graph.from_edges([one for one, _ in edges], [other for _, other in edges], nodes=nodes)


def is_shared(degrees: Sequence[int], k: int) -> bool:
    return min(Counter(degrees).values()) >= k


def least_raise(degrees: Sequence[int], k: int) -> int:
    """Return the least sum by which degrees rise if groups of at least k, made in any way, get their largest one."""
    return min(
        sum(max(degrees[node] for node in group) - degrees[node] for group in groups for node in group)
        for groups in partitions(range(len(degrees)), k)
    )


def least_even_raise(degrees: Sequence[int], k: int) -> int:
    """Return the least sum by which degrees rise to any that k nodes share and whose sum is even."""
    above = [range(degree, len(degrees)) for degree in degrees]
    return min(sum(to) - sum(degrees) for to in product(*above) if sum(to) % 2 == 0 and is_shared(to, k))


def best_rounding(size: Sequence[int], rest: Sequence[int]) -> tuple[int, float] | None:
    """Return the least even change of the sum of degrees, and the least squares with it; None if all are odd."""
    best = None
    for up in product([False, True], repeat=len(size)):
        if any(rounded and not left for rounded, left in zip(up, rest, strict=True)):
            continue
        found = rounding_cost(size, rest, up)
        if found[0] % 2 == 0 and (best is None or found < best):
            best = found
    return best


def rounding_cost(size: Sequence[int], rest: Sequence[int], up: Sequence[bool]) -> tuple[int, float]:
    """Return by how much the sum of degrees changes, and the squares of the distances to the means."""
    change, squares = 0, 0.0
    for count, left, rounded in zip(size, rest, up, strict=True):
        change += count - left if rounded else -left
        squares += count * (left / count - rounded) ** 2
    return abs(change), round(squares, 9)


def centrality(graph: Graph, one: int, other: int) -> float:
    """Return the neighbourhood centrality of a pair of nodes."""
    first, second = (set(graph.neighbours_of(node).tolist()) for node in (one, other))
    return float((len(first | second) - len(first & second)) / (2 * np.max(graph.degrees)))
