"""Ranges of cells by going through every whole-number table that fits: slow, obvious."""

from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp

from unveil._kernels.counts.rows import NO_END, SparseRows
from unveil._kernels.types import IntArray

Told = tuple[int, int | None]
#: A cell: for each variable the leaves that it covers.
Cell = tuple[frozenset[int], ...]


def worlds(
    leaves: Sequence[int], people: int, cells: Sequence[Cell], told: Sequence[Told]
) -> Iterator[tuple[int, ...]]:
    """Yield every table of leaf combinations with at most ``people`` people that agrees with all that is told."""
    places = list(product(*(range(each) for each in leaves)))
    inside = [[all(leaf in own for leaf, own in zip(place, cell, strict=True)) for place in places] for cell in cells]
    last = [max((at for at, holds in enumerate(row) if holds), default=-1) for row in inside]

    def grow(at: int, table: list[int], sums: list[int], left: int) -> Iterator[tuple[int, ...]]:
        # A sum that is complete, or too large already, decides before the rest is tried.
        for cell, (low, high) in enumerate(told):
            if (high is not None and sums[cell] > high) or (last[cell] < at and sums[cell] < low):
                return
        if at == len(places):
            yield tuple(table)
            return
        for value in range(left + 1):
            more = [total + value * inside[cell][at] for cell, total in enumerate(sums)]
            yield from grow(at + 1, [*table, value], more, left - value)

    yield from grow(0, [], [0] * len(cells), people)


def ranges(
    leaves: Sequence[int], people: int, told_cells: Sequence[Cell], told: Sequence[Told], asked: Sequence[Cell]
) -> list[tuple[int, int]] | None:
    """Return the least and greatest value of each cell that is asked for over all worlds, None if there is none."""
    places = list(product(*(range(each) for each in leaves)))
    inside = [
        [at for at, place in enumerate(places) if all(leaf in own for leaf, own in zip(place, cell, strict=True))]
        for cell in asked
    ]
    found: list[tuple[int, int]] | None = None
    for world in worlds(leaves, people, told_cells, told):
        values = [sum(world[at] for at in own) for own in inside]
        before = found or [(value, value) for value in values]
        found = [(min(low, value), max(high, value)) for (low, high), value in zip(before, values, strict=True)]
    return found


def endless_cells(rows: SparseRows, high: IntArray) -> set[int]:
    """Return the cells that can grow without end: one program over all directions for each cell."""
    least = np.where(rows.has_least, 0.0, -np.inf)
    most = np.where(rows.has_most, 0.0, np.inf)
    ends = Bounds(0.0, np.where(high >= NO_END, 1.0, 0.0))
    found = set()
    for cell in range(high.size):
        cost = np.zeros(high.size)
        cost[cell] = -1.0
        sums = [LinearConstraint(rows.matrix, least, most)] if rows.number else []
        if -milp(cost, bounds=ends, constraints=sums).fun > 1e-9:
            found.add(cell)
    return found
