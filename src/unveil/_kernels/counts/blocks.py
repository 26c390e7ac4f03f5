"""Connected blocks of a cell system, without fixed cells."""

from dataclasses import dataclass

import numpy as np

from unveil._kernels.counts.rows import SparseRows, chosen, open_part, renumbered, without_twins
from unveil._kernels.types import IntArray


@dataclass(frozen=True, eq=False)
class CellBlock:
    """Connected block of open cells, with their numbers and rows."""

    cells: IntArray
    rows: SparseRows


def blocks(rows: SparseRows, low: IntArray, high: IntArray) -> list[CellBlock]:
    """Return the connected blocks of open cells, largest last.

    >>> from unveil._kernels.counts.rows import rows_of
    >>> rows = rows_of([(np.array([[0, 1, 2]]), np.array([1, -1, -1]))], 4)
    >>> found = blocks(rows, np.array([5, 0, 0, 0]), np.array([5, 5, 5, 2]))
    >>> [each.cells.tolist() for each in found]
    [[3], [1, 2]]
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    part = open_part(rows, low, high)
    open_cells = np.flatnonzero(low < high)
    place = np.full(rows.cells, -1, np.int64)
    place[open_cells] = np.arange(open_cells.size)
    size = open_cells.size + part.number
    links = csr_array(
        (np.ones(part.cell.size, np.int8), (place[part.cell], open_cells.size + part.of_entry)), shape=(size, size)
    )
    number, label = connected_components(links, directed=False)
    order = np.argsort(label[: open_cells.size], kind="stable")
    ends = np.searchsorted(label[: open_cells.size][order], np.arange(number + 1))
    row_label = label[open_cells.size :]
    found = []
    for at in range(number):
        cells = open_cells[order[ends[at] : ends[at + 1]]]
        own = chosen(part, row_label == at) if cells.size > 1 else chosen(part, np.zeros(part.number, np.bool_))
        # A single open cell has no row that says more than its ends do, because rows were propagated.
        found.append(CellBlock(cells, without_twins(renumbered(own, cells))))
    return sorted(found, key=lambda block: (block.cells.size, int(block.cells[0])))
