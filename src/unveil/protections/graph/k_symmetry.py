"""k-symmetry: copy every small orbit of nodes."""

from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np

from unveil._kernels._compile import PLAIN_UP_TO, compiled, kernel, loop
from unveil._kernels.graph.rows import row_numbers
from unveil._kernels.types import BoolArray, Int32Array, IntArray
from unveil._optional import need
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphRelease
from unveil.errors import CannotProtectError, InputError, share, whole_number
from unveil.protections._listing import protection
from unveil.protections.graph._release import (
    check_class_size,
    check_edges,
    check_enough_nodes,
    counted,
    graph_release,
)

Partition = Literal["refine", "orbit"]
_MOST_EDGES = 10**9


@protection(
    source='Wu, Xiao, Wang, He and Wang, "k-symmetry model for identity anonymization in social networks", 2010',
    aka=("orbit-copying",),
    least_rows=5,
    needs_edges=True,
    keeps=("edges",),
)
@dataclass(frozen=True, kw_only=True)
class KSymmetry:
    """Copy cells of equivalent nodes until each has ``k`` nodes.

    A copy is joined to whatever its cell is joined to, so no node can tell it from the cell by how the release is
    connected. The original stays as it is among the copies. That has its price: where no two nodes are equal, each edge
    turns into k x k.

    Attributes
    ----------
    k
        How many nodes each cell has at least, copies included; a whole number from 2 to the number of nodes.
    partition
        "refine": the cells of color refinement. It sees nearly all that tells nodes apart, and the release says for
        how many nodes that is not certain. "orbit": nodes share a cell only if an automorphism of the graph maps one
        on the other; that needs the extra ``orbits``.
    exclude_hubs
        The share of nodes, those of most neighbors, whose cells are not copied, from 0 to 1. Hubs cost the most
        edges, and they are not protected then. Nodes of equal degree are left alone together or not at all.
    max_edges
        The most edges that the release may have, from 1 to 1,000,000,000. What would have more is refused before it
        is made.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1], [1, 2])  # two ends that look alike, and a middle
    >>> release = KSymmetry(k=2).apply(path, rng=np.random.default_rng(1))
    >>> release.in_original_numbers().keys  # node 3 is the copy of the middle
    array([ 1,  3,  6, 11])
    """

    k: int = 5
    partition: Partition = "refine"
    exclude_hubs: float = 0.0
    max_edges: int = 20_000_000

    def __post_init__(self) -> None:
        check_class_size(self.k)
        share(self.exclude_hubs, "exclude_hubs")
        if self.partition not in get_args(Partition):
            raise InputError(f"Unknown partition {self.partition!r}. Use 'refine' or 'orbit'")
        whole_number(self.max_edges, "max_edges", at_most=_MOST_EDGES)

    def apply(self, original: Graph, *, rng: np.random.Generator) -> GraphRelease:
        """Return the graph with its copies, nodes numbered at random.

        Raises
        ------
        InputError
            If the graph has no edge, or fewer than k nodes.
        CannotProtectError
            If the release would have more than ``max_edges`` edges; the message says how large it would be.
        MissingExtraError
            If the partition is "orbit" and the extra ``orbits`` is not installed.
        """
        check_edges(original, what="k-symmetry")
        check_enough_nodes(self.k, original)
        find = orbits if self.partition == "orbit" else equitable_cells
        cell = find(original.start, original.neighbour)
        sizes = np.bincount(cell)
        small = sizes[cell] < self.k
        alone = small & _hubs(original.degrees, self.exclude_hubs)
        times = np.where(small & ~alone, -(-self.k // sizes[cell]), 1)
        nodes, edges = copied_size(*original.ends, cell, times)
        if edges > self.max_edges:
            raise CannotProtectError(self._too_large(original, nodes, edges))
        undecided = 0 if self.partition == "orbit" else _undecided(original, cell)
        facts = {
            "cells": sizes.size,
            "cells of one node": int((sizes == 1).sum()),
            "cells copied": np.unique(cell[times > 1]).size,
            "nodes in cells that may be no orbits": undecided,
            "hubs left alone": int(alone.sum()),
        }
        return graph_release(
            original,
            copied_keys(*original.ends, cell, times),
            name="k-symmetry",
            rng=rng,
            nodes=nodes,
            notes=self._notes(original.nodes, undecided, int(alone.sum())),
            facts=facts,
        )

    def _too_large(self, original: Graph, nodes: int, edges: int) -> str:
        now = counted(original.edges, "edge", "edges")
        if original.edges > self.max_edges:
            return (
                f"max_edges is {self.max_edges:,}, but the {original.name} already has {now}, and all are kept. "
                "Raise max_edges well above that"
            )
        return (
            f"the {original.name} has {original.nodes:,} nodes and {now}; the copies for "
            f"k = {self.k} make {nodes:,} nodes and {edges:,} edges, above max_edges = {self.max_edges:,}. "
            "Raise max_edges, take a smaller k, or exclude hubs (exclude_hubs=0.01)"
        )

    def _notes(self, nodes: int, undecided: int, alone: int) -> tuple[str, ...]:
        notes = []
        if undecided:
            notes.append(
                "cells are those of color refinement, so true automorphism is not guaranteed. For "
                f"{undecided:,} of {nodes:,} nodes it is unknown whether the cell is an orbit "
                "(partition=orbit decides it)"
            )
        elif self.partition == "refine":
            notes.append("cells are those of color refinement, and all of them are orbits")
        if alone:
            they = "it is" if alone == 1 else "they are"
            notes.append(
                f"{counted(alone, 'hub', 'hubs')} with the highest degrees {'was' if alone == 1 else 'were'} "
                f"excluded (exclude_hubs={self.exclude_hubs:g}): {they} not protected"
            )
        return tuple(notes)


def _hubs(degrees: IntArray, share: float) -> BoolArray:
    """Return the hubs: the share of nodes with the highest degrees.

    Ties are included together or not at all.
    """
    at_least = degrees.size - np.searchsorted(np.sort(degrees), degrees)
    # 0.29 of 100 nodes are 29, though 0.29 * 100 is a bit less.
    hubs: BoolArray = at_least <= share * degrees.size + 1e-9
    return hubs


def _undecided(original: Graph, cell: IntArray) -> int:
    """Return the number of nodes in cells that may not be orbits."""
    return int(np.union1d(*undecided_edges(original.start, original.neighbour, cell)).size)


# Orbit copying: the graph in which every node of a cell has its copies, all joined as the node itself is.
#
# Cell after cell is copied. A copy of a cell is joined inside as the cell is, and outside to whatever the cell is
# joined to at that time, copies of other cells included. So of an edge between two cells, every copy of one end is
# joined to every copy of the other, whichever cell was copied first; of an edge within a cell, each copy has its own.
# That is all, and it needs no copying one by one.


def copied_size(one: Int32Array, other: Int32Array, cell: IntArray, times: IntArray) -> tuple[int, int]:
    """Return the numbers of nodes and edges after copying.

    ``times`` is the same for all of a cell and below 2**31. The counts are exact, however large.

    >>> copied_size(np.array([0]), np.array([1]), np.array([0, 1]), np.array([3, 2]))
    (5, 6)
    >>> copied_size(np.array([0]), np.array([1]), np.array([0, 0]), np.array([3, 3]))
    (6, 3)
    """
    edges = times[one] * np.where(cell[one] == cell[other], 1, times[other])
    # The sum may need more than 64 bits, so the upper and lower halves are added up apart.
    return int(times.sum()), (int((edges >> 31).sum()) << 31) + int((edges & (2**31 - 1)).sum())


def copied_keys(one: Int32Array, other: Int32Array, cell: IntArray, times: IntArray) -> IntArray:
    """Return the unordered edge keys after copying node ``i`` ``times[i]`` times.

    Nodes keep their numbers; after them come the copies of node 0, then those of node 1, and so on.

    >>> copied_keys(np.array([0]), np.array([1]), np.array([0, 1]), np.array([1, 3]))  # nodes 0, 1 and copies 2, 3
    array([1, 2, 3])
    """
    nodes, edges = copied_size(one, other, cell, times)
    keys = np.empty(edges, np.int64)
    before_copies = times.size + np.cumsum(times - 1) - times
    _write_keys(one, other, cell, times, before_copies, nodes, keys)
    return keys


@kernel("i4[], i4[], i8[], i8[], i8[], i8, i8[]")
def _write_keys(
    one: Int32Array,
    other: Int32Array,
    cell: IntArray,
    times: IntArray,
    before_copies: IntArray,
    nodes: int,
    keys: IntArray,
) -> None:
    written = 0
    for edge in range(one.size):
        source, target = np.int64(one[edge]), np.int64(other[edge])
        within = cell[source] == cell[target]
        for copy in range(times[source]):
            here = source if copy == 0 else before_copies[source] + copy
            for at in range(copy if within else 0, copy + 1 if within else times[target]):
                there = target if at == 0 else before_copies[target] + at
                keys[written] = min(here, there) * nodes + max(here, there)
                written += 1


# The orbits of a graph: nodes that are alike in every way, because an automorphism maps one on the other.


def orbits(start: IntArray, neighbour: Int32Array) -> IntArray:
    """Return the orbit of each node; needs the extra ``orbits``.

    Only the edges that ``undecided_edges`` leaves are searched for automorphisms. In real graphs these are few or none,
    where a search of all would answer with a permutation of all nodes for nearly every pair of leaves.

    Raises
    ------
    MissingExtraError
        If igraph, which knows how to search for automorphisms, is not installed.
    """
    igraph = need("igraph", extra="orbits")
    cell = equitable_cells(start, neighbour)
    one, other = undecided_edges(start, neighbour, cell)
    if one.size == 0:
        return cell
    left = np.union1d(one, other)
    edges = np.column_stack([np.searchsorted(left, one), np.searchsorted(left, other)])
    graph = igraph.Graph(n=left.size, edges=edges.tolist())
    generators = graph.automorphism_group(color=numbered_by_first(cell[left]).tolist())
    orbit = cell.copy()
    orbit[left] = start.size + _moved_together(left.size, generators)
    return numbered_by_first(orbit)


def undecided_edges(start: IntArray, neighbour: Int32Array, cell: IntArray) -> tuple[IntArray, IntArray]:
    """Return edges that decide whether refined cells are orbits.

    Whatever permutes nodes within cells keeps the edges between two cells that are joined completely: these decide
    nothing. Of the others, a tree decides nothing either: refinement tells all but the alike in a tree apart. So every
    cell without one of the edges returned is an orbit.

    >>> from unveil._kernels.graph.rows import rows_of
    >>> six = rows_of(np.array([1, 2, 8, 22, 23, 29]), 6)  # two triangles
    >>> undecided_edges(*six, equitable_cells(*six))
    (array([0, 0, 1, 3, 3, 4]), array([1, 2, 2, 4, 5, 5]))
    """
    row = row_numbers(start)
    once = row < neighbour
    one, other = row[once].astype(np.int64), neighbour[once].astype(np.int64)
    size = np.bincount(cell)
    low, high = np.minimum(cell[one], cell[other]), np.maximum(cell[one], cell[other])
    _, code, edges = np.unique(low * size.size + high, return_inverse=True, return_counts=True)
    full = np.where(low == high, size[low] * (size[low] - 1) // 2, size[low] * size[high])
    open_ = edges[code] < full
    one, other = one[open_], other[open_]
    kept = _in_circles(one, other, cell.size)
    return one[kept], other[kept]


def _in_circles(one: IntArray, other: IntArray, nodes: int) -> BoolArray:
    """Return whether each edge's component has a cycle."""
    if one.size == 0:
        return np.zeros(0, np.bool_)
    part = _connected(one, other, nodes)
    more: BoolArray = np.bincount(part[one], minlength=nodes) >= np.bincount(part, minlength=nodes)
    return more[part[one]]


def _connected(one: IntArray, other: IntArray, nodes: int) -> IntArray:
    """Return a number for each node, equal where edges connect them."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    ones = np.ones(one.size, np.int8)
    _, part = connected_components(coo_array((ones, (one, other)), shape=(nodes, nodes)), directed=False)
    return np.asarray(part, np.int64)


def _moved_together(nodes: int, generators: list[list[int]]) -> IntArray:
    """Return component numbers of nodes under the generators.

    >>> _moved_together(4, [[2, 1, 0, 3]])
    array([0, 1, 0, 2])
    """
    moves = [np.array(each, np.int64) for each in generators]
    moved = [np.flatnonzero(each != np.arange(nodes)) for each in moves]
    one = np.concatenate([*moved, np.zeros(0, np.int64)])
    other = np.concatenate([*(each[at] for each, at in zip(moves, moved, strict=True)), np.zeros(0, np.int64)])
    return numbered_by_first(_connected(one, other, nodes))


# Colour refinement: sort nodes into the fewest cells in which all have equally many neighbors in each cell.


class _Cells(NamedTuple):
    """Cells as stretches of one order of all nodes."""

    cell: IntArray  # of each node
    member: IntArray  # the nodes, those of a cell side by side
    place: IntArray  # where each node stands in ``member``
    first: IntArray  # where each cell begins in it
    length: IntArray  # how many nodes each cell has


class _Strikes(NamedTuple):
    """Neighbor counts of nodes in one cell, the splitter."""

    node: IntArray  # the nodes that have a neighbor in it
    near: IntArray  # how many, for each node; 0 for all others
    cell: IntArray  # the cells that these nodes are in
    nodes_of: IntArray  # how many there are in each cell; 0 for all others
    bucket: IntArray  # room to sort by that number, all 0
    spare: IntArray  # the same


def equitable_cells(start: IntArray, neighbour: Int32Array) -> IntArray:
    """Return the equitable partition with fewest cells, numbered by first node.

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
    """Return the same cells, numbered from 0 by first node.

    >>> numbered_by_first(np.array([7, 3, 7]))
    array([0, 1, 0])
    """
    _, first, code = np.unique(cell, return_index=True, return_inverse=True)
    number = np.empty(first.size, np.int64)
    number[np.argsort(first)] = np.arange(first.size)
    return number[code]


@loop("const i8[], const i4[], _Cells(i8[], i8[], i8[], i8[], i8[]), _Strikes(i8[], i8[], i8[], i8[], i8[], i8[])")
def _refine(start: IntArray, neighbour: Int32Array, cells: _Cells, strikes: _Strikes) -> None:
    """Split cells by neighbor counts until the partition is equitable."""
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
    """Count each node's neighbors in the splitter; return nodes with any."""
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
    """Move the struck nodes to the end; return their cells."""
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
    """Sort a range of nodes by count, in linear time."""
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
    """Cut a range into cells of equal counts; return the cell number."""
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
    """Return the largest part of a split cell.

    The parts are the cell itself, and those numbered from ``before``.
    """
    best = old
    for part in range(before, cell_count):
        if lengths[part] > lengths[best]:
            best = part
    return best
