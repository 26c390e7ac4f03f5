"""A simple graph while edges are placed: each node has as many slots as it should get neighbours.

Nodes lie in classes of consecutive numbers. Where a node of a class has no empty slot but another of the class has one,
a neighbour moves from the first to the other: that changes neither which classes an edge joins nor anybody else's
degree. If all nodes of a class have as many slots, then the other always lacks a neighbour that the first has. So
every table of joint degrees that some simple graph has can be reached, edge by edge, from any part of it.

The functions are written for both plain Python and numba.
"""

from unveil._kernels._compile import loop
from unveil._kernels.random import State, below
from unveil._kernels.types import BoolArray, IntArray


def has_room(node: int, start: IntArray, filled: IntArray) -> bool:
    """Return whether a node has an empty slot."""
    return bool(filled[node] < start[node + 1] - start[node])


def add(node: int, new: int, start: IntArray, slot: IntArray, filled: IntArray) -> None:
    """Put a neighbour into the first empty slot of a node; the other end needs its own call."""
    slot[start[node] + filled[node]] = new
    filled[node] += 1


def take_out(node: int, old: int, start: IntArray, slot: IntArray, filled: IntArray) -> None:
    """Empty the slot of a node in which a neighbour is; the last neighbour takes its place."""
    place = start[node]
    while slot[place] != old:
        place += 1
    filled[node] -= 1
    slot[place] = slot[start[node] + filled[node]]


def are_joined(one: int, other: int, start: IntArray, slot: IntArray, filled: IntArray) -> bool:
    """Return whether two nodes are neighbours."""
    if filled[other] < filled[one]:
        one, other = other, one
    found = False
    for place in range(start[one], start[one] + filled[one]):
        found |= slot[place] == other
    return bool(found)


def mark(node: int, marks: IntArray, start: IntArray, slot: IntArray, filled: IntArray) -> int:
    """Mark the neighbours of a node and itself, with a number that no other call has used; return that number."""
    marks[-1] += 1
    for place in range(start[node], start[node] + filled[node]):
        marks[slot[place]] = marks[-1]
    marks[node] = marks[-1]
    return int(marks[-1])


def make_room(
    node: int, spared: int, first: int, last: int, start: IntArray, slot: IntArray, filled: IntArray, marks: IntArray
) -> bool:
    """Empty a slot of a node of the class from ``first`` to before ``last``; return whether it has one then.

    The node that is spared keeps an empty slot itself, if it has one.
    """
    if has_room(node, start, filled):
        return True
    for other in range(first, last):
        needed = 2 if other == spared else 1
        if start[other + 1] - start[other] - filled[other] < needed:
            continue
        seen = mark(other, marks, start, slot, filled)
        for place in range(start[node], start[node] + filled[node]):
            moved = slot[place]
            if marks[moved] != seen:
                take_out(node, moved, start, slot, filled)
                take_out(moved, node, start, slot, filled)
                add(moved, other, start, slot, filled)
                add(other, moved, start, slot, filled)
                return True
    return False


def place_edge(
    one: int,
    other: int,
    first: IntArray,
    start: IntArray,
    slot: IntArray,
    filled: IntArray,
    marks: IntArray,
    work: IntArray,
    state: State,
) -> bool:
    """Join a node of one class to one of the other; return whether that was possible.

    ``work[0]`` counts down with every node that is looked at; below 0 the search ends.
    """
    size, other_size = first[one + 1] - first[one], first[other + 1] - first[other]
    turn, other_turn = below(state, size), below(state, other_size)
    for step in range(size):
        node = first[one] + (turn + step) % size
        seen = mark(node, marks, start, slot, filled)
        partner = -1
        for other_step in range(other_size):
            found = first[other] + (other_turn + other_step) % other_size
            if marks[found] != seen:
                partner = found
                if has_room(found, start, filled):
                    break
        work[0] -= filled[node] + other_size
        if (
            partner >= 0
            and make_room(node, -1, first[one], first[one + 1], start, slot, filled, marks)
            and make_room(partner, node, first[other], first[other + 1], start, slot, filled, marks)
        ):
            add(node, partner, start, slot, filled)
            add(partner, node, start, slot, filled)
            return True
        if work[0] < 0:
            break
    return False


@loop("i8[], i8[], i8[], i8[], i8[], i8[], i8[], i8[], u8[], b1[]")
def place_edges(
    one: IntArray,
    other: IntArray,
    first: IntArray,
    start: IntArray,
    slot: IntArray,
    filled: IntArray,
    marks: IntArray,
    work: IntArray,
    state: State,
    placed: BoolArray,
) -> None:
    """Place an edge between each pair of classes, in turn, and write down which could be placed."""
    for edge in range(one.size):
        if work[0] < 0:
            break
        placed[edge] = place_edge(one[edge], other[edge], first, start, slot, filled, marks, work, state)


@loop("i8[], i8[], i8[], i8[], i8[], i8, u8[]")
def join_leftovers(
    ends: IntArray, owner: IntArray, start: IntArray, slot: IntArray, filled: IntArray, tries: int, state: State
) -> None:
    """Join empty slots in pairs, the first two nodes of ``ends``, the next two, and so on, whatever their classes.

    Two nodes that cannot be joined take the place of an edge that is drawn: each of its ends is joined to one of them.
    After that many tries they stay as they are.
    """
    for pair in range(0, ends.size - 1, 2):
        one, other = ends[pair], ends[pair + 1]
        if one != other and not are_joined(one, other, start, slot, filled):
            add(one, other, start, slot, filled)
            add(other, one, start, slot, filled)
            continue
        for _ in range(tries):
            place = below(state, slot.size)
            left, right = owner[place], slot[place]
            if place - start[left] >= filled[left] or left in (one, other) or right in (one, other):
                continue
            if are_joined(one, left, start, slot, filled) or are_joined(other, right, start, slot, filled):
                continue
            take_out(left, right, start, slot, filled)
            take_out(right, left, start, slot, filled)
            add(one, left, start, slot, filled)
            add(left, one, start, slot, filled)
            add(other, right, start, slot, filled)
            add(right, other, start, slot, filled)
            break
