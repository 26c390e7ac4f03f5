"""Yartseva-Grossglauser attack: percolation over pairs that share mapped neighbors."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from unveil._kernels._compile import compiled, loop
from unveil._kernels.graph.witnesses import FIRST, NEVER, GraphSide, is_small
from unveil._kernels.random import State, below, fresh_state
from unveil._kernels.types import BoolArray, IntArray
from unveil.attacks._listing import attack
from unveil.attacks.graph._course import both_sides, guess_after
from unveil.attacks.graph._guess import check_knowledge
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphKnowledge
from unveil.errors import whole_number
from unveil.guesses.candidates import Candidates


@attack(source="Yartseva and Grossglauser (2013), percolation graph matching", aka=("YG",), scope="local")
@dataclass(frozen=True, kw_only=True)
class YartsevaGrossglauser:
    """Map two nodes once enough pairs of their neighbors are mapped.

    Each mapped pair, drawn at random, gives one mark to every pair of its neighbors that are not mapped yet. A pair
    with ``theta`` marks is mapped at once and will give marks itself; where several pairs reach that number by the same
    marks, the lot decides which comes first. It ends when all mapped pairs have given their marks.

    The guess holds the free auxiliary nodes that shared a mark with the node when it was mapped, in proportion to the
    number of marks; nodes never mapped are not attempted.

    Parameters
    ----------
    theta
        How many marks a pair needs, from 1. With 1 the first two that share a mapped pair of neighbors are mapped; a
        number that no pair reaches leaves an empty guess.
    strict
        True asks for more than ``theta`` marks, as one well-known implementation does.

    Examples
    --------
    >>> ring = Graph.from_edges([0, 1, 2, 3, 4, 0, 0], [1, 2, 3, 4, 0, 2, 3])
    >>> knowledge = GraphKnowledge(ring, np.array([[0, 0], [1, 1]]))
    >>> guess = YartsevaGrossglauser().run(released=ring, knowledge=knowledge, rng=np.random.default_rng(1))
    >>> guess.chosen
    array([-1, -1,  2,  3,  4], dtype=int32)
    """

    theta: int = 2
    strict: bool = False

    def __post_init__(self) -> None:
        whole_number(self.theta, "theta")

    def run(self, *, released: Graph, knowledge: GraphKnowledge, rng: np.random.Generator) -> Candidates:
        """Return each released node's mapping and runners-up; ``rng`` orders turns."""
        check_knowledge(released, knowledge, attack="Yartseva-Grossglauser")
        here, there = both_sides(released, knowledge, rng)
        decided = percolate(here, there, int(self.theta) + self.strict, fresh_state(rng))
        return guess_after(here, there, decided)


# Mapped pairs give marks to the pairs of their neighbors, and a pair with enough marks is mapped itself.

Marks = NDArray[np.int16]

# Up to this many pairs of nodes, their marks are kept (2 bytes each); beyond, they are counted whenever they may
# suffice.
_KEPT_UP_TO = 30_000_000
# A pair of at most 30 million has fewer marks than this, so a higher threshold cannot be reached either.
_MOST_MARKS = 32_000


def percolate(here: GraphSide, there: GraphSide, need: int, state: State) -> IntArray:
    """Map pairs with ``need`` marks; return each node's time, or ``NEVER``.

    Nodes that have a partner are the first to give marks. One pair after the other, drawn at random from those that
    have not done so yet, gives one mark to each pair of their neighbors that are not mapped. Nodes in a pair that now
    has enough are mapped one after the other in an order drawn at random, each to one of its candidates with enough
    marks that is still free, drawn at random. Both sides change.
    """
    nodes, others = here.start.size - 1, there.start.size - 1
    known = here.partner >= 0
    here.used[known], there.used[there.partner >= 0] = NEVER, NEVER
    kept = nodes * others <= _KEPT_UP_TO
    marks = np.zeros((nodes, others) if kept else (0, 0), np.int16)
    run = _percolate if is_small(here, there) else compiled(_percolate)
    run(here, there, np.flatnonzero(known), min(need, _MOST_MARKS), marks, state)
    return np.where(known, NEVER, here.taken)


@loop(
    "GraphSide(const i8[], const i4[], i8[], i8[], i8[], i8[], i8[]), "
    "GraphSide(const i8[], const i4[], i8[], i8[], i8[], i8[], i8[]), i8[], i8, i2[,], u8[]",
)
def _percolate(here: GraphSide, there: GraphSide, known: IntArray, need: int, marks: Marks, state: State) -> None:
    nodes, others = here.start.size - 1, there.start.size - 1
    waiting = np.empty(nodes, np.int64)
    for place in range(known.size):
        waiting[place] = known[place]
    left, now = known.size, FIRST
    givers, givers_there = np.zeros(nodes, np.int64), np.zeros(others, np.int64)
    is_near = np.zeros(nodes, np.bool_)
    cells = np.empty((64, 2), np.int64)
    while left > 0:
        place = below(state, left)
        node, left = waiting[place], left - 1
        waiting[place] = waiting[left]
        other = here.partner[node]
        here.used[node] = there.used[other] = now
        now += 1
        if marks.size > 0:
            size, cells = _give_marks(here, there, node, other, need, marks, cells)
        else:
            _add_giver(here, node, givers)
            _add_giver(there, other, givers_there)
            size, cells = _count_marks(here, there, node, other, need, givers, givers_there, is_near, cells)
        left, now = _map_by_lot(here, there, cells[:size], waiting, left, now, state)


def _add_giver(here: GraphSide, node: int, givers: IntArray) -> None:
    for place in range(here.start[node], here.start[node + 1]):
        givers[here.neighbour[place]] += 1


def _free_neighbours(here: GraphSide, node: int, givers: IntArray, at_least: int) -> IntArray:
    """Return a node's unmapped neighbors with enough markers."""
    free = np.empty(here.start[node + 1] - here.start[node], np.int64)
    size = 0
    for place in range(here.start[node], here.start[node + 1]):
        near = here.neighbour[place]
        if here.taken[near] == NEVER and (at_least == 0 or givers[near] >= at_least):
            free[size] = near
            size += 1
    return free[:size]


def _give_marks(
    here: GraphSide, there: GraphSide, node: int, other: int, need: int, marks: Marks, cells: IntArray
) -> tuple[int, IntArray]:
    """Spread one pair's marks; return the pairs that have enough."""
    free = _free_neighbours(there, other, there.taken, 0)
    size = 0
    for near in _free_neighbours(here, node, here.taken, 0):
        for candidate in free:
            marks[near, candidate] += 1
            if marks[near, candidate] >= need:
                cells = _with_room(cells, size)
                cells[size, 0], cells[size, 1] = near, candidate
                size += 1
    return size, cells


def _count_marks(
    here: GraphSide,
    there: GraphSide,
    node: int,
    other: int,
    need: int,
    givers: IntArray,
    givers_there: IntArray,
    is_near: BoolArray,
    cells: IntArray,
) -> tuple[int, IntArray]:
    """Return the same by counting markers, without stored marks."""
    size = 0
    free = _free_neighbours(there, other, givers_there, need)
    for near in _free_neighbours(here, node, givers, need):
        for place in range(here.start[near], here.start[near + 1]):
            is_near[here.neighbour[place]] = True
        for candidate in free:
            count = 0
            for place in range(there.start[candidate], there.start[candidate + 1]):
                giver = there.neighbour[place]
                if there.used[giver] < NEVER and is_near[there.partner[giver]]:
                    count += 1
                    if count == need:
                        break
            if count == need:
                cells = _with_room(cells, size)
                cells[size, 0], cells[size, 1] = near, candidate
                size += 1
        for place in range(here.start[near], here.start[near + 1]):
            is_near[here.neighbour[place]] = False
    return size, cells


def _with_room(cells: IntArray, size: int) -> IntArray:
    if size < len(cells):
        return cells
    wider = np.empty((2 * size, 2), np.int64)
    for place in range(size):
        wider[place, 0], wider[place, 1] = cells[place, 0], cells[place, 1]
    return wider


def _map_by_lot(
    here: GraphSide, there: GraphSide, cells: IntArray, waiting: IntArray, left: int, now: int, state: State
) -> tuple[int, int]:
    """Map these cells in random order and queue them; return queue and time."""
    rows = _starts_of_rows(cells)
    order = np.empty(rows.size - 1, np.int64)
    for row in range(order.size):
        order[row] = row
    free = np.empty(len(cells), np.int64)
    for last in range(order.size - 1, -1, -1):
        drawn = below(state, last + 1)
        row = order[drawn]
        order[drawn] = order[last]
        size = 0
        for place in range(rows[row], rows[row + 1]):
            if there.taken[cells[place, 1]] == NEVER:
                free[size] = cells[place, 1]
                size += 1
        if size == 0:
            continue
        node, other = cells[rows[row], 0], free[below(state, size)]
        here.partner[node], there.partner[other] = other, node
        here.taken[node] = there.taken[other] = now
        waiting[left] = node
        left, now = left + 1, now + 1
    return left, now


def _starts_of_rows(cells: IntArray) -> IntArray:
    """Return the start positions of cell rows."""
    starts = np.empty(len(cells) + 1, np.int64)
    rows = 0
    for place in range(len(cells)):
        if place == 0 or cells[place, 0] != cells[place - 1, 0]:
            starts[rows] = place
            rows += 1
    starts[rows] = len(cells)
    return starts[: rows + 1]
