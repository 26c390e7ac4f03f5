"""A graph from noisy joint degrees: edge differential privacy."""

from dataclasses import dataclass
from math import log
from typing import Literal

import numpy as np

from unveil._kernels._compile import compiled, kernel, loop
from unveil._kernels.graph.roomy_rows import connect, disconnect, has_edge
from unveil._kernels.graph.rows import among, edge_keys
from unveil._kernels.random import State, below, fresh_state
from unveil._kernels.types import BoolArray, FloatArray, Int32Array, IntArray
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphRelease
from unveil.data.ledger import Ledger, Query, check_epsilon
from unveil.errors import InputError
from unveil.protections._listing import protection
from unveil.protections.graph._joint_degrees import (
    cells_of,
    drawn_edges,
    finest_grid,
    joint_table,
    nearest_counts,
    nodes_of_ends,
    places_of_cells,
    whole_counts,
)
from unveil.protections.graph._rank_pairing import PAIRED, paired_by_rank
from unveil.protections.graph._release import check_drawable, check_edges, check_shares, counted, graph_release

# The grid is as fine as it can be while the noise of all cells together is expected to be at most this share of edges.
_NOISE = 0.1
# The chance that the bound on degrees is below the largest one, so that those above it are cut.
_CUT = 0.05
# With less, noise is so large that floating point numbers no longer tell it from what it is added to.
# Above this there would be more than eight million cells.
_MOST_PLACES = 4_000


@protection(
    kind="synthetic",
    source='Sala, Zhao, Wilson, Zheng and Zhao, "Sharing graphs using differentially private graph models", 2011',
    aka=("dk-DP", "Pygmalion"),
    name="dk-series-dp",
    least_rows=2,
    needs_edges=True,
    keeps=("node count",),
)
@dataclass(frozen=True, kw_only=True)
class DkSeriesDP:
    """Measure joint degrees with noise, and draw a new graph.

    It is differentially private for single edges: an observer of the release can hardly tell whether any one edge was
    in the original. The number of nodes counts as public. Three questions are asked, and the ledger has them: the
    largest degree, the number of edges, and the number of edges by the degrees of both ends, for every cell of the
    table, also those where no node is. All else is made from the answers.

    The table has a cell for each two degrees of a grid; a degree between two of the grid counts for both, in part. One
    edge more or less moves all edges of its two ends to another cell; on a grid that widens with the degree it moves a
    small part of each. So a table for degrees up to 1,000 needs noise of some 30 edges in a cell, where one with all
    degrees needs 4,000. The grid depends on epsilon and the noisy answers alone; a huge epsilon gives a cell to
    each two degrees, and then the new graph has exactly the joint degrees of the original. Cells are clustered by the
    larger degree, and clusters of smaller degrees get less noise.

    Our reading, where the source leaves it open or its noise does not suffice: noise in empty cells as well, a largest
    degree that is paid for, degrees above its noisy bound cut to it, and noise for each cluster of cells such that all
    together spend their share once. Laplace noise is drawn in floating point, which is known to leak a little to an
    observer of its last digits; only whole numbers of edges leave here.

    Parameters
    ----------
    epsilon
        The budget, finite and above 0: smaller is more private and less true.
    largest_degree_share, edges_share, joint_degrees_share
        The shares of epsilon that the three questions spend, each above 0; they must add up to 1.
    compat
        "secgraph" imitates the code of that name: it adds noise only to cells that are not empty, and edits the
        original graph towards the degrees found. This is NOT differentially private, and its release has no ledger. It
        serves comparison with published values. The shares have no part in it.

    Examples
    --------
    >>> ring = Graph.from_edges(np.arange(50), (np.arange(50) + 1) % 50)
    >>> release = DkSeriesDP(epsilon=2).apply(ring, rng=np.random.default_rng(1))
    >>> release.ledger.total
    2.0
    >>> exact = DkSeriesDP(epsilon=1e12).apply(ring, rng=np.random.default_rng(1))
    >>> int(exact.released.degrees.min()), int(exact.released.degrees.max())
    (2, 2)
    """

    epsilon: float = 1.0
    largest_degree_share: float = 0.05
    edges_share: float = 0.05
    joint_degrees_share: float = 0.9
    compat: Literal["secgraph"] | None = None

    def __post_init__(self) -> None:
        check_epsilon(self.epsilon)
        names = ("largest_degree_share", "edges_share", "joint_degrees_share")
        check_shares(self.epsilon, {name: getattr(self, name) for name in names})
        if self.compat not in (None, "secgraph"):
            raise InputError(f"Unknown compat {self.compat!r}. Use 'secgraph' or nothing")

    def apply(self, original: Graph, *, rng: np.random.Generator) -> GraphRelease:
        """Return a new graph with the noisy joint degrees of the original."""
        check_edges(original, what="dk-series-dp")
        if self.compat == "secgraph":
            return secgraph_release(original, self.epsilon, rng=rng)
        shares = self.largest_degree_share, self.edges_share, self.joint_degrees_share
        answers = _ask(original, *(self.epsilon * share for share in shares), rng=rng)
        ledger = Ledger(
            epsilon=self.epsilon,
            queries=answers.queries,
            public=("the number of nodes", "that there is an edge at all"),
        )
        keys, facts = _drawn(answers, original.nodes, rng)
        return graph_release(
            original,
            paired_by_rank(keys, original.degrees, rng=rng),
            name="dk-series-dp",
            rng=rng,
            kind="synthetic",
            notes=(PAIRED, *_said_dropped(int(facts["edges dropped"]))),
            facts=facts,
            pairing="rank",
            ledger=ledger,
        )


@dataclass(frozen=True, eq=False)
class _Answers:
    """The noisy answers about the original, and their cost."""

    edges: int
    bound: int
    grid: IntArray
    weight: FloatArray
    table: FloatArray
    queries: tuple[Query, ...]


def _ask(
    original: Graph, for_largest: float, for_edges: float, for_table: float, *, rng: np.random.Generator
) -> _Answers:
    """Return the noisy answers, each of sensitivity 1."""
    nodes, degrees, (one, other) = original.nodes, original.degrees, original.ends
    noisy_largest = int(degrees.max()) + _geometric(1 / for_largest, rng)
    # Rounded and not raised to the next whole number, so that a huge epsilon gives the largest degree itself.
    bound = int(np.clip(np.rint(noisy_largest - log(2 * _CUT) / for_largest), 1, nodes - 1))
    edges = int(np.clip(original.edges + _geometric(1 / for_edges, rng), 0, nodes * bound // 2))
    check_drawable(edges, what="dk-series-dp")
    grid, weight = finest_grid(bound, _NOISE * edges * for_table, most_places=_MOST_PLACES)
    table = joint_table(grid, degrees[one], degrees[other])
    _, larger = places_of_cells(grid.size)
    noisy = table + weight[larger] * rng.laplace(0, 1 / for_table, table.size)
    # What one edge changes by 1 at most is the sum over cells of their numbers, each divided by the weight of its cell.
    queries = (
        Query(name="largest degree", mechanism="geometric", sensitivity=1, scale=1 / for_largest, cost=for_largest),
        Query(name="number of edges", mechanism="geometric", sensitivity=1, scale=1 / for_edges, cost=for_edges),
        Query(
            name="weighted numbers of edges by the degrees of both ends",
            mechanism="Laplace",
            sensitivity=1,
            scale=1 / for_table,
            cost=for_table,
            answers=table.size,
        ),
    )
    return _Answers(edges, bound, grid, weight, noisy, queries)


def _geometric(scale: float, rng: np.random.Generator) -> float:
    """Return two-sided geometric noise."""
    up, down = np.floor(rng.exponential(scale, 2))
    return float(up - down)


def _drawn(answers: _Answers, nodes: int, rng: np.random.Generator) -> tuple[IntArray, dict[str, float]]:
    """Return a graph's keys and facts, from the answers alone."""
    grid, (smaller, larger) = answers.grid, places_of_cells(answers.grid.size)
    weight = answers.weight[larger]
    counts = nearest_counts(answers.table, weight, answers.edges, 1 / grid[smaller] + 1 / grid[larger], nodes)
    whole = whole_counts(counts, np.array([counts.size]), rng.random())
    ends = 2 * answers.edges
    one, other = drawn_edges(grid, whole, nodes, rng.random((2, ends)), rng.random())
    keys, done = simple_keys(one, other, nodes, grid, fresh_state(rng), rng.random(ends))
    scale = answers.queries[-1].scale
    return keys, {
        "noisy number of edges": answers.edges,
        "bound on degrees": answers.bound,
        "degrees in the grid": grid.size,
        "cells": counts.size,
        "least noise scale of a cell": float(answers.weight[0] * scale),
        "largest noise scale of a cell": float(answers.weight[-1] * scale),
        "loops and repeats, replaced": done["loops and repeats"],
        "replaced between nodes of the same degrees": done["of the same degrees"],
        "replaced between nodes of similar degrees": done["of the same groups"],
        "replaced anywhere": done["anywhere"],
        "edges dropped": done["dropped"],
        "nodes with an edge": np.unique(np.divmod(keys, nodes)).size,
    }


def _said_dropped(edges: int) -> tuple[str, ...]:
    if edges == 0:
        return ()
    said = counted(edges, "edge was", "edges were")
    return (f"{said} left out, because no two remaining nodes could be joined",)


# A simple graph from edges with loops and repeats, which keeps degrees and joint degrees as far as any can.

# No node waits for a compiler below this number of ends.
_PLAIN_UP_TO = 2_000
_TRIES = 200


def simple_keys(
    one: IntArray, other: IntArray, nodes: int, grid: IntArray, state: State, lots: FloatArray
) -> tuple[IntArray, dict[str, int]]:
    """Return a simple graph's keys from edge ends, with counts of changes.

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
    """Return the valid edges' keys, and the ends of the rest."""
    keys = edge_keys(one, other, nodes)
    stays = np.zeros(keys.size, np.bool_)
    stays[np.unique(keys, return_index=True)[1]] = True
    stays &= one != other
    return keys[stays], one[~stays], other[~stays]


def _slots(keys: IntArray, degree: IntArray, nodes: int) -> tuple[IntArray, Int32Array, IntArray]:
    """Return each node's slot start, content, and filled number."""
    start = np.append(0, np.cumsum(degree))
    smaller, larger = np.divmod(keys, max(nodes, 1))
    source, target = np.concatenate([smaller, larger]), np.concatenate([larger, smaller])
    order = np.argsort(source, kind="stable")
    filled = np.bincount(source, minlength=nodes)
    slot = np.full(start[-1], -1, np.int32)
    place = np.arange(source.size) - np.repeat(np.cumsum(filled) - filled, filled)
    slot[start[source[order]] + place] = target[order]
    return start, slot, filled


# A simple graph while edges are placed: each node has as many slots as it should get neighbors.
#
# Nodes lie in classes of consecutive numbers. Where a node of a class has no empty slot but another of the class has
# one, a neighbor moves from the first to the other: that changes neither which classes an edge joins nor any node
# else's degree. If all nodes of a class have as many slots, then the other always lacks a neighbor that the first has.
# So every table of joint degrees that some simple graph has can be reached, edge by edge, from any part of it.


def has_room(node: int, start: IntArray, filled: IntArray) -> bool:
    """Return whether a node has an empty slot."""
    return bool(filled[node] < start[node + 1] - start[node])


def mark(node: int, marks: IntArray, start: IntArray, slot: Int32Array, filled: IntArray) -> int:
    """Mark a node and its neighbors with a new number; return it."""
    marks[-1] += 1
    for place in range(start[node], start[node] + filled[node]):
        marks[slot[place]] = marks[-1]
    marks[node] = marks[-1]
    return int(marks[-1])


def make_room(
    node: int, spared: int, first: int, last: int, start: IntArray, slot: Int32Array, filled: IntArray, marks: IntArray
) -> bool:
    """Empty a slot in a class of nodes; return success.

    The class goes from ``first`` to before ``last``.

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
                disconnect(start, filled, slot, node, moved)
                connect(start, filled, slot, moved, other)
                return True
    return False


def place_edge(
    one: int,
    other: int,
    first: IntArray,
    start: IntArray,
    slot: Int32Array,
    filled: IntArray,
    marks: IntArray,
    work: IntArray,
    state: State,
) -> bool:
    """Join two nodes of two classes; return success.

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
            connect(start, filled, slot, node, partner)
            return True
        if work[0] < 0:
            break
    return False


@loop("i8[], i8[], i8[], i8[], i4[], i8[], i8[], i8[], u8[], b1[]")
def place_edges(
    one: IntArray,
    other: IntArray,
    first: IntArray,
    start: IntArray,
    slot: Int32Array,
    filled: IntArray,
    marks: IntArray,
    work: IntArray,
    state: State,
    placed: BoolArray,
) -> None:
    """Place an edge per pair of classes, in turn; record successes."""
    for edge in range(one.size):
        if work[0] < 0:
            break
        placed[edge] = place_edge(one[edge], other[edge], first, start, slot, filled, marks, work, state)


@loop("i8[], i8[], i8[], i4[], i8[], i8, u8[]")
def join_leftovers(
    ends: IntArray, owner: IntArray, start: IntArray, slot: Int32Array, filled: IntArray, tries: int, state: State
) -> None:
    """Join empty slots in pairs of ``ends``, whatever their classes.

    Two nodes that cannot be joined take the place of an edge that is drawn: each of its ends is joined to one of them.
    After that many attempts they stay as they are.
    """
    for pair in range(0, ends.size - 1, 2):
        one, other = ends[pair], ends[pair + 1]
        if one != other and not has_edge(start, filled, slot, one, other):
            connect(start, filled, slot, one, other)
            continue
        for _ in range(tries):
            place = below(state, slot.size)
            left, right = owner[place], slot[place]
            if place - start[left] >= filled[left] or left in (one, other) or right in (one, other):
                continue
            if has_edge(start, filled, slot, one, left) or has_edge(start, filled, slot, other, right):
                continue
            disconnect(start, filled, slot, left, right)
            connect(start, filled, slot, one, left)
            connect(start, filled, slot, other, right)
            break


# The joint degrees of a public code that calls them differentially private: they are not, and serve comparison alone.

_ROUNDS = 50

_NOTES = (
    "this release is NOT differentially private: only joint degrees that occur were given noise, and most edges are "
    "those of the original",
    "the noisy counts are scaled to the original number of edges, as the imitated code requires: it does not end "
    "for a negative total",
)


def secgraph_release(original: Graph, epsilon: float, *, rng: np.random.Generator) -> GraphRelease:
    """Return the original graph, edited towards its noisy joint degrees.

    Noise is added to the joint degrees that occur.
    """
    degrees, (one, other) = original.degrees, original.ends
    cell, table = np.unique(cells_of(degrees[one], degrees[other]), return_counts=True)
    scale = (4 * int(degrees.max()) + 1) / epsilon
    noisy = table + rng.laplace(0, scale, table.size)
    counts = nearest_counts(noisy, np.ones(table.size), original.edges, np.zeros(table.size), 0)
    whole = whole_counts(counts, np.array([counts.size]), rng.random())
    larger = ((np.sqrt(8 * cell + 1) - 1) // 2).astype(np.int64)
    smaller = cell - larger * (larger + 1) // 2
    ends = np.sort(np.concatenate([np.repeat(smaller, whole), np.repeat(larger, whole)]))[::-1]
    wanted = np.bincount(nodes_of_ends(ends, original.nodes), minlength=original.nodes)
    target = np.empty(original.nodes, np.int64)
    target[np.lexsort((rng.random(original.nodes), degrees))] = np.sort(wanted)
    keys, facts = _edited(original, target, rng)
    return graph_release(
        original, keys, name="dk-series secgraph, not differentially private", rng=rng, notes=_NOTES, facts=facts
    )


def _edited(original: Graph, target: IntArray, rng: np.random.Generator) -> tuple[IntArray, dict[str, float]]:
    """Return the graph's keys, edited towards the target degrees."""
    nodes, order = original.nodes, rng.permutation(original.edges)
    one, other = (ends[order].astype(np.int64) for ends in original.ends)
    excess = original.degrees - target
    stays = np.ones(order.size, np.bool_)
    _trim(one, other, excess, stays)
    keys, lacking = np.sort(original.keys[order[stays]]), np.repeat(np.arange(nodes), -excess)
    for _ in range(_ROUNDS):
        drawn = rng.permutation(lacking)
        left, right = drawn[: drawn.size // 2], drawn[drawn.size // 2 : drawn.size // 2 * 2]
        new = edge_keys(left, right, nodes)
        fits = np.zeros(new.size, np.bool_)
        fits[np.unique(new, return_index=True)[1]] = True
        fits &= (left != right) & ~among(new, keys)
        keys = np.sort(np.concatenate([keys, new[fits]]))
        lacking = np.concatenate([left[~fits], right[~fits], drawn[drawn.size // 2 * 2 :]])
        if lacking.size < 2:
            break
    return keys, {"ends left without an edge": lacking.size}


@kernel("i8[], i8[], i8[], b1[]")
def _trim(one: IntArray, other: IntArray, excess: IntArray, stays: BoolArray) -> None:
    """Delete edges between nodes with excess, then at nodes with excess."""
    for needed in (2, 1):
        for edge in range(one.size):
            if stays[edge] and (excess[one[edge]] > 0) + (excess[other[edge]] > 0) >= needed:
                stays[edge] = False
                excess[one[edge]] -= 1
                excess[other[edge]] -= 1
