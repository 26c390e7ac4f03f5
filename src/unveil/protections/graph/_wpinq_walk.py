"""Random walk over graphs of equal degrees towards measured weights.

Two edges a-b and c-d become a-d and c-b: all degrees stay, and only cells of edges or triangles at these nodes change.
How far the graph is from the measurement (the energy) is the sum of ``|answer - measured| / scale`` over all cells; a
step that raises it is taken with probability ``exp(-power * rise)``.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unveil._kernels._compile import PLAIN_UP_TO, compiled, loop
from unveil._kernels.graph.rows import edge_keys, row_numbers
from unveil._kernels.random import State, below, next_float
from unveil._kernels.types import FloatArray, Int32Array, IntArray

# Plain Python takes a few hundredths of a second for this many; triangles need about ten times as long.
_PLAIN_PROPOSALS = 2_000


# A graph whose edges exchange their ends in place: every edge is listed at both ends, and knows where the other is.


class HalfEdges(NamedTuple):
    """A mutable graph: every edge is listed at both ends.

    ``neighbour[start[i]:start[i + 1]]`` are the neighbors of node i in no order, ``owner`` says in whose row an entry
    is, and ``twin`` where the same edge is listed at its other end.
    """

    start: IntArray
    neighbour: Int32Array
    owner: Int32Array
    twin: IntArray


def half_edges(start: IntArray, neighbour: Int32Array) -> HalfEdges:
    """Return a mutable copy of a graph, with ascending rows.

    >>> half_edges(np.array([0, 2, 3, 4]), np.array([1, 2, 0, 0], np.int32)).twin
    array([2, 3, 0, 1])
    """
    owner = row_numbers(start)
    # Sorted by the other end first, the entries are the same edges in the same order, seen from the other side.
    return HalfEdges(start, neighbour.copy(), owner, np.lexsort((owner, neighbour)))


def keys_of_half_edges(graph: HalfEdges) -> IntArray:
    """Return the sorted keys of the edges, each once.

    >>> keys_of_half_edges(half_edges(np.array([0, 2, 3, 4]), np.array([1, 2, 0, 0], np.int32)))
    array([1, 2])
    """
    once = graph.owner < graph.neighbour
    return np.sort(edge_keys(graph.owner[once], graph.neighbour[once], graph.start.size - 1))


def connected(start: IntArray, neighbour: Int32Array, one: int, other: int) -> bool:
    """Return whether two nodes are connected."""
    if start[one + 1] - start[one] > start[other + 1] - start[other]:
        one, other = other, one
    found = False
    for place in range(start[one], start[one + 1]):
        if neighbour[place] == other:
            found = True
            break
    return found


def exchange(neighbour: Int32Array, owner: Int32Array, twin: IntArray, first: int, second: int) -> None:
    """Let two entries exchange their other ends."""
    back, forth = twin[first], twin[second]
    neighbour[first], neighbour[second] = neighbour[second], neighbour[first]
    neighbour[back], neighbour[forth] = owner[second], owner[first]
    twin[first], twin[forth] = forth, first
    twin[second], twin[back] = back, second


def walk(
    graph: HalfEdges,
    level: IntArray,
    size: FloatArray,
    residual: FloatArray,
    *,
    unit: float,
    power: float,
    proposals: int,
    state: State,
    enough: float = -1.0,
    triangles: bool = False,
) -> tuple[int, int]:
    """Walk graph and residuals in place; return proposals made and taken.

    Parameters
    ----------
    graph
        The graph so far.
    level, size
        The class of each node, and what its degree adds to the divisor of a weight; see `pair_weights`.
    residual
        For each cell (answer - measured) / scale.
    unit
        1 / scale.
    power
        0 takes every step that leaves the graph simple, infinity none that raises the energy.
    proposals
        How many pairs of edges to look at; pairs that cannot be exchanged count.
    state
        Of the random numbers; moved on.
    enough
        The energy at which the walk ends.
    triangles
        Whether cells hold triangles and not edges.
    """
    energy = float(np.abs(residual).sum())
    if graph.neighbour.size < 4 or energy <= enough:
        return 0, 0
    plain = proposals <= (_PLAIN_PROPOSALS // 10 if triangles else _PLAIN_PROPOSALS)
    if triangles:
        room = 4 * int(np.diff(graph.start).max())
        scratch = (np.full(level.size, -1), np.empty(room, np.int64), np.empty(room))
        run = _walk_triangles if plain else compiled(_walk_triangles)
        return run(*graph, level, size, residual, unit, power, proposals, state, energy, enough, *scratch)
    step = _walk_edges if plain else compiled(_walk_edges)
    return step(*graph, level, size, residual, unit, power, proposals, state, energy, enough)


def _taken(rise: float, power: float, state: State) -> bool:
    """Return whether a step is taken that raises the energy so much."""
    return rise <= 0 or next_float(state) < np.exp(-power * rise)


@loop(
    "const i8[], i4[], i4[], i8[], i8[], f8[], f8[], f8, f8, i8, u8[], f8, f8",
    "i8[], i4[], i4[], i8[], i8[], f8[], f8[], f8, f8, i8, u8[], f8, f8",
)
def _walk_edges(
    start: IntArray,
    neighbour: Int32Array,
    owner: Int32Array,
    twin: IntArray,
    level: IntArray,
    size: FloatArray,
    residual: FloatArray,
    unit: float,
    power: float,
    proposals: int,
    state: State,
    energy: float,
    enough: float,
) -> tuple[int, int]:
    """Walk by the cells of edges."""
    taken = 0
    for proposal in range(proposals):
        first, second = below(state, neighbour.size), below(state, neighbour.size)
        a, b, c, d = owner[first], neighbour[first], owner[second], neighbour[second]
        if a in (c, d) or b in (c, d):
            continue
        lost, gone = pair_cell(level[a], level[b]), pair_cell(level[c], level[d])
        won, new = pair_cell(level[a], level[d]), pair_cell(level[c], level[b])
        before = residual[lost], residual[gone], residual[won], residual[new]
        # Some of the cells may be the same one, so that each is changed in turn.
        residual[lost] -= unit / (size[a] + size[b])
        rise = abs(residual[lost]) - abs(before[0])
        middle = residual[gone]
        residual[gone] -= unit / (size[c] + size[d])
        rise += abs(residual[gone]) - abs(middle)
        middle = residual[won]
        residual[won] += unit / (size[a] + size[d])
        rise += abs(residual[won]) - abs(middle)
        middle = residual[new]
        residual[new] += unit / (size[c] + size[b])
        rise += abs(residual[new]) - abs(middle)
        # Most steps are refused for their energy: whether the new edges are already there is looked up only then.
        if (
            _taken(rise, power, state)
            and not connected(start, neighbour, a, d)
            and not connected(start, neighbour, c, b)
        ):
            exchange(neighbour, owner, twin, first, second)
            taken += 1
            energy += rise
            if energy <= enough:
                return proposal + 1, taken
        else:
            residual[lost], residual[gone], residual[won], residual[new] = before
    return proposals, taken


def _move(residual: FloatArray, cell: int, change: float, cells: IntArray, before: FloatArray, moved: int) -> float:
    """Change one cell, record it, and return the energy increase."""
    cells[moved] = cell
    before[moved] = residual[cell]
    residual[cell] += change
    return float(abs(residual[cell]) - abs(before[moved]))


def _triangles_move(
    start: IntArray,
    neighbour: Int32Array,
    level: IntArray,
    size: FloatArray,
    residual: FloatArray,
    unit: float,
    nodes: tuple[int, int, int, int],
    seen: IntArray,
    mark: int,
    cells: IntArray,
    before: FloatArray,
    moved: int,
) -> tuple[float, int]:
    """Move the triangles of edge a-b to a-d; return energy and cells."""
    a, b, c, d = nodes
    rise = 0.0
    for place in range(start[a], start[a + 1]):
        seen[neighbour[place]] = mark
    for place in range(start[b], start[b + 1]):
        third = neighbour[place]
        if seen[third] == mark:
            change = -3.0 * unit / (size[a] + size[b] + size[third])
            rise += _move(residual, triple_cell(level[a], level[b], level[third]), change, cells, before, moved)
            moved += 1
    for place in range(start[d], start[d + 1]):
        third = neighbour[place]
        # The edges a-b and c-d will be gone, so that b and c make no triangle with a and d.
        if seen[third] == mark and third != b and third != c:
            change = 3.0 * unit / (size[a] + size[d] + size[third])
            rise += _move(residual, triple_cell(level[a], level[d], level[third]), change, cells, before, moved)
            moved += 1
    return rise, moved


@loop(
    "const i8[], i4[], i4[], i8[], i8[], f8[], f8[], f8, f8, i8, u8[], f8, f8, i8[], i8[], f8[]",
    "i8[], i4[], i4[], i8[], i8[], f8[], f8[], f8, f8, i8, u8[], f8, f8, i8[], i8[], f8[]",
)
def _walk_triangles(
    start: IntArray,
    neighbour: Int32Array,
    owner: Int32Array,
    twin: IntArray,
    level: IntArray,
    size: FloatArray,
    residual: FloatArray,
    unit: float,
    power: float,
    proposals: int,
    state: State,
    energy: float,
    enough: float,
    seen: IntArray,
    cells: IntArray,
    before: FloatArray,
) -> tuple[int, int]:
    """Walk by the cells of triangles."""
    taken = 0
    for proposal in range(proposals):
        first, second = below(state, neighbour.size), below(state, neighbour.size)
        a, b, c, d = owner[first], neighbour[first], owner[second], neighbour[second]
        if a in (c, d) or b in (c, d):
            continue
        if connected(start, neighbour, a, d) or connected(start, neighbour, c, b):
            continue
        rise, moved = _triangles_move(
            start, neighbour, level, size, residual, unit, (a, b, c, d), seen, 2 * proposal, cells, before, 0
        )
        more, moved = _triangles_move(
            start, neighbour, level, size, residual, unit, (c, d, a, b), seen, 2 * proposal + 1, cells, before, moved
        )
        if _taken(rise + more, power, state):
            exchange(neighbour, owner, twin, first, second)
            taken += 1
            energy += rise + more
            if energy <= enough:
                return proposal + 1, taken
        else:
            for place in range(moved - 1, -1, -1):
                residual[cells[place]] = before[place]
    return proposals, taken


# Weighted questions about a graph (wPINQ), and by how much one edge more or less can change each answer.
#
# Every record carries a weight, made so small where a record depends on much that one edge never changes the sum of
# all weights by more than a constant. The constants below are per undirected edge. The rules of wPINQ would count how
# often a question uses the edges (joint degrees 4 times, triangles 9 times) and would count an edge twice, as two
# directed records: 8 and 18. What the answers really change by is less, and is proved here; tests add and take edges
# to see it.
#
# Let an edge join u and v, which had p and q neighbors before. No other node changes its degree.
#
# * Degrees. How many nodes have more than i neighbors changes by 1 at i = p and at i = q: 2 together. Sorted degrees
#   change by 2 together, because degrees do, and sorting two lists never moves them further apart.
# * Joint degrees: an edge between degrees x and y weighs 1 / (1 + x + y). The p edges at u leave a cell and enter
#   another: each changes at most 1 / (1 + p + 1) + 1 / (1 + p + 1 + 1), as the other end has at least one neighbour.
#   Together that is p / (p + 2) + p / (p + 3) = 2 - 2 / (p + 2) - 3 / (p + 3), and the same for v. The new edge weighs
#   1 / (3 + p + q), which is less than what u lacks to 2. So the change stays below 4, and comes near it for large p
#   and q.
# * Triangles: one with degrees x, y and z weighs 3 / (x² + y² + z²). Those at u are the edges among its p neighbors.
#   As 1 / (s + t) is at most (1 / s + 1 / t) / 4, and with k the number of such edges at a neighbour w, whose degree is
#   at least k + 1, w's part is at most 3/4 k / (p² / 2 + (k + 1)²), which is at most 3/8 / (p / √2 + 1). All p
#   neighbors together: at most 3/8 √2 p / (p + √2), and after the edge is there 3/8 √2 p / (p + 1 + √2). So u's
#   triangles change by less than 3/4 √2, and at least 3/8 √2 (1 + 2 √2) / (p + 1 + √2) less. The same holds for v, and
#   no triangle has both before. The new ones, at most min(p, q) =: p of them, weigh at most
#   3 p / (2 (p + 1)² + 4) together, which is less than that for every p. So the change stays below 3 / √2.

DEGREE_DISTRIBUTION_CHANGES = 2.0
DEGREE_SEQUENCE_CHANGES = 2.0
JOINT_DEGREES_CHANGE = 4.0
TRIANGLES_CHANGE = 3 / np.sqrt(2)


def degree_distribution(degrees: IntArray) -> FloatArray:
    """Return the number of nodes above each degree.

    >>> degree_distribution(np.array([1, 2, 1]))
    array([3., 1.])
    """
    nodes = degrees.size
    return (nodes - np.cumsum(np.bincount(degrees, minlength=nodes))[: nodes - 1]).astype(np.float64)


def degree_sequence(degrees: IntArray) -> FloatArray:
    """Return all degrees, the largest first.

    >>> degree_sequence(np.array([1, 2, 1]))
    array([2., 1., 1.])
    """
    return np.sort(degrees)[::-1].astype(np.float64)


def pair_cell(one: int, other: int) -> int:
    """Return the number of the cell of two classes, in any order.

    >>> [pair_cell(*pair) for pair in ((0, 0), (1, 0), (0, 1), (1, 1), (0, 2))]
    [0, 1, 1, 2, 3]
    """
    high = max(one, other)
    return high * (high + 1) // 2 + min(one, other)


def triple_cell(one: int, other: int, third: int) -> int:
    """Return the number of the cell of three classes, in any order.

    >>> [triple_cell(*each) for each in ((0, 0, 0), (0, 1, 0), (1, 0, 1), (1, 1, 1), (2, 0, 0))]
    [0, 1, 2, 3, 4]
    """
    high = max(one, other, third)
    low = min(one, other, third)
    middle = one + other + third - high - low
    return high * (high + 1) * (high + 2) // 6 + middle * (middle + 1) // 2 + low


def pair_cells(classes: int) -> int:
    """Return how many cells of two classes there are."""
    return classes * (classes + 1) // 2


def triple_cells(classes: int) -> int:
    """Return how many cells of three classes there are."""
    return classes * (classes + 1) * (classes + 2) // 6


def pair_weights(start: IntArray, neighbour: Int32Array, level: IntArray, size: FloatArray, cells: int) -> FloatArray:
    """Return the edge weights summed per cell of two classes.

    Parameters
    ----------
    start, neighbour
        The neighbors of each node.
    level
        The class of each node, from 0.
    size
        An edge weighs ``1 / (size of one end + size of the other)``; joint degrees have a size of degree + 1/2.
    cells
        How many cells there are.

    >>> pair_weights(np.array([0, 1, 2]), np.array([1, 0], np.int32), np.array([0, 1]), np.array([1.5, 1.5]), 3)
    array([0.        , 0.33333333, 0.        ])
    """
    row = row_numbers(start)
    once = row < neighbour
    one, other = row[once], neighbour[once]
    high = np.maximum(level[one], level[other])
    cell = high * (high + 1) // 2 + np.minimum(level[one], level[other])
    return np.bincount(cell, 1 / (size[one] + size[other]), minlength=cells).astype(np.float64)


@loop("i8[], i4[], i8[], f8[], f8[]")
def _add_triangles(
    start: IntArray, neighbour: Int32Array, level: IntArray, size: FloatArray, table: FloatArray
) -> None:
    """Add the weight of every triangle to its cell.

    Rows hold only neighbors that come later in some order.
    """
    seen = np.full(start.size - 1, -1)
    for one in range(start.size - 1):
        for place in range(start[one], start[one + 1]):
            seen[neighbour[place]] = one
        for place in range(start[one], start[one + 1]):
            other = neighbour[place]
            for step in range(start[other], start[other + 1]):
                third = neighbour[step]
                if seen[third] == one:
                    cell = triple_cell(level[one], level[other], level[third])
                    table[cell] += 3.0 / (size[one] + size[other] + size[third])


def triple_weights(start: IntArray, neighbour: Int32Array, level: IntArray, size: FloatArray, cells: int) -> FloatArray:
    """Return the triangle weights summed per cell of three classes.

    The settings are those of ``pair_weights``, but a triangle weighs 3 / (sum of the three sizes); triangles by degree
    have a size of degree squared.
    """
    # Looking from nodes with few neighbors to those with more, no row is longer than the square root of 2 m.
    degrees = np.diff(start)
    rank = np.empty(degrees.size, np.int64)
    rank[np.argsort(degrees, kind="stable")] = np.arange(degrees.size)
    row = row_numbers(start)
    later = rank[row] < rank[neighbour]
    ahead = np.zeros_like(start)
    np.cumsum(np.bincount(row[later], minlength=degrees.size), out=ahead[1:])
    table = np.zeros(cells)
    add = _add_triangles if neighbour.size <= PLAIN_UP_TO else compiled(_add_triangles)
    add(ahead, neighbour[later], level, size, table)
    return table


# Cells of edges or triangles by classes of degrees, wide enough that a noisy weight of each still says something.

#: Cells are kept in one array of 8 bytes each.
MOST_CELLS = 2**24


@dataclass(frozen=True)
class DegreeCells:
    """Measured weights of edges or triangles, by degree classes.

    Attributes
    ----------
    triangles
        Whether triangles are asked for, or else edges.
    bounds
        The bounds between one class of degrees and the next; no bounds make one class.
    loops
        Whether a triangle's weight has d (d + 1) for each degree d in place of its square, as the public code of wPINQ
        has it, which counts ways from a node to a neighbour and back.

    Examples
    --------
    >>> path = np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32)
    >>> DegreeCells(triangles=False, bounds=np.array([1.5])).answer(*path)
    array([0. , 0.5, 0. ])
    """

    triangles: bool
    bounds: FloatArray
    loops: bool = False

    @property
    def count(self) -> int:
        """The number of cells."""
        return cells_of(self.bounds.size + 1, triangles=self.triangles)

    def levels(self, degrees: IntArray) -> IntArray:
        """Return the class of each degree, from 0."""
        return np.searchsorted(self.bounds, degrees, side="right").astype(np.int64)

    def sizes(self, degrees: IntArray) -> FloatArray:
        """Return each degree's part of a weight's divisor."""
        degree = degrees.astype(np.float64)
        if not self.triangles:
            return degree + 0.5
        return degree * (degree + self.loops)

    def answer(self, start: IntArray, neighbour: Int32Array) -> FloatArray:
        """Return the weight in each cell of a graph."""
        degrees = np.diff(start)
        weights = triple_weights if self.triangles else pair_weights
        return weights(start, neighbour, self.levels(degrees), self.sizes(degrees), self.count)


def cells_of(classes: int, *, triangles: bool) -> int:
    """Return the number of cells of some classes.

    >>> cells_of(3, triangles=False), cells_of(3, triangles=True)
    (6, 10)
    """
    return triple_cells(classes) if triangles else pair_cells(classes)


def classes_for(most_cells: float, *, triangles: bool) -> int:
    """Return the number of classes within a cell limit, at least 1.

    >>> classes_for(20, triangles=False), classes_for(20, triangles=True)
    (5, 4)
    """
    classes = 1
    while cells_of(classes + 1, triangles=triangles) <= min(most_cells, MOST_CELLS):
        classes += 1
    return classes


def cells_for(
    start: IntArray, neighbour: Int32Array, classes: int, *, triangles: bool, loops: bool = False
) -> DegreeCells:
    """Return cells with degree classes of about equal weight.

    Parameters
    ----------
    start, neighbour
        The neighbors of each node; the joint degrees decide how much each degree weighs.
    classes
        How many classes there should be. With one or more for every degree that occurs, each degree is a class; there
        are fewer where one degree weighs more than a class should.
    triangles, loops
        As in the class.

    Examples
    --------
    >>> path = np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32)
    >>> cells_for(*path, 2, triangles=False).bounds
    array([1.5])
    """
    degrees = np.diff(start)
    distinct = np.unique(degrees[degrees > 0])
    place = np.searchsorted(distinct, degrees[row_numbers(start)])
    weight = np.bincount(place, _half_weights(start, neighbour)).astype(np.float64)
    return DegreeCells(triangles, class_bounds(distinct, weight, classes), loops)


def class_bounds(distinct: IntArray, weight: FloatArray, classes: int) -> FloatArray:
    """Return bounds of about equally heavy degree classes.

    >>> class_bounds(np.array([1, 2, 5]), np.array([1.0, 1.0, 2.0]), 2)
    array([3.5])
    """
    number: NDArray[np.generic] = np.arange(distinct.size)
    if classes < distinct.size:
        until = np.cumsum(weight)
        number = np.floor(classes * (until - weight / 2) / until[-1])
    last = np.flatnonzero(np.diff(number))
    # A degree that does not occur belongs to the class whose nearest degree is nearer.
    bounds: FloatArray = (distinct[last] + distinct[last + 1]) / 2
    return bounds


def _half_weights(start: IntArray, neighbour: Int32Array) -> FloatArray:
    """Return the edge weight per joint-degree element; edges have two."""
    degrees = np.diff(start)
    weights: FloatArray = 1.0 / (1 + degrees[row_numbers(start)] + degrees[neighbour])
    return weights
