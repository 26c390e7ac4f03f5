"""Copies and the probability of a record by the definition: people one by one, in exact fractions; all trees tried."""

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import comb, log

Row = tuple[Hashable, ...]


def probability(table: Sequence[Row], parent: Sequence[int], x: Row) -> Fraction:
    """Return q(x) by the tree in which column j depends on ``parent[j]``."""
    q = Fraction(1)
    for j, above in enumerate(parent):
        same = sum(row[j] == x[j] for row in table)
        m = Fraction(max(same, 1), len(table))
        if above < 0:
            q *= m
        else:
            both = sum(row[j] == x[j] and row[above] == x[above] for row in table)
            q *= (both + m) / (sum(row[above] == x[above] for row in table) + 1)
    return q


def weight(table: Sequence[Row], one: int, other: int) -> float:
    """Return the mutual information of two columns less what chance gives."""
    n = len(table)
    first, second = Counter(row[one] for row in table), Counter(row[other] for row in table)
    both = Counter((row[one], row[other]) for row in table)
    information = sum(k / n * log(k * n / (first[a] * second[b])) for (a, b), k in both.items())
    return information - (len(first) - 1) * (len(second) - 1) / (2 * n)


def trees(columns: int) -> Iterator[list[int]]:
    """Yield every tree in which column 0 depends on no other."""
    for above in product(range(columns), repeat=columns - 1):
        parent = [-1, *above]
        if all(_reaches_root(parent, j) for j in range(columns)):
            yield parent


def _reaches_root(parent: Sequence[int], j: int) -> bool:
    for _ in parent:
        j = parent[j] if j > 0 else 0
    return j == 0


def tree_weight(table: Sequence[Row], parent: Sequence[int]) -> float:
    return sum(weight(table, j, above) for j, above in enumerate(parent) if above >= 0)


def part(values: Sequence[int], value: int, parts: int) -> int:
    """Return in which part of the sorted values the middle one of those that equal ``value`` lies, from 1 on."""
    places = [place for place, each in enumerate(sorted(values)) if each == value]
    middle = Fraction(places[0] + places[-1] + 1, 2 * len(values))
    return next(k for k in range(1, parts + 1) if middle < Fraction(k, parts))


Person = tuple[Row, ...]


def copied(person: Person, released: Sequence[Row]) -> bool:
    return any(row in released for row in person)


def alone(row: Row, person: int, pool: Sequence[Person]) -> bool:
    return not any(row in other for place, other in enumerate(pool) if place != person)


def coincidences(
    members: Sequence[Person],
    pool: Sequence[Person],
    released: Sequence[Row],
    parent: Sequence[int],
    released_parent: Sequence[int],
) -> list[dict[Row, Fraction]]:
    """Return E of each record that a member has and nobody else in the pool."""
    rows = [row for person in pool for row in person]
    expected = [
        {
            row: expected_copies(row, rows, parent, released, released_parent)
            for row in person
            if alone(row, place, pool)
        }
        for place, person in enumerate(members)
    ]
    every = [value for person in expected for value in person.values()]
    return [
        {row: sum((each for each in every if each <= value), Fraction(0)) for row, value in person.items()}
        for person in expected
    ]


def expected_copies(
    row: Row, rows: Sequence[Row], parent: Sequence[int], released: Sequence[Row], released_parent: Sequence[int]
) -> Fraction:
    """Return lambda of a record."""
    return len(released) * max(probability(rows, parent, row), probability(released, released_parent, row))


def rare_copied(
    pool: Sequence[Person],
    released: Sequence[Row],
    parent: Sequence[int],
    released_parent: Sequence[int],
    rare: Fraction,
) -> list[bool]:
    """Return whether each person has a rare record that is released and nobody else's."""
    rows = [row for person in pool for row in person]
    return [
        any(
            alone(row, place, pool)
            and row in released
            and expected_copies(row, rows, parent, released, released_parent) <= rare
            for row in person
        )
        for place, person in enumerate(pool)
    ]


def p_of_rare_copies(
    members: int,
    pool: Sequence[Person],
    released: Sequence[Row],
    parent: Sequence[int],
    distinct_parent: Sequence[int],
    released_parent: Sequence[int],
    rare: Fraction,
) -> Fraction:
    """Return the binomial tail of the members' rare copies among all rare records that are equal, pair by pair."""
    rows = [row for person in pool for row in person]
    distinct = list(dict.fromkeys(rows))
    different = [set(person) for person in pool]
    inside = sum(len(person) for person in different[:members]) * len(released)
    outside = sum(len(person) for person in different[members:]) * len(released)
    within = sum(len(one) * len(other) for at, one in enumerate(different) for other in different[:at])
    copies = [0, 0]
    for place, person in enumerate(different):
        for row in person:
            if alone(row, place, pool) and row in released:
                is_rare = expected_copies(row, rows, parent, released, released_parent) <= rare
                copies[place >= members] += is_rare
    shared = [row for row in distinct if sum(row in person for person in different) > 1]
    twins = sum(expected_copies(row, distinct, distinct_parent, released, released_parent) <= rare for row in shared)
    share = Fraction(inside, inside + outside + within)
    number = sum(copies) + twins
    return sum(
        (comb(number, k) * share**k * (1 - share) ** (number - k) for k in range(copies[0], number + 1)), Fraction(0)
    )
