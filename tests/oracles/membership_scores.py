"""The ten membership scores by their formulas: people, released rows and the population compared one by one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from math import exp, gcd, lcm, log, log1p
from statistics import median
from typing import Any

Row = Sequence[Any]

#: A released cell that stands for several values: it equals none.
OPEN = object()


def plain_distance(everybody: Sequence[Row]) -> tuple[Callable[[Row, Row], Fraction], Fraction]:
    """Return the distance of two rows of exact values, and the least difference that there can be.

    A number counts as a share of the range over everybody; its values are whole multiples of a tenth.
    """
    spans, steps = [], [1]
    for column in zip(*everybody, strict=True):
        numbers = [Fraction(str(each)) for each in column if each is not None and not isinstance(each, str)]
        span = max(numbers) - min(numbers) if numbers else Fraction(0)
        spans.append(span)
        if span:
            steps.append(int(10 * span) // gcd(*(int(10 * (each - min(numbers))) for each in numbers)))

    def far(one: Row, other: Row) -> Fraction:
        total = Fraction(0)
        for x, y, span in zip(one, other, spans, strict=True):
            if x is None or y is None or isinstance(x, str):
                total += x != y
            elif span:
                total += abs(Fraction(str(x)) - Fraction(str(y))) / span
        return total

    return far, Fraction(1, lcm(*steps))


@dataclass(frozen=True)
class Definition:
    """Everything that the formulas speak of.

    ``released`` shows exact values or `OPEN`; ``to_row(person, place)`` is how far a person is from a released row and
    ``between`` how far two people are; ``unit`` is the least difference there can be; ``bins`` says for each number
    column, by its place, in how many bins its values fall at most.
    """

    released: Sequence[Row]
    population: Sequence[Row]
    people: Sequence[Row]
    to_row: Callable[[Row, int], Fraction]
    between: Callable[[Row, Row], Fraction]
    unit: Fraction
    numbers: Sequence[int]

    def logarithm(self, distance: Fraction) -> float:
        return log(max(distance, self.unit / 2))

    @cached_property
    def columns(self) -> list[int]:
        """The columns that show an exact value at all."""
        return [at for at in range(len(self.people[0])) if any(row[at] is not OPEN for row in self.released)]

    def near(self, person: Row) -> list[int]:
        """The rows at most as far as the twentieth."""
        far = [self.to_row(person, place) for place in range(len(self.released))]
        edge = sorted(far)[:20][-1]
        return [place for place, each in enumerate(far) if each <= edge]

    def nearest(self, person: Row) -> float:
        return -float(min(self.to_row(person, place) for place in range(len(self.released)))) / len(person)

    def density(self, person: Row) -> float:
        crowd = sorted(self.between(person, other) for other in self.population)[:5][-1]
        return self.logarithm(crowd) - self.logarithm(
            min(self.to_row(person, place) for place in range(len(self.released)))
        )

    def relative(self, person: Row) -> float:
        def lead(place: int) -> float:
            outsider = min(self.to_row(other, place) for other in self.population)
            return self.logarithm(outsider) - self.logarithm(self.to_row(person, place))

        return max(map(lead, self.near(person)))

    @cached_property
    def width(self) -> Fraction:
        apart = [min(self.between(person, other) for other in self.population) for person in self.people]
        if median(apart) == 0:
            apart = [each for each in apart if each > 0] or [Fraction(1)]
        return Fraction(median(apart)) / 4

    def influence(self, person: Row) -> float:
        def kernel(other: Row, place: int) -> float:
            return exp(-self.to_row(other, place) / self.width)

        return sum(
            log1p(kernel(person, place) / sum(kernel(other, place) for other in self.population))
            for place in self.near(person)
        )

    def coarse(self, value: Any, column: int) -> Any:
        """Return the bin of a number: how many of the quantiles of release and population it reaches."""
        if column not in self.numbers or value is None or value is OPEN:
            return value
        seen = sorted(row[column] for row in [*self.released, *self.population] if row[column] not in (None, OPEN))
        edges = {seen[place * len(seen) // 16] for place in range(1, 16)} if seen else set()
        return sum(edge <= value for edge in edges)

    @cached_property
    def in_bins(self) -> "Definition":
        def rows(table: Sequence[Row]) -> list[Row]:
            return [tuple(self.coarse(value, at) for at, value in enumerate(row)) for row in table]

        parts = rows(self.released), rows(self.population), rows(self.people)
        return Definition(*parts, self.to_row, self.between, self.unit, self.numbers)

    def counted(self, person: Row, size: int) -> float:
        """Return the mean over all sets of so many columns of the logarithm of two shares."""
        sets = list(combinations(self.columns, min(size, len(self.columns)))) if self.columns else []

        def share(rows: Sequence[Row], some: Sequence[int]) -> float:
            return (sum(all(row[at] == person[at] for at in some) for row in rows) + 0.5) / len(rows)

        each = [log(share(self.released, some)) - log(share(self.population, some)) for some in sets]
        return sum(each) / len(each) if each else 0.0

    def agreement(self, person: Row) -> float:
        def weight(at: int) -> int:
            count = sum(row[at] == person[at] for row in self.population)
            return round(-(2**20) * log((count + 0.5) / (len(self.population) + 1)))

        def best(rows: Sequence[Row]) -> int:
            return max(sum(weight(at) for at in self.columns if row[at] == person[at]) for row in rows)

        return (best(self.released) - best(self.population)) / 2**20

    def scores(self, person: Row, binned: Row) -> dict[str, float]:
        """Return all ten of a person, who is given once more with numbers in bins."""
        return {
            "nearest": self.nearest(person),
            "density": self.density(person),
            "relative": self.relative(person),
            "influence": self.influence(person),
            "values": self.counted(person, 1),
            "pairs": self.counted(person, 2),
            "quadruples": self.counted(person, 4),
            "agreement": self.agreement(person),
            "likeness": self.in_bins.agreement(binned),
            "cells": self.in_bins.counted(binned, 5),
        }

    def every(self) -> list[dict[str, float]]:
        return [self.scores(*pair) for pair in zip(self.people, self.in_bins.people, strict=True)]
