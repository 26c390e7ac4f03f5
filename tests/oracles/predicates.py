"""Predicates by their definition: look at every row, and at every set of rows that lots could draw."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product
from statistics import median
from typing import Any

#: Column, relation and value.
Condition = tuple[str, str, Any]
Columns = Mapping[str, Sequence[Any]]

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda cell, value: cell == value,
    "!=": lambda cell, value: cell != value,
    ">=": lambda cell, value: cell >= value,
    "<=": lambda cell, value: cell <= value,
    ">": lambda cell, value: cell > value,
    "<": lambda cell, value: cell < value,
    "in": lambda cell, value: cell in value,
}


def holds(cell: Any, relation: str, value: Any, levels: Sequence[Any] | None = None) -> bool:
    """Return whether a cell is as the condition says; ``levels`` gives the order of words."""
    if relation in ("is missing", "is not missing"):
        return (cell is None) == (relation == "is missing")
    if cell is None:
        return False
    if levels is not None and relation != "in":
        cell, value = levels.index(cell), levels.index(value)
    return _COMPARE[relation](cell, value)


def rows(
    columns: Columns, predicate: Sequence[Condition], levels: Mapping[str, Sequence[Any]] | None = None
) -> list[int]:
    """Return the rows for which all conditions hold."""
    size = len(next(iter(columns.values())))
    return [
        row
        for row in range(size)
        if all(
            holds(columns[name][row], relation, value, (levels or {}).get(name)) for name, relation, value in predicate
        )
    ]


def chance_of_one(count: int, size: int, drawn: int) -> Fraction:
    """Return the share of all sets of ``drawn`` of ``size`` rows that hold exactly one of the first ``count``."""
    sets = list(combinations(range(size), drawn))
    return Fraction(sum(sum(row < count for row in some) == 1 for some in sets), len(sets))


def univariate(columns: Columns, ordered: Sequence[str], *, exact_numbers: bool) -> set[Condition]:
    """Return all conditions on one column that an adversary would make who sees these released rows."""
    found: set[Condition] = set()
    for name, cells in columns.items():
        there = [cell for cell in cells if cell is not None]
        candidates: list[Condition] = [(name, "is missing", None)]
        if name in ordered and there:
            candidates += [(name, "<=", min(there)), (name, ">=", max(there))]
        if name not in ordered or exact_numbers:
            candidates += [(name, "=", cell) for cell in set(there)]
        found |= {one for one in candidates if len(rows(columns, [one])) == 1}
    return found


def multivariate(columns: Columns, ordered: Sequence[str], size: int) -> set[tuple[Condition, ...]]:
    """Return all predicates on ``size`` columns, in the order of their names, that fit one of these released rows."""
    found: set[tuple[Condition, ...]] = set()
    for names in combinations(sorted(columns), size):
        for row in range(len(columns[names[0]])):
            choices = [_around(name, columns[name], row, name in ordered) for name in names]
            found |= {predicate for predicate in product(*choices) if len(rows(columns, predicate)) == 1}
    return found


def _around(name: str, cells: Sequence[Any], row: int, is_ordered: bool) -> list[Condition]:
    """Return the conditions that an adversary makes of one cell; two where it is the median itself."""
    if cells[row] is None:
        return [(name, "is missing", None)]
    if not is_ordered:
        return [(name, "=", cells[row])]
    middle = median([cell for cell in cells if cell is not None])
    return [(name, ">=", cells[row])] * (cells[row] >= middle) + [(name, "<=", cells[row])] * (cells[row] <= middle)
