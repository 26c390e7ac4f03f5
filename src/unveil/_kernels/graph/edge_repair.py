"""A simple graph from edges with loops and repeats, which keeps degrees and joint degrees as far as any can."""

import numpy as np

from unveil._kernels._compile import compiled
from unveil._kernels.graph.rows import edge_keys
from unveil._kernels.graph.slots import join_leftovers, place_edges
from unveil._kernels.random import State
from unveil._kernels.types import FloatArray, IntArray

# Nobody waits for a compiler below this number of ends.
_PLAIN_UP_TO = 2_000
_TRIES = 200


def simple_keys(
    one: IntArray, other: IntArray, nodes: int, grid: IntArray, state: State, lots: FloatArray
) -> tuple[IntArray, dict[str, int]]:
    """Return the keys of a simple graph whose nodes have as many edges as they have ends, and what was done for it.

    Loops and repeats are taken out. In their place come edges between nodes of the same two degrees; failing that,
    between nodes of the same two groups of degrees; failing that, between any nodes that lack one, where an edge that
    is drawn may make way and both its ends are joined again. What then is left is dropped.

    Parameters
    ----------
    one, other
        The ends of each edge.
    nodes
        The number of nodes.
    grid
        The least degree of each group of degrees but the first.
    state
        Of the generator inside loops.
    lots
        One random number per end of an edge.

    Examples
    --------
    >>> ends = np.array([0, 1, 2]), np.array([0, 1, 2])  # three loops: a triangle has the same degrees
    >>> keys, done = simple_keys(*ends, 3, np.array([1, 2]), np.ones(1, np.uint64), np.zeros(6))
    >>> np.sort(keys), done["dropped"]
    (array([1, 2, 5]), 0)
    """
    wanted = np.bincount(np.concatenate([one, other]), minlength=nodes)
    order = np.argsort(wanted, kind="stable")
    number = np.empty(nodes, np.int64)
    number[order] = np.arange(nodes)
    degree = wanted[order]
    good, left, right = _split(number[one], number[other], nodes)
    start, slot, filled = _slots(good, degree, nodes)
    plain = slot.size <= _PLAIN_UP_TO
    place = place_edges if plain else compiled(place_edges)
    work = np.array([4 * one.size * (int(degree.max(initial=0)) + 500)])
    marks = np.zeros(nodes + 1, np.int64)
    done = {"loops and repeats": left.size}
    for what, labels in (
        ("of the same degrees", degree),
        ("of the same groups", np.searchsorted(grid, degree, side="right")),
    ):
        first = np.append(np.flatnonzero(np.diff(labels, prepend=-1)), nodes)
        kind = np.searchsorted(first, np.arange(nodes), side="right") - 1
        placed = np.zeros(left.size, np.bool_)
        place(kind[left], kind[right], first, start, slot, filled, marks, work, state, placed)
        done[what] = int(placed.sum())
        left, right = left[~placed], right[~placed]
    lacking = np.repeat(np.arange(nodes), degree - filled)
    lacking = lacking[np.argsort(lots[: lacking.size])]
    join = join_leftovers if plain else compiled(join_leftovers)
    owner = np.repeat(np.arange(nodes), degree)
    join(lacking, owner, start, slot, filled, _TRIES, state)
    full = np.arange(slot.size) - start[owner] < filled[owner]
    once = full & (owner < slot)
    done["dropped"] = int(one.size - once.sum())
    done["anywhere"] = left.size - done["dropped"]
    return edge_keys(order[owner[once]], order[slot[once]], nodes), done


def _split(one: IntArray, other: IntArray, nodes: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return the keys of edges that can stay, and both ends of the others."""
    keys = edge_keys(one, other, nodes)
    stays = np.zeros(keys.size, np.bool_)
    stays[np.unique(keys, return_index=True)[1]] = True
    stays &= one != other
    return keys[stays], one[~stays], other[~stays]


def _slots(keys: IntArray, degree: IntArray, nodes: int) -> tuple[IntArray, IntArray, IntArray]:
    """Return where the slots of each node start, what is in them, and how many are filled."""
    start = np.append(0, np.cumsum(degree))
    smaller, larger = np.divmod(keys, max(nodes, 1))
    source, target = np.concatenate([smaller, larger]), np.concatenate([larger, smaller])
    order = np.argsort(source, kind="stable")
    filled = np.bincount(source, minlength=nodes)
    slot = np.full(start[-1], -1)
    place = np.arange(source.size) - np.repeat(np.cumsum(filled) - filled, filled)
    slot[start[source[order]] + place] = target[order]
    return start, slot, filled
