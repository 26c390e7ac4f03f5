"""Switch: exchange the ends of edge pairs, and keep all degrees."""

from dataclasses import dataclass
from math import floor
from typing import NamedTuple

import numpy as np

from unveil._kernels._compile import PLAIN_UP_TO, compiled, loop
from unveil._kernels.graph.rows import edge_keys, has_edge, key_of
from unveil._kernels.key_set import add_key, has_key, key_table, keys_in
from unveil._kernels.random import State, below, fresh_state
from unveil._kernels.types import Int32Array, IntArray
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphRelease
from unveil.errors import share
from unveil.guesses.partition import exact_fraction
from unveil.protections._listing import protection
from unveil.protections.graph._release import check_edges, counted, graph_release


@protection(
    source='Ying and Wu, "Randomizing social networks: a spectrum preserving approach", 2008',
    aka=("Rand Switch", "rewiring"),
    least_rows=2,
    needs_edges=True,
    keeps=("node count", "edge count", "degrees"),
    exchanges="share",
)
@dataclass(frozen=True, kw_only=True)
class Switch:
    """Let random pairs of edges exchange their ends, keeping all degrees.

    Two edges t-w and u-v become t-v and u-w if these are four nodes and neither new edge is, or ever was, in the
    graph. An edge takes part in one switch at most. So every switch replaces exactly two edges of the original by new
    ones, and none is undone: a share r of switches changes a share 2 r of the edges. The number of switches is the
    largest whole number up to ``share`` times the number of edges.

    A switch is given up after 100 draws that do not fit, and all draws together are bounded by the number of edges. On
    graphs in which few pairs fit (a star, a complete graph) fewer are done than asked for, perhaps none; the notes then
    say so. No node's degree is hidden: an attacker who knows a node's degree finds the same number here.

    Parameters
    ----------
    share
        How many switches to do, as a share of the edges, from 0 to 1. 0 changes nothing; more than 0.5 cannot be done,
        because each switch uses up two edges.

    Examples
    --------
    >>> ring = Graph.from_edges(range(40), [*range(1, 40), 0])
    >>> release = Switch(share=0.1).apply(ring, rng=np.random.default_rng(1))
    >>> dict(release.facts)
    {'switches asked for': 4, 'switches done': 4, 'edges changed': 8}
    """

    share: float = 0.05

    def __post_init__(self) -> None:
        share(self.share, "share")

    def apply(self, original: Graph, *, rng: np.random.Generator) -> GraphRelease:
        """Return the graph after the switches, with nodes numbered at random."""
        check_edges(original, what="switch")
        asked = floor(exact_fraction(self.share, what="share") * original.edges)
        switched = switched_edges(original.start, original.neighbour, original.keys, asked, fresh_state(rng))
        return graph_release(
            original,
            switched.keys,
            name="switch",
            rng=rng,
            notes=_notes(self.share, original.edges, asked, switched),
            facts={
                "switches asked for": asked,
                "switches done": switched.done,
                "edges changed": 2 * switched.done,
            },
        )


# Edges that change their ends pairwise, so that every node keeps its degree.

#: This many draws in a row may be rejected before a switch is given up.
TRIES = 100
# All draws together may be rejected this often per edge, so that the time is in proportion to the number of edges.
_TRIES_PER_EDGE = 10
_LEAST_TRIES = 1000


class SwitchingResult(NamedTuple):
    """Edge keys after switching, with switches done and given up."""

    keys: IntArray
    done: int
    given_up: int


def switched_edges(start: IntArray, neighbour: Int32Array, keys: IntArray, asked: int, state: State) -> SwitchingResult:
    """Return edges after up to ``asked`` random switches.

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
    """Return edges left in the pool, and switches done and given up."""
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
    """Draw two edges and try to switch them; return success.

    After a success they have left the pool for the table.
    """
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


def _notes(share: float, edges: int, asked: int, switched: SwitchingResult) -> tuple[str, ...]:
    """Say why fewer edges were switched than a reader would expect."""
    if asked == 0 and share > 0:
        return (
            f"no edge was switched: a share of {share} of {counted(edges, 'edge', 'edges')} is less than one switch",
        )
    if switched.done == asked:
        return ()
    done, left = switched.done, edges - 2 * switched.done
    head = f"{done:,} of {counted(asked, 'switch', 'switches')} {'was' if done == 1 or asked == 1 else 'were'} done:"
    if left < 2:
        return (f"{head} each uses up two edges, and {'none' if left == 0 else 'only 1'} was left",)
    undone = "it was" if asked == 1 else "all were" if done == 0 else "the rest was"
    return (
        f"{head} {undone} given up after {TRIES} draws each, because no two edges could exchange their ends without "
        "repeating an edge. Few pairs fit in a dense graph, or where most edges meet",
    )
