"""Membership by its definition: rows compared one by one in fractions, ties broken in every way, pairs counted."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm
from typing import Any

import numpy as np
import polars as pl

from tests.oracles.records import Distance, Row, Rows, exact
from unveil._kernels.types import FloatArray


@dataclass(frozen=True)
class Ranged(Distance):
    """The distance of rows with the ranges looked up once; ``unit`` is the largest step that all are multiples of."""

    @cached_property
    def spans(self) -> list[Fraction]:
        return [super(Ranged, self).span(place) for place in range(2)]

    def span(self, place: int) -> Fraction:
        return self.spans[place]

    @cached_property
    def unit(self) -> Fraction:
        """What a unit of the exact grid is; the numbers of the first two columns have at most one decimal."""
        steps = []
        for place, span in enumerate(self.spans):
            values = [exact(row[place]) for row in self.original + self.released if row[place] is not None]
            if span:
                steps.append(int(10 * span) // gcd(*(int(10 * (value - min(values))) for value in values)))
        return Fraction(1, lcm(*steps))


def closest(distance: Ranged, person: Row, released: Rows) -> Fraction:
    """Return minus the distance of the nearest released row, as a share of the columns."""
    return -min(distance(person, row) for row in released) / len(person)


def density_ratio(distance: Ranged, person: Row, released: Rows, population: Rows, k: int) -> Fraction:
    """Return the distance of the k-th nearest of the population over that of the nearest released row."""
    near, apart = (sorted(distance(person, row) for row in rows) for rows in (released, population))
    return max(apart[k - 1], distance.unit / 2) / max(near[0], distance.unit / 2)


def chance(score: Fraction, reference: Sequence[Fraction], level: Fraction) -> Fraction:
    """Return the chance to be among the highest ``level`` of all, over every place that ties leave to the person.

    With a level of 5 % and 30 people in all, the first place is called for sure and the second with a chance of a half.
    """
    places = level * (len(reference) + 1)
    above, alike = sum(other > score for other in reference), sum(other == score for other in reference)
    possible = range(above, above + alike + 1)
    return sum((min(max(places - place, Fraction(0)), Fraction(1)) for place in possible), Fraction(0)) / len(possible)


def area(members: Sequence[float], nonmembers: Sequence[float]) -> Fraction:
    """Return the share of pairs in which the member is higher, a tie being half a pair."""
    won = sum(2 * (one > other) + (one == other) for one in members for other in nonmembers)
    return Fraction(won, 2 * len(members) * len(nonmembers))


def pointed_out(members: Sequence[float], nonmembers: Sequence[float], error: Fraction) -> list[bool]:
    """Return who is named: the r highest for the largest r at which p of the r-th is at most error * r / members."""

    def p(score: float) -> Fraction:
        return Fraction(1 + sum(other >= score for other in nonmembers), 1 + len(nonmembers))

    ranked = sorted(members, reverse=True)
    most = max((r for r in range(1, len(ranked) + 1) if p(ranked[r - 1]) <= error * r / len(ranked)), default=0)
    return [bool(most) and score >= ranked[most - 1] for score in members]


def called_members(
    original: pl.DataFrame, control: pl.DataFrame, released: pl.DataFrame, method: str, share: float
) -> FloatArray:
    """Return the chance of everybody to be called a member: people of whole numbers and texts, distances in fractions.

    Numbers are compared by their part of the range of all three tables, texts by 0 and 1.
    """
    people, rows = pl.concat([original, control]).rows(), released.rows()
    every = [*people, *rows]
    span = [max(c) - min(c) if not isinstance(c[0], str) else None for c in zip(*every, strict=True)]
    # In units in which a whole range of any column is the same whole number.
    whole = lcm(*(each for each in span if each))

    def far(one: tuple[Any, ...], other: tuple[Any, ...]) -> int:
        apart = zip(one, other, span, strict=True)
        return sum((a != b) * whole if wide is None else abs(a - b) * (whole // wide) for a, b, wide in apart)

    scores = [Fraction(-min(far(person, row) for row in rows)) for person in people]
    if method == "density":
        soft = Fraction(whole, 50)
        others = [min(far(a, b) for j, b in enumerate(people) if i != j) for i, a in enumerate(people)]
        scores = [-(-near + soft) / (other + soft) for near, other in zip(scores, others, strict=True)]
    places = Fraction(str(share)) * len(scores)
    found = []
    for score in scores:
        above, alike = sum(other > score for other in scores), sum(other == score for other in scores)
        found.append(min(max((places - above) / alike, Fraction(0)), Fraction(1)))
    return np.array([float(each) for each in found])
