"""How likely each outcome of a few switches is, by the definition: all draws that fit are equally likely."""

from fractions import Fraction
from itertools import permutations

Edges = frozenset[frozenset[int]]


def switch_outcomes(edges: Edges, switches: int) -> dict[Edges, Fraction]:
    """Return the probability of each set of edges after so many switches; where none fits, the edges stay."""
    states = {(edges, edges): Fraction(1)}
    for _ in range(switches):
        after: dict[tuple[Edges, Edges], Fraction] = {}
        for (current, pool), probability in states.items():
            fits = list(_fitting(edges, current, pool)) or [(current, pool)]
            for state in fits:
                after[state] = after.get(state, Fraction(0)) + probability / len(fits)
        states = after
    outcomes: dict[Edges, Fraction] = {}
    for (current, _), probability in states.items():
        outcomes[current] = outcomes.get(current, Fraction(0)) + probability
    return outcomes


def _fitting(original: Edges, current: Edges, pool: Edges) -> list[tuple[Edges, Edges]]:
    found = []
    for first, second in permutations(pool, 2):
        for t, w in permutations(first):
            for u, v in permutations(second):
                new = {frozenset({t, v}), frozenset({u, w})}
                if len({t, w, u, v}) == 4 and not new & (original | current):
                    found.append(((current - {first, second}) | new, pool - {first, second}))
    return found
