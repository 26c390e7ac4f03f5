"""Edges that change their ends pairwise, so that every node keeps its degree."""

from typing import NamedTuple

import numpy as np

from unveil._kernels._compile import PLAIN_UP_TO, compiled, loop
from unveil._kernels.graph.lookup import has_edge, key_of
from unveil._kernels.graph.rows import edge_keys
from unveil._kernels.key_set import add_key, has_key, key_table, keys_in
from unveil._kernels.random import State, below
from unveil._kernels.types import Int32Array, IntArray

#: So many draws in a row may be rejected before a switch is given up.
TRIES = 100
# All draws together may be rejected this often per edge, so that the time is in proportion to the number of edges.
_TRIES_PER_EDGE = 10
_LEAST_TRIES = 1000


class SwitchingResult(NamedTuple):
    """The edge keys after switching, unordered, and the numbers of switches done and given up."""

    keys: IntArray
    done: int
    given_up: int


def switched_edges(start: IntArray, neighbour: Int32Array, keys: IntArray, asked: int, state: State) -> SwitchingResult:
    """Return the edges after up to ``asked`` switches of two edges each, drawn with ``state``.

    A switch turns the edges t-w and u-v into t-v and u-w, where all four are different nodes and neither new edge was
    ever there. An edge is switched at most once, so each switch takes two edges of the original away for good.

    >>> start, neighbour = np.array([0, 1, 2, 3, 4]), np.array([1, 0, 3, 2], np.int32)  # two edges apart
    >>> switched = switched_edges(start, neighbour, np.array([1, 11]), 1, np.zeros(1, np.uint64))
    >>> switched.keys, switched.done, switched.given_up
    (array([2, 7]), 1, 0)
    """
    nodes = start.size - 1
    pool = np.stack(np.divmod(keys, max(nodes, 1)), axis=1)
    asked = min(asked, keys.size)
    table = key_table(2 * asked)
    run = _switch if keys.size <= PLAIN_UP_TO else compiled(_switch)
    left, done, given_up = run(start, neighbour, pool, asked, table, state)
    kept = edge_keys(pool[:left, 0], pool[:left, 1], nodes)
    return SwitchingResult(np.concatenate([kept, keys_in(table)]), int(done), int(given_up))


@loop("const i8[], const i4[], i8[,], i8, i8[], u8[]")
def _switch(
    start: IntArray, neighbour: Int32Array, pool: IntArray, asked: int, table: IntArray, state: State
) -> tuple[int, int, int]:
    """Return how many edges are left at the front of the pool, and how many switches were done and given up."""
    left, done, given_up, rejected = len(pool), 0, 0, 0
    most = max(_TRIES_PER_EDGE * left, _LEAST_TRIES)
    while done + given_up < asked and left > 1 and rejected < most:
        tries = 0
        while tries < TRIES and not _try_switch(start, neighbour, pool, left, table, state):
            tries += 1
        rejected += tries
        if tries == TRIES:
            given_up += 1
        else:
            left -= 2
            done += 1
    return left, done, given_up


def _try_switch(
    start: IntArray, neighbour: Int32Array, pool: IntArray, left: int, table: IntArray, state: State
) -> bool:
    """Draw two edges and return whether they could be switched; then they have left the pool for the table."""
    nodes = start.size - 1
    first = below(state, left)
    second = below(state, left - 1)
    if second >= first:
        second += 1
    # Turning both edges round gives the same two new ones, so turning one of them covers all cases.
    side = below(state, 2)
    t, w = pool[first, 0], pool[first, 1]
    u, v = pool[second, side], pool[second, 1 - side]
    if t in (u, v) or w in (u, v):
        return False
    if has_edge(start, neighbour, t, v) or has_edge(start, neighbour, u, w):
        return False
    if has_key(table, key_of(t, v, nodes)) or has_key(table, key_of(u, w, nodes)):
        return False
    add_key(table, key_of(t, v, nodes))
    add_key(table, key_of(u, w, nodes))
    # The last two take the places of both; the higher place first, because it may itself be one of the last two.
    for step in range(2):
        gone = max(first, second) if step == 0 else min(first, second)
        pool[gone, 0], pool[gone, 1] = pool[left - 1 - step, 0], pool[left - 1 - step, 1]
    return True
