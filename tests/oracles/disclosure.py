"""Disclosure by definition: rows compared with all rows, classes with all rows, sets of columns with all sets."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import exp, factorial, log
from typing import Any

Row = tuple[Any, ...]


def alike(one: Row, other: Row, missing: str) -> bool:
    """Whether two rows match; a missing value is a value of its own, or matches anything."""
    if missing == "any":
        return all(x == y or x is None or y is None for x, y in zip(one, other, strict=True))
    return one == other


def class_sizes(rows: Sequence[Row], missing: str = "own") -> list[int]:
    """How many rows each row matches."""
    return [sum(alike(row, other, missing) for other in rows) for row in rows]


def classes(rows: Sequence[Row], secrets: Sequence[Any]) -> list[list[Any]]:
    """The sensitive values of each class."""
    return [[s for other, s in zip(rows, secrets, strict=True) if other == row] for row in dict.fromkeys(rows)]


def entropy_l(values: Sequence[Any]) -> float:
    """The effective number of values."""
    return exp(-sum(n / len(values) * log(n / len(values)) for n in Counter(values).values()))


def recursive_l(values: Sequence[Any], c: Fraction) -> int:
    """The largest l with r1 < c (rl + … + rm), at least 1."""
    counts = sorted(Counter(values).values(), reverse=True)
    return max([1, *(k for k in range(1, len(counts) + 1) if counts[0] < c * sum(counts[k - 1 :]))])


def equal_distance(values: Sequence[Any], everybody: Sequence[Any]) -> Fraction:
    """Half the sum of the differences of shares."""
    return sum((abs(share(values, v) - share(everybody, v)) for v in set(everybody)), Fraction(0)) / 2


def ordered_distance(values: Sequence[Any], everybody: Sequence[Any]) -> Fraction:
    """The earth mover's distance along the ranks, with what is said of missing values."""
    here, total = [v for v in values if v is not None], [v for v in everybody if v is not None]
    levels = sorted(set(total))
    apart = Fraction(0)
    if len(levels) > 1 and here:
        for level in levels:
            low, all_low = [v <= level for v in here], [v <= level for v in total]
            apart += abs(share(low, True) - share(all_low, True))
        apart /= len(levels) - 1
    gone, all_gone = share(values, None), share(everybody, None)
    return abs(gone - all_gone) + min(1 - gone, 1 - all_gone) * apart


def share(values: Sequence[Any], value: Any) -> Fraction:
    return Fraction(sum(v == value for v in values), len(values))


def minimal_uniques(rows: Sequence[Row], size: int) -> list[list[tuple[int, ...]]]:
    """For each row the sets of columns in which it is alone, and of which no part makes it so."""
    found: list[list[tuple[int, ...]]] = [[] for _ in rows]
    for columns in (some for k in range(1, size + 1) for some in combinations(range(len(rows[0])), k)):
        seen = [tuple(row[c] for c in columns) for row in rows]
        for place, part in enumerate(seen):
            if seen.count(part) == 1 and not any(set(less) < set(columns) for less in found[place]):
                found[place].append(columns)
    return found


def suda_score(sets: Sequence[tuple[int, ...]], columns: int, size: int) -> int:
    """The sum over sets of (a - k)! / (a - m - 1)!."""
    most = min(size, columns - 1)
    # A set of all columns has an empty product.
    return sum(factorial(columns - len(s)) // factorial(columns - most - 1) if len(s) <= most else 1 for s in sets)


def people_in_classes(rows: Sequence[Row], owner: Sequence[int]) -> list[set[int]]:
    """The people in the class of each row, where it is known whose each row is; -1 is somebody else each time."""
    who = [-2 - at if own < 0 else own for at, own in enumerate(owner)]
    return [{each for each, other in zip(who, rows, strict=True) if other == row} for row in rows]
