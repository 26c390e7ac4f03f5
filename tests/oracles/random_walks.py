"""How likely each outcome of the random walk protection is, by the definition, for graphs of a few nodes."""

from fractions import Fraction
from functools import cache

Edges = frozenset[frozenset[int]]
Chances = dict[Edges, Fraction]


def walk_outcomes(neighbours: dict[int, tuple[int, ...]], distance: int, retries: int) -> Chances:
    """Return the probability of each set of edges, where nodes and their neighbours take turns in random order."""

    @cache
    def ends(start: int) -> dict[int, Fraction]:
        chances = {start: Fraction(1)}
        for _ in range(distance - 1):
            moved: dict[int, Fraction] = {}
            for node, chance in chances.items():
                for other in neighbours[node]:
                    moved[other] = moved.get(other, Fraction(0)) + chance / len(neighbours[node])
            chances = moved
        return chances

    def new_ends(node: int, start: int, edges: Edges) -> dict[int, Fraction]:
        """Return how likely each new end is after all retries; what is missing to 1 is the chance of none."""
        good = {end: chance for end, chance in ends(start).items() if end != node and {node, end} not in edges}
        one_try = sum(good.values(), Fraction(0))
        found = 1 - (1 - one_try) ** retries
        return {end: chance / one_try * found for end, chance in good.items()}

    @cache
    def of_node(node: int, left: frozenset[int], found: int, edges: Edges) -> Chances:
        if not left:
            return {edges: Fraction(1)}
        degree = len(neighbours[node])
        total: Chances = {}
        for start in left:
            rest = left - {start}
            chances = new_ends(node, start, edges)
            _add(total, of_node(node, rest, found, edges), (1 - sum(chances.values(), Fraction(0))) / len(left))
            for end, chance in chances.items():
                joins = Fraction(1) if found == 0 else (Fraction(degree, 2) - 1) / (degree - 1)
                joined = of_node(node, rest, found + 1, edges | {frozenset({node, end})})
                _add(total, joined, chance * joins / len(left))
                _add(total, of_node(node, rest, found + 1, edges), chance * (1 - joins) / len(left))
        return total

    @cache
    def of_all(left: frozenset[int], edges: Edges) -> Chances:
        if not left:
            return {edges: Fraction(1)}
        total: Chances = {}
        for node in left:
            for after, chance in of_node(node, frozenset(neighbours[node]), 0, edges).items():
                _add(total, of_all(left - {node}, after), chance / len(left))
        return total

    return of_all(frozenset(neighbours), frozenset())


def _add(total: Chances, chances: Chances, weight: Fraction) -> None:
    if weight:
        for edges, chance in chances.items():
            total[edges] = total.get(edges, Fraction(0)) + chance * weight
