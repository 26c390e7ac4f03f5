"""Steps of wPINQ: fit degrees, make a seed graph, and walk."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unveil._kernels._compile import PLAIN_UP_TO, compiled, loop
from unveil._kernels.graph.rows import edge_keys, rows_of
from unveil._kernels.random import State
from unveil._kernels.types import FloatArray, IntArray
from unveil.data.graph import Graph
from unveil.protections.graph._wpinq_walk import (
    DegreeCells,
    HalfEdges,
    cells_for,
    cells_of,
    class_bounds,
    classes_for,
    degree_distribution,
    degree_sequence,
    half_edges,
    walk,
)

# A cell is expected to hold this many times the scale of its noise.
_SIGNAL = 8.0
# Triangles are expected to weigh as much as with this clustering coefficient; random graphs have hardly any.
_CLUSTERING = 0.2
# Proposals per edge after which a graph of given degrees is random.
_SHUFFLES = 10
# The walk is looked at so often; it has settled if the last part lowered the energy by less than this part of it all.
_LOOKS = 10
_SETTLED = 0.01


class Scales(NamedTuple):
    """Noise scales of the three answers, and the number of degree measurements."""

    distribution: float
    sequence: float
    query: float
    times: int = 1


@dataclass(frozen=True, eq=False)
class Seed:
    """A random graph with fitted degrees, missing edges, and fit quality."""

    graph: HalfEdges
    lost: int
    best: bool

    @property
    def edges(self) -> int:
        """The number of edges."""
        return int(self.graph.neighbour.size // 2)


@dataclass(frozen=True, eq=False)
class Walk:
    """Energy, proposals, and convergence of a walk."""

    energies: tuple[float, ...]
    proposals: int
    taken: int
    at_noise: bool

    @property
    def settled(self) -> bool:
        """Whether going on would hardly lower the energy."""
        fall, last = self.energies[0] - self.energies[-1], self.energies[-2] - self.energies[-1]
        return self.at_noise or (self.proposals > 0 and last <= _SETTLED * max(fall, 0.0))


def noisy_distribution(original: Graph, scales: Scales, rng: np.random.Generator) -> FloatArray:
    """Return the noisy number of nodes above each degree."""
    above = degree_distribution(original.degrees)
    noise: FloatArray = rng.laplace(0, scales.distribution, (scales.times, above.size)).mean(axis=0)
    return above + noise


def expected_cells(above: FloatArray, scale: float) -> tuple[int, int]:
    """Return the expected and the affordable number of cells.

    Both come from the first noisy answer alone: the degrees that fit it, in a graph that is random but for them. There
    are fewer cells than the noise allows where few degrees occur, or one of them weighs more than a class should.

    >>> expected_cells(np.array([9.1, 2.2, -0.3, 0.4, 0.2, -0.1, 0.1, 0.0, 0.2]), 0.001)
    (3, 190)
    """
    degrees = _degrees_of(above)
    distinct, count = np.unique(degrees[degrees > 0], return_counts=True)
    if distinct.size == 0:
        return 1, 1
    ends = distinct * count / float((distinct * count).sum())
    meets = np.array([(ends / (1 + degree + distinct)).sum() for degree in distinct.tolist()])
    weight = distinct * count * meets
    classes = classes_for(float(weight.sum()) / 2 / (_SIGNAL * scale), triangles=False)
    bounds = class_bounds(distinct, weight, classes)
    return DegreeCells(False, bounds).count, cells_of(classes, triangles=False)


def _degrees_of(above: FloatArray) -> IntArray:
    """Return the degrees, falling, with these tail counts."""
    from scipy.optimize import isotonic_regression

    nodes = above.size + 1
    falling = np.rint(isotonic_regression(above, increasing=False).x)
    return np.searchsorted(-falling, -np.arange(1, nodes + 1), side="right").astype(np.int64)


def seed_graph(original: Graph, above: FloatArray, scales: Scales, *, state: State, rng: np.random.Generator) -> Seed:
    """Return a random graph with degrees fitted to two noisy answers."""
    sequence = degree_sequence(original.degrees)
    sequence += rng.laplace(0, scales.sequence, (scales.times, sequence.size)).mean(axis=0)
    # From here on the original is not looked at.
    degrees, best = fitted_degrees(above, sequence)
    one, other = graph_with_degrees(degrees)
    graph = half_edges(*rows_of(np.sort(edge_keys(one, other, degrees.size)), degrees.size))
    # With a power of 0 every exchange is taken, whatever it is that is not looked at.
    level, size, residual = np.zeros(degrees.size, np.int64), np.ones(degrees.size), np.zeros(1)
    walk(graph, level, size, residual, unit=1.0, power=0.0, proposals=_SHUFFLES * one.size, state=state)
    return Seed(graph, int(degrees.sum()) - 2 * one.size, best)


def chosen_cells(seed: Seed, scale: float, classes: int | None, *, triangles: bool) -> DegreeCells:
    """Return the cells to measure, from noisy answers alone."""
    start, neighbour = seed.graph.start, seed.graph.neighbour
    if classes is None:
        weight = float(DegreeCells(triangles, np.empty(0)).answer(start, neighbour)[0])
        if triangles:
            # Where all have d neighbors, n c d (d - 1) / 6 triangles of weight 1 / d² each make about n c / 6.
            weight = max(weight, _CLUSTERING * int((np.diff(start) > 1).sum()) / 6)
        classes = classes_for(weight / (_SIGNAL * scale), triangles=triangles)
    return cells_for(start, neighbour, classes, triangles=triangles)


def walked(
    graph: HalfEdges,
    cells: DegreeCells,
    measured: FloatArray,
    *,
    scale: float,
    power: float,
    proposals: int,
    fit_noise: bool,
    state: State,
) -> Walk:
    """Walk the graph, in place, towards measured weights.

    Unless noise is to be fitted, too, the walk ends where each cell is off by the scale on average: so far is the
    noise from the truth itself.
    """
    degrees = np.diff(graph.start)
    residual = (cells.answer(graph.start, graph.neighbour) - measured) / scale
    enough = -1.0 if fit_noise else float(cells.count)
    energies = [float(np.abs(residual).sum())]
    made = taken = 0
    for until in np.linspace(0, proposals, _LOOKS + 1).astype(np.int64)[1:]:
        done = walk(
            graph,
            cells.levels(degrees),
            cells.sizes(degrees),
            residual,
            unit=1 / scale,
            power=power,
            proposals=int(until) - made,
            state=state,
            enough=enough,
            triangles=cells.triangles,
        )
        made, taken = made + done[0], taken + done[1]
        energies.append(float(np.abs(residual).sum()))
        if energies[-1] <= enough:
            break
    return Walk(tuple(energies), made, taken, energies[-1] <= enough)


def facts_of(seed: Seed, cells: DegreeCells | None, way: Walk | None) -> dict[str, float]:
    """Return the counts of the run, all from noisy answers."""
    facts: dict[str, float] = {
        "edges": seed.edges,
        "nodes with an edge": int((np.diff(seed.graph.start) > 0).sum()),
        "neighbours left out": seed.lost,
    }
    if cells is None or way is None:
        return facts | {"cells": 0}
    return facts | {
        "classes of degrees": cells.bounds.size + 1,
        "cells": cells.count,
        "energy before the walk": way.energies[0],
        "energy after the walk": way.energies[-1],
        "proposals": way.proposals,
        "exchanges": way.taken,
    }


# A simple graph whose nodes have given numbers of neighbors, or as nearly so as any simple graph can.


def graph_with_degrees(degrees: IntArray) -> tuple[IntArray, IntArray]:
    """Return edge ends of a simple graph with these degrees.

    The node that lacks most is joined to those that lack most after it, over and over (Havel and Hakimi): this finds a
    graph whenever there is one. Where there is none, as with an odd sum, some nodes get fewer neighbors.

    Parameters
    ----------
    degrees
        Whole numbers from 0, non-increasing; one above the number of other nodes counts as that number.

    Examples
    --------
    >>> graph_with_degrees(np.array([2, 1, 1]))
    (array([0, 0]), array([1, 2]))
    >>> graph_with_degrees(np.array([3, 1, 0]))
    (array([0]), array([1]))
    """
    lacking = np.minimum(degrees, max(degrees.size - 1, 0)).astype(np.int64)
    room = int(lacking.sum())
    one, other = np.empty(room, np.int64), np.empty(room, np.int64)
    run = _join if room <= PLAIN_UP_TO else compiled(_join)
    edges = run(lacking, one, other)
    return one[:edges], other[:edges]


def _first_at_most(lacking: IntArray, begin: int, limit: int) -> int:
    """Return the first position with a value up to ``limit``."""
    low, high = begin, lacking.size
    while low < high:
        middle = (low + high) // 2
        if lacking[middle] > limit:
            low = middle + 1
        else:
            high = middle
    return low


@loop("i8[], i8[], i8[]")
def _join(lacking: IntArray, one: IntArray, other: IntArray) -> int:
    """Write the edges into two arrays; return their number.

    ``lacking`` is used up.
    """
    edges = 0
    for node in range(lacking.size):
        candidates = _first_at_most(lacking, node + 1, 0) - node - 1
        wanted = min(lacking[node], candidates)
        if wanted == 0:
            continue
        # Of those that lack as much as the last one joined, the last ones are joined: then what is lacking stays
        # non-increasing.
        least = lacking[node + wanted]
        alike = _first_at_most(lacking, node + 1, least)
        behind = _first_at_most(lacking, node + 1, least - 1)
        shift = behind - (node + 1 + wanted)
        for place in range(node + 1, node + 1 + wanted):
            partner = place if place < alike else place + shift
            one[edges] = node
            other[edges] = partner
            lacking[partner] -= 1
            edges += 1
    return edges


# The whole degrees that fit two noisy views of the same degrees best: a staircase seen from two sides.

#: More steps than this would need more than 128 MB of memory.
MOST_STEPS = 2**30


def fitted_degrees(above: FloatArray, sequence: FloatArray, most_steps: int = MOST_STEPS) -> tuple[IntArray, bool]:
    """Return the nearest non-increasing integers, and whether they are optimal.

    They minimize the sum of ``|sequence[j] - degree of node j|`` plus the sum of ``|above[i] - nodes with more than i
    neighbors|``: the cheapest way down a grid, from the top left to the bottom right.

    Parameters
    ----------
    above
        For each i from 0 to n - 2 about how many nodes have more than i neighbors.
    sequence
        For each of n nodes about how many neighbors it has, the largest first.
    most_steps
        How many points of the grid may be looked at; where more would be needed, only those in the middle are.

    Examples
    --------
    >>> fitted_degrees(np.array([3.2, 0.9]), np.array([2.1, 0.8, 1.3]))
    (array([2, 1, 1]), True)
    """
    lowest, highest = _band(above, sequence)
    steps = _steps(lowest, highest, above.size)
    exact = steps <= most_steps
    if not exact:
        lowest, highest = _narrowed(lowest, highest, most_steps)
        steps = _steps(lowest, highest, above.size)
    run = _cheapest_way if steps <= PLAIN_UP_TO else compiled(_cheapest_way)
    packed = np.zeros(steps // 8 + 1, np.uint8)
    return run(above, sequence, lowest, highest, packed), exact


def _band(above: FloatArray, sequence: FloatArray) -> tuple[IntArray, IntArray]:
    """Return between which heights each step of a cheapest staircase lies.

    One unit more of height y at node x changes the cost of the sequence by -1 while y + 1 <= sequence[x] and by +1 as
    soon as y >= sequence[x]; the same goes for the other view. Where a point and everything right of it and above it
    can only add cost in both views, a cheapest staircase leaves it out; where everything left of it and below it can
    only save cost in both, it goes over it.
    """
    nodes = sequence.size
    tops = np.maximum.accumulate(above[::-1])[::-1]
    bottoms = np.minimum.accumulate(above)
    column = np.arange(nodes)
    # Both are non-increasing, so that the points they allow above a node are counted by a search from the end.
    wide = above.size - np.searchsorted(tops[::-1], column, side="right")
    narrow = above.size - np.searchsorted(bottoms[::-1], column + 1, side="left")
    highest = np.maximum(np.ceil(np.maximum.accumulate(sequence[::-1])[::-1]), wide)
    lowest = np.minimum(np.floor(np.minimum.accumulate(sequence)), narrow)
    return (
        np.clip(lowest, 0, above.size).astype(np.int64),
        np.clip(highest, 0, above.size).astype(np.int64),
    )


def _steps(lowest: IntArray, highest: IntArray, tallest: int) -> int:
    """Return the number of points of the grid in a band."""
    tops = np.concatenate([[tallest], highest])
    bottoms = np.concatenate([lowest, [0]])
    return int((tops - bottoms + 1).sum())


def _narrowed(lowest: IntArray, highest: IntArray, most_steps: int) -> tuple[IntArray, IntArray]:
    """Return a band around the middle of another, of limited size."""
    middle = (lowest + highest) // 2
    half = max(1, most_steps // (4 * lowest.size))
    return np.maximum(lowest, middle - half), np.minimum(highest, middle + half)


@loop("f8[], f8[], i8[], i8[], u1[]")
def _cheapest_way(
    above: FloatArray, sequence: FloatArray, lowest: IntArray, highest: IntArray, packed: NDArray[np.uint8]
) -> IntArray:
    """Return the heights of the cheapest descending path, one per node."""
    nodes = sequence.size
    tallest = above.size
    cost = np.full(tallest + 1, np.inf)
    cost[tallest] = 0.0
    place = 0
    for column in range(nodes + 1):
        top = tallest if column == 0 else highest[column - 1]
        bottom = 0 if column == nodes else lowest[column]
        for height in range(top, bottom - 1, -1):
            level = np.inf
            if column == 0:
                level = cost[height]
            elif height >= lowest[column - 1]:
                level = cost[height] + abs(sequence[column - 1] - height)
            if height < top:
                down = cost[height + 1] + abs(above[height] - column)
                if down < level:
                    level = down
                    packed[place >> 3] |= np.uint8(1 << (place & 7))
            cost[height] = level
            place += 1
    return _way_back(packed, lowest, highest, place)


def _way_back(packed: NDArray[np.uint8], lowest: IntArray, highest: IntArray, steps: int) -> IntArray:
    """Return the heights of the marked path, from the last point."""
    nodes = lowest.size
    heights = np.zeros(nodes, np.int64)
    height = 0
    place = steps - 1
    for column in range(nodes, 0, -1):
        while packed[place >> 3] >> (place & 7) & 1:
            height += 1
            place -= 1
        heights[column - 1] = height
        # Points of a column are numbered from its top down, and columns one after the other.
        place -= highest[column - 1] - lowest[column - 1] + 1
    return heights
