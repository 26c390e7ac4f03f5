"""Joint degrees with noise, and a new graph that has them: differentially private for single edges."""

from dataclasses import dataclass
from math import log
from typing import Literal

import numpy as np

from unveil._kernels.graph.edge_repair import simple_keys
from unveil._kernels.graph.joint_degrees import finest_grid, joint_table, places_of_cells
from unveil._kernels.graph.joint_ends import drawn_edges
from unveil._kernels.graph.noisy_counts import nearest_counts, whole_counts
from unveil._kernels.random import fresh_state
from unveil._kernels.types import FloatArray, IntArray
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphRelease
from unveil.data.ledger import Ledger, Query, check_epsilon
from unveil.errors import InputError
from unveil.protections._listing import protection
from unveil.protections.graph._dk_secgraph import secgraph_release
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
    """Measure with noise how many edges join which degrees, and draw a new graph with these joint degrees.

    It is differentially private for single edges: whoever sees the release can hardly tell whether any one edge was in
    the original. The number of nodes counts as public. Three questions are asked, and the ledger has them: the largest
    degree, the number of edges, and the number of edges by the degrees of both ends, for every cell of the table, also
    those where nobody is. All else is made from the answers.

    The table has a cell for each two degrees of a grid; a degree between two of the grid counts for both, in part. One
    edge more or less moves all edges of its two ends to another cell; on a grid that widens with the degree it moves a
    small part of each. So a table for degrees up to 1,000 needs noise of some 30 edges in a cell, where one with all
    degrees needs 4,000. The grid depends on epsilon and the noisy answers alone; a huge epsilon gives a cell to
    each two degrees, and then the new graph has exactly the joint degrees of the original. Cells are clustered by the
    larger degree, and clusters of smaller degrees get less noise.

    Our reading, where the source leaves it open or its noise does not suffice: noise in empty cells as well, a largest
    degree that is paid for, degrees above its noisy bound cut to it, and noise for each cluster of cells such that all
    together spend their share once. Laplace noise is drawn in floating point, which is known to leak a little to
    somebody who sees its last digits; only whole numbers of edges leave here.

    Parameters
    ----------
    epsilon
        The budget, finite and above 0: smaller is more private and less true.
    largest_degree_share, edges_share, joint_degrees_share
        The shares of epsilon that the three questions spend, each above 0; they must add up to 1.
    compat
        "secgraph" imitates the code of that name: it adds noise only to cells that are not empty, and edits the
        original graph towards the degrees found. This is NOT differentially private, and its release has no ledger. It
        serves comparison with published figures. The shares have no part in it.

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
            raise InputError(f"compat must be 'secgraph' or nothing, but is {self.compat!r}")

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
    """All that is known of the original from here on, and what was asked for it."""

    edges: int
    bound: int
    grid: IntArray
    weight: FloatArray
    table: FloatArray
    queries: tuple[Query, ...]


def _ask(
    original: Graph, for_largest: float, for_edges: float, for_table: float, *, rng: np.random.Generator
) -> _Answers:
    """Return the noisy answers; one edge more or less changes each question by at most 1."""
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
    """Return two-sided geometric noise: the difference of two geometric numbers, exponential ones without fractions."""
    up, down = np.floor(rng.exponential(scale, 2))
    return float(up - down)


def _drawn(answers: _Answers, nodes: int, rng: np.random.Generator) -> tuple[IntArray, dict[str, float]]:
    """Return the keys of a graph that is drawn from the answers alone, and facts that tell nothing else either."""
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
        "loops and repeats to repair": done["loops and repeats"],
        "repaired between nodes of the same degrees": done["of the same degrees"],
        "repaired between nodes of similar degrees": done["of the same groups"],
        "repaired anywhere": done["anywhere"],
        "edges dropped": done["dropped"],
        "nodes with an edge": np.unique(np.divmod(keys, nodes)).size,
    }


def _said_dropped(edges: int) -> tuple[str, ...]:
    if edges == 0:
        return ()
    said = counted(edges, "edge was", "edges were")
    return (f"{said} left out, because no two nodes were left that could be joined",)
