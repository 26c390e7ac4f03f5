"""Which auxiliary node is a released one? Each other's best by mapped neighbours, those with many neighbours first."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from unveil._kernels.graph.best_of_window import CELL_BYTES, map_best_of_window
from unveil._kernels.graph.mutual_best import map_mutual_best
from unveil._kernels.graph.witnesses import BEFORE, FIRST, NEVER, GraphSide
from unveil._kernels.types import IntArray
from unveil.attacks._listing import attack
from unveil.attacks.graph._course import both_sides, guess_after
from unveil.attacks.graph._guess import check_knowledge
from unveil.data.graph import Graph
from unveil.data.graph.release import GraphKnowledge
from unveil.errors import InputError, whole_number
from unveil.guesses.candidates import Candidates

#: A window may take so many bytes.
_MOST_BYTES = 1_000_000_000
#: A window shows so many nodes of each list, unless told otherwise.
_CHUNK = 100


@attack(
    source="Korula and Lattanzi (2014), an efficient reconciliation algorithm for social networks",
    aka=("KL",),
    scope="local",
)
@dataclass(frozen=True, kw_only=True)
class KorulaLattanzi:
    """An adversary who maps nodes that are each other's best, by the number of neighbours already mapped to each other.

    In the variant "paper" only nodes with many neighbours in their graph are compared at first: at least ``2**j`` of
    them, with ``j`` falling from the logarithm of the highest degree to 1. At each step all pairs are mapped
    that have at least ``theta`` mapped pairs of neighbours and more than any other pair with either node; the lot
    decides between equals. All this is done ``rounds`` times. Nodes with a single neighbour are never mapped.

    In the variant "window" both lists of nodes are sorted by falling degree, and of the first ``chunk`` of each the
    best pair leaves, again and again. It is mapped if it has at least ``theta`` mapped pairs of neighbours; if not,
    both nodes are given up. With 0 everything is mapped, until one list is used up.

    The guess holds the auxiliary nodes with a mapped pair of neighbours among those compared with the node when it
    was mapped, in proportion to the number of these pairs (where none has any, all alike); others are not attempted.

    Parameters
    ----------
    theta
        How many mapped pairs of neighbours a pair needs, from 0. The variant "paper" always asks for one. A number
        that no pair reaches leaves an empty guess.
    rounds
        How often all degrees are gone through in the variant "paper", from 1; it stops early when nothing is added.
    variant
        "paper" or "window".
    chunk
        How many nodes of each list the variant "window" shows, from 1, 100 if left out; "all" shows all of them, and is
        refused where that takes too much memory. The variant "paper" has no window, so that a chunk is refused there.

    Examples
    --------
    >>> ring = Graph.from_edges([0, 1, 2, 3, 4, 0, 0, 1], [1, 2, 3, 4, 0, 2, 3, 3])
    >>> knowledge = GraphKnowledge(ring, np.array([[0, 0], [1, 1]]))
    >>> guess = KorulaLattanzi().run(released=ring, knowledge=knowledge, rng=np.random.default_rng(1))
    >>> guess.chosen
    array([-1, -1,  2,  3,  4], dtype=int32)
    """

    theta: int = 1
    rounds: int = 2
    variant: Literal["paper", "window"] = "paper"
    chunk: int | Literal["all"] | None = None

    def __post_init__(self) -> None:
        whole_number(self.theta, "theta", at_least=0)
        whole_number(self.rounds, "rounds")
        if self.variant not in ("paper", "window"):
            raise InputError(f"variant must be 'paper' or 'window', but is {self.variant!r}. Choose one of them")
        if self.chunk is None:
            return
        if self.variant == "paper":
            raise InputError(
                "chunk belongs to variant=window, which compares the first so many nodes of each list. "
                "Write variant=window, or leave chunk out"
            )
        if self.chunk != "all":
            whole_number(self.chunk, "chunk", advice="Write chunk=all to compare all nodes at once")

    @property
    def compared_at_a_time(self) -> int | None:
        """How many nodes of each list are compared at a time; None for all of them."""
        if self.variant == "paper" or self.chunk == "all":
            return None
        return _CHUNK if self.chunk is None else self.chunk

    def run(self, *, released: Graph, knowledge: GraphKnowledge, rng: np.random.Generator) -> Candidates:
        """Return whom each released node was mapped to, and who else came near; ``rng`` draws the lots."""
        check_knowledge(released, knowledge, attack="Korula-Lattanzi")
        here, there = both_sides(released, knowledge, rng)
        # No pair has as many witnesses as there are nodes.
        theta = min(int(self.theta), released.nodes)
        return self._by_degree(here, there, theta) if self.variant == "paper" else self._by_window(here, there, theta)

    def _by_degree(self, here: GraphSide, there: GraphSide, theta: int) -> Candidates:
        highest = int(min(here.degree.max(), there.degree.max()))
        # The degree asked for at each moment; nothing happens at the moments before the first.
        asked = np.zeros(FIRST, np.int64)
        for _ in range(self.rounds):
            mapped = 0
            for step in range(highest.bit_length() - 1, 0, -1):
                mapped += map_mutual_best(here, there, 2**step, theta, asked.size)
                asked = np.append(asked, 2**step)
            if mapped == 0:
                break
        decided = np.where(here.used == BEFORE, NEVER, here.used)
        least = asked[np.where(decided == NEVER, 0, decided)]
        return guess_after(here, there, decided, grade=there.degree, at_least=least)

    def _by_window(self, here: GraphSide, there: GraphSide, theta: int) -> Candidates:
        order, order_there = _by_falling_degree(here), _by_falling_degree(there)
        width = self.compared_at_a_time or max(order.size, order_there.size)
        _check_memory(min(width, order.size), min(width, order_there.size))
        entered = map_best_of_window(here, there, order, order_there, width, theta)
        decided = np.where(here.used == BEFORE, NEVER, here.used)
        return guess_after(here, there, decided, grade=-entered, at_least=-decided)


def _by_falling_degree(side: GraphSide) -> IntArray:
    """Return the nodes that are not mapped, those with many neighbours first; the lot decides between equals."""
    order = np.lexsort((side.lot, -side.degree))
    return order[side.partner[order] < 0]


def _check_memory(rows: int, columns: int) -> None:
    size = rows * columns * CELL_BYTES
    if size > _MOST_BYTES:
        raise InputError(
            f"the window compares {rows:,} with {columns:,} nodes and would take {size / 1e9:.1f} GB. "
            "Set chunk to a smaller number, such as 100"
        )
