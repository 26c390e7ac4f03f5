"""Draw the attacker's knowledge about a graph: edges and seed pairs."""

import math
from fractions import Fraction

import numpy as np

from unveil._kernels.graph.rows import among, edge_keys
from unveil._kernels.types import IntArray
from unveil.data.graph.graph import Graph
from unveil.data.graph.release import NOBODY, GraphKnowledge, GraphRelease
from unveil.errors import InputError, share


def draw_knowledge(
    release: GraphRelease,
    *,
    overlap: float = 0.85,
    seed_pairs: int = 50,
    connected: bool = False,
    node_share: float = 1.0,
    known: IntArray | None = None,
    rng: np.random.Generator,
) -> GraphKnowledge:
    """Return random attacker knowledge: a share of edges, and seed pairs.

    Parameters
    ----------
    release
        Where the original graph, and the released nodes of those people, come from.
    overlap
        The share of original edges in the auxiliary graph, from 0 to 1: of m edges exactly ``floor(overlap * m + 1/2)``
        are kept, all sets of that many being equally likely. It is taken as it is written: 0.29 of 50 edges are 15.
    seed_pairs
        How many original nodes the attacker knows in the released graph, from 0 to the number of nodes; all sets of
        that many are equally likely.
    connected
        True first keeps edges that connect whatever the original connects (a spanning forest drawn at random), and
        draws the rest from all others. Where the forest has too many edges for the overlap, edges are drawn as
        if False, and a note says so.
    node_share
        The share of original nodes that the attacker has heard of, above 0 and at most 1: of n nodes exactly
        ``floor(node_share * n + 1/2)`` are in the auxiliary graph, all sets of that many being equally likely. Seed
        pairs are drawn among them, and the overlap is of the edges among them.
    known
        The original nodes, each once, that the attacker knows in the released graph; they are not drawn then, and are
        among those that it has heard of. None draws ``seed_pairs`` of them.
    rng
        Where chance comes from.

    Returns
    -------
    GraphKnowledge
        The auxiliary graph has all nodes of the original, under the same numbers and names; with a ``node_share`` below
        1 it has fewer, numbered anew, and ``names`` says which.

    Raises
    ------
    InputError
        If the overlap or the share of nodes is no share, or there are fewer nodes than seed pairs.

    Examples
    --------
    >>> ring = Graph.from_edges(range(8), [*range(1, 8), 0])
    >>> release = GraphRelease(ring, ring.relabelled(range(7, -1, -1)), np.arange(7, -1, -1))
    >>> knowledge = draw_knowledge(release, overlap=0.5, seed_pairs=3, rng=np.random.default_rng(1))
    >>> knowledge.auxiliary, knowledge.seeds.sum(axis=1)
    (Graph(8 nodes, 4 edges), array([7, 7, 7]))
    >>> some = draw_knowledge(release, overlap=1, seed_pairs=0, node_share=0.5, rng=np.random.default_rng(1))
    >>> some.auxiliary, some.names
    (Graph(4 nodes, 1 edges), array([2, 3, 5, 7]))
    """
    fixed = np.empty(0, np.int64) if known is None else np.asarray(known, np.int64)
    names = _drawn_nodes(release.original, node_share, fixed, rng)
    original = release.original if names is None else _among(release.original, names)
    _check(original, overlap, seed_pairs if known is None else fixed.size)
    # As it is written: 0.29 is no sum of halves, and 0.29 * 50 + 0.5 would fall below 15.
    kept = math.floor(Fraction(str(overlap)) * original.edges + Fraction(1, 2))
    keys, notes = _drawn_edges(original, kept, connected, rng)
    auxiliary = Graph.from_keys(keys, original.nodes, names=original.names, name="auxiliary graph")
    chosen = None if known is None else fixed if names is None else np.searchsorted(names, fixed)
    seeds = _seeds(release, seed_pairs, chosen, names, rng)
    return GraphKnowledge(auxiliary, seeds, notes, names)


def _drawn_nodes(original: Graph, node_share: float, fixed: IntArray, rng: np.random.Generator) -> IntArray | None:
    """Return the original nodes the attacker knows, ascending; None for all."""
    share(node_share, "the share of nodes", zero=False, advice="Write 80% as 0.8")
    if node_share == 1:
        return None
    count = math.floor(Fraction(str(node_share)) * original.nodes + Fraction(1, 2))
    if count == 0:
        raise InputError(
            f"the node overlap must leave at least one node to the attacker, but {node_share:g} of "
            f"{original.nodes} leaves none. Write a larger share"
        )
    others = np.setdiff1d(np.arange(original.nodes), fixed)
    if count < fixed.size:
        raise InputError(
            f"the node overlap must cover the seed pairs, but {node_share:g} of {original.nodes} "
            f"leaves {count} nodes, and {fixed.size} are known. Write a larger share"
        )
    return np.sort(np.concatenate([fixed, rng.choice(others, count - fixed.size, replace=False)]))


def _among(original: Graph, nodes: IntArray) -> Graph:
    """Return the subgraph of ascending nodes, renumbered in that order."""
    place = np.full(original.nodes, NOBODY)
    place[nodes] = np.arange(nodes.size)
    one, other = (place[ends] for ends in original.ends)
    both = (one != NOBODY) & (other != NOBODY)
    names = None if original.names is None else original.names[nodes]
    keys = np.sort(edge_keys(one[both], other[both], nodes.size))
    return Graph.from_keys(keys, nodes.size, names=names, name="part of the graph that the attacker knows")


def original_among(original: Graph, knowledge: GraphKnowledge) -> Graph:
    """Return the original subgraph of auxiliary nodes, in auxiliary numbers.

    What it has and the auxiliary graph has not are the edges that the attacker can still learn.

    >>> path = Graph.from_edges([0, 1], [1, 2])
    >>> original_among(path, GraphKnowledge(Graph.from_edges([], [], nodes=2), [], names=[1, 2])).keys
    array([1])
    """
    if knowledge.names is None:
        return original
    order = np.argsort(knowledge.names)
    return _among(original, knowledge.names[order]).relabelled(order)


def _check(original: Graph, overlap: object, seed_pairs: object) -> None:
    share(overlap, "the overlap", advice="Write 85% as 0.85")
    count = isinstance(seed_pairs, (int, np.integer)) and not isinstance(seed_pairs, bool)
    if not count or not 0 <= int(seed_pairs) <= original.nodes:  # type: ignore[call-overload]
        raise InputError(
            f"the number of seed pairs must be a whole number from 0 to the number of nodes, but is {seed_pairs!r} and "
            f"the {original.name} has {original.nodes} node{'s' * (original.nodes != 1)}. Ask for fewer pairs"
        )


def _drawn_edges(
    original: Graph, kept: int, connected: bool, rng: np.random.Generator
) -> tuple[IntArray, tuple[str, ...]]:
    forest = _spanning_forest(original, rng) if connected else np.empty(0, np.int64)
    if forest.size > kept:
        return _chosen(original.keys, kept, rng), (
            f"the auxiliary graph does not connect all that the original connects: {forest.size:,} edges are needed "
            f"for that, and the overlap leaves {kept:,}",
        )
    others = original.keys[~among(original.keys, forest)]
    return np.sort(np.concatenate([forest, _chosen(others, kept - forest.size, rng)])), ()


def _chosen(keys: IntArray, count: int, rng: np.random.Generator) -> IntArray:
    return np.sort(keys[rng.choice(keys.size, count, replace=False, shuffle=False)])


def _spanning_forest(original: Graph, rng: np.random.Generator) -> IntArray:
    """Return the edge keys of a random spanning forest of the original.

    It is the lightest such set when edges weigh what a draw says: every edge has its chance to be in it, though
    not all forests are equally likely.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import minimum_spanning_tree

    one, other = original.ends
    weight = rng.permutation(original.edges) + 1.0
    matrix = coo_array((weight, (one, other)), shape=(original.nodes, original.nodes)).tocsr()
    forest = minimum_spanning_tree(matrix).tocoo()
    return np.sort(edge_keys(forest.row, forest.col, original.nodes))


def _seeds(
    release: GraphRelease, count: int, chosen: IntArray | None, names: IntArray | None, rng: np.random.Generator
) -> IntArray:
    """Return seed pairs: for ``chosen`` auxiliary nodes, or N at random."""
    place = np.empty(release.original.nodes, np.int64)
    real = np.flatnonzero(release.truth != NOBODY)
    place[release.truth[real]] = real
    nodes = release.original.nodes if names is None else names.size
    known = np.empty(0, np.int64) if chosen is None else chosen
    if chosen is None and count:
        known = rng.choice(nodes, count, replace=False)
    return np.column_stack([place[known if names is None else names[known]], known])
