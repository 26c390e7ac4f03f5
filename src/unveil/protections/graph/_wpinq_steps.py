"""The steps of wPINQ: fit degrees to noisy answers, make a random graph that has them, and walk to a nearer one."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from unveil._kernels.graph.degree_cells import DegreeCells, cells_for, cells_of, class_bounds, classes_for
from unveil._kernels.graph.half_edges import HalfEdges, half_edges
from unveil._kernels.graph.havel_hakimi import graph_with_degrees
from unveil._kernels.graph.rows import edge_keys, rows_of
from unveil._kernels.graph.staircase import fitted_degrees
from unveil._kernels.graph.wpinq_queries import degree_distribution, degree_sequence
from unveil._kernels.graph.wpinq_walk import walk
from unveil._kernels.random import State
from unveil._kernels.types import FloatArray, IntArray
from unveil.data.graph import Graph

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
    """The scales of the noise in the three answers, and how often degrees are measured."""

    distribution: float
    sequence: float
    query: float
    times: int = 1


@dataclass(frozen=True, eq=False)
class Seed:
    """A random graph with fitted degrees, how many neighbours could not be given, and whether the fit is the best."""

    graph: HalfEdges
    lost: int
    best: bool

    @property
    def edges(self) -> int:
        """The number of edges."""
        return int(self.graph.neighbour.size // 2)


@dataclass(frozen=True, eq=False)
class Walk:
    """The energy before, during and after a walk, the proposals made and taken, and whether the noise was reached."""

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
    """Return for each i about how many nodes have more than i neighbours."""
    above = degree_distribution(original.degrees)
    noise: FloatArray = rng.laplace(0, scales.distribution, (scales.times, above.size)).mean(axis=0)
    return above + noise


def expected_cells(above: FloatArray, scale: float) -> tuple[int, int]:
    """Return how many cells of edges the last question is likely to have, and how many its noise would allow.

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
    """Return the degrees, the largest first, of which about so many are above 0, above 1 and so on."""
    from scipy.optimize import isotonic_regression

    nodes = above.size + 1
    falling = np.rint(isotonic_regression(above, increasing=False).x)
    return np.searchsorted(-falling, -np.arange(1, nodes + 1), side="right").astype(np.int64)


def seed_graph(original: Graph, above: FloatArray, scales: Scales, *, state: State, rng: np.random.Generator) -> Seed:
    """Return a random graph with the degrees that fit two noisy answers about those of the original."""
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
    """Return the cells to ask about, by the graph that was made of noisy answers alone."""
    start, neighbour = seed.graph.start, seed.graph.neighbour
    if classes is None:
        weight = float(DegreeCells(triangles, np.empty(0)).answer(start, neighbour)[0])
        if triangles:
            # Where all have d neighbours, n c d (d - 1) / 6 triangles of weight 1 / d² each make about n c / 6.
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
    """Walk the graph, in place, towards measured weights; the scale is that of their noise.

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
    """Return what was counted; all of it comes from noisy answers. Without cells there was no walk."""
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
