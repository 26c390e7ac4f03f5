"""Groups of people of whom it is known that all have the same code: whoever is in one is known to have it."""

from typing import NamedTuple

import numpy as np

from unveil._kernels.counts.rows import SparseRows
from unveil._kernels.types import BoolArray, IntArray


class SharedCode(NamedTuple):
    """A group in which nobody can have another code of a variable: its cell, the cell of the code, and the variable."""

    group: int
    cell: int
    variable: int


def shared_codes(
    rows: SparseRows, low: IntArray, high: IntArray, codes: IntArray, impossible: BoolArray | None = None
) -> list[SharedCode]:
    """Return the groups with somebody in them of which all parts but one are empty in every population.

    Groups whose empty parts are all ``impossible`` by what the codes mean are left out: everybody knows of these.

    The whole population is no group, and what is told of a variable must not be part of the group already. Groups come
    in the order of their size; one that several sums show is there once.

    >>> from unveil._kernels.counts.rows import rows_of
    >>> rows = rows_of([(np.array([[0, 1, 2]]), np.array([1, -1, -1]))], 3)
    >>> shared_codes(rows, np.array([4, 0, 4]), np.array([4, 0, 4]), np.array([[1, 0], [1, 1], [1, 2]]))
    [SharedCode(group=0, cell=2, variable=1)]
    """
    if not rows.number:
        return []
    parent = rows.cell[rows.start[:-1]]
    can = high[rows.cell] > 0
    can[rows.start[:-1]] = False
    left = np.add.reduceat(can.astype(np.int64), rows.start[:-1])
    told = np.zeros(rows.cell.size, np.int64) if impossible is None else impossible[rows.cell].astype(np.int64)
    parts = np.diff(rows.start) - 1 - np.add.reduceat(told, rows.start[:-1])
    found: dict[tuple[int, int], SharedCode] = {}
    for row in np.flatnonzero((left == 1) & (parts > 1) & (low[parent] >= 1) & codes[parent].any(axis=1)).tolist():
        entries = np.arange(rows.start[row], rows.start[row + 1])
        cell = int(rows.cell[entries[can[entries]][0]])
        group = int(parent[row])
        variable = int(np.flatnonzero(codes[cell] != codes[group])[0])
        if codes[group, variable] == 0:
            found.setdefault((group, variable), SharedCode(group, cell, variable))
    return sorted(found.values(), key=lambda each: (int(low[each.group]), each.group, each.variable))
