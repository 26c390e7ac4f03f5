"""Take graphs out of the objects of other libraries, known by what they can do, so that none need be installed."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from unveil._kernels.types import IntArray
from unveil.data.graph._edge_names import natural_order, simple_graph
from unveil.data.graph.graph import DroppedInformation, Graph
from unveil.errors import InputError

_WEIGHTS = "weights were ignored"


def is_networkx(thing: object) -> bool:
    """Return whether this looks like a graph of networkx."""
    return all(hasattr(thing, part) for part in ("nodes", "edges", "is_directed", "is_multigraph"))


def is_igraph(thing: object) -> bool:
    """Return whether this looks like a graph of igraph."""
    return all(hasattr(thing, part) for part in ("vcount", "get_edgelist", "is_directed"))


def is_sparse(thing: object) -> bool:
    """Return whether this looks like a matrix of scipy.sparse."""
    return hasattr(thing, "tocoo") and hasattr(thing, "nnz")


def from_networkx(thing: Any, *, name: str) -> Graph:
    """Return the graph of a networkx object; nodes are called as they print, and come in their natural order."""
    nodes = list(thing.nodes)
    place = {node: number for number, node in enumerate(nodes)}
    ends = [(place[edge[0]], place[edge[1]]) for edge in thing.edges]
    weighted = any("weight" in facts for *_, facts in thing.edges(data=True))
    return _numbered_anew(ends, nodes, name=name, directed=bool(thing.is_directed()), weighted=weighted)


def from_igraph(thing: Any, *, name: str) -> Graph:
    """Return the graph of an igraph object; nodes are called as their attribute ``name`` says, if they have it."""
    nodes = int(thing.vcount())
    names = list(thing.vs["name"]) if "name" in thing.vs.attributes() else list(range(nodes))
    weighted = "weight" in thing.es.attributes()
    return _numbered_anew(thing.get_edgelist(), names, name=name, directed=bool(thing.is_directed()), weighted=weighted)


def from_sparse(thing: Any, *, name: str) -> Graph:
    """Return the graph with an edge wherever a square sparse matrix is not 0; nodes are known by their numbers."""
    matrix = thing.tocoo(copy=True)
    if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
        raise InputError(
            f"the matrix of a graph must have a row and a column for each node, but its shape is {matrix.shape}. "
            "Pass a square one"
        )
    matrix.sum_duplicates()
    value = np.asarray(matrix.data)
    if value.dtype.kind not in "biuf" or not np.isfinite(value).all():
        raise InputError("the matrix of a graph must hold finite numbers, but holds others. Put 0 where no edge is")
    there = value != 0
    one, other = matrix.row[there].astype(np.int64), matrix.col[there].astype(np.int64)
    nodes = int(matrix.shape[0])
    forth, back = (np.sort(a * nodes + b) for a, b in ((one, other), (other, one)))
    directed = not np.array_equal(forth, back)
    if not directed:
        # A symmetric matrix holds each edge twice, which is how such a matrix is written and no repeat.
        one, other = one[one <= other], other[one <= other]
    notes, lost = _of_weights(not (value[there] == 1).all())
    return simple_graph(one, other, nodes, names=None, name=name, directed=directed or None, notes=notes, lost=lost)


def _of_weights(weighted: bool) -> tuple[tuple[str, ...], tuple[DroppedInformation, ...]]:
    return ((_WEIGHTS,), ("weights",)) if weighted else ((), ())


def _numbered_anew(
    ends: Iterable[tuple[int, int]], nodes: list[Any], *, name: str, directed: bool, weighted: bool
) -> Graph:
    import polars as pl

    names = pl.Series([str(node).strip() for node in nodes], dtype=pl.String)
    if names.n_unique() < names.len() or (names == "").any():
        raise InputError(
            f"the nodes of the {name} must have different names as text, without spaces around them, but some of "
            f"{names.len()} are called alike or have none. Rename them"
        )
    order = natural_order(names)
    number = np.empty(order.size, np.int64)
    number[order] = np.arange(order.size)
    pairs: IntArray = np.array(list(ends), np.int64).reshape(-1, 2)
    chosen = names[order].to_numpy()
    labels = None if (chosen == np.arange(order.size).astype(str)).all() else chosen
    notes, lost = _of_weights(weighted)
    return simple_graph(
        number[pairs[:, 0]],
        number[pairs[:, 1]],
        order.size,
        names=labels,
        name=name,
        directed=directed,
        notes=notes,
        lost=lost,
    )
