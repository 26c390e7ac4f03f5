"""Which sets of variables must be looked at together, so that what fits each of them comes from one population."""

from collections.abc import Iterable
from itertools import combinations

Sets = tuple[tuple[int, ...], ...]


def largest_only(sets: Iterable[Iterable[int]]) -> Sets:
    """Return the sets that no other contains, each once, in a fixed order.

    >>> largest_only([(0, 1), (1,), (1, 2), (0, 1)])
    ((0, 1), (1, 2))
    """
    every = sorted({tuple(sorted(set(each))) for each in sets})
    return tuple(each for each in every if not any(set(each) < set(other) for other in every))


def is_acyclic(sets: Iterable[Iterable[int]]) -> bool:
    """Return whether the sets can be taken away one by one, each sharing with one other what it shares with any.

    Exactly then whole-number tables that agree on shared margins always come from one population (Atserias and
    Kolaitis, 2021).

    >>> is_acyclic([(0, 1), (1, 2)]), is_acyclic([(0, 1), (1, 2), (0, 2)])
    (True, False)
    """
    left = [set(each) for each in largest_only(sets)]
    changed = True
    while changed and len(left) > 1:
        changed = False
        for one in left:
            others = [each for each in left if each is not one]
            shared = one & set().union(*others)
            if any(shared <= other for other in others):
                left, changed = others, True
                break
    return len(left) <= 1


def triangulated(sets: Iterable[Iterable[int]]) -> Sets:
    """Return the cliques of a graph without long circles that has all pairs of the sets: by least fill, then by number.

    >>> triangulated([(0, 1), (1, 2), (2, 3), (0, 3)])
    ((0, 1, 3), (1, 2, 3))
    """
    sets = largest_only(sets)
    beside: dict[int, set[int]] = {variable: set() for each in sets for variable in each}
    for each in sets:
        for one, other in combinations(each, 2):
            beside[one].add(other)
            beside[other].add(one)
    cliques = []
    while beside:
        variable = min(beside, key=lambda each: (_fill(beside, each), each))
        near = beside.pop(variable)
        cliques.append((variable, *near))
        for one, other in combinations(near, 2):
            beside[one].add(other)
            beside[other].add(one)
        for other in near:
            beside[other].discard(variable)
    return largest_only(cliques)


def cover(sets: Iterable[Iterable[int]]) -> Sets:
    """Return the sets of variables to look at: the given ones where they are acyclic, else those of a triangulation."""
    given = largest_only(sets)
    return given if is_acyclic(given) else triangulated(given)


def _fill(beside: dict[int, set[int]], variable: int) -> int:
    return sum(other not in beside[one] for one, other in combinations(beside[variable], 2))
