"""A walk through the graphs with the same degrees, towards one whose weighted answers are near those measured.

Two edges a-b and c-d become a-d and c-b: all degrees stay, and only cells of edges or triangles at these nodes change.
How far the graph is from the measurement (the energy) is the sum of ``|answer - measured| / scale`` over all cells; a
step that raises it is taken with probability ``exp(-power * rise)``.
"""

import numpy as np

from unveil._kernels._compile import compiled, loop
from unveil._kernels.graph.half_edges import HalfEdges, connected, exchange
from unveil._kernels.graph.wpinq_queries import pair_cell, triple_cell
from unveil._kernels.random import State, below, next_float
from unveil._kernels.types import FloatArray, Int32Array, IntArray

# Plain Python takes a few hundredths of a second for so many; triangles need about ten times as long.
_PLAIN_PROPOSALS = 2_000


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
    """Change the graph and the residuals in place; return how many proposals were made, and how many were taken.

    Parameters
    ----------
    graph
        The graph so far.
    level, size
        The class of each node, and what its degree adds to the divisor of a weight; see ``wpinq_queries``.
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
    """Change one cell, remember what it was, and return by how much the energy rises."""
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
    """Take the triangles of the edge a-b away and add those of a-d; return the rise of the energy, and cells moved."""
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
