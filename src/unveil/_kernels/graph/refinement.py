"""Colour refinement: sort nodes into the fewest cells in which all have equally many neighbours in each cell."""

from typing import NamedTuple

import numpy as np

from unveil._kernels._compile import PLAIN_UP_TO, compiled, loop
from unveil._kernels.types import Int32Array, IntArray


class _Cells(NamedTuple):
    """Cells as stretches of one order of all nodes."""

    cell: IntArray  # of each node
    member: IntArray  # the nodes, those of a cell side by side
    place: IntArray  # where each node stands in ``member``
    first: IntArray  # where each cell begins in it
    length: IntArray  # how many nodes each cell has


class _Strikes(NamedTuple):
    """What one cell, the splitter, sees of the others."""

    node: IntArray  # the nodes that have a neighbour in it
    near: IntArray  # how many, for each node; 0 for all others
    cell: IntArray  # the cells that these nodes are in
    nodes_of: IntArray  # how many there are in each cell; 0 for all others
    bucket: IntArray  # room to sort by that number, all 0
    spare: IntArray  # the same


def equitable_cells(start: IntArray, neighbour: Int32Array) -> IntArray:
    """Return the cell of each node in the coarsest equitable partition, numbered as cells first appear.

    There is exactly one such partition, so the order of nodes changes nothing but the numbers of cells. Nodes that an
    automorphism maps on one another share a cell; the reverse holds in most graphs, not in all.

    Of the parts into which a cell falls, all but a largest one split other cells in turn (Hopcroft), so an edge is
    looked at O(log n) times.

    >>> from unveil._kernels.graph.rows import rows_of
    >>> equitable_cells(*rows_of(np.array([1, 6, 11]), 4))  # the path 0 - 1 - 2 - 3: two ends, two between
    array([0, 1, 1, 0])
    """
    nodes = start.size - 1
    fast = neighbour.size > PLAIN_UP_TO or nodes > PLAIN_UP_TO
    cells = _Cells(*(np.zeros(nodes, np.int64) for _ in _Cells._fields))
    cells.member[:] = cells.place[:] = np.arange(nodes)
    cells.length[:1] = nodes
    strikes = _Strikes(*(np.zeros(nodes + 1, np.int64) for _ in _Strikes._fields))
    refine = compiled(_refine) if fast else _refine
    refine(start, neighbour, cells, strikes)
    return numbered_by_first(cells.cell)


def numbered_by_first(cell: IntArray) -> IntArray:
    """Return the same cells, numbered from 0 in the order in which they first appear.

    >>> numbered_by_first(np.array([7, 3, 7]))
    array([0, 1, 0])
    """
    _, first, code = np.unique(cell, return_index=True, return_inverse=True)
    number = np.empty(first.size, np.int64)
    number[np.argsort(first)] = np.arange(first.size)
    return number[code]


@loop("const i8[], const i4[], _Cells(i8[], i8[], i8[], i8[], i8[]), _Strikes(i8[], i8[], i8[], i8[], i8[], i8[])")
def _refine(start: IntArray, neighbour: Int32Array, cells: _Cells, strikes: _Strikes) -> None:
    """Split cells by how many neighbours their nodes have in another, until no cell splits one."""
    nodes = cells.cell.size
    waiting = np.zeros(nodes, np.int64)  # cells that may still split others, each at most once
    waits = np.zeros(nodes, np.bool_)
    waits[:1] = True
    found, left = 1, 1
    while left > 0 and found < nodes:
        left -= 1
        splitter = waiting[left]
        waits[splitter] = False
        struck_nodes = _strike(start, neighbour, cells, splitter, strikes)
        for one in range(_gather(struck_nodes, cells, strikes)):
            old = strikes.cell[one]
            begin = cells.first[old] + cells.length[old] - strikes.nodes_of[old]
            _sort(begin, strikes.nodes_of[old], cells, strikes)
            strikes.nodes_of[old] = 0
            before = found
            found = _cut(old, begin, found, cells, strikes.near)
            # A cell that waits is to split others as a whole, and so must all of its parts. Otherwise others are
            # even towards the whole: if they are even towards all parts but one, they are towards that one too.
            spared = -1 if waits[old] else _largest(old, before, found, cells.length)
            for part in range(before - 1, found):
                number = old if part < before else part
                if number != spared and not waits[number]:
                    waits[number] = True
                    waiting[left] = number
                    left += 1
        for one in range(struck_nodes):
            strikes.near[strikes.node[one]] = 0


def _strike(start: IntArray, neighbour: Int32Array, cells: _Cells, splitter: int, strikes: _Strikes) -> int:
    """Count each node's neighbours in the splitter; return how many nodes have one."""
    struck = 0
    begin = cells.first[splitter]
    for at in range(begin, begin + cells.length[splitter]):
        node = cells.member[at]
        for edge in range(start[node], start[node + 1]):
            near = neighbour[edge]
            if strikes.near[near] == 0:
                strikes.node[struck] = near
                struck += 1
            strikes.near[near] += 1
    return struck


def _gather(struck: int, cells: _Cells, strikes: _Strikes) -> int:
    """Move the struck nodes to the end of their cells; return how many cells have one."""
    hit = 0
    for one in range(struck):
        node = strikes.node[one]
        cell = cells.cell[node]
        if strikes.nodes_of[cell] == 0:
            strikes.cell[hit] = cell
            hit += 1
        strikes.nodes_of[cell] += 1
        old, new = cells.place[node], cells.first[cell] + cells.length[cell] - strikes.nodes_of[cell]
        other = cells.member[new]
        cells.member[old], cells.place[other] = other, old
        cells.member[new], cells.place[node] = node, new
    return hit


def _sort(begin: int, many: int, cells: _Cells, strikes: _Strikes) -> None:
    """Sort a stretch of nodes by count, in time that grows with their number and the largest count."""
    highest = 0
    for at in range(many):
        strikes.spare[at] = cells.member[begin + at]
        highest = max(highest, strikes.near[strikes.spare[at]])
        strikes.bucket[strikes.near[strikes.spare[at]]] += 1
    for count in range(1, highest + 1):
        strikes.bucket[count] += strikes.bucket[count - 1]
    for at in range(many):
        node = strikes.spare[at]
        strikes.bucket[strikes.near[node]] -= 1
        new = begin + strikes.bucket[strikes.near[node]]
        cells.member[new], cells.place[node] = node, new
    strikes.bucket[: highest + 1] = 0


def _cut(old: int, begin: int, cell_count: int, cells: _Cells, counts: IntArray) -> int:
    """Make a cell of each stretch of equal counts from ``begin`` on; return how many cells there are then."""
    end = cells.first[old] + cells.length[old]
    now = old
    for at in range(begin, end):
        node = cells.member[at]
        # Nodes before ``begin`` have count 0 and stay the old cell; without them, the least count does.
        if at > cells.first[old] and (at == begin or counts[node] != counts[cells.member[at - 1]]):
            cells.length[now] = at - cells.first[now]
            now = cell_count
            cells.first[now] = at
            cell_count += 1
        cells.cell[node] = now
    cells.length[now] = end - cells.first[now]
    return cell_count


def _largest(old: int, before: int, cell_count: int, lengths: IntArray) -> int:
    """Return a largest of the parts into which a cell fell: itself, and those numbered from ``before``."""
    best = old
    for part in range(before, cell_count):
        if lengths[part] > lengths[best]:
            best = part
    return best
