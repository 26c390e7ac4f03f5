"""Bring every degree to the mean of at least k nodes that are nearest to it, by few changes of edges."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from unveil._kernels.graph.degree_groups import is_graphic, nearest_degrees
from unveil._kernels.graph.umga import changed_to
from unveil._kernels.random import fresh_state
from unveil._kernels.types import IntArray
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphRelease
from unveil.errors import CannotProtectError, InputError, whole_number
from unveil.protections._listing import protection
from unveil.protections.graph._release import check_class_size, check_enough_nodes, counted, graph_release
from unveil.protections.graph.k_degree import check_classes

Selection = Literal["random", "nc"]


@protection(
    source='Casas-Roma, Herrera-Joancomartí and Torra, "k-Degree anonymity and edge selection", 2017',
    aka=("UMGA",),
    least_rows=5,
    keeps=("node count",),
)
@dataclass(frozen=True, kw_only=True)
class Umga:
    """Add, remove and move edges so that every node shares its degree with at least k - 1 others.

    The degrees to reach come from optimal microaggregation: groups of at least k nodes whose degrees have the least
    squares within them. Each group gets its mean, rounded down or up such that the number of edges changes as little as
    can be: the choice is exact. Where no choice has an even sum, or no graph has such degrees, it is done with k + 1,
    and a note says so. Then edges change until every degree is reached.

    Our reading, where the source leaves it open: of the choices that keep the number of edges best, one with the least
    squares is taken; and where no single move is possible, as in dense graphs, edges are exchanged along longer walks
    that change nobody else's degree, so that graphs work on which the source's program does not end.

    Parameters
    ----------
    k
        How many nodes must share each degree, a whole number from 2.
    edge_selection
        "random" changes edges by lot; "nc" looks at some drawn by lot (a number that grows with the logarithm of how
        many there are) and changes those with the least neighbourhood centrality: whose ends share most neighbours.
    attempts
        How often the change of edges is begun anew with other lots at most, a whole number from 1.

    Examples
    --------
    >>> star = Graph.from_edges([0, 0, 0, 0, 0], [1, 2, 3, 4, 5])
    >>> release = Umga(k=2).apply(star, rng=np.random.default_rng(1))
    >>> sorted(release.released.degrees.tolist()), release.changes.added, release.changes.removed
    ([1, 1, 1, 1, 3, 3], 2, 2)
    """

    k: int = 5
    edge_selection: Selection = "random"
    attempts: int = 10

    def __post_init__(self) -> None:
        check_class_size(self.k)
        whole_number(self.attempts, "attempts")
        if self.edge_selection not in get_args(Selection):
            raise InputError(
                f"edge_selection must be one of {', '.join(get_args(Selection))}, but is {self.edge_selection!r}"
            )

    def apply(self, original: Graph, *, rng: np.random.Generator) -> GraphRelease:
        """Return the graph with edges changed, in which at least k nodes share each degree."""
        check_enough_nodes(self.k, original)
        used, degrees = self._degrees(original, rng)
        for _ in range(self.attempts):
            keys, lacking, longer = changed_to(
                original.start,
                original.neighbour,
                degrees,
                fresh_state(rng),
                by_relevance=self.edge_selection == "nc",
            )
            if not lacking.any():
                break
        else:
            tried = "only attempt" if self.attempts == 1 else f"last of {self.attempts:,} attempts"
            stuck = counted(int(np.count_nonzero(lacking)), "node", "nodes")
            raise CannotProtectError(
                f"the degrees of the {original.name} could not be brought to those that {used} nodes share: in the "
                f"{tried} {stuck} had no edge left to change. With {original.nodes:,} nodes and "
                f"{counted(original.edges, 'edge', 'edges')} the graph is too dense: allow more attempts, or take a "
                "smaller k"
            )
        check_classes(original, keys, self.k)
        return graph_release(
            original,
            keys,
            name="umga",
            rng=rng,
            notes=self._said(used, longer),
            facts={"k used": used, "longer exchanges": longer},
        )

    def _degrees(self, original: Graph, rng: np.random.Generator) -> tuple[int, IntArray]:
        """Return the k that works, and the degrees to reach; equal degrees are split between groups by lot."""
        by_lot = rng.permutation(original.nodes)
        degrees = np.empty_like(original.degrees)
        for k in range(self.k, original.nodes + 1):
            found = nearest_degrees(original.degrees[by_lot], k)
            if found is not None and is_graphic(found):
                degrees[by_lot] = found
                return k, degrees
        # All nodes in one group can share a degree: one of the two roundings has an even sum.
        raise CannotProtectError(f"no degrees were found that {self.k} nodes share. Please report it")

    def _said(self, used: int, longer: int) -> tuple[str, ...]:
        notes: tuple[str, ...] = ()
        if used > self.k:
            notes = (f"groups of {used} nodes were made: no graph has the degrees of groups of {self.k}",)
        if longer:
            said = counted(longer, "exchange", "exchanges")
            notes += (f"{said} took more than one move of an edge, where single moves were not possible",)
        return notes
