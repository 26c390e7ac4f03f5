"""Simple undirected graph without attributes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from unveil._kernels.graph.rows import distinct, edge_keys, ends_of, keys_of, rows_of
from unveil._kernels.types import Int32Array, IntArray
from unveil.errors import InputError

#: Node numbers have 32 bits.
MOST_NODES = 2**31 - 1
#: What a graph had where it came from, and a simple undirected graph cannot hold.
DroppedInformation = Literal["directions", "weights"]


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """A simple undirected graph with nodes numbered from 0; all arrays are read-only.

    Attributes
    ----------
    start, neighbour
        The neighbours of node ``i`` are ``neighbour[start[i]:start[i + 1]]``, ascending.
    names
        What each node is called (text), or None where nodes are known by their number alone.
    name
        How reports call the graph.
    notes
        What was dropped to make it simple (loops, repeats, direction, weights), as plain sentences with counts.
    dropped
        Which of directions and weights were dropped that tell something. Whoever protects or attacks such a graph must
        be told that they do not matter; see :meth:`without`.

    Examples
    --------
    >>> path = Graph.from_edges([0, 1, 1], [1, 2, 0])
    >>> path.nodes, path.edges, path.degrees, path.notes
    (3, 2, array([1, 2, 1]), ('1 repeated edge was left out',))
    """

    start: IntArray
    neighbour: Int32Array
    names: NDArray[Any] | None = None
    name: str = "graph"
    notes: tuple[str, ...] = ()
    dropped: tuple[DroppedInformation, ...] = ()

    def __post_init__(self) -> None:
        if self.names is not None:
            names = np.array([str(each) for each in np.asarray(self.names, object)], object)
            _check_names(names, self.nodes, self.name)
            object.__setattr__(self, "names", names)
        for array in (self.start, self.neighbour, self.names):
            if array is not None:
                array.flags.writeable = False

    @classmethod
    def from_edges(
        cls,
        source: ArrayLike,
        target: ArrayLike,
        *,
        nodes: int | None = None,
        names: Sequence[object] | NDArray[Any] | None = None,
        name: str = "graph",
        notes: Sequence[str] = (),
    ) -> "Graph":
        """Return the graph with edges between ``source[i]`` and ``target[i]``.

        Parameters
        ----------
        source, target
            Whole numbers from 0. Loops and repeated edges (in either direction) are left out, and the notes say so.
        nodes
            How many nodes there are; those without an edge are kept. None takes the number of names, or one more
            than the largest number.
        names, name, notes
            As in the class.

        Raises
        ------
        InputError
            If there are not as many sources as targets, or a number is no node.
        """
        one, other = _node_numbers(source), _node_numbers(target)
        if one.size != other.size:
            raise InputError(f"there must be a target for each source, but there are {one.size} and {other.size}")
        highest = int(max(one.max(initial=-1), other.max(initial=-1)))
        count = nodes if nodes is not None else highest + 1 if names is None else len(names)
        if highest >= count:
            raise InputError(
                f"nodes are numbered from 0 to {count - 1}, but an edge ends at {highest}. Raise the number of nodes"
            )
        if count > MOST_NODES:
            raise InputError(f"a graph can have at most {MOST_NODES:,} nodes, but has {count:,}. Take a part of it")
        loop = one == other
        all_keys = edge_keys(one[~loop], other[~loop], count)
        keys = distinct(all_keys)
        said = (*_said(int(loop.sum()), "loop"), *_said(all_keys.size - keys.size, "repeated edge"))
        return cls.from_keys(keys, count, names=names, name=name, notes=(*notes, *said))

    @classmethod
    def from_keys(
        cls, keys: IntArray, nodes: int, *, names: Any = None, name: str = "graph", notes: Sequence[str] = ()
    ) -> "Graph":
        """Return the graph of sorted, distinct edge keys, unchecked."""
        start, neighbour = rows_of(keys, nodes)
        return cls(start, neighbour, names, name, tuple(notes))

    @property
    def nodes(self) -> int:
        """The number of nodes, those without an edge included."""
        return int(self.start.size - 1)

    @property
    def edges(self) -> int:
        """The number of edges, each counted once."""
        return int(self.neighbour.size // 2)

    @cached_property
    def degrees(self) -> IntArray:
        """Degree of each node."""
        degrees = np.diff(self.start)
        degrees.flags.writeable = False
        return degrees

    @cached_property
    def keys(self) -> IntArray:
        """Key of each edge, ``smaller * nodes + larger``, ascending."""
        keys = keys_of(self.start, self.neighbour)
        keys.flags.writeable = False
        return keys

    @property
    def ends(self) -> tuple[Int32Array, Int32Array]:
        """Smaller and larger end of each edge, in key order."""
        return ends_of(self.keys, self.nodes)

    def neighbours_of(self, node: int) -> Int32Array:
        """Return the neighbors of one node, ascending."""
        return self.neighbour[self.start[node] : self.start[node + 1]]

    def name_of(self, node: int) -> str:
        """Return the name of a node, or its number."""
        return str(node) if self.names is None else str(self.names[node])

    def relabelled(self, number: ArrayLike) -> "Graph":
        """Return the graph with node ``i`` renumbered to ``number[i]``.

        >>> Graph.from_edges([0], [1], nodes=3).relabelled([2, 0, 1]).ends
        (array([0], dtype=int32), array([2], dtype=int32))
        """
        order = np.asarray(number, np.int64)
        if order.shape != (self.nodes,) or (np.sort(order) != np.arange(self.nodes)).any():
            raise InputError(f"there must be each number from 0 to {self.nodes - 1} once, one per node. Pass as many")
        one, other = self.ends
        keys = np.sort(edge_keys(order[one], order[other], self.nodes))
        names = None if self.names is None else self.names[np.argsort(order)]
        return Graph.from_keys(keys, self.nodes, names=names, name=self.name, notes=self.notes)

    def without(self, *, directions: bool, weights: bool) -> "Graph":
        """Return the graph marked as originally undirected or unweighted.

        Raises
        ------
        InputError
            If directions or weights were dropped and nobody said that they do not matter: what is protected or attacked
            then is not the graph that was passed.

        Examples
        --------
        >>> Graph.from_edges([0], [1]).without(directions=False, weights=False)
        Graph(2 nodes, 1 edges)
        """
        for what, allowed, setting in (
            ("directions", directions, "undirected"),
            ("weights", weights, "unweighted"),
        ):
            if what in self.dropped and not allowed:
                raise InputError(
                    f"graphs are protected, attacked and released without {what} here, but the edges of the "
                    f"{self.name} have {what}. Drop them with --{setting} (in Python {setting}=True, in a "
                    f"study {setting} = true), or pass a graph without them"
                )
        return replace(self, dropped=())

    def called(self, name: str) -> "Graph":
        """Return the same graph under another name."""
        return replace(self, name=name)

    def to_sparse(self) -> Any:
        """Return the adjacency matrix as a scipy sparse array of ones."""
        from scipy.sparse import csr_array

        ones = np.ones(self.neighbour.size)
        return csr_array((ones, self.neighbour.astype(np.int64), self.start), shape=(self.nodes, self.nodes))

    def __repr__(self) -> str:
        return f"Graph({self.nodes} nodes, {self.edges} edges)"


def _node_numbers(values: ArrayLike) -> IntArray:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InputError("the ends of edges must be flat sequences of whole numbers from 0. Number the nodes first")
    if array.size and array.min() < 0:
        raise InputError("nodes are numbered from 0, but an edge ends at a negative number. Renumber them from 0")
    return array.astype(np.int64)


def _check_names(names: NDArray[Any], nodes: int, graph: str) -> None:
    if names.size != nodes:
        raise InputError(f"the {graph} has {nodes} nodes, but {names.size} names. Pass one for each")
    if np.unique(names.astype(str)).size != nodes:
        raise InputError(f"every node of the {graph} must have a name of its own, but some share one. Rename them")


def _said(count: int, what: str) -> tuple[str, ...]:
    if count == 0:
        return ()
    return (f"{count:,} {what}{' was' if count == 1 else 's were'} left out",)
