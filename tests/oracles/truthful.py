"""Rows that are true of original ones by the definition: each cell a set of values, all matchings tried."""

from collections.abc import Sequence

#: A released cell: the values that it may stand for, or None for any, a missing one too.
Cell = frozenset[object] | None


def compatible(row: Sequence[Cell], person: Sequence[object]) -> bool:
    return all(cell is None or value in cell for cell, value in zip(row, person, strict=True))


def most_matched(rows: Sequence[Sequence[Cell]], people: Sequence[Sequence[object]]) -> int:
    """Return the size of the largest matching, by leaving out the first row or giving it each of its people."""
    if not rows:
        return 0
    first, *others = rows
    return max(
        most_matched(others, people),
        *(
            1 + most_matched(others, [*people[:at], *people[at + 1 :]])
            for at, person in enumerate(people)
            if compatible(first, person)
        ),
        0,
    )
