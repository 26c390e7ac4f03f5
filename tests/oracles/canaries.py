"""Canaries by their definition: what rows put together must keep, and how much a release speaks for each of them."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations
from math import log
from typing import Any

Row = Sequence[Any]
Pair = tuple[int, int]


def holds(row: Row, canary: Row, pair: Pair) -> bool:
    """Return whether a row shows the two values that a canary has in a pair of columns."""
    return all(row[at] == canary[at] for at in pair)


def plantable(people: Sequence[Row], columns: Sequence[int]) -> dict[Pair, set[tuple[Any, Any]]]:
    """Return for each pair of columns the values, one of each column and none missing, that nobody has together."""
    values = {at: {row[at] for row in people} - {None} for at in columns}
    return {
        (one, two): {(x, y) for x in values[one] for y in values[two]} - {(row[one], row[two]) for row in people}
        for one, two in combinations(sorted(columns), 2)
    }


def broken_promises(
    people: Sequence[Row], columns: Sequence[int], canaries: Sequence[Row], pairs: Sequence[Pair]
) -> Iterator[str]:
    """Yield what is wrong with canaries, whose planted values stand in pairs of columns."""
    free = plantable(people, columns)
    for canary, pair in zip(canaries, pairs, strict=True):
        if tuple(canary[at] for at in pair) not in free[pair]:
            yield "people have the pair, or it is of no two values of its columns"
        if sum(holds(other, canary, pair) for other in canaries) != 1:
            yield "another canary holds the pair"
        if not any(all(canary[at] == row[at] for at in range(len(row)) if at not in pair) for row in people):
            yield "what is not planted is of no one person"


def may_not_grow(
    people: Sequence[Row], columns: Sequence[int], canaries: Sequence[Row], pairs: Sequence[Pair], most: int
) -> bool:
    """Return whether nothing can be added to pairs of columns that have fewer than ``most``, whoever lends the rest."""
    have = Counter(pairs)
    for pair, values in plantable(people, columns).items():
        for planted in values if have[pair] < most else ():
            for donor in people:
                new = [planted[pair.index(at)] if at in pair else value for at, value in enumerate(donor)]
                more = [*canaries, new], [*pairs, pair]
                if all(sum(holds(other, one, two) for other in more[0]) == 1 for one, two in zip(*more, strict=True)):
                    return False
    return True


def levels(
    released: Sequence[Row], population: Sequence[Row], canary: Row, pair: Pair | None, relative: float
) -> tuple[int, float]:
    """Return what a canary is judged by, in 2**-20, and what decides between those that are equal."""

    def shown(rows: Sequence[Row], columns: Sequence[int]) -> int:
        return sum(all(row[at] == canary[at] for at in columns) for row in rows)

    everything = range(len(canary))
    expected = shown(population, everything) / len(population) * len(released)
    found = log(1 + shown(released, everything) / (expected + 0.5))
    if pair is not None:
        expected = shown(released, pair[:1]) / len(released) * shown(released, pair[1:])
        both = [row for row in released if holds(row, canary, pair)]
        found += log(1 + len(both) / (expected + 0.5))
        weight = {
            at: round(-(2**20) * log((shown(released, [at]) + 0.5) / (len(released) + 1)))
            for at in everything
            if at not in pair
        }
        alike = (sum(weight[at] for at in weight if row[at] == canary[at]) for row in both)
        found += max(alike, default=0) / 2**22
    return round(2**20 * found), round(relative, 7)
