"""Checks and random node numbering shared by graph protections."""

from collections.abc import Mapping
from math import fsum

import numpy as np

from unveil._kernels.graph.rows import edge_keys, ends_of
from unveil._kernels.types import IntArray
from unveil.data.graph import Graph
from unveil.data.graph.release import NOBODY, GraphRelease, Pairing
from unveil.data.ledger import Ledger
from unveil.data.table.release import ReleaseKind
from unveil.errors import CannotProtectError, InputError, share, whole_number

# More would fill the memory; what asks for it leaves nothing of the graph anyway.
MOST_EDGES = 50_000_000
# With less, a question would have nothing but noise for an answer.
LEAST_BUDGET = 1e-12


def graph_release(
    original: Graph,
    keys: IntArray,
    *,
    name: str,
    rng: np.random.Generator,
    nodes: int | None = None,
    kind: ReleaseKind = "masked",
    notes: tuple[str, ...] = (),
    facts: Mapping[str, float] | None = None,
    pairing: Pairing = "node",
    ledger: Ledger | None = None,
) -> GraphRelease:
    """Return the release of protected edges ``keys``, with randomly numbered nodes.

    Before that, node ``i`` of the protected graph is node ``i`` of the original, and those from ``original.nodes`` on,
    up to ``nodes``, are pseudo nodes. The keys (``smaller * nodes + larger``) must be distinct, in any order.

    What was noted when the original was read goes along, but not with a ledger: such notes hold exact counts about the
    private file, which no noise covers.
    """
    count = original.nodes if nodes is None else nodes
    number = rng.permutation(count)
    one, other = ends_of(keys, count)
    released = Graph.from_keys(np.sort(edge_keys(number[one], number[other], count)), count, name=f"{name} graph")
    truth = np.full(count, NOBODY)
    truth[number[: original.nodes]] = np.arange(original.nodes)
    return GraphRelease(
        original,
        released,
        truth,
        kind=kind,
        name=name,
        notes=notes if ledger else (*notes, *original.notes),
        facts=facts or {},
        pairing=pairing,
        ledger=ledger,
    )


def counted(number: int, one: str, many: str) -> str:
    """Return a number with its noun, singular or plural.

    >>> counted(1, "edge", "edges"), counted(1200, "edge", "edges")
    ('1 edge', '1,200 edges')
    """
    return f"{number:,} {one if number == 1 else many}"


def check_edges(original: Graph, *, what: str) -> None:
    """Raise an error for a graph without edges."""
    if original.edges == 0:
        raise InputError(
            f"{what} needs a graph with edges, but the {original.name} has "
            f"{counted(original.nodes, 'node', 'nodes')} and no edge. Check that it is the right file"
        )


def check_class_size(k: object) -> None:
    """Validate the class size k."""
    whole_number(k, "k", at_least=2, advice="A class of one node is unique: take 2 or more")


def check_enough_nodes(k: int, original: Graph) -> None:
    """Refuse a class size above the number of nodes."""
    if k > original.nodes:
        raise InputError(
            f"k is {k}, but the {original.name} has {original.nodes} nodes. Take a smaller k, or a larger graph"
        )


def check_drawable(edges: float, *, what: str) -> None:
    """Raise an error for more noisy edges than fit into memory."""
    if edges > MOST_EDGES:
        raise CannotProtectError(
            f"{what} can draw up to {MOST_EDGES:,} edges, but the noisy answers ask for {edges:,.0f}. With so small an "
            "epsilon the result is only noise: take a larger one"
        )


def check_shares(epsilon: float, shares: dict[str, float]) -> None:
    """Validate shares of epsilon: they sum to 1, and none is tiny."""
    for what, part in shares.items():
        share(part, what)
    if min(shares.values()) <= 0 or abs(fsum(shares.values()) - 1) > 1e-9:
        raise InputError(
            f"{', '.join(shares)} must each be above 0 and sum to 1, but are {', '.join(map(str, shares.values()))} "
            f"and sum to {fsum(shares.values()):g}. Divide epsilon among them"
        )
    if epsilon * min(shares.values()) < LEAST_BUDGET:
        raise InputError(
            f"each question needs a budget of at least {LEAST_BUDGET:g}, but epsilon = {epsilon:g} leaves "
            f"{epsilon * min(shares.values()):g} to one. With so little, the result is only noise"
        )
