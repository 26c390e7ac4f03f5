"""Release of a graph, and attacker knowledge about its nodes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np

from unveil._kernels.graph.rows import among, edge_keys
from unveil._kernels.types import IntArray
from unveil.data.graph.graph import Graph
from unveil.data.ledger import Ledger
from unveil.data.table.release import ReleaseKind
from unveil.errors import InputError

#: The truth of a node that was made up: it stands for nobody.
NOBODY = -1
#: Whose each released node is: known because it was made from that node, or only paired with it by rank of degree.
Pairing = Literal["node", "rank"]


class EdgeChanges(NamedTuple):
    """Numbers of edges added to, removed from, and kept in a release."""

    added: int
    removed: int
    kept: int


@dataclass(frozen=True, eq=False)
class GraphRelease:
    """Original graph, released graph, and the true match of each released node.

    Attributes
    ----------
    original, released
        The graph to protect, and what everybody will see; released nodes are numbered at random.
    truth
        For each released node the original one it stands for, -1 for a pseudo node; every original node has one.
    kind
        "masked" if the original was changed, "synthetic" if a new graph was drawn from what was measured of it.
    name
        How reports call the release.
    notes
        What a reader has to know, as plain sentences.
    facts
        What the method counted on its way, such as how many switches it did, and nobody could count afterwards.
    pairing
        "node" if each released node was made from the one it stands for; "rank" if the graph is synthetic and nodes
        were paired by the rank of their degree: that serves evaluation alone and is no part of what is released.
    ledger
        What a differentially private method spent; None for all others.

    Examples
    --------
    >>> edge = Graph.from_edges([0], [1], nodes=3)
    >>> GraphRelease(edge, edge.relabelled([2, 0, 1]), np.array([1, 2, 0])).pseudo_nodes
    0
    """

    original: Graph
    released: Graph
    truth: IntArray
    kind: ReleaseKind = "masked"
    name: str = "release"
    notes: tuple[str, ...] = ()
    facts: Mapping[str, float] = field(default_factory=dict)
    pairing: Pairing = "node"
    ledger: Ledger | None = None

    def __post_init__(self) -> None:
        truth = np.array(self.truth, np.int64)
        if truth.shape != (self.released.nodes,):
            raise InputError(f"the truth must name one original node for each of {self.released.nodes} released ones")
        real = np.sort(truth[truth != NOBODY])
        if real.size != self.original.nodes or (real != np.arange(real.size)).any():
            raise InputError(
                f"the truth must hold each of the {self.original.nodes} original nodes exactly once, and -1 for pseudo "
                "nodes. Pass such numbers"
            )
        truth.flags.writeable = False
        object.__setattr__(self, "truth", truth)
        object.__setattr__(self, "facts", MappingProxyType(dict(self.facts)))

    @property
    def pseudo_nodes(self) -> int:
        """Number of released nodes without an original node."""
        return self.released.nodes - self.original.nodes

    @cached_property
    def changes(self) -> EdgeChanges:
        """Numbers of added, removed, and kept edges, by original nodes.

        >>> path, fork = Graph.from_edges([0, 1, 2], [1, 2, 3]), Graph.from_edges([0, 1, 1], [1, 2, 3])
        >>> GraphRelease(path, fork, np.arange(4)).changes
        EdgeChanges(added=1, removed=1, kept=2)
        """
        one, other = self.original.ends
        kept = int(among(edge_keys(one, other, self.released.nodes), self.in_original_numbers().keys).sum())
        return EdgeChanges(self.released.edges - kept, self.original.edges - kept, kept)

    def in_original_numbers(self) -> Graph:
        """Return the released graph in original numbers, pseudo nodes last.

        >>> edge = Graph.from_edges([0], [1], nodes=3)
        >>> GraphRelease(edge, edge.relabelled([2, 0, 1]), np.array([1, 2, 0])).in_original_numbers().keys
        array([1])
        """
        return self._renumbered

    @cached_property
    def _renumbered(self) -> Graph:
        number = self.truth.copy()
        pseudo = number == NOBODY
        number[pseudo] = np.arange(self.original.nodes, self.released.nodes)
        return self.released.relabelled(number)


@dataclass(frozen=True, eq=False)
class GraphKnowledge:
    """Attacker knowledge: part of the original graph, and seed pairs.

    Attributes
    ----------
    auxiliary
        A graph on the original nodes with their true names; the attacker looks for released nodes in it.
    seeds
        One row per pair that the attacker knows: the released node and the auxiliary node it stands for.
    notes
        What a reader has to know, such as that the auxiliary graph could not be connected.
    names
        The original number of each auxiliary node, where the attacker has heard of some original nodes alone; None
        where auxiliary nodes have the numbers of the original.
    """

    auxiliary: Graph
    seeds: IntArray
    notes: tuple[str, ...] = ()
    names: IntArray | None = None

    def __post_init__(self) -> None:
        if self.names is not None:
            names = np.array(self.names, np.int64)
            if names.shape != (self.auxiliary.nodes,) or np.unique(names).size != names.size or (names < 0).any():
                raise InputError(
                    f"names must hold an original node for each of the {self.auxiliary.nodes} nodes of the auxiliary "
                    "graph, each once. Pass as many"
                )
            names.flags.writeable = False
            object.__setattr__(self, "names", names)
        seeds = np.array(self.seeds, np.int64).reshape(-1, 2)
        if seeds.size and (seeds.min() < 0 or seeds[:, 1].max() >= self.auxiliary.nodes):
            raise InputError(
                f"seed pairs must name a released node and one of the {self.auxiliary.nodes} nodes of the auxiliary "
                "graph by their numbers from 0, but some do not. Pass such numbers"
            )
        for column, what in ((0, "released"), (1, "auxiliary")):
            if np.unique(seeds[:, column]).size != len(seeds):
                raise InputError(f"each {what} node may be in one seed pair, but some are in two. Keep the right one")
        seeds.flags.writeable = False
        object.__setattr__(self, "seeds", seeds)

    def in_auxiliary_numbers(self, truth: IntArray) -> IntArray:
        """Return the auxiliary node of each released one, -1 if unknown.

        ``truth`` has original numbers, and -1 or less where there is none, which stays.

        >>> edge = Graph.from_edges([0], [1])
        >>> GraphKnowledge(edge, np.empty((0, 2)), names=np.array([4, 2])).in_auxiliary_numbers(np.array([2, 3, 4, -1]))
        array([ 1, -1,  0, -1])
        """
        if self.names is None:
            return truth
        place = np.full(max(int(truth.max(initial=-1)), int(self.names.max(initial=-1))) + 1, NOBODY)
        place[self.names] = np.arange(self.names.size)
        return np.where(truth >= 0, place[np.maximum(truth, 0)], truth)

    def targets(self, released: Graph) -> IntArray:
        """Return the released nodes that are not seed pairs.

        >>> edge = Graph.from_edges([0], [1], nodes=3)
        >>> GraphKnowledge(edge, np.array([[2, 0]])).targets(edge)
        array([0, 1])
        """
        return np.setdiff1d(np.arange(released.nodes), self.seeds[:, 0])
