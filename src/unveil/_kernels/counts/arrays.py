"""All cells of tables that share variables, each once, and the sums between them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unveil._kernels.counts.rows import SparseRows, rows_of
from unveil._kernels.types import BoolArray, Int32Array, IntArray

#: Of one variable: a code and the codes that it is the sum of, for every partition that is known. Code 0 is the total.
Partitions = Sequence[tuple[int, Sequence[int]]]


@dataclass(frozen=True, eq=False)
class CellArrays:
    """Cells of margin-closed arrays, one array for each clique of variables.

    ``codes`` has a row for each cell and a column for each variable: the number of its code, 0 where the cell is not
    divided by that variable. ``numbers`` holds the cells of each clique in the shape of its codes.
    """

    cliques: tuple[tuple[int, ...], ...]
    sizes: tuple[int, ...]
    codes: Int32Array
    numbers: tuple[IntArray, ...]
    rows: SparseRows

    def locate(self, codes: IntArray) -> IntArray:
        """Return the cell of each row of codes, -1 where no clique has all its variables."""
        found = np.full(codes.shape[0], -1, np.int64)
        for clique, numbers in zip(self.cliques, self.numbers, strict=True):
            others = [at for at in range(codes.shape[1]) if at not in clique]
            inside = (found < 0) & (codes[:, others] == 0).all(axis=1)
            found[inside] = numbers[tuple(codes[inside][:, at] for at in clique)]
        return found


def cell_arrays(cliques: Sequence[Sequence[int]], sizes: Sequence[int], partitions: Sequence[Partitions]) -> CellArrays:
    """Return the cells of all cliques, those that cliques share once, with every sum between them.

    ``sizes`` and ``partitions`` are the number of codes and the known partitions of each variable.

    >>> made = cell_arrays([(0,)], [3], [[(0, (1, 2))]])
    >>> made.codes.ravel().tolist(), made.rows.cell.tolist(), made.rows.coefficient.tolist()
    ([0, 1, 2], [0, 1, 2], [1, -1, -1])
    """
    numbers: list[IntArray] = []
    known = 0
    for at, clique in enumerate(cliques):
        shape = tuple(sizes[variable] for variable in clique)
        own = np.full(shape, -1, np.int64)
        for earlier, theirs in zip(cliques[:at], numbers, strict=True):
            own[_shared(clique, earlier)] = theirs[_shared(earlier, clique)]
        fresh = own < 0
        own[fresh] = known + np.arange(int(fresh.sum()))
        known += int(fresh.sum())
        numbers.append(own)
    codes = np.zeros((known, len(sizes)), np.int32)
    for clique, own in zip(cliques, numbers, strict=True):
        for axis, variable in enumerate(clique):
            along = np.arange(sizes[variable]).reshape([-1 if each == axis else 1 for each in range(len(clique))])
            codes[own.ravel(), variable] = np.broadcast_to(along, own.shape).ravel()
    rows = rows_of(_sums(cliques, numbers, partitions), known)
    made = tuple(tuple(each) for each in cliques)
    return CellArrays(made, tuple(sizes), codes, tuple(numbers), rows)


def _shared(clique: Sequence[int], other: Sequence[int]) -> tuple[int | slice, ...]:
    """Return the part of a clique's array that another has too: all codes of shared variables, the rest at the total.

    Both list their variables in ascending order, so that the two parts have the same shape.
    """
    return tuple(slice(None) if variable in other else 0 for variable in clique)


def _sums(
    cliques: Sequence[Sequence[int]], numbers: Sequence[IntArray], partitions: Sequence[Partitions]
) -> list[tuple[IntArray, IntArray]]:
    entries = []
    for at, (clique, own) in enumerate(zip(cliques, numbers, strict=True)):
        for axis, variable in enumerate(clique):
            across = np.moveaxis(own, axis, 0).reshape(own.shape[axis], -1)
            fresh = _not_in_earlier(cliques, at, variable, own.shape)
            across = across[:, fresh]
            for parent, children in partitions[variable]:
                cells = across[[parent, *children]].T
                if cells.size:
                    entries.append((cells, np.array([1] + [-1] * len(children), np.int64)))
    return entries


def _not_in_earlier(cliques: Sequence[Sequence[int]], at: int, variable: int, shape: tuple[int, ...]) -> BoolArray:
    """Return of which combinations of the other variables an earlier clique does not have the sums already."""
    clique = cliques[at]
    axis = list(clique).index(variable)
    fresh = np.ones(shape, np.bool_)
    for earlier in cliques[:at]:
        if variable in earlier:
            fresh[_shared(clique, earlier)] = False
    return np.asarray(np.take(fresh, 0, axis=axis).ravel(), np.bool_)
