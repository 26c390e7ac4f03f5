"""Two tables compared person by person: means, equal people, pairs of neighbours."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import sqrt
from statistics import fmean, pstdev


def difference(labels: Sequence[int], feature: Sequence[float]) -> float:
    """Return the difference of the means of members and others in standard errors."""
    inside = [value for value, label in zip(feature, labels, strict=True) if label]
    outside = [value for value, label in zip(feature, labels, strict=True) if not label]
    if len(set(feature)) == 1:
        return 0.0
    return (fmean(inside) - fmean(outside)) / pstdev(feature) / sqrt(1 / len(inside) + 1 / len(outside))


def places(values: Sequence[int | None]) -> list[Fraction]:
    """Return the place of each value among all, from -1 to 1, equal ones in the middle of theirs; 0 for None."""
    known = [value for value in values if value is not None]
    return [
        Fraction(sum(other < value for other in known) - sum(other > value for other in known), len(known))
        if value is not None
        else Fraction(0)
        for value in values
    ]


def others_like_members(labels: Sequence[int], people: Sequence[set[int]]) -> int:
    """Return how many others have a record that a member has."""
    members = set().union(*(person for person, label in zip(people, labels, strict=True) if label))
    return sum(bool(person & members) for person, label in zip(people, labels, strict=True) if not label)


def near_pairs(distance: Sequence[Sequence[int]]) -> set[tuple[int, int]]:
    """Return the pairs who are each other's only nearest, at most half as far as the next of either."""

    def is_lone(one: int, other: int) -> bool:
        rest = [distance[one][k] for k in range(len(distance)) if k not in (one, other)]
        return all(distance[one][other] < far and 2 * distance[one][other] <= far for far in rest)

    return {
        (one, other)
        for one, other in combinations(range(len(distance)), 2)
        if is_lone(one, other) and is_lone(other, one)
    }
