"""anonymeter's links by the definition: every distance, one full sort, two sets of rows."""

from collections.abc import Sequence
from functools import cache
from math import isnan, nan
from typing import Any

import numpy as np


def links(
    original: Sequence[Sequence[Any]], released: Sequence[Sequence[Any]], groups: Sequence[Sequence[int]], k: int
) -> list[bool]:
    """Return whether each original row is linked; floats are numbers (NaN is missing), all other cells categories.

    A group's columns are given in the order in which they are added up, numbers first.
    """
    nearest = [
        _nearest([[row[c] for c in group] for row in original], _columns(released, group), k) for group in groups
    ]
    return [bool(one & other) for one, other in zip(*nearest, strict=True)]


def _columns(rows: Sequence[Sequence[Any]], group: Sequence[int]) -> list[list[Any]]:
    return [[row[c] for c in group] for row in rows]


def _nearest(people: list[list[Any]], rows: list[list[Any]], k: int) -> list[set[int]]:
    spans = [_span([row[c] for row in rows], [row[c] for row in people]) for c in range(len(rows[0]))]
    found = []
    for person in people:
        distance = np.array([_distance(person, row, spans) for row in rows])
        found.append(set(argsort(distance)[: min(k, len(people))].tolist()))
    return found


def _span(released: list[Any], targets: list[Any]) -> float:
    """Return the range; a column that is all missing among the targets has none, and then nothing is comparable."""
    if not isinstance(released[0], float):
        return 1.0
    extremes = []
    for best in (max, min):
        mine, theirs = (best([x for x in cells if not isnan(x)], default=nan) for cells in (released, targets))
        extremes.append(mine if best(mine, theirs) == mine and mine != theirs and not isnan(theirs) else theirs)
    return (extremes[0] - extremes[1]) or 1.0


def _distance(one: list[Any], other: list[Any], spans: list[float]) -> float:
    total = 0.0
    for x, y, span in zip(one, other, spans, strict=True):
        if not isinstance(x, float):
            total += float(x != y)
        elif isnan(x / span) and isnan(y / span):
            total += 1
        else:
            total += abs(x / span - y / span)
    return total


def argsort(values: Any) -> Any:
    """Return the order in which numba's quicksort leaves the values."""
    return _numba_argsort()(values)


@cache
def _numba_argsort() -> Any:
    from numba import njit

    return njit(lambda values: np.argsort(values))
