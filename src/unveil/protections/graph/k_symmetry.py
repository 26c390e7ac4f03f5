"""Copy every group of nodes that look alike until no group is small."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from unveil._kernels.graph.orbit_copying import copied_keys, copied_size
from unveil._kernels.graph.orbits import orbits, undecided_edges
from unveil._kernels.graph.refinement import equitable_cells
from unveil._kernels.types import BoolArray, IntArray
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphRelease
from unveil.errors import CannotProtectError, InputError, share, whole_number
from unveil.protections._listing import protection
from unveil.protections.graph._release import (
    check_class_size,
    check_edges,
    check_enough_nodes,
    counted,
    graph_release,
)

Partition = Literal["refine", "orbit"]
_MOST_EDGES = 10**9


@protection(
    source='Wu, Xiao, Wang, He and Wang, "k-symmetry model for identity anonymization in social networks", 2010',
    aka=("orbit-copying",),
    least_rows=5,
    needs_edges=True,
    keeps=("edges",),
)
@dataclass(frozen=True, kw_only=True)
class KSymmetry:
    """Sort nodes into cells of nodes that look alike, and copy each cell until it and its copies have ``k`` nodes.

    A copy is joined to whatever its cell is joined to, so nobody can tell it from the cell by how the release is
    connected. The original stays as it is among the copies. That has its price: where no two nodes look alike, each
    edge turns into k x k.

    Attributes
    ----------
    k
        How many nodes each cell has at least, copies included; a whole number from 2 to the number of nodes.
    partition
        "refine": the cells of colour refinement. It sees nearly all that tells nodes apart, and the release says for
        how many nodes that is not certain. "orbit": nodes share a cell only if an automorphism of the graph maps one
        on the other; that needs the extra ``orbits``.
    exclude_hubs
        The share of nodes, those of most neighbours, whose cells are not copied, from 0 to 1. Hubs cost the most
        edges, and they are not protected then. Nodes of equal degree are left alone together or not at all.
    max_edges
        The most edges that the release may have, from 1 to 1,000,000,000. What would have more is refused before it
        is made.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1], [1, 2])  # two ends that look alike, and a middle
    >>> release = KSymmetry(k=2).apply(path, rng=np.random.default_rng(1))
    >>> release.in_original_numbers().keys  # node 3 is the copy of the middle
    array([ 1,  3,  6, 11])
    """

    k: int = 5
    partition: Partition = "refine"
    exclude_hubs: float = 0.0
    max_edges: int = 20_000_000

    def __post_init__(self) -> None:
        check_class_size(self.k)
        share(self.exclude_hubs, "exclude_hubs")
        if self.partition not in get_args(Partition):
            raise InputError(f"partition must be 'refine' or 'orbit', but is {self.partition!r}. Choose one of these")
        whole_number(self.max_edges, "max_edges", at_most=_MOST_EDGES)

    def apply(self, original: Graph, *, rng: np.random.Generator) -> GraphRelease:
        """Return the graph with its copies, nodes numbered at random.

        Raises
        ------
        InputError
            If the graph has no edge, or fewer than k nodes.
        CannotProtectError
            If the release would have more than ``max_edges`` edges; the message says how large it would be.
        MissingExtraError
            If the partition is "orbit" and the extra ``orbits`` is not installed.
        """
        check_edges(original, what="k-symmetry")
        check_enough_nodes(self.k, original)
        find = orbits if self.partition == "orbit" else equitable_cells
        cell = find(original.start, original.neighbour)
        sizes = np.bincount(cell)
        small = sizes[cell] < self.k
        alone = small & _hubs(original.degrees, self.exclude_hubs)
        times = np.where(small & ~alone, -(-self.k // sizes[cell]), 1)
        nodes, edges = copied_size(*original.ends, cell, times)
        if edges > self.max_edges:
            raise CannotProtectError(self._too_large(original, nodes, edges))
        undecided = 0 if self.partition == "orbit" else _undecided(original, cell)
        facts = {
            "cells": sizes.size,
            "cells of one node": int((sizes == 1).sum()),
            "cells copied": np.unique(cell[times > 1]).size,
            "nodes in cells that may be no orbits": undecided,
            "hubs left alone": int(alone.sum()),
        }
        return graph_release(
            original,
            copied_keys(*original.ends, cell, times),
            name="k-symmetry",
            rng=rng,
            nodes=nodes,
            notes=self._notes(original.nodes, undecided, int(alone.sum())),
            facts=facts,
        )

    def _too_large(self, original: Graph, nodes: int, edges: int) -> str:
        now = counted(original.edges, "edge", "edges")
        if original.edges > self.max_edges:
            return (
                f"max_edges is {self.max_edges:,}, but the {original.name} itself has {now}, and none of them is taken "
                "away. Raise max_edges well above that"
            )
        return (
            f"the {original.name} has {original.nodes:,} nodes and {now}; with copies for "
            f"k = {self.k} it would have {nodes:,} nodes and {edges:,} edges, and max_edges is {self.max_edges:,}. "
            "Raise max_edges, take a smaller k, or exclude hubs (exclude_hubs=0.01)"
        )

    def _notes(self, nodes: int, undecided: int, alone: int) -> tuple[str, ...]:
        notes = []
        if undecided:
            notes.append(
                f"cells are those of colour refinement, so true automorphism is not guaranteed: for {undecided:,} of "
                f"{nodes:,} nodes it is not certain that another node of their cell is alike in every way "
                "(partition=orbit finds out)"
            )
        elif self.partition == "refine":
            notes.append("cells are those of colour refinement, and every one was found to be an orbit")
        if alone:
            they = "it is" if alone == 1 else "they are"
            notes.append(
                f"{counted(alone, 'hub', 'hubs')} with the most neighbours {'was' if alone == 1 else 'were'} "
                f"left alone (exclude_hubs={self.exclude_hubs:g}): {they} not protected"
            )
        return tuple(notes)


def _hubs(degrees: IntArray, share: float) -> BoolArray:
    """Return which nodes are among that share of nodes with the highest degrees, ties among them or not together."""
    at_least = degrees.size - np.searchsorted(np.sort(degrees), degrees)
    # 0.29 of 100 nodes are 29, though 0.29 * 100 is a bit less.
    hubs: BoolArray = at_least <= share * degrees.size + 1e-9
    return hubs


def _undecided(original: Graph, cell: IntArray) -> int:
    """Return how many nodes are in cells of which colour refinement alone cannot say whether they are orbits."""
    return int(np.union1d(*undecided_edges(original.start, original.neighbour, cell)).size)
