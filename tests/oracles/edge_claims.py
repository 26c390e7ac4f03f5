"""What an adversary claims about edges and values after a mapping, and how often: every pair, one after the other."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations
from math import fsum, log

Edges = set[frozenset[int]]
Chances = Sequence[Mapping[int, float]]


def claimed_by_mapping(released: Edges, known: Edges, partner: Sequence[int], nodes: int) -> Edges:
    """Return the pairs of auxiliary nodes that are not known to be joined and have joined released partners."""
    claims = set()
    for one, other in combinations(range(nodes), 2):
        here = [u for u, v in enumerate(partner) if v == one]
        there = [u for u, v in enumerate(partner) if v == other]
        joined = any(frozenset((u, w)) in released for u in here for w in there)
        if joined and frozenset((one, other)) not in known:
            claims.add(frozenset((one, other)))
    return claims


def chances_of_edges(
    released: Edges, known: Edges, chances: Chances, nodes: int, original_share: float, least: float
) -> dict[frozenset[int], float]:
    """Return the chance of each pair that is not known to be joined; chances below ``least`` are not counted."""
    kept = [{v: p for v, p in row.items() if p >= least} for row in chances]
    found = {}
    for one, other in combinations(range(nodes), 2):
        terms = []
        for edge in released:
            u, w = sorted(edge)
            terms.append(kept[u].get(one, 0.0) * kept[w].get(other, 0.0))
            terms.append(kept[w].get(one, 0.0) * kept[u].get(other, 0.0))
        if frozenset((one, other)) not in known:
            found[frozenset((one, other))] = min(1.0, fsum(terms) * original_share)
    return found


def right_by_lot(scores: Mapping[frozenset[int], float], hidden: Edges, number: int) -> float:
    """Return how many of the ``number`` pairs with the highest scores are hidden edges, ties by lot on average."""
    left, right = float(number), 0.0
    for value in sorted(set(scores.values()), reverse=True):
        tied = [pair for pair, score in scores.items() if score == value]
        share = min(left / len(tied), 1.0)
        right += share * sum(pair in hidden for pair in tied)
        left -= share * len(tied)
        if left <= 0:
            break
    return right


def adamic_adar(known: Edges, nodes: int) -> dict[frozenset[int], float]:
    """Return the score of each pair that is not joined; rounded, so that equal sums in another order are equal."""
    near: list[set[int]] = [set().union(*(edge for edge in known if node in edge)) - {node} for node in range(nodes)]
    return {
        frozenset(pair): round(fsum(sorted(1 / log(len(near[m])) for m in near[pair[0]] & near[pair[1]])), 6)
        for pair in combinations(range(nodes), 2)
        if frozenset(pair) not in known
    }


def degree_products(known: Edges, nodes: int) -> dict[frozenset[int], float]:
    """Return the product of both degrees of each pair that is not joined."""
    degree = Counter(node for edge in known for node in edge)
    pairs = map(frozenset, combinations(range(nodes), 2))
    return {pair: float(degree[min(pair)] * degree[max(pair)]) for pair in pairs if pair not in known}


def shared_node_variance(claims: Sequence[frozenset[int]], right: Sequence[bool]) -> float:
    """Return the variance of the share of right claims if those that share a node, and only those, go together."""
    mean = sum(right) / len(right)
    pairs = [(a, b) for a in range(len(claims)) for b in range(len(claims)) if claims[a] & claims[b]]
    return fsum((right[a] - mean) * (right[b] - mean) for a, b in pairs) / len(claims) ** 2


def value_chances(chances: Chances, values: Sequence[int], nodes: int, number: int) -> list[list[float]]:
    """Return for each auxiliary node and value the sum of the chances of the released nodes that have it."""
    return [
        [
            fsum(row.get(node, 0.0) for row, held in zip(chances, values, strict=True) if held == value)
            for value in range(number)
        ]
        for node in range(nodes)
    ]


def own_values(known: Edges, held: Mapping[int, int], values: Sequence[int], nodes: int, number: int) -> list[set[int]]:
    """Return the values that are commonest among the neighbours of each node whose value is known, else among all."""
    overall = Counter(value for value in values if value >= 0)
    found = []
    for node in range(nodes):
        near = Counter(held[other] for other in range(nodes) if frozenset((node, other)) in known and other in held)
        counted = near or overall
        found.append({value for value in range(number) if counted[value] == max(counted.values())})
    return found
